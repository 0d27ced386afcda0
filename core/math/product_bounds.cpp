// SPDX-License-Identifier: BSD-3-Clause
// Compiled with contraction of a * b + c on (CMakeLists.txt).
#include "math/product_bounds.hpp"

#include <cstring>
#include <limits>

#include "math/dispatch.hpp"

namespace ramify {
namespace {

constexpr std::size_t kRun = 16;  // values looked at together

#if defined(__GNUC__) || defined(__clang__)
typedef float Lanes __attribute__((vector_size(4 * kRun), aligned(4)));
#endif

/// Half a block at a time: its sums for all queries stay in registers.
RAMIFY_INLINE void half_products(const float* queries, const float* columns, const float* offsets,
                                 std::size_t dim, float* out, std::size_t stride) {
#if defined(__GNUC__) || defined(__clang__)
  Lanes offset;
  std::memcpy(&offset, offsets, sizeof offset);
  Lanes s0 = -offset, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  static_assert(kTile == 8);
  for (std::size_t j = 0; j < dim; ++j) {
    Lanes column;
    std::memcpy(&column, columns + j * kBlock, sizeof column);
    const float* at = queries + j * kTile;
    s0 += at[0] * column;
    s1 += at[1] * column;
    s2 += at[2] * column;
    s3 += at[3] * column;
    s4 += at[4] * column;
    s5 += at[5] * column;
    s6 += at[6] * column;
    s7 += at[7] * column;
  }
  const Lanes sums[kTile] = {s0, s1, s2, s3, s4, s5, s6, s7};
  for (std::size_t q = 0; q < kTile; ++q) std::memcpy(out + q * stride, &sums[q], sizeof sums[q]);
#else
  for (std::size_t q = 0; q < kTile; ++q)
    for (std::size_t i = 0; i < kRun; ++i) {
      float sum = -offsets[i];
      for (std::size_t j = 0; j < dim; ++j) sum += queries[j * kTile + q] * columns[j * kBlock + i];
      out[q * stride + i] = sum;
    }
#endif
}

RAMIFY_INLINE void tile_products(const float* queries, const float* columns, const float* offsets,
                                 std::size_t dim, float* out, std::size_t stride) {
  for (std::size_t from = 0; from < kBlock; from += kRun)
    half_products(queries, columns + from, offsets + from, dim, out + from, stride);
}

/// Products of rows i .. i+3 with rows k .. k+3.
RAMIFY_INLINE void gram_tile(const float* a, const float* b, std::size_t dim, float* out,
                             std::size_t stride) {
  static_assert(kGram == 4 && kLanes == kRun);
#if defined(__GNUC__) || defined(__clang__)
  Lanes sums[4][4];
#pragma GCC unroll 4
  for (auto& row : sums)
#pragma GCC unroll 4
    for (Lanes& sum : row) sum = Lanes{};
  for (std::size_t j = 0; j < dim; j += kRun) {
    Lanes from[4], to[4];
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) {
      std::memcpy(&from[k], a + k * dim + j, sizeof from[k]);
      std::memcpy(&to[k], b + k * dim + j, sizeof to[k]);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i)
#pragma GCC unroll 4
      for (std::size_t k = 0; k < 4; ++k) sums[i][k] += from[i] * to[k];
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      float lanes[kRun];
      std::memcpy(lanes, &sums[i][k], sizeof lanes);
      for (std::size_t width = kRun / 2; width > 0; width /= 2)
        for (std::size_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
      out[i * stride + k] = lanes[0];
    }
#else
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      float lanes[kRun] = {};
      for (std::size_t j = 0; j < dim; ++j) lanes[j % kRun] += a[i * dim + j] * b[k * dim + j];
      float sum = 0;
      for (const float lane : lanes) sum += lane;
      out[i * stride + k] = sum;
    }
#endif
}

RAMIFY_INLINE void gram_of(const float* rows, std::size_t count, std::size_t dim, float* out) {
  for (std::size_t i = 0; i < count; i += kGram)
    for (std::size_t k = i; k < count; k += kGram)
      gram_tile(rows + i * dim, rows + k * dim, dim, out + i * count + k, count);
}

RAMIFY_INLINE std::size_t places_at_least(const float* values, std::size_t count, float least,
                                          std::uint32_t* places) {
  std::size_t found = 0, i = 0;
  for (; i + kRun <= count; i += kRun) {
    int any = 0;
    for (std::size_t k = 0; k < kRun; ++k) any |= values[i + k] >= least;
    if (any == 0) continue;
    for (std::size_t k = 0; k < kRun; ++k) {
      places[found] = static_cast<std::uint32_t>(i + k);
      found += values[i + k] >= least;
    }
  }
  for (; i < count; ++i)
    if (values[i] >= least) places[found++] = static_cast<std::uint32_t>(i);
  return found;
}

RAMIFY_INLINE float largest_of(const float* values, std::size_t count) {
  float lanes[kRun];
  for (float& lane : lanes) lane = -std::numeric_limits<float>::infinity();
  std::size_t i = 0;
  for (; i + kRun <= count; i += kRun)
    for (std::size_t k = 0; k < kRun; ++k)
      lanes[k] = lanes[k] < values[i + k] ? values[i + k] : lanes[k];
  float most = lanes[0];
  for (const float lane : lanes) most = most < lane ? lane : most;
  for (; i < count; ++i) most = most < values[i] ? values[i] : most;
  return most;
}

template <Level kLevel>
constexpr ProductKernels kProductKernels{compiled<tile_products, kLevel>,
                                         compiled<places_at_least, kLevel>,
                                         compiled<gram_of, kLevel>, compiled<largest_of, kLevel>};

}  // namespace

const ProductKernels& product_kernels() {
  return with_level([](auto set) -> const auto& { return kProductKernels<set.value>; });
}

}  // namespace ramify
