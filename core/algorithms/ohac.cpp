// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/ohac.hpp"

#include <algorithm>
#include <utility>

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
bool Ohac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                        const Neighbours<Real>* /*index*/, const Pulse& pulse) {
  if (nearest.empty()) {
    tree.set_root(leaf);
    return true;
  }
  if (nearest.size() == 1 || tree.root().is_leaf()) {
    const NodeId y = first_of(nearest);
    split_path(tree, y, y);
  } else {
    split_paths(tree, nearest);
  }
  return repair_(tree, leaf, kNone, pulse);
}

template <class Real>
void Ohac<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  const NodeId gone = tree.parent(leaf);
  if (gone == kNone || gone == tree.root()) {
    tree.detach(leaf);
    return;
  }
  // The sibling takes the place of their parent; nothing in the forest holds the leaf.
  split_path(tree, tree.sibling(leaf), gone);
  repair_(tree, kNone, leaf, {});
}

template <class Real>
void Ohac<Real>::weigh(Tree<Real>& tree, NodeId leaf, Standing standing) {
  const Standing old = tree.standing(leaf);
  tree.weigh(leaf, standing);
  const NodeId gone = tree.parent(leaf);
  if (gone == kNone) return;
  if (gone == tree.root()) return tree.summarise(gone.slot());
  const NodeId beside = tree.sibling(leaf);
  const std::uint64_t id = tree.id(gone.slot());
  split_path(tree, beside, gone);
  try {
    repair_(tree, leaf, leaf, {}, old.weight);
  } catch (...) {
    tree.weigh(leaf, old);
    throw;
  }
  if (tree.sibling(leaf) == beside) tree.set_id(tree.parent(leaf).slot(), id);
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
  // A parent has more leaves than its child, so this puts children first.
  std::sort(cut.taken.begin(), cut.taken.end(),
            [&](Slot a, Slot b) { return by_leaves(tree, a) < by_leaves(tree, b); });
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
    const auto place =
        std::lower_bound(cut.taken.begin(), cut.taken.end(), by_leaves(tree, parent.slot()),
                         [&](Slot a, const Leaves& b) { return by_leaves(tree, a) < b; });
    cut.above[i] = static_cast<std::uint32_t>(place - cut.taken.begin());
  }
}

template class Ohac<float>;
template class Ohac<double>;

}  // namespace ramify
