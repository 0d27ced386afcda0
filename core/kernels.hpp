// SPDX-License-Identifier: BSD-3-Clause
// kernels.hpp: sums over coordinates, the only place where the CPU is asked
// what it can do.
//
// One input gives one tree on every machine of an architecture, so every sum
// has one order whatever the instructions: rows shorter than kLanes are summed
// left to right; longer ones in kLanes interleaved partial sums that are then
// folded in halves. Terms are computed in double, one rounding an operation (no
// fused multiply-add, see CMakeLists.txt). A scan of many points at once does
// for each point exactly what the two-row functions do.
#pragma once

#include <cstddef>
#include <string_view>

namespace ramify {

inline constexpr std::size_t kLanes = 16;
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
};

/// The kernels in use: the best the CPU has, unless a lesser set was selected.
template <class Real>
const Kernels<Real>& kernels();

/// "avx512", "avx2" or "baseline".
std::string_view instructions();

/// Use a given set of instructions from now on. False, and no change, when the
/// CPU lacks it or the name is unknown. Not to be called while trees grow.
bool select_instructions(std::string_view name);

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

template <class Real>
inline double dot(const Real* a, const Real* b, std::size_t dim) {
  if (dim >= kLanes) return kernels<Real>().dot(a, b, dim);
  double sum = 0;
  for (std::size_t j = 0; j < dim; ++j)
    sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

}  // namespace ramify
