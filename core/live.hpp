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
#include <vector>

#include "algorithms/certificate.hpp"
#include "algorithms/grinch.hpp"
#include "math/linkage.hpp"
#include "index/lookahead.hpp"
#include "index/neighbours.hpp"
#include "algorithms/ohac.hpp"
#include "algorithms/perch.hpp"
#include "pulse.hpp"
#include "algorithms/path_prefetch.hpp"
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

/// A tree frozen in its canonical numbering (docs/decisions): leaves 0..n-1 are
/// arrival indices, inner nodes follow in order of (monotone height, size, first
/// leaf), children 2i and 2i+1 of inner node n+i with the earlier first leaf
/// first. Two equal hierarchies have equal arrays.
struct Snapshot {
  std::vector<std::int64_t> children;
  std::vector<double> heights;
  std::vector<std::int64_t> names;
  std::vector<NodeId> nodes;  // all 2n-1, by number
};

template <class Real>
class Live {
 public:
  Live(std::size_t dim, const Options& options);
  /// Continue a stored tree. Throws std::invalid_argument if it is damaged.
  Live(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
       const Memory& memory);

  const Options& options() const { return options_; }
  std::size_t size() const { return tree_.attached(); }
  const Points<Real>& points() const { return tree_.points(); }

  /// Insert rows in order; they must be finite, not zero under cosine, and without
  /// negative numbers if there is a certificate. Throws std::invalid_argument at one
  /// that is not, with those before it inserted or some of them.
  /// Returns how many were inserted before the pulse, if any, said stop. Helpers
  /// make it quicker and change nothing else.
  std::size_t insert_many(const Real* rows, std::size_t count, const Pulse& pulse,
                          Helpers& helpers);
  std::size_t insert_many(const Real* rows, std::size_t count, const Pulse& pulse) {
    Alone alone;
    return insert_many(rows, count, pulse, alone);
  }

  /// Under kOhac: insert one such row as if its nearest points were these. There must
  /// be none in an empty tree, and at least one of the points so far in any other.
  void insert_beside(const Real* row, std::span<const PointId> nearest);

  /// The k nearest points of x, which is scaled under cosine like any other row.
  /// Distances are squared Euclidean, 1 - cosine, or minus inner products.
  void nearest(const Real* x, std::size_t k, std::vector<Neighbour>& out);

  /// What is guaranteed for this stream, if the options ask for it.
  const std::optional<Certificate>& certificate() const { return certificate_; }

  /// Under kGroups: make the tree anew from groups within groups (group_tree.hpp).
  /// Points that arrive later hang from the root until the next time.
  void regroup(std::span<const std::uint32_t> group_of, std::span<const std::uint32_t> above);

  /// The tree, with all summaries up to date.
  const Tree<Real>& tree();
  Memory memory() const;
  Snapshot snapshot();
  /// Throws std::logic_error naming a broken invariant.
  void check();

 private:
  bool insert(const Real* row, const Pulse& pulse);
  bool insert_with_index(NodeId leaf, const Pulse& pulse);
  bool hang_up(NodeId leaf, const Pulse& pulse);
  bool gains_by_looking_ahead(std::size_t count);
  std::size_t insert_looked_up(const Real* rows, std::size_t count, const Pulse& pulse,
                               Helpers& helpers);
  NodeId take_row(const Real* row);
  void prepare(Real* row) const;
  Neighbours<Real>& index();
  void index_all_points();
  std::size_t rebuild_with(const Real* rows, std::size_t count, const Pulse& pulse);

  Options options_;
  Tree<Real> tree_;
  std::unique_ptr<Neighbours<Real>> neighbours_;  // none until it is needed
  Ohac<Real> ohac_;
  std::optional<Certificate> certificate_;
  Perch<Real> perch_;
  Grinch<Real> grinch_;
  bool stale_ = false;  // some algorithms leave summaries for later: their paths can be long
  PathPrefetch prefetch_;
  std::vector<Neighbour> found_;
  std::vector<Real> query_;
};

}  // namespace ramify
