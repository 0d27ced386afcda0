// SPDX-License-Identifier: BSD-3-Clause
// node_notes.hpp: what a tree writes down of its inner nodes while a caller wants to know.
//
// Two callers may: one that keeps a copy of the tree asks which nodes something has happened to and
// what they were before; one that watches asks which nodes have other children, or a leaf that
// stands for something else. The tree never fails for their sake: where memory for a note runs
// out, the caller is told that notes are missing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "tree/ids.hpp"

namespace ramify {

class NodeNotes {
 public:
  /// An inner node before the first thing that happened to it. A child is a slot, or a leaf by its
  /// public id: the id of an inner node may have changed by then, and so may the row of a leaf.
  struct Touched {
    Slot slot;
    bool used;
    std::uint64_t id = 0;
    std::int64_t left = 0, right = 0;
    double height = 0;
    std::uint64_t order = 0;
  };

  /// Write down from now on, or no more, what happens to nodes.
  void record(bool on) noexcept {
    recording_ = on;
    forget_touched();
  }
  bool records() const { return recording_; }
  /// Something is about to happen to a slot, which is as it says.
  void touch(Touched now) noexcept;
  /// Since record() or forget_touched(), one for each slot: what was there before.
  std::span<const Touched> touched() noexcept {
    keep_first_of_each_slot();
    return touched_;
  }
  /// Has memory run out since?
  bool lost_track() const { return lost_track_; }
  void forget_touched() noexcept;

  /// Write down from now on, or no more, which nodes get other children.
  void watch(bool on) noexcept {
    watching_ = on;
    missed_ = false;
    rewired_.clear();
  }
  void rewire(Slot slot) noexcept {
    if (watching_) write_down_rewired(slot);
  }
  /// Those since the last time, some of them more than once; false if some are missing.
  bool take_rewired(std::vector<Slot>& out) noexcept {
    std::swap(out, rewired_);
    rewired_.clear();
    return !std::exchange(missed_, false);
  }

 private:
  static constexpr std::size_t kFewTouched = 1024;

  void write_down_rewired(Slot slot) noexcept;
  void keep_first_of_each_slot() noexcept;

  bool recording_ = false, lost_track_ = false;
  bool watching_ = false, missed_ = false;
  std::vector<Slot> rewired_;
  std::vector<Touched> touched_;
  std::size_t tidy_at_ = kFewTouched;
  std::uint64_t written_down_ = 0;
};

}  // namespace ramify
