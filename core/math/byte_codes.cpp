// SPDX-License-Identifier: BSD-3-Clause
#include "math/byte_codes.hpp"

#include <cstring>

#include "math/dispatch.hpp"

#ifdef RAMIFY_X86
#include <immintrin.h>
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

constexpr ByteKernels kAnywhere{tile_anywhere, one_anywhere};

}  // namespace

const ByteKernels& byte_kernels() {
#ifdef RAMIFY_X86
  if (level() == Level::kAvx512 && has_vnni()) return kVnni;
  if (level() != Level::kBaseline) return kAvx2;
#endif
  return kAnywhere;
}

}  // namespace ramify
