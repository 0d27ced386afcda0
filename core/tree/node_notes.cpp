// SPDX-License-Identifier: BSD-3-Clause
#include "tree/node_notes.hpp"

namespace ramify {

void NodeNotes::forget_touched() noexcept {
  lost_track_ = false;
  touched_.clear();
  tidy_at_ = kFewTouched;
}

void NodeNotes::touch(Touched now) noexcept {
  if (lost_track_) return;
  if (touched_.size() >= tidy_at_) {  // a long batch touches the same nodes again and again
    keep_first_of_each_slot();
    tidy_at_ = std::max(kFewTouched, 2 * touched_.size());
  }
  try {
    now.order = written_down_++;
    touched_.push_back(now);
  } catch (const std::bad_alloc&) {
    lost_track_ = true;
  }
}

void NodeNotes::write_down_rewired(Slot slot) noexcept {
  try {
    rewired_.push_back(slot);
  } catch (const std::bad_alloc&) {
    missed_ = true;
  }
}

/// The first thing written down of a slot is what it was before.
void NodeNotes::keep_first_of_each_slot() noexcept {
  std::sort(touched_.begin(), touched_.end(), [](const Touched& a, const Touched& b) {
    return a.slot != b.slot ? a.slot < b.slot : a.order < b.order;
  });
  const auto same = [](const Touched& a, const Touched& b) { return a.slot == b.slot; };
  touched_.erase(std::unique(touched_.begin(), touched_.end(), same), touched_.end());
}

}  // namespace ramify
