// SPDX-License-Identifier: BSD-3-Clause
// direction_products.hpp: inner products of one row with many directions, kLanes of which
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

#if defined(__GNUC__) || defined(__clang__)
typedef float FloatLanes __attribute__((vector_size(4 * kLanes), aligned(4)));
#endif

/// out += row x along, for kLanes directions side by side.
template <bool kFused>
RAMIFY_INLINE void add_direction_products(const float* row, const float* along, std::size_t dim,
                                          std::size_t directions, float* out) {
  for (std::size_t b = 0; b < directions; b += kLanes)
    for (std::size_t j = 0; j < dim; ++j)
      for (std::size_t k = 0; k < kLanes; ++k)
        out[(b * dim) + j * kLanes + k] += along[b + k] * row[j];
}

/// Of so many kLanes directions at a time, whose sums stay in registers.
template <bool kFused, std::size_t kCount>
RAMIFY_INLINE void project_some(const float* row, const float* basis, std::size_t dim, float* out) {
#if defined(__GNUC__) || defined(__clang__)
  FloatLanes sums[kCount];
#pragma GCC unroll 4
  for (std::size_t k = 0; k < kCount; ++k) sums[k] = FloatLanes{};
  for (std::size_t j = 0; j < dim; ++j) {
    const float here = row[j];
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kCount; ++k) {
      FloatLanes column;
      std::memcpy(&column, basis + (k * dim + j) * kLanes, sizeof column);
      sums[k] += here * column;
    }
  }
  for (std::size_t k = 0; k < kCount; ++k) std::memcpy(out + k * kLanes, &sums[k], sizeof sums[k]);
#else
  for (std::size_t b = 0; b < kCount * kLanes; ++b) {
    float sum = 0;
    for (std::size_t j = 0; j < dim; ++j)
      sum += row[j] * basis[(b / kLanes * dim + j) * kLanes + b % kLanes];
    out[b] = sum;
  }
#endif
}

template <bool kFused>
RAMIFY_INLINE void project_on_directions(const float* row, const float* basis, std::size_t dim,
                                         std::size_t directions, float* out) {
  std::size_t b = 0;
  for (; b + 4 * kLanes <= directions; b += 4 * kLanes)
    project_some<kFused, 4>(row, basis + b * dim, dim, out + b);
  for (; b < directions; b += kLanes) project_some<kFused, 1>(row, basis + b * dim, dim, out + b);
}

}  // namespace ramify
