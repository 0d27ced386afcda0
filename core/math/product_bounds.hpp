// SPDX-License-Identifier: BSD-3-Clause
// product_bounds.hpp: inner products of many vectors. In float, and free to use fused
// multiply-adds: good for bounds with slack, not for answers, whose bits must not depend on the
// machine.
#pragma once

#include <cstddef>

#include "math/kernels.hpp"

namespace ramify {

inline constexpr std::size_t kGram = 32;    // counts of vectors are multiples of this
inline constexpr std::size_t kChain = 128;  // products that are added up one after the other

struct ProductKernels {
  /// Inner products of `count` vectors with each other, coordinate j of vector i at
  /// columns[j * count + i]: out[i * count + k] for k >= i, and more than that.
  void (*gram)(const float* columns, std::size_t count, std::size_t dim, float* out);
  /// Inner products of one row with many directions, kLanes of them side by side:
  /// coordinate j of direction b at basis[(b / kLanes * dim + j) * kLanes + b % kLanes].
  void (*project)(const float* row, const float* basis, std::size_t dim, std::size_t directions,
                  float* out);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
const ProductKernels& product_kernels();

}  // namespace ramify
