// SPDX-License-Identifier: BSD-3-Clause
// modularity.hpp: of all cuts of a frozen tree the one that keeps a graph of its leaves together
// best.
//
//   m          weight of all edges
//   inside(v)  weight of the edges with both ends below node v
//   degree(v)  weight of the ends of edges below v; 2m for the root
//   worth(v)   inside(v) / m - resolution * (degree(v) / 2m)^2: Newman's modularity of a cluster
//
// The modularity of a cut is the sum of its nodes' worths, and one side of the tree does not care
// how the other is cut. So the best frontier below a node is the node itself, or the best ones
// below its children: one pass from the leaves up looks at all cuts there are. Nothing recurses.
//
// The pair of an edge comes together in one merge, the highest between the two leaves when all
// lie side by side; a stack of the merges that are still the highest of something finds it.
//
// Ties, as worths are computed: the coarser cut. Worths are kept as 4 m inside(v) - resolution
// degree(v)^2: with whole weights and resolution 1 they are exact while 4 m^2 is below 2^53.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tree/dendrogram.hpp"

namespace ramify {

struct BestCut {
  std::vector<std::int64_t> nodes;  // ascending
  double modularity;
};

/// `ends` are pairs of leaves, an edge each; two ends may be one leaf. Weights are not negative.
/// O(n + m log n).
BestCut best_by_modularity(Children children, std::span<const std::int64_t> ends,
                           std::span<const double> weights, double resolution);

}  // namespace ramify
