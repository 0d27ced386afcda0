// SPDX-License-Identifier: BSD-3-Clause
// leaf_pairs.hpp: which two leaves that are siblings are closest?
//
// A heap of inner nodes both of whose children are leaves, by the order of merges
// (order.hpp). No pair is taken out when the tree changes: an entry is looked at again
// when it comes up, and counts only if it is still as it was.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "math/growth.hpp"
#include "math/linkage.hpp"
#include "math/order.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class LeafPairs {
 public:
  LeafPairs(Metric metric, Linkage linkage) : metric_(metric), linkage_(linkage) {}

  /// Forget all pairs, and look at the whole tree. O(n dim).
  void begin(const Tree<Real>& tree) {
    heap_.clear();
    for (Slot slot = 0; slot < tree.slots(); ++slot) offer(tree, slot);
  }
  /// A node may have become a pair of leaves. If this throws, it is not known.
  void offer(const Tree<Real>& tree, Slot slot) {
    if (!is_pair(tree, slot)) return;
    if (heap_.size() > 4 * tree.attached() + kFew) drop_the_old(tree);
    ramify::make_room(heap_, 1);
    heap_.push_back({key(tree, slot), slot});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }
  /// The closest pair of a tree of two and more leaves, all of whose pairs are known.
  NodeId take_closest(const Tree<Real>& tree) {
    for (;;) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
      const Entry entry = heap_.back();
      heap_.pop_back();
      if (holds(tree, entry)) return NodeId::inner(entry.slot);
    }
  }
  /// Rows have other slots now, in the same order.
  void renumber(std::span<const RowSlot> new_slot) {
    for (Entry& entry : heap_) {
      entry.key.first = new_slot[entry.key.first];
      entry.key.second = new_slot[entry.key.second];
    }
  }

 private:
  static constexpr std::size_t kFew = 1024;
  struct Entry {
    MergeKey key;
    Slot slot;
    bool operator>(const Entry& other) const { return other.key < key; }
  };

  static bool is_pair(const Tree<Real>& tree, Slot slot) {
    if (slot >= tree.slots() || tree.is_free(slot)) return false;
    const NodeId v = NodeId::inner(slot);
    return tree.left(v).is_leaf() && tree.right(v).is_leaf();
  }
  MergeKey key(const Tree<Real>& tree, Slot slot) const {
    const NodeId a = tree.left(NodeId::inner(slot)), b = tree.right(NodeId::inner(slot));
    return with_rule(metric_, linkage_, [&](auto rule) {
      const double value = linkage_of<decltype(rule)>(tree.summary(a, nullptr),
                                                      tree.summary(b, nullptr), tree.dim());
      return MergeKey(value, tree.rank(a), tree.rank(b));
    });
  }
  bool holds(const Tree<Real>& tree, const Entry& entry) const {
    if (!is_pair(tree, entry.slot)) return false;
    const MergeKey now = key(tree, entry.slot);
    return !(now < entry.key) && !(entry.key < now);
  }
  void drop_the_old(const Tree<Real>& tree) {
    std::erase_if(heap_, [&](const Entry& entry) { return !holds(tree, entry); });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }

  Metric metric_;
  Linkage linkage_;
  std::vector<Entry> heap_;
};

}  // namespace ramify
