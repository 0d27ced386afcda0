// SPDX-License-Identifier: BSD-3-Clause
// polish.hpp: merge the top of a tree anew, as offline HAC would.
//
// What an online tree loses against offline HAC it loses at the top, where early points
// have decided. From the root down, the node with the largest n * ssd (n^2 times its
// variance: the sum of its squared distances) is split until m subtrees remain; HAC with
// average linkage merges these. The new top is kept if it earns more revenue (Moseley and
// Wang) under the metric's own similarity, minus the squared distance or the inner
// product; the tree below is the same in both, so that m summaries tell.
#pragma once

#include "algorithms/repair.hpp"
#include "pulse.hpp"
#include "tree/tree.hpp"

namespace ramify {

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
