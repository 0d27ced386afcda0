// SPDX-License-Identifier: BSD-3-Clause
// forest_spaces.hpp: three places to look for a cluster's nearest cluster.
//
// Each space holds the clusters that are still apart and answers
//   nearest(c)      the cluster with the smallest MergeKey to c
//   merge(a, b, c)  a and b are gone, their union c has come
// Those that take long look at the pulse. Used by forest_hac.cpp alone.
#pragma once

#include <cstring>
#include <limits>
#include <vector>

#include "algorithms/forest_hac.hpp"
#include "index/bucket_tree.hpp"
#include "index/projected_scan.hpp"
#include "math/dispatch.hpp"

namespace ramify {

struct Found {
  std::uint32_t cluster;
  double linkage;
};

/// The nearest cluster offered so far, other than the one that asks.
class NearestCluster {
 public:
  NearestCluster(std::uint32_t self, const std::vector<Rank>& ranks) : self_(self), ranks_(ranks) {}

  double limit() const { return found_.linkage; }
  std::size_t equals() const { return std::numeric_limits<std::size_t>::max(); }
  void offer(double linkage, std::uint32_t cluster) {
    if (cluster == self_) return;
    if (!any_ || linkage < found_.linkage ||
        (linkage == found_.linkage && comes_first(ranks_[cluster], ranks_[found_.cluster]))) {
      found_ = {cluster, linkage};
      any_ = true;
    }
  }
  Found found() const { return found_; }

 private:
  std::uint32_t self_;
  const std::vector<Rank>& ranks_;
  bool any_ = false;
  Found found_{0, std::numeric_limits<double>::infinity()};
};

/// All linkages at once, kept up to date by Lance-Williams in O(m) a merge.
///
/// A union takes over the row of one of its parts. Only rows of unions are ever
/// rewritten: the row of a single forest item goes stale in the columns of items
/// that have been merged, and those columns are closed (infinite in `closed`).
/// Whoever searches looks along its own row at the open columns, and asks each
/// union, of which there are few, for its entry. Rows are padded to whole vectors.
template <class Real, class Rule>
class MatrixSpace {
 public:
  RAMIFY_INLINE MatrixSpace(std::span<const ForestItem<Real>> forest, std::size_t dim,
                            ForestScratch& scratch, const Pulse&)
      : m_(forest.size()), stride_((m_ + kWidth - 1) / kWidth * kWidth), s_(scratch) {
    s_.matrix.resize(m_ * stride_);
    s_.sizes.assign(stride_, 1);
    s_.closed.assign(stride_, kClosed);
    std::fill_n(s_.closed.begin(), m_, 0.0);
    s_.unions.clear();
    s_.linkages.clear();
    s_.row_of.resize(2 * m_ - 1);
    s_.at_row.resize(m_);
    for (std::uint32_t i = 0; i < m_; ++i) {
      s_.row_of[i] = s_.at_row[i] = i;
      s_.sizes[i] = forest[i].summary.n;
    }
    if (dim < kLanes)
      fill_by_column(forest, dim);
    else
      fill_by_pair(forest, dim);
  }

  RAMIFY_INLINE Found nearest(std::uint32_t c) const {
    const std::uint32_t row = s_.row_of[c];
    Best best = nearest_open(row);
    for (const std::uint32_t other : s_.unions)
      if (other != row) consider(best, other, s_.matrix[other * stride_ + row]);
    return {s_.at_row[best.row], best.linkage};
  }

  RAMIFY_INLINE void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t row_a = s_.row_of[a], row_b = s_.row_of[b];
    forget_union(row_a);
    forget_union(row_b);
    double* to_a = &s_.matrix[row_a * stride_];
    const double* to_b = &s_.matrix[row_b * stride_];
    const double* sizes = s_.sizes.data();
    const bool a_was_item = s_.closed[row_a] == 0;
    const double n_a = sizes[row_a], n_b = sizes[row_b];
    // A single item's row is right in the columns of items, a union's everywhere.
    const double l_ab = a_was_item && s_.closed[row_b] != 0 ? to_b[row_a] : to_a[row_b];
    s_.linkages.push_back(l_ab);
    for (std::size_t i = 0; i < stride_; ++i)
      to_a[i] = Rule::update({n_a, n_b, sizes[i], to_a[i], to_b[i], l_ab});
    for (const std::uint32_t other : s_.unions) {
      double* to_other = &s_.matrix[other * stride_];
      to_a[other] = to_other[row_a] =
          Rule::update({n_a, n_b, sizes[other], to_other[row_a], to_other[row_b], l_ab});
    }
    s_.closed[row_a] = s_.closed[row_b] = kClosed;
    s_.sizes[row_a] = n_a + n_b;
    s_.unions.push_back(row_a);
    s_.at_row[row_a] = c;
    s_.row_of[c] = row_a;
  }

 private:
  static constexpr std::size_t kWidth = 8;
  static constexpr double kClosed = std::numeric_limits<double>::infinity();
  static constexpr double kFar = 1e300;  // of an item to itself; finite, so that sums stay so

  struct Best {
    std::uint32_t row;
    double linkage;
  };

  RAMIFY_INLINE void consider(Best& best, std::uint32_t row, double linkage) const {
    if (linkage < best.linkage ||
        (linkage == best.linkage &&
         comes_first(s_.ranks[s_.at_row[row]], s_.ranks[s_.at_row[best.row]])))
      best = {row, linkage};
  }

  /// The nearest item among the open columns; infinitely far if there is none.
  RAMIFY_INLINE Best nearest_open(std::uint32_t row) const {
    const double* linkages = &s_.matrix[row * stride_];
    const double* closed = s_.closed.data();
#if defined(__GNUC__) || defined(__clang__)
    // Each lane keeps its least entry, where it was, and whether it came twice.
    typedef double Lanes __attribute__((vector_size(8 * kWidth)));
    typedef std::int64_t Marks __attribute__((vector_size(8 * kWidth)));
    Lanes least, shut, next;
    Marks at = {0, 1, 2, 3, 4, 5, 6, 7}, where = at, twice = {};
    std::memcpy(&least, linkages, sizeof least);
    std::memcpy(&shut, closed, sizeof shut);
    least += shut;
    for (std::size_t i = kWidth; i < stride_; i += kWidth) {
      std::memcpy(&next, linkages + i, sizeof next);
      std::memcpy(&shut, closed + i, sizeof shut);
      next += shut;
      at += static_cast<std::int64_t>(kWidth);
      const Marks less = next < least, same = next == least;
      least = less ? next : least;
      where = less ? at : where;
      twice = ~less & (twice | same);
    }
    Best best{static_cast<std::uint32_t>(where[0]), least[0]};
    bool tied = twice[0] != 0;
    for (std::size_t j = 1; j < kWidth; ++j) {
      if (least[j] > best.linkage) continue;
      tied = least[j] == best.linkage || twice[j] != 0;
      best = {static_cast<std::uint32_t>(where[j]), least[j]};
    }
    if (!tied || best.linkage == kClosed) return best;
#else
    Best best{0, kClosed};
#endif
    for (std::uint32_t i = 0; i < m_; ++i)
      if (closed[i] == 0 && i != row) consider(best, i, linkages[i]);
    return best;
  }

  RAMIFY_INLINE void forget_union(std::uint32_t row) {
    for (std::uint32_t& other : s_.unions)
      if (other == row) {
        other = s_.unions.back();
        s_.unions.pop_back();
        return;
      }
  }

  RAMIFY_INLINE void fill_by_column(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    // Column by column, so that one row of linkages is a few flat loops.
    s_.columns.assign((dim + 1) * stride_, 1);  // padding is computed like the rest
    double* columns = s_.columns.data();
    double* weights = columns + dim * stride_;
    for (std::size_t i = 0; i < m_; ++i) {
      const SummaryView<Real>& summary = forest[i].summary;
      for (std::size_t j = 0; j < dim; ++j)
        columns[j * stride_ + i] = static_cast<double>(summary.mean[j]);
      weights[i] = Rule::weight(summary.n, summary.variance());
    }
    for (std::size_t i = 0; i < m_; ++i) {
      double* row = &s_.matrix[i * stride_];
      const double weight = weights[i];
      for (std::size_t from = 0; from < stride_; from += kWidth) {
        double sums[kWidth] = {};
        for (std::size_t j = 0; j < dim; ++j) {
          const double* column = columns + j * stride_;
          const double here = column[i];
          for (std::size_t k = 0; k < kWidth; ++k) {
            const double gap = here - column[from + k];
            sums[k] += Rule::kProduct ? here * column[from + k] : gap * gap;
          }
        }
        for (std::size_t k = 0; k < kWidth; ++k)
          row[from + k] = Rule::score(sums[k], weight, weights[from + k]);
      }
      row[i] = kFar;
    }
  }

  void fill_by_pair(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    std::fill(s_.matrix.begin(), s_.matrix.end(), kFar);
    for (std::size_t i = 0; i + 1 < m_; ++i)
      for (std::size_t k = i + 1; k < m_; ++k)
        s_.matrix[i * stride_ + k] = s_.matrix[k * stride_ + i] =
            linkage_of<Rule>(forest[i].summary, forest[k].summary, dim);
  }

  std::size_t m_, stride_;
  ForestScratch& s_;
};

/// Size, ssd and rule weight of every cluster, for the spaces that need sums.
class Weights {
 public:
  Weights(std::size_t clusters, const std::vector<Rank>& ranks) : ssd_(clusters), ranks_(ranks) {}

  void set_ssd(std::uint32_t c, double ssd) { ssd_[c] = ssd; }
  template <class Real>
  SummaryView<Real> view(std::uint32_t c, const Real* mean) const {
    return {static_cast<double>(ranks_[c].size), mean, ssd_[c]};
  }
  template <class Rule>
  double weight(std::uint32_t c) const {
    const auto n = static_cast<double>(ranks_[c].size);
    return Rule::weight(n, ssd_[c] / n);
  }
  /// Mean and ssd of a union; `out` receives the mean. O(dim).
  template <class Real>
  void unite(std::uint32_t a, const Real* mean_a, std::uint32_t b, const Real* mean_b,
             std::uint32_t c, std::size_t dim, Real* out) {
    const SummaryView<Real> from = view(a, mean_a), with = view(b, mean_b);
    ssd_[c] = merged_ssd(from.n, from.ssd, with.n, with.ssd, squared_distance(mean_a, mean_b, dim));
    merged_mean(from, with, dim, out);
  }

 private:
  std::vector<double> ssd_;
  const std::vector<Rank>& ranks_;
};

/// Means in a bucket tree: sub-linear searches in low dimension.
template <class Real, class Rule>
class BucketSpace {
 public:
  BucketSpace(std::span<const ForestItem<Real>> forest, std::size_t dim, ForestScratch& scratch,
              const Pulse& pulse)
      : dim_(dim),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        pulse_(pulse),
        buckets_(dim, true),
        mean_a_(dim),
        mean_b_(dim),
        one_in_(dim < 5 ? 2 : 16) {
    BigVector<Real> rows(forest.size() * dim);
    BigVector<double> weights(forest.size());
    for (std::uint32_t i = 0; i < forest.size(); ++i) {
      weights_.set_ssd(i, forest[i].summary.ssd);
      weights[i] = weights_.weight<Rule>(i);
      std::copy_n(forest[i].summary.mean, dim, rows.begin() + static_cast<std::ptrdiff_t>(i * dim));
    }
    buckets_.load(std::move(rows), std::move(weights), pulse);
    built_ = buckets_.size();
  }

  Found nearest(std::uint32_t c) {
    NearestCluster best(c, ranks_);
    buckets_.row_of(c, mean_a_.data());
    buckets_.search(mean_a_.data(), weights_.template weight<Rule>(c), best, stack_);
    return best.found();
  }

  void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    buckets_.row_of(a, mean_a_.data());
    buckets_.row_of(b, mean_b_.data());
    weights_.unite(a, mean_a_.data(), b, mean_b_.data(), c, dim_, mean_a_.data());
    buckets_.remove(a);
    buckets_.remove(b);
    buckets_.insert(c, mean_a_.data(), weights_.template weight<Rule>(c), pulse_);
    if (buckets_.size() < built_ - built_ / one_in_) {
      buckets_.rebuild(pulse_);
      built_ = buckets_.size();
    }
  }

 private:
  std::size_t dim_;
  const std::vector<Rank>& ranks_;
  Weights weights_;
  const Pulse& pulse_;
  BucketTree<Real, Rule> buckets_;
  typename BucketTree<Real, Rule>::Stack stack_;
  std::vector<Real> mean_a_, mean_b_;
  std::size_t built_ = 0;
  // Boxes never shrink; once one in so many clusters is gone, tight ones pay. Loose
  // ones cost the more, the more directions there are to be loose in.
  std::size_t one_in_;
};

/// Means in one array, scanned whole: any dimension. Long rows are looked up by
/// their short vectors first.
template <class Real, class Rule>
class ScanSpace {
 public:
  ScanSpace(std::span<const ForestItem<Real>> forest, std::size_t dim, ForestScratch& scratch,
            const Pulse& pulse)
      : dim_(dim),
        live_(forest.size()),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        means_(live_ * dim),
        rule_weights_(live_),
        values_(live_),
        row_of_(2 * live_ - 1),
        at_row_(live_),
        scan_(dim) {
    for (std::uint32_t i = 0; i < live_; ++i) {
      if (i % 1024 == 0) pulse.check();
      std::copy_n(forest[i].summary.mean, dim, mean(i));
      weights_.set_ssd(i, forest[i].summary.ssd);
      rule_weights_[i] = weights_.weight<Rule>(i);
      row_of_[i] = at_row_[i] = i;
      if (kShortens && dim_ >= kLongRow) scan_.append([&](std::size_t row) { return mean(row); });
    }
  }

  Found nearest(std::uint32_t c) {
    NearestCluster best(c, ranks_);
    const std::size_t row = row_of_[c];
    if (kShortens && dim_ >= kLongRow)
      look_up(row, best);
    else
      scan(row, best);
    return best.found();
  }

  /// The union takes a's row, the last row takes b's place.
  void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t row_a = row_of_[a], row_b = row_of_[b];
    weights_.unite(a, mean(row_a), b, mean(row_b), c, dim_, mean(row_a));
    rule_weights_[row_a] = weights_.weight<Rule>(c);
    at_row_[row_a] = c;
    row_of_[c] = row_a;
    if (kShortens && dim_ >= kLongRow) {
      scan_.set(row_a, mean(row_a));
      scan_.move_last_to(row_b);
    }
    const std::size_t last = --live_;
    if (row_b == last) return;
    std::copy_n(mean(last), dim_, mean(row_b));
    rule_weights_[row_b] = rule_weights_[last];
    at_row_[row_b] = at_row_[last];
    row_of_[at_row_[row_b]] = row_b;
  }

 private:
  static constexpr bool kShortens = !Rule::kProduct;

  Real* mean(std::size_t row) { return means_.data() + row * dim_; }

  void look_up(std::size_t row, NearestCluster& best) {
    const Real* x = mean(row);
    const double weight = rule_weights_[row];
    scan_.make_room_to_search(bounds_, centred_);
    scan_.search(
        x, scan_.size(), [&](std::size_t i) { return i != row; },
        [&](double gap, std::size_t i) { return Rule::bound(gap, weight, rule_weights_[i]); },
        [&](std::size_t i) {
          const double gap = squared_distance(x, mean(i), dim_);
          const double score = Rule::score(gap, weight, rule_weights_[i]);
          if (score <= best.limit()) best.offer(score, at_row_[i]);
        },
        [&] { return best.limit(); }, bounds_, centred_, rest_);
  }

  void scan(std::size_t row, NearestCluster& best) {
    const Real* x = mean(row);
    if constexpr (Rule::kProduct)
      kernels<Real>().dots(x, means_.data(), live_, dim_, values_.data());
    else
      kernels<Real>().squared_distances(x, means_.data(), live_, dim_, values_.data());
    const double weight = rule_weights_[row];
    for (std::size_t i = 0; i < live_; ++i) {
      const double score = Rule::score(values_[i], weight, rule_weights_[i]);
      if (score <= best.limit()) best.offer(score, at_row_[i]);
    }
  }

  std::size_t dim_, live_;
  const std::vector<Rank>& ranks_;
  Weights weights_;
  std::vector<Real> means_;
  std::vector<double> rule_weights_, values_;
  std::vector<std::uint32_t> row_of_, at_row_;
  ProjectedScan<Real> scan_;
  std::vector<float> bounds_;
  std::vector<double> centred_;
  std::uint32_t rest_ = 0;
};

}  // namespace ramify
