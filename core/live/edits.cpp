// SPDX-License-Identifier: BSD-3-Clause
// edits.cpp: what people say about a stream's tree, and who belongs together in it.
#include "algorithms/edits.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "live/live.hpp"

namespace ramify {

template <class Real>
NodeId Live<Real>::leaf_of(Arrival number) const {
  RowSlot row = 0;
  if (!find(number, row)) throw std::out_of_range("there is no such point");
  return NodeId::leaf(row);
}

template <class Real>
NodeId Live<Real>::node_of(PublicId id) {
  NodeId node = kNone;
  if (!find_node(id, node)) throw std::out_of_range("there is no such node");
  return node;
}

template <class Real>
bool Live<Real>::find_node(PublicId id, NodeId& node) {
  return finder_.find(tree_, end_, version_, id, node);
}

template <class Real>
void Live<Real>::require_marks() const {
  if (!algorithm_->keeps_marks()) throw std::invalid_argument("this algorithm keeps to no edits");
}

template <class Real>
void Live<Real>::check_link(Arrival one, Arrival other) const {
  require_marks();
  require_linkable(tree_, leaf_of(one), leaf_of(other));
}

template <class Real>
void Live<Real>::check_move(PublicId node, PublicId under) {
  require_marks();
  require_movable(tree_, node_of(node), node_of(under));
}

template <class Real>
void Live<Real>::make_room_to_edit() {
  require_marks();
  refresh();
  tree_.make_room_to_mark();
}

template <class Real>
void Live<Real>::link(Arrival one, Arrival other) {
  make_room_to_edit();
  const NodeId a = leaf_of(one), b = leaf_of(other);
  if (a == b) return;
  algorithm_->link(tree_, a, b);
  ++version_;
}

template <class Real>
void Live<Real>::unlink(Arrival number) {
  make_room_to_edit();
  ramify::unlink(tree_, whole_of(tree_, leaf_of(number)));
  ++version_;
}

template <class Real>
void Live<Real>::move(PublicId node, PublicId under) {
  make_room_to_edit();
  move_under(tree_, node_of(node), node_of(under));
  ++version_;
}

template <class Real>
void Live<Real>::release(PublicId node) {
  make_room_to_edit();
  ramify::release(tree_, node_of(node));
  ++version_;
}

template <class Real>
std::vector<PublicId> Live<Real>::held() const {
  std::vector<PublicId> out;
  if (!tree_.marked()) return out;
  for (Slot slot = 0; slot < tree_.slots(); ++slot) {
    const NodeId v = NodeId::inner(slot);
    if (!tree_.is_free(slot) && tree_.mark(v) == Mark::kHeld) out.push_back(tree_.public_id(v));
  }
  std::sort(out.begin(), out.end());
  return out;
}

template <class Real>
Arrival Live<Real>::whole(Arrival number) {
  const NodeId v = whole_of(tree_, leaf_of(number));
  tree_.freshen(v);
  return points().arrival(tree_.first_leaf(v));
}

template <class Real>
std::vector<Arrival> Live<Real>::together(Arrival number) const {
  std::vector<NodeId> below{whole_of(tree_, leaf_of(number))};
  std::vector<Arrival> out;
  for (std::size_t i = 0; i < below.size(); ++i) {
    const NodeId v = below[i];
    if (v.is_leaf())
      out.push_back(points().arrival(v.row()));
    else
      below.insert(below.end(), {tree_.left(v), tree_.right(v)});
  }
  std::sort(out.begin(), out.end());
  if (!options_.tracks_members()) return out;
  const std::vector<Arrival> leaves = std::move(out);
  out.clear();
  members_.for_each([&](Arrival point, Arrival leaf) {
    if (std::binary_search(leaves.begin(), leaves.end(), leaf)) out.push_back(point);
  });
  return out;
}

template <class Real>
bool Live<Real>::has_node(PublicId id) {
  NodeId node = kNone;
  return find_node(id, node);
}

template <class Real>
bool Live<Real>::is_held(PublicId id) {
  NodeId node = kNone;
  return find_node(id, node) && tree_.mark(node) == Mark::kHeld;
}

#define RAMIFY_OF(Real)                                              \
  template void Live<Real>::link(Arrival, Arrival);                  \
  template void Live<Real>::unlink(Arrival);                         \
  template void Live<Real>::move(PublicId, PublicId);                \
  template void Live<Real>::release(PublicId);                       \
  template void Live<Real>::check_link(Arrival, Arrival) const;      \
  template void Live<Real>::check_move(PublicId, PublicId);          \
  template std::vector<PublicId> Live<Real>::held() const;           \
  template Arrival Live<Real>::whole(Arrival);                       \
  template std::vector<Arrival> Live<Real>::together(Arrival) const; \
  template bool Live<Real>::has_node(PublicId);                      \
  template bool Live<Real>::is_held(PublicId)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
