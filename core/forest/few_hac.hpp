// SPDX-License-Identifier: BSD-3-Clause
// few_hac.hpp: HAC of a few clusters whose linkages are known already; average linkage.
//
// The merges are those of forest_hac() on the same clusters, to the bit and in the same order: the
// same chain of nearest neighbours, the same order among equals, the same mean of two linkages.
// But there is hardly anything to prepare, and most of OHAC's forests, once what stays of a path
// has been left out, are of three to eight clusters.
#pragma once

#include <cstddef>
#include <vector>

#include "forest/forest_hac.hpp"
#include "math/lanes.hpp"

namespace ramify {

inline constexpr std::size_t kFew = 2 * kLanesWidth;

/// Two to kFew clusters. The linkage of i and b > i, neither of them the last, is
/// rows[i * stride + b]; and if both are below kLanesWidth, rows[b * stride + i] as well. Rows are
/// of whole vectors, as many as the clusters fill.
struct FewClusters {
  std::size_t count, stride;
  const double* rows;
  const double* last_row;  // of the last one to the others
  Rank ranks[kFew];
};

/// Numbered as by forest_hac(). False if linkages are so large that sums of them might overflow.
bool merge_few(FewClusters& clusters, std::vector<Merge>& merges, std::vector<double>& linkages);

}  // namespace ramify
