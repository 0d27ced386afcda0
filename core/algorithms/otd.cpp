// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/otd.hpp"

#include <algorithm>
#include <stdexcept>

#include "algorithms/interchange.hpp"
#include "algorithms/otd_ties.hpp"
#include "math/dispatch.hpp"

namespace ramify {
namespace {

// What the walk knows of a node and the new point x.
struct View {
  double gap;     // |x - mean|^2: the summary needs it when x settles below
  double with_x;  // w(T, x)
  double spread;  // the gap and the variance
};

template <class Real>
struct SquaredSimilarity {
  Tree<Real>& tree;
  const Real* x;

  RAMIFY_INLINE View view(NodeId v) const {
    const SummaryView<Real> node = tree.summary(v, tree.room(0));
    const double gap = squared_distance(node.mean, x, tree.dim());
    const double spread = gap + node.variance();
    return {gap, -spread, spread};
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
    const SummaryView<Real> node = tree.summary(v, tree.room(0));
    const double gap = squared_distance(node.mean, x, tree.dim());
    return {gap, dot(node.mean, x, tree.dim()), gap + node.variance()};
  }
  double within(NodeId v) const {
    const double n = tree.weight(v);
    const Real* const mean = tree.mean(v, tree.room(0));
    return dot(mean, mean, tree.dim()) - tree.ssd(v) / (n * (n - 1));
  }
  double across(NodeId a, NodeId b) const { return -mean_distance(tree, Metric::kDot, a, b); }
};

// The two comparisons of a step, and where rounding may have moved them, once more (otd_ties.hpp).
template <class Similarity, class Real>
class Comparisons {
 public:
  Comparisons(const Tree<Real>& tree, const Similarity& similarity, Metric metric)
      : tree_(tree), similarity_(similarity), metric_(metric), doubt_(tree, similarity.x, metric) {}

  /// Is w(T) < w(T,x)?
  RAMIFY_INLINE bool walks_on(NodeId t, const View& of_t) const {
    const double within = similarity_.within(t), n = tree_.weight(t);
    double difference = of_t.with_x - within;
    if (n < 2) difference *= n > 1.0625 ? 2 * (n - 1) / n : 0;  // w(T) divides by n - 1
    if (doubt_.is_close(difference, {of_t.spread, tree_.count(t)})) [[unlikely]]
      if (const auto exact = is_nearer_than_within(tree_, t, similarity_.x, metric_)) return *exact;
    return within < of_t.with_x;
  }
  /// Is w(A,x) <= w(B,x)?
  RAMIFY_INLINE bool turns_to_b(NodeId a, const View& of_a, NodeId b, const View& of_b) const {
    const std::uint32_t leaves = std::max(tree_.count(a), tree_.count(b));
    if (doubt_.is_close(of_a.with_x - of_b.with_x, {of_a.spread + of_b.spread, leaves}))
        [[unlikely]]
      if (const auto exact = is_no_nearer(tree_, a, b, similarity_.x, metric_)) return *exact;
    return of_a.with_x <= of_b.with_x;
  }

 private:
  const Tree<Real>& tree_;
  const Similarity& similarity_;
  Metric metric_;
  OtdDoubt<Real> doubt_;
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
void walk_and_attach(Tree<Real>& tree, NodeId leaf, const Similarity& similarity, Metric metric,
                     Books books) {
  const Comparisons<Similarity, Real> compare(tree, similarity, metric);
  NodeId at = tree.root();
  View here = similarity.view(at);
  books.arrive(at);
  while (!at.is_leaf() && compare.walks_on(at, here)) {
    const NodeId a = tree.left(at), b = tree.right(at);
    const View view_a = similarity.view(a), view_b = similarity.view(b);
    tree.absorb(at, leaf, here.gap);
    const bool to_b = compare.turns_to_b(a, view_a, b, view_b);
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
    walk_and_attach(tree, leaf, DotSimilarity<Real>{tree, x}, metric, books);
  else
    walk_and_attach(tree, leaf, SquaredSimilarity<Real>{tree, x}, metric, books);
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
  tree.add_up_weights(tree.parent(leaf));
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
