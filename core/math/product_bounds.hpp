// SPDX-License-Identifier: BSD-3-Clause
// product_bounds.hpp: inner products and squared distances of many vectors, free to use fused
// multiply-adds, and most of them in float: good for bounds with slack, not for answers, whose bits
// must not depend on the machine.
#pragma once

#include <algorithm>
#include <cstddef>

#include "math/kernels.hpp"

namespace ramify {

/// Some rows of numbers, to be added up column by column.
struct WeightedRows {
  static constexpr std::size_t kMost = 8;
  const float* rows[kMost];
  float weights[kMost];
  std::size_t count;     // of the rows, at least one
  std::size_t from, to;  // columns; multiples of kLanes
  float* sums;           // by column: the sum of all rows, each times its weight
  float* least;          // and the least, without weights
};
/// What rounding can have done to one of these sums: a share of the sum of the terms' sizes.
inline constexpr double kSumRounding = 6.5e-8 * (WeightedRows::kMost + 2);

struct ProductKernels {
  /// Inner products of rows with many directions, kLanes of them side by side: coordinate j of
  /// direction b at basis[(b / kLanes * dim + j) * kLanes + b % kLanes]. Those of row i at
  /// out[i * stride].
  void (*project)(const float* rows, std::size_t count, const float* basis, std::size_t dim,
                  std::size_t directions, float* out, std::size_t stride);
  /// To each of `directions` vectors that lie like directions, add the row times a number.
  void (*add_products)(const float* row, const float* along, std::size_t dim,
                       std::size_t directions, float* out);
  void (*sum_rows)(const WeightedRows& r);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
const ProductKernels& product_kernels();

/// A few vectors beside many that lie in blocks of kLanes: coordinate j of vector i of a block
/// at [j * kLanes + i].
template <class Real>
struct RowsBesideBlocks {
  static constexpr std::size_t kMostRows = 4;
  const Real* rows[kMostRows];
  float weights[kMostRows];  // of the rows
  const Real* blocks;
  const float* block_weights;
  std::size_t first, last, dim;  // blocks first .. last-1
  float* out[kMostRows];         // by row; block b from b * kLanes on
};
/// Squared distances with both weights added, or minus inner products.
template <class Real>
struct BlockKernels {
  using Compare = void (*)(const RowsBesideBlocks<Real>&);
  Compare four_distances, one_distance, four_products, one_product;
};
template <class Real>
const BlockKernels<Real>& block_kernels();

/// A few vectors beside a few others, wherever they lie.
template <class Real>
struct RowTile {
  static constexpr std::size_t kSide = 4;
  const Real* rows[kSide];
  const Real* others[kSide];
  float out[kSide][kSide];
};
template <class Real>
struct TileKernels {
  using Compare = void (*)(RowTile<Real>& tile, std::size_t dim);
  // Squared distances and inner products, of the first row alone, of the first two, ...
  Compare distances[RowTile<Real>::kSide], products[RowTile<Real>::kSide];
};
template <class Real>
const TileKernels<Real>& tile_kernels();

inline constexpr std::size_t kRunOfBlocks = 8, kRunOfTiles = 256;  // columns added up in turn

/// What rounding can have done to a sum over a block: a share of the sum itself, where its terms
/// are squares, else of the product of the lengths.
inline double block_rounding(std::size_t dim) {
  return 6.5e-8 * (16 + static_cast<double>(dim) / static_cast<double>(kRunOfBlocks));
}
/// And of a tile: columns that fill no vector are added up at the end, one by one.
inline double tile_rounding(std::size_t dim) {
  const std::size_t in_a_run = std::min(dim, kRunOfTiles) / kLanes, runs = dim / kRunOfTiles;
  return 6.5e-8 * static_cast<double>(13 + in_a_run + runs + dim % kLanes);
}

}  // namespace ramify
