// SPDX-License-Identifier: BSD-3-Clause
// ordered_products.hpp: inner products of a row with many directions, in float, and with
// the same bits with any set of instructions: for what decides answers. product_bounds.hpp has them
// a little quicker, for bounds.
#pragma once

#include <cstddef>

namespace ramify {

/// As in ProductKernels.
struct DirectionKernels {
  void (*project)(const float* rows, std::size_t count, const float* basis, std::size_t dim,
                  std::size_t directions, float* out, std::size_t stride);
  void (*add_products)(const float* row, const float* along, std::size_t dim,
                       std::size_t directions, float* out);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
const DirectionKernels& ordered_directions();

}  // namespace ramify
