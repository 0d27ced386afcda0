// SPDX-License-Identifier: BSD-3-Clause
// path_hac.hpp: HAC of what hangs off one path, or several, for all linkages but ward.
//
// The merges are those of forest_hac() on the same forest, to the bit and in the same order:
// nearest-neighbour chains from the first item on, or always the two nearest. But linkages come
// from a table that is kept from path to path (path_table.hpp), and are approximate. If the nearest
// cluster wins by more than the error bound, the decision is exact. Else, once in some hundred
// times, linkages are computed exactly, and where they are equal up to rounding, as forest_hac()
// rounds them. Where that takes too long, forest_hac() merges the forest.
#pragma once

#include <span>
#include <vector>

#include "forest/forest_hac.hpp"
#include "forest/path_table.hpp"
#include "forest/path_unions.hpp"

namespace ramify {

/// By nearest-neighbour chains, for linkages that are means of their parts' (path_chain.cpp). The
/// forest has been seated; false if who is nearest cannot be told.
template <class Real, class Rule>
bool merge_by_chain(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
                    std::size_t dim, PathScratch& scratch, std::vector<Merge>& merges);
/// Always the two nearest, for centroid linkage (path_greedy.cpp).
template <class Real>
bool merge_greedily(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
                    std::size_t dim, PathScratch& scratch, std::vector<Merge>& merges);

template <class Real>
class PathHac {
 public:
  PathHac(std::size_t dim, Metric metric, Linkage linkage)
      : dim_(dim), metric_(metric), linkage_(linkage), table_(dim, metric, linkage) {}

  /// Is it for such linkages?
  static bool fits(std::size_t dim, Metric metric, Linkage linkage) {
    return dim >= kLanes && (metric == Metric::kDot || linkage != Linkage::kWard);
  }
  /// And for a path of this many items?
  static bool fits(std::size_t items) { return items <= PathTable<Real>::kMostItems; }

  PathTable<Real>& table() { return table_; }

  /// Merge the forest that hangs off a path of these nodes, lowest first, or off several paths, of
  /// which none is given; if `comes`, a leaf that is not below them is last. False if it cannot
  /// tell, with nothing changed.
  bool merge(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
             std::span<const Slot> path, bool comes, std::size_t end_of_ids,
             std::vector<Merge>& merges);

  /// Overwrite what is left of what the table does not know any more.
  void wipe() noexcept;

 private:
  std::size_t dim_;
  Metric metric_;
  Linkage linkage_;
  PathTable<Real> table_;
  PathScratch scratch_;
};

}  // namespace ramify
