// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/stable_path.hpp"

#include <algorithm>
#include <cstring>

#include "math/dispatch.hpp"
#include "math/product_bounds.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWidth = 8;
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

#if defined(__GNUC__) || defined(__clang__)
typedef double Lanes __attribute__((vector_size(8 * kWidth)));
RAMIFY_INLINE void lower(Lanes& least, const Lanes& next) { least = next < least ? next : least; }
#else
struct Lanes {
  double lane[kWidth];
  double operator[](std::size_t k) const { return lane[k]; }
};
template <class Each>
inline Lanes each(Each&& value) {
  Lanes out;
  for (std::size_t k = 0; k < kWidth; ++k) out.lane[k] = value(k);
  return out;
}
inline Lanes operator+(const Lanes& a, const Lanes& b) {
  return each([&](std::size_t k) { return a[k] + b[k]; });
}
inline Lanes operator+(double a, const Lanes& b) {
  return each([&](std::size_t k) { return a + b[k]; });
}
inline Lanes operator-(double a, const Lanes& b) {
  return each([&](std::size_t k) { return a - b[k]; });
}
inline Lanes operator*(const Lanes& a, const Lanes& b) {
  return each([&](std::size_t k) { return a[k] * b[k]; });
}
inline Lanes operator*(double a, const Lanes& b) {
  return each([&](std::size_t k) { return a * b[k]; });
}
inline void lower(Lanes& least, const Lanes& next) {
  for (std::size_t k = 0; k < kWidth; ++k)
    if (next[k] < least[k]) least.lane[k] = next[k];
}
#endif

// By reference: vectors by value have another calling convention for each set of
// instructions.
RAMIFY_INLINE void load(Lanes& lanes, const double* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}
RAMIFY_INLINE void store(const Lanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }

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
  // Linkages depend on ratios of weights alone; x counts as one.
  const double own = forest.back().summary.n;
  double points = 1, least = 1;
  for (std::size_t i = 0; i < items_; ++i) {
    const SummaryView<Real>& summary = forest[i].summary;
    sizes_[i] = summary.n / own;
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
  return dim_ < kLanes ? narrow_level(forest) : wide_level(forest);
}

template <class Real>
std::size_t StablePath<Real>::narrow_level(std::span<const ForestItem<Real>> forest) {
  columns_.resize(dim_ * stride_);
  x_.resize(dim_);
  open_variances_.assign(stride_, kFar);
  std::copy_n(variances_.begin(), items_, open_variances_.begin());
  for (std::size_t i = 0; i < items_; ++i)
    for (std::size_t j = 0; j < dim_; ++j)
      columns_[j * stride_ + i] = static_cast<double>(forest[i].summary.mean[j]);
  for (std::size_t i = items_; i < stride_; ++i) {  // padding is computed like the rest
    for (std::size_t j = 0; j < dim_; ++j) columns_[j * stride_ + i] = 0;
    sizes_[i] = 1;
  }
  for (std::size_t j = 0; j < dim_; ++j) x_[j] = static_cast<double>(forest.back().summary.mean[j]);
  return chosen<highest_unstable>()({items_, stride_, dim_, reach_, columns_.data(), x_.data(),
                                     sizes_.data(), variances_.data(), open_variances_.data(),
                                     sums_.data(), rows_.data()});
}

/// The same with lower bounds in `rows_` and `sums_`, and the doubts that have
/// been taken off put back, and more, in `high_sums_`.
template <class Real>
std::size_t StablePath<Real>::wide_level(std::span<const ForestItem<Real>> forest) {
  if (!bound_linkages(forest)) return items_;
  const double* x_row = rows_.data() + items_ * stride_;
  high_sums_.resize(stride_);
  for (std::size_t b = 0; b < items_; ++b) {
    sums_[b] = x_row[b];
    high_sums_[b] = x_row[b] + 2 * doubts_[b];
  }
  std::size_t unstable = 0;
  double points = 1;
  for (std::size_t i = 0; i < items_; ++i) {
    const double sum_limit = high_sums_[i] * reach_;
    const double row_limit = sum_limit / points;
    const double* row = rows_.data() + i * stride_;
    const double n = sizes_[i];
    bool uncertain = false;
    for (std::size_t b = i + 1; b < items_; ++b) {
      uncertain |= (row[b] <= row_limit) | (sums_[b] <= sum_limit);
      sums_[b] += n * row[b];
      high_sums_[b] += n * (row[b] + 2 * (doubts_[i] + doubts_[b]));
    }
    if (uncertain) unstable = i;
    points += n;
  }
  return unstable;
}

/// Lower bounds of all linkages, from products of means in float, x being the
/// origin. False where float cannot tell.
template <class Real>
bool StablePath<Real>::bound_linkages(std::span<const ForestItem<Real>> forest) {
  const std::size_t width = (dim_ + kLanes - 1) / kLanes * kLanes;
  const std::size_t count = (items_ + kGram - 1) / kGram * kGram;
  centred_.assign(count * width, 0);
  products_.resize(count * count);
  const Real* x = forest.back().summary.mean;
  for (std::size_t i = 0; i < items_; ++i) {
    const Real* mean = forest[i].summary.mean;
    float* out = centred_.data() + i * width;
    for (std::size_t j = 0; j < dim_; ++j)
      out[j] = static_cast<float>(static_cast<double>(mean[j]) - static_cast<double>(x[j]));
  }
  product_kernels().gram(centred_.data(), count, width, products_.data());
  const auto radius = [&](std::size_t i) { return static_cast<double>(products_[i * count + i]); };
  // Each lane of a product sums width / kLanes terms, then the lanes are added.
  const double rounding = 4e-7 * (static_cast<double>(width) / kLanes + 16);
  doubts_.resize(stride_);
  double farthest = 0;
  for (std::size_t i = 0; i < items_; ++i) {
    doubts_[i] = rounding * radius(i) + 1e-37;
    farthest = std::max(farthest, radius(i));
  }
  if (!(farthest > 1e-24 && farthest < 1e30)) return false;
  double* x_row = rows_.data() + items_ * stride_;
  for (std::size_t i = 0; i < items_; ++i) {
    x_row[i] = std::max(0.0, radius(i) - doubts_[i]) + variances_[i];
    double* row = rows_.data() + i * stride_;
    for (std::size_t b = i + 1; b < items_; ++b) {
      const double gap = radius(i) + radius(b) - 2 * static_cast<double>(products_[i * count + b]);
      row[b] = std::max(0.0, gap - doubts_[i] - doubts_[b]) + (variances_[i] + variances_[b]);
    }
  }
  return true;
}

template <class Real>
std::size_t StablePath<Real>::unstable_after(std::size_t level, std::span<const Merge> merges,
                                             std::span<const double> linkages) {
  // L to everything above, for the forest's clusters and then for each union.
  const std::size_t above = items_ - (level + 1), forest = level + 2;
  above_.resize((forest + merges.size()) * above);
  weight_.clear();
  for (std::size_t i = 0; i < forest; ++i) {
    const bool is_x = i == level + 1;
    const double* row = rows_.data() + (is_x ? items_ : i) * stride_;
    std::copy_n(row + level + 1, above, above_.data() + i * above);
    weight_.push_back(is_x ? 1 : sizes_[i]);
  }
  std::size_t top = 0;  // of those above that are nearer than the merge partner
  for (std::size_t t = 0; t < merges.size(); ++t) {
    const auto [a, b] = merges[t];
    const double limit = linkages[t] * reach_ + kTiny;
    const double n = weight_[a] + weight_[b];
    const double share_a = weight_[a] / n, share_b = weight_[b] / n;
    const double *row_a = above_.data() + a * above, *row_b = above_.data() + b * above;
    double* row = above_.data() + (forest + t) * above;
    for (std::size_t k = 0; k < above; ++k) {
      row[k] = share_a * row_a[k] + share_b * row_b[k];
      if ((row_a[k] <= limit) | (row_b[k] <= limit)) top = std::max(top, k + 1);
    }
    weight_.push_back(n);
  }
  return level + top;
}

template class StablePath<float>;
template class StablePath<double>;

}  // namespace ramify
