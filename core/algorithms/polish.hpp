// SPDX-License-Identifier: BSD-3-Clause
// polish.hpp: merge the top of a tree anew, as offline HAC would.
//
// What an online tree loses against offline HAC it loses at the top, where early points
// have decided. From the root down, the widest node is split until m subtrees remain; HAC
// with the tree's own linkage merges these. The new top is kept only if it is worth more,
// by what the linkage is for:
//
//   average, dot    revenue (Moseley and Wang) under the metric's own similarity, minus
//                   the squared distance or the inner product. The widest node has the
//                   largest n * ssd: the sum of its squared distances.
//   ward, centroid  minus the sum over k = 1..m of SSE(k)/k, where SSE(k) is the sum of
//                   squares that the cut into k clusters leaves: each doubling of k
//                   counts the same. The widest node has the largest ssd.
//
// The tree below is the same in both, so that m summaries tell.
//
// HAC is greedy, and the best m is another one for each tree. So it is done in rounds, from
// few subtrees to more: what one does not find another may, and none makes the tree worse.
//
// Nodes that are linked or held (edits.hpp) are not split, and so keep their points; a
// held root is, because all points are below it whatever the top is.
#pragma once

#include <vector>

#include "algorithms/repair.hpp"
#include "pulse.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// The m of each round for a tree of `leaves` leaves: the last one a tenth of them, at least
/// 24 and at most 1000, which costs a few percent of what growing the tree did.
std::vector<std::size_t> polish_rounds(std::size_t leaves);

/// What one look at the top has found. Worth is of the top alone: more is better.
struct PolishRound {
  std::size_t m = 0;       // subtrees that there were; fewer than 3: nothing to merge
  double before = 0;       // what the old top is worth
  double after = 0;        // and the one that the tree has now
  bool is_better = false;  // the tree has changed
};

template <class Real>
class Polish {
 public:
  Polish(std::size_t dim, Metric metric, Linkage linkage)
      : dim_(dim), metric_(metric), linkage_(linkage), repair_(dim, metric, linkage) {}

  /// Of a tree whose summaries are not stale. Nodes keep their ids as they do in any
  /// repair. O(m log m), and what HAC of m clusters costs. If this throws, or the pulse
  /// says stop, the tree is as it was.
  PolishRound operator()(Tree<Real>& tree, std::size_t m, const Pulse& pulse);

 private:
  struct Part {  // a subtree, or a union of some
    double n, ssd;
    double within;  // the sum of all similarities inside
    double growth;  // of the sum of squares, by its merge
    double height;  // of the highest merge at or below, in the top
    Rank rank;
  };
  bool is_by_revenue() const { return metric_ == Metric::kDot || linkage_ == Linkage::kAverage; }
  bool may_split(const Tree<Real>& tree, NodeId v) const;
  void cut_top(const Tree<Real>& tree, std::size_t m);
  void find_old_merges(const Tree<Real>& tree);
  double worth(std::span<const ForestItem<Real>> forest, std::span<const Merge> merges);
  void unite(std::span<const ForestItem<Real>> forest, std::span<const Merge> merges);
  double revenue(std::span<const Merge> merges) const;
  double squares(std::size_t m) const;

  std::size_t dim_;
  Metric metric_;
  Linkage linkage_;
  Repair<Real> repair_;
  std::vector<Merge> old_;   // the merges that there were, over the same forest
  std::vector<Part> parts_;  // of the merges at hand: the forest, then each union
};

}  // namespace ramify
