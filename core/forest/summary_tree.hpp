// SPDX-License-Identifier: BSD-3-Clause
// summary_tree.hpp: HAC of clusters of which only the summaries are known.
//
// The tree over the frontiers of several trees (tree/outline.hpp) is one: the points
// are elsewhere.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forest/forest_hac.hpp"
#include "math/linkage.hpp"

namespace ramify {

template <class Real>
struct SummaryTree {
  std::vector<Merge> merges;    // as forest_hac() numbers them
  std::vector<double> heights;  // of the merges, as users see them
  std::vector<double> ssds;     // of their outcomes
  std::vector<Real> means;      // one after the other
};

/// Merge clusters, of which there is at least one, until one is left.
template <class Real>
SummaryTree<Real> merge_summaries(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                  Metric metric, Linkage linkage);

}  // namespace ramify
