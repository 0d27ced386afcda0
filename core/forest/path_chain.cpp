// SPDX-License-Identifier: BSD-3-Clause
// path_chain.cpp: nearest-neighbour chains on what hangs off a path, for linkages that are means of
// their parts'.
#include "forest/agglomerate.hpp"
#include "forest/matrix_linkages.hpp"
#include "forest/path_hac.hpp"
#include "forest/path_unions.hpp"

namespace ramify {
namespace {

template <class Real, class Rule>
class PathChain : PathUnions<Real, Rule> {
 public:
  using PathUnions<Real, Rule>::PathUnions;

  /// False if it cannot tell who is nearest.
  RAMIFY_INLINE bool run() { return run_chain(*this, s_.chain); }

  using PathUnions<Real, Rule>::is_done, PathUnions<Real, Rule>::goes_on;
  bool is_gone(std::uint32_t) const { return false; }  // what is on a chain stays until it merges

  /// Its nearest cluster; kNobody if that cannot be told. `guess` is likely.
  RAMIFY_INLINE std::uint32_t nearest(std::uint32_t c, std::uint32_t guess) {
    PathNearest best;
    if (s_.clusters[c].is_union) {
      best = c == last_union_ ? nearest_of_last() : this->nearest_item_of_union(c);
      this->offer_unions(best, c);
    } else {
      this->offer_unions(best, c);
      const bool alone = best.cluster != kNobody && best.cluster == guess &&
                         !this->any_within(c, limit_of(best.linkage));
      if (!alone) this->offer_items(best, c);
    }
    if (best.next > limit_of(best.linkage)) return best.cluster;
    return settle(c, limit_of(best.linkage));
  }
  RAMIFY_INLINE std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    nearest_is_known_ = true;
    return last_union_ = Base::merge(a, b, nearest_of_last_);
  }
  /// As long as there is one union, and it and its nearest item are each other's nearest for
  /// certain, it takes that in: what most of a chain is.
  RAMIFY_INLINE std::uint32_t take_in_order(std::uint32_t c) {
    if (c != last_union_ || s_.unions.size() != 1) return c;
    for (;;) {
      if (this->take_run(c, std::numeric_limits<double>::infinity())) {
        last_union_ = c;
        nearest_is_known_ = false;
        continue;
      }
      const PathNearest& nearest = nearest_of_last();
      if (nearest.cluster == kNobody) return c;
      const double limit = limit_of(nearest.linkage);
      if (!(nearest.next > limit) || this->any_within(nearest.cluster, limit)) return c;
      c = last_union_ = this->take_in(c, nearest.cluster, nearest_of_last_);
    }
  }

 private:
  using Base = PathUnions<Real, Rule>;
  using Base::s_, Base::means_, Base::limit_of;
  using typename Base::Cluster;

  RAMIFY_INLINE const PathNearest& nearest_of_last() {
    if (!nearest_is_known_) nearest_of_last_ = this->nearest_item_of_union(last_union_);
    nearest_is_known_ = true;
    return nearest_of_last_;
  }

  std::uint32_t settle(std::uint32_t c, double limit);
  std::uint32_t settle_as_matrix(std::uint32_t c, double least);

  MatrixLinkages<Real, Rule> matrix_{this->forest_, means_.dim(), this->merges_, s_.ranks,
                                     s_.matrix};
  std::uint32_t last_union_ = kNobody;
  PathNearest nearest_of_last_;
  bool nearest_is_known_ = false;
};

/// The nearest of those within a limit, exactly.
template <class Real, class Rule>
std::uint32_t PathChain<Real, Rule>::settle(std::uint32_t c, double limit) {
  tally(Engine::kExactly, 2);
  const std::vector<std::uint32_t>& near = s_.near;
  const bool all_items = this->find_near(c, limit) == near.size() && !s_.clusters[c].is_union;
  if (near.empty() || this->has_looked_enough(near.size())) return kNobody;
  std::vector<double>& linkages = s_.near_linkages;
  linkages.clear();
  for (const std::uint32_t other : near) linkages.push_back(means_.linkage_from(c, other));
  std::uint32_t best = near.front();
  double least = linkages.front(), next = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < near.size(); ++i) {
    const double linkage = linkages[i];
    const bool ties = linkage == least && (all_items || (!Rule::kProduct && linkage == 0 &&
                                                         means_.are_one_row(c, best) &&
                                                         means_.are_one_row(c, near[i])));
    if (ties) {
      if (comes_first(s_.ranks[near[i]], s_.ranks[best])) best = near[i];
    } else if (linkage < least) {
      next = least;
      least = linkage;
      best = near[i];
    } else {
      next = std::min(next, linkage);
    }
  }
  if (all_items || next == std::numeric_limits<double>::infinity()) return best;
  return next - least > this->rounding(next) ? best : settle_as_matrix(c, least);
}

/// The nearest of those that are equally near up to rounding: the one that forest_hac() finds.
template <class Real, class Rule>
std::uint32_t PathChain<Real, Rule>::settle_as_matrix(std::uint32_t c, double least) {
  tally(Engine::kAsMatrix, 2);
  std::uint32_t best = kNobody;
  double least_in_matrix = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < s_.near.size(); ++i) {
    const std::uint32_t other = s_.near[i];
    if (s_.near_linkages[i] - least > this->rounding(s_.near_linkages[i])) continue;
    if (!matrix_.is_worth_it()) return kNobody;
    const double linkage = matrix_.linkage(c, other);
    if (best == kNobody || linkage < least_in_matrix ||
        (linkage == least_in_matrix && comes_first(s_.ranks[other], s_.ranks[best]))) {
      least_in_matrix = linkage;
      best = other;
    }
  }
  return best;
}

template <class Real, class Rule>
RAMIFY_INLINE bool run(PathChain<Real, Rule>& chain) {
  return chain.run();
}

}  // namespace

template <class Real, class Rule>
bool merge_by_chain(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
                    std::size_t dim, PathScratch& scratch, std::vector<Merge>& merges) {
  PathChain<Real, Rule> chain(forest, table, dim, scratch, merges);
  return chosen<run<Real, Rule>>()(chain);
}

#define RAMIFY_OF(Real, Rule)                                                                 \
  template bool merge_by_chain<Real, Rule>(std::span<const ForestItem<Real>>,                 \
                                           const PathTable<Real>&, std::size_t, PathScratch&, \
                                           std::vector<Merge>&)
RAMIFY_OF(float, AverageSquared);
RAMIFY_OF(double, AverageSquared);
RAMIFY_OF(float, MinusDot);
RAMIFY_OF(double, MinusDot);
#undef RAMIFY_OF

}  // namespace ramify
