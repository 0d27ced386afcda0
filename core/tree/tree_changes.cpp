// SPDX-License-Identifier: BSD-3-Clause
// tree_changes.cpp: what a tree writes down of its nodes while somebody keeps a copy.
#include <algorithm>
#include <iterator>
#include <new>

#include "tree/tree.hpp"

namespace ramify {

template <class Real>
void Tree<Real>::record(bool on, bool all) {
  recording_ = on;
  clear_notes();
  if (all) touch_all();
}

template <class Real>
auto Tree<Real>::as_it_is(Slot slot) const noexcept -> Touched {
  const Inner& node = inner(slot);
  const double height = slot < heights_.size() ? heights_[slot].own : 0;
  return {slot, true, 0, node.id, child_noted(node.left), child_noted(node.right), height};
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
    touched_.push_back(used ? as_it_is(slot) : Touched{slot, false, 0, 0, 0, 0, 0});
    touched_.back().order = written_down_++;
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

/// The touched nodes that were there, in public terms: a child that was touched has the id that it
/// had then.
template <class Real>
std::vector<Change::Earlier> Tree<Real>::earlier() const {
  const auto id_then = [&](PublicId child) {
    if (child < 0) return child;
    const auto at = std::lower_bound(touched_.begin(), touched_.end(), static_cast<Slot>(child),
                                     [](const Touched& a, Slot slot) { return a.slot < slot; });
    const bool noted = at != touched_.end() && at->slot == static_cast<Slot>(child);
    return static_cast<PublicId>(noted ? at->id : id(static_cast<Slot>(child)));
  };
  std::vector<Change::Earlier> out;
  for (const Touched& one : touched_)
    if (one.used)
      out.push_back(
          {static_cast<PublicId>(one.id), id_then(one.left), id_then(one.right), one.height});
  return out;
}

template <class Real>
Change Tree<Real>::take_change() {
  Change out;
  out.incomplete = lost_track_;
  keep_first_of_each_slot();
  out.earlier = earlier();
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
  template void Tree<Real>::record(bool, bool);                \
  template void Tree<Real>::write_down(Slot, bool) noexcept;   \
  template void Tree<Real>::write_down_rewired(Slot) noexcept; \
  template void Tree<Real>::touch_all() noexcept;              \
  template Change Tree<Real>::take_change()
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
