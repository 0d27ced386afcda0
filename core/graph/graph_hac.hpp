// SPDX-License-Identifier: BSD-3-Clause
// graph_hac.hpp: agglomerative clustering of a graph, exactly, in memory linear in its edges.
//
//   average   the mean weight over the pairs of points between two clusters; a pair without an
//             edge counts as 0
//   single    the largest weight between them
//
// The heaviest pair of clusters merges next. Ties under average are broken as everywhere in
// this house (math/order.hpp): the smaller union, then the pair whose lower least rank is lower,
// then whose higher one is. A point's rank is a number that no other point has. Under single the
// edge decides, whose lower end ranks lower, then whose higher end does: of many equal weights a
// union of all is the same, and no list of a large cluster's neighbours has to be kept. Clusters
// without an edge between them are at 0, where the smaller union comes first, then the ranks.
// Why the tree is unique, and a chain finds it: docs/math.md, "Trees of graphs".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "pulse.hpp"

namespace ramify {

enum class GraphLinkage { kAverage, kSingle };

/// Row r joins nodes children[2 r] and children[2 r + 1] to node n + r; children come first.
/// `weights` are means, or largest weights, in the graph's unit, each rounded once or twice.
struct GraphTree {
  std::vector<std::int64_t> children;
  std::vector<double> weights;
};

/// `ranks` has a number for each point, all different; the graph is used up. Average is
/// O(merges * degree), single O(m log m).
GraphTree graph_hac(Graph graph, GraphLinkage linkage, std::span<const std::uint32_t> ranks,
                    const Pulse& pulse);

/// Average linkage of clusters that are there already: vertex v stands for sizes[v] points, and an
/// edge has the sum of the weights between two clusters.
GraphTree average_of_clusters(Graph graph, std::span<const std::uint32_t> ranks,
                              std::span<const std::uint32_t> sizes, const Pulse& pulse);

}  // namespace ramify
