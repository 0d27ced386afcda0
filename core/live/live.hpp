// SPDX-License-Identifier: BSD-3-Clause
// live.hpp: a stream's tree, its index of neighbours and the algorithm that
// grows it, as one object.
//
// Whatever happens, a Live holds a valid tree over exactly the rows inserted so
// far. An insert is computed first, then asks for all the memory it needs, and is
// made real afterwards, which cannot fail. Where neighbours come from
// (neighbour_source.hpp) is not worth that care.
//
// Its parts know nothing of each other; it says to each what has happened. Its own work is in
// stream.cpp (rows come), batches.cpp (many at once), leaving.cpp (points leave), reshaping.cpp,
// edits.cpp, and live.cpp (stored trees, reading).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/path_prefetch.hpp"
#include "algorithms/polish.hpp"
#include "algorithms/refine.hpp"
#include "index/row_hash.hpp"
#include "live/batch.hpp"
#include "live/change_log.hpp"
#include "live/leaf_budget.hpp"
#include "live/live_cuts.hpp"
#include "live/neighbour_source.hpp"
#include "live/node_finder.hpp"
#include "live/options.hpp"
#include "pulse.hpp"
#include "tree/members.hpp"
#include "tree/outline.hpp"
#include "tree/snapshot.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// What a reader of a tree needs beside its summaries and heights.
struct Needs {
  bool index = false;                         // to search for neighbours
  bool no_holes = false;                      // rows are in order of arrival then
  std::optional<CutRule> cut = std::nullopt;  // the clusters of this cut, and of no other
};

template <class Real>
class Live {
 public:
  /// What one reader keeps to itself.
  struct Reading {
    SearchScratch search;
    std::vector<Real> queries;
  };

  /// With the neighbours that the options name.
  Live(std::size_t dim, const Options& options);
  /// With neighbours from elsewhere.
  Live(std::size_t dim, const Options& options, NeighbourSource<Real> source);
  /// Continue a stored tree. Throws std::invalid_argument if it is damaged.
  Live(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
       const Memory& memory, std::vector<Members::Member> members = {});

  const Options& options() const { return options_; }
  /// Number of leaves.
  std::size_t size() const { return tree_.attached(); }
  /// Number of points, of which a leaf may stand for several.
  std::size_t n_points() const { return options_.tracks_members() ? members_.size() : size(); }
  /// May a leaf be of several points?
  bool leaves_are_many() const { return options_.leaves_are_many(); }
  /// Which of them are in which leaf, if that is not as plain as can be.
  const Members* members() const { return options_.tracks_members() ? &members_ : nullptr; }
  /// Grows with every change of the tree.
  std::uint64_t version() const { return version_; }
  const RowStore<Real>& points() const { return tree_.points(); }
  /// The tree as it is, stale or not.
  const Tree<Real>& frozen() const { return tree_; }

  /// Insert rows in order; they must be finite, not zero under cosine, and without
  /// negative numbers if there is a certificate. Throws std::invalid_argument at one
  /// that is not, with those before it inserted or some of them. Weights must be finite
  /// and positive.
  /// Before row before[i] comes, point leaving[i] is erased, if it is there; `before`
  /// is ascending.
  /// Returns how many were inserted before the pulse, if any, said stop. Helpers
  /// make it quicker and change nothing else. The pulse rests between two inserts now
  /// and then: readers may come in then.
  std::size_t insert_many(const Batch<Real>& batch, const Pulse& pulse, Helpers& helpers);
  std::size_t insert_many(const Batch<Real>& batch, const Pulse& pulse) {
    Alone alone;
    return insert_many(batch, pulse, alone);
  }

  /// Insert such rows as if each one's nearest points were these: `k` for each row, of
  /// which kNobody are none. A row must have at least one that is in the tree when it
  /// comes, unless it is the first. Throws std::invalid_argument at one that has not, and
  /// under algorithms that ask for no neighbours, with those before it inserted.
  /// With `numbers`, one for each row, these are the rows' arrival numbers: ascending, and
  /// none given away before. The others are skipped, as when points of a stream are kept in
  /// several trees.
  static constexpr Arrival kNobody = ~Arrival{0};
  void insert_beside(const Batch<Real>& batch, std::span<const Arrival> nearest, std::size_t k,
                     std::span<const Arrival> numbers = {});

  /// How much each point counts, in order of arrival.
  std::vector<double> weights() const;
  /// Begin with these rows, merged as offline HAC does. Only an empty tree that takes
  /// other shapes. How many were inserted: none, if the pulse said stop.
  std::size_t begin_with_hac(const Batch<Real>& batch, const Pulse& pulse, Helpers& helpers);
  /// Begin with these rows in a tree of this shape (dendrogram.hpp). Only an empty tree that
  /// takes other shapes. If this throws, it is still empty.
  void adopt(const Batch<Real>& batch, std::span<const std::int64_t> children);
  /// Merge the top of the tree anew (polish.hpp): with m subtrees, or in a few rounds that
  /// suit the tree's size, few subtrees first. If this throws, or the pulse says stop,
  /// rounds that are done stay.
  std::vector<PolishRound> polish(std::optional<std::size_t> m, const Pulse& pulse);
  /// Local search by interchanges (refine.hpp).
  Refinement refine(std::size_t sweeps, double slack, const Pulse& pulse);

  /// The slot of the leaf that a point is in; false if there is no such point. O(log n).
  bool find(Arrival number, RowSlot& row) const;
  /// Rows in slots below are in the tree, or holes; others are yet to be inserted.
  std::size_t end() const { return end_; }

  /// Take a point out again. Throws std::invalid_argument under an algorithm that cannot;
  /// false if there is no such point. Memory of what came and went is used again.
  bool erase(Arrival number);
  /// Erase many; an algorithm that makes its tree anew does so once. How many there were.
  std::size_t erase_many(std::span<const Arrival> numbers);
  /// Throw std::invalid_argument if one of them is in a leaf with others, and cannot leave it.
  void check_erase(std::span<const Arrival> numbers) const;
  /// Give a leaf another weight. False if there is no such leaf; std::invalid_argument if
  /// the algorithm has no weights.
  bool weigh(Arrival number, double weight);

  // --- edits: what people say about the tree (algorithms/edits.hpp) -----------------------
  // All throw std::invalid_argument if it makes no sense, or the algorithm would not keep to
  // it, and std::out_of_range if there is no such point or node. The first node that is
  // wanted by its id, and one that is not where it was then, take O(n) to be found.
  void link(Arrival one, Arrival other);
  /// The points that are linked with this one are points like others again.
  void unlink(Arrival number);
  void move(PublicId node, PublicId under);
  /// Throw what link and move would throw, and change nothing.
  void check_link(Arrival one, Arrival other) const;
  void check_move(PublicId node, PublicId under);
  void release(PublicId node);
  /// Ids of the held nodes. O(n).
  std::vector<PublicId> held() const;
  /// The earliest leaf that a point is linked with: its own, if it is linked with none.
  /// O(log n), and the depth of the linked node.
  Arrival whole(Arrival number);
  /// All points that are in one leaf with it, or in one that its leaf is linked with.
  /// O(how many), and O(n) where leaves are of several points.
  std::vector<Arrival> together(Arrival number) const;
  /// Is there a node with this id; and is it held?
  bool has_node(PublicId id);
  bool is_held(PublicId id);

  /// Keep to another budget from the next row on; there was one.
  void set_max_leaves(std::size_t most);

  /// Write down from now on, or no more, what happens to the tree. With `all`, the first change
  /// tells all that is there.
  void record(bool on, bool all);
  /// What has become of the tree since this was last asked for; a change to the tree is a
  /// version, and only the net effect is told. O(what changed). If this throws, it can be
  /// asked for again.
  Change take_change();

  // --- reading: by several threads at once, after have_ready() and before any change ----
  /// Have ready what readers need; if it is ready, nothing is written.
  void have_ready(const Needs& needs);
  bool is_ready(const Needs& needs) const;
  /// The k nearest points of each of `count` rows, which are scaled under cosine like any
  /// others. Distances are squared Euclidean, 1 - cosine, or minus inner products.
  void nearest(const Real* rows, std::size_t count, std::size_t k, Reading& reading,
               std::vector<Neighbour>& out) const;
  /// The clusters of the cut that is ready.
  const Frontier<Real>& frontier() const { return cuts_.last(); }
  /// The tree opened into m nodes and below, for a tree above it (tree/outline.hpp).
  Outline<Real> outline(std::size_t m, const CutRule& rule) const {
    return Outline<Real>(tree_, m, rule);
  }

  /// Share of the rows so far that were told their nearest neighbour: measured, or 1 if
  /// neighbours are exact.
  double recall() const { return source_.recall(arrivals()); }

  /// What is guaranteed for this stream, if the options ask for it.
  const Certificate* certificate() const { return algorithm_->certificate(); }

  /// Make a tree of groups anew from groups within groups (group_tree.hpp).
  void regroup(std::span<const std::uint32_t> group_of, std::span<const std::uint32_t> above);

  /// The tree, with all summaries up to date and no holes among the rows.
  const Tree<Real>& tree();
  Memory memory() const;
  FlatTree flat();
  /// Throws std::logic_error naming a broken invariant.
  void check();

 private:
  struct Unattached;
  class Leaving;
  void cut(const CutRule& rule);
  bool is_counted(RowSlot row) const { return options_.count_repeats && points().ssd(row) == 0; }
  Arrival arrivals() const;
  void refresh() { tree_.refresh(options_.rule.metric, options_.rule.linkage); }
  void restore_members(std::vector<Members::Member> members);

  // --- stream.cpp ---
  void make_room(const Batch<Real>& batch);
  NodeId take_row(const Batch<Real>& batch, std::size_t i);
  void take_rows(const Batch<Real>& batch);
  std::size_t insert_each(const Batch<Real>& batch, const Pulse& pulse);
  std::size_t insert_looked_up(const Batch<Real>& batch, const Pulse& pulse, Helpers& helpers);
  bool gains_by_looking_ahead(const Batch<Real>& batch);
  bool insert(const Batch<Real>& batch, std::size_t i, const Pulse& pulse);
  bool insert_with_index(NodeId leaf, const Pulse& pulse);
  bool joins(NodeId leaf);
  bool still_there(std::size_t k) const;
  void find_neighbours(NodeId leaf);
  bool hang_up(NodeId leaf, const Pulse& pulse);
  void attached(NodeId leaf);

  // --- batches.cpp ---
  std::size_t rebuild_with(const Batch<Real>& batch, const Pulse& pulse, Helpers& helpers);
  std::size_t change_in_steps(const Batch<Real>& batch, const Pulse& pulse, Helpers& helpers);
  bool change(const Batch<Real>& batch, std::span<const Arrival> leaving, const Pulse& pulse,
              Helpers& helpers);

  // --- leaving.cpp ---
  bool leave(Arrival number);
  bool take_out(Arrival number);
  void gone(RowSlot row) noexcept;
  void wipe() noexcept;
  void keep_to_budget();
  void merge_closest_leaves();
  void close_holes_if_many();
  void close_holes();
  void compact();

  // --- reshaping.cpp ---
  void require_any_shape() const;
  void require_empty() const;
  PolishRound polish_top(std::size_t m, const Pulse& pulse);
  void polish_if_due(Arrival number) noexcept;

  // --- edits.cpp ---
  NodeId leaf_of(Arrival number) const;
  NodeId node_of(PublicId id);
  bool find_node(PublicId id, NodeId& node);
  void require_marks() const;
  void make_room_to_edit();

  Options options_;
  Tree<Real> tree_;
  std::unique_ptr<Algorithm<Real>> algorithm_;
  NeighbourSource<Real> source_;
  RowHash<Real> repeats_;  // of all rows, if repeats are counted
  std::size_t end_ = 0;    // rows in slots below are in the tree, or holes
  std::uint64_t version_ = 0;
  ChangeLog changes_;
  Members members_;          // if leaves may stand for several points
  LeafBudget<Real> budget_;  // once there are as many leaves as there may be
  NodeFinder<Real> finder_;
  LiveCuts<Real> cuts_;
  std::vector<Real> mean_;
  PathPrefetch prefetch_;
  SearchScratch search_;
  std::vector<Neighbour> found_;
};

/// Rows that did not get into the tree are forgotten, however their insert ended.
template <class Real>
struct Live<Real>::Unattached {
  Live& live;
  ~Unattached() {
    live.tree_.truncate(live.end_);
    live.source_.take_back(live.points().next_arrival());
  }
};

}  // namespace ramify
