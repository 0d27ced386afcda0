// SPDX-License-Identifier: BSD-3-Clause
// tree.hpp: the live binary tree, an arena of inner nodes over the points.
//
// A leaf is a row: its mean is the row, its weight and ssd are what the row stands for
// (1 and 0 for a point), and only its parent is stored. Inner nodes are slots (inner_nodes.hpp).
// Slots of nodes that have gone are used again. Nothing here recurses: trees may be a chain of a
// million nodes.
//
// What only readers need, an inner node's heights, is made when they come: mutators
// mark what has become stale, and refresh() makes just that anew. Algorithms whose
// paths may be long leave summaries for then, too, or until they need one (freshen()).
//
// Invariants, tested by check():
//   1  the root has no parent; every other attached node is a child of its parent
//   2  walking down from the root meets every living row and every slot in use once
//   3  count is the number of leaves below; first_leaf is the earliest of them
//   4  weight, mean and ssd are those of the points below, up to rounding
//   5  id is unique, and below next_id
//   6  the parent of a stale node is stale; heights of others are right
//   7  inner nodes below a linked one are linked
//   8  every long mean is kept for one node or free; a node without one has two leaf children,
//      or is stale
//   (3 and 4: of nodes whose summary is not stale)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "math/dispatch.hpp"
#include "math/linkage.hpp"
#include "math/order.hpp"
#include "math/summary.hpp"
#include "tree/change.hpp"
#include "tree/ids.hpp"
#include "tree/inner_nodes.hpp"
#include "tree/node_notes.hpp"
#include "tree/row_store.hpp"

namespace ramify {

template <class Real>
class Tree {
 public:
  explicit Tree(std::size_t dim) : points_(dim), nodes_(dim) {
    if (nodes_.are_long())
      for (std::vector<Real>& room : rooms_) room.resize(dim);
  }

  // --- looking ---------------------------------------------------------------
  std::size_t dim() const { return points_.dim(); }
  const RowStore<Real>& points() const { return points_; }
  /// Slots of inner nodes, those that are free included.
  std::size_t slots() const { return nodes_.slots(); }
  bool is_free(Slot slot) const { return inner(slot).left == kNone; }
  NodeId root() const { return root_; }
  /// Grows with everything that happens to a node: its links, points or summary.
  std::uint64_t changes() const { return changes_; }
  /// Number of leaves that hang in the tree.
  std::size_t attached() const { return root_ == kNone ? 0 : slots() - free_.size() + 1; }

  NodeId parent(NodeId v) const {
    return v.is_leaf() ? leaf_parent_[v.row()] : inner(v.slot()).parent;
  }
  NodeId left(NodeId v) const { return inner(v.slot()).left; }
  NodeId right(NodeId v) const { return inner(v.slot()).right; }
  /// How many leaves are below.
  std::uint32_t count(NodeId v) const { return v.is_leaf() ? 1 : inner(v.slot()).count; }
  /// How many points they stand for.
  double weight(NodeId v) const {
    if (!points_.weighted()) return static_cast<double>(count(v));
    return v.is_leaf() ? points_.weight(v.row()) : weights_[v.slot()];
  }
  RowSlot first_leaf(NodeId v) const { return v.is_leaf() ? v.row() : inner(v.slot()).first_leaf; }
  /// The other child of v's parent; v must have one.
  NodeId sibling(NodeId v) const {
    const Inner& above = inner(parent(v).slot());
    return above.left == v ? above.right : above.left;
  }
  Rank rank(NodeId v) const { return {weight(v), count(v), first_leaf(v)}; }
  double ssd(NodeId v) const { return v.is_leaf() ? points_.ssd(v.row()) : inner(v.slot()).ssd; }
  /// Is there a mean to look at? If not, v has two leaves, or is stale.
  bool keeps_mean(NodeId v) const { return v.is_leaf() || nodes_.keeps_mean(v.slot()); }
  /// In `room`, which has dim() entries, if none is kept.
  RAMIFY_INLINE const Real* mean(NodeId v, Real* room) const {
    if (v.is_leaf()) return points_.row(v.row());
    if (!nodes_.are_long()) return nodes_.short_mean(v.slot());
    return nodes_.keeps_mean(v.slot()) ? nodes_.mean(v.slot()) : mean_of_two(v.slot(), room);
  }
  /// Weight, mean (as above) and ssd, read in one go: this is in every inner loop.
  RAMIFY_INLINE SummaryView<Real> summary(NodeId v, Real* room) const {
    if (v.is_leaf()) return {points_.weight(v.row()), points_.row(v.row()), points_.ssd(v.row())};
    const Inner& node = inner(v.slot());
    const double weight = points_.weighted() ? weights_[v.slot()] : static_cast<double>(node.count);
    return {weight, mean(v, room), node.ssd};
  }
  /// Room for two means, for callers that may change the tree.
  Real* room(std::size_t which) { return rooms_[which].data(); }
  /// How many means take up memory.
  std::size_t kept_means() const { return nodes_.kept_means(); }
  /// Public id of an inner node: kept while the node keeps most of its points.
  std::uint64_t id(Slot slot) const { return inner(slot).id; }

  /// Has anybody marked a node?
  bool marked() const { return marks_.size() > 0; }
  Mark mark(NodeId v) const {
    return !marked() || v == kNone || v.is_leaf() ? Mark::kPlain : marks_[v.slot()];
  }

  /// Of an inner node that is not stale.
  const Heights& heights(NodeId v) const { return heights_[v.slot()]; }
  /// From now on heights of merges are what set_height() says, and not linkages.
  void give_heights() { gives_heights_ = true; }
  double given_height(Slot slot) const { return given_[slot]; }
  /// Slots that are in use. O(n).
  std::vector<Slot> used_slots() const {
    std::vector<Slot> out;
    for_each_slot([&](Slot slot) { out.push_back(slot); });
    return out;
  }
  /// The height of a slot that is in use, which is stale.
  void set_height(Slot slot, double height) { given_[slot] = height; }
  bool is_stale() const { return root_ != kNone && !root_.is_leaf() && inner(root_.slot()).stale; }

  /// Start loading what summary(v) will read. Worth it for cold nodes.
  void prefetch(NodeId v) const {
    if (v.is_leaf())
      __builtin_prefetch(points_.row(v.row()));
    else
      __builtin_prefetch(&inner(v.slot()));
  }

  /// Start loading what parent(leaf) will read.
  void prefetch_parent(NodeId leaf) const { __builtin_prefetch(&leaf_parent_[leaf.row()]); }

  PublicId public_id(NodeId v) const {
    return v.is_leaf() ? -1 - static_cast<PublicId>(points_.arrival(v.row()))
                       : static_cast<PublicId>(id(v.slot()));
  }

  // --- recording -------------------------------------------------------------
  /// Write down from now on, or no more, what happens to inner nodes, none of which may be stale.
  /// To a caller that begins to listen with `all`, all of them are new.
  void record(bool on, bool all);
  bool records() const { return notes_.records(); }
  /// What has happened to inner nodes since this was last asked for, none of which may be
  /// stale now. If this throws, it can be asked for again.
  Change take_change();
  /// Which inner nodes get other children, or a leaf that stands for something else.
  void watch(bool on) { notes_.watch(on); }
  bool take_rewired(std::vector<Slot>& out) { return notes_.take_rewired(out); }

  // --- growing ---------------------------------------------------------------
  void make_room(std::size_t points);
  /// Store a row as a leaf that is not yet attached.
  NodeId add_leaf(const Real* row);
  /// The memory that weigh() needs; it cannot fail then.
  void make_room_to_weigh();
  Standing standing(NodeId leaf) const {
    return {points_.weight(leaf.row()), points_.ssd(leaf.row())};
  }
  /// Say what a leaf stands for. What is above it is the caller's affair.
  void weigh(NodeId leaf, Standing standing) {
    const NodeId above = parent(leaf);
    if (leaf == root_ || above != kNone) ++changes_;
    if (above != kNone) notes_.rewire(above.slot());
    points_.weigh(leaf.row(), standing);
  }
  /// The row of a leaf that is not yet attached, to be changed.
  Real* own_row(NodeId leaf) { return points_.row(leaf.row()); }
  /// Forget the last row, which must not be attached; its number stays used. There is room
  /// to erase.
  void skip_last() {
    truncate(points_.slots() - 1);
    points_.skip_number();
  }
  /// The next leaf has this number, if it is not given away yet. There is room to erase.
  void skip_to(Arrival number) { points_.skip_to(number); }
  /// Forget rows from `slots` on; they must not be attached.
  void truncate(std::size_t slots);
  /// Forget all inner nodes; leaves stay, unattached.
  void clear_inner();
  Slot new_slot(std::uint64_t id);
  std::uint64_t new_id() { return next_id_++; }
  void set_id(Slot slot, std::uint64_t id) {
    touch(slot);
    inner(slot).id = id;
  }
  /// The memory that set_mark() needs; it cannot fail then.
  void make_room_to_mark();
  void set_mark(NodeId v, Mark mark) { marks_[v.slot()] = mark; }
  void set_root(NodeId v);
  /// Make `slot` the parent of two trees and compute its summary. O(dim).
  NodeId join(NodeId left, NodeId right, Slot slot);
  /// The same, but its summary is stale, and so for all above it, which is the caller's affair.
  NodeId join_for_later(NodeId left, NodeId right, Slot slot);
  /// Put a new inner node over `at` and the unattached leaf, in `at`'s place.
  /// Ancestors are the caller's affair.
  NodeId attach(NodeId leaf, NodeId at);
  /// v's summary no longer holds, and so for all above it.
  void mark_stale(NodeId v);
  /// Have the summary of v, and of what it is made of, right. The tree is what it was.
  /// O(dim) a stale node.
  void freshen(NodeId v) {
    if (!v.is_leaf() && inner(v.slot()).stale == kAllStale) freshen_below(v.slot());
  }
  /// Make fresh what is stale: summaries, and heights under this metric and linkage.
  /// O(dim) a stale node. All or nothing, if memory runs out.
  void refresh(Metric metric, Linkage linkage);

  // --- shrinking -------------------------------------------------------------
  /// The memory that detach(), erase_row() and compact() need; they cannot fail then.
  void make_room_to_erase(std::size_t slots = 1);
  /// Take a leaf and its parent out of the tree; its sibling, which is returned,
  /// fills the place. Ancestors are the caller's affair. kNone: it was the last one.
  NodeId detach(NodeId leaf);
  void erase_row(RowSlot slot) {
    points_.erase(slot);
    for (std::vector<Real>& room : rooms_) std::fill(room.begin(), room.end(), Real{0});
  }
  /// One leaf less below v and all above it, with nothing else changed. O(depth).
  void lose_leaf(NodeId v);
  /// Close the holes that erased rows have left. Calls moved(new_slot) with where each
  /// slot goes before it does so; must not throw. O(n dim).
  template <class Moved>
  void compact(Moved&& moved) {
    if (points_.holes() == 0) return;
    number_rows();
    moved(std::span<const RowSlot>(new_slot_.data(), new_slot_.size()));
    close_holes();
  }
  // Rearranging: what the four below leave undone, summaries, is the caller's affair.
  /// Exchange the places of two subtrees, neither of them inside the other.
  void swap(NodeId a, NodeId b);
  /// Take v from its place, which its sibling fills, and join it with `beside` in
  /// the latter's place, under the slot and id of v's old parent. `beside` may
  /// not be inside v, nor be v's parent or sibling.
  NodeId move(NodeId v, NodeId beside);
  /// One leaf more below v, later than all others.
  void grow(NodeId v) {
    Inner& node = inner(v.slot());
    ++changes_;
    ++node.count;
    node.stale = kAllStale;
  }
  /// Number of leaves, weight and first leaf of an inner node, from its children's; its summary
  /// is stale, and so for all above it, which is the caller's affair.
  void recount(NodeId v);
  /// Add a leaf to the summary of an inner node, given |x - mean|^2. O(dim).
  void absorb(NodeId v, NodeId leaf, double gap);
  /// A leaf has been absorbed by all nodes above v: their weights are again, to the bit, the sums
  /// of their children's, as in a tree that is read from a file. O(depth), if there are weights.
  void add_up_weights(NodeId v);
  /// A tree hangs nowhere from now on; its parent is the caller's affair.
  void cut_off(NodeId v) {
    if (root_ == v) root_ = kNone;
    set_parent(v, kNone);
  }
  /// Put a tree in the place of a child.
  void replace_child(NodeId parent, NodeId old_child, NodeId new_child);
  /// Compute the summary of a slot from its children's; its heights are stale. O(dim).
  void summarise(Slot slot);
  /// Free the slot of a node that is no longer linked; there is room to erase.
  void free_slot(Slot slot);

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
    InnerNodes<Real> nodes_;
    BigVector<double> weights_;
    std::vector<Slot> free_;
    std::uint64_t next_id_;
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
    std::span<const std::uint64_t> ids;
    std::uint64_t next_id = 0;
    std::span<const Real> mean;
    std::span<const double> ssd;
    std::span<const Arrival> arrivals;  // by row; empty: 0, 1, 2, ...
    Arrival next_arrival = 0;
    std::span<const double> standings;  // weight and ssd of each row; empty: points
  };
  // The arrays are of the slots in use, by id: which slot a node got, on which way, is not seen in
  // a file. numbering() is the place of each slot in them.
  std::vector<Slot> stored_slots() const;
  std::vector<Slot> numbering() const;
  std::vector<std::uint32_t> link_array() const;
  std::vector<std::uint64_t> ids() const;
  std::vector<double> ssds() const;
  /// Marked nodes, ascending: twice their place, and one more if they are linked.
  std::vector<std::uint32_t> mark_array() const;
  /// The inverse, for a tree from arrays; throws std::invalid_argument.
  void restore_marks(std::span<const std::uint32_t> marks);
  std::uint64_t next_id() const { return next_id_; }
  /// Given heights, of the stored slots; and the inverse, for a tree from arrays.
  std::vector<double> given_heights() const;
  void restore_heights(std::span<const double> heights);
  std::vector<Real> means() const;
  /// A tree from its arrays; throws std::invalid_argument when they do not make
  /// one, so that a damaged file cannot become a damaged tree. O(n dim).
  static Tree from_arrays(std::size_t dim, const Arrays& arrays);

 private:
  template <class Use>
  void for_each_slot(Use&& use) const {
    for (std::size_t slot = 0; slot < slots(); ++slot)
      if (!is_free(static_cast<Slot>(slot))) use(static_cast<Slot>(slot));
  }
  /// Something is about to happen to a node.
  void touch(Slot slot, bool used = true) noexcept {
    if (notes_.records()) notes_.touch(used ? as_it_is(slot) : NodeNotes::Touched{slot, false});
  }
  NodeNotes::Touched as_it_is(Slot slot) const noexcept;
  std::vector<Change::Earlier> earlier(std::span<const NodeNotes::Touched> touched) const;
  void touch_all() noexcept;
  void freshen_below(Slot slot);
  void compute_summary(Slot slot);
  void count_up(Slot slot);
  std::vector<Slot> stale_top_down() const;
  void number_rows();
  void close_holes();
  void check_stale() const;
  void set_parent(NodeId v, NodeId parent);
  void check_links() const;
  void check_summaries() const;
  void check_ids() const;
  void check_marks() const;

  Inner& inner(std::size_t slot) { return nodes_[slot]; }
  const Inner& inner(std::size_t slot) const { return nodes_[slot]; }
  const Real* mean_of_two(Slot slot, Real* room) const;

  RowStore<Real> points_;
  BigVector<NodeId> leaf_parent_;  // by point
  InnerNodes<Real> nodes_;
  std::vector<Real> rooms_[2];
  BigVector<double> weights_;  // by slot, once a row has a weight
  BigVector<Mark> marks_;      // by slot, once a node has one
  std::vector<Slot> free_;
  bool gives_heights_ = false;
  BigVector<double> given_;        // by slot, if they are given
  BigVector<Heights> heights_;     // by slot, once a reader has come
  std::vector<RowSlot> new_slot_;  // of the compaction at hand
  NodeNotes notes_;
  std::uint64_t next_id_ = 0;
  std::uint64_t changes_ = 0;
  NodeId root_;
};

}  // namespace ramify
