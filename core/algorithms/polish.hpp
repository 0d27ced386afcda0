// SPDX-License-Identifier: BSD-3-Clause
// polish.hpp: merge the top of a tree anew, as offline HAC would.
//
// What an online tree loses against offline HAC it loses at the top, where early points
// have decided. From the root down, the node with the largest n * ssd (n^2 times its
// variance: the sum of its squared distances) is split until m subtrees remain; HAC with
// average linkage merges these. The new top is kept if it earns more revenue (Moseley and
// Wang) under the metric's own similarity, minus the squared distance or the inner
// product; the tree below is the same in both, so that m summaries tell.
//
// HAC is greedy, and the best m is another one for each tree. So it is done in rounds, from
// few subtrees to more: what one does not find another may, and none makes the tree worse.
#pragma once

#include <vector>

#include "algorithms/repair.hpp"
#include "pulse.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// The m of each round for a tree of so many leaves: the last one a tenth of them, at least
/// 24 and at most 1000, which costs a few percent of what growing the tree did.
std::vector<std::size_t> polish_rounds(std::size_t leaves);

template <class Real>
class Polish {
 public:
  Polish(std::size_t dim, Metric metric)
      : dim_(dim), metric_(metric), repair_(dim, metric, Linkage::kAverage) {}

  /// True if there is a new top. Of a tree whose summaries are not stale. Nodes keep
  /// their ids as they do in any repair. O(m log m), and what HAC of m clusters costs. If
  /// this throws, or the pulse says stop, the tree is as it was.
  bool operator()(Tree<Real>& tree, std::size_t m, const Pulse& pulse);

 private:
  void cut_top(const Tree<Real>& tree, std::size_t m);
  void find_old_merges(const Tree<Real>& tree);
  double revenue(std::span<const ForestItem<Real>> forest, std::span<const Merge> merges);

  std::size_t dim_;
  Metric metric_;
  Repair<Real> repair_;
  std::vector<Merge> old_;  // the merges that there were, over the same forest
};

}  // namespace ramify
