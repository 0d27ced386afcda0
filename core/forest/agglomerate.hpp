// SPDX-License-Identifier: BSD-3-Clause
// agglomerate.hpp: the two loops that merge a forest: chain and greedy (forest_hac.hpp).
//
// Both are written once, over clusters that answer
//
//   is_done()         is one cluster left?
//   goes_on()         false when the caller wants to stop
//   merge(a, b)       the union of two clusters
//
// and for the chain also
//
//   nearest(c, before)  the cluster with the smallest MergeKey to c, of which `before` is a likely
//                       one; kNobody if that cannot be told
//   is_gone(c)          has c been merged away?
//   take_in_order(c)    a union c may take in, one after the other, what it is certain to be
//                       merged with next; what it has become
//
// and for greedy merging
//
//   take_several()      the same of the only union there is; false if nothing is certain
//   nearest_pair(out)   the two clusters with the smallest MergeKey; false if that cannot be told
//
// Searches are those of a space (forest_spaces.hpp). A table that is kept from one path to the next
// (path_unions.hpp) has clusters of its own.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "forest/forest_spaces.hpp"
#include "forest/nearest_pairs.hpp"
#include "math/dispatch.hpp"
#include "pulse.hpp"

namespace ramify {

/// Nearest-neighbour chain. Partners are compared by identity, not by value: rounding could
/// otherwise keep two clusters just missing each other. A chain that has been used up goes on from
/// the union it ended in: so clusters that are nowhere near it neither change what is merged when,
/// nor how it is rounded (stable_path.hpp). False if a nearest cluster cannot be told.
template <class Clusters>
RAMIFY_INLINE bool run_chain(Clusters& clusters, std::vector<std::uint32_t>& chain) {
  chain.clear();
  std::uint32_t start = 0;
  while (!clusters.is_done()) {
    if (!clusters.goes_on()) return false;
    while (!chain.empty() && clusters.is_gone(chain.back())) chain.pop_back();
    if (chain.empty()) {
      start = clusters.take_in_order(start);
      if (clusters.is_done()) break;
      chain.push_back(start);
    }
    const std::uint32_t c = chain.back();
    const std::uint32_t before = chain.size() >= 2 ? chain[chain.size() - 2] : kNobody;
    const std::uint32_t nearest = clusters.nearest(c, before);
    if (nearest == kNobody) return false;
    if (nearest == before) {
      chain.resize(chain.size() - 2);
      start = clusters.merge(c, nearest);
    } else {
      chain.push_back(nearest);
    }
  }
  return true;
}

/// Always the two nearest. False if they cannot be told.
template <class Clusters>
RAMIFY_INLINE bool run_greedy(Clusters& clusters) {
  while (!clusters.is_done()) {
    if (!clusters.goes_on()) return false;
    if (clusters.take_several()) continue;
    Merge pair{};
    if (!clusters.nearest_pair(pair)) return false;
    clusters.merge(pair.a, pair.b);
  }
  return true;
}

/// The clusters of a space: which are there, and how a merge is written down.
///
/// The two nearest come from a heap of every cluster's nearest neighbour. An entry whose neighbour
/// has gone is a lower bound, for the clusters there were when it was made; later ones looked for
/// themselves when they came. So the least fresh entry is the least pair. Each entry that is not
/// fresh takes another search, and where many clusters are equally far there may be as many for
/// every merge: then a space of all pairs finds them in another way (nearest_pairs.hpp), and others
/// say that there were too many.
template <class Space>
class Agglomeration {
 public:
  Agglomeration(Space& space, ForestScratch& scratch, std::size_t m, const Pulse& pulse,
                std::vector<Merge>& merges)
      : space_(space),
        ranks_(scratch.ranks),
        gone_(scratch.gone),
        m_(m),
        most_searches_(scratch.searches_each * m),
        pulse_(pulse),
        merges_(merges) {
    gone_.assign(2 * m - 1, 0);
  }

  bool is_done() const { return merges_.size() + 1 >= m_; }
  /// Looking at the clock takes as long as a tenth of a search.
  bool goes_on() { return steps_++ % kStepsBetweenPulses != 0 || pulse_(merges_.size()); }
  bool is_gone(std::uint32_t c) const { return gone_[c] != 0; }
  std::uint32_t take_in_order(std::uint32_t c) const { return c; }
  bool take_several() const { return false; }
  /// Were there more searches than another space would take?
  bool were_too_many() const { return too_many_; }

  RAMIFY_INLINE std::uint32_t nearest(std::uint32_t c, std::uint32_t /*before*/) {
    return space_.nearest(c).cluster;
  }
  RAMIFY_INLINE bool nearest_pair(Merge& out) {
    for (; looked_for_ < m_; ++looked_for_) {
      if (!goes_on()) return false;
      push(looked_for_);
    }
    if (newest_ != kNobody) push(std::exchange(newest_, kNobody));
    while (searches_ <= most_searches_ || m_ > kMostPairs) {
      if (!goes_on()) return false;
      const Entry top = heap_.top();
      heap_.pop();
      if (is_gone(top.cluster)) continue;
      if (!is_gone(top.nearest)) {
        out = {top.cluster, top.nearest};
        return true;
      }
      push(top.cluster);
    }
    if constexpr (Space::kHasAllPairs) {
      if (!pairs_.is_ready()) pairs_.begin(space_, ranks_);
      out = pairs_.nearest(space_);
      return true;
    }
    too_many_ = true;
    return false;
  }

  RAMIFY_INLINE std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (ranks_[b].first_leaf < ranks_[a].first_leaf) std::swap(a, b);
    const auto c = static_cast<std::uint32_t>(m_ + merges_.size());
    merges_.push_back({a, b});
    gone_[a] = gone_[b] = 1;
    ranks_[c] = merged(ranks_[a], ranks_[b]);
    if constexpr (Space::kHasAllPairs) {
      const std::uint32_t row_a = space_.row_of(a), row_b = space_.row_of(b);
      space_.merge(a, b, c);
      if (pairs_.is_ready()) pairs_.update(space_, ranks_, row_a, row_b);
    } else {
      space_.merge(a, b, c);
    }
    newest_ = c;
    return c;
  }

 private:
  struct Entry {
    MergeKey key;
    std::uint32_t cluster, nearest;
    friend bool operator<(const Entry& a, const Entry& b) { return b.key < a.key; }
  };
  static constexpr std::size_t kStepsBetweenPulses = 8;

  RAMIFY_INLINE void push(std::uint32_t c) {
    const Found found = space_.nearest(c);
    ++searches_;
    heap_.push({MergeKey(found.linkage, ranks_[c], ranks_[found.cluster]), c, found.cluster});
  }

  Space& space_;
  std::vector<Rank>& ranks_;
  std::vector<std::uint8_t>& gone_;
  std::priority_queue<Entry> heap_;
  NearestPairs pairs_;  // once there were too many searches
  std::size_t m_, most_searches_, steps_ = 0, searches_ = 0;
  std::uint32_t looked_for_ = 0;    // items below have an entry in the heap
  std::uint32_t newest_ = kNobody;  // it has none yet
  bool too_many_ = false;
  const Pulse& pulse_;
  std::vector<Merge>& merges_;
};

}  // namespace ramify
