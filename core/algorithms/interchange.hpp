// SPDX-License-Identifier: BSD-3-Clause
// interchange.hpp: nearest-neighbour interchange, the smallest change of a binary tree.
//
//   u = (B, C) and its sibling A: one of ((A,C), B) and ((A,B), C) instead of ((B,C), A)
//   w(X,Y)  mean similarity across: minus the squared distance, or the inner product
//
// An interchange to ((A,C), B) changes the tree's revenue (Moseley and Wang) by
// |A||B||C| (w(A,C) - w(B,C)), whatever the rest of the tree is (docs/math.md,
// "Interchanges"). So it pays to bring the two of the three together that are most alike.
// Only u holds other points afterwards; its parent's summary stays right.
#pragma once

#include <algorithm>

#include "math/linkage.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Minus the mean similarity of two subtrees. O(dim).
template <class Real>
double mean_distance(Tree<Real>& tree, Metric metric, NodeId a, NodeId b) {
  const SummaryView<Real> of_a = tree.summary(a, tree.room(0)),
                          of_b = tree.summary(b, tree.room(1));
  return metric == Metric::kDot ? linkage_of<MinusDot>(of_a, of_b, tree.dim())
                                : linkage_of<AverageSquared>(of_a, of_b, tree.dim());
}

/// ((B,C), A) becomes ((A,C), B), where B is a child of inner node u and A u's sibling.
/// u's id stays if it keeps most of its points. What is above must be stale, or marked so
/// by the caller. Cannot fail. O(dim).
template <class Real>
void interchange(Tree<Real>& tree, NodeId u, NodeId b) {
  const NodeId above = tree.parent(u), a = tree.sibling(u), c = tree.sibling(b);
  const bool stays = 2 * tree.weight(c) > tree.weight(u);
  tree.replace_child(above, a, b);
  tree.join(c, a, u.slot());
  if (!stays) tree.set_id(u.slot(), tree.new_id());
}

/// Make the interchange at u, which is not the root, that gains the most, if one gains:
/// if a pair is closer than B and C by more than `slack` of their distance's size. Ties:
/// the second child goes. O(dim).
template <class Real>
bool interchange_if_better(Tree<Real>& tree, Metric metric, NodeId u, double slack = 0) {
  if (u.is_leaf()) return false;
  const NodeId a = tree.sibling(u), b = tree.left(u), c = tree.right(u);
  const double now = mean_distance(tree, metric, b, c);
  const double with_b = mean_distance(tree, metric, a, b);
  const double with_c = mean_distance(tree, metric, a, c);
  const double best = std::min(with_b, with_c);
  if (!(best < now - slack * std::max(std::fabs(now), std::fabs(best)))) return false;
  interchange(tree, u, with_b <= with_c ? c : b);
  return true;
}

/// Interchanges from a node up to the root: at every step those of the node and of its
/// sibling. `summarise` says whether nodes above must be summarised on the way; if not,
/// they are right, and marked as stale. O(depth * dim).
template <class Real>
void interchange_upwards(Tree<Real>& tree, Metric metric, NodeId v, bool summarise) {
  for (NodeId above = tree.parent(v); above != kNone; v = above, above = tree.parent(v)) {
    if (!interchange_if_better(tree, metric, v))
      interchange_if_better(tree, metric, tree.sibling(v));
    if (summarise) tree.summarise(above.slot());
  }
}

}  // namespace ramify
