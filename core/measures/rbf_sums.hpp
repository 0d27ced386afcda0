// SPDX-License-Identifier: BSD-3-Clause
// rbf_sums.hpp: revenue and cost under w(x,y) = exp(-gamma |x - y|^2).
//
// No summary of a node gives the sum of this w over its pairs, so every pair is
// looked at: O(n^2 dim) time. The leaves are laid out from left to right; the gap
// between neighbours p and p+1 belongs to one inner node, and the lowest common
// ancestor of positions p < q is the largest node over the gaps between them:
//
//   |lca(p,q)| = max(gap[p], ..., gap[q-1])
//
// which one pass over q keeps as a running maximum: no lca query, no table.
//
// The work is cut into blocks of rows p (with all q > p). Blocks are independent,
// so an owner of threads may hand them out; their sums are added in order of
// blocks, and the result does not depend on who computed what.
#pragma once

#include <vector>

#include "measures/measures.hpp"

namespace ramify {

template <class Real>
class RbfSums {
 public:
  /// Keeps looking at `rows`. O(n) memory, O(n) time.
  RbfSums(Children children, const Real* rows, std::size_t dim, double gamma);

  std::size_t blocks() const { return (order_.size() + kRows - 1) / kRows; }
  /// Rows in the blocks before this one.
  std::size_t rows_before(std::size_t block) const {
    return block * kRows < order_.size() ? block * kRows : order_.size();
  }
  /// Sums over the pairs (p, q), p < q, with p in this block. Thread-safe.
  PairSums block(std::size_t index, const Pulse& pulse) const;

 private:
  static constexpr std::size_t kRows = 128;  // positions in a block of rows
  static constexpr std::size_t kTile = 32;   // positions in a tile of columns
  struct Tile;

  void load_tile(std::size_t from, Tile& tile) const;
  void own_columns(std::size_t p, const Tile& tile, double* prefix, double* shut) const;

  const Real* rows_;
  std::size_t dim_;
  double gamma_;
  std::vector<std::int64_t> order_;  // the leaf at each position
  std::vector<double> gap_;          // size of the node between positions p and p+1
};

/// Block sums added up in order.
PairSums add_up(std::span<const PairSums> blocks);

}  // namespace ramify
