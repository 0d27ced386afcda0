// SPDX-License-Identifier: BSD-3-Clause
// bucket_space.hpp: means of a forest in a bucket tree: sub-linear searches in low
// dimension.
#pragma once

#include <span>
#include <vector>

#include "forest/forest_spaces.hpp"
#include "forest/tally.hpp"
#include "index/bucket_tree.hpp"

namespace ramify {

template <class Real, class Rule>
class BucketSpace {
 public:
  static constexpr bool kHasAllPairs = false;

  BucketSpace(std::span<const ForestItem<Real>> forest, std::size_t dim, ForestScratch& scratch,
              const Pulse& pulse)
      : dim_(dim),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        pulse_(pulse),
        buckets_(dim, true),
        mean_a_(dim),
        mean_b_(dim) {
    BigVector<std::uint32_t> items(forest.size());
    BigVector<Real> rows(forest.size() * dim);
    BigVector<double> weights(forest.size());
    for (std::uint32_t i = 0; i < forest.size(); ++i) {
      items[i] = i;
      weights_.set_ssd(i, forest[i].summary.ssd);
      weights[i] = weights_.weight<Rule>(i);
      std::copy_n(forest[i].summary.mean, dim, rows.begin() + static_cast<std::ptrdiff_t>(i * dim));
    }
    buckets_.load(std::move(items), std::move(rows), std::move(weights), pulse);
    built_ = tight_ = buckets_.size();
  }

  Found nearest(std::uint32_t c) {
    NearestCluster best(c, ranks_);
    count_work(buckets_.size());  // at most
    buckets_.row_of(c, mean_a_.data());
    buckets_.search_around(c, mean_a_.data(), weights_.template weight<Rule>(c), best, stack_);
    return best.found();
  }

  void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    buckets_.row_of(a, mean_a_.data());
    buckets_.row_of(b, mean_b_.data());
    weights_.unite(a, mean_a_.data(), b, mean_b_.data(), c, dim_, mean_a_.data());
    buckets_.remove(a);
    buckets_.remove(b);
    buckets_.insert(c, mean_a_.data(), weights_.template weight<Rule>(c), pulse_);
    if (buckets_.size() < tight_ - tight_ / kOneIn) make_tight();
  }

 private:
  // Boxes stay as they are when clusters go. Fitting them again is cheap, and worth it once one
  // in kOneIn is gone; building anew is not, until there are kFewer times fewer than then.
  static constexpr std::size_t kOneIn = 8, kFewer = 16;

  void make_tight() {
    tight_ = buckets_.size();
    if (tight_ > built_ / kFewer) return buckets_.tighten(pulse_);
    buckets_.rebuild(pulse_);
    built_ = tight_;
  }

  std::size_t dim_;
  const std::vector<Rank>& ranks_;
  Weights weights_;
  const Pulse& pulse_;
  BucketTree<Real, Rule> buckets_;
  PendingNodes stack_;
  std::vector<Real> mean_a_, mean_b_;
  std::size_t built_ = 0, tight_ = 0;  // how many there were then
};

}  // namespace ramify
