// SPDX-License-Identifier: BSD-3-Clause
// forest_spaces.hpp: three places to look for a cluster's nearest cluster.
//
// Each space holds the clusters that are still apart and answers
//   nearest(c)      the cluster with the smallest MergeKey to c
//   merge(a, b, c)  a and b are gone, their union c has come
// Spaces that take long to set up breathe (pulse.hpp). Used by forest_hac.cpp
// alone.
#pragma once

#include <limits>
#include <vector>

#include "bucket_tree.hpp"
#include "dispatch.hpp"
#include "forest_hac.hpp"

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
/// Rows are padded to whole vectors; what is not a pair of clusters (the
/// diagonal, the padding, clusters that are gone) is infinite. Every loop runs
/// over kWidth entries side by side, for vector instructions of any width.
template <class Real, class Rule>
class MatrixSpace {
 public:
  RAMIFY_INLINE MatrixSpace(std::span<const ForestItem<Real>> forest, std::size_t dim,
                            ForestScratch& scratch, const Breathe&)
      : m_(forest.size()), stride_((m_ + kWidth - 1) / kWidth * kWidth), s_(scratch) {
    s_.matrix.resize(m_ * stride_);
    s_.sizes.resize(stride_);
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
    const double* linkages = &s_.matrix[s_.row_of[c] * stride_];
    double lanes[kWidth];
    for (std::size_t j = 0; j < kWidth; ++j) lanes[j] = kGone;
    for (std::size_t i = 0; i < stride_; i += kWidth)
      for (std::size_t j = 0; j < kWidth; ++j)
        lanes[j] = linkages[i + j] < lanes[j] ? linkages[i + j] : lanes[j];
    double least = lanes[0];
    for (std::size_t j = 1; j < kWidth; ++j) least = lanes[j] < least ? lanes[j] : least;
    std::size_t best = 0;
    while (linkages[best] != least) ++best;
    for (std::size_t i = best + 1; i < m_; ++i)
      if (linkages[i] == least && comes_first(s_.ranks[s_.at_row[i]], s_.ranks[s_.at_row[best]]))
        best = i;
    return {s_.at_row[best], least};
  }

  /// The union takes a's row; b's is gone.
  RAMIFY_INLINE void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::size_t row_a = s_.row_of[a], row_b = s_.row_of[b];
    double* to_a = &s_.matrix[row_a * stride_];
    const double* to_b = &s_.matrix[row_b * stride_];
    const double* sizes = s_.sizes.data();
    const double n_a = sizes[row_a], n_b = sizes[row_b], l_ab = to_a[row_b];
    for (std::size_t i = 0; i < stride_; ++i) {
      const double updated = Rule::update({n_a, n_b, sizes[i], to_a[i], to_b[i], l_ab});
      to_a[i] = to_a[i] == kGone || to_b[i] == kGone ? kGone : updated;
    }
    double* cell = s_.matrix.data();
    for (std::size_t i = 0; i < m_; ++i, cell += stride_) {
      cell[row_a] = to_a[i];
      cell[row_b] = kGone;
    }
    s_.sizes[row_a] = n_a + n_b;
    s_.at_row[row_a] = c;
    s_.row_of[c] = static_cast<std::uint32_t>(row_a);
  }

 private:
  static constexpr std::size_t kWidth = 8;
  static constexpr double kGone = std::numeric_limits<double>::infinity();

  RAMIFY_INLINE void fill_by_column(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    // Column by column, so that one row of linkages is a few flat loops.
    s_.columns.resize((dim + 1) * stride_);
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
      for (std::size_t k = 0; k < stride_; ++k) row[k] = 0;
      for (std::size_t j = 0; j < dim; ++j) {
        const double* column = columns + j * stride_;
        const double here = column[i];
        for (std::size_t k = 0; k < stride_; ++k) {
          const double gap = here - column[k];
          row[k] += Rule::kProduct ? here * column[k] : gap * gap;
        }
      }
      const double weight = weights[i];
      for (std::size_t k = 0; k < stride_; ++k) row[k] = Rule::score(row[k], weight, weights[k]);
      for (std::size_t k = m_; k < stride_; ++k) row[k] = kGone;
      row[i] = kGone;
    }
  }

  void fill_by_pair(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    std::fill(s_.matrix.begin(), s_.matrix.end(), kGone);
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
              const Breathe& breathe)
      : dim_(dim),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        buckets_(dim, true, breathe),
        mean_a_(dim),
        mean_b_(dim) {
    std::vector<Real> rows(forest.size() * dim);
    std::vector<double> weights(forest.size());
    for (std::uint32_t i = 0; i < forest.size(); ++i) {
      weights_.set_ssd(i, forest[i].summary.ssd);
      weights[i] = weights_.weight<Rule>(i);
      std::copy_n(forest[i].summary.mean, dim, rows.begin() + static_cast<std::ptrdiff_t>(i * dim));
    }
    buckets_.load(std::move(rows), std::move(weights));
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
    buckets_.insert(c, mean_a_.data(), weights_.template weight<Rule>(c));
    // Boxes never shrink; once half the clusters are gone, tight ones pay.
    if (buckets_.size() < built_ / 2) {
      buckets_.rebuild();
      built_ = buckets_.size();
    }
  }

 private:
  std::size_t dim_;
  const std::vector<Rank>& ranks_;
  Weights weights_;
  BucketTree<Real, Rule> buckets_;
  typename BucketTree<Real, Rule>::Stack stack_;
  std::vector<Real> mean_a_, mean_b_;
  std::size_t built_ = 0;
};

/// Means in one array, scanned whole: any dimension.
template <class Real, class Rule>
class ScanSpace {
 public:
  ScanSpace(std::span<const ForestItem<Real>> forest, std::size_t dim, ForestScratch& scratch,
            const Breathe&)
      : dim_(dim),
        live_(forest.size()),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        means_(live_ * dim),
        rule_weights_(live_),
        values_(live_),
        row_of_(2 * live_ - 1),
        at_row_(live_) {
    for (std::uint32_t i = 0; i < live_; ++i) {
      std::copy_n(forest[i].summary.mean, dim, mean(i));
      weights_.set_ssd(i, forest[i].summary.ssd);
      rule_weights_[i] = weights_.weight<Rule>(i);
      row_of_[i] = at_row_[i] = i;
    }
  }

  Found nearest(std::uint32_t c) {
    const Real* x = mean(row_of_[c]);
    if constexpr (Rule::kProduct)
      kernels<Real>().dots(x, means_.data(), live_, dim_, values_.data());
    else
      kernels<Real>().squared_distances(x, means_.data(), live_, dim_, values_.data());
    NearestCluster best(c, ranks_);
    const double weight = rule_weights_[row_of_[c]];
    for (std::size_t i = 0; i < live_; ++i) {
      const double score = Rule::score(values_[i], weight, rule_weights_[i]);
      if (score <= best.limit()) best.offer(score, at_row_[i]);
    }
    return best.found();
  }

  /// The union takes a's row, the last row takes b's place.
  void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t row_a = row_of_[a], row_b = row_of_[b];
    weights_.unite(a, mean(row_a), b, mean(row_b), c, dim_, mean(row_a));
    rule_weights_[row_a] = weights_.weight<Rule>(c);
    at_row_[row_a] = c;
    row_of_[c] = row_a;
    const std::size_t last = --live_;
    if (row_b == last) return;
    std::copy_n(mean(last), dim_, mean(row_b));
    rule_weights_[row_b] = rule_weights_[last];
    at_row_[row_b] = at_row_[last];
    row_of_[at_row_[row_b]] = row_b;
  }

 private:
  Real* mean(std::size_t row) { return means_.data() + row * dim_; }

  std::size_t dim_, live_;
  const std::vector<Rank>& ranks_;
  Weights weights_;
  std::vector<Real> means_;
  std::vector<double> rule_weights_, values_;
  std::vector<std::uint32_t> row_of_, at_row_;
};

}  // namespace ramify
