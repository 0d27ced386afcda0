// SPDX-License-Identifier: BSD-3-Clause
// union_means.hpp: linkages of unions of a forest's items from their means, in double precision.
//
// Means are put together when they are asked for, and counted from the last item, not from zero:
// rows may be far from there. Clusters are numbered as everywhere: items first, then each merge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest_hac.hpp"
#include "forest/tally.hpp"
#include "math/dispatch.hpp"
#include "math/growth.hpp"
#include "math/linkage.hpp"
#include "math/summary.hpp"

namespace ramify {

/// Kept to spare allocations.
struct UnionMeansScratch {
  static constexpr std::uint32_t kNoMean = 0xFFFFFFFFU;
  struct Known {
    std::uint32_t mean = kNoMean;
    double n = 0, ssd = -1;  // which is not known if it is negative
  };
  std::vector<Known> known;  // by merge
  std::vector<std::vector<double>> means;
  std::vector<std::uint32_t> free_means, pending;
  std::vector<double> room[2];  // for those of items

  /// Nothing of a row is left.
  void wipe() noexcept {
    for (std::vector<double>& mean : means) ramify::wipe(mean);
    for (std::vector<double>& mean : room) ramify::wipe(mean);
    means.clear();
  }
};

/// A mean, counted from another one or from zero.
template <bool kFromZero, class Real>
RAMIFY_INLINE void count_from(const Real* mean, const Real* from, std::size_t dim, double* out) {
  for (std::size_t j = 0; j < dim; ++j)
    out[j] = static_cast<double>(mean[j]) - (kFromZero ? 0.0 : static_cast<double>(from[j]));
}

template <class Real, class Rule>
class UnionMeans {
 public:
  /// `merges` may grow; the parts of a union are not asked for once it is.
  UnionMeans(std::span<const ForestItem<Real>> forest, std::size_t dim,
             const std::vector<Merge>& merges, UnionMeansScratch& scratch)
      : forest_(forest), dim_(dim), merges_(merges), s_(scratch) {
    s_.known.assign(forest.size() - 1, {});
    s_.free_means.clear();
    for (std::uint32_t i = 0; i < s_.means.size(); ++i) s_.free_means.push_back(i);
  }

  std::size_t dim() const { return dim_; }

  /// How far others are from a cluster, less its own variance if it is a union: that is the same
  /// for all of them. Of two items: to the bit what every other way computes.
  double linkage_from(std::uint32_t a, std::uint32_t b) {
    count_work(1);
    if (a < items() && b < items())
      return linkage_of<Rule>(forest_[a].summary, forest_[b].summary, dim_);
    know(a);
    know(b);
    if (Rule::kWeighted && b >= items()) know_ssd(b);
    SummaryView<double> of_a = view(a, s_.room[0]);
    if (a >= items()) of_a.ssd = 0;
    return linkage_of<Rule>(of_a, view(b, s_.room[1]), dim_);
  }

  /// Are all points of two clusters the same row? Exactly: means may have become equal by rounding.
  bool are_one_row(std::uint32_t a, std::uint32_t b) {
    std::uint32_t first = kNobody;
    s_.pending.assign({a, b});
    return all_pending([&](std::uint32_t item) {
      if (first == kNobody) first = item;
      return linkage_of<Rule>(forest_[first].summary, forest_[item].summary, dim_) == 0;
    });
  }

 private:
  std::uint32_t items() const { return static_cast<std::uint32_t>(forest_.size()); }
  bool is_unknown(std::uint32_t c) const {
    return c >= items() && s_.known[c - items()].mean == UnionMeansScratch::kNoMean;
  }

  /// Have a union's mean, and so those of its parts that are unions.
  void know(std::uint32_t of_union) {
    if (!is_unknown(of_union)) return;
    s_.pending.assign(1, of_union);
    while (!s_.pending.empty()) {
      const std::uint32_t c = s_.pending.back();
      const auto [a, b] = merges_[c - items()];
      if (is_unknown(a)) {
        s_.pending.push_back(a);
      } else if (is_unknown(b)) {
        s_.pending.push_back(b);
      } else {
        combine(c, a, b);
        s_.pending.pop_back();
      }
    }
  }

  /// The union takes the place of a part.
  void combine(std::uint32_t of_union, std::uint32_t a, std::uint32_t b) {
    count_work(1);
    const SummaryView<double> of_a = view(a, s_.room[0]), of_b = view(b, s_.room[1]);
    if (a >= items() && b >= items()) s_.free_means.push_back(s_.known[b - items()].mean);
    const std::uint32_t at = a >= items()   ? s_.known[a - items()].mean
                             : b >= items() ? s_.known[b - items()].mean
                                            : take_place();
    merged_mean<double>(of_a, of_b, dim_, s_.means[at].data());
    s_.known[of_union - items()] = {at, of_a.n + of_b.n, -1};
  }
  /// From its items: few unions are asked for theirs.
  void know_ssd(std::uint32_t of_union) {
    UnionMeansScratch::Known& known = s_.known[of_union - items()];
    if (known.ssd >= 0) return;
    known.ssd = 0;
    const double* mean = s_.means[known.mean].data();
    s_.pending.assign(1, of_union);
    all_pending([&](std::uint32_t c) {
      const SummaryView<double> item = view(c, s_.room[0]);
      known.ssd += item.ssd + item.n * squared_distance(item.mean, mean, dim_);
      return true;
    });
  }
  /// Does `holds` say so of all items of the pending clusters?
  template <class Holds>
  bool all_pending(Holds&& holds) {
    while (!s_.pending.empty()) {
      const std::uint32_t c = s_.pending.back();
      count_work(1);
      s_.pending.pop_back();
      if (c >= items()) {
        s_.pending.push_back(merges_[c - items()].a);
        s_.pending.push_back(merges_[c - items()].b);
      } else if (!holds(c)) {
        return false;
      }
    }
    return true;
  }
  std::uint32_t take_place() {
    if (s_.free_means.empty()) {
      s_.free_means.push_back(static_cast<std::uint32_t>(s_.means.size()));
      s_.means.emplace_back(dim_);
    }
    const std::uint32_t at = s_.free_means.back();
    s_.free_means.pop_back();
    return at;
  }

  /// Of an item, or a union that is known.
  SummaryView<double> view(std::uint32_t c, std::vector<double>& room) const {
    if (c >= items()) {
      const UnionMeansScratch::Known& known = s_.known[c - items()];
      return {known.n, s_.means[known.mean].data(), known.ssd};
    }
    room.resize(dim_);
    chosen<count_from<Rule::kProduct, Real>>()(forest_[c].summary.mean, forest_.back().summary.mean,
                                               dim_, room.data());
    return {forest_[c].summary.n, room.data(), forest_[c].summary.ssd};
  }

  std::span<const ForestItem<Real>> forest_;
  std::size_t dim_;
  const std::vector<Merge>& merges_;
  UnionMeansScratch& s_;
};

}  // namespace ramify
