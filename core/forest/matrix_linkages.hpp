// SPDX-License-Identifier: BSD-3-Clause
// matrix_linkages.hpp: linkages of unions of a forest's items, to the bit what MatrixSpace has.
//
// Two clusters that are equally near differ by rounding, if at all. Who is first then hangs on how
// forest_hac() rounds: a union's linkage to another cluster is computed from its parts' when it is
// made (matrix_space.hpp). So of two clusters the one that was made later is taken apart, until
// items are left. That is a distance for each two items, and few pairs of clusters are ever asked
// for; what was found for an item and a union, the next union, which has that one as a part, need
// not find again.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forest/forest_hac.hpp"
#include "forest/tally.hpp"
#include "math/growth.hpp"
#include "math/linkage.hpp"

namespace ramify {

/// Kept to spare allocations.
struct MatrixLinkagesScratch {
  struct Pair {
    std::uint32_t a, b;
    std::uint8_t parts_done;
  };
  std::vector<Pair> open;
  std::vector<double> found;
  struct Known {
    std::uint32_t of_union;
    double linkage;
  };
  std::vector<Known> known;  // by item

  /// No linkage is left.
  void wipe() noexcept {
    ramify::wipe(found);
    ramify::wipe(known);
  }
};

/// For linkages that are means of their parts'.
template <class Real, class Rule>
class MatrixLinkages {
 public:
  /// `merges` and `ranks`, which are by cluster, may grow.
  MatrixLinkages(std::span<const ForestItem<Real>> forest, std::size_t dim,
                 const std::vector<Merge>& merges, const std::vector<Rank>& ranks,
                 MatrixLinkagesScratch& scratch)
      : forest_(forest), dim_(dim), merges_(merges), ranks_(ranks), s_(scratch) {
    static_assert(Rule::kMeanOfParts);
  }

  /// Is it more work to fill a matrix than what has been done here so far?
  bool is_worth_it() const { return compared_ <= forest_.size() * forest_.size() / 8; }

  double linkage(std::uint32_t a, std::uint32_t b) {
    if (s_.known.size() < forest_.size() || compared_ == 0)
      s_.known.assign(forest_.size(), {kNobody, 0});
    s_.open.assign(1, {a, b, 0});
    s_.found.clear();
    while (!s_.open.empty()) step();
    note(a, b, s_.found.back());
    return s_.found.back();
  }

 private:
  bool is_item(std::uint32_t c) const { return c < forest_.size(); }

  /// Go on with the last open pair: `a` is made no earlier than `b`.
  void step() {
    count_work(1);
    auto& [a, b, parts_done] = s_.open.back();
    if (a < b) std::swap(a, b);
    if (is_item(a)) {
      s_.found.push_back(linkage_of<Rule>(forest_[a].summary, forest_[b].summary, dim_));
      ++compared_;
      s_.open.pop_back();
    } else if (is_item(b) && s_.known[b].of_union == a) {
      s_.found.push_back(s_.known[b].linkage);
      s_.open.pop_back();
    } else if (parts_done < 2) {
      const auto [first, second] = merges_[a - forest_.size()];
      const std::uint32_t part = parts_done == 0 ? first : second;
      ++parts_done;
      s_.open.push_back({part, b, 0});
    } else {
      unite(a, b);
      s_.open.pop_back();
    }
  }
  /// The last two found are those of a's parts.
  void unite(std::uint32_t a, std::uint32_t b) {
    const auto [first, second] = merges_[a - forest_.size()];
    const double of_second = s_.found.back();
    s_.found.pop_back();
    double& of_first = s_.found.back();
    of_first = Rule::update(
        {ranks_[first].weight, ranks_[second].weight, ranks_[b].weight, of_first, of_second, 0});
  }
  void note(std::uint32_t a, std::uint32_t b, double linkage) {
    if (is_item(a)) std::swap(a, b);
    if (!is_item(a) && is_item(b)) s_.known[b] = {a, linkage};
  }

  std::span<const ForestItem<Real>> forest_;
  std::size_t dim_;
  const std::vector<Merge>& merges_;
  const std::vector<Rank>& ranks_;
  MatrixLinkagesScratch& s_;
  std::size_t compared_ = 0;  // pairs of items
};

}  // namespace ramify
