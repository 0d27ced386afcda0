// SPDX-License-Identifier: BSD-3-Clause
// change.hpp: what one mutation did to a tree, for whoever keeps a copy of it.
//
// In public terms only, which mean the same for ever: inner nodes by their ids,
// points by their arrival numbers. Of every inner node that is new or has other
// children it says which: applied to the tree before, that gives the tree after, and
// all else (sizes, parents, the root) follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tree/ids.hpp"

namespace ramify {

/// A node's public id: an inner one's id, -1 - the arrival number of a leaf's point.
using PublicId = std::int64_t;

struct Change {
  struct Family {
    PublicId node, left, right;
  };

  std::uint64_t version = 0;  // of the tree after it
  std::optional<Arrival> inserted, erased;
  std::optional<Arrival> leaf;  // which that point joined, or left to others
  std::vector<PublicId> vanished;
  std::vector<Family> appeared;
  std::vector<Family> rewired;  // were there before, with other children
  /// Memory ran out while this was written down: only a snapshot tells.
  bool incomplete = false;
};

}  // namespace ramify
