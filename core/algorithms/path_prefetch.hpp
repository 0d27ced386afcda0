// SPDX-License-Identifier: BSD-3-Clause
// path_prefetch.hpp: walks ahead of the inserts, so that what they need is in the cache.
//
// An insert climbs from its neighbour to the root, and every step waits for
// memory. When the neighbours of the next points are known, several such climbs
// can wait together. A prefetch only reads and only hints: where the tree changes
// under its feet it has warmed the wrong node, and nothing else happens.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tree/tree.hpp"

namespace ramify {

class PathPrefetch {
 public:
  void clear() { sent_ = 0; }

  /// Points below this number have been sent already.
  std::size_t sent() const { return sent_; }
  bool has_room(std::size_t now) const { return sent_ < now + kAhead; }

  /// Begin to climb for point `next`, which has these neighbours.
  template <class Real>
  void send(const Tree<Real>& tree, std::size_t next, std::span<const RowSlot> neighbours) {
    NodeId& at = climbers_[next % kAhead];
    at = kNone;
    sent_ = next + 1;
    if (neighbours.empty()) return;
    at = NodeId::leaf(neighbours.front());
    tree.prefetch_parent(at);
  }

  /// Let all climbers sent after point `now` climb a step or so.
  template <class Real>
  void walk(const Tree<Real>& tree, std::size_t now) {
    for (std::size_t step = 0; step < kSteps; ++step)
      for (std::size_t next = now + 1; next < sent_; ++next) {
        NodeId& at = climbers_[next % kAhead];
        if (at == kNone) continue;
        const NodeId below = at;
        at = tree.parent(below);
        if (at == kNone) continue;
        tree.prefetch(at);
        if (below.is_leaf()) continue;
        tree.prefetch(tree.left(below));
        tree.prefetch(tree.right(below));
        if (tree.count(below) > kWarmAnyway) at = kNone;
      }
  }

 private:
  static constexpr std::size_t kAhead = 16;
  static constexpr std::size_t kSteps = 1;
  static constexpr std::size_t kWarmAnyway = 4096;  // points below nodes that all pass

  std::array<NodeId, kAhead> climbers_;
  std::size_t sent_ = 0;
};

}  // namespace ramify
