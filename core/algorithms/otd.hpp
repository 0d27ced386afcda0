// SPDX-License-Identifier: BSD-3-Clause
// otd.hpp: online top-down insertion, the paper's Algorithm 1.
//
//   T  the subtree the walk is at     A, B  its left and right child
//   w(T)    mean similarity of T's pairs of points
//   w(T,x)  mean similarity of x to T's points
//
// Stop where |T| = 1 or w(T) >= w(T,x): x becomes T's sibling. Otherwise go to
// B if w(A,x) <= w(B,x), else to A. Similarities are minus the squared distance
// (cosine: the same on unit rows, an affine change that keeps every comparison)
// or the inner product; both means come from the summary in O(dim).
#pragma once

#include "algorithms/certificate.hpp"
#include "math/linkage.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Insert an unattached leaf. O(depth * dim), and shuffled data walks two or
/// three steps, however deep the tree is. A certificate, if there is one, is
/// brought up to date: rows must not hold negative numbers then, and the metric
/// must be dot or cosine, whose w is the inner product of the rows as stored.
template <class Real>
void otd_insert(Tree<Real>& tree, NodeId leaf, Metric metric, Certificate* certificate = nullptr);

/// Take a leaf out of a tree with room to erase, and its parent; what is above is
/// summarised anew. O(depth * dim).
template <class Real>
void otd_erase(Tree<Real>& tree, NodeId leaf);

}  // namespace ramify
