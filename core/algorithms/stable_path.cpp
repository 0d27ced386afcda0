// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/stable_path.hpp"

#include <algorithm>
#include <cstring>

#include "math/dispatch.hpp"
#include "math/lanes.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWidth = kLanesWidth;
constexpr double kFar = 1e200;    // of items that no longer count; its sums stay finite
constexpr double kTiny = 1e-290;  // linkages below have lost digits, and count as equal

/// The pass over all pairs, as flat arrays.
struct Pairs {
  std::size_t items, stride, dim;
  double reach;
  const double* columns;    // coordinate j of item b at columns[j * stride + b]
  const double* x;          // the new point
  const double* sizes;      // of items
  const double* variances;  // of items
  double* open_variances;   // the same, kFar once an item has merged
  double* sums;             // n * L of Q so far to each item, kFar once it has merged
  double* rows;             // items + 1 rows of L
};

/// L between the cluster (here, variance) and kWidth items from `from` on: the sum
/// of AverageSquared::score, in its order.
RAMIFY_INLINE void linkages(const Pairs& p, const double* here, std::size_t step, double variance,
                            std::size_t from, Lanes& out) {
  Lanes column;
  load(column, p.columns + from);
  Lanes gap = here[0] - column;
  out = gap * gap;
  for (std::size_t j = 1; j < p.dim; ++j) {
    load(column, p.columns + j * p.stride + from);
    gap = here[j * step] - column;
    out = out + gap * gap;
  }
  Lanes variances;
  load(variances, p.open_variances + from);
  out = out + (variance + variances);
}

RAMIFY_INLINE std::size_t highest_unstable(const Pairs& p) {
  double* x_row = p.rows + p.items * p.stride;
  for (std::size_t from = 0; from < p.stride; from += kWidth) {
    Lanes here;
    linkages(p, p.x, 1, 0, from, here);
    store(here, x_row + from);
    store(here, p.sums + from);
  }
  std::size_t unstable = 0;
  double points = 1;  // in Q
  for (std::size_t i = 0; i < p.items; ++i) {
    const double sum_limit = p.sums[i] * p.reach + points * kTiny;
    const double row_limit = sum_limit / points;
    const double n = p.sizes[i];
    p.sums[i] = p.open_variances[i] = kFar;
    double* row = p.rows + i * p.stride;
    Lanes least, least_sum, here, sums;
    const std::size_t first = i / kWidth * kWidth;
    for (std::size_t from = first; from < p.stride; from += kWidth) {
      linkages(p, p.columns + i, p.stride, p.variances[i], from, here);
      load(sums, p.sums + from);
      store(here, row + from);
      if (from == first) {
        least = here;
        least_sum = sums;
      } else {
        lower(least, here);
        lower(least_sum, sums);
      }
      store(sums + n * here, p.sums + from);
    }
    bool uncertain = false;
    for (std::size_t k = 0; k < kWidth; ++k)
      uncertain |= (least[k] <= row_limit) | (least_sum[k] <= sum_limit);
    if (uncertain) unstable = i;
    points += n;
  }
  return unstable;
}

RAMIFY_INLINE bool any_at_most(const Lanes& lanes, double limit) {
  bool any = false;
  for (std::size_t k = 0; k < kWidth; ++k) any |= lanes[k] <= limit;
  return any;
}

/// A union's linkages to what is above, from those of its parts; and whether a part is
/// within the limit of any.
struct WeightedRow {
  const double *row_a, *row_b;
  double* out;
  std::size_t count;  // whole vectors
  double share_a, share_b, limit;
};
RAMIFY_INLINE bool weighted_row(const WeightedRow& w) {
  if (w.count == 0) return false;
  Lanes a, b, least;
  load(least, w.row_a);
  for (std::size_t k = 0; k < w.count; k += kWidth) {
    load(a, w.row_a + k);
    load(b, w.row_b + k);
    store(w.share_a * a + w.share_b * b, w.out + k);
    lower(least, a);
    lower(least, b);
  }
  return any_at_most(least, w.limit);
}

}  // namespace

/// Sizes and variances, and arrays of the right length.
template <class Real>
void StablePath<Real>::gather(std::span<const ForestItem<Real>> forest) {
  items_ = forest.size() - 1;
  stride_ = (items_ + kWidth - 1) / kWidth * kWidth;
  sizes_.resize(stride_);
  variances_.resize(stride_);
  sums_.resize(stride_);
  rows_.resize((items_ + 1) * stride_);
  for (std::size_t i = items_; i < stride_; ++i) {  // padding is computed like the rest
    sizes_[i] = 1;
    variances_[i] = 0;
  }
  // Linkages depend on ratios of weights alone; x counts as one.
  const double own = forest.back().summary.n;
  double points = 1, least = 1;
  for (std::size_t i = 0; i < items_; ++i) {
    const SummaryView<Real>& summary = forest[i].summary;
    sizes_[i] = own == 1 ? summary.n : summary.n / own;
    variances_[i] = summary.variance();
    points += sizes_[i];
    least = std::min(least, sizes_[i]);
  }
  // A weighted mean of linkages loses a few ulps of the larger one, which the
  // other can outweigh by the number of points; a forest takes so many of them.
  const auto m = static_cast<double>(forest.size());
  reach_ = 1 + 1e-14 * (points / least + m * m);
}

template <class Real>
std::size_t StablePath<Real>::unstable_level(std::span<const ForestItem<Real>> forest) {
  gather(forest);
  columns_.resize(dim_ * stride_);
  x_.resize(dim_);
  open_variances_.assign(stride_, kFar);
  std::copy_n(variances_.begin(), items_, open_variances_.begin());
  for (std::size_t i = 0; i < items_; ++i)
    for (std::size_t j = 0; j < dim_; ++j)
      columns_[j * stride_ + i] = static_cast<double>(forest[i].summary.mean[j]);
  for (std::size_t i = items_; i < stride_; ++i)
    for (std::size_t j = 0; j < dim_; ++j) columns_[j * stride_ + i] = 0;
  for (std::size_t j = 0; j < dim_; ++j) x_[j] = static_cast<double>(forest.back().summary.mean[j]);
  return chosen<highest_unstable>()({items_, stride_, dim_, reach_, columns_.data(), x_.data(),
                                     sizes_.data(), variances_.data(), open_variances_.data(),
                                     sums_.data(), rows_.data()});
}

template <class Real>
std::size_t StablePath<Real>::unstable_after(std::size_t level, std::span<const Merge> merges,
                                             std::span<const double> linkages) {
  // In whole vectors: what there is of the lower levels in the first of them counts as far,
  // as it does in every later call.
  const std::size_t first = (level + 1) / kWidth * kWidth, above = stride_ - first;
  const std::size_t forest = level + 2;
  const auto row_of = [&](std::size_t c) {  // L to everything above
    if (c >= forest) return above_.data() + (c - forest) * above;
    return rows_.data() + (c == level + 1 ? items_ : c) * stride_ + first;
  };
  above_.resize(merges.size() * above);
  weight_.clear();
  for (std::size_t i = 0; i < forest; ++i) {
    std::fill_n(row_of(i), level + 1 - first, kFar);
    weight_.push_back(i == level + 1 ? 1 : sizes_[i]);
  }
  std::size_t top = 0;  // of those above that are nearer than the merge partner
  for (std::size_t t = 0; t < merges.size(); ++t) {
    const auto [a, b] = merges[t];
    const double limit = linkages[t] * reach_ + kTiny;
    const double n = weight_[a] + weight_[b];
    const double *row_a = row_of(a), *row_b = row_of(b);
    const bool disturbed = chosen<weighted_row>()(
        {row_a, row_b, row_of(forest + t), above, weight_[a] / n, weight_[b] / n, limit});
    if (disturbed)
      for (std::size_t k = above; k > top; --k)
        if ((row_a[k - 1] <= limit) | (row_b[k - 1] <= limit)) top = k;
    weight_.push_back(n);
  }
  return top == 0 ? level : first + top - 1;
}

template class StablePath<float>;
template class StablePath<double>;

}  // namespace ramify
