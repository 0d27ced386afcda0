// SPDX-License-Identifier: BSD-3-Clause
// A tree as plain arrays, for files, and back.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "tree/tree.hpp"

namespace ramify {

template <class Real>
std::vector<Slot> Tree<Real>::stored_slots() const {
  std::vector<Slot> out;
  out.reserve(slots() - free_.size());
  for_each_slot([&](Slot slot) { out.push_back(slot); });
  const auto earlier = [&](Slot a, Slot b) { return inner(a).id < inner(b).id; };
  if (!std::is_sorted(out.begin(), out.end(), earlier)) std::sort(out.begin(), out.end(), earlier);
  return out;
}

template <class Real>
std::vector<Slot> Tree<Real>::numbering() const {
  std::vector<Slot> out(slots());
  Slot next = 0;
  for (const Slot slot : stored_slots()) out[slot] = next++;
  return out;
}

template <class Real>
std::vector<std::uint32_t> Tree<Real>::link_array() const {
  const std::vector<Slot> place = numbering();
  std::vector<std::uint32_t> out;
  out.reserve(3 * slots());
  for (const Slot slot : stored_slots()) {
    const Inner& node = inner(slot);
    for (const NodeId v : {node.parent, node.left, node.right})
      out.push_back((v == kNone || v.is_leaf() ? v : NodeId::inner(place[v.slot()])).raw());
  }
  return out;
}

template <class Real>
std::vector<std::uint64_t> Tree<Real>::ids() const {
  std::vector<std::uint64_t> out;
  out.reserve(slots());
  for (const Slot slot : stored_slots()) out.push_back(inner(slot).id);
  return out;
}

template <class Real>
std::vector<double> Tree<Real>::ssds() const {
  std::vector<double> out;
  out.reserve(slots());
  for (const Slot slot : stored_slots()) out.push_back(inner(slot).ssd);
  return out;
}

template <class Real>
std::vector<Real> Tree<Real>::means() const {
  std::vector<Real> out;
  out.reserve(slots() * dim());
  std::vector<Real> room(dim());
  for (const Slot slot : stored_slots()) {
    const Real* const own = mean(NodeId::inner(slot), room.data());
    out.insert(out.end(), own, own + dim());
  }
  return out;
}

template <class Real>
std::vector<std::uint32_t> Tree<Real>::mark_array() const {
  std::vector<std::uint32_t> out;
  if (!marked()) return out;
  std::uint32_t place = 0;
  for (const Slot slot : stored_slots()) {
    if (marks_[slot] != Mark::kPlain)
      out.push_back(2 * place + (marks_[slot] == Mark::kLinked ? 1 : 0));
    ++place;
  }
  return out;
}

template <class Real>
std::vector<double> Tree<Real>::given_heights() const {
  std::vector<double> out;
  for (const Slot slot : stored_slots()) out.push_back(given_[slot]);
  return out;
}

template <class Real>
void Tree<Real>::restore_heights(std::span<const double> heights) {
  if (heights.size() != slots())
    throw std::invalid_argument("a stored tree has another number of heights than of merges");
  give_heights();
  ramify::make_room(given_, slots());
  for (const double height : heights) given_.push_back(height);
}

template <class Real>
void Tree<Real>::restore_marks(std::span<const std::uint32_t> marks) {
  if (marks.empty()) return;
  const auto no_later = [](std::uint32_t a, std::uint32_t b) { return a / 2 >= b / 2; };
  if (marks.back() / 2 >= slots() ||
      std::adjacent_find(marks.begin(), marks.end(), no_later) != marks.end())
    throw std::invalid_argument("a stored tree has a mark on a node that does not exist");
  make_room_to_mark();
  for (const std::uint32_t one : marks)
    marks_[one / 2] = one % 2 == 1 ? Mark::kLinked : Mark::kHeld;
  try {
    check_marks();
  } catch (const std::logic_error& broken) {
    throw std::invalid_argument(std::string("a stored tree is damaged: ") + broken.what());
  }
}

template <class Real>
Tree<Real> Tree<Real>::from_arrays(std::size_t dim, const Arrays& arrays) {
  const std::size_t n = arrays.points.size() / dim;
  const std::size_t slots = arrays.links.size() / 3;
  const std::size_t expected = n > 0 ? n - 1 : 0;
  if (arrays.points.size() != n * dim || arrays.links.size() != 3 * slots || slots != expected ||
      arrays.ids.size() != slots || arrays.ssd.size() != slots ||
      arrays.mean.size() != slots * dim || n > kMaxPoints ||
      (!arrays.standings.empty() && arrays.standings.size() != 2 * n))
    throw std::invalid_argument("the arrays of a stored tree do not fit each other");
  const bool plain = arrays.arrivals.empty();
  if (plain ? n > 0 && arrays.next_arrival != n  // all may have left
            : arrays.arrivals.size() != n || arrays.arrivals.back() >= arrays.next_arrival ||
                  std::adjacent_find(arrays.arrivals.begin(), arrays.arrivals.end(),
                                     std::greater_equal<>{}) != arrays.arrivals.end())
    throw std::invalid_argument("the arrival numbers of a stored tree do not fit its points");
  Tree tree(dim);
  tree.make_room(n);
  for (std::size_t i = 0; i < n; ++i) tree.add_leaf(arrays.points.data() + i * dim);
  if (arrays.next_arrival != n) tree.points_.number(arrays.arrivals, arrays.next_arrival);
  if (!arrays.standings.empty()) tree.make_room_to_weigh();
  for (std::size_t i = 0; i < arrays.standings.size(); i += 2) {
    const Standing standing{arrays.standings[i], arrays.standings[i + 1]};
    if (!(std::isfinite(standing.weight) && standing.weight > 0 && std::isfinite(standing.ssd) &&
          standing.ssd >= 0))
      throw std::invalid_argument("a stored tree has a leaf without a weight");
    tree.weigh(NodeId::leaf(static_cast<RowSlot>(i / 2)), standing);
  }
  for (std::size_t i = 0; i < slots; ++i) tree.new_slot(arrays.ids[i]);
  if (n == 1) tree.set_root(NodeId::leaf(0));
  for (std::size_t i = 0; i < slots; ++i) {
    const NodeId node = NodeId::inner(static_cast<Slot>(i));
    const auto link = [&](std::size_t k) { return NodeId::from_raw(arrays.links[3 * i + k]); };
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      const NodeId child = link(k);
      if (child.is_leaf() ? child.row() >= n : child.slot() >= slots)
        throw std::invalid_argument("a stored tree links to a node that does not exist");
      tree.set_parent(child, node);
    }
    tree.inner(i).left = link(1);
    tree.inner(i).right = link(2);
    if (link(0) == kNone) tree.root_ = node;
  }
  if (tree.root_ != kNone && !tree.root_.is_leaf()) tree.inner(tree.root_.slot()).parent = kNone;
  if (n > 0) {
    try {
      tree.check_links();
    } catch (const std::logic_error& broken) {
      throw std::invalid_argument(std::string("a stored tree is damaged: ") + broken.what());
    }
  }
  for (const Slot slot : tree.bottom_up()) tree.summarise(slot);
  for (std::size_t i = 0; i < slots; ++i) {
    tree.inner(i).ssd = arrays.ssd[i];
    const Real* const stored = arrays.mean.data() + i * dim;
    const NodeId v = NodeId::inner(static_cast<Slot>(i));
    if (std::memcmp(tree.mean(v, tree.room(0)), stored, dim * sizeof(Real)) == 0) continue;
    tree.nodes_.keep_mean(v.slot());  // two leaves need not have been points always
    std::copy_n(stored, dim, tree.nodes_.mean(i));
  }
  tree.next_id_ = arrays.next_id;
  return tree;
}

#define RAMIFY_OF(Real)                                                    \
  template std::vector<Slot> Tree<Real>::stored_slots() const;             \
  template std::vector<Slot> Tree<Real>::numbering() const;                \
  template std::vector<std::uint32_t> Tree<Real>::link_array() const;      \
  template std::vector<std::uint64_t> Tree<Real>::ids() const;             \
  template std::vector<double> Tree<Real>::ssds() const;                   \
  template std::vector<Real> Tree<Real>::means() const;                    \
  template std::vector<std::uint32_t> Tree<Real>::mark_array() const;      \
  template std::vector<double> Tree<Real>::given_heights() const;          \
  template void Tree<Real>::restore_heights(std::span<const double>);      \
  template void Tree<Real>::restore_marks(std::span<const std::uint32_t>); \
  template Tree<Real> Tree<Real>::from_arrays(std::size_t, const Arrays&)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
