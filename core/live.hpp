// SPDX-License-Identifier: BSD-3-Clause
// live.hpp: a stream's tree, its index of neighbours and the algorithm that
// grows it, as one object.
//
// Whatever happens, a Live holds a valid tree over exactly the rows inserted so
// far. An insert is computed first, then asks for all the memory it needs, and is
// made real afterwards, which cannot fail. The index is not worth that care: one
// that failed is thrown away, and made again from the points when it is needed.
//
// The caller's rows are only read once, and looked at after they have been copied:
// another thread may write to them at any time.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/certificate.hpp"
#include "algorithms/grinch.hpp"
#include "algorithms/ohac.hpp"
#include "algorithms/path_prefetch.hpp"
#include "algorithms/perch.hpp"
#include "index/lookahead.hpp"
#include "index/neighbours.hpp"
#include "math/linkage.hpp"
#include "pulse.hpp"
#include "tree/frontier.hpp"
#include "tree/snapshot.hpp"
#include "tree/tree.hpp"

namespace ramify {

enum class Algorithm {
  kOtd,       // Algorithm 1
  kOhac,      // Algorithm 2
  kNaiveHac,  // Naive_1: offline HAC of everything, at the end of every batch
  kNaiveNn,   // Naive_2: sibling of the nearest leaf
  kPerch,     // perch.hpp
  kGrinch,    // grinch.hpp
  kGroups,    // the caller says which points belong together: regroup()
};

struct Options {
  Algorithm algorithm = Algorithm::kOhac;
  Metric metric = Metric::kSqeuclidean;
  Linkage linkage = Linkage::kAverage;
  std::size_t n_neighbors = 1;
  bool certify = false;  // OTD under dot or cosine: keep a certificate
  PerchOptions perch = {};
  GrinchOptions grinch = {};
};

/// What an algorithm remembers beside the tree, flat, for storage.
struct Memory {
  std::vector<std::uint32_t> marks;
  std::vector<double> numbers;
};

template <class Real>
class Live {
 public:
  /// What one reader keeps to itself.
  struct Reading {
    SearchScratch search;
    std::vector<Real> query;
  };

  Live(std::size_t dim, const Options& options);
  /// Continue a stored tree. Throws std::invalid_argument if it is damaged.
  Live(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
       const Memory& memory);

  const Options& options() const { return options_; }
  std::size_t size() const { return tree_.attached(); }
  /// Grows with every change of the tree.
  std::uint64_t version() const { return version_; }
  const RowStore<Real>& points() const { return tree_.points(); }
  /// The tree as it is, stale or not.
  const Tree<Real>& frozen() const { return tree_; }

  /// Insert rows in order; they must be finite, not zero under cosine, and without
  /// negative numbers if there is a certificate. Throws std::invalid_argument at one
  /// that is not, with those before it inserted or some of them.
  /// Returns how many were inserted before the pulse, if any, said stop. Helpers
  /// make it quicker and change nothing else. The pulse rests between two inserts now
  /// and then: readers may come in then.
  std::size_t insert_many(const Real* rows, std::size_t count, const Pulse& pulse,
                          Helpers& helpers);
  std::size_t insert_many(const Real* rows, std::size_t count, const Pulse& pulse) {
    Alone alone;
    return insert_many(rows, count, pulse, alone);
  }

  /// Under kOhac: insert one such row as if its nearest points were these. There must
  /// be none in an empty tree, and at least one of the points so far in any other.
  void insert_beside(const Real* row, std::span<const RowSlot> nearest);

  /// The slot of a point in the tree; false if there is none. O(log n).
  bool find(Arrival number, RowSlot& row) const;
  /// Rows in slots below are in the tree, or holes; others are yet to be inserted.
  std::size_t end() const { return end_; }

  /// Take a point out again, under OHAC, OTD, NaiveNn and PERCH. Throws
  /// std::invalid_argument under others; false if there is no such point. Memory of
  /// what came and went is used again.
  bool erase(Arrival number);

  /// Write down every change from now on, or no more. A batch is a change a point;
  /// HAC, and groups, are made anew as a whole.
  void record(bool on);
  /// The changes since this was last asked for.
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }

  // --- reading: by several threads at once, after have_ready() and before any change ----
  /// Have everything ready that readers need: the index, summaries, heights.
  void have_ready();
  /// The k nearest points of x, which is scaled under cosine like any other row.
  /// Distances are squared Euclidean, 1 - cosine, or minus inner products.
  void nearest(const Real* x, std::size_t k, Reading& reading, std::vector<Neighbour>& out) const;
  /// The clusters of a cut, kept until the tree changes. Not by several threads at once.
  const Frontier<Real>& frontier(const CutRule& rule);

  /// What is guaranteed for this stream, if the options ask for it.
  const std::optional<Certificate>& certificate() const { return certificate_; }

  /// Under kGroups: make the tree anew from groups within groups (group_tree.hpp).
  /// Points that arrive later hang from the root until the next time.
  void regroup(std::span<const std::uint32_t> group_of, std::span<const std::uint32_t> above);

  /// The tree, with all summaries up to date and no holes among the rows.
  const Tree<Real>& tree();
  Memory memory() const;
  FlatTree flat();
  /// Throws std::logic_error naming a broken invariant.
  void check();

 private:
  struct Unattached;
  bool insert(const Real* row, const Pulse& pulse);
  bool insert_with_index(NodeId leaf, const Pulse& pulse);
  void hang_beside(NodeId leaf, NodeId at);
  void attached(NodeId leaf);
  void changed(std::optional<Arrival> inserted, std::optional<Arrival> erased);
  bool hang_up(NodeId leaf, const Pulse& pulse);
  bool gains_by_looking_ahead(std::size_t count);
  std::size_t insert_looked_up(const Real* rows, std::size_t count, const Pulse& pulse,
                               Helpers& helpers);
  NodeId take_row(const Real* row);
  void prepare(Real* row) const;
  Neighbours<Real>& index();
  void index_all_points();
  void erase_leaf(NodeId leaf);
  void compact();
  void close_holes();
  std::size_t rebuild_with(const Real* rows, std::size_t count, const Pulse& pulse);

  Options options_;
  Tree<Real> tree_;
  std::unique_ptr<Neighbours<Real>> neighbours_;  // none until it is needed
  Ohac<Real> ohac_;
  std::optional<Certificate> certificate_;
  Perch<Real> perch_;
  Grinch<Real> grinch_;
  std::size_t end_ = 0;  // rows in slots below are in the tree, or holes
  std::uint64_t version_ = 0;
  std::vector<Change> changes_;
  PathPrefetch prefetch_;
  SearchScratch search_;
  std::vector<Neighbour> found_;
  std::optional<Frontier<Real>> frontier_;
  CutRule frontier_rule_;
  std::uint64_t frontier_version_ = 0;
};

}  // namespace ramify
