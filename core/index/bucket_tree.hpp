// SPDX-License-Identifier: BSD-3-Clause
// bucket_tree.hpp: a k-d tree that grows and shrinks, for exact searches in low
// dimension (dim < kLanes).
//
// Items (points, or clusters by their mean and a weight) lie in leaves of one
// block of kBlock, column by column, so that a leaf is scanned by a handful of
// vector instructions. A full leaf splits at the median of its widest side.
// Every node keeps a box of all it held since it was built or tightened; boxes bound the
// rule's score (linkage.hpp) from below, rounding included: a bound is summed in
// the order of the score itself, and every step of it is monotone.
//
// Two inputs would ruin a plain k-d tree. Sorted streams lean to one side: a node
// that has grown by half and has most of it in one child is rebuilt. Equal points
// cannot be split: a leaf of equal items is a chain of blocks, in order of
// arrival, and a search for k neighbours looks at its first k items only.
//
// Invariants: children lie side by side (child, child + 1); an inner node's left
// items have coordinate < split, its right ones >= split; a leaf with more than
// one block has a box of no extent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "index/bucket_blocks.hpp"
#include "index/bucket_boxes.hpp"
#include "pulse.hpp"

namespace ramify {

/// The nodes that a search has yet to look into. Callers keep the list between searches. Not
/// a vector: what a push does when memory has run out stays out of the loops around it.
class PendingNodes {
 public:
  struct Node {
    std::uint32_t node;
    double bound;
  };
  bool empty() const { return count_ == 0; }
  const Node& back() const { return nodes_[count_ - 1]; }
  void clear() { count_ = 0; }
  void pop_back() { --count_; }
  RAMIFY_INLINE void push_back(const Node& node) {
    if (count_ == nodes_.size()) [[unlikely]]
      reserve(2 * count_ + 1);
    nodes_[count_++] = node;
  }
  [[gnu::noinline]] void reserve(std::size_t count) {
    if (count > nodes_.size()) nodes_.resize(count);
  }

 private:
  std::vector<Node> nodes_;
  std::size_t count_ = 0;
};

/// For the rules of linkage.hpp (bucket_tree.cpp).
template <class Real, class Rule>
class BucketTree {
 public:
  using Item = std::uint32_t;

  /// `removable` trees remember where each item is, four bytes an item. If a pulse that
  /// is given to an operation throws, the tree is good for nothing but destruction.
  explicit BucketTree(std::size_t dim, bool removable = false)
      : dim_(dim), boxes_(dim), blocks_(dim, removable) {
    nodes_.resize(2);  // the root, and a twin that keeps pairs aligned
    boxes_.resize(2);
    boxes_.make_empty(0);
    make_leaf(0);
  }

  std::size_t size() const { return size_; }
  /// A stack of this capacity has room for every search.
  std::size_t levels() const { return levels_; }

  /// Add an item. Amortised O(log n * dim) plus rebuilding.
  void insert(Item item, const Real* row, double weight = 0, const Pulse& pulse = {});

  /// Fill an empty tree at once with items in ascending order. O(n log n * dim).
  void load(BigVector<Item> items, BigVector<Real> rows, BigVector<double> weights,
            const Pulse& pulse);

  /// Forget everything.
  void clear() {
    const bool in_order = in_order_;
    *this = BucketTree(dim_, blocks_.remembers());
    in_order_ = in_order;
  }

  /// Call use(item) for every item, leaf by leaf, so that neighbours in space are
  /// near each other in time.
  template <class Use>
  void for_each(Use&& use) const {
    for_each_place([&](std::uint32_t at) { use(blocks_.item(at)); });
  }

  /// Make room to remove an item, remember from now on where each is, and keep equal ones
  /// in order, so that searches can go on looking at the first of them only.
  void make_removable() {
    blocks_.make_room_to_give_back();
    if (blocks_.remembers()) return;
    Item most = 0;
    for_each([&](Item item) { most = std::max(most, item); });
    blocks_.begin_to_remember(most);
    in_order_ = true;
    for_each_place([&](std::uint32_t at) { blocks_.remember(at); });
  }

  bool is_removable() const { return blocks_.remembers(); }

  /// Take an item out; boxes stay as they were. Only for removable trees. O(1), or the
  /// number of equal items.
  void remove(Item item);

  /// Every item has another number now, in the same order.
  void renumber(std::span<const Item> new_item) {
    for_each_place([&](std::uint32_t at) { blocks_.renumber(at, new_item[blocks_.item(at)]); });
    for (Node& node : nodes_)
      if (node.first < new_item.size()) node.first = new_item[node.first];
  }

  /// Build the whole tree anew from the items it holds. O(n log n * dim).
  void rebuild(const Pulse& pulse) { rebuild(0, 0, pulse); }

  /// Fit every box to the items that are left in it, and join leaves that fit into one. O(n * dim).
  void tighten(const Pulse& pulse);

  /// Copy the coordinates of an item of a removable tree.
  void row_of(Item item, Real* out) const {
    const std::uint32_t at = blocks_.place_of(item);
    for (std::size_t j = 0; j < dim_; ++j) out[j] = blocks_.coordinate(at, j);
  }

  /// Offer to `best` every item that can matter to it. `best` has
  ///   limit()   scores above it are of no use (equal ones may be, by the order)
  ///   offer(score, item)
  ///   equals()  how many of several equal items, earliest first, it could use
  /// Items from `end` on do not count; with an end, items must have come in
  /// ascending order.
  template <class Best>
  void search(const Real* x, double weight, Best& best, PendingNodes& stack,
              Item end = kNil) const {
    if (size_ > 0) search_below(0, x, weight, best, stack, end);
  }

  /// The same for an item of a removable tree, which is offered, too. Its own leaf comes first:
  /// what is found there leaves little to be looked into on the way up.
  template <class Best>
  void search_around(Item item, const Real* x, double weight, Best& best,
                     PendingNodes& stack) const {
    std::uint32_t v = blocks_.leaf_at(blocks_.place_of(item));
    scan(nodes_[v], x, weight, best, kNil);
    for (; v != 0; v = nodes_[v].parent) {
      const std::uint32_t twin = v ^ 1U;  // children lie at (even, odd)
      const double bound = boxes_.bound(twin, x, weight);
      if (bound <= best.limit() && bound < kNever) search_below(twin, x, weight, best, stack, kNil);
    }
  }

  /// The same for the one leaf in which x would lie.
  template <class Best>
  void search_home(const Real* x, double weight, Best& best, Item end = kNil) const {
    std::uint32_t v = 0;
    while (nodes_[v].child != kNil)
      v = nodes_[v].child + (x[nodes_[v].axis] < nodes_[v].split ? 0 : 1);
    scan(nodes_[v], x, weight, best, end);
  }

 private:
  static constexpr std::uint32_t kNil = BucketBlocks<Real, Rule>::kNil;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Node {
    std::uint32_t child = kNil;  // of two, side by side; kNil in a leaf
    std::uint32_t parent = kNil;
    std::uint32_t head = kNil;  // first and last block of a leaf
    std::uint32_t tail = kNil;
    std::uint32_t count = 0;  // exact in leaves; above, not lowered by remove()
    std::uint32_t built = 0;  // count when the node was last built
    std::uint32_t axis = 0;
    Item first = kNil;  // of the items below
    Real split{};
  };

  struct Load;   // items on their way into a newly built subtree
  struct Range;  // a stretch of them

  /// Call use(place) for every item, leaf by leaf, from left to right. Asks for no memory.
  template <class Use>
  void for_each_place(Use&& use) const {
    std::uint32_t v = 0;
    for (;;) {
      while (nodes_[v].child != kNil) v = nodes_[v].child;
      std::uint32_t left = nodes_[v].count;
      for (std::uint32_t block = nodes_[v].head; left > 0; block = blocks_.next(block))
        for (std::uint32_t i = 0; i < kBlock && left > 0; ++i, --left) use(block * kBlock + i);
      while (v != 0 && v % 2 == 1) v = nodes_[v].parent;  // children lie at (even, odd)
      if (v == 0) return;
      ++v;
    }
  }

  template <class Best>
  void search_below(std::uint32_t v, const Real* x, double weight, Best& best, PendingNodes& stack,
                    Item end) const {
    stack.clear();
    for (;;) {
      while (nodes_[v].child != kNil) {
        std::uint32_t near = nodes_[v].child, far = near + 1;
        auto [near_bound, far_bound] = boxes_.bounds(near, x, weight);
        if (nodes_[near].first >= end) near_bound = kNever;
        if (nodes_[far].first >= end) far_bound = kNever;
        if (far_bound < near_bound) {
          std::swap(near, far);
          std::swap(near_bound, far_bound);
        }
        if (far_bound <= best.limit() && far_bound < kNever) stack.push_back({far, far_bound});
        if (near_bound > best.limit() || near_bound == kNever) {
          v = kNil;
          break;
        }
        v = near;
      }
      if (v != kNil) scan(nodes_[v], x, weight, best, end);
      do {
        if (stack.empty()) return;
        v = stack.back().node;
        if (stack.back().bound > best.limit()) v = kNil;
        stack.pop_back();
      } while (v == kNil);
    }
  }

  template <class Best>
  void scan(const Node& leaf, const Real* x, double weight, Best& best, Item end) const {
    std::uint32_t left = leaf.count;
    if (left > kBlock) {
      const std::size_t useful = best.equals();
      if (useful < left) left = static_cast<std::uint32_t>(useful);
    }
    double values[kBlock];
    for (std::uint32_t block = leaf.head; left > 0; block = blocks_.next(block)) {
      const Real* columns = blocks_.columns(block);
      if constexpr (Rule::kProduct)
        kernels<Real>().block_dots(x, columns, dim_, values);
      else
        kernels<Real>().block_squared_distances(x, columns, dim_, values);
      const std::uint32_t here = std::min<std::uint32_t>(left, kBlock);
      const std::uint32_t base = block * kBlock;
      for (std::uint32_t i = 0; i < here; ++i) {
        const double score = Rule::score(values[i], weight, blocks_.weight(base + i));
        if (score <= best.limit() && blocks_.item(base + i) < end)
          best.offer(score, blocks_.item(base + i));
      }
      left -= here;
    }
  }

  void make_leaf(std::uint32_t v) {
    nodes_[v].child = kNil;
    nodes_[v].head = nodes_[v].tail = blocks_.take(v, kNil);
  }
  void append(std::uint32_t v, std::uint32_t before, Item item, const Real* row, double weight) {
    if (before > 0 && before % kBlock == 0) nodes_[v].tail = blocks_.take(v, nodes_[v].tail);
    blocks_.put(nodes_[v].tail * kBlock + before % kBlock, item, row, weight);
  }
  /// Does an item that box and count already include fit into its leaf?
  bool has_room(std::uint32_t v) const {
    const std::uint32_t before = nodes_[v].count - 1;
    // A single block does not mind in which order its items lie, and remove() leaves them
    // in any; a chain of blocks does. Building sorts them.
    const bool becomes_a_chain = in_order_ && before == kBlock;
    return before < kBlock || (!becomes_a_chain && boxes_.is_flat(v));
  }
  bool is_tilted(std::uint32_t v, std::uint32_t child_count) const {
    const Node& node = nodes_[v];
    return node.count > 8 * kBlock && node.count > node.built + node.built / 2 &&
           child_count > node.count - node.count / 4;
  }
  std::uint32_t new_pair(std::uint32_t parent) {
    std::uint32_t child;
    if (free_pairs_.empty()) {
      child = static_cast<std::uint32_t>(nodes_.size());
      nodes_.resize(child + 2);
      boxes_.resize(nodes_.size());
    } else {
      child = free_pairs_.back();
      free_pairs_.pop_back();
    }
    nodes_[child].parent = nodes_[child + 1].parent = parent;
    return child;
  }

  void tighten_leaf(std::uint32_t v);
  void tighten_above(std::uint32_t v);
  void join_leaves(std::uint32_t v);
  void rebuild(std::uint32_t v, std::size_t level, const Pulse& pulse);
  void rebuild_with(std::uint32_t v, std::size_t level, Item item, const Real* row, double weight,
                    const Pulse& pulse);
  void collect(std::uint32_t v, Load& load);
  void build(std::uint32_t v, std::size_t level, Load& load, const Pulse& pulse);
  void make_box(const Range& range, const Load& load);
  void fill_leaf(const Range& range, const Load& load);
  std::size_t split(const Range& range, Load& load);

  std::size_t dim_;
  bool in_order_ = false;
  std::size_t size_ = 0;
  std::size_t levels_ = 1;  // that there have ever been since the tree was empty
  BigVector<Node> nodes_;
  BucketBoxes<Real, Rule> boxes_;
  BucketBlocks<Real, Rule> blocks_;
  std::vector<std::uint32_t> free_pairs_;
};

}  // namespace ramify
