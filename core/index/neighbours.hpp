// SPDX-License-Identifier: BSD-3-Clause
// neighbours.hpp: the exact nearest leaf.
//
// The neighbours of a point depend on the points alone, never on the tree over
// them, so the index lives beside the tree (docs/decisions/0004). Every index gives the answer of a
// plain scan to the bit: same distances, ties to the earliest arrival.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "math/linkage.hpp"
#include "math/order.hpp"
#include "tree/row_store.hpp"
#include "pulse.hpp"

namespace ramify {

/// The seam behind which indexes differ; the core's only inheritance.
template <class Real>
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  /// How many points are in the index: always the first ones of the stream.
  virtual std::size_t size() const = 0;
  /// Add the next of the points.
  virtual void add(const Points<Real>& points) = 0;
  /// The min(k, size()) nearest points of x, nearest first. `points` must hold
  /// all indexed rows. Distances are squared Euclidean, or minus inner products.
  virtual void nearest(const Points<Real>& points, const Real* x, std::size_t k,
                       std::vector<Neighbour>& out) = 0;
  /// The nearest of the first `end` points whose entry in `ruled_out` is 0. False
  /// if there is none. Asks for no memory: it is called in the middle of changes that
  /// must not fail.
  virtual bool nearest_allowed(const Points<Real>& points, const Real* x, std::size_t end,
                               const std::uint8_t* ruled_out, Neighbour& out) noexcept = 0;

  // --- whole batches: a point's neighbours are among the points before it ---------
  /// Is taking in so many points at once, to look them up afterwards, less work
  /// than one after the other?
  virtual bool gains_by_loading(std::size_t count) const = 0;
  /// Do points from the future, which are in the index, make lookups slower?
  virtual bool minds_the_future() const = 0;
  /// Take in all points up to `end` at once. If `breathe` throws, the index is good
  /// for nothing but destruction.
  virtual void load(const Points<Real>& points, std::size_t end, const Breathe& breathe) = 0;
  /// The points from `begin` on that are in the index, in an order in which
  /// neighbours follow each other: lookups in that order are quicker.
  virtual BigVector<PointId> by_place(std::size_t begin) const = 0;
  /// For each query, which is in the index: its min(k, query) nearest points among
  /// those that came before it, nearest first, at out[q * k]. May be called from
  /// several threads, while others are looked for by another.
  virtual void nearest_before(const Points<Real>& points, std::span<const PointId> queries,
                              std::size_t k, PointId* out, const Breathe& breathe) const = 0;
};

/// A bucket k-d tree below kLanes dimensions; above, a scan of all points, which
/// from kLongRow dimensions on looks at short vectors first.
template <class Real>
std::unique_ptr<Neighbours<Real>> make_neighbours(std::size_t dim, Metric metric);

}  // namespace ramify
