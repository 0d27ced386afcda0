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
#include "index/nearest.hpp"
#include "index/short_vectors.hpp"
#include "math/linkage.hpp"
#include "math/order.hpp"
#include "pulse.hpp"
#include "tree/row_store.hpp"

namespace ramify {

/// What one search at a time needs; each thread has its own.
using SearchScratch = ShortScratch;

/// A row whose neighbours are wanted, among the rows in slots below `end`.
template <class Real>
struct Query {
  static constexpr RowSlot kOutside = 0xFFFFFFFFU;

  const Real* row;
  RowSlot end;
  RowSlot self = kOutside;                  // its slot, if it is in the index
  const std::uint8_t* ruled_out = nullptr;  // by slot: rows with another entry than 0 do not count
};

/// The seam behind which indexes differ. Readers are const, and may come from several threads.
template <class Real>
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  /// All living rows in slots below this one are in the index.
  std::size_t end() const { return end_; }

  /// Take in the row at end(), if it is living, or one that was taken out and has other values.
  virtual void add(const RowStore<Real>& points, RowSlot row) = 0;
  /// Take out a row in a slot below end(), which still has its values. If this throws, the index is
  /// good for nothing but destruction.
  virtual void remove(const RowStore<Real>& points, RowSlot row) = 0;
  /// Rows have other slots now, `living` of them, and no holes (RowStore::compact).
  virtual void renumber(std::span<const RowSlot> new_slot, std::size_t living) = 0;
  /// Take in all living rows below `end` at once. Nothing may have been begun by the helpers. If
  /// `pulse` throws, the index is good for nothing but destruction.
  virtual void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
                    const Pulse& pulse) = 0;
  /// Is taking in `count` points at once, to look them up afterwards, less work
  /// than one after the other?
  virtual bool gains_by_loading(std::size_t count) const = 0;

  /// For each query q the k nearest rows, nearest first, at out[q * k]. If they are fewer, the rest
  /// is infinitely far. Distances are squared Euclidean, or minus inner products. k is at least 1.
  /// One query asks for no memory if there is room to search.
  virtual void nearest(const RowStore<Real>& points, std::span<const Query<Real>> queries,
                       std::size_t k, Neighbour* out, SearchScratch& scratch,
                       const Pulse& pulse) const = 0;
  virtual void make_room_to_search(SearchScratch& scratch) const = 0;
  /// The rows from slot `begin` on that are in the index, in an order in which neighbours follow
  /// each other, so that lookups in that order are quicker; none if there is no better order than
  /// that of arrival.
  virtual BigVector<RowSlot> by_place(std::size_t /*begin*/) const { return {}; }

  /// Rows from the one with this number on are about to come, in slots from `end` on, and
  /// no row leaves until they are there. An index whose answers depend on how it was made
  /// changes here alone. Returns how many rows may come before this has to be called again.
  /// If it throws, the index is good for nothing but destruction.
  virtual std::size_t expect(const RowStore<Real>& /*points*/, std::size_t /*end*/,
                             Arrival /*number*/, const Pulse& /*pulse*/) {
    return std::numeric_limits<std::size_t>::max();
  }

 protected:
  std::size_t end_ = 0;
};

/// By dimension: a bucket k-d tree for few columns; short vectors from kLanes on, which decide
/// by themselves how they are searched; in between what was measured to be less work.
template <class Real>
std::unique_ptr<Neighbours<Real>> make_neighbours(std::size_t dim, Metric metric);

/// Near neighbours under squared distances, by these plans, which the index changes.
template <class Real>
std::unique_ptr<Neighbours<Real>> make_cells(CellPlans<Real>& plans);

}  // namespace ramify
