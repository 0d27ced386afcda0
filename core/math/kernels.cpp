// SPDX-License-Identifier: BSD-3-Clause
// One body a kernel, compiled once for each set of instructions. The bodies are
// plain loops over fixed-width lanes: the compiler turns them into the vectors
// of each target without changing the order of any sum.
#include "math/kernels.hpp"

#include "math/dispatch.hpp"

namespace ramify {
namespace {

template <class Real>
struct SquaredGap {
  RAMIFY_INLINE double operator()(Real a, Real b) const {
    const double gap = static_cast<double>(a) - static_cast<double>(b);
    return gap * gap;
  }
};

template <class Real>
struct Product {
  RAMIFY_INLINE double operator()(Real a, Real b) const {
    return static_cast<double>(a) * static_cast<double>(b);
  }
};

template <class Term, class Real>
RAMIFY_INLINE double pair_sum(const Real* a, const Real* b, std::size_t dim) {
  const Term term;
  if (dim < kLanes) {
    double sum = 0;
    for (std::size_t j = 0; j < dim; ++j) sum += term(a[j], b[j]);
    return sum;
  }
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= dim; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += term(a[i + j], b[i + j]);
  for (std::size_t j = 0; i + j < dim; ++j) lanes[j] += term(a[i + j], b[i + j]);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2)
    for (std::size_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  return lanes[0];
}

template <class Term, class Real>
RAMIFY_INLINE void row_sums(const Real* x, const Real* rows, std::size_t count, std::size_t dim,
                            double* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = pair_sum<Term>(x, rows + i * dim, dim);
}

template <class Term, class Real>
RAMIFY_INLINE void block_sums(const Real* x, const Real* columns, std::size_t dim, double* out) {
  const Term term;
  for (std::size_t i = 0; i < kBlock; ++i) out[i] = term(columns[i], x[0]);
  for (std::size_t j = 1; j < dim; ++j) {
    const Real* column = columns + j * kBlock;
    const Real xj = x[j];
    for (std::size_t i = 0; i < kBlock; ++i) out[i] += term(column[i], xj);
  }
}

RAMIFY_INLINE void block_gaps(const float* x, const float* columns, std::size_t dim, float* out) {
  float sums[kBlock] = {};
  for (std::size_t j = 0; j < dim; ++j) {
    const float* column = columns + j * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float gap = column[i] - x[j];
      sums[i] += gap * gap;
    }
  }
  for (std::size_t i = 0; i < kBlock; ++i) out[i] = sums[i];
}

RAMIFY_INLINE float pair_gap(const float* a, const float* b, std::size_t dim) {
  float lanes[kLanes] = {};
  for (std::size_t i = 0; i < dim; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) {
      const float gap = a[i + j] - b[i + j];
      lanes[j] += gap * gap;
    }
  for (std::size_t width = kLanes / 2; width > 0; width /= 2)
    for (std::size_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  return lanes[0];
}

#define RAMIFY_GAP_SET(Name, TARGET)                                                   \
  struct Name {                                                                        \
    TARGET static void of_block(const float* x, const float* columns, std::size_t dim, \
                                float* out) {                                          \
      block_gaps(x, columns, dim, out);                                                \
    }                                                                                  \
    TARGET static float of_pair(const float* a, const float* b, std::size_t dim) {     \
      return pair_gap(a, b, dim);                                                      \
    }                                                                                  \
    static constexpr GapKernels kTable{&of_block, &of_pair};                           \
  }

RAMIFY_GAP_SET(BaselineGaps, );
#ifdef RAMIFY_X86
RAMIFY_GAP_SET(Avx2Gaps, RAMIFY_AVX2);
RAMIFY_GAP_SET(Avx512Gaps, RAMIFY_AVX512);
#endif
#undef RAMIFY_GAP_SET

// Each set below is the same six functions under another target. A target
// attribute cannot be a template argument, hence the three spellings.
#define RAMIFY_KERNEL_SET(Name, TARGET)                                                          \
  template <class Real>                                                                          \
  struct Name {                                                                                  \
    TARGET static double squared_distance(const Real* a, const Real* b, std::size_t dim) {       \
      return pair_sum<SquaredGap<Real>>(a, b, dim);                                              \
    }                                                                                            \
    TARGET static double dot(const Real* a, const Real* b, std::size_t dim) {                    \
      return pair_sum<Product<Real>>(a, b, dim);                                                 \
    }                                                                                            \
    TARGET static void squared_distances(const Real* x, const Real* rows, std::size_t count,     \
                                         std::size_t dim, double* out) {                         \
      row_sums<SquaredGap<Real>>(x, rows, count, dim, out);                                      \
    }                                                                                            \
    TARGET static void dots(const Real* x, const Real* rows, std::size_t count, std::size_t dim, \
                            double* out) {                                                       \
      row_sums<Product<Real>>(x, rows, count, dim, out);                                         \
    }                                                                                            \
    TARGET static void block_squared_distances(const Real* x, const Real* columns,               \
                                               std::size_t dim, double* out) {                   \
      block_sums<SquaredGap<Real>>(x, columns, dim, out);                                        \
    }                                                                                            \
    TARGET static void block_dots(const Real* x, const Real* columns, std::size_t dim,           \
                                  double* out) {                                                 \
      block_sums<Product<Real>>(x, columns, dim, out);                                           \
    }                                                                                            \
    static constexpr Kernels<Real> kTable{&squared_distance,        &dot,                        \
                                          &squared_distances,       &dots,                       \
                                          &block_squared_distances, &block_dots};                \
  }

RAMIFY_KERNEL_SET(Baseline, );
#ifdef RAMIFY_X86
RAMIFY_KERNEL_SET(Avx2, RAMIFY_AVX2);
RAMIFY_KERNEL_SET(Avx512, RAMIFY_AVX512);
#endif
#undef RAMIFY_KERNEL_SET

}  // namespace

template <class Real>
const Kernels<Real>& kernels() {
#ifdef RAMIFY_X86
  if (level() == Level::kAvx512) return Avx512<Real>::kTable;
  if (level() == Level::kAvx2) return Avx2<Real>::kTable;
#endif
  return Baseline<Real>::kTable;
}

const GapKernels& gap_kernels() {
#ifdef RAMIFY_X86
  if (level() == Level::kAvx512) return Avx512Gaps::kTable;
  if (level() == Level::kAvx2) return Avx2Gaps::kTable;
#endif
  return BaselineGaps::kTable;
}

template const Kernels<float>& kernels();
template const Kernels<double>& kernels();

}  // namespace ramify
