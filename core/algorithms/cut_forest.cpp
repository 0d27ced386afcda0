// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/cut_forest.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "algorithms/edits.hpp"

namespace ramify {
namespace {

/// Tells all inner nodes of a tree apart, and has parents after their children.
using Leaves = std::pair<std::uint32_t, RowSlot>;
template <class Real>
Leaves by_leaves(const Tree<Real>& tree, Slot slot) {
  const NodeId v = NodeId::inner(slot);
  return {tree.count(v), tree.first_leaf(v)};
}

}  // namespace

template <class Real>
void ForestCutter<Real>::split_path(const Tree<Real>& tree, NodeId y, NodeId below) {
  cut_.one_path = true;
  cut_.taken.clear();
  cut_.trees.assign(1, y);
  cut_.owner.assign(1, tree.parent(below) == kNone ? CutForest::kNowhere : 0);
  for (NodeId v = tree.parent(below); v != kNone; below = v, v = tree.parent(v)) {
    const NodeId side = tree.left(v) == below ? tree.right(v) : tree.left(v);
    tree.prefetch(side);
    cut_.owner.push_back(static_cast<std::uint32_t>(cut_.taken.size()));
    cut_.taken.push_back(v.slot());
    cut_.trees.push_back(side);
    if (tree.mark(v) == Mark::kHeld) break;
  }
}

/// No slot is marked as taken any more, however the work ended.
template <class Real>
struct ForestCutter<Real>::Untake {
  ForestCutter& cutter;
  ~Untake() {
    for (const Slot slot : cutter.cut_.taken) cutter.is_taken_[slot] = 0;
  }
};

template <class Real>
void ForestCutter<Real>::split_paths(const Tree<Real>& tree,
                                     std::span<const Neighbour> neighbours) {
  const NodeId top = holder_of(tree, first_of(neighbours));
  starts_.clear();
  for (const Neighbour& y : neighbours) {
    NodeId start = NodeId::leaf(y.row), v = start;
    if (tree.marked()) {
      for (v = tree.parent(v); v != kNone && v != top; v = tree.parent(v))
        if (tree.mark(v) != Mark::kPlain) start = v;
      if (v != top) continue;
    }
    starts_.push_back(start);
  }
  split_above(tree, starts_, top);
}

template <class Real>
void ForestCutter<Real>::split_above(const Tree<Real>& tree, std::span<const NodeId> starts,
                                     NodeId top) {
  const NodeId end = top == kNone ? kNone : tree.parent(top);
  is_taken_.resize(tree.slots());
  cut_.one_path = false;
  cut_.taken.clear();
  cut_.trees.clear();
  cut_.owner.clear();
  const Untake untake{*this};
  for (const NodeId start : starts)
    for (NodeId v = tree.parent(start); v != end && !is_taken_[v.slot()]; v = tree.parent(v)) {
      cut_.taken.push_back(v.slot());
      is_taken_[v.slot()] = 1;
    }
  // A parent has more leaves than its child, so this puts children first.
  std::sort(cut_.taken.begin(), cut_.taken.end(),
            [&](Slot a, Slot b) { return by_leaves(tree, a) < by_leaves(tree, b); });
  for (std::uint32_t i = 0; i < cut_.taken.size(); ++i) {
    const NodeId v = NodeId::inner(cut_.taken[i]);
    for (const NodeId child : {tree.left(v), tree.right(v)}) {
      if (!child.is_leaf() && is_taken_[child.slot()]) continue;
      cut_.trees.push_back(child);
      cut_.owner.push_back(i);
    }
  }
  find_above(tree);
}

template <class Real>
void ForestCutter<Real>::find_above(const Tree<Real>& tree) {
  cut_.above.assign(cut_.taken.size(), CutForest::kNowhere);
  for (std::uint32_t i = 0; i < cut_.taken.size(); ++i) {
    const NodeId parent = tree.parent(NodeId::inner(cut_.taken[i]));
    if (i + 1 == cut_.taken.size()) continue;  // the topmost
    const auto place =
        std::lower_bound(cut_.taken.begin(), cut_.taken.end(), by_leaves(tree, parent.slot()),
                         [&](Slot a, const Leaves& b) { return by_leaves(tree, a) < b; });
    cut_.above[i] = static_cast<std::uint32_t>(place - cut_.taken.begin());
  }
}

template class ForestCutter<float>;
template class ForestCutter<double>;

}  // namespace ramify
