// SPDX-License-Identifier: BSD-3-Clause
// measures.hpp: how good a frozen tree is, in near-linear time.
//
//   w(i,j)   similarity of two points      |v|     number of leaves below v
//   w(A)     sum of w over A's pairs       w(A,B)  sum of w over all pairs across
//
//   total    w(root)
//   revenue  sum over pairs of w(i,j) (n - |lca(i,j)|)    (Moseley and Wang)
//   cost     sum over pairs of w(i,j) |lca(i,j)|          (Dasgupta)
//
// The three are summed separately, although cost + revenue = n total: where two
// of them nearly cancel, the third would have no digits left.
#pragma once

#include <cstdint>
#include <span>

#include "math/sum.hpp"
#include "pulse.hpp"
#include "tree/dendrogram.hpp"

namespace ramify {

struct PairSums {
  double total = 0;
  double revenue = 0;
  double cost = 0;
};

/// Similarities whose sums follow from n, mean and ssd of each node.
enum class MomentSimilarity {
  kSqeuclidean,  // -|x - y|^2
  kCosine,       // x.y / |x||y|; no row may be zero
  kDot,          // x.y
};

/// Exact in O(n dim) time and O(n + dim log n) memory:
///   revenue = sum over v = (A,B) of |B| w(A) + |A| w(B),  cost = sum of |v| w(A,B).
/// `across`, if it is not empty, gets w(A,B) of every merge, by row.
template <class Real>
PairSums moment_sums(Children children, const Real* rows, std::size_t dim,
                     MomentSimilarity similarity, const Pulse& pulse,
                     std::span<double> across = {});

/// Mean over all pairs of points of one class of the share of that class among
/// the leaves of their lowest common ancestor; 1 when there is no such pair.
/// Classes are numbers below `classes`. O(n log n).
double dendrogram_purity(Children children, std::span<const std::int64_t> classes_of_leaves,
                         std::size_t classes, const Pulse& pulse);

}  // namespace ramify
