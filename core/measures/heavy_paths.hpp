// SPDX-License-Identifier: BSD-3-Clause
// heavy_paths.hpp: a frozen tree taken apart into paths, for work that must not
// depend on its depth.
//
//   heavy child  the larger of two siblings (the first, if they are equal); the
//                other is light. Going up from a leaf, one leaves a light child
//                at most log2(n) times, so all light subtrees together hold at
//                most n log2(n) leaves: work that looks only at light subtrees
//                is near-linear on a chain too.
//   heavy path   a leaf and its ancestors up to the last that is reached by
//                heavy children only
//
// Leaves are laid out from left to right with the heavy child first. The leaves
// of v are then positions start(v) .. start(v) + size(v) - 1; a heavy path climbs
// from the first of them, and each step up appends one light subtree:
//
//   | bottom leaf | light | light light | light ... |      <- positions of the top
//
// Nothing recurses; building is O(n).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pulse.hpp"
#include "tree/dendrogram.hpp"

namespace ramify {

class HeavyPaths {
 public:
  explicit HeavyPaths(Children children);

  std::size_t leaves() const { return order_.size(); }
  std::size_t size(std::size_t v) const { return size_[v]; }
  std::size_t start(std::size_t v) const { return start_[v]; }
  /// Leaves of all light subtrees together: the work of climbing every path.
  std::uint64_t light_leaves() const;
  /// The leaf at a position.
  std::size_t leaf_at(std::size_t position) const { return order_[position]; }
  /// Parent of a node; the root is its own.
  std::size_t parent(std::size_t v) const { return parent_[v]; }
  bool is_root(std::size_t v) const { return parent_[v] == v; }
  bool is_heavy(std::size_t v) const { return !is_root(v) && start_[v] == start_[parent_[v]]; }
  /// Where a heavy path ends: the root, or a light child.
  bool is_top(std::size_t v) const { return !is_heavy(v); }

 private:
  std::vector<std::uint32_t> size_;  // by node, as start and parent
  std::vector<std::uint32_t> start_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> order_;  // by position
};

/// Tells a pulse how far a climb of all heavy paths is, in leaves out of n.
class ClimbNews {
 public:
  ClimbNews(const HeavyPaths& paths, const Pulse& pulse)
      : pulse_(pulse),
        share_(static_cast<double>(paths.leaves()) /
               static_cast<double>(std::max<std::uint64_t>(paths.light_leaves(), 1))) {}

  /// Some more leaves of light subtrees are done.
  void more(std::size_t leaves) {
    const std::uint64_t before = done_;
    done_ += leaves;
    if (before / kStride != done_ / kStride)
      pulse_.check(static_cast<std::size_t>(static_cast<double>(done_) * share_));
  }

 private:
  static constexpr std::uint64_t kStride = 1024;  // leaves between two looks at the pulse
  const Pulse& pulse_;
  double share_;
  std::uint64_t done_ = 0;
};

}  // namespace ramify
