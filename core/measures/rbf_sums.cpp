// SPDX-License-Identifier: BSD-3-Clause
#include "measures/rbf_sums.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "math/dispatch.hpp"

namespace ramify {
namespace {

constexpr std::size_t kTileWidth = 32;
constexpr std::size_t kSumLanes = 8;
constexpr double kShut = -1e6;  // added to an exponent: exp of it is 0

// e^x for x <= 0, within two units in the last place, 0 below -708 (where e^x
// leaves the normal numbers). The C library's differs from machine to machine,
// and cannot be computed for a whole tile at once.
RAMIFY_INLINE double exp_of_minus(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kRound = 0x1.8p+52;  // adding it rounds to a whole number
  const double shifted = x * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2)/2
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The low bits of `shifted` are k: move them to the exponent of 2^k.
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  const double value = p * std::bit_cast<double>(bits);
  // A mask and not a choice: the compiler does not turn a choice into vectors.
  const std::uint64_t mask = std::uint64_t{0} - static_cast<std::uint64_t>(x >= -708.0);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & mask);
}

// Partial sums of one tile, in lanes that are folded in one order.
struct Lanes {
  double total[kSumLanes] = {};
  double revenue[kSumLanes] = {};
  double cost[kSumLanes] = {};
};

RAMIFY_INLINE double folded(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// One row x against a tile of columns (coordinate j of column i at
// columns[j * kTileWidth + i]).
struct TileArguments {
  const double* x;
  const double* columns;
  std::size_t dim;
  double gamma;
  double n;
  double reach;          // largest gap from x to the tile's first column
  const double* prefix;  // largest gap from there to each column
  const double* shut;    // 0, or kShut for columns that do not count
};

RAMIFY_INLINE void add_row(const TileArguments& at, Lanes& sums) {
  double value[kTileWidth] = {};  // squared distances, then similarities
  const double* column = at.columns;
  for (std::size_t j = 0; j < at.dim; ++j, column += kTileWidth) {
    const double xj = at.x[j];
    for (std::size_t i = 0; i < kTileWidth; ++i) {
      const double gap = column[i] - xj;
      value[i] += gap * gap;
    }
  }
  for (std::size_t i = 0; i < kTileWidth; ++i)
    value[i] = exp_of_minus(at.shut[i] - at.gamma * value[i]);
  for (std::size_t from = 0; from < kTileWidth; from += kSumLanes)
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
      const double prefix = at.prefix[from + lane];
      const double size = at.reach > prefix ? at.reach : prefix;
      const double w = value[from + lane];
      sums.total[lane] += w;
      sums.revenue[lane] += w * (at.n - size);
      sums.cost[lane] += w * size;
    }
}

}  // namespace

template <class Real>
RbfSums<Real>::RbfSums(Children children, const Real* rows, std::size_t dim, double gamma)
    : rows_(rows), dim_(dim), gamma_(gamma) {
  const std::size_t n = leaf_count(children);
  const std::vector<std::int64_t> sizes = sizes_of(children);
  LeafLayout layout = lay_out_leaves(children);
  order_ = std::move(layout.order);
  gap_.resize(n - 1);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const std::int64_t split =
        layout.start[n + i] + sizes[static_cast<std::size_t>(children[2 * i])] - 1;
    gap_[static_cast<std::size_t>(split)] = static_cast<double>(sizes[n + i]);
  }
}

// kTile consecutive positions: their coordinates column by column, the largest
// gap from the first to each, and which of them exist.
template <class Real>
struct RbfSums<Real>::Tile {
  std::size_t from = 0;
  std::vector<double> columns;
  double prefix[kTile];
  double shut[kTile];
  double through = 0;  // largest gap from the first to the next tile's first
};

template <class Real>
void RbfSums<Real>::load_tile(std::size_t from, Tile& tile) const {
  const std::size_t n = order_.size();
  tile.from = from;
  double largest = 0;
  for (std::size_t i = 0; i < kTile; ++i) {
    const bool exists = from + i < n;
    tile.prefix[i] = largest;
    tile.shut[i] = exists ? 0 : kShut;
    if (from + i + 1 < n) largest = std::max(largest, gap_[from + i]);
    const Real* row = rows_ + static_cast<std::size_t>(order_[exists ? from + i : n - 1]) * dim_;
    for (std::size_t j = 0; j < dim_; ++j)
      tile.columns[j * kTile + i] = static_cast<double>(row[j]);
  }
  tile.through = largest;
}

/// For a row that lies in the tile itself: only later columns count, and the
/// gaps begin at the row.
template <class Real>
void RbfSums<Real>::own_columns(std::size_t p, const Tile& tile, double* prefix,
                                double* shut) const {
  double largest = 0;
  for (std::size_t i = 0; i < kTile; ++i) {
    const std::size_t q = tile.from + i;
    if (q > p && q < order_.size()) largest = std::max(largest, gap_[q - 1]);
    prefix[i] = largest;
    shut[i] = q > p ? tile.shut[i] : kShut;
  }
}

template <class Real>
PairSums RbfSums<Real>::block(std::size_t index, const Pulse& pulse) const {
  static_assert(kTile == kTileWidth && kRows % kTile == 0);
  const auto add_row_to = chosen<add_row>();
  const std::size_t n = order_.size();
  const std::size_t first = index * kRows, count = std::min(kRows, n - first);
  std::vector<double> x(count * dim_);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(rows_ + static_cast<std::size_t>(order_[first + i]) * dim_, dim_,
                x.data() + i * dim_);
  double reach[kRows] = {};
  double own_prefix[kTile], own_shut[kTile];
  Tile tile;
  tile.columns.resize(dim_ * kTile);
  Sum total, revenue, cost;
  for (std::size_t from = first; from < n; from += kTile) {
    if ((from - first) % (256 * kTile) == 0) pulse.check();
    load_tile(from, tile);
    Lanes sums;
    for (std::size_t i = 0; i < count && first + i < from + kTile; ++i) {
      const std::size_t p = first + i;
      TileArguments at{x.data() + i * dim_,
                       tile.columns.data(),
                       dim_,
                       gamma_,
                       static_cast<double>(n),
                       reach[i],
                       tile.prefix,
                       tile.shut};
      if (p >= from) {
        own_columns(p, tile, own_prefix, own_shut);
        at.prefix = own_prefix;
        at.shut = own_shut;
      }
      add_row_to(at, sums);
      reach[i] = p >= from ? own_prefix[kTile - 1] : std::max(reach[i], tile.through);
      if (p >= from && from + kTile < n) reach[i] = std::max(reach[i], gap_[from + kTile - 1]);
    }
    total.add(folded(sums.total));
    revenue.add(folded(sums.revenue));
    cost.add(folded(sums.cost));
  }
  return {total.get(), revenue.get(), cost.get()};
}

PairSums add_up(std::span<const PairSums> blocks) {
  Sum total, revenue, cost;
  for (const PairSums& block : blocks) {
    total.add(block.total);
    revenue.add(block.revenue);
    cost.add(block.cost);
  }
  return {total.get(), revenue.get(), cost.get()};
}

template class RbfSums<float>;
template class RbfSums<double>;

}  // namespace ramify
