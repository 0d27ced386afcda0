// SPDX-License-Identifier: BSD-3-Clause
// kept_linkages.hpp: exact linkages of a forest's items, kept for the next forest.
//
// Where ties keep coming, path after path is merged from a matrix (matrix_space.hpp). A linkage of
// two long rows costs O(dim), and most items of a path hung off the last path, too. Linkages of two
// of these are taken over. Nothing is kept, and no memory is taken, before the first such forest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "math/growth.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// Of pairs of subtrees, by node id.
class KeptLinkages {
 public:
  bool in_use() const { return !trees_.empty(); }
  /// v has other points from now on, or is gone.
  void release(NodeId v) {
    if (knows(v)) trees_[row_of_[v.raw()]] = kNone;
  }
  /// From now on nothing is known.
  void forget() { trees_.clear(); }

  /// Call use(i, k, linkage) for all items i > k of these trees, with what is known or else
  /// compute(i, k). If this throws, what was known is what it was. O(m^2), and compute() for pairs
  /// with a new item.
  template <class Compute, class Use>
  void each_pair(std::span<const NodeId> trees, const Compute& compute, const Use& use) {
    std::vector<std::uint32_t> rows;  // in the last forest
    rows.reserve(trees.size());
    for (const NodeId v : trees) rows.push_back(knows(v) ? row_of_[v.raw()] : kNew);
    next_.resize(before(trees.size()));
    for (std::size_t i = 0; i < trees.size(); ++i) {
      double* out = next_.data() + before(i);
      for (std::size_t k = 0; k < i; ++k) {
        const bool is_known = rows[i] != kNew && rows[k] != kNew;
        out[k] = is_known ? known(rows[i], rows[k]) : compute(i, k);
        use(i, k, out[k]);
      }
    }
    keep(trees);
  }

  /// Overwrite what is left of trees that have been released.
  void wipe() noexcept {
    ramify::wipe(next_);
    if (trees_.empty()) last_.clear();
    wipe_behind(last_);
    for (std::size_t i = 0; i < trees_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (trees_[i] == kNone || trees_[k] == kNone) last_[before(i) + k] = 0;
  }

 private:
  static constexpr std::uint32_t kNew = 0xFFFFFFFFU;
  /// Where row i begins: it has an entry for every earlier item.
  static std::size_t before(std::size_t i) { return i * (i - 1) / 2; }

  bool knows(NodeId v) const {
    if (v == kNone || v.raw() >= row_of_.size()) return false;
    const std::uint32_t row = row_of_[v.raw()];
    return row < trees_.size() && trees_[row] == v;
  }
  double known(std::size_t i, std::size_t k) const {
    return i > k ? last_[before(i) + k] : last_[before(k) + i];
  }
  void keep(std::span<const NodeId> trees) {
    std::uint32_t end = 0;
    for (const NodeId v : trees) end = std::max(end, v.raw() + 1);
    trees_.reserve(trees.size());
    if (row_of_.size() < end) row_of_.resize(end + end / 2);
    trees_.assign(trees.begin(), trees.end());
    for (std::uint32_t i = 0; i < trees.size(); ++i) row_of_[trees[i].raw()] = i;
    std::swap(last_, next_);
  }

  std::vector<NodeId> trees_;          // of the last forest; kNone if released
  std::vector<std::uint32_t> row_of_;  // by raw id; right if trees_ says so
  std::vector<double> last_, next_;    // by pair
};

}  // namespace ramify
