// SPDX-License-Identifier: BSD-3-Clause
// neighbours.hpp: the nearest leaf.
//
// The neighbours of a point depend on the points alone, never on the tree over
// them, so the index lives beside the tree (docs/decisions/0004). Every index but the cells
// gives the answer of a plain scan to the bit: same distances, ties to the earliest arrival.
// Cells leave out a few (cell_rows.hpp).
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "index/cell_plan.hpp"
#include "index/short_vectors.hpp"
#include "math/linkage.hpp"
#include "math/order.hpp"
#include "pulse.hpp"
#include "tree/row_store.hpp"

namespace ramify {

/// What one search at a time needs; each thread has its own.
using SearchScratch = ShortScratch;

/// The seam behind which indexes differ. Readers are
/// const, and may come from several threads.
template <class Real>
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  /// All living rows in slots below this one are in the index.
  virtual std::size_t end() const = 0;
  /// Add the row at end(), if it is living.
  virtual void add(const RowStore<Real>& points) = 0;
  /// The memory that remove() and renumber() need; they cannot fail then.
  virtual void make_room_to_remove() = 0;
  /// Take out a row in a slot below end(), which still has its values.
  virtual void remove(const RowStore<Real>& points, RowSlot row) = 0;
  /// Take in again a row that was taken out, with other values.
  virtual void put_back(const RowStore<Real>& points, RowSlot row) = 0;
  /// Rows have other slots now, `living` of them, and no holes (RowStore::compact).
  virtual void renumber(std::span<const RowSlot> new_slot, std::size_t living) = 0;
  /// Have searches ask for no memory.
  virtual void make_room_to_search(SearchScratch& scratch) const = 0;
  /// The k nearest rows of x in slots below `end`, or all if they are fewer, nearest
  /// first. Distances are squared Euclidean, or minus inner products.
  virtual void nearest(const RowStore<Real>& points, const Real* x, std::size_t k, std::size_t end,
                       SearchScratch& scratch, std::vector<Neighbour>& out) const = 0;
  /// The same for `count` rows, one after the other at `rows`. Many at once may be less work.
  virtual void nearest_to_each(const RowStore<Real>& points, const Real* rows, std::size_t count,
                               std::size_t k, std::size_t end, SearchScratch& scratch,
                               std::vector<std::vector<Neighbour>>& out) const {
    out.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      nearest(points, rows + i * points.dim(), k, end, scratch, out[i]);
  }
  /// The nearest of the rows below `end` whose entry in `ruled_out` is 0. False if
  /// there is none. Asks for no memory, if there is room to search: it is called in
  /// the middle of changes that must not fail.
  virtual bool nearest_allowed(const RowStore<Real>& points, const Real* x, std::size_t end,
                               const std::uint8_t* ruled_out, SearchScratch& scratch,
                               Neighbour& out) const noexcept = 0;

  /// Rows from the one with this number on are about to come, in slots from `end` on, and
  /// nobody leaves until they are there. An index whose answers depend on how it was made
  /// changes here alone. Returns how many rows may come before this has to be called again.
  /// If it throws, the index is good for nothing but destruction.
  virtual std::size_t expect(const RowStore<Real>& /*points*/, std::size_t /*end*/,
                             Arrival /*number*/, const Pulse& /*pulse*/) {
    return std::numeric_limits<std::size_t>::max();
  }

  // --- whole batches: a point's neighbours are among the points before it ---------
  /// Is taking in so many points at once, to look them up afterwards, less work
  /// than one after the other?
  virtual bool gains_by_loading(std::size_t count) const = 0;
  /// Do points from the future, which are in the index, make lookups slower?
  virtual bool minds_the_future() const = 0;
  /// Take in all living rows below `end` at once. Nothing may have been begun by the helpers. If
  /// `pulse` throws, the index is good for nothing but destruction.
  virtual void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
                    const Pulse& pulse) = 0;
  /// The rows from slot `begin` on that are in the index, in an order in which
  /// neighbours follow each other: lookups in that order are quicker.
  virtual BigVector<RowSlot> by_place(std::size_t begin) const = 0;
  /// Or is there no better order than that of arrival?
  virtual bool has_places() const = 0;
  /// For each query, which is in the index: the k nearest of the rows that came before
  /// it, or all if they are fewer, nearest first, at out[q * k].
  virtual void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries,
                              std::size_t k, RowSlot* out, const Pulse& pulse) const = 0;
};

/// Named by whoever compares them; a stream gets what suits its dimension and metric.
enum class IndexKind {
  kByDimension,
  kScan,
  kProducts,
  kShort,
  kShortByTree,
  kShortByScan,
  kBuckets,
  kMeasured
};

/// By dimension: a bucket k-d tree for few columns; short vectors from kLanes on, which decide
/// by themselves how they are searched unless they are told; in between what was measured to
/// be less work; byte codes for inner products of long rows. Buckets, and what is measured, are for
/// less than kLanes dimensions only, short vectors for squared distances only.
template <class Real>
std::unique_ptr<Neighbours<Real>> make_neighbours(std::size_t dim, Metric metric,
                                                  IndexKind kind = IndexKind::kByDimension);

/// Near neighbours under squared distances, by these plans, which the index changes.
template <class Real>
std::unique_ptr<Neighbours<Real>> make_cells(CellPlans<Real>& plans);

}  // namespace ramify
