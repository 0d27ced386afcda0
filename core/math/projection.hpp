// SPDX-License-Identifier: BSD-3-Clause
// projection.hpp: short vectors for a long one, with a guarantee.
//
//   P  an orthonormal basis     c  a centre
//   z  P(x - c), then the length of what P leaves out of x - c
//
// |z_x - z_y|^2 <= |x - y|^2 for every orthonormal P: all entries but the last are
// the distance inside P's span, and the lengths of two rests differ by no more
// than the rests do. So a scan of short vectors rules out most candidates for a
// nearest neighbour, and the answer stays exact. A basis fitted to the data makes
// the bound tight; any other would only make it slow.
//
// There are up to two. The *sweep* vector is compared with everybody's: kCoarse
// floats where the leading directions tell rows apart, kBroad where they do not.
// Behind a coarse one, very long rows have a *fine* one of kFine floats, for those
// the sweep did not rule out. slack() is what rounding can have added to a squared
// distance of two of them; it is several times what the roundings add up to, also
// where the distance is computed as |z_x|^2 + |z_y|^2 - 2 z_x.z_y.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "pulse.hpp"

namespace ramify {

/// From these dimensions on, sweep and fine vectors are worth their keep.
inline constexpr std::size_t kLongRow = 32;
inline constexpr std::size_t kVeryLongRow = 192;

inline constexpr std::size_t kCoarse = 32;
inline constexpr std::size_t kFine = 96;
inline constexpr std::size_t kBroad = 160;

/// Both short vectors of a row, |x - c|^2, and |z|^2 of the sweep vector.
struct ShortRow {
  float sweep[kBroad];
  float fine[kFine];
  double radius;
  double length;
};

template <class Real>
class Projection {
 public:
  explicit Projection(std::size_t dim) : dim_(dim) {}

  std::size_t dim() const { return dim_; }
  bool fitted() const { return !basis_.empty(); }
  std::size_t sweep_width() const { return sweep_; }
  bool has_fine() const { return has_fine_; }

  /// Fit centre and basis to `count` rows by a few subspace iterations: near to
  /// their leading principal directions. The sweep vector is coarse, or broad if
  /// a coarse one would tell too few of the rows apart. O(count * dim * directions).
  /// If `pulse` throws, the projection is good for nothing but destruction.
  void fit(const std::function<const Real*(std::size_t)>& row, std::size_t count,
           const Pulse& pulse);

  /// Shorten a row; `centred` is room for dim numbers. O(dim * directions).
  void apply(const Real* row, double* centred, ShortRow& out) const;

  /// Most that rounding adds to |z_x - z_y|^2, in two parts: one for each of the
  /// rows, from its |x - c|^2.
  static float slack(double radius) { return static_cast<float>(1e-4 * radius); }

 private:
  void fit_basis(const std::vector<double>& rows, std::size_t count, const Pulse& pulse);
  bool coarse_will_do(const std::function<const Real*(std::size_t)>& row, std::size_t count) const;

  std::size_t dim_;
  std::size_t directions_ = 0, sweep_ = 0;
  bool has_fine_ = false;
  // In double for float rows too: the length of the rest is a difference of
  // squares, and a basis that is orthonormal to 1e-7 only would be off by 3e-4.
  std::vector<double> centre_;
  std::vector<double> basis_;  // directions_ rows of dim
};

}  // namespace ramify
