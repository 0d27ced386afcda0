// SPDX-License-Identifier: BSD-3-Clause
// forest_hac.hpp: agglomerative clustering of a list of clusters.
//
// "Break the tree into a forest, add the new point, HAC the forest" is the
// paper's general recipe; this is its last step, and on single points it is
// offline HAC. The result is the greedy one: always the merge with the smallest
// MergeKey (order.hpp). Two ways lead there,
//
//   chain   follow nearest neighbours until two are each other's; right for
//           reducible linkages (average, ward, dot), about 3m searches
//   greedy  a heap of every cluster's nearest, searched again when that
//           one has gone; right for any linkage, and so for centroid
//
// and three places to search, by the size of the forest m and the dimension:
// a matrix (m up to matrix_limit), a bucket tree (few columns, or inner products of rows
// shorter than kLanes), a scan with short vectors. Memory is O(m) beyond the forest, with
// the matrix bounded by a constant.
#pragma once

#include <span>
#include <vector>

#include "forest/kept_linkages.hpp"
#include "helpers.hpp"
#include "math/linkage.hpp"
#include "math/order.hpp"
#include "math/summary.hpp"
#include "pulse.hpp"

namespace ramify {

/// No cluster, no item.
inline constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

/// Larger forests have no place in memory for all pairs.
inline constexpr std::size_t kMostPairs = 4096;

/// Forests up to this size have all their linkages in a matrix: where there is nothing
/// better, a large one.
constexpr std::size_t matrix_limit(std::size_t dim) { return dim < kFewColumns ? 128 : 1024; }

template <class Real>
struct ForestItem {
  SummaryView<Real> summary;
  Rank rank;
};

/// Clusters are numbered: 0..m-1 the forest, m+t the outcome of merge t. `a` is
/// the one with the earlier first leaf.
struct Merge {
  std::uint32_t a;
  std::uint32_t b;
};

/// Buffers that a stream of small forests reuses.
struct ForestScratch {
  std::vector<double> matrix, columns, sizes, closed;
  std::vector<double> linkages;  // of the merges, if the forest was small enough for a matrix
  std::vector<std::uint32_t> row_of, at_row, unions, chain;
  std::vector<Rank> ranks;
  std::vector<std::uint8_t> gone;
  /// What the items are called, if a matrix of long rows is to take over what it can.
  std::span<const NodeId> trees;
  KeptLinkages kept;
  /// Greedy merging searches this often for each item, and then goes on in another way
  /// (nearest_pairs.hpp). Tests choose, and compare.
  std::size_t searches_each = 16;
};

/// Where to search: what suits the size of the forest, or one that is named. Buckets are for less
/// than kLanes dimensions only. A matrix and the others round differently, which is seen where two
/// clusters are equally near.
enum class ForestSpace { kBySize, kMatrix, kBuckets, kScan };

/// Merge a forest of m >= 1 clusters into one. Children come before parents in
/// `merges`, but otherwise not in order of height. `pulse` (may be empty) is
/// called with the number of merges made; false is returned when it says stop. Helpers, if there
/// are any, share searches that take long.
template <class Real>
bool forest_hac(std::span<const ForestItem<Real>> forest, std::size_t dim, Metric metric,
                Linkage linkage, const Pulse& pulse, ForestScratch& scratch,
                std::vector<Merge>& merges, ForestSpace space = ForestSpace::kBySize,
                Helpers* helpers = nullptr);

}  // namespace ramify
