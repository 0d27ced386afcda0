// SPDX-License-Identifier: BSD-3-Clause
// leaf_budget.hpp: which leaves become one where there may not be more of them.
#pragma once

#include <span>
#include <vector>

#include "tree/leaf_pairs.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// All pairs of leaves that are siblings, once they are asked for, and as the tree changes.
template <class Real>
class LeafBudget {
 public:
  LeafBudget(Metric metric, Linkage linkage) : pairs_(metric, linkage) {}

  /// Have all pairs of leaves known.
  void know(Tree<Real>& tree) {
    const bool missed = !tree.take_rewired(rewired_);
    if (!is_known_ || missed) {
      is_known_ = false;
      tree.watch(true);
      pairs_.begin(tree);
      is_known_ = true;
      return;
    }
    is_known_ = false;  // until this has gone well
    for (const Slot slot : rewired_) pairs_.offer(tree, slot);
    is_known_ = true;
  }
  /// The two closest, by their parent: of a tree whose pairs are known, and of two leaves or more.
  NodeId take_closest(const Tree<Real>& tree) { return pairs_.take_closest(tree); }
  /// Rows have other slots now, in the same order.
  void renumber(std::span<const RowSlot> new_slot) { pairs_.renumber(new_slot); }

 private:
  LeafPairs<Real> pairs_;
  bool is_known_ = false;
  std::vector<Slot> rewired_;
};

}  // namespace ramify
