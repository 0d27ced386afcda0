// SPDX-License-Identifier: BSD-3-Clause
#include "tree/tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ramify {

template <class Real>
void Tree<Real>::make_room(std::size_t points) {
  points_.make_room(points);
  ramify::make_room(leaf_parent_, points);
  nodes_.make_room(points);
  if (points_.weighted()) ramify::make_room(weights_, points);
  if (marked()) ramify::make_room(marks_, points);
  if (gives_heights_) ramify::make_room(given_, points);
}

template <class Real>
void Tree<Real>::make_room_to_mark() {
  if (marked()) return;
  BigVector<Mark> marks;
  marks.reserve(std::max(slots(), points_.slots()) + 1);
  for (std::size_t slot = 0; slot < slots(); ++slot) marks.push_back(Mark::kPlain);
  marks_ = std::move(marks);
}

template <class Real>
void Tree<Real>::make_room_to_weigh() {
  if (points_.weighted()) return;
  BigVector<double> weights;
  weights.reserve(std::max(slots(), points_.slots()) + 1);
  for (std::size_t slot = 0; slot < slots(); ++slot)
    weights.push_back(static_cast<double>(inner(slot).count));
  points_.make_room_to_weigh();
  weights_ = std::move(weights);
}

template <class Real>
NodeId Tree<Real>::add_leaf(const Real* row) {
  if (points_.slots() >= kMaxPoints) throw std::length_error("a tree holds at most 2^31-1 points");
  const auto point = static_cast<RowSlot>(points_.slots());
  points_.append(row);
  ramify::make_room(leaf_parent_, 1);
  leaf_parent_.push_back(kNone);
  return NodeId::leaf(point);
}

template <class Real>
void Tree<Real>::truncate(std::size_t slots) {
  points_.truncate(slots);
  leaf_parent_.resize(slots);
}

template <class Real>
void Tree<Real>::clear_inner() {
  ++changes_;
  touch_all();
  std::fill(leaf_parent_.begin(), leaf_parent_.end(), kNone);
  nodes_.clear();
  weights_.clear();
  marks_.clear();
  given_.clear();
  free_.clear();
  root_ = kNone;
}

template <class Real>
RAMIFY_INLINE Slot Tree<Real>::new_slot(std::uint64_t id) {
  if (!free_.empty()) {
    const Slot slot = free_.back();
    free_.pop_back();
    touch(slot, false);
    inner(slot) = Inner{.id = id};
    return slot;
  }
  nodes_.make_room(1);
  if (points_.weighted()) {
    ramify::make_room(weights_, 1);
    weights_.push_back(0);
  }
  if (marked()) {
    ramify::make_room(marks_, 1);
    marks_.push_back(Mark::kPlain);
  }
  if (gives_heights_) {
    ramify::make_room(given_, 1);
    given_.push_back(0);
  }
  const auto slot = static_cast<Slot>(slots());
  nodes_.add(id);  // its mean is written with its summary
  touch(slot, false);
  return slot;
}

template <class Real>
RAMIFY_INLINE void Tree<Real>::set_parent(NodeId v, NodeId parent) {
  ++changes_;
  (v.is_leaf() ? leaf_parent_[v.row()] : inner(v.slot()).parent) = parent;
}

template <class Real>
void Tree<Real>::set_root(NodeId v) {
  root_ = v;
  set_parent(v, kNone);
}

template <class Real>
RAMIFY_INLINE void Tree<Real>::replace_child(NodeId parent, NodeId old_child, NodeId new_child) {
  if (parent == kNone) {
    set_root(new_child);
    return;
  }
  touch(parent.slot());
  notes_.rewire(parent.slot());
  Inner& above = inner(parent.slot());
  (above.left == old_child ? above.left : above.right) = new_child;
  set_parent(new_child, parent);
}

template <class Real>
RAMIFY_INLINE void Tree<Real>::summarise(Slot slot) {
  ++changes_;
  count_up(slot);
  compute_summary(slot);
}

/// What does not need means.
template <class Real>
RAMIFY_INLINE void Tree<Real>::count_up(Slot slot) {
  Inner& node = inner(slot);
  node.count = count(node.left) + count(node.right);
  node.first_leaf = std::min(first_leaf(node.left), first_leaf(node.right));
  if (points_.weighted()) weights_[slot] = weight(node.left) + weight(node.right);
}

template <class Real>
RAMIFY_INLINE void Tree<Real>::compute_summary(Slot slot) {
  Inner& node = inner(slot);
  if (nodes_.are_long()) {  // else there is a mean to look at, right or wrong
    freshen(node.left);
    freshen(node.right);
  }
  const SummaryView<Real> a = summary(node.left, room(0));
  const SummaryView<Real> b = summary(node.right, room(1));
  node.ssd = merged_ssd(a.n, a.ssd, b.n, b.ssd, squared_distance(a.mean, b.mean, dim()));
  node.stale = kHeightStale;
  if (nodes_.are_long()) {
    if (node.count == 2) return nodes_.drop_mean(slot);
    nodes_.keep_mean(slot);
  }
  merged_mean(a, b, dim(), nodes_.mean(slot));
}

/// To the bit what would be kept.
template <class Real>
const Real* Tree<Real>::mean_of_two(Slot slot, Real* room) const {
  const Inner& node = inner(slot);
  merged_mean(summary(node.left, nullptr), summary(node.right, nullptr), dim(), room);
  return room;
}

template <class Real>
void Tree<Real>::mark_stale(NodeId v) {
  for (; v != kNone && inner(v.slot()).stale != kAllStale; v = parent(v))
    inner(v.slot()).stale = kAllStale;
}

/// Down to what is stale and made of fresh ones, and up again: this needs no memory.
template <class Real>
void Tree<Real>::freshen_below(Slot slot) {
  const auto is_stale = [&](NodeId v) {
    return !v.is_leaf() && inner(v.slot()).stale == kAllStale;
  };
  for (Slot at = slot;;) {
    const Inner& node = inner(at);
    if (is_stale(node.left)) {
      at = node.left.slot();
    } else if (is_stale(node.right)) {
      at = node.right.slot();
    } else {
      count_up(at);
      compute_summary(at);
      if (at == slot) return;
      at = node.parent.slot();
    }
  }
}

template <class Real>
std::vector<Slot> Tree<Real>::stale_top_down() const {
  std::vector<Slot> order;
  if (!is_stale()) return order;
  order.push_back(root_.slot());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const NodeId child : {inner(order[i]).left, inner(order[i]).right})
      if (!child.is_leaf() && inner(child.slot()).stale != kFresh) order.push_back(child.slot());
  return order;
}

template <class Real>
void Tree<Real>::refresh(Metric metric, Linkage linkage) {
  const std::vector<Slot> order = stale_top_down();
  if (order.empty()) return;
  ramify::make_room(heights_, slots() - std::min(slots(), heights_.size()));
  heights_.resize(std::max(slots(), heights_.size()));
  with_rule(metric, linkage, [&](auto rule) {
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      Inner& node = inner(*at);
      if (node.stale == kAllStale) {
        count_up(*at);
        compute_summary(*at);
      }
      touch(*at);
      Heights& heights = heights_[*at];
      if (gives_heights_) {
        heights.own = given_[*at];
      } else {
        const double value = linkage_of<decltype(rule)>(summary(node.left, room(0)),
                                                        summary(node.right, room(1)), dim());
        const bool linked = mark(NodeId::inner(*at)) == Mark::kLinked;
        heights.own = linked ? 0 : height_of(metric, linkage, value);
      }
      heights.monotone = heights.own;
      for (const NodeId child : {node.left, node.right})
        if (!child.is_leaf())
          heights.monotone = std::max(heights.monotone, heights_[child.slot()].monotone);
      node.stale = kFresh;
    }
  });
}

template <class Real>
RAMIFY_INLINE NodeId Tree<Real>::join(NodeId left, NodeId right, Slot slot) {
  const NodeId node = join_for_later(left, right, slot);
  compute_summary(slot);
  return node;
}

template <class Real>
RAMIFY_INLINE NodeId Tree<Real>::join_for_later(NodeId left, NodeId right, Slot slot) {
  const NodeId node = NodeId::inner(slot);
  touch(slot);
  notes_.rewire(slot);
  inner(slot).left = left;
  inner(slot).right = right;
  set_parent(left, node);
  set_parent(right, node);
  recount(node);
  return node;
}

template <class Real>
NodeId Tree<Real>::attach(NodeId leaf, NodeId at) {
  const NodeId above = parent(at);
  const Slot slot = new_slot(new_id());
  replace_child(above, at, NodeId::inner(slot));
  return join(at, leaf, slot);
}

template <class Real>
void Tree<Real>::swap(NodeId a, NodeId b) {
  const NodeId above_a = parent(a), above_b = parent(b);
  touch(above_a.slot());
  touch(above_b.slot());
  Inner& node_a = inner(above_a.slot());
  Inner& node_b = inner(above_b.slot());
  NodeId& place_a = node_a.left == a ? node_a.left : node_a.right;
  NodeId& place_b = node_b.left == b ? node_b.left : node_b.right;
  place_a = b;
  place_b = a;
  set_parent(a, above_b);
  set_parent(b, above_a);
  mark_stale(above_a);
  mark_stale(above_b);
}

template <class Real>
NodeId Tree<Real>::move(NodeId v, NodeId beside) {
  const NodeId node = parent(v), left_behind = parent(node);
  touch(node.slot());
  notes_.rewire(node.slot());
  replace_child(left_behind, node, sibling(v));
  replace_child(parent(beside), beside, node);
  inner(node.slot()).left = beside;
  inner(node.slot()).right = v;
  set_parent(beside, node);
  inner(node.slot()).stale = kFresh;  // it has other ancestors now, which may be fresh
  mark_stale(node);
  mark_stale(left_behind);
  return node;
}

template <class Real>
RAMIFY_INLINE void Tree<Real>::recount(NodeId v) {
  ++changes_;
  inner(v.slot()).stale = kAllStale;
  count_up(v.slot());
}

template <class Real>
void Tree<Real>::absorb(NodeId v, NodeId leaf, double gap) {
  ++changes_;
  const Slot slot = v.slot();
  Inner& node = inner(slot);
  double n = node.count, own = 1;
  if (points_.weighted()) {
    n = weights_[slot];
    own = points_.weight(leaf.row());
    weights_[slot] = n + own;
    node.ssd += points_.ssd(leaf.row());
  }
  const double share = own / (n + own);
  if (!keeps_mean(v)) {
    mean_of_two(slot, room(0));
    nodes_.keep_mean(slot);
    std::copy_n(room(0), dim(), nodes_.mean(slot));
  }
  move_towards(nodes_.mean(slot), points_.row(leaf.row()), share, dim(), nodes_.mean(slot));
  node.ssd += n * share * gap;
  node.stale = kHeightStale;
  ++node.count;
}

template <class Real>
void Tree<Real>::add_up_weights(NodeId v) {
  if (!points_.weighted()) return;
  for (; v != kNone; v = parent(v)) weights_[v.slot()] = weight(left(v)) + weight(right(v));
}

template <class Real>
std::vector<Slot> Tree<Real>::bottom_up() const {
  std::vector<Slot> order;
  if (root_ == kNone || root_.is_leaf()) return order;
  order.reserve(slots());
  order.push_back(root_.slot());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const NodeId child : {inner(order[i]).left, inner(order[i]).right})
      if (!child.is_leaf()) order.push_back(child.slot());
  std::reverse(order.begin(), order.end());
  return order;
}

template class Tree<float>;
template class Tree<double>;

}  // namespace ramify
