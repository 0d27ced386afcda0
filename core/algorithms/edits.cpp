// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/edits.hpp"

#include <stdexcept>
#include <vector>

namespace ramify {

template <class Real>
void require_linkable(const Tree<Real>& tree, NodeId one, NodeId other) {
  one = whole_of(tree, one);
  other = whole_of(tree, other);
  if (one != other && holder_of(tree, one) != holder_of(tree, other))
    throw std::invalid_argument("one of them is held below a node that the other is not below");
}

template <class Real>
void require_movable(const Tree<Real>& tree, NodeId v, NodeId under) {
  if (v == tree.root()) throw std::invalid_argument("the root has nowhere to go");
  for (NodeId u = under; u != kNone; u = tree.parent(u))
    if (u == v) throw std::invalid_argument("a node cannot go below itself");
  for (const NodeId one : {v, under})
    if (tree.marked() && tree.mark(tree.parent(one)) == Mark::kLinked)
      throw std::invalid_argument("it is linked with other points; unlink them first");
}

template <class Real>
void hand_over(Tree<Real>& tree, std::uint64_t id, NodeId left) {
  if (left.is_leaf() || tree.mark(left) != Mark::kPlain) return;
  tree.set_id(left.slot(), id);
  tree.set_mark(left, Mark::kHeld);
}

template <class Real>
void move_under(Tree<Real>& tree, NodeId v, NodeId under) {
  require_movable(tree, v, under);
  const NodeId old = tree.parent(v), beside = tree.sibling(v);
  if (old == under) {
    tree.set_mark(under, Mark::kHeld);
    return;
  }
  const NodeId left_behind = tree.parent(old);
  const bool was_held = tree.mark(old) == Mark::kHeld;
  const std::uint64_t old_id = tree.id(old.slot());
  if (beside != under) {
    tree.move(v, under);
    tree.set_id(old.slot(), tree.new_id());
    if (was_held) hand_over(tree, old_id, beside);
  }
  // The node over both is in the slot of v's old parent.
  if (!under.is_leaf()) {
    const std::uint64_t id = tree.id(under.slot());
    tree.set_id(under.slot(), tree.new_id());
    tree.set_id(old.slot(), id);
    if (tree.mark(under) == Mark::kHeld) tree.set_mark(under, Mark::kPlain);
  }
  tree.set_mark(old, Mark::kHeld);
  summarise_up(tree, left_behind);
  summarise_up(tree, old);
}

template <class Real>
void release(Tree<Real>& tree, NodeId v) {
  if (tree.mark(v) != Mark::kHeld) throw std::invalid_argument("nobody holds this node");
  tree.set_mark(v, Mark::kPlain);
}

template <class Real>
void unlink(Tree<Real>& tree, NodeId v) {
  if (tree.mark(v) != Mark::kLinked) return;
  std::vector<NodeId> below{v};
  for (std::size_t i = 0; i < below.size(); ++i)
    for (const NodeId child : {tree.left(below[i]), tree.right(below[i])})
      if (!child.is_leaf()) below.push_back(child);
  for (auto at = below.rbegin(); at != below.rend(); ++at) {
    tree.set_mark(*at, Mark::kPlain);
    tree.summarise(at->slot());  // and so its height is made anew
  }
  summarise_up(tree, tree.parent(v));
}

#define RAMIFY_OF(Real)                                              \
  template void require_linkable(const Tree<Real>&, NodeId, NodeId); \
  template void require_movable(const Tree<Real>&, NodeId, NodeId);  \
  template void hand_over(Tree<Real>&, std::uint64_t, NodeId);       \
  template void move_under(Tree<Real>&, NodeId, NodeId);             \
  template void release(Tree<Real>&, NodeId);                        \
  template void unlink(Tree<Real>&, NodeId)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
