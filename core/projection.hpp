// SPDX-License-Identifier: BSD-3-Clause
// projection.hpp: a short vector for a long one, with a guarantee.
//
//   P  an orthonormal basis of kBasis directions     c  a centre
//   z  P(x - c), then the length of what P leaves out of x - c
//
// |z_x - z_y|^2 <= |x - y|^2 for every orthonormal P: the first kBasis entries
// are the distance inside P's span, and the lengths of two rests differ by no
// more than the rests do. So a scan of short vectors rules out most candidates
// for a nearest neighbour, and the answer stays exact. A basis fitted to the data
// makes the bound tight; any other would only make it slow.
//
// Short vectors are floats. slack() is what rounding can have added to a squared
// distance of two of them; it is ten times what the roundings add up to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ramify {

/// From this dimension on, short vectors are worth their keep.
inline constexpr std::size_t kLongRow = 32;

inline constexpr std::size_t kBasis = 31;
inline constexpr std::size_t kShort = kBasis + 1;

template <class Real>
class Projection {
 public:
  explicit Projection(std::size_t dim) : dim_(dim) {}

  bool fitted() const { return !basis_.empty(); }

  /// Fit centre and basis to `count` rows by a few subspace iterations: near to
  /// their leading principal directions. O(count * dim * kBasis).
  void fit(const std::function<const Real*(std::size_t)>& row, std::size_t count);

  /// Write the short vector of a row, and return |x - c|^2. O(dim * kBasis).
  double apply(const Real* row, float* short_row);

  /// Most that rounding adds to |z_x - z_y|^2, in two parts: one for each of the
  /// rows, from its |x - c|^2.
  static float slack(double radius) { return static_cast<float>(1e-5 * radius); }

 private:
  std::size_t dim_;
  // In double for float rows too: the length of the rest is a difference of
  // squares, and a basis that is orthonormal to 1e-7 only would be off by 3e-4.
  std::vector<double> centre_;
  std::vector<double> basis_;    // kBasis rows of dim
  std::vector<double> centred_;  // x - c of the row at hand
};

}  // namespace ramify
