// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/otd.hpp"

#include <algorithm>
#include <stdexcept>

#include "algorithms/interchange.hpp"
#include "math/dispatch.hpp"

namespace ramify {
namespace {

// What the walk knows of a node and the new point x.
struct View {
  double gap;     // |x - mean|^2: the summary needs it when x settles below
  double with_x;  // w(T, x)
};

template <class Real>
struct SquaredSimilarity {
  Tree<Real>& tree;
  const Real* x;

  RAMIFY_INLINE View view(NodeId v) const {
    const SummaryView<Real> node = tree.summary(v, tree.room(0));
    const double gap = squared_distance(node.mean, x, tree.dim());
    return {gap, -(gap + node.variance())};
  }
  RAMIFY_INLINE double within(NodeId v) const { return -2 * tree.ssd(v) / (tree.weight(v) - 1.0); }
  double across(NodeId a, NodeId b) const {
    return -mean_distance(tree, Metric::kSqeuclidean, a, b);
  }
};

template <class Real>
struct DotSimilarity {
  Tree<Real>& tree;
  const Real* x;

  RAMIFY_INLINE View view(NodeId v) const {
    const Real* const mean = tree.mean(v, tree.room(0));
    return {squared_distance(mean, x, tree.dim()), dot(mean, x, tree.dim())};
  }
  double within(NodeId v) const {
    const double n = tree.weight(v);
    const Real* const mean = tree.mean(v, tree.room(0));
    return dot(mean, mean, tree.dim()) - tree.ssd(v) / (n * (n - 1));
  }
  double across(NodeId a, NodeId b) const { return -mean_distance(tree, Metric::kDot, a, b); }
};

// Keeps the books of one walk. Nodes are looked at before x is added to them.
template <class Real>
class Ledger {
 public:
  Ledger(Tree<Real>& tree, const Real* x, Certificate& certificate)
      : similarity_{tree, x}, certificate_(certificate) {}

  void arrive(NodeId root) {
    const double n = similarity_.tree.weight(root);
    growth_ = sum_within(root) + (n - 1) * n * with_x(root);
  }
  void turn(NodeId away, NodeId towards) {
    const double n = similarity_.tree.weight(away);
    gain_ += sum_within(away) + n * similarity_.tree.weight(towards) * with_x(towards);
    const double across = with_x(away);
    if (!away.is_leaf() && across > 0) beta_ = std::min(beta_, mean_within(away) / across);
  }
  void settle(NodeId at) {
    certificate_.beta = std::min(certificate_.beta, beta_);
    certificate_.guaranteed.add(beta_ * growth_ / 3);
    certificate_.achieved.add(gain_ + sum_within(at));
    certificate_.maximum.add(growth_);
  }

 private:
  double with_x(NodeId v) const { return similarity_.view(v).with_x; }
  // Rounding may leave a hair below zero where all products are zero.
  double mean_within(NodeId v) const { return std::max(similarity_.within(v), 0.0); }
  double sum_within(NodeId v) const {
    const double n = similarity_.tree.weight(v);
    return v.is_leaf() ? 0 : n * (n - 1) / 2 * mean_within(v);
  }

  DotSimilarity<Real> similarity_;
  Certificate& certificate_;
  double growth_ = 0;  // of the greatest conceivable revenue
  double gain_ = 0;    // of the tree's revenue
  double beta_ = 1;
};

// No books: costs nothing.
struct NoLedger {
  void arrive(NodeId) {}
  void turn(NodeId, NodeId) {}
  void settle(NodeId) {}
};

template <class Similarity, class Books, class Real>
void walk_and_attach(Tree<Real>& tree, NodeId leaf, const Similarity& similarity, Books books) {
  NodeId at = tree.root();
  View here = similarity.view(at);
  books.arrive(at);
  while (!at.is_leaf() && similarity.within(at) < here.with_x) {
    const NodeId a = tree.left(at), b = tree.right(at);
    const View view_a = similarity.view(a), view_b = similarity.view(b);
    tree.absorb(at, leaf, here.gap);
    const bool to_b = view_a.with_x <= view_b.with_x;
    books.turn(to_b ? a : b, to_b ? b : a);
    at = to_b ? b : a;
    here = to_b ? view_b : view_a;
  }
  books.settle(at);
  tree.attach(leaf, at);
}

/// The split rule: stop where A and B are as alike as x is to either of them.
template <class Similarity, class Real>
void walk_by_split(Tree<Real>& tree, NodeId leaf, const Similarity& similarity) {
  NodeId at = tree.root();
  View here = similarity.view(at);
  while (!at.is_leaf()) {
    const NodeId a = tree.left(at), b = tree.right(at);
    const View view_a = similarity.view(a), view_b = similarity.view(b);
    if (similarity.across(a, b) >= std::max(view_a.with_x, view_b.with_x)) break;
    tree.absorb(at, leaf, here.gap);
    const bool to_b = view_a.with_x <= view_b.with_x;
    at = to_b ? b : a;
    here = to_b ? view_b : view_a;
  }
  tree.attach(leaf, at);
}

template <class Real>
void insert_by_split(Tree<Real>& tree, NodeId leaf, Metric metric) {
  const Real* x = tree.points().row(leaf.row());
  if (metric == Metric::kDot)
    walk_by_split(tree, leaf, DotSimilarity<Real>{tree, x});
  else
    walk_by_split(tree, leaf, SquaredSimilarity<Real>{tree, x});
}

template <class Books, class Real>
void insert_with(Tree<Real>& tree, NodeId leaf, Metric metric, const Books& books) {
  const Real* x = tree.points().row(leaf.row());
  if (metric == Metric::kDot)
    walk_and_attach(tree, leaf, DotSimilarity<Real>{tree, x}, books);
  else
    walk_and_attach(tree, leaf, SquaredSimilarity<Real>{tree, x}, books);
}

}  // namespace

template <class Real>
Otd<Real>::Otd(std::size_t /*dim*/, const Rule& rule, const OtdOptions& options)
    : metric_(rule.metric), split_(options.split), rotate_(options.rotate) {
  if (!options.certify) return;
  if (split_ || rotate_)
    throw std::invalid_argument("certificates are for the paper's OTD, without rotations");
  if (metric_ == Metric::kSqeuclidean)
    throw std::invalid_argument("certificates are for OTD under dot or cosine only");
  certificate_.emplace();
}

template <class Real>
bool Otd<Real>::takes(std::span<const Real> row) const {
  return !certificate_ ||
         std::none_of(row.begin(), row.end(), [](Real value) { return value < 0; });
}

template <class Real>
bool Otd<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> /*nearest*/,
                       const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) {
  if (tree.root() == kNone)
    tree.set_root(leaf);
  else if (split_)
    insert_by_split(tree, leaf, metric_);
  else if (!certificate_)
    insert_with(tree, leaf, metric_, NoLedger{});
  else
    insert_with(tree, leaf, metric_,
                Ledger<Real>(tree, tree.points().row(leaf.row()), *certificate_));
  // The walk has brought every node above up to date.
  if (rotate_ && tree.parent(leaf) != kNone)
    interchange_upwards(tree, metric_, tree.parent(leaf), false);
  return true;
}

template <class Real>
void Otd<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  if (certificate_)
    throw std::invalid_argument("a certificate holds for streams that nothing is taken out of");
  const NodeId beside = tree.detach(leaf);
  if (beside == kNone) return;
  for (NodeId v = tree.parent(beside); v != kNone; v = tree.parent(v)) tree.summarise(v.slot());
}

template <class Real>
void Otd<Real>::weigh(Tree<Real>& tree, NodeId leaf, Standing standing) {
  tree.weigh(leaf, standing);
  for (NodeId v = tree.parent(leaf); v != kNone; v = tree.parent(v)) tree.summarise(v.slot());
}

template <class Real>
Memory Otd<Real>::memory(const Tree<Real>& /*tree*/) const {
  return certificate_ ? Memory{{}, certificate_->numbers()} : Memory{};
}

template <class Real>
void Otd<Real>::restore(const Tree<Real>& /*tree*/, const Memory& memory) {
  if (certificate_) certificate_ = Certificate::from_numbers(memory.numbers);
}

template class Otd<float>;
template class Otd<double>;

}  // namespace ramify
