// SPDX-License-Identifier: BSD-3-Clause
// long_path.hpp: HAC of what hangs off a long path, without comparing all pairs.
//
// All pairs of a path of l subtrees are l^2 / 2 linkages. Most are not needed: one cluster Q
// grows along the path and takes in one subtree S after the other, and to know that a
// merge is HAC's it is enough that
//
//   Q   is nearer to S than to anything else. Q's mean hardly moves from merge to merge, so a
//       distance that was computed once bounds all later ones; few are computed again.
//   S   is nearer to Q than to the other subtrees. What hangs off the path has hardly
//       changed since the path was last opened: a PairMemory knows how near they come.
//
// That is nearest-neighbour chains for reducible linkages, and greedy merging for centroid, with
// searches that look at bounds first. Every comparison leaves room for rounding. Where two
// clusters are nearer to equal than that, the forest is handed back (kUnsure): HAC of all pairs
// decides, by the tie rule. So neither the bounds nor the memory have a say in the tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/forest_hac.hpp"
#include "algorithms/pair_memory.hpp"
#include "math/growth.hpp"

namespace ramify {

/// A union of subtrees, and what is known of its distances to subtrees: by blocks of them.
struct GrowingCluster {
  std::uint32_t cluster = 0;
  double n = 0, ssd = 0, weight = 0;
  std::vector<double> mean;    // less the origin
  std::vector<double> anchor;  // the mean when all distances were computed
  double drift = 0;            // how far the mean has gone since, step by step
  bool has_bounds = false;
  std::size_t computed = 0;  // distances since then
  std::uint32_t likely = 0;  // to be the nearest next time
  // Of each subtree, smaller than its distance: from the anchor, and from where the mean was when
  // it was last computed, with the drift so far added. Then the least of each block.
  std::vector<double> from_anchor, from_last, block_from_anchor, block_from_last;
};

/// Buffers that a stream of paths reuses.
struct LongPathScratch {
  std::vector<double> origin, sizes, weights, norms, block_weights, block_norms, least, bounds,
      keys;
  std::vector<float> from, floats;
  std::vector<std::uint32_t> checked, fresh, block_fresh, which, chain;
  std::vector<std::uint8_t> alive;
  std::vector<Rank> ranks;
  std::vector<GrowingCluster> unions;

  /// Overwrite what is left of rows that have been there.
  void wipe() noexcept {
    ramify::wipe(origin);
    ramify::wipe(from);
    for (GrowingCluster& u : unions) {
      ramify::wipe(u.mean);
      ramify::wipe(u.anchor);
    }
  }
};

enum class LongPathOutcome { kMerged, kUnsure, kStopped };

/// Average, centroid and dot; ward's paths are short.
bool fits_long_path(Metric metric, Linkage linkage);

/// Merge the forest of one path, lowest first, with a new leaf last if `has_x_last`.
/// `trees` are its nodes, by which `memory` knows them. Some tens of distances a subtree,
/// typically; the numbering of merges is forest_hac's.
template <class Real>
LongPathOutcome merge_long_path(std::span<const ForestItem<Real>> forest,
                                std::span<const NodeId> trees, bool has_x_last, std::size_t dim,
                                Metric metric, Linkage linkage, const Pulse& pulse,
                                PairMemory& memory, LongPathScratch& scratch,
                                std::vector<Merge>& merges);

}  // namespace ramify
