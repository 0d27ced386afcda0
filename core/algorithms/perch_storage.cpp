// SPDX-License-Identifier: BSD-3-Clause
// perch_storage.cpp: what PERCH keeps beside its tree, as it is stored and as it must be.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "algorithms/perch.hpp"

namespace ramify {

/// Slots that have collapsed.
template <class Real>
std::vector<std::uint32_t> Perch<Real>::collapsed() const {
  std::vector<std::uint32_t> out;
  for (std::size_t slot = 0; slot < collapsed_.size(); ++slot)
    if (collapsed_[slot] != 0) out.push_back(static_cast<std::uint32_t>(slot));
  return out;
}

template <class Real>
Memory Perch<Real>::memory(const Tree<Real>& tree) const {
  std::vector<std::uint32_t> marks = collapsed();
  const std::vector<Slot> place = tree.numbering();
  for (std::uint32_t& slot : marks) slot = place[slot];
  std::sort(marks.begin(), marks.end());
  return {std::move(marks), {}};
}

template <class Real>
void Perch<Real>::restore(const Tree<Real>& tree, const Memory& memory) {
  begin_with(tree, memory.marks);
}

template <class Real>
void Perch<Real>::begin_with(const Tree<Real>& tree, std::span<const std::uint32_t> collapsed) {
  boxes_.resize(tree.slots() * 2 * dim_);
  const std::vector<Slot> order = tree.bottom_up();
  for (const Slot slot : order) make_box(tree, NodeId::inner(slot));
  if (collapses()) collapsed_.assign(tree.slots(), 0);
  for (const std::uint32_t slot : collapsed) {
    if (slot >= collapsed_.size())
      throw std::invalid_argument("a stored PERCH tree has a collapsed node that does not exist");
    collapsed_[slot] = 1;
  }
  if (!collapses()) return;
  std::size_t leaves = tree.points().living();
  for (const Slot slot : order) {
    if (collapsed_[slot] == 0) continue;
    --leaves;
    for (const NodeId child : {tree.left(NodeId::inner(slot)), tree.right(NodeId::inner(slot))})
      if (!child.is_leaf() && collapsed_[child.slot()] == 0)
        throw std::invalid_argument(
            "a stored PERCH tree has a collapsed node above one that is not");
  }
  if (leaves > options_.max_leaves)
    throw std::invalid_argument("a stored PERCH tree has more leaves than max_leaves");
  for (const Slot slot : order)
    if (const NodeId v = NodeId::inner(slot); may_collapse(tree, v)) offer(tree, v);
}

template <class Real>
void Perch<Real>::check(const Tree<Real>& tree) const {
  const auto require = [](bool holds, int invariant, const char* what) {
    if (!holds)
      throw std::logic_error("perch invariant " + std::to_string(invariant) + " broken: " + what);
  };
  Perch fresh(dim_, {}, options_);
  fresh.begin_with(tree, collapsed());
  require(fresh.boxes_ == boxes_, 1, "box");
  for (const Slot slot : tree.bottom_up()) {
    const NodeId v = NodeId::inner(slot), a = tree.left(v), b = tree.right(v);
    require(tree.count(v) == tree.count(a) + tree.count(b), 2, "size");
    require(tree.first_leaf(v) == std::min(tree.first_leaf(a), tree.first_leaf(b)), 2, "first");
  }
  if (!collapses()) return;
  std::size_t leaves = tree.points().living();
  for (const std::uint8_t one_less : collapsed_) leaves -= one_less;
  require(leaves <= options_.max_leaves, 3, "too many leaves");
  std::vector<std::tuple<Slot, RowSlot, double>> known;
  known.reserve(heap_.size());
  for (const Collapsible& entry : heap_) known.push_back({entry.slot, entry.first, entry.spread});
  std::sort(known.begin(), known.end());
  for (const Collapsible& entry : fresh.heap_)
    require(std::binary_search(known.begin(), known.end(),
                               std::tuple(entry.slot, entry.first, entry.spread)),
            4, "a node that may collapse is not in the heap");
}

#define RAMIFY_OF(Real)                                                 \
  template Memory Perch<Real>::memory(const Tree<Real>&) const;         \
  template void Perch<Real>::restore(const Tree<Real>&, const Memory&); \
  template void Perch<Real>::check(const Tree<Real>&) const
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
