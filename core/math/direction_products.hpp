// SPDX-License-Identifier: BSD-3-Clause
// direction_products.hpp: inner products of rows with many directions, kLanes of which
// lie side by side: coordinate j of direction b at basis[(b / kLanes * dim + j) * kLanes +
// b % kLanes].
//
// Each direction's sum goes from the first coordinate to the last. So the only thing that
// can differ from machine to machine is whether a product is rounded before it is added,
// and that is settled by the flags of the file that compiles these bodies: with kFused it
// may be left out (product_bounds.cpp), without it may not (ordered_products.cpp). The two
// are different functions, so that a linker cannot take one for the other.
#pragma once

#include <cstddef>
#include <cstring>

#include "math/dispatch.hpp"
#include "math/kernels.hpp"

namespace ramify {

typedef float FloatLanes __attribute__((vector_size(4 * kLanes), aligned(4)));

/// out += row x along, for kLanes directions side by side.
template <bool kFused>
RAMIFY_INLINE void add_direction_products(const float* row, const float* along, std::size_t dim,
                                          std::size_t directions, float* out) {
  for (std::size_t b = 0; b < directions; b += kLanes)
    for (std::size_t j = 0; j < dim; ++j)
      for (std::size_t k = 0; k < kLanes; ++k)
        out[(b * dim) + j * kLanes + k] += along[b + k] * row[j];
}

/// Of kRows rows on kCount times kLanes directions at a time, whose sums stay in registers.
template <bool kFused, std::size_t kRows, std::size_t kCount>
RAMIFY_INLINE void project_some(const float* rows, const float* basis, std::size_t dim, float* out,
                                std::size_t stride) {
  FloatLanes sums[kRows][kCount];
#pragma GCC unroll 4
  for (auto& row : sums)
#pragma GCC unroll 4
    for (FloatLanes& sum : row) sum = FloatLanes{};
  for (std::size_t j = 0; j < dim; ++j) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kCount; ++k) {
      FloatLanes column;
      std::memcpy(&column, basis + (k * dim + j) * kLanes, sizeof column);
#pragma GCC unroll 4
      for (std::size_t row = 0; row < kRows; ++row) sums[row][k] += rows[row * dim + j] * column;
    }
  }
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t k = 0; k < kCount; ++k)
      std::memcpy(out + row * stride + k * kLanes, &sums[row][k], sizeof sums[row][k]);
}

/// Several rows at a time, so that directions are fetched once for them.
template <bool kFused>
RAMIFY_INLINE void project_on_directions(const float* rows, std::size_t count, const float* basis,
                                         std::size_t dim, std::size_t directions, float* out,
                                         std::size_t stride) {
  const std::size_t in_fours = count / 4 * 4;
  for (std::size_t b = 0; in_fours > 0 && b < directions; b += kLanes)
    for (std::size_t i = 0; i < in_fours; i += 4)
      project_some<kFused, 4, 1>(rows + i * dim, basis + b * dim, dim, out + i * stride + b,
                                 stride);
  for (std::size_t i = in_fours; i < count; ++i) {
    std::size_t b = 0;
    for (; b + 4 * kLanes <= directions; b += 4 * kLanes)
      project_some<kFused, 1, 4>(rows + i * dim, basis + b * dim, dim, out + i * stride + b,
                                 stride);
    for (; b < directions; b += kLanes)
      project_some<kFused, 1, 1>(rows + i * dim, basis + b * dim, dim, out + i * stride + b,
                                 stride);
  }
}

}  // namespace ramify
