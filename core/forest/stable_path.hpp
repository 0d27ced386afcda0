// SPDX-License-Identifier: BSD-3-Clause
// stable_path.hpp: how much of a root path stays as it is when a point joins below.
//
//   S_0 = y, S_1, ..., S_l   what hangs off y's root path, lowest first
//   P_i                      the path's nodes: P_0 = y, P_i = P_(i-1) + S_i
//   Q_i = P_i + x            what P_i becomes, if all below S_(i+1) merges first
//
// HAC of the forest {S_0 .. S_l, x} joins S_i to Q_(i-1), as the old tree joined
// it to P_(i-1), if these two are closer to each other than either is to any S_b
// with b > i. The last i for which that is not certain is the highest unstable level K:
// only S_0 .. S_K and x are to be merged anew, and the nodes above stay. That
// holds if the merges below K are not disturbed from above, either: each must be
// closer than anything in it is to any S_b with b > K.
//
// The argument needs average linkage, which is a mean over the parts of a cluster
// and never negative. "Certain" allows for all rounding that HAC of the whole
// forest could meet; equal linkages are never certain. docs/math.md has the proof.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/few_hac.hpp"
#include "forest/forest_hac.hpp"
#include "math/growth.hpp"

namespace ramify {

template <class Real>
class StablePath {
 public:
  explicit StablePath(std::size_t dim) : dim_(dim) {}

  /// The highest unstable level K of a forest S_0 .. S_l, x, or a higher one; x comes
  /// last. Needs 3 items or more, of less than kLanes dimensions. O(l^2 dim), but few and flat
  /// loops.
  std::size_t unstable_level(std::span<const ForestItem<Real>> forest);

  /// S_0 .. S_level and x, but for their ranks, to be merged; after unstable_level().
  /// level + 2 is at most kFew, and less than the forest has.
  FewClusters foot(std::size_t level) const {
    FewClusters few;
    few.count = level + 2;
    few.stride = stride_;
    few.rows = rows_.data();
    few.last_row = rows_.data() + items_ * stride_;
    return few;
  }

  /// After unstable_level() has found K, and S_0 .. S_level, x have been merged (forest_hac's
  /// numbering) with these linkages, level >= K: level itself if that was not
  /// disturbed from above, else a higher one to try. O(level l).
  std::size_t unstable_after(std::size_t level, std::span<const Merge> merges,
                             std::span<const double> linkages);

  /// Overwrite what buffers hold of points that have been there.
  void wipe() noexcept {
    for (std::vector<double>* buffer : {&columns_, &x_, &rows_, &sums_, &unions_})
      ramify::wipe(*buffer);
  }

 private:
  void make_room();
  void gather(std::span<const ForestItem<Real>> forest);

  std::size_t dim_;
  std::size_t items_ = 0;   // S_0 .. S_l
  std::size_t stride_ = 0;  // items_ in whole vectors
  double reach_ = 1;        // 1 + what rounding can do to a linkage
  std::vector<double> columns_, x_, sizes_, variances_, sums_;
  std::vector<double> rows_;    // L(S_i, S_b) for b > i, row by row; x's row is the last
  std::vector<double> unions_;  // for each merge below K: linkages to each S_b above
  std::vector<double> weights_;
};

}  // namespace ramify
