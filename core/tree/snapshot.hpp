// SPDX-License-Identifier: BSD-3-Clause
// snapshot.hpp: a live tree, frozen and numbered.
//
// In two steps, so that the tree is only needed for the first: its arrays are copied
// as they lie, and put in order afterwards, while it goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "tree/tree.hpp"

namespace ramify {

/// The inner nodes of a tree, copied flat, in no special order: what a snapshot is made
/// of. Row slots and arrival order are the same here, without holes.
struct FlatTree {
  struct Entry {
    Heights heights;
    std::uint32_t count;
    RowSlot first_leaf;
    NodeId left, right;
    Slot slot;
    std::uint64_t id;
  };
  std::vector<Entry> entries;
  std::size_t slots = 0;  // of inner nodes, free ones included
};

/// A tree frozen in its canonical numbering (docs/decisions): leaves 0..n-1 are
/// the living points in order of arrival, inner nodes follow in order of (monotone
/// height, size, first leaf), children 2i and 2i+1 of inner node n+i with the earlier
/// first leaf first. Two equal hierarchies have equal arrays.
struct Snapshot {
  std::vector<std::int64_t> children;
  std::vector<double> heights;
  std::vector<std::int64_t> ids;
  std::vector<NodeId> nodes;  // all 2n-1, by number
};

/// A copy of a tree that is not stale and has no holes. O(n).
template <class Real>
FlatTree flatten(const Tree<Real>& tree);

/// O(n), and sorting.
Snapshot number(const FlatTree& tree);

}  // namespace ramify
