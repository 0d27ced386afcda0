// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/random_cut.hpp"

#include <algorithm>
#include <stdexcept>

namespace ramify {
namespace {

constexpr std::size_t kMarksOfState = 2;  // the generator's, before those of nodes

}  // namespace

/// Draw a cut of v's box with x in it; false if that is a single point.
template <class Real>
bool RandomCut<Real>::draw_cut(const Tree<Real>& tree, NodeId v, const Real* x, Chance& chance,
                               Cut& out) {
  const Real *least = low(tree, v), *greatest = high(tree, v);
  double *from = wide_.data(), *to = from + dim_, length = 0;
  for (std::size_t j = 0; j < dim_; ++j) {
    from[j] = static_cast<double>(std::min(least[j], x[j]));
    to[j] = static_cast<double>(std::max(greatest[j], x[j]));
    length += to[j] - from[j];
  }
  if (!(length > 0)) return false;
  double rest = chance.uniform() * length;
  std::size_t last = 0;  // of the coordinates with a side, in case rounding goes past all
  for (std::size_t j = 0; j < dim_; ++j) {
    const double side = to[j] - from[j];
    if (!(side > 0)) continue;
    last = j;
    if (rest < side) break;
    rest -= side;
  }
  double place = from[last] + rest;
  if (!(place < to[last])) place = from[last];
  out = {place, static_cast<std::uint32_t>(last)};
  return true;
}

template <class Real>
typename RandomCut<Real>::Place RandomCut<Real>::find_place(const Tree<Real>& tree, const Real* x,
                                                            Chance& chance) {
  NodeId v = tree.root();
  while (true) {
    Cut cut;
    if (!draw_cut(tree, v, x, chance, cut)) {  // nothing but points that equal x
      if (v.is_leaf()) return {v, cut, false};
      const NodeId a = tree.left(v), b = tree.right(v);
      v = tree.count(b) < tree.count(a) ? b : a;
      continue;
    }
    const std::size_t j = cut.coordinate;
    if (cut.place < static_cast<double>(low(tree, v)[j])) return {v, cut, true};
    if (cut.place >= static_cast<double>(high(tree, v)[j])) return {v, cut, false};
    const Cut& own = cuts_[v.slot()];
    v = static_cast<double>(x[own.coordinate]) <= own.place ? tree.left(v) : tree.right(v);
  }
}

template <class Real>
void RandomCut<Real>::make_box(const Tree<Real>& tree, NodeId v) {
  const NodeId a = tree.left(v), b = tree.right(v);
  Real* box = boxes_.data() + box_at(v.slot());
  const Real *low_a = low(tree, a), *low_b = low(tree, b);
  const Real *high_a = high(tree, a), *high_b = high(tree, b);
  for (std::size_t j = 0; j < dim_; ++j) {
    box[j] = std::min(low_a[j], low_b[j]);
    box[dim_ + j] = std::max(high_a[j], high_b[j]);
  }
}

template <class Real>
bool RandomCut<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> /*nearest*/,
                             const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) {
  if (tree.root() == kNone) {
    tree.set_root(leaf);
    return true;
  }
  Chance chance = chance_;
  const Place place = find_place(tree, tree.points().row(leaf.row()), chance);
  if (cuts_.size() <= tree.slots()) {
    make_room(cuts_, tree.slots() + 1 - cuts_.size());
    make_room(boxes_, box_at(tree.slots() + 1) - boxes_.size());
    cuts_.resize(tree.slots() + 1);
    boxes_.resize(box_at(tree.slots() + 1));
  }
  const NodeId above = tree.parent(place.at);
  const Slot slot = tree.new_slot(tree.new_id());
  const NodeId node = NodeId::inner(slot);
  tree.replace_child(above, place.at, node);
  tree.join(place.left ? leaf : place.at, place.left ? place.at : leaf, slot);
  if (above == kNone) tree.set_root(node);
  cuts_[slot] = place.cut;
  make_box(tree, node);
  for (NodeId v = above; v != kNone; v = tree.parent(v)) {
    tree.grow(v);
    make_box(tree, v);
  }
  tree.mark_stale(node);
  chance_ = chance;
  return true;
}

template <class Real>
void RandomCut<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  const NodeId beside = tree.detach(leaf);
  if (beside == kNone) return;
  tree.lose_leaf(tree.parent(beside));
  for (NodeId v = tree.parent(beside); v != kNone; v = tree.parent(v)) make_box(tree, v);
  tree.mark_stale(tree.parent(beside));
}

template <class Real>
Memory RandomCut<Real>::memory(const Tree<Real>& tree) const {
  Memory out;
  const std::uint64_t state = chance_.state();
  out.marks = {static_cast<std::uint32_t>(state), static_cast<std::uint32_t>(state >> 32)};
  for (const Slot slot : tree.stored_slots()) {
    out.marks.push_back(cuts_[slot].coordinate);
    out.numbers.push_back(cuts_[slot].place);
  }
  return out;
}

template <class Real>
void RandomCut<Real>::restore(const Tree<Real>& tree, const Memory& memory) {
  if (memory.marks.size() != kMarksOfState + tree.slots() || memory.numbers.size() != tree.slots())
    throw std::invalid_argument("a stored tree of random cuts has another number of cuts");
  chance_ = Chance(memory.marks[0] | std::uint64_t{memory.marks[1]} << 32);
  cuts_.resize(tree.slots());
  boxes_.resize(box_at(tree.slots()));
  for (std::size_t slot = 0; slot < tree.slots(); ++slot) {
    cuts_[slot] = {memory.numbers[slot], memory.marks[kMarksOfState + slot]};
    if (cuts_[slot].coordinate >= dim_)
      throw std::invalid_argument("a stored tree of random cuts has a cut of no coordinate");
  }
  for (const Slot slot : tree.bottom_up()) {
    make_box(tree, NodeId::inner(slot));
    if (!is_parted(tree, NodeId::inner(slot)))
      throw std::invalid_argument("a stored tree of random cuts has a cut that parts nothing");
  }
}

/// Are the points of the children on the two sides of the cut, or all the same?
template <class Real>
bool RandomCut<Real>::is_parted(const Tree<Real>& tree, NodeId v) const {
  if (std::equal(low(tree, v), low(tree, v) + dim_, high(tree, v))) return true;
  const auto [place, j] = cuts_[v.slot()];
  return static_cast<double>(high(tree, tree.left(v))[j]) <= place &&
         place < static_cast<double>(low(tree, tree.right(v))[j]);
}

template <class Real>
void RandomCut<Real>::check(const Tree<Real>& tree) const {
  for (const Slot slot : tree.bottom_up()) {
    const NodeId v = NodeId::inner(slot), a = tree.left(v), b = tree.right(v);
    if (!is_parted(tree, v))
      throw std::logic_error("random cut invariant broken: a cut does not part the children");
    for (std::size_t j = 0; j < dim_; ++j)
      if (low(tree, v)[j] != std::min(low(tree, a)[j], low(tree, b)[j]) ||
          high(tree, v)[j] != std::max(high(tree, a)[j], high(tree, b)[j]))
        throw std::logic_error("random cut invariant broken: a box is not that of its points");
  }
}

template class RandomCut<float>;
template class RandomCut<double>;

}  // namespace ramify
