// SPDX-License-Identifier: BSD-3-Clause
// scan_space.hpp: means of a forest in one array: any dimension. Products are scanned whole,
// distances looked up by short vectors.
#pragma once

#include <span>
#include <vector>

#include "algorithms/forest_spaces.hpp"
#include "index/short_vectors.hpp"

namespace ramify {

template <class Real, class Rule>
class ScanSpace {
 public:
  ScanSpace(std::span<const ForestItem<Real>> forest, std::size_t dim, ForestScratch& scratch,
            const Pulse& pulse)
      : dim_(dim),
        live_(forest.size()),
        rows_(live_),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        pulse_(pulse),
        means_(live_ * dim),
        rule_weights_(live_),
        values_(live_),
        row_of_(2 * live_ - 1),
        at_row_(live_),
        short_(dim) {
    least_weight_ = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < live_; ++i) {
      if (i % 1024 == 0) pulse.check();
      std::copy_n(forest[i].summary.mean, dim, mean(i));
      weights_.set_ssd(i, forest[i].summary.ssd);
      rule_weights_[i] = weights_.weight<Rule>(i);
      least_weight_ = std::min(least_weight_, rule_weights_[i]);
      row_of_[i] = at_row_[i] = i;
    }
    if constexpr (kShortens)
      if (short_.wants_fit(rows_)) {
        fit();
        try_both();
        short_.make_removable();
      }
  }

  Found nearest(std::uint32_t c) {
    NearestCluster best(c, ranks_);
    const std::uint32_t row = row_of_[c];
    if (is_short())
      look_up(row, best);
    else
      scan(row, best);
    return best.found();
  }

  /// The union takes a's row; b's is nobody's.
  void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t row_a = row_of_[a], row_b = row_of_[b];
    weights_.unite(a, mean(row_a), b, mean(row_b), c, dim_, mean(row_a));
    rule_weights_[row_a] = weights_.weight<Rule>(c);
    at_row_[row_a] = c;
    row_of_[c] = row_a;
    at_row_[row_b] = kNobody;
    --live_;
    if (is_short()) {
      short_.remove(row_b);
      short_.remove(row_a);
      short_.add(row_a, mean(row_a), rule_weights_[row_a], pulse_);
    }
    if (4 * live_ < 3 * rows_) close_up();
  }

 private:
  static constexpr bool kShortens = !Rule::kProduct;
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

  bool is_short() const { return kShortens && short_.fitted(); }
  Real* mean(std::size_t row) { return means_.data() + row * dim_; }

  auto has() {
    return [this](std::uint32_t row) { return at_row_[row] != kNobody; };
  }
  auto mean_of() {
    return [this](std::uint32_t row) -> const Real* { return mean(row); };
  }
  auto weight_of() {
    return [this](std::uint32_t row) { return rule_weights_[row]; };
  }
  double score(std::size_t a, std::size_t b) {
    return Rule::score(squared_distance(mean(a), mean(b), dim_), rule_weights_[a],
                       rule_weights_[b]);
  }

  void fit() { short_.fit(rows_, has(), mean_of(), weight_of(), pulse_); }
  void try_both() {
    short_.try_both(
        rows_, least_weight_, has(), mean_of(), weight_of(),
        [this](std::uint32_t a, std::uint32_t b) { return score(a, b); }, pulse_);
  }

  /// Rows that are nobody's any more go; the others keep their order.
  void close_up() {
    std::vector<std::uint32_t> new_row(rows_);
    std::uint32_t next = 0;
    for (std::uint32_t row = 0; row < rows_; ++row) {
      new_row[row] = next;
      if (at_row_[row] == kNobody) continue;
      std::copy_n(mean(row), dim_, mean(next));
      rule_weights_[next] = rule_weights_[row];
      at_row_[next] = at_row_[row];
      row_of_[at_row_[next]] = next;
      ++next;
    }
    rows_ = next;
    if (!is_short()) return;
    short_.renumber(new_row, rows_);
    short_.rebuild(pulse_);
    try_both();
  }

  void look_up(std::uint32_t row, NearestCluster& best) {
    if constexpr (!kShortens) return;
    const double weight = rule_weights_[row];
    short_.make_room_to_search(search_);
    short_.search(
        mean(row), weight, least_weight_, static_cast<std::uint32_t>(rows_),
        [&](std::uint32_t other) {
          if (other == row) return;
          const double linkage = score(row, other);
          if (linkage <= best.limit()) best.offer(linkage, at_row_[other]);
        },
        [&] { return best.limit(); }, weight_of(), search_);
  }

  void scan(std::size_t row, NearestCluster& best) {
    const Real* x = mean(row);
    if constexpr (Rule::kProduct)
      kernels<Real>().dots(x, means_.data(), rows_, dim_, values_.data());
    else
      kernels<Real>().squared_distances(x, means_.data(), rows_, dim_, values_.data());
    const double weight = rule_weights_[row];
    for (std::size_t i = 0; i < rows_; ++i) {
      if (at_row_[i] == kNobody) continue;
      const double score = Rule::score(values_[i], weight, rule_weights_[i]);
      if (score <= best.limit()) best.offer(score, at_row_[i]);
    }
  }

  std::size_t dim_, live_;
  std::size_t rows_;  // in use, some of them nobody's
  const std::vector<Rank>& ranks_;
  Weights weights_;
  const Pulse& pulse_;
  double least_weight_;
  std::vector<Real> means_;
  std::vector<double> rule_weights_, values_;
  std::vector<std::uint32_t> row_of_;  // by cluster
  std::vector<std::uint32_t> at_row_;  // its cluster, or kNobody
  ShortVectors<Real, Rule> short_;
  ShortScratch search_;
};

}  // namespace ramify
