// SPDX-License-Identifier: BSD-3-Clause
// scan_space.hpp: means of a forest in one array, scanned whole: any dimension. Long rows
// are looked up by their short vectors first.
#pragma once

#include <span>
#include <vector>

#include "algorithms/forest_spaces.hpp"
#include "index/projected_scan.hpp"

namespace ramify {

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
