// SPDX-License-Identifier: BSD-3-Clause
// tree.hpp: the live binary tree, an arena of inner nodes over the points.
//
// Leaves are points: their mean is their row, their ssd is 0, and only their
// parent is stored. Inner nodes are slots of an array of records: an Inner, then
// the mean, whose length is only known at run time. In low dimension that is one
// cache line.
// Nothing here recurses: trees may be a chain of a million nodes.
//
// Invariants, tested by check():
//   1  the root has no parent; every other attached node is a child of its parent
//   2  walking down from the root meets every point once and every slot once
//   3  size is the number of points below; first_leaf is the earliest of them
//   4  mean and ssd are those of the points below, up to rounding
//   5  name is unique, and below next_name
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tree/ids.hpp"
#include "math/order.hpp"
#include "tree/row_store.hpp"
#include "math/summary.hpp"

namespace ramify {

/// The head of an inner node's record; the mean follows.
struct Inner {
  NodeId parent;
  NodeId left;
  NodeId right;
  std::uint32_t size = 0;
  PointId first_leaf = 0;
  double ssd = 0;
  std::uint64_t name = 0;
};

template <class Real>
class Tree {
 public:
  explicit Tree(std::size_t dim) : points_(dim), record_(record_bytes(dim)) {}

  // --- looking ---------------------------------------------------------------
  std::size_t dim() const { return points_.dim(); }
  const Points<Real>& points() const { return points_; }
  std::size_t slots() const { return slots_; }
  NodeId root() const { return root_; }
  /// Number of points that hang in the tree, always the first ones.
  std::size_t attached() const { return root_ == kNone ? 0 : slots_ + 1; }

  NodeId parent(NodeId v) const {
    return v.is_leaf() ? leaf_parent_[v.point()] : inner(v.slot()).parent;
  }
  NodeId left(NodeId v) const { return inner(v.slot()).left; }
  NodeId right(NodeId v) const { return inner(v.slot()).right; }
  std::uint32_t size(NodeId v) const { return v.is_leaf() ? 1 : inner(v.slot()).size; }
  PointId first_leaf(NodeId v) const {
    return v.is_leaf() ? v.point() : inner(v.slot()).first_leaf;
  }
  /// The other child of v's parent; v must have one.
  NodeId sibling(NodeId v) const {
    const Inner& above = inner(parent(v).slot());
    return above.left == v ? above.right : above.left;
  }
  Rank rank(NodeId v) const { return {size(v), first_leaf(v)}; }
  double ssd(NodeId v) const { return v.is_leaf() ? 0 : inner(v.slot()).ssd; }
  const Real* mean(NodeId v) const {
    return v.is_leaf() ? points_.row(v.point()) : mean_at(v.slot());
  }
  SummaryView<Real> summary(NodeId v) const {
    return {static_cast<double>(size(v)), mean(v), ssd(v)};
  }
  /// Public id of an inner node: kept while the node keeps most of its points.
  std::uint64_t name(Slot slot) const { return inner(slot).name; }

  /// Start loading what summary(v) will read. Worth it for cold nodes.
  void prefetch(NodeId v) const {
#if defined(__GNUC__) || defined(__clang__)
    if (v.is_leaf())
      __builtin_prefetch(mean(v));
    else
      __builtin_prefetch(&inner(v.slot()));
#else
    static_cast<void>(v);
#endif
  }

  /// Start loading what parent(leaf) will read.
  void prefetch_parent(NodeId leaf) const {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(&leaf_parent_[leaf.point()]);
#else
    static_cast<void>(leaf);
#endif
  }

  // --- growing ---------------------------------------------------------------
  void make_room(std::size_t points);
  /// Store a row as a leaf that is not yet attached.
  NodeId add_leaf(const Real* row);
  /// The row of a leaf that is not yet attached, to be changed.
  Real* own_row(NodeId leaf) { return points_.row(leaf.point()); }
  /// Forget leaves from `points` on; they must not be attached.
  void truncate(std::size_t points);
  /// Forget all inner nodes; leaves stay, unattached.
  void clear_inner();
  Slot new_slot(std::uint64_t name);
  std::uint64_t new_name() { return next_name_++; }
  void rename(Slot slot, std::uint64_t name) { inner(slot).name = name; }
  void set_root(NodeId v);
  /// Make `slot` the parent of two trees and compute its summary. O(dim).
  NodeId join(NodeId left, NodeId right, Slot slot);
  /// Put a new inner node over `at` and the unattached leaf, in `at`'s place.
  /// Ancestors' summaries are the caller's affair.
  NodeId attach(NodeId leaf, NodeId at);
  // Rearranging: what the four below leave undone, summaries, is the caller's affair.
  /// Exchange the places of two subtrees, neither of them inside the other.
  void swap(NodeId a, NodeId b);
  /// Take v from its place, which its sibling fills, and join it with `beside` in
  /// the latter's place, under the slot and name of v's old parent. `beside` may
  /// not be inside v, nor be v's parent or sibling.
  NodeId move(NodeId v, NodeId beside);
  /// One point more below v, later than all others.
  void grow(NodeId v) { ++inner(v.slot()).size; }
  /// Size and first leaf of an inner node, from its children's.
  void recount(NodeId v);
  /// Add a point to the summary of an inner node, given |x - mean|^2. O(dim).
  void absorb(NodeId v, const Real* x, double gap);
  /// Put a tree in the place of a child.
  void replace_child(NodeId parent, NodeId old_child, NodeId new_child);
  /// Compute the summary of a slot from its children's. O(dim).
  void summarise(Slot slot);
  /// Compute every summary anew, bottom-up. O(n dim).
  void summarise();

  // --- whole-tree ------------------------------------------------------------
  /// While one of these lives, the inner nodes that there were are put aside and the
  /// tree has none. They come back at its end, unless keep() was called.
  class Remake {
   public:
    explicit Remake(Tree& tree);
    Remake(const Remake&) = delete;
    Remake& operator=(const Remake&) = delete;
    ~Remake();
    void keep() { kept_ = true; }

   private:
    Tree& tree_;
    BigVector<std::byte> records_;
    std::size_t slots_;
    std::uint64_t next_name_;
    NodeId root_;
    bool kept_ = false;
  };
  /// Slots in an order in which children come before parents. O(n).
  std::vector<Slot> bottom_up() const;
  /// Throws std::logic_error naming the first broken invariant. O(n dim).
  void check() const;

  // --- storage: plain arrays in and out ---------------------------------------
  struct Arrays {
    std::span<const Real> points;
    std::span<const std::uint32_t> links;  // parent, left, right of each slot
    std::span<const std::uint64_t> names;
    std::uint64_t next_name = 0;
    std::span<const Real> mean;
    std::span<const double> ssd;
  };
  std::vector<std::uint32_t> link_array() const;
  std::vector<std::uint64_t> names() const;
  std::vector<double> ssds() const;
  std::uint64_t next_name() const { return next_name_; }
  std::vector<Real> means() const;
  /// A tree from its arrays; throws std::invalid_argument when they do not make
  /// one, so that a damaged file cannot become a damaged tree. O(n dim).
  static Tree from_arrays(std::size_t dim, const Arrays& arrays);

 private:
  void set_parent(NodeId v, NodeId parent);
  void check_links() const;
  void check_summaries() const;
  void check_names() const;

  Points<Real> points_;
  /// Whole cache lines as long as one will do, whole Inners' alignment above.
  static std::size_t record_bytes(std::size_t dim) {
    const std::size_t bytes = sizeof(Inner) + dim * sizeof(Real);
    return bytes <= 64 ? 64 : (bytes + alignof(Inner) - 1) / alignof(Inner) * alignof(Inner);
  }
  Inner& inner(std::size_t slot) {
    return *reinterpret_cast<Inner*>(records_.data() + slot * record_);
  }
  const Inner& inner(std::size_t slot) const {
    return *reinterpret_cast<const Inner*>(records_.data() + slot * record_);
  }
  Real* mean_at(std::size_t slot) {
    return reinterpret_cast<Real*>(records_.data() + slot * record_ + sizeof(Inner));
  }
  const Real* mean_at(std::size_t slot) const {
    return reinterpret_cast<const Real*>(records_.data() + slot * record_ + sizeof(Inner));
  }

  BigVector<NodeId> leaf_parent_;  // by point
  std::size_t record_;             // bytes of a record
  std::size_t slots_ = 0;
  BigVector<std::byte> records_;  // by slot
  std::uint64_t next_name_ = 0;
  NodeId root_;
};

}  // namespace ramify
