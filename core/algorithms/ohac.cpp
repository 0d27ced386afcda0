// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/ohac.hpp"

#include <algorithm>

#include "algorithms/edits.hpp"

namespace ramify {
template <class Real>
bool Ohac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                        const Neighbours<Real>* /*index*/, const Pulse& pulse) {
  if (nearest.empty()) {
    tree.set_root(leaf);
    return true;
  }
  const NodeId y = whole_of(tree, first_of(nearest));
  if (nearest.size() == 1 || y == tree.root()) {
    cutter_.split_path(tree, y, y);
  } else {
    cutter_.split_paths(tree, nearest);
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
  cutter_.split_path(tree, tree.sibling(leaf), gone);
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
  cutter_.split_path(tree, beside, gone);
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
  cutter_.split_path(tree, y, y);
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
  require_linkable(tree, one, other);
  one = whole_of(tree, one);
  other = whole_of(tree, other);
  if (one == other) return;
  const NodeId top = holder_of(tree, one);
  const NodeId starts[] = {one, other};
  cutter_.split_above(tree, starts, top);
  repair_.link(tree, one, other);
}

template class Ohac<float>;
template class Ohac<double>;

}  // namespace ramify
