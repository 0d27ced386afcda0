// SPDX-License-Identifier: BSD-3-Clause
// One body a kernel, compiled once for each set of instructions. The bodies are
// plain loops over fixed-width lanes: the compiler turns them into the vectors
// of each target without changing the order of any sum.
#include "math/kernels.hpp"

#include <cstdint>

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

/// Less than kLanes terms. Zeros behind them change no sum, and make it one step for all lanes,
/// with loads that are masked where there are such.
template <class Term, class Real>
RAMIFY_INLINE void add_rest(const Real* a, const Real* b, std::int32_t count, const Term& term,
                            double* lanes) {
  constexpr std::int32_t kAll = kLanes;
  Real rest_a[kLanes], rest_b[kLanes];
  for (std::int32_t j = 0; j < kAll; ++j) rest_a[j] = j < count ? a[j] : Real{0};
  for (std::int32_t j = 0; j < kAll; ++j) rest_b[j] = j < count ? b[j] : Real{0};
  for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += term(rest_a[j], rest_b[j]);
}

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
  if (i < dim) add_rest(a + i, b + i, static_cast<std::int32_t>(dim - i), term, lanes);
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

template <class Real, Level kLevel>
constexpr Kernels<Real> kKernels{compiled<pair_sum<SquaredGap<Real>, Real>, kLevel>,
                                 compiled<pair_sum<Product<Real>, Real>, kLevel>,
                                 compiled<row_sums<SquaredGap<Real>, Real>, kLevel>,
                                 compiled<row_sums<Product<Real>, Real>, kLevel>,
                                 compiled<block_sums<SquaredGap<Real>, Real>, kLevel>,
                                 compiled<block_sums<Product<Real>, Real>, kLevel>,
                                 compiled<share_of_way<Real>, kLevel>};

}  // namespace

template <class Real>
const Kernels<Real>& kernels() {
  return with_level([](auto set) -> const auto& { return kKernels<Real, set.value>; });
}

template const Kernels<float>& kernels();
template const Kernels<double>& kernels();

}  // namespace ramify
