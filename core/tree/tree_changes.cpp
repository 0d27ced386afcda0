// SPDX-License-Identifier: BSD-3-Clause
// tree_changes.cpp: what has become of a tree's nodes, out of its notes.
#include <algorithm>
#include <iterator>
#include <span>

#include "tree/tree.hpp"

namespace ramify {

template <class Real>
void Tree<Real>::record(bool on) {
  notes_.record(on);
  touch_all();
}

template <class Real>
void Tree<Real>::touch_all() noexcept {
  if (records()) for_each_slot([&](Slot slot) { touch(slot); });
}

template <class Real>
Change Tree<Real>::take_change() {
  Change out;
  out.incomplete = notes_.lost_track();
  const auto is_used = [&](Slot slot) { return slot < slots() && !is_free(slot); };
  const std::span<const NodeNotes::Touched> touched = notes_.touched();
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

#define RAMIFY_OF(Real)                           \
  template void Tree<Real>::record(bool);         \
  template void Tree<Real>::touch_all() noexcept; \
  template Change Tree<Real>::take_change()
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
