// SPDX-License-Identifier: BSD-3-Clause
// scan_space.hpp: means of a forest in one array: any dimension. They are looked up by short
// vectors, or by byte codes for inner products.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "forest/forest_spaces.hpp"
#include "forest/tally.hpp"
#include "index/short_vectors.hpp"

namespace ramify {

template <class Real, class Rule>
class ScanSpace {
 public:
  static constexpr bool kHasAllPairs = false;

  ScanSpace(std::span<const ForestItem<Real>> forest, std::size_t dim, ForestScratch& scratch,
            const Pulse& pulse, Helpers& helpers)
      : dim_(dim),
        live_(forest.size()),
        rows_(live_),
        ranks_(scratch.ranks),
        weights_(2 * forest.size() - 1, ranks_),
        pulse_(pulse),
        helpers_(helpers),
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
    if (short_.wants_fit(rows_)) {
      fit();
      try_both();
      short_.make_removable();
    }
  }

  Found nearest(std::uint32_t c) {
    NearestCluster best(c, ranks_);
    count_work(rows_);  // at most
    const std::uint32_t row = row_of_[c];
    const std::size_t parts = std::min(helpers_.count(), short_.bytes_to_scan() / kWorthAPart);
    if (!is_short())
      scan(row, best);
    else if (parts > 1)
      look_up_together(row, parts, best);
    else
      look_up(row, best);
    return best.found();
  }

  /// The union takes a's row; b's is free.
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
  static constexpr std::size_t kWorthAPart = std::size_t{1} << 17;  // bytes

  bool is_short() const { return short_.fitted(); }
  Real* mean(std::size_t row) { return means_.data() + row * dim_; }
  const Real* mean(std::size_t row) const { return means_.data() + row * dim_; }

  auto has() {
    return [this](std::uint32_t row) { return at_row_[row] != kNobody; };
  }
  auto mean_of() {
    return [this](std::uint32_t row) -> const Real* { return mean(row); };
  }
  auto weight_of() {
    return [this](std::uint32_t row) { return rule_weights_[row]; };
  }
  double score(std::size_t a, std::size_t b) const {
    return Rule::score(pair_value<Rule>(mean(a), mean(b), dim_), rule_weights_[a],
                       rule_weights_[b]);
  }

  void look(std::uint32_t row, std::uint32_t other, NearestCluster& best) const {
    if (other == row) return;
    const double linkage = score(row, other);
    if (linkage <= best.limit()) best.offer(linkage, at_row_[other]);
  }

  void fit() { short_.fit(rows_, has(), mean_of(), weight_of(), helpers_, pulse_); }
  void try_both() {
    short_.try_both(
        rows_, least_weight_, has(), mean_of(), weight_of(),
        [this](std::uint32_t a, std::uint32_t b) { return score(a, b); }, pulse_);
  }

  /// Rows that are free go; the others keep their order.
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
    const double weight = rule_weights_[row];
    short_.make_room_to_search(search_);
    short_.search(
        mean(row), weight, least_weight_, static_cast<std::uint32_t>(rows_),
        [&](std::uint32_t other) { look(row, other, best); }, [&] { return best.limit(); },
        weight_of(), search_, row);
  }

  /// The same with all helpers, each of whom has a part of the rows. Who is looked at by whom is
  /// chance; who is nearest is not.
  void look_up_together(std::uint32_t row, std::size_t parts, NearestCluster& best) {
    short_.make_room_to_search(search_);
    const std::uint32_t home = short_.begin_search(mean(row), row, search_);
    if (home != kNobody) look(row, home, best);
    parts_.clear();
    for (std::size_t i = 0; i < parts; ++i) parts_.push_back({best});
    SharedLeast least(best.limit());  // what one has found limits all
    const auto search = [&](std::size_t part) {
      NearestCluster& mine = parts_[part].best;
      short_.search_part(
          part, parts, rule_weights_[row], least_weight_, home,
          [&](std::uint32_t other) {
            look(row, other, mine);
            least.lower(mine.limit());
          },
          [&] { return least.value(); }, weight_of(), search_);
    };
    helpers_.share(parts, std::cref(search));
    for (const Part& part : parts_) best.add(part.best);
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

  /// What one helper has found; its own cache line.
  struct alignas(64) Part {
    NearestCluster best;
  };

  std::size_t dim_, live_;
  std::size_t rows_;  // in use, some of them free
  const std::vector<Rank>& ranks_;
  Weights weights_;
  const Pulse& pulse_;
  Helpers& helpers_;
  double least_weight_;
  std::vector<Real> means_;
  std::vector<double> rule_weights_, values_;
  std::vector<std::uint32_t> row_of_;  // by cluster
  std::vector<std::uint32_t> at_row_;  // its cluster, or kNobody
  ShortVectors<Real, Rule> short_;
  ShortScratch search_;
  std::vector<Part> parts_;
};

}  // namespace ramify
