// SPDX-License-Identifier: BSD-3-Clause
// projection.hpp: short vectors for a long one, with a guarantee.
//
//   P  an orthonormal basis     c  a centre
//   z  P(x - c), then the length of what P leaves out of x - c
//
// |z_x - z_y| <= |x - y| for every orthonormal P: all entries but the last are the
// distance inside P's span, and the lengths of two rests differ by no more than the
// rests do. So short vectors rule out most candidates for a nearest neighbour, and the
// answer stays exact. A basis fitted to the data makes the bound tight; any other would
// only make it slow.
//
// There are two, fitted together. The *leading* vector has the few directions in which
// rows differ most: good for boxes, where data has few directions. The *broad* one has
// as many as it takes to tell most rows apart, turned at random within their span, so
// that all its entries have one spread and one step fits them as bytes (byte_codes.hpp).
// Where rows have no leading directions, it has all of them: the row, turned.
//
// What rounding can have added to a distance of two short vectors is in two parts, one
// for each of the rows: leading_doubt and broad_doubt, the latter with the rounding to
// bytes. Both are several times what the roundings add up to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "math/byte_codes.hpp"
#include "math/growth.hpp"
#include "math/ordered_products.hpp"
#include "math/rotation.hpp"
#include "pulse.hpp"

namespace ramify {

inline constexpr std::size_t kMostLeading = 15;  // below kLanes, for the bucket tree
inline constexpr std::size_t kMostBroad = 192;   // unless it has all directions

/// The short vectors of one row.
struct ShortRow {
  float leading[kMostLeading];  // scaled down a little, so that rounding cannot make it too long
  double leading_doubt;         // infinite where float cannot tell
  std::vector<std::int8_t> broad;
  double broad_doubt;  // in steps of a byte; infinite where float cannot tell

  void wipe() noexcept {
    std::fill_n(leading, kMostLeading, 0.0F);
    ramify::wipe(broad);
  }
};

/// Of a row in bytes that others, which are centred, are to be multiplied with: the product is
///   shift + unit * (product of bytes + what rounding took off)
struct Multiplier {
  double unit = 0;   // a step of it times one of the others
  double shift = 0;  // its product with the centre
  double slack = 0;  // what rounding can have done to that
  double doubt =
      0;  // length of what its bytes leave out, in its steps; infinite if float cannot tell
};

/// Room to shorten a row; one for each thread.
struct ProjectionRoom {
  std::vector<double> centred;
  std::vector<float> narrow;   // the same in float, of some rows
  std::vector<float> entries;  // of their broad vectors

  /// Nothing of a row is left.
  void wipe() noexcept {
    ramify::wipe(centred);
    ramify::wipe(narrow);
    ramify::wipe(entries);
  }
};

/// With e the doubts of two rows, |x - y| >= |z_x - z_y| - e_x - e_y. In squares, and in a
/// part for each row:  |x - y|^2 >= (1 - t) |z_x - z_y|^2 - 2/t (e_x^2 + e_y^2)  for every
/// t in (0, 1). Leading vectors have the factor in them.
inline constexpr double kShrink = 0.01;
inline double leading_slack(double doubt) { return 2 / kShrink * doubt * doubt; }

/// What bytes are of one row may differ by a hair between machines, where they are only for
/// bounds; kOne makes them, and the basis, the same everywhere.
enum class Rounding { kAny, kOne };

template <class Real>
class Projection {
 public:
  explicit Projection(std::size_t dim, Rounding rounding = Rounding::kAny)
      : dim_(dim), rounding_(rounding) {}

  std::size_t dim() const { return dim_; }
  bool fitted() const { return broad_ > 0; }
  /// Entries of a leading vector.
  std::size_t leading() const { return leading_; }
  /// Bytes of a broad vector; a multiple of kGroup.
  std::size_t broad() const { return broad_; }
  /// Short vectors are of rows times this, a power of two: so that float has room for
  /// them, however large or small rows are.
  double scale() const { return scale_; }
  /// One step of a byte, of a scaled row.
  double step() const { return step_; }
  /// The largest broad_doubt of the rows that it was fitted to.
  double usual_doubt() const { return usual_doubt_; }

  /// Fit centre and basis to `count` rows by a few subspace iterations: near to their
  /// leading principal directions. O(count * dim * directions). If `pulse` throws, the
  /// projection is good for nothing but destruction.
  void fit(const std::function<const Real*(std::size_t)>& row, std::size_t count,
           const Pulse& pulse);

  /// Fit the centre alone, for inner products: the broad vector is the whole row, turned, and there
  /// is no leading one.
  void fit_whole(const std::function<const Real*(std::size_t)>& row, std::size_t count);
  /// Turn a row that is not centred, for products with those that are; asks for no memory if there
  /// is room.
  Multiplier turn(const Real* row, ProjectionRoom& room, std::vector<std::int8_t>& codes) const;

  /// Shorten a row; asks for no memory if there is room. O(dim * directions), or O(dim log dim)
  /// for the broad vector if it has all of them.
  void apply(const Real* row, ProjectionRoom& room, ShortRow& out) const;
  /// The leading vector alone, or the broad one.
  void apply_leading(const Real* row, ProjectionRoom& room, ShortRow& out) const;
  void apply_broad(const Real* row, ProjectionRoom& room, ShortRow& out) const;
  /// The same for many rows, which is less work for each.
  void apply_to_each(const std::function<const Real*(std::size_t)>& row, std::size_t count,
                     ShortRow* out) const;
  void apply_broad_to_each(const std::function<const Real*(std::size_t)>& row, std::size_t count,
                           ShortRow* out) const;
  void make_room(ProjectionRoom& room) const { make_room(room, 1); }
  void make_room(ShortRow& row) const { row.broad.resize(broad_); }

  /// All that apply_broad() needs, as numbers at the end of `out`.
  void write(std::vector<double>& out) const;
  /// The inverse, for rows of as many columns. Throws std::invalid_argument unless the
  /// numbers, which are finite, begin with what write() could have written; they are the
  /// rest afterwards.
  void read(std::span<const double>& numbers);

 private:
  struct Sample;

  Sample draw(const std::function<const Real*(std::size_t)>& row, std::size_t count);
  struct Width;
  void choose_leading(const Sample& sample, const std::vector<double>& basis);
  Width choose_width(const Sample& sample, const std::vector<double>& basis) const;
  void set_broad(const std::vector<double>& basis, std::size_t directions);
  void set_whole();
  void set_step(const Sample& sample);
  bool is_whole() const { return broad_basis_.empty(); }
  static constexpr std::size_t kTogether = 16;  // rows that are shortened at a time
  void make_room(ProjectionRoom& room, std::size_t rows) const {
    room.centred.resize(dim_);
    room.narrow.resize(rows * dim_);
    room.entries.resize(rows * stride());
  }
  /// From the entries of one row to those of the next: whole kLanes are written.
  std::size_t stride() const { return broad_ + kLanes; }
  template <bool kLeads>
  void apply_to_each(const std::function<const Real*(std::size_t)>& row, std::size_t count,
                     ShortRow* out) const;
  template <bool kLeads>
  void apply_some(const Real* const* rows, std::size_t count, ProjectionRoom& room,
                  ShortRow* out) const;
  double centred(const Real* row, ProjectionRoom& room, float* narrow) const;
  void lead(const ProjectionRoom& room, double radius, ShortRow& out) const;
  void project(const float* rows, std::size_t count, float* out) const;
  void complete(float* entries, double radius) const;
  float rest(const float* entries, double radius) const;
  void encode(const float* entries, double radius, ShortRow& out) const;
  double broad_rounding() const;
  DirectionKernels directions() const;

  std::size_t dim_;
  Rounding rounding_;
  std::size_t leading_ = 0, broad_ = 0;
  std::size_t directions_ = 0;  // of the broad vector
  bool has_rest_ = false;       // does the broad vector end with the length of the rest?
  double scale_ = 1, step_ = 1, usual_doubt_ = 0;
  double rest_shift_ = 0;  // taken off that length, which changes no distance
  std::vector<double> centre_;
  std::vector<double> leading_basis_;  // leading_ - 1 rows of dim
  std::vector<float> broad_basis_;     // kLanes directions at a time, by coordinate
  Rotation rotation_;                  // instead, if the broad vector is the whole row
};

}  // namespace ramify
