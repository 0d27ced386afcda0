// SPDX-License-Identifier: BSD-3-Clause
// tree_changes.cpp: what has become of a tree's nodes, out of its notes.
#include <algorithm>
#include <iterator>
#include <span>

#include "tree/tree.hpp"

namespace ramify {

template <class Real>
void Tree<Real>::record(bool on, bool all) {
  notes_.record(on);
  if (all) touch_all();
}

template <class Real>
NodeNotes::Touched Tree<Real>::as_it_is(Slot slot) const noexcept {
  const Inner& node = inner(slot);
  const auto child = [&](NodeId v) {
    return v.is_leaf() ? public_id(v) : static_cast<PublicId>(v.slot());
  };
  const double height = slot < heights_.size() ? heights_[slot].own : 0;
  return {slot, true, node.id, child(node.left), child(node.right), height};
}

template <class Real>
void Tree<Real>::touch_all() noexcept {
  if (records()) for_each_slot([&](Slot slot) { touch(slot); });
}

/// The touched nodes that were there, in public terms: a child that was touched has the id that it
/// had then.
template <class Real>
std::vector<Change::Earlier> Tree<Real>::earlier(
    std::span<const NodeNotes::Touched> touched) const {
  const auto id_then = [&](PublicId child) {
    if (child < 0) return child;
    const auto slot = static_cast<Slot>(child);
    const auto at = std::lower_bound(touched.begin(), touched.end(), slot,
                                     [](const auto& a, Slot b) { return a.slot < b; });
    const bool noted = at != touched.end() && at->slot == slot;
    return static_cast<PublicId>(noted ? at->id : id(slot));
  };
  std::vector<Change::Earlier> out;
  for (const NodeNotes::Touched& one : touched)
    if (one.used)
      out.push_back(
          {static_cast<PublicId>(one.id), id_then(one.left), id_then(one.right), one.height});
  return out;
}

template <class Real>
Change Tree<Real>::take_change() {
  Change out;
  out.incomplete = notes_.lost_track();
  const auto is_used = [&](Slot slot) { return slot < slots() && !is_free(slot); };
  const std::span<const NodeNotes::Touched> touched = notes_.touched();
  out.earlier = earlier(touched);
  std::vector<PublicId> before, after;
  for (const NodeNotes::Touched& one : touched) {
    if (one.used) before.push_back(static_cast<PublicId>(one.id));
    if (is_used(one.slot)) after.push_back(static_cast<PublicId>(id(one.slot)));
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(out.vanished));
  for (const NodeNotes::Touched& one : touched) {
    if (!is_used(one.slot)) continue;
    const NodeId v = NodeId::inner(one.slot);
    out.families.push_back({public_id(v), public_id(left(v)), public_id(right(v)), heights(v).own,
                            heights(v).monotone, count(v), weight(v),
                            points_.arrival(first_leaf(v))});
  }
  notes_.forget_touched();
  return out;
}

#define RAMIFY_OF(Real)                                                  \
  template void Tree<Real>::record(bool, bool);                          \
  template NodeNotes::Touched Tree<Real>::as_it_is(Slot) const noexcept; \
  template void Tree<Real>::touch_all() noexcept;                        \
  template Change Tree<Real>::take_change()
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
