// SPDX-License-Identifier: BSD-3-Clause
// path_linkages.cpp: how a path's table (path_table.hpp) comes by linkages: new items beside blocks
// of kept ones, or long rows in tiles of pairs.
#include <algorithm>
#include <cmath>

#include "forest/path_table.hpp"
#include "forest/tally.hpp"
#include "math/product_bounds.hpp"
#include "math/scales.hpp"

namespace ramify {
namespace {

/// Are all of them numbers that can be compared?
bool all_small(const float* values, std::size_t from, std::size_t to, float most) {
  int large = 0;
  for (std::size_t i = from; i < to; ++i) large += std::fabs(values[i]) < most ? 0 : 1;
  return large == 0;
}

}  // namespace

/// Items 0 .. count-1 beside blocks first .. last-1.
template <class Real>
template <class ItemOf, class OutOf>
void PathTable<Real>::compare(std::size_t count, ItemOf&& item, OutOf&& out,
                              const std::vector<Real>& blocks, const std::vector<float>& weights,
                              std::size_t first, std::size_t last) {
  if (first >= last) return;
  count_work(count * (last - first) * kWidth);
  const BlockKernels<Real>& kernels = block_kernels<Real>();
  RowsBesideBlocks<Real> r{{}, {}, blocks.data(), weights.data(), first, last, dim_, {}};
  const auto choose = [&](std::size_t from, std::size_t rows) {
    for (std::size_t k = 0; k < rows; ++k) {
      const ForestItem<Real>& one = item(from + k);
      r.rows[k] = one.summary.mean;
      r.weights[k] = weight_of(one);
      r.out[k] = out(from + k);
    }
  };
  const std::size_t in_fours = count / 4 * 4;
  for (std::size_t i = 0; i < in_fours; i += 4) {
    choose(i, 4);
    (of_products_ ? kernels.four_products : kernels.four_distances)(r);
  }
  for (std::size_t i = in_fours; i < count; ++i) {
    choose(i, 1);
    (of_products_ ? kernels.one_product : kernels.one_distance)(r);
  }
}

/// The new kept places, in their rows and their columns.
template <class Real>
bool PathTable<Real>::compare_kept(std::span<const ForestItem<Real>> forest) {
  const std::size_t places = node_at_.size();
  std::size_t used = places;
  while (used > 0 && node_at_[used - 1] == kNone) --used;
  used = whole(used, kWidth);
  compare(
      fresh_.size(), [&](std::size_t i) -> const auto& { return forest[fresh_[i].item]; },
      [&](std::size_t i) { return own_row(fresh_[i].place); }, blocks_, weights_, 0, used / kWidth);
  for (const Fresh& one : fresh_) {
    float* row = own_row(one.place);
    count_work(2 * used);
    row[one.place] = kClosed;
    for (std::size_t i = 0; i < used; ++i) own_row(i)[one.place] = row[i];
    for (std::size_t i = 0; i < used; ++i) {
      if (node_at_[i] == kNone || i == one.place) continue;
      if (!(std::fabs(row[i]) < kMostSeen)) return false;
      note_least(one.place, i, row[i]);
    }
  }
  return true;
}

template <class Real>
bool PathTable<Real>::compare_foot(std::span<const ForestItem<Real>> forest) {
  const auto item = [&](std::size_t i) -> const auto& { return forest[i < lowest_ ? i : above_]; };
  const std::size_t places = node_at_.size();
  compare(
      foot_, item, [&](std::size_t i) { return &foot_near_[i * foot_width_]; }, foot_blocks_,
      foot_weights_, 0, foot_width_ / kWidth);
  compare(
      foot_, item, [&](std::size_t i) { return foot_far_.data() + i * places; }, blocks_, weights_,
      begin_ / kWidth, end_ / kWidth);
  bool fits = true;
  for (std::size_t i = 0; i < foot_; ++i) {
    fits = fits && all_small(&foot_near_[i * foot_width_], 0, foot_, kMostSeen) &&
           all_small(foot_far_.data() + i * places, begin_, end_, kMostSeen);
    foot_near_[i * foot_width_ + i] = kClosed;
  }
  return fits;
}

// --- long rows ------------------------------------------------------------------------

/// Call use(item, other, linkage) for all of these, some more than once. False if numbers are too
/// large.
template <class Real>
template <class Use>
bool PathTable<Real>::compare_pairs(std::span<const ForestItem<Real>> forest,
                                    std::span<const std::uint32_t> items,
                                    std::span<const std::uint32_t> others, Use&& use) const {
  constexpr std::size_t kSide = RowTile<Real>::kSide;
  const TileKernels<Real>& kernels = tile_kernels<Real>();
  RowTile<Real> tile;
  count_work(whole(items.size(), kSide) * whole(others.size(), kSide));
  bool fits = true;
  for (std::size_t k = 0; k < others.size(); k += kSide) {
    const auto other = [&](std::size_t c) { return others[std::min(k + c, others.size() - 1)]; };
    for (std::size_t c = 0; c < kSide; ++c) tile.others[c] = forest[other(c)].summary.mean;
    for (std::size_t i = 0; i < items.size(); i += kSide) {
      const std::size_t rows = std::min(kSide, items.size() - i);
      for (std::size_t r = 0; r < rows; ++r) tile.rows[r] = forest[items[i + r]].summary.mean;
      (of_products_ ? kernels.products : kernels.distances)[rows - 1](tile, dim_);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < kSide; ++c) {
          const std::uint32_t a = items[i + r], b = other(c);
          const float value = tile.out[r][c];
          const float linkage =
              of_products_ ? -value : value + (weight_of(forest[a]) + weight_of(forest[b]));
          fits = fits && std::fabs(linkage) < kMostSeen;
          use(a, b, linkage);
        }
    }
  }
  return fits;
}

/// What is not known of two that are on this path.
template <class Real>
bool PathTable<Real>::compare_kept_pairs(std::span<const ForestItem<Real>> forest) {
  const std::size_t places = node_at_.size();
  for (const Fresh& one : fresh_) {
    count_work(2 * places);
    std::fill_n(own_row(one.place), places, kUnknown);
    for (std::size_t i = 0; i < places; ++i) own_row(i)[one.place] = kUnknown;
    own_row(one.place)[one.place] = kClosed;
  }
  // Those that were on the last path, too, were compared then.
  for (const std::uint32_t i : newcomers_) {
    const float* row = kept_row(places_[i]);
    unknown_.clear();
    for (auto k = static_cast<std::uint32_t>(lowest_); k < above_; ++k)
      if (row[places_[k]] == kUnknown) unknown_.push_back(k);
    if (unknown_.empty()) continue;
    const bool fits = compare_pairs(forest, std::span(&i, 1), unknown_,
                                    [&](std::uint32_t a, std::uint32_t b, float linkage) {
                                      own_row(places_[a])[places_[b]] = linkage;
                                      own_row(places_[b])[places_[a]] = linkage;
                                      note_least(places_[a], places_[b], linkage);
                                    });
    if (!fits) return false;
  }
  return true;
}

template <class Real>
bool PathTable<Real>::compare_foot_pairs(std::span<const ForestItem<Real>> forest) {
  const std::size_t places = node_at_.size();
  const auto use = [&](std::uint32_t a, std::uint32_t b, float linkage) {
    if (is_foot(b)) {
      foot_near_[places_[a] * foot_width_ + places_[b]] = linkage;
      foot_near_[places_[b] * foot_width_ + places_[a]] = linkage;
    } else {
      foot_far_[places_[a] * places + places_[b]] = linkage;
    }
  };
  // The foot, x and then the kept ones: some at a time with all of the foot that come no later. In
  // this order each of the kept, who are many, is fetched once.
  constexpr std::size_t kSide = RowTile<Real>::kSide;
  std::vector<std::uint32_t>& items = unknown_;
  items.clear();
  for (std::uint32_t i = 0; i < lowest_; ++i) items.push_back(i);
  if (foot_ > lowest_) items.push_back(static_cast<std::uint32_t>(above_));
  for (auto i = static_cast<std::uint32_t>(lowest_); i < above_; ++i) items.push_back(i);
  bool fits = true;
  for (std::size_t i = 0; i < items.size(); i += kSide) {
    const std::size_t end = std::min(i + kSide, items.size());
    fits = compare_pairs(forest, std::span(items).first(std::min(end, foot_)),
                         std::span(items).subspan(i, end - i), use) &&
           fits;
  }
  for (std::size_t i = 0; i < foot_; ++i) foot_near_[i * foot_width_ + i] = kClosed;
  return fits;
}

#define RAMIFY_OF(Real)                                                                 \
  template bool PathTable<Real>::compare_kept(std::span<const ForestItem<Real>>);       \
  template bool PathTable<Real>::compare_foot(std::span<const ForestItem<Real>>);       \
  template bool PathTable<Real>::compare_kept_pairs(std::span<const ForestItem<Real>>); \
  template bool PathTable<Real>::compare_foot_pairs(std::span<const ForestItem<Real>>)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
