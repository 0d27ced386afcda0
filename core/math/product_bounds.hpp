// SPDX-License-Identifier: BSD-3-Clause
// product_bounds.hpp: inner products of a few short vectors with many, and which of them
// are large. In float, and free to use fused multiply-adds: good for bounds with
// slack, not for answers, whose bits must not depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "math/kernels.hpp"

namespace ramify {

inline constexpr std::size_t kTile = 8;  // queries at a time
inline constexpr std::size_t kGram = 4;  // rows at a time

struct ProductKernels {
  /// out[q * stride + i] = query q . vector i - offsets[i], for kTile queries and
  /// one block of kBlock vectors; coordinate j at queries[j * kTile + q] and
  /// columns[j * kBlock + i].
  void (*products)(const float* queries, const float* columns, const float* offsets,
                   std::size_t dim, float* out, std::size_t stride);
  /// Write down the places of all values that are at least `least`; how many.
  std::size_t (*at_least)(const float* values, std::size_t count, float least,
                          std::uint32_t* places);
  /// Inner products of `count` rows with each other: out[i * count + k] for k >= i,
  /// and more than that. count must be a multiple of kGram, dim of kLanes.
  void (*gram)(const float* rows, std::size_t count, std::size_t dim, float* out);
  /// The largest value; minus infinity if there is none.
  float (*largest)(const float* values, std::size_t count);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
const ProductKernels& product_kernels();

}  // namespace ramify
