// SPDX-License-Identifier: BSD-3-Clause
// kernels.hpp: sums over coordinates, fast on whatever CPU this is.
//
// One input gives one tree on every machine of an architecture, so every sum
// has one order whatever the instructions: rows shorter than kLanes are summed
// left to right; longer ones in kLanes interleaved partial sums that are then
// folded in halves. Terms are computed in double, one rounding an operation (no
// fused multiply-add, see CMakeLists.txt). A scan of many points at once does
// for each point exactly what the two-row functions do.
#pragma once

#include <cstddef>

#include "math/dispatch.hpp"

namespace ramify {

inline constexpr std::size_t kLanes = 16;
/// With fewer columns, boxes around rows rule out most of them, whatever the data.
inline constexpr std::size_t kFewColumns = 8;
/// Points in a block of coordinates stored column by column.
inline constexpr std::size_t kBlock = 32;

template <class Real>
struct Kernels {
  double (*squared_distance)(const Real* a, const Real* b, std::size_t dim);
  double (*dot)(const Real* a, const Real* b, std::size_t dim);
  /// out[i] = the value for x and row i of `count` contiguous rows.
  void (*squared_distances)(const Real* x, const Real* rows, std::size_t count, std::size_t dim,
                            double* out);
  void (*dots)(const Real* x, const Real* rows, std::size_t count, std::size_t dim, double* out);
  /// The same for one block of kBlock points, dim < kLanes, coordinate j of
  /// point i at columns[j * kBlock + i]; always computes all kBlock entries.
  void (*block_squared_distances)(const Real* x, const Real* columns, std::size_t dim, double* out);
  void (*block_dots)(const Real* x, const Real* columns, std::size_t dim, double* out);
  void (*move_towards)(const Real* from, const Real* to, double share, std::size_t dim, Real* out);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
template <class Real>
const Kernels<Real>& kernels();

template <class Real>
inline double squared_distance(const Real* a, const Real* b, std::size_t dim) {
  if (dim >= kLanes) return kernels<Real>().squared_distance(a, b, dim);
  double sum = 0;
  for (std::size_t j = 0; j < dim; ++j) {
    const double gap = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += gap * gap;
  }
  return sum;
}

/// out[j] = from[j] + share * (to[j] - from[j]); `out` may be one of the two.
template <class Real>
RAMIFY_INLINE void share_of_way(const Real* from, const Real* to, double share, std::size_t dim,
                                Real* out) {
  for (std::size_t j = 0; j < dim; ++j) {
    const double here = static_cast<double>(from[j]);
    out[j] = static_cast<Real>(here + share * (static_cast<double>(to[j]) - here));
  }
}
template <class Real>
inline void move_towards(const Real* from, const Real* to, double share, std::size_t dim,
                         Real* out) {
  if (dim >= kLanes)
    kernels<Real>().move_towards(from, to, share, dim, out);
  else
    share_of_way(from, to, share, dim, out);
}

template <class Real>
inline double dot(const Real* a, const Real* b, std::size_t dim) {
  if (dim >= kLanes) return kernels<Real>().dot(a, b, dim);
  double sum = 0;
  for (std::size_t j = 0; j < dim; ++j)
    sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

}  // namespace ramify
