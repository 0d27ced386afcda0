// SPDX-License-Identifier: BSD-3-Clause
// boxes.hpp: how near two boxes come to a point, both at once.
//
// The corners of two boxes lie interleaved: for each coordinate both lows, then
// both highs. Each sum is left to right over the coordinates, as the scores of
// rows are (kernels.hpp, below kLanes dimensions).
#pragma once

#include <algorithm>
#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "math/dispatch.hpp"

namespace ramify {

#if defined(__SSE2__)
inline __m128d two_values(const double* from) { return _mm_loadu_pd(from); }
inline __m128d two_values(const float* from) {
  return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}
#elif defined(__aarch64__)
inline float64x2_t two_values(const double* from) { return vld1q_f64(from); }
inline float64x2_t two_values(const float* from) { return vcvt_f64_f32(vld1_f32(from)); }
#endif

/// The smallest squared distance of x to a point of each box.
template <class Real>
RAMIFY_INLINE void smallest_gaps(const Real* x, const Real* corners, std::size_t dim, double* out) {
#if defined(__SSE2__)
  const __m128d zero = _mm_setzero_pd();
  __m128d sum = zero;
  for (std::size_t j = 0; j < dim; ++j) {
    const __m128d here = _mm_set1_pd(static_cast<double>(x[j]));
    const __m128d below = _mm_sub_pd(two_values(corners + 4 * j), here);
    const __m128d above = _mm_sub_pd(here, two_values(corners + 4 * j + 2));
    const __m128d gap = _mm_max_pd(_mm_max_pd(below, above), zero);
    sum = _mm_add_pd(sum, _mm_mul_pd(gap, gap));
  }
  _mm_storeu_pd(out, sum);
#elif defined(__aarch64__)
  const float64x2_t zero = vdupq_n_f64(0);
  float64x2_t sum = zero;
  for (std::size_t j = 0; j < dim; ++j) {
    const float64x2_t here = vdupq_n_f64(static_cast<double>(x[j]));
    const float64x2_t below = vsubq_f64(two_values(corners + 4 * j), here);
    const float64x2_t above = vsubq_f64(here, two_values(corners + 4 * j + 2));
    const float64x2_t gap = vmaxq_f64(vmaxq_f64(below, above), zero);
    sum = vaddq_f64(sum, vmulq_f64(gap, gap));
  }
  vst1q_f64(out, sum);
#else
  for (std::size_t side = 0; side < 2; ++side) {
    out[side] = 0;
    for (std::size_t j = 0; j < dim; ++j) {
      const auto here = static_cast<double>(x[j]);
      const auto low = static_cast<double>(corners[4 * j + side]);
      const auto high = static_cast<double>(corners[4 * j + 2 + side]);
      const double gap = std::max(std::max(low - here, here - high), 0.0);
      out[side] += gap * gap;
    }
  }
#endif
}

/// The largest inner product of x with a point of each box.
template <class Real>
RAMIFY_INLINE void largest_products(const Real* x, const Real* corners, std::size_t dim,
                                    double* out) {
  for (std::size_t side = 0; side < 2; ++side) {
    out[side] = 0;
    for (std::size_t j = 0; j < dim; ++j) {
      const auto here = static_cast<double>(x[j]);
      out[side] += std::max(here * static_cast<double>(corners[4 * j + side]),
                            here * static_cast<double>(corners[4 * j + 2 + side]));
    }
  }
}

}  // namespace ramify
