// SPDX-License-Identifier: BSD-3-Clause
#include "math/byte_codes.hpp"

#include <cstring>

#include "math/dispatch.hpp"

#ifdef RAMIFY_X86
#include <immintrin.h>
#endif
#ifdef RAMIFY_ARM64
#include <arm_neon.h>
#endif

namespace ramify {
namespace {

std::uint32_t reaching(const std::int32_t* values, std::int32_t threshold) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    mask |= static_cast<std::uint32_t>(values[i] >= threshold) << i;
  return mask;
}

// --- any machine --------------------------------------------------------------------

void values_of(const std::int8_t* query, std::size_t width, std::int32_t bias,
               const std::uint8_t* block, const std::int32_t* offsets, std::int32_t* values) {
  std::int32_t sums[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) sums[i] = -offsets[i] - bias;
  for (std::size_t g = 0; g < width; g += kGroup) {
    const std::uint8_t* group = block + g * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i)
      for (std::size_t k = 0; k < kGroup; ++k)
        sums[i] += std::int32_t{group[i * kGroup + k]} * std::int32_t{query[g + k]};
  }
  std::memcpy(values, sums, sizeof sums);
}

std::uint32_t one_anywhere(const ByteQueries& queries, const std::uint8_t* block,
                           const std::int32_t* offsets, std::int32_t* values) {
  values_of(queries.codes, queries.width, queries.bias[0], block, offsets, values);
  return reaching(values, queries.threshold[0]);
}

std::uint32_t tile_anywhere(const ByteQueries& queries, const std::uint8_t* block,
                            const std::int32_t* offsets, std::int32_t* values,
                            std::uint32_t* masks) {
  std::uint32_t any = 0;
  for (std::size_t q = 0; q < kQueries; ++q) {
    values_of(queries.codes + q * queries.width, queries.width, queries.bias[q], block, offsets,
              values + q * kBlock);
    masks[q] = reaching(values + q * kBlock, queries.threshold[q]);
    any |= masks[q];
  }
  return any;
}

#ifdef RAMIFY_X86

// --- AVX2: sixteen-bit products of half a block and two queries ------------------------

#define RAMIFY_BYTES_AVX2 [[gnu::target("avx2")]]

RAMIFY_BYTES_AVX2 inline __m256i widened_query(const std::int8_t* codes) {
  std::int32_t four;
  std::memcpy(&four, codes, sizeof four);
  return _mm256_broadcastq_epi64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
}

/// Four rows have their sums in pairs of entries; put those of eight rows together.
RAMIFY_BYTES_AVX2 inline __m256i paired(__m256i low, __m256i high) {
  // hadd works within halves of 128 bits, hence the order that is then set right.
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0xD8);
}

template <std::size_t kCount>
RAMIFY_BYTES_AVX2 inline void half_block_avx2(const ByteQueries& queries, std::size_t first,
                                              const std::uint8_t* block,
                                              const std::int32_t* offsets, std::int32_t* values) {
  __m256i sums[kCount][4];
  for (auto& query : sums)
    for (__m256i& sum : query) sum = _mm256_setzero_si256();
  for (std::size_t g = 0; g < queries.width; g += kGroup) {
    const std::uint8_t* group = block + g * kBlock;
    __m256i rows[4];
    for (std::size_t k = 0; k < 4; ++k)
      rows[k] =
          _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(group + 16 * k)));
    for (std::size_t q = 0; q < kCount; ++q) {
      const __m256i query = widened_query(queries.codes + (first + q) * queries.width + g);
      for (std::size_t k = 0; k < 4; ++k)
        sums[q][k] = _mm256_add_epi32(sums[q][k], _mm256_madd_epi16(rows[k], query));
    }
  }
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t half = 0; half < 2; ++half) {
      const __m256i offset =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets + 8 * half));
      const __m256i bias = _mm256_set1_epi32(queries.bias[first + q]);
      const __m256i sum = paired(sums[q][2 * half], sums[q][2 * half + 1]);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + (first + q) * kBlock + 8 * half),
                          _mm256_sub_epi32(_mm256_sub_epi32(sum, offset), bias));
    }
}

RAMIFY_BYTES_AVX2 inline std::uint32_t reaching_avx2(const std::int32_t* values,
                                                     std::int32_t threshold) {
  const __m256i below = _mm256_set1_epi32(threshold);
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < kBlock; i += 8) {
    const __m256i less =
        _mm256_cmpgt_epi32(below, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i)));
    mask |= (0xFFU & ~static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(less))))
            << i;
  }
  return mask;
}

RAMIFY_BYTES_AVX2 std::uint32_t one_avx2(const ByteQueries& queries, const std::uint8_t* block,
                                         const std::int32_t* offsets, std::int32_t* values) {
  half_block_avx2<1>(queries, 0, block, offsets, values);
  half_block_avx2<1>(queries, 0, block + 64, offsets + 16, values + 16);
  return reaching_avx2(values, queries.threshold[0]);
}

RAMIFY_BYTES_AVX2 std::uint32_t tile_avx2(const ByteQueries& queries, const std::uint8_t* block,
                                          const std::int32_t* offsets, std::int32_t* values,
                                          std::uint32_t* masks) {
  for (std::size_t q = 0; q < kQueries; q += 2) {
    half_block_avx2<2>(queries, q, block, offsets, values);
    half_block_avx2<2>(queries, q, block + 64, offsets + 16, values + 16);
  }
  std::uint32_t any = 0;
  for (std::size_t q = 0; q < kQueries; ++q) {
    masks[q] = reaching_avx2(values + q * kBlock, queries.threshold[q]);
    any |= masks[q];
  }
  return any;
}

// --- AVX-512 with VNNI: four products and their sum in one instruction -----------------

#define RAMIFY_BYTES_VNNI [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]]

RAMIFY_BYTES_VNNI inline __m512i repeated(const std::int8_t* codes) {
  std::int32_t four;
  std::memcpy(&four, codes, sizeof four);
  return _mm512_set1_epi32(four);
}

template <std::size_t kCount>
RAMIFY_BYTES_VNNI inline std::uint32_t block_vnni(const ByteQueries& queries,
                                                  const std::uint8_t* block,
                                                  const std::int32_t* offsets, std::int32_t* values,
                                                  std::uint32_t* masks) {
  __m512i low[kCount], high[kCount];
  const __m512i zero = _mm512_setzero_si512();
  const __m512i start_low = _mm512_sub_epi32(zero, _mm512_loadu_si512(offsets));
  const __m512i start_high = _mm512_sub_epi32(zero, _mm512_loadu_si512(offsets + 16));
#pragma GCC unroll 8
  for (std::size_t q = 0; q < kCount; ++q) {
    low[q] = start_low;
    high[q] = start_high;
  }
  for (std::size_t g = 0; g < queries.width; g += kGroup) {
    const __m512i rows_low = _mm512_loadu_si512(block + g * kBlock);
    const __m512i rows_high = _mm512_loadu_si512(block + g * kBlock + 64);
#pragma GCC unroll 8
    for (std::size_t q = 0; q < kCount; ++q) {
      const __m512i query = repeated(queries.codes + q * queries.width + g);
      low[q] = _mm512_dpbusd_epi32(low[q], rows_low, query);
      high[q] = _mm512_dpbusd_epi32(high[q], rows_high, query);
    }
  }
  std::uint32_t any = 0;
#pragma GCC unroll 8
  for (std::size_t q = 0; q < kCount; ++q) {
    const __m512i bias = _mm512_set1_epi32(queries.bias[q]);
    const __m512i threshold = _mm512_set1_epi32(queries.threshold[q]);
    const __m512i a = _mm512_sub_epi32(low[q], bias), b = _mm512_sub_epi32(high[q], bias);
    _mm512_storeu_si512(values + q * kBlock, a);
    _mm512_storeu_si512(values + q * kBlock + 16, b);
    masks[q] = static_cast<std::uint32_t>(_mm512_cmpge_epi32_mask(a, threshold)) |
               static_cast<std::uint32_t>(_mm512_cmpge_epi32_mask(b, threshold)) << 16;
    any |= masks[q];
  }
  return any;
}

RAMIFY_BYTES_VNNI std::uint32_t one_vnni(const ByteQueries& queries, const std::uint8_t* block,
                                         const std::int32_t* offsets, std::int32_t* values) {
  std::uint32_t mask;
  return block_vnni<1>(queries, block, offsets, values, &mask);
}

RAMIFY_BYTES_VNNI std::uint32_t tile_vnni(const ByteQueries& queries, const std::uint8_t* block,
                                          const std::int32_t* offsets, std::int32_t* values,
                                          std::uint32_t* masks) {
  return block_vnni<kQueries>(queries, block, offsets, values, masks);
}

bool has_vnni() {
  static const bool has =
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw");
  return has;
}

constexpr ByteKernels kVnni{tile_vnni, one_vnni};
constexpr ByteKernels kAvx2{tile_avx2, one_avx2};

#endif

#ifdef RAMIFY_ARM64

// --- NEON: signed bytes on both sides, so a row's code loses its 128, and a query's bias --

inline std::int32_t four_of(const std::int8_t* codes) {
  std::int32_t four;
  std::memcpy(&four, codes, sizeof four);
  return four;
}

/// Sixteen bytes of a block: one group of four rows, as signed codes.
inline int8x16_t four_rows(const std::uint8_t* from) {
  return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from), vdupq_n_u8(128)));
}

inline std::uint32_t reaching_neon(const std::int32_t* values, std::int32_t threshold) {
  const std::int32_t kPlaces[] = {0, 1, 2, 3};
  const int32x4_t least = vdupq_n_s32(threshold), places = vld1q_s32(kPlaces);
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < kBlock; i += 4) {
    const uint32x4_t reached = vcgeq_s32(vld1q_s32(values + i), least);
    mask |= vaddvq_u32(vshlq_u32(vshrq_n_u32(reached, 31), places)) << i;
  }
  return mask;
}

/// Four rows and kCount queries at a time: products of two groups fit in sixteen bits.
template <std::size_t kCount>
inline void block_neon(const ByteQueries& queries, std::size_t first, const std::uint8_t* block,
                       const std::int32_t* offsets, std::int32_t* values) {
  for (std::size_t i = 0; i < kBlock; i += 8) {
    int32x4_t sums[kCount][4];
    for (auto& query : sums)
      for (int32x4_t& sum : query) sum = vdupq_n_s32(0);
    for (std::size_t g = 0; g < queries.width; g += kGroup) {
      const std::uint8_t* group = block + g * kBlock + i * kGroup;
      const int8x16_t low = four_rows(group), high = four_rows(group + 16);
      for (std::size_t q = 0; q < kCount; ++q) {
        const int8x16_t query = vreinterpretq_s8_s32(
            vdupq_n_s32(four_of(queries.codes + (first + q) * queries.width + g)));
        const int8x8_t half = vget_low_s8(query);
        sums[q][0] = vpadalq_s16(sums[q][0], vmull_s8(vget_low_s8(low), half));
        sums[q][1] = vpadalq_s16(sums[q][1], vmull_high_s8(low, query));
        sums[q][2] = vpadalq_s16(sums[q][2], vmull_s8(vget_low_s8(high), half));
        sums[q][3] = vpadalq_s16(sums[q][3], vmull_high_s8(high, query));
      }
    }
    for (std::size_t q = 0; q < kCount; ++q) {
      std::int32_t* out = values + (first + q) * kBlock + i;
      vst1q_s32(out, vsubq_s32(vpaddq_s32(sums[q][0], sums[q][1]), vld1q_s32(offsets + i)));
      vst1q_s32(out + 4, vsubq_s32(vpaddq_s32(sums[q][2], sums[q][3]), vld1q_s32(offsets + i + 4)));
    }
  }
}

std::uint32_t one_neon(const ByteQueries& queries, const std::uint8_t* block,
                       const std::int32_t* offsets, std::int32_t* values) {
  block_neon<1>(queries, 0, block, offsets, values);
  return reaching_neon(values, queries.threshold[0]);
}

template <auto kPair>
std::uint32_t tile_of_pairs(const ByteQueries& queries, const std::uint8_t* block,
                            const std::int32_t* offsets, std::int32_t* values,
                            std::uint32_t* masks) {
  std::uint32_t any = 0;
  for (std::size_t q = 0; q < kQueries; q += 2) kPair(queries, q, block, offsets, values);
  for (std::size_t q = 0; q < kQueries; ++q) {
    masks[q] = reaching_neon(values + q * kBlock, queries.threshold[q]);
    any |= masks[q];
  }
  return any;
}

constexpr ByteKernels kNeon{tile_of_pairs<block_neon<2>>, one_neon};

// --- NEON with dot products: four products and their sum in one instruction ------------

#ifdef RAMIFY_ARM64_DOT

template <std::size_t kCount>
RAMIFY_ARM64_DOT inline void block_dot(const ByteQueries& queries, std::size_t first,
                                       const std::uint8_t* block, const std::int32_t* offsets,
                                       std::int32_t* values) {
  constexpr std::size_t kFours = kBlock / 4;
  int32x4_t sums[kCount][kFours];
  for (std::size_t k = 0; k < kFours; ++k)
    for (std::size_t q = 0; q < kCount; ++q) sums[q][k] = vnegq_s32(vld1q_s32(offsets + 4 * k));
  for (std::size_t g = 0; g < queries.width; g += kGroup)
    for (std::size_t k = 0; k < kFours; ++k) {
      const int8x16_t rows = four_rows(block + g * kBlock + 16 * k);
      for (std::size_t q = 0; q < kCount; ++q) {
        const std::int32_t four = four_of(queries.codes + (first + q) * queries.width + g);
        sums[q][k] = vdotq_s32(sums[q][k], rows, vreinterpretq_s8_s32(vdupq_n_s32(four)));
      }
    }
  for (std::size_t q = 0; q < kCount; ++q)
    for (std::size_t k = 0; k < kFours; ++k)
      vst1q_s32(values + (first + q) * kBlock + 4 * k, sums[q][k]);
}

RAMIFY_ARM64_DOT std::uint32_t one_dot(const ByteQueries& queries, const std::uint8_t* block,
                                       const std::int32_t* offsets, std::int32_t* values) {
  block_dot<1>(queries, 0, block, offsets, values);
  return reaching_neon(values, queries.threshold[0]);
}

constexpr ByteKernels kDot{tile_of_pairs<block_dot<2>>, one_dot};

#endif

#endif

constexpr ByteKernels kAnywhere{tile_anywhere, one_anywhere};

}  // namespace

const ByteKernels& byte_kernels() {
#ifdef RAMIFY_X86
  if (level() == Level::kAvx512 && has_vnni()) return kVnni;
  if (level() != Level::kBaseline) return kAvx2;
#endif
#ifdef RAMIFY_ARM64
#ifdef RAMIFY_ARM64_DOT
  if (level() == Level::kDot) return kDot;
#endif
  if (level() != Level::kBaseline) return kNeon;
#endif
  return kAnywhere;
}

}  // namespace ramify
