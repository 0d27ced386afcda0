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
// There are two: a coarse vector of kCoarse floats, for everybody, and for very
// long rows a fine one of kFine, of a basis that begins with the coarse one's.
// slack() is what rounding can have added to a squared distance of two of them;
// it is ten times what the roundings add up to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ramify {

/// From these dimensions on, coarse and fine vectors are worth their keep.
inline constexpr std::size_t kLongRow = 32;
inline constexpr std::size_t kVeryLongRow = 192;

inline constexpr std::size_t kCoarse = 32;
inline constexpr std::size_t kFine = 96;

/// Both short vectors of a row, and |x - c|^2.
struct ShortRow {
  float coarse[kCoarse];
  float fine[kFine];
  double radius;
};

template <class Real>
class Projection {
 public:
  explicit Projection(std::size_t dim)
      : dim_(dim), directions_((dim >= kVeryLongRow ? kFine : kCoarse) - 1) {}

  bool fitted() const { return !basis_.empty(); }

  /// Fit centre and basis to `count` rows by a few subspace iterations: near to
  /// their leading principal directions. O(count * dim * directions).
  void fit(const std::function<const Real*(std::size_t)>& row, std::size_t count);

  bool has_fine() const { return directions_ >= kFine - 1; }

  /// Shorten a row; `fine` only if there is a fine basis. O(dim * directions).
  void apply(const Real* row, ShortRow& out);

  /// Most that rounding adds to |z_x - z_y|^2, in two parts: one for each of the
  /// rows, from its |x - c|^2.
  static float slack(double radius) { return static_cast<float>(1e-5 * radius); }

 private:
  std::size_t dim_, directions_;
  // In double for float rows too: the length of the rest is a difference of
  // squares, and a basis that is orthonormal to 1e-7 only would be off by 3e-4.
  std::vector<double> centre_;
  std::vector<double> basis_;    // directions_ rows of dim
  std::vector<double> centred_;  // x - c of the row at hand
};

}  // namespace ramify
