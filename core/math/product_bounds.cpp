// SPDX-License-Identifier: BSD-3-Clause
// Compiled with contraction of a * b + c on (CMakeLists.txt).
#include "math/product_bounds.hpp"

#include <cstring>

#include "math/direction_products.hpp"
#include "math/dispatch.hpp"

namespace ramify {
namespace {

using Lanes = FloatLanes;
constexpr std::size_t kRun = kLanes;  // values looked at together

RAMIFY_INLINE void load(Lanes& lanes, const float* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}
RAMIFY_INLINE void load(Lanes& lanes, const double* from) {
  typedef double Doubles __attribute__((vector_size(8 * kRun), aligned(8)));
  Doubles doubles;
  std::memcpy(&doubles, from, sizeof doubles);
  lanes = __builtin_convertvector(doubles, Lanes);
}

/// What a vector is away from kRun others, or the others themselves.
template <bool kProduct>
RAMIFY_INLINE void take_off(float here, const float* there, Lanes& out) {
  std::memcpy(&out, there, sizeof out);
  if (!kProduct) out = here - out;
}
template <bool kProduct>
RAMIFY_INLINE void take_off(double here, const double* there, Lanes& out) {
  // A loop becomes a few instructions; vectors of sixteen doubles would be taken apart.
  float lanes[kRun];
  for (std::size_t k = 0; k < kRun; ++k)
    lanes[k] = static_cast<float>(kProduct ? there[k] : here - there[k]);
  std::memcpy(&out, lanes, sizeof out);
}

/// kRows vectors beside kBlocks blocks from `block` on. Sums of a few terms are added up: fewer
/// roundings follow each other.
template <bool kProduct, std::size_t kRows, std::size_t kBlocks, class Real>
RAMIFY_INLINE void compare_blocks(const RowsBesideBlocks<Real>& r, std::size_t block) {
  Lanes sums[kRows][kBlocks];
#pragma GCC unroll 4
  for (auto& row : sums)
#pragma GCC unroll 2
    for (Lanes& sum : row) sum = Lanes{};
  const Real* columns = r.blocks + block * r.dim * kRun;
  for (std::size_t from = 0; from < r.dim; from += kRunOfBlocks) {
    const std::size_t to = from + kRunOfBlocks < r.dim ? from + kRunOfBlocks : r.dim;
    Lanes some[kRows][kBlocks];
#pragma GCC unroll 4
    for (auto& row : some)
#pragma GCC unroll 2
      for (Lanes& sum : row) sum = Lanes{};
    for (std::size_t j = from; j < to; ++j) {
#pragma GCC unroll 4
      for (std::size_t row = 0; row < kRows; ++row)
#pragma GCC unroll 2
        for (std::size_t b = 0; b < kBlocks; ++b) {
          const Real here = r.rows[row][j];
          Lanes there;
          take_off<kProduct>(here, columns + (b * r.dim + j) * kRun, there);
          some[row][b] += kProduct ? static_cast<float>(here) * there : there * there;
        }
    }
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kRows; ++row)
#pragma GCC unroll 2
      for (std::size_t b = 0; b < kBlocks; ++b) sums[row][b] += some[row][b];
  }
#pragma GCC unroll 4
  for (std::size_t row = 0; row < kRows; ++row)
#pragma GCC unroll 2
    for (std::size_t b = 0; b < kBlocks; ++b) {
      Lanes weights;
      std::memcpy(&weights, r.block_weights + (block + b) * kRun, sizeof weights);
      const Lanes value = kProduct ? -sums[row][b] : sums[row][b] + (r.weights[row] + weights);
      std::memcpy(r.out[row] + (block + b) * kRun, &value, sizeof value);
    }
}

template <bool kProduct, std::size_t kRows, class Real>
RAMIFY_INLINE void compare_with_blocks(const RowsBesideBlocks<Real>& r) {
  std::size_t block = r.first;
  for (; block + 2 <= r.last; block += 2) compare_blocks<kProduct, kRows, 2>(r, block);
  if (block < r.last) compare_blocks<kProduct, kRows, 1>(r, block);
}

/// Differences of kRun coordinates, taken before they are rounded to float.
RAMIFY_INLINE void gaps_of(const float* a, const float* b, Lanes& out) {
  Lanes there;
  load(out, a);
  load(there, b);
  out = out - there;
}
RAMIFY_INLINE void gaps_of(const double* a, const double* b, Lanes& out) {
  float lanes[kRun];
  for (std::size_t k = 0; k < kRun; ++k) lanes[k] = static_cast<float>(a[k] - b[k]);
  std::memcpy(&out, lanes, sizeof out);
}

/// The sums of the lanes of four vectors.
RAMIFY_INLINE void sum_lanes(const Lanes (&vectors)[4], float* out) {
  typedef float Half __attribute__((vector_size(4 * kRun / 2), aligned(4)));
  typedef float Quarter __attribute__((vector_size(4 * kRun / 4), aligned(4)));
  static_assert(kRun == 16);
  Quarter quarters[4];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < 4; ++v) {
    Half halves[2];
    std::memcpy(halves, &vectors[v], sizeof halves);
    const Half half = halves[0] + halves[1];
    Quarter parts[2];
    std::memcpy(parts, &half, sizeof parts);
    quarters[v] = parts[0] + parts[1];
  }
  const Quarter& a = quarters[0];
  const Quarter& b = quarters[1];
  const Quarter& c = quarters[2];
  const Quarter& d = quarters[3];
  const Quarter ab = Quarter{a[0], a[1], b[0], b[1]} + Quarter{a[2], a[3], b[2], b[3]};
  const Quarter cd = Quarter{c[0], c[1], d[0], d[1]} + Quarter{c[2], c[3], d[2], d[3]};
  const Quarter sums = Quarter{ab[0], ab[2], cd[0], cd[2]} + Quarter{ab[1], ab[3], cd[1], cd[3]};
  std::memcpy(out, &sums, sizeof sums);
}

template <bool kProduct, std::size_t kRows, class Real>
RAMIFY_INLINE void compare_tile(RowTile<Real>& tile, std::size_t dim) {
  constexpr std::size_t kSide = RowTile<Real>::kSide;
  static_assert(kRows <= kSide && kSide == 4);
  std::size_t j = 0;
  Lanes totals[kRows][kSide] = {};
  while (j + kRun <= dim) {
    const std::size_t end = j + kRunOfTiles < dim ? j + kRunOfTiles : dim;
    Lanes sums[kRows][kSide];
#pragma GCC unroll 4
    for (auto& row : sums)
#pragma GCC unroll 4
      for (Lanes& sum : row) sum = Lanes{};
    for (; j + kRun <= end; j += kRun) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 4
        for (std::size_t k = 0; k < kSide; ++k) {
          Lanes here, there;
          if constexpr (kProduct) {
            load(here, tile.rows[i] + j);
            load(there, tile.others[k] + j);
            sums[i][k] += here * there;
          } else {
            gaps_of(tile.rows[i] + j, tile.others[k] + j, there);
            sums[i][k] += there * there;
          }
        }
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 4
      for (std::size_t k = 0; k < kSide; ++k) totals[i][k] += sums[i][k];
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kRows; ++i) sum_lanes(totals[i], tile.out[i]);
  for (; j < dim; ++j)
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t k = 0; k < kSide; ++k) {
        const Real here = tile.rows[i][j], there = tile.others[k][j];
        const auto gap = static_cast<float>(here - there);
        tile.out[i][k] +=
            kProduct ? static_cast<float>(here) * static_cast<float>(there) : gap * gap;
      }
}

RAMIFY_INLINE void sum_rows(const WeightedRows& r) {
  for (std::size_t i = r.from; i < r.to; i += kRun) {
    Lanes row;
    load(row, r.rows[0] + i);
    Lanes sum = r.weights[0] * row, least = row;
    for (std::size_t k = 1; k < r.count; ++k) {
      load(row, r.rows[k] + i);
      sum += r.weights[k] * row;
      least = row < least ? row : least;
    }
    std::memcpy(r.sums + i, &sum, sizeof sum);
    std::memcpy(r.least + i, &least, sizeof least);
  }
}

template <class Real, Level kLevel>
constexpr TileKernels<Real> kTileKernels{
    {compiled<compare_tile<false, 1, Real>, kLevel>, compiled<compare_tile<false, 2, Real>, kLevel>,
     compiled<compare_tile<false, 3, Real>, kLevel>,
     compiled<compare_tile<false, 4, Real>, kLevel>},
    {compiled<compare_tile<true, 1, Real>, kLevel>, compiled<compare_tile<true, 2, Real>, kLevel>,
     compiled<compare_tile<true, 3, Real>, kLevel>, compiled<compare_tile<true, 4, Real>, kLevel>}};

template <class Real, Level kLevel>
constexpr BlockKernels<Real> kBlockKernels{compiled<compare_with_blocks<false, 4, Real>, kLevel>,
                                           compiled<compare_with_blocks<false, 1, Real>, kLevel>,
                                           compiled<compare_with_blocks<true, 4, Real>, kLevel>,
                                           compiled<compare_with_blocks<true, 1, Real>, kLevel>};

template <Level kLevel>
constexpr ProductKernels kProductKernels{compiled<project_on_directions<true>, kLevel>,
                                         compiled<add_direction_products<true>, kLevel>,
                                         compiled<sum_rows, kLevel>};

}  // namespace

const ProductKernels& product_kernels() {
  return with_level([](auto set) -> const auto& { return kProductKernels<set.value>; });
}

template <class Real>
const BlockKernels<Real>& block_kernels() {
  return with_level([](auto set) -> const auto& { return kBlockKernels<Real, set.value>; });
}
template const BlockKernels<float>& block_kernels();
template const BlockKernels<double>& block_kernels();

template <class Real>
const TileKernels<Real>& tile_kernels() {
  return with_level([](auto set) -> const auto& { return kTileKernels<Real, set.value>; });
}
template const TileKernels<float>& tile_kernels();
template const TileKernels<double>& tile_kernels();

}  // namespace ramify
