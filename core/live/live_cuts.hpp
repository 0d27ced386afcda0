// SPDX-License-Identifier: BSD-3-Clause
// live_cuts.hpp: the clusters of the cut that was last asked for, kept until the tree changes.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tree/frontier.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class LiveCuts {
 public:
  /// The clusters of this cut, if it was the last.
  const Frontier<Real>* find(const CutRule& rule, std::uint64_t version) const {
    return frontier_ && version_ == version && rule_ == rule ? &*frontier_ : nullptr;
  }
  /// The clusters of the last cut, which have not been forgotten.
  const Frontier<Real>& last() const {
    if (!frontier_) throw std::logic_error("no cut was asked for");
    return *frontier_;
  }
  /// Is it known in which order a cut by variance splits the nodes?
  bool knows_splits(std::uint64_t version) const {
    return !split_rank_.empty() && split_version_ == version;
  }
  /// Have it known, for a tree without holes among its rows. O(n log n), and O(n dim).
  void rank_splits(Tree<Real>& tree, std::uint64_t version);
  /// Cut a tree whose heights are up to date, and whose splits are known if the rule needs them.
  void cut(const Tree<Real>& tree, const CutRule& rule, std::uint64_t version) {
    frontier_.reset();
    rule_ = rule;
    version_ = version;
    frontier_.emplace(tree, rule, split_rank_);
  }
  /// Rows have other slots now, or what is there is wrong.
  void forget() noexcept { frontier_.reset(); }

 private:
  std::optional<Frontier<Real>> frontier_;
  CutRule rule_;
  std::uint64_t version_ = 0;
  std::vector<std::uint32_t> split_rank_;  // by slot
  std::uint64_t split_version_ = 0;
};

}  // namespace ramify
