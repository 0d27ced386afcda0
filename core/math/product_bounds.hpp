// SPDX-License-Identifier: BSD-3-Clause
// product_bounds.hpp: inner products and squared distances of many vectors, free to use fused
// multiply-adds, and most of them in float: good for bounds with slack, not for answers, whose bits
// must not depend on the machine.
#pragma once

#include <algorithm>
#include <cstddef>

#include "math/kernels.hpp"

namespace ramify {

/// Counts of vectors are multiples of this.
inline constexpr std::size_t kGram = 16;
inline constexpr std::size_t kChain = 128;  // products that are added up one after the other

/// Not a power of two: caches would have to keep many columns in one place.
constexpr std::size_t column_stride(std::size_t count) { return count + 16; }

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
/// What rounding can have done to such a sum: of that of the terms' sizes.
inline constexpr double kSumRounding = 6.5e-8 * (WeightedRows::kMost + 2);

struct ProductKernels {
  /// Inner products of `count` vectors with each other, coordinate j of vector i at
  /// columns[j * column_stride(count) + i]: out[i * count + k] for k >= i, and more.
  void (*double_gram)(const double* columns, std::size_t count, std::size_t dim, double* out);
  /// Inner products of rows with many directions, kLanes of them side by side: coordinate j of
  /// direction b at basis[(b / kLanes * dim + j) * kLanes + b % kLanes]. Those of row i at
  /// out[i * stride].
  void (*project)(const float* rows, std::size_t count, const float* basis, std::size_t dim,
                  std::size_t directions, float* out, std::size_t stride);
  /// To so many vectors that lie like directions, add the row times a number each.
  void (*add_products)(const float* row, const float* along, std::size_t dim,
                       std::size_t directions, float* out);
  void (*sum_rows)(const WeightedRows& r);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
const ProductKernels& product_kernels();

/// One vector and many rows that lie anywhere: squared distances, or inner products.
template <class Real>
struct RowsKernels {
  using Compare = void (*)(const float* from, const Real* const* rows, std::size_t count,
                           std::size_t dim, float* out);
  Compare squared_distances, dots;
};
template <class Real>
const RowsKernels<Real>& rows_kernels();

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

/// What rounding can have done to such a sum, of blocks: of itself, where it is one of squares,
/// else of the product of the lengths.
inline double block_rounding(std::size_t dim) {
  return 6.5e-8 * (16 + static_cast<double>(dim) / static_cast<double>(kRunOfBlocks));
}
/// And of a tile: columns that fill no vector are added up at the end, one by one.
inline double tile_rounding(std::size_t dim) {
  const std::size_t in_a_run = std::min(dim, kRunOfTiles) / kLanes, runs = dim / kRunOfTiles;
  return 6.5e-8 * static_cast<double>(13 + in_a_run + runs + dim % kLanes);
}

/// What rounding can have added to a product of RowsKernels, or of double_gram(), of the product of
/// the lengths: several times what it adds up to.
template <class Real>
inline double gram_rounding(std::size_t dim) {
  const double unit = sizeof(Real) == sizeof(float) ? 2e-7 : 4e-16;
  const std::size_t chains = dim / kChain;
  return unit * static_cast<double>(std::min(dim, kChain) + chains + 16);
}

/// Vectors as columns for double_gram(), an origin being taken off if there is one; `count` is
/// whole kGram of them, with zeros for those that there are not.
template <class Real, class RowOf>
void as_columns(std::size_t items, std::size_t count, std::size_t dim, RowOf&& row,
                const Real* origin, double* columns) {
  constexpr std::size_t kSome = 8;  // written side by side
  for (std::size_t i = 0; i < count; i += kSome) {
    const std::size_t some = std::min(kSome, items > i ? items - i : 0);
    const Real* rows[kSome] = {};
    for (std::size_t k = 0; k < some; ++k) rows[k] = row(i + k);
    for (std::size_t j = 0; j < dim; ++j) {
      const double from = origin == nullptr ? 0.0 : static_cast<double>(origin[j]);
      double* out = columns + j * column_stride(count) + i;
      for (std::size_t k = 0; k < some; ++k) out[k] = static_cast<double>(rows[k][j]) - from;
      for (std::size_t k = some; k < kSome; ++k) out[k] = 0;
    }
  }
}

}  // namespace ramify
