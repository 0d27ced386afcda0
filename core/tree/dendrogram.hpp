// SPDX-License-Identifier: BSD-3-Clause
// dendrogram.hpp: questions about a frozen tree, on plain arrays.
//
//   n         number of leaves; leaves are 0..n-1
//   children  pairs of node numbers; pair i is inner node n+i, and both of its
//             children have smaller numbers, so one pass up or down the numbers
//             is a pass up or down the tree. Nothing recurses; all are O(n).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

using Children = std::span<const std::int64_t>;

inline std::size_t leaf_count(Children children) { return children.size() / 2 + 1; }

/// Empty when the array is a tree in the sense above, otherwise what is wrong.
const char* what_is_wrong(Children children);

/// Parent of every node; -1 for the root.
std::vector<std::int64_t> parents_of(Children children);
/// Number of leaves below every node.
std::vector<std::int64_t> sizes_of(Children children);
/// Steps from the root to every node.
std::vector<std::int64_t> depths_of(Children children);
/// For every inner node the largest height at or below it.
std::vector<double> monotone_heights(Children children, std::span<const double> heights);

/// For every leaf the largest ratio, over it and its ancestors but the root, of the weight
/// beside a node to the weight of the node: how much would move closer to the root if it
/// were gone (collusive displacement). 0 for a single leaf.
std::vector<double> displacements(Children children, std::span<const double> weights);

struct LeafLayout {
  std::vector<std::int64_t> order;  // the leaves from left to right
  std::vector<std::int64_t> start;  // where in it each node's leaves begin
};
LeafLayout lay_out_leaves(Children children);

/// Labels of the leaves when the last k-1 inner nodes are taken away: dense from
/// 0, in order of each cluster's first leaf.
std::vector<std::int64_t> cut_labels(Children children, std::size_t k);

}  // namespace ramify
