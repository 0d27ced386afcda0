// SPDX-License-Identifier: BSD-3-Clause
#include "forest/stable_path.hpp"

#include <algorithm>
#include <cstring>

#include "forest/tally.hpp"
#include "math/dispatch.hpp"
#include "math/lanes.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWidth = kLanesWidth;
constexpr double kFar = 1e200;    // of items that no longer count; its sums stay finite
constexpr double kTiny = 1e-290;  // linkages below have lost digits, and count as equal

/// Far in the first `count` lanes, 0 in the others.
constexpr double kFarThenZero[2 * kWidth] = {kFar, kFar, kFar, kFar, kFar, kFar, kFar, kFar};
RAMIFY_INLINE void far_before(std::size_t count, Lanes& out) {
  load(out, kFarThenZero + kWidth - count);
}

/// The pass over all pairs, as flat arrays.
struct Pairs {
  std::size_t items, stride, dim;
  double reach;
  const double* columns;  // coordinate j of item b at columns[j * stride + b]
  const double* x;        // the new point
  double x_variance;
  const double* sizes;      // of items
  const double* variances;  // of items
  double* sums;             // n * L of Q so far to each item
  double* rows;             // items + 1 rows of L, whole from each item's own vector on
};

/// L between the cluster (here, variance) and kWidth items from `from` on: the sum
/// of AverageSquared::score, in its order. kDim is the dimension, 0 if it is none of the usual
/// ones.
template <std::size_t kDim>
RAMIFY_INLINE void linkages(const Pairs& p, const double* here, std::size_t step, double variance,
                            std::size_t from, Lanes& out) {
  Lanes column;
  load(column, p.columns + from);
  Lanes gap = here[0] - column;
  out = gap * gap;
  for (std::size_t j = 1; j < (kDim > 0 ? kDim : p.dim); ++j) {
    load(column, p.columns + j * p.stride + from);
    gap = here[j * step] - column;
    out = out + gap * gap;
  }
  Lanes variances;
  load(variances, p.variances + from);
  out = out + (variance + variances);
}

/// No number is written by itself and then read as one of a vector: that would wait for memory, at
/// every level.
template <std::size_t kDim>
RAMIFY_INLINE std::size_t highest_unstable(const Pairs& given) {
  const Pairs p = given;  // a copy that no store can change
  double* x_row = p.rows + p.items * p.stride;
  for (std::size_t from = 0; from < p.stride; from += kWidth) {
    Lanes here;
    linkages<kDim>(p, p.x, 1, p.x_variance, from, here);
    store(here, x_row + from);
    store(here, p.sums + from);
  }
  std::size_t unstable = 0;
  double points = 1;  // in Q
  for (std::size_t i = 0; i < p.items; ++i) {
    const double sum_limit = p.sums[i] * p.reach + points * kTiny;
    const double row_limit = sum_limit / points;
    const double n = p.sizes[i];
    double* row = p.rows + i * p.stride;
    Lanes least, least_sum, here, sums;
    const std::size_t first = i / kWidth * kWidth;
    linkages<kDim>(p, p.columns + i, p.stride, p.variances[i], first, here);
    load(sums, p.sums + first);
    store(here, row + first);
    store(sums + n * here, p.sums + first);
    far_before(i - first + 1, least);  // who has merged
    least_sum = least + sums;
    least = least + here;
    for (std::size_t from = first + kWidth; from < p.stride; from += kWidth) {
      linkages<kDim>(p, p.columns + i, p.stride, p.variances[i], from, here);
      load(sums, p.sums + from);
      store(here, row + from);
      store(sums + n * here, p.sums + from);
      lower(least, here);
      lower(least_sum, sums);
    }
    const bool near = least_lane(least) <= row_limit, near_q = least_lane(least_sum) <= sum_limit;
    unstable = (near | near_q) ? i : unstable;
    points += n;
  }
  return unstable;
}

/// What lies above S_level, for clusters that are merged below. In whole vectors, the first of
/// which may begin with some of S_0 .. S_level: they count as far.
struct Above {
  std::size_t level, items, stride;
  double reach;
  const double* sizes;
  const double* rows;
  std::span<const Merge> merges;
  const double* linkages;  // of the merges
  double* weights;         // of clusters, forest_hac's numbering
  double* unions;          // for each merge, linkages to what is above

  std::size_t first() const { return (level + 1) / kWidth * kWidth; }
  std::size_t count() const { return stride - first(); }
  const double* row(std::size_t cluster) const {
    if (cluster >= level + 2) return unions + (cluster - level - 2) * count();
    return rows + (cluster == level + 1 ? items : cluster) * stride + first();
  }
};

/// The linkages of the union of a and b, from theirs; returned is the least of theirs.
RAMIFY_INLINE double unite_above(const Above& p, const Merge& merge, double n, double* out) {
  const double *row_a = p.row(merge.a), *row_b = p.row(merge.b);
  const double share_a = p.weights[merge.a] / n, share_b = p.weights[merge.b] / n;
  Lanes a, b, least;
  far_before(p.level + 1 - p.first(), least);
  load(a, row_a);
  load(b, row_b);
  a = a + least;
  b = b + least;
  store(share_a * a + share_b * b, out);
  least = a;
  lower(least, b);
  for (std::size_t k = kWidth; k < p.count(); k += kWidth) {
    load(a, row_a + k);
    load(b, row_b + k);
    store(share_a * a + share_b * b, out + k);
    lower(least, a);
    lower(least, b);
  }
  return least_lane(least);
}

/// The highest level from which a merge is disturbed, or p.level.
RAMIFY_INLINE std::size_t highest_disturbing(const Above& given) {
  const Above p = given;
  const std::size_t forest = p.level + 2;
  for (std::size_t i = 0; i <= p.level; ++i) p.weights[i] = p.sizes[i];
  p.weights[p.level + 1] = 1;
  std::size_t top = p.level;
  for (std::size_t t = 0; t < p.merges.size(); ++t) {
    const Merge merge = p.merges[t];
    const double limit = p.linkages[t] * p.reach + kTiny;
    const double n = p.weights[merge.a] + p.weights[merge.b];
    p.weights[forest + t] = n;
    if (unite_above(p, merge, n, p.unions + t * p.count()) > limit) continue;
    const double *row_a = p.row(merge.a) - p.first(), *row_b = p.row(merge.b) - p.first();
    for (std::size_t i = p.stride - 1; i > top; --i)
      if ((row_a[i] <= limit) | (row_b[i] <= limit)) top = i;
  }
  return top;
}

}  // namespace

/// Arrays of the right length. They only grow: what is in them need not be cleared.
template <class Real>
void StablePath<Real>::make_room() {
  const auto at_least = [](std::vector<double>& array, std::size_t size) {
    if (array.size() < size) array.resize(size);
  };
  for (std::vector<double>* array : {&sizes_, &variances_, &sums_}) at_least(*array, stride_);
  at_least(columns_, dim_ * stride_);
  at_least(rows_, (items_ + 1) * stride_);
  at_least(x_, dim_);
}

/// The forest column by column.
template <class Real>
void StablePath<Real>::gather(std::span<const ForestItem<Real>> forest) {
  items_ = forest.size() - 1;
  stride_ = (items_ + kWidth - 1) / kWidth * kWidth;
  make_room();
  double *sizes = sizes_.data(), *variances = variances_.data(), *columns = columns_.data();
  double points = 0, least = forest.back().summary.n;
  for (std::size_t i = 0; i < items_; ++i) {
    const SummaryView<Real>& summary = forest[i].summary;
    sizes[i] = summary.n;
    variances[i] = summary.ssd;
    for (std::size_t j = 0; j < dim_; ++j)
      columns[j * stride_ + i] = static_cast<double>(summary.mean[j]);
    points += summary.n;
    least = std::min(least, summary.n);
  }
  for (std::size_t i = 0; i < items_; ++i) variances[i] /= sizes[i];
  for (std::size_t i = items_; i < stride_; ++i) {  // padding is computed like the rest
    sizes[i] = 1;
    variances[i] = kFar;
    for (std::size_t j = 0; j < dim_; ++j) columns[j * stride_ + i] = 0;
  }
  for (std::size_t j = 0; j < dim_; ++j) x_[j] = static_cast<double>(forest.back().summary.mean[j]);
  // Linkages depend on ratios of weights alone; x counts as one.
  const double own = forest.back().summary.n;
  if (own != 1)
    for (std::size_t i = 0; i < items_; ++i) sizes[i] /= own;
  // A weighted mean of linkages loses a few ulps of the larger one, which the
  // other can outweigh by the number of points; merging a forest takes m of them.
  const auto m = static_cast<double>(forest.size());
  reach_ = 1 + 1e-14 * ((points + own) / least + m * m);
}

template <class Real>
std::size_t StablePath<Real>::unstable_level(std::span<const ForestItem<Real>> forest) {
  gather(forest);
  count_work(items_ * stride_);
  const Pairs pairs{items_,
                    stride_,
                    dim_,
                    reach_,
                    columns_.data(),
                    x_.data(),
                    forest.back().summary.variance(),
                    sizes_.data(),
                    variances_.data(),
                    sums_.data(),
                    rows_.data()};
  if (dim_ == 2) return chosen<highest_unstable<2>>()(pairs);
  if (dim_ == 3) return chosen<highest_unstable<3>>()(pairs);
  return chosen<highest_unstable<0>>()(pairs);
}

template <class Real>
std::size_t StablePath<Real>::unstable_after(std::size_t level, std::span<const Merge> merges,
                                             std::span<const double> linkages) {
  Above above{level,        items_, stride_,         reach_,          sizes_.data(),
              rows_.data(), merges, linkages.data(), weights_.data(), nullptr};
  if (above.count() == 0) return level;
  count_work(merges.size() * above.count());
  if (unions_.size() < merges.size() * above.count()) unions_.resize(merges.size() * above.count());
  weights_.resize(level + 2 + merges.size());
  above.unions = unions_.data();
  above.weights = weights_.data();
  return chosen<highest_disturbing>()(above);
}

template class StablePath<float>;
template class StablePath<double>;

}  // namespace ramify
