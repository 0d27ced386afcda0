// SPDX-License-Identifier: BSD-3-Clause
#include "otd.hpp"

namespace ramify {
namespace {

// What the walk knows of a node and the new point x.
struct View {
  double gap;     // |x - mean|^2: the summary needs it when x settles below
  double with_x;  // w(T, x)
};

template <class Real>
struct SquaredSimilarity {
  const Tree<Real>& tree;
  const Real* x;

  View view(NodeId v) const {
    const double gap = squared_distance(tree.mean(v), x, tree.dim());
    return {gap, -(gap + tree.ssd(v) / tree.size(v))};
  }
  double within(NodeId v) const { return -2 * tree.ssd(v) / (tree.size(v) - 1.0); }
};

template <class Real>
struct DotSimilarity {
  const Tree<Real>& tree;
  const Real* x;

  View view(NodeId v) const {
    return {squared_distance(tree.mean(v), x, tree.dim()), dot(tree.mean(v), x, tree.dim())};
  }
  double within(NodeId v) const {
    const double n = tree.size(v);
    const Real* mean = tree.mean(v);
    return dot(mean, mean, tree.dim()) - tree.ssd(v) / (n * (n - 1));
  }
};

template <class Similarity, class Real>
void walk_and_attach(Tree<Real>& tree, NodeId leaf, const Similarity& similarity) {
  NodeId at = tree.root();
  View here = similarity.view(at);
  while (!at.is_leaf() && similarity.within(at) < here.with_x) {
    const NodeId a = tree.left(at), b = tree.right(at);
    const View view_a = similarity.view(a), view_b = similarity.view(b);
    tree.absorb(at, similarity.x, here.gap);
    const bool to_b = view_a.with_x <= view_b.with_x;
    at = to_b ? b : a;
    here = to_b ? view_b : view_a;
  }
  tree.attach(leaf, at);
}

}  // namespace

template <class Real>
void otd_insert(Tree<Real>& tree, NodeId leaf, Metric metric) {
  if (tree.root() == kNone) {
    tree.set_root(leaf);
    return;
  }
  const Real* x = tree.points().row(leaf.point());
  if (metric == Metric::kDot)
    walk_and_attach(tree, leaf, DotSimilarity<Real>{tree, x});
  else
    walk_and_attach(tree, leaf, SquaredSimilarity<Real>{tree, x});
}

template void otd_insert(Tree<float>&, NodeId, Metric);
template void otd_insert(Tree<double>&, NodeId, Metric);

}  // namespace ramify
