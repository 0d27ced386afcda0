// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/ohac.hpp"

#include <algorithm>

namespace ramify {

template <class Real>
bool Ohac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> neighbours,
                        const Pulse& pulse) {
  if (neighbours.empty()) {
    tree.set_root(leaf);
    return true;
  }
  if (neighbours.size() == 1 || tree.root().is_leaf()) {
    const NodeId y = NodeId::leaf(neighbours.front().row);
    split_path(tree, y, y);
  } else {
    split_paths(tree, neighbours);
  }
  return repair_(tree, leaf, kNone, pulse);
}

template <class Real>
bool Ohac<Real>::erase(Tree<Real>& tree, NodeId leaf, const Pulse& pulse) {
  const NodeId gone = tree.parent(leaf);
  if (gone == kNone || gone == tree.root()) {
    tree.detach(leaf);
    return true;
  }
  // The sibling takes the place of their parent; nothing in the forest holds the leaf.
  split_path(tree, tree.sibling(leaf), gone);
  return repair_(tree, kNone, leaf, pulse);
}

/// Collect the nodes above `below`, to be taken out, and what hangs off them, first of
/// all y in the place of `below`.
template <class Real>
void Ohac<Real>::split_path(const Tree<Real>& tree, NodeId y, NodeId below) {
  CutForest& cut = repair_.cut();
  cut.one_path = true;
  cut.taken.clear();
  cut.trees.assign(1, y);
  cut.owner.assign(1, tree.parent(below) == kNone ? CutForest::kNowhere : 0);
  for (NodeId v = tree.parent(below); v != kNone; below = v, v = tree.parent(v)) {
    const NodeId side = tree.left(v) == below ? tree.right(v) : tree.left(v);
    tree.prefetch(side);
    cut.owner.push_back(static_cast<std::uint32_t>(cut.taken.size()));
    cut.taken.push_back(v.slot());
    cut.trees.push_back(side);
  }
}

/// No slot is marked as taken any more, however the work ended.
template <class Real>
struct Ohac<Real>::Untake {
  Ohac& ohac;
  ~Untake() {
    for (const Slot slot : ohac.repair_.cut().taken) ohac.is_taken_[slot] = 0;
  }
};

/// The same for several root paths, in no special order.
template <class Real>
void Ohac<Real>::split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours) {
  CutForest& cut = repair_.cut();
  is_taken_.resize(tree.slots());
  cut.one_path = false;
  cut.taken.clear();
  cut.trees.clear();
  cut.owner.clear();
  const Untake untake{*this};
  for (const Neighbour& y : neighbours)
    for (NodeId v = tree.parent(NodeId::leaf(y.row)); v != kNone && !is_taken_[v.slot()];
         v = tree.parent(v)) {
      cut.taken.push_back(v.slot());
      is_taken_[v.slot()] = 1;
    }
  // A parent is larger than its child, so this puts children first.
  std::sort(cut.taken.begin(), cut.taken.end(), [&](Slot a, Slot b) {
    return comes_first(tree.rank(NodeId::inner(a)), tree.rank(NodeId::inner(b)));
  });
  for (std::uint32_t i = 0; i < cut.taken.size(); ++i) {
    const NodeId v = NodeId::inner(cut.taken[i]);
    for (const NodeId child : {tree.left(v), tree.right(v)}) {
      if (!child.is_leaf() && is_taken_[child.slot()]) continue;
      cut.trees.push_back(child);
      cut.owner.push_back(i);
    }
  }
  find_above(tree);
}

template <class Real>
void Ohac<Real>::find_above(const Tree<Real>& tree) {
  CutForest& cut = repair_.cut();
  cut.above.assign(cut.taken.size(), CutForest::kNowhere);
  for (std::uint32_t i = 0; i < cut.taken.size(); ++i) {
    const NodeId parent = tree.parent(NodeId::inner(cut.taken[i]));
    if (parent == kNone) continue;
    const auto place = std::lower_bound(
        cut.taken.begin(), cut.taken.end(), tree.rank(parent),
        [&](Slot a, Rank b) { return comes_first(tree.rank(NodeId::inner(a)), b); });
    cut.above[i] = static_cast<std::uint32_t>(place - cut.taken.begin());
  }
}

template class Ohac<float>;
template class Ohac<double>;

}  // namespace ramify
