// SPDX-License-Identifier: BSD-3-Clause
// pruning.hpp: in which order the merges of a tree are undone, if what is gained by it
// should come early.
//
//   g(v)   what undoing merge v gains: by how much it lowers a sum over clusters
//   price  of v: the mean of g over the block of merges that v is undone with
//
// A merge can only be undone after its parent. Cost-complexity pruning (Breiman et al.,
// 1984) takes away, again and again, the branch whose merges gain the least on average,
// its weakest link; read backwards that is an order of undoing, in blocks of falling
// price. After each whole block, no other frontier of as many clusters has a smaller sum.
// Inside a block, where weakest links leave the order open, it is Horn's (1973): of all
// orders in which parents come first, this one has the least sum of what is left over,
// taken over all numbers of clusters (docs/math.md, "Pruning").
//
// Blocks are found from the highest price down: the merge, or block, of the highest
// price must come right after its parent's, so it joins that one, unless that one has
// been undone. Ties: the merge with the greater number first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

struct SplitOrder {
  std::vector<std::uint32_t> rows;  // merges, the first to be undone first
  std::vector<double> prices;       // of each of these; never rising
};

/// `children` as in dendrogram.hpp: row r is a merge, its parent has a greater row.
/// O(n log n).
SplitOrder split_order(std::span<const std::int64_t> children, std::span<const double> gains);

}  // namespace ramify
