// SPDX-License-Identifier: BSD-3-Clause
// tree_shrink.cpp: a tree gives room back: where leaves go, holes are closed, or all is made anew.
#include <algorithm>
#include <utility>

#include "tree/tree.hpp"

namespace ramify {

template <class Real>
void Tree<Real>::make_room_to_erase(std::size_t slots) {
  points_.make_room_to_erase();
  ramify::make_room(free_, slots);
  new_slot_.clear();
  ramify::make_room(new_slot_, points_.slots());
}

template <class Real>
void Tree<Real>::free_slot(Slot slot) {
  touch(slot);
  inner(slot) = Inner{};
  if (marked()) marks_[slot] = Mark::kPlain;
  nodes_.drop_mean(slot);
  free_.push_back(slot);
}

template <class Real>
NodeId Tree<Real>::detach(NodeId leaf) {
  const NodeId above = parent(leaf);
  set_parent(leaf, kNone);
  if (above == kNone) {
    root_ = kNone;
    return kNone;
  }
  const Inner& node = inner(above.slot());
  const NodeId beside = node.left == leaf ? node.right : node.left;
  replace_child(node.parent, above, beside);
  free_slot(above.slot());
  return beside;
}

template <class Real>
void Tree<Real>::lose_leaf(NodeId v) {
  ++changes_;
  for (; v != kNone; v = parent(v)) {
    Inner& node = inner(v.slot());
    --node.count;
    if (node.stale == kFresh) node.stale = kHeightStale;  // the highest below may have gone
  }
}

template <class Real>
void Tree<Real>::number_rows() {
  new_slot_.clear();
  RowSlot next = 0;
  for (RowSlot slot = 0; slot < points_.slots(); ++slot)
    new_slot_.push_back(points_.is_hole(slot) ? next : next++);
}

template <class Real>
void Tree<Real>::close_holes() {
  ++changes_;
  const auto moved = [&](NodeId v) { return v.is_leaf() ? NodeId::leaf(new_slot_[v.row()]) : v; };
  for_each_slot([&](Slot slot) {
    Inner& node = inner(slot);
    node.left = moved(node.left);
    node.right = moved(node.right);
    node.first_leaf = new_slot_[node.first_leaf];
  });
  for (RowSlot slot = 0; slot < points_.slots(); ++slot)
    if (!points_.is_hole(slot)) leaf_parent_[new_slot_[slot]] = leaf_parent_[slot];
  if (root_ != kNone) root_ = moved(root_);
  leaf_parent_.resize(points_.living());
  points_.compact(new_slot_);
}

template <class Real>
Tree<Real>::Remake::Remake(Tree& tree)
    : tree_(tree), nodes_(tree.dim()), next_id_(tree.next_id_), root_(tree.root_) {
  nodes_.make_room(tree.points().slots());
  tree.touch_all();
  if (tree.points().weighted()) weights_.reserve(tree.points().slots());
  std::swap(nodes_, tree.nodes_);
  std::swap(weights_, tree.weights_);
  std::swap(free_, tree.free_);
  tree.clear_inner();
}

template <class Real>
Tree<Real>::Remake::~Remake() {
  if (kept_) return;
  std::swap(nodes_, tree_.nodes_);
  std::swap(weights_, tree_.weights_);
  std::swap(free_, tree_.free_);
  tree_.next_id_ = next_id_;
  tree_.for_each_slot([&](Slot slot) {  // free ones have no children
    for (const NodeId child : {tree_.inner(slot).left, tree_.inner(slot).right})
      tree_.set_parent(child, NodeId::inner(slot));
  });
  if (root_ != kNone) tree_.set_root(root_);
}

#define RAMIFY_OF(Real)                                      \
  template void Tree<Real>::make_room_to_erase(std::size_t); \
  template void Tree<Real>::free_slot(Slot);                 \
  template NodeId Tree<Real>::detach(NodeId);                \
  template void Tree<Real>::lose_leaf(NodeId);               \
  template void Tree<Real>::number_rows();                   \
  template void Tree<Real>::close_holes();                   \
  template Tree<Real>::Remake::Remake(Tree&);                \
  template Tree<Real>::Remake::~Remake()
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
