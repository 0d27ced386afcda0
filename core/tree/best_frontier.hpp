// SPDX-License-Identifier: BSD-3-Clause
// best_frontier.hpp: of all cuts of a frozen tree into k clusters, the best, where some nodes
// are worth more as clusters than others.
//
//   gain(v)   what undoing merge v is worth
//   prize(v)  what node v is worth as a cluster, in units of `weight`
//   value     of a frontier: the gains of all merges above it + weight * its nodes' prizes
//
// Where no node has a prize, and no merge gains more than its parent, the k - 1 largest gains
// are the answer. With prizes greed fails: to keep one cluster, k - 1 merges may be worth
// undoing that are nowhere near the largest. So the best frontiers of j = 1, 2, ... clusters
// are found for every node, its children first.
//
// Ties, as values are computed: more prizes, then the larger sum of the undone merges' rows
// (so that without prizes the later rows are undone), then fewer clusters in first children.
//
// Below a node at depth d there are at most k - d of the clusters, and none below depth k - 1:
// every merge on the way has another child.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tree/dendrogram.hpp"

namespace ramify {

/// The k nodes, ascending. `gains` has an entry a merge, `prizes` an entry a node.
/// O(n k) time and memory at worst; on balanced trees O(n log k) memory.
std::vector<std::int64_t> best_frontier(Children children, std::span<const double> gains,
                                        std::span<const double> prizes, double weight,
                                        std::size_t k);

}  // namespace ramify
