// SPDX-License-Identifier: BSD-3-Clause
// nearest_pairs.hpp: which two of m clusters are nearest, in O(m) for every merge, whatever ties.
//
// All pairs are in a matrix. Blocks of 8 by 8 of its entries have their least pair written down,
// blocks of 8 by 8 of these have theirs, and so on until one is left. A merge changes two rows and
// two columns, and with them m / 8 blocks of 64 entries, m / 64 of 64 blocks, ...: 9 m looks in
// all. Eppstein's quadtree for dynamic closest pairs (ACM JEA 5, 2000), with larger nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/forest_hac.hpp"
#include "forest/tally.hpp"
#include "math/order.hpp"

namespace ramify {

/// `space` has
///   rows()              rows are numbered below; a cluster has one
///   at_row(r)           the cluster there, or kNobody
///   linkage(r, s)       of the clusters in two rows, r < s
class NearestPairs {
 public:
  bool is_ready() const { return !levels_.empty(); }

  /// O(m^2).
  template <class Space>
  void begin(const Space& space, const std::vector<Rank>& ranks) {
    for (std::size_t width = space.rows(); width > 1 || levels_.empty();) {
      width = (width + kSide - 1) / kSide;
      levels_.push_back({width, std::vector<Pair>(width * width)});
    }
    for (std::size_t level = 0; level < levels_.size(); ++level)
      for (std::size_t i = 0; i < levels_[level].width; ++i)
        for (std::size_t k = i; k < levels_[level].width; ++k) look(space, ranks, level, i, k);
  }

  /// The clusters in two rows have merged, into the first of these rows.
  template <class Space>
  void update(const Space& space, const std::vector<Rank>& ranks, std::size_t a, std::size_t b) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      a /= kSide;
      b /= kSide;
      for (const std::size_t row : {a, b})
        for (std::size_t k = 0; k < levels_[level].width; ++k)
          look(space, ranks, level, std::min(row, k), std::max(row, k));
    }
  }

  template <class Space>
  Merge nearest(const Space& space) const {
    const Pair& least = levels_.back().pairs.front();
    return {space.at_row(least.a), space.at_row(least.b)};
  }

 private:
  static constexpr std::size_t kSide = 8;
  struct Pair {
    double linkage = std::numeric_limits<double>::infinity();
    std::uint32_t a = kNobody, b = kNobody;  // rows
  };
  struct Level {
    std::size_t width;
    std::vector<Pair> pairs;  // by block, those with row <= column
  };

  template <class Space>
  static void offer(const Space& space, const std::vector<Rank>& ranks, const Pair& pair,
                    Pair& least) {
    if (pair.a == kNobody || pair.linkage > least.linkage) return;
    const auto key = [&](const Pair& of) {
      return MergeKey(of.linkage, ranks[space.at_row(of.a)], ranks[space.at_row(of.b)]);
    };
    if (pair.linkage < least.linkage || least.a == kNobody || key(pair) < key(least)) least = pair;
  }

  /// Find the least pair of a block anew.
  template <class Space>
  void look(const Space& space, const std::vector<Rank>& ranks, std::size_t level, std::size_t row,
            std::size_t column) {
    Pair least;
    count_work(kSide * kSide);
    const std::size_t below = level == 0 ? space.rows() : levels_[level - 1].width;
    const std::size_t rows = std::min((row + 1) * kSide, below);
    const std::size_t columns = std::min((column + 1) * kSide, below);
    for (std::size_t i = row * kSide; i < rows; ++i)
      for (std::size_t k = std::max(column * kSide, level == 0 ? i + 1 : i); k < columns; ++k) {
        if (level > 0) {
          offer(space, ranks, levels_[level - 1].pairs[i * below + k], least);
          continue;
        }
        const auto a = static_cast<std::uint32_t>(i), b = static_cast<std::uint32_t>(k);
        if (space.at_row(a) == kNobody || space.at_row(b) == kNobody) continue;
        offer(space, ranks, {space.linkage(a, b), a, b}, least);
      }
    levels_[level].pairs[row * levels_[level].width + column] = least;
  }

  std::vector<Level> levels_;
};

}  // namespace ramify
