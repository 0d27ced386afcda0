// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/ohac.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

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
bool Ohac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                        const Neighbours<Real>* /*index*/, const Pulse& pulse) {
  if (nearest.empty()) {
    tree.set_root(leaf);
    return true;
  }
  const NodeId y = whole_of(tree, first_of(nearest));
  if (nearest.size() == 1 || y == tree.root()) {
    split_path(tree, y, y);
  } else {
    split_paths(tree, nearest);
  }
  return repair_(tree, leaf, kNone, pulse);
}

template <class Real>
void Ohac<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  const NodeId gone = tree.parent(leaf);
  const Mark mark = tree.mark(gone);
  if (gone == kNone || gone == tree.root() || mark != Mark::kPlain) {
    const std::uint64_t id = gone == kNone ? 0 : tree.id(gone.slot());
    const NodeId left = tree.detach(leaf);
    if (mark == Mark::kHeld) hand_over(tree, id, left);
    if (left != kNone) summarise_up(tree, tree.parent(left));
    return;
  }
  // The sibling takes the place of their parent; nothing in the forest holds the leaf.
  split_path(tree, tree.sibling(leaf), gone);
  repair_(tree, kNone, leaf, {});
}

template <class Real>
void Ohac<Real>::weigh(Tree<Real>& tree, NodeId leaf, Standing standing) {
  const NodeId gone = tree.parent(leaf);
  if (tree.mark(gone) == Mark::kLinked) return weigh_linked(tree, leaf, standing);
  const Standing old = tree.standing(leaf);
  tree.weigh(leaf, standing);
  if (gone == kNone) return;
  if (gone == tree.root() || tree.mark(gone) == Mark::kHeld) return summarise_up(tree, gone);
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

/// The path above the linked node is split, and HAC merges it with what hung off it.
template <class Real>
void Ohac<Real>::weigh_linked(Tree<Real>& tree, NodeId leaf, Standing standing) {
  const Standing old = tree.standing(leaf);
  const NodeId y = whole_of(tree, leaf);
  tree.weigh(leaf, standing);
  summarise_up(tree, tree.parent(leaf));
  if (tree.parent(y) == kNone) return;
  split_path(tree, y, y);
  try {
    repair_(tree, kNone, kNone, {});
  } catch (...) {
    tree.weigh(leaf, old);
    summarise_up(tree, tree.parent(leaf));
    throw;
  }
}

template <class Real>
void Ohac<Real>::link(Tree<Real>& tree, NodeId one, NodeId other) {
  one = whole_of(tree, one);
  other = whole_of(tree, other);
  if (one == other) return;
  const NodeId top = holder_of(tree, one);
  if (holder_of(tree, other) != top)
    throw std::invalid_argument("one of them is held below a node that the other is not below");
  starts_.assign({one, other});
  split_above(tree, top);
  repair_.link(tree, one, other);
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
    if (tree.mark(v) == Mark::kHeld) break;
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

/// The same for the root paths of several points, as far as they are held where the first is.
template <class Real>
void Ohac<Real>::split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours) {
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
  split_above(tree, top);
}

/// Split the paths from `starts_` up to `top`, or to the root, in no special order.
template <class Real>
void Ohac<Real>::split_above(const Tree<Real>& tree, NodeId top) {
  const NodeId end = top == kNone ? kNone : tree.parent(top);
  CutForest& cut = repair_.cut();
  is_taken_.resize(tree.slots());
  cut.one_path = false;
  cut.taken.clear();
  cut.trees.clear();
  cut.owner.clear();
  const Untake untake{*this};
  for (const NodeId start : starts_)
    for (NodeId v = tree.parent(start); v != end && !is_taken_[v.slot()]; v = tree.parent(v)) {
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
    if (i + 1 == cut.taken.size()) continue;  // the topmost
    const auto place =
        std::lower_bound(cut.taken.begin(), cut.taken.end(), by_leaves(tree, parent.slot()),
                         [&](Slot a, const Leaves& b) { return by_leaves(tree, a) < b; });
    cut.above[i] = static_cast<std::uint32_t>(place - cut.taken.begin());
  }
}

template class Ohac<float>;
template class Ohac<double>;

}  // namespace ramify
