// SPDX-License-Identifier: BSD-3-Clause
// spread.hpp: the sum of squares of a frozen tree's clusters, merge by merge.
//
//   ssd(v)   sum over the points x of v of w |x - mean|^2, w their weights
//   gain(v)  ssd(v) - ssd(A) - ssd(B) of v = (A, B): by how much splitting v lowers the
//            sum over all clusters. From weights and means alone,
//            n_A n_B / (n_A + n_B) |mean_A - mean_B|^2, and so never negative.
#pragma once

#include <span>
#include <vector>

#include "pulse.hpp"
#include "tree/dendrogram.hpp"

namespace ramify {

/// The gain of every merge, by row. `weights` are of the leaves; none: 1.
/// O(n dim) time, O(n + dim log n) memory.
template <class Real>
std::vector<double> split_gains(Children children, const Real* rows, std::size_t dim,
                                std::span<const double> weights, const Pulse& pulse);

}  // namespace ramify
