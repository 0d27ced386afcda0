// SPDX-License-Identifier: BSD-3-Clause
// node_finder.hpp: where in a tree is the node with this id?
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tree/change.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Nodes mostly stay in their slots, so where they were once is a good guess. The first node that
/// is wanted, and one that is not where it was then, take O(n) to be found.
template <class Real>
class NodeFinder {
 public:
  /// False if there is no such node in this version of the tree, whose rows are in slots below
  /// `end`.
  bool find(const Tree<Real>& tree, std::size_t end, std::uint64_t version, PublicId id,
            NodeId& node) {
    if (id < 0) {
      RowSlot row = 0;
      if (!tree.points().find(static_cast<Arrival>(-1 - id), row) || row >= end) return false;
      node = NodeId::leaf(row);
      return true;
    }
    const auto wanted = static_cast<std::uint64_t>(id);
    Slot slot = 0;
    if (!find_slot(tree, wanted, slot)) {
      if (slots_known_at_ == version) return false;
      slot_of_id_.clear();
      for (Slot each = 0; each < tree.slots(); ++each)
        if (!tree.is_free(each)) slot_of_id_.emplace_back(tree.id(each), each);
      std::sort(slot_of_id_.begin(), slot_of_id_.end());
      slots_known_at_ = version;
      if (!find_slot(tree, wanted, slot)) return false;
    }
    node = NodeId::inner(slot);
    return true;
  }

 private:
  bool find_slot(const Tree<Real>& tree, std::uint64_t id, Slot& slot) const {
    const auto at =
        std::lower_bound(slot_of_id_.begin(), slot_of_id_.end(), std::pair{id, Slot{0}});
    if (at == slot_of_id_.end() || at->first != id) return false;
    slot = at->second;
    return slot < tree.slots() && !tree.is_free(slot) && tree.id(slot) == id;
  }

  std::vector<std::pair<std::uint64_t, Slot>> slot_of_id_;  // as it was once; by id
  std::uint64_t slots_known_at_ = ~std::uint64_t{0};        // in this version
};

}  // namespace ramify
