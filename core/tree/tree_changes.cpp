// SPDX-License-Identifier: BSD-3-Clause
// tree_changes.cpp: what a tree writes down of its nodes while somebody keeps a copy.
#include <algorithm>
#include <iterator>
#include <new>

#include "tree/tree.hpp"

namespace ramify {

template <class Real>
void Tree<Real>::record(bool on) {
  recording_ = on;
  clear_notes();
  touch_all();
}

template <class Real>
void Tree<Real>::clear_notes() noexcept {
  lost_track_ = false;
  touched_.clear();
  tidy_at_ = kFewTouched;
}

template <class Real>
void Tree<Real>::write_down(Slot slot, bool used) noexcept {
  if (lost_track_) return;
  if (touched_.size() >= tidy_at_) {  // a long batch touches the same nodes again and again
    keep_first_of_each_slot();
    tidy_at_ = std::max(kFewTouched, 2 * touched_.size());
  }
  try {
    touched_.push_back({slot, written_down_++, used, used ? inner(slot).id : 0});
  } catch (const std::bad_alloc&) {
    lost_track_ = true;  // the tree comes first
  }
}

template <class Real>
void Tree<Real>::write_down_rewired(Slot slot) noexcept {
  try {
    rewired_.push_back(slot);
  } catch (const std::bad_alloc&) {
    missed_ = true;
  }
}

template <class Real>
void Tree<Real>::touch_all() noexcept {
  if (recording_ && records_.size() > 0) for_each_slot([&](Slot slot) { write_down(slot, true); });
}

/// The first thing written down of a slot is what it was before.
template <class Real>
void Tree<Real>::keep_first_of_each_slot() noexcept {
  std::sort(touched_.begin(), touched_.end(), [](const Touched& a, const Touched& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.order < b.order;
  });
  const auto same = [](const Touched& a, const Touched& b) { return a.slot == b.slot; };
  touched_.erase(std::unique(touched_.begin(), touched_.end(), same), touched_.end());
}

template <class Real>
Change Tree<Real>::take_change() {
  Change out;
  out.incomplete = lost_track_;
  keep_first_of_each_slot();
  std::vector<PublicId> before, after;
  for (const Touched& one : touched_) {
    if (one.used) before.push_back(static_cast<PublicId>(one.id));
    if (one.slot < slots_ && !is_free(one.slot))
      after.push_back(static_cast<PublicId>(id(one.slot)));
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(out.vanished));
  for (const Touched& one : touched_) {
    if (one.slot >= slots_ || is_free(one.slot)) continue;
    const NodeId v = NodeId::inner(one.slot);
    out.families.push_back({public_id(v), public_id(left(v)), public_id(right(v)), heights(v).own,
                            heights(v).monotone, count(v), weight(v),
                            points_.arrival(first_leaf(v))});
  }
  clear_notes();
  return out;
}

#define RAMIFY_OF(Real)                                        \
  template void Tree<Real>::record(bool);                      \
  template void Tree<Real>::write_down(Slot, bool) noexcept;   \
  template void Tree<Real>::write_down_rewired(Slot) noexcept; \
  template void Tree<Real>::touch_all() noexcept;              \
  template Change Tree<Real>::take_change()
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
