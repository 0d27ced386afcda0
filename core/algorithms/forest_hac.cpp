// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/forest_hac.hpp"

#include <limits>
#include <queue>

#include "algorithms/bucket_space.hpp"
#include "algorithms/matrix_space.hpp"
#include "algorithms/scan_space.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWorthProducts = 20;  // smaller forests are filled pair by pair

/// What both ways share: who is alive, and how a merge is written down.
template <class Space>
class Agglomeration {
 public:
  Agglomeration(Space& space, ForestScratch& scratch, std::size_t m, const Pulse& pulse,
                std::vector<Merge>& merges)
      : space_(space),
        ranks_(scratch.ranks),
        alive_(scratch.alive),
        chain_(scratch.chain),
        m_(m),
        pulse_(pulse),
        merges_(merges) {
    alive_.assign(2 * m - 1, 0);
    std::fill_n(alive_.begin(), m, std::uint8_t{1});
  }

  /// Nearest-neighbour chain. Partners are compared by identity, not by value:
  /// rounding could otherwise keep two clusters just missing each other. A chain
  /// that has been used up goes on from the union it ended in: so clusters that
  /// are nowhere near it neither change what is merged when, nor how it is rounded
  /// (stable_path.hpp).
  RAMIFY_INLINE bool run_chain() {
    chain_.clear();
    std::uint32_t start = 0;
    while (merges_.size() + 1 < m_) {
      if (!goes_on()) return false;
      while (!chain_.empty() && !alive_[chain_.back()]) chain_.pop_back();
      if (chain_.empty()) chain_.push_back(start);
      const std::uint32_t c = chain_.back();
      const std::uint32_t nearest = space_.nearest(c).cluster;
      if (chain_.size() >= 2 && chain_[chain_.size() - 2] == nearest) {
        chain_.resize(chain_.size() - 2);
        start = merge(c, nearest);
      } else {
        chain_.push_back(nearest);
      }
    }
    return true;
  }

  /// Heap of nearest neighbours. An entry whose neighbour has gone is a lower
  /// bound, for the clusters there were when it was made; later ones looked for
  /// themselves when they came. So the least fresh entry is the least pair.
  RAMIFY_INLINE bool run_greedy() {
    for (std::uint32_t c = 0; c < m_; ++c) {
      if (!goes_on()) return false;
      push(c);
    }
    while (merges_.size() + 1 < m_) {
      if (!goes_on()) return false;
      const Entry top = heap_.top();
      heap_.pop();
      if (!alive_[top.cluster]) continue;
      if (alive_[top.nearest])
        push(merge(top.cluster, top.nearest));
      else
        push(top.cluster);
    }
    return true;
  }

 private:
  struct Entry {
    MergeKey key;
    std::uint32_t cluster, nearest;
    friend bool operator<(const Entry& a, const Entry& b) { return b.key < a.key; }
  };

  /// Looking at the clock takes as long as a tenth of a search.
  bool goes_on() { return steps_++ % kStepsBetweenPulses != 0 || pulse_(merges_.size()); }

  RAMIFY_INLINE void push(std::uint32_t c) {
    if (merges_.size() + 1 == m_) return;
    const Found found = space_.nearest(c);
    heap_.push({MergeKey(found.linkage, ranks_[c], ranks_[found.cluster]), c, found.cluster});
  }

  RAMIFY_INLINE std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (ranks_[b].first_leaf < ranks_[a].first_leaf) std::swap(a, b);
    const auto c = static_cast<std::uint32_t>(m_ + merges_.size());
    merges_.push_back({a, b});
    alive_[a] = alive_[b] = 0;
    alive_[c] = 1;
    ranks_[c] = merged(ranks_[a], ranks_[b]);
    space_.merge(a, b, c);
    return c;
  }

  static constexpr std::size_t kStepsBetweenPulses = 8;

  Space& space_;
  std::vector<Rank>& ranks_;
  std::vector<std::uint8_t>& alive_;
  std::vector<std::uint32_t>& chain_;
  std::priority_queue<Entry> heap_;
  std::size_t m_, steps_ = 0;
  const Pulse& pulse_;
  std::vector<Merge>& merges_;
};

template <class Space, class Rule, class Real, class... Others>
RAMIFY_INLINE bool run(std::span<const ForestItem<Real>> forest, std::size_t dim,
                       const Pulse& pulse, ForestScratch& scratch, std::vector<Merge>& merges,
                       Others&... others) {
  Space space(forest, dim, scratch, pulse, others...);
  Agglomeration<Space> work(space, scratch, forest.size(), pulse, merges);
  if constexpr (Rule::kReducible) return work.run_chain();
  return work.run_greedy();
}

/// A large forest: a function of its own, so that the search is compiled into it.
template <class Space, class Rule, class Real, class... Others>
[[gnu::noinline]] bool run_by_searches(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                       const Pulse& pulse, ForestScratch& scratch,
                                       std::vector<Merge>& merges, Others&... others) {
  return run<Space, Rule>(forest, dim, pulse, scratch, merges, others...);
}

/// Small forests are all of OHAC's work: compiled for each set of instructions,
/// and over before anybody could want to stop.
template <class Rule, class Real>
RAMIFY_INLINE bool run_on_products(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                   ForestScratch& scratch, std::vector<Merge>& merges) {
  using Space = MatrixSpace<Real, Rule, Filling::kByProducts>;
  const Pulse pulse;
  Space space(forest, dim, scratch, pulse);
  Agglomeration<Space> work(space, scratch, forest.size(), pulse, merges);
  return work.run_chain() && space.is_certain();
}
template <class Rule, class Real>
RAMIFY_INLINE bool run_on_matrix(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                 ForestScratch& scratch, std::vector<Merge>& merges) {
  return run<MatrixSpace<Real, Rule>, Rule>(forest, dim, {}, scratch, merges);
}

template <class Real>
void begin_merging(std::span<const ForestItem<Real>> forest, ForestScratch& scratch,
                   std::vector<Merge>& merges) {
  const std::size_t m = forest.size();
  merges.clear();
  merges.reserve(m - 1);
  scratch.ranks.resize(2 * m - 1);
  for (std::size_t i = 0; i < m; ++i) scratch.ranks[i] = forest[i].rank;
}

ForestSpace what_suits(std::size_t m, std::size_t dim, Metric metric) {
  if (m <= matrix_limit(dim)) return ForestSpace::kMatrix;
  const std::size_t few = metric == Metric::kDot ? kLanes : kFewColumns;
  return dim < few ? ForestSpace::kBuckets : ForestSpace::kScan;
}

}  // namespace

template <class Real>
bool forest_hac(std::span<const ForestItem<Real>> forest, std::size_t dim, Metric metric,
                Linkage linkage, const Pulse& pulse, ForestScratch& scratch,
                std::vector<Merge>& merges, ForestSpace space, Helpers* helpers) {
  const std::size_t m = forest.size();
  if (space == ForestSpace::kBySize) space = what_suits(m, dim, metric);
  begin_merging(forest, scratch, merges);
  return with_rule(metric, linkage, [&](auto rule) {
    using Rule = decltype(rule);
    if constexpr (Rule::kMeanOfParts)
      if (space == ForestSpace::kMatrix && dim >= kLanes && m >= kWorthProducts) {
        if (chosen<run_on_products<Rule, Real>>()(forest, dim, scratch, merges)) return true;
        merges.clear();
      }
    if (space == ForestSpace::kMatrix || space == ForestSpace::kPairs)
      return chosen<run_on_matrix<Rule, Real>>()(forest, dim, scratch, merges);
    try {
      if (space == ForestSpace::kBuckets)
        return run_by_searches<BucketSpace<Real, Rule>, Rule>(forest, dim, pulse, scratch, merges);
      Alone alone;
      return run_by_searches<ScanSpace<Real, Rule>, Rule>(forest, dim, pulse, scratch, merges,
                                                          helpers == nullptr ? alone : *helpers);
    } catch (const Stopped&) {
      return false;
    }
  });
}

template bool forest_hac(std::span<const ForestItem<float>>, std::size_t, Metric, Linkage,
                         const Pulse&, ForestScratch&, std::vector<Merge>&, ForestSpace, Helpers*);
template bool forest_hac(std::span<const ForestItem<double>>, std::size_t, Metric, Linkage,
                         const Pulse&, ForestScratch&, std::vector<Merge>&, ForestSpace, Helpers*);

}  // namespace ramify
