// SPDX-License-Identifier: BSD-3-Clause
#include "settled.hpp"

#include <algorithm>
#include <cstring>

#include "dispatch.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWidth = 8;
constexpr double kFar = 1e200;  // of items that no longer count; its sums stay finite

/// The pass over all pairs, as flat arrays.
struct Pairs {
  std::size_t items, stride, dim;
  double reach;
  const double* columns;     // coordinate j of item b at columns[j * stride + b]
  const double* x;           // the new point
  const double* sizes;       // of items
  const double* variances;   // of items
  double* open_variances;    // the same, kFar once an item has merged
  double* sums;              // n * L of Q so far to each item, kFar once it has merged
  double* rows;              // items + 1 rows of L
  double* heights;           // L(Q_(i-1), S_i), with reach
};

RAMIFY_INLINE double smaller(double a, double b) { return a < b ? a : b; }

/// L between the cluster (here, variance) and kWidth items from `from` on.
RAMIFY_INLINE void linkages(const Pairs& p, const double* here, std::size_t step, double variance,
                            std::size_t from, double* out) {
  double gaps[kWidth] = {};
  for (std::size_t j = 0; j < p.dim; ++j) {
    const double* column = p.columns + j * p.stride + from;
    const double at = here[j * step];
    for (std::size_t k = 0; k < kWidth; ++k) {
      const double gap = at - column[k];
      gaps[k] += gap * gap;
    }
  }
  for (std::size_t k = 0; k < kWidth; ++k)
    out[k] = AverageSquared::score(gaps[k], variance, p.open_variances[from + k]);
}

RAMIFY_INLINE std::size_t highest_unrest(const Pairs& p) {
  double* x_row = p.rows + p.items * p.stride;
  for (std::size_t from = 0; from < p.stride; from += kWidth) {
    linkages(p, p.x, 1, 0, from, x_row + from);
    std::memcpy(p.sums + from, x_row + from, kWidth * sizeof(double));
  }
  std::size_t unrest = 0;
  double points = 1;  // in Q
  for (std::size_t i = 0; i < p.items; ++i) {
    const double sum_limit = p.sums[i] * p.reach;
    const double row_limit = sum_limit / points;
    const double n = p.sizes[i];
    p.heights[i] = row_limit;
    p.sums[i] = p.open_variances[i] = kFar;
    double* row = p.rows + i * p.stride;
    double least_sum[kWidth], least[kWidth];
    for (std::size_t k = 0; k < kWidth; ++k) least_sum[k] = least[k] = kFar;
    for (std::size_t from = i / kWidth * kWidth; from < p.stride; from += kWidth) {
      double here[kWidth];
      linkages(p, p.columns + i, p.stride, p.variances[i], from, here);
      double* sums = p.sums + from;
      for (std::size_t k = 0; k < kWidth; ++k) {
        row[from + k] = here[k];
        least[k] = smaller(here[k], least[k]);
        least_sum[k] = smaller(sums[k], least_sum[k]);
        sums[k] += n * here[k];
      }
    }
    bool restless = false;
    for (std::size_t k = 0; k < kWidth; ++k)
      restless |= (least[k] <= row_limit) | (least_sum[k] <= sum_limit);
    if (restless) unrest = i;
    points += n;
  }
  return unrest;
}

std::size_t highest_baseline(const Pairs& p) { return highest_unrest(p); }
#ifdef RAMIFY_X86
RAMIFY_AVX2 std::size_t highest_avx2(const Pairs& p) { return highest_unrest(p); }
RAMIFY_AVX512 std::size_t highest_avx512(const Pairs& p) { return highest_unrest(p); }
#endif

std::size_t highest(const Pairs& p) {
#ifdef RAMIFY_X86
  if (level() == Level::kAvx512) return highest_avx512(p);
  if (level() == Level::kAvx2) return highest_avx2(p);
#endif
  return highest_baseline(p);
}

}  // namespace

template <class Real>
void Settled<Real>::gather(std::span<const ForestItem<Real>> forest) {
  items_ = forest.size() - 1;
  stride_ = (items_ + kWidth - 1) / kWidth * kWidth;
  columns_.resize(dim_ * stride_);
  x_.resize(dim_);
  sizes_.resize(stride_);
  variances_.resize(stride_);
  open_variances_.resize(stride_);
  sums_.resize(stride_);
  rows_.resize((items_ + 1) * stride_);
  heights_.resize(stride_);
  double points = 1;
  for (std::size_t i = 0; i < items_; ++i) {
    const SummaryView<Real>& summary = forest[i].summary;
    for (std::size_t j = 0; j < dim_; ++j)
      columns_[j * stride_ + i] = static_cast<double>(summary.mean[j]);
    sizes_[i] = summary.n;
    variances_[i] = open_variances_[i] = summary.variance();
    points += summary.n;
  }
  for (std::size_t i = items_; i < stride_; ++i) {  // padding is computed like the rest
    for (std::size_t j = 0; j < dim_; ++j) columns_[j * stride_ + i] = 0;
    sizes_[i] = 1;
    open_variances_[i] = kFar;
  }
  for (std::size_t j = 0; j < dim_; ++j) x_[j] = static_cast<double>(forest.back().summary.mean[j]);
  // A weighted mean of linkages loses a few ulps of the larger one, which the
  // other can outweigh by the number of points; a forest takes so many of them.
  const auto m = static_cast<double>(forest.size());
  reach_ = 1 + 1e-14 * (points + m * m);
}

template <class Real>
std::size_t Settled<Real>::unrest(std::span<const ForestItem<Real>> forest) {
  gather(forest);
  const std::size_t level = highest({items_, stride_, dim_, reach_, columns_.data(), x_.data(),
                                     sizes_.data(), variances_.data(), open_variances_.data(),
                                     sums_.data(), rows_.data(), heights_.data()});
  // The merges below come about as high as the path's own did, with x in them.
  return spread(level, *std::max_element(heights_.begin(), heights_.begin() + level + 1));
}

/// The least level from `level` on above which nothing is within `height` of what
/// lies below, where the path's own heights count, too.
template <class Real>
std::size_t Settled<Real>::spread(std::size_t level, double height) const {
  const double* x_row = rows_.data() + items_ * stride_;
  for (;;) {
    std::size_t top = level;
    const auto look = [&](const double* row) {
      std::size_t b = items_ - 1;
      while (b > top && row[b] > height) --b;
      top = b;
    };
    look(x_row);
    for (std::size_t i = 0; i <= level; ++i) look(rows_.data() + i * stride_);
    if (top == level) return level;
    for (std::size_t i = level + 1; i <= top; ++i) height = std::max(height, heights_[i]);
    level = top;
  }
}

template <class Real>
std::size_t Settled<Real>::disturbed(std::size_t level, std::span<const Merge> merges,
                                     std::span<const double> linkages) {
  above_.clear();
  weight_.clear();
  for (std::size_t i = 0; i <= level + 1; ++i) {
    const bool is_x = i == level + 1;
    const double* row = rows_.data() + (is_x ? items_ : i) * stride_;
    above_.push_back(*std::min_element(row + level + 1, row + items_));
    weight_.push_back(is_x ? 1 : sizes_[i]);
  }
  for (std::size_t t = 0; t < merges.size(); ++t) {
    const auto [a, b] = merges[t];
    if (linkages[t] * reach_ >= std::min(above_[a], above_[b]))
      return spread(level, *std::max_element(linkages.begin(), linkages.end()) * reach_);
    const double n = weight_[a] + weight_[b];
    above_.push_back((weight_[a] * above_[a] + weight_[b] * above_[b]) / n);
    weight_.push_back(n);
  }
  return level;
}

template class Settled<float>;
template class Settled<double>;

}  // namespace ramify
