// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/perch.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace ramify {
namespace {

/// Sum of term(j)^2 in the order of kernels.hpp, so that a bound whose every term
/// is at most a distance's is at most that distance, rounding included.
template <class Term>
double sum_of_squares(std::size_t dim, Term term) {
  const auto square = [&](std::size_t j) {
    const double value = term(j);
    return value * value;
  };
  double lanes[kLanes] = {};
  if (dim < kLanes) {
    for (std::size_t j = 0; j < dim; ++j) lanes[0] += square(j);
    return lanes[0];
  }
  std::size_t i = 0;
  for (; i + kLanes <= dim; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += square(i + j);
  for (std::size_t j = 0; i + j < dim; ++j) lanes[j] += square(i + j);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2)
    for (std::size_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  return lanes[0];
}

template <class Real>
double gap(Real above, Real below) {
  return static_cast<double>(above) - static_cast<double>(below);
}

/// Is a set of two sizes more even after the rotation of v? The authors' Scala
/// rule, |p - a - 2v| < |p - a|, says that v's sibling is larger than its aunt.
bool evens_out(Balance rule, std::uint32_t v, std::uint32_t sibling, std::uint32_t aunt) {
  if (rule == Balance::kReference) return sibling > aunt;
  const auto evenness = [](double m, double n) { return std::min(m, n) / std::max(m, n); };
  const double n_v = v, n_s = sibling, n_a = aunt;
  return evenness(n_v, n_s) + evenness(n_a, n_v + n_s) <
         evenness(n_v, n_a) + evenness(n_s, n_v + n_a);
}

}  // namespace

template <class Real>
bool Perch<Real>::Candidate::operator>(const Candidate& other) const {
  return std::tie(distance, is_leaf, first) > std::tie(other.distance, other.is_leaf, other.first);
}

template <class Real>
bool Perch<Real>::Collapsible::operator>(const Collapsible& other) const {
  return std::tie(spread, first) > std::tie(other.spread, other.first);
}

// --- boxes and bounds -----------------------------------------------------------

template <class Real>
const Real* Perch<Real>::low(const Tree<Real>& tree, NodeId v) const {
  return v.is_leaf() ? tree.points().row(v.row()) : boxes_.data() + 2 * dim_ * v.slot();
}

template <class Real>
const Real* Perch<Real>::high(const Tree<Real>& tree, NodeId v) const {
  return v.is_leaf() ? tree.points().row(v.row()) : boxes_.data() + (v.slot() * 2 + 1) * dim_;
}

template <class Real>
void Perch<Real>::gather(const Tree<Real>& tree, NodeId v, std::vector<RowSlot>& out) const {
  out.clear();
  stack_.assign(1, v);
  while (!stack_.empty()) {
    const NodeId u = stack_.back();
    stack_.pop_back();
    if (u.is_leaf()) {
      out.push_back(u.row());
    } else {
      stack_.push_back(tree.left(u));
      stack_.push_back(tree.right(u));
    }
  }
}

template <class Real>
typename Perch<Real>::View Perch<Real>::view(const Tree<Real>& tree, NodeId v,
                                             std::vector<RowSlot>& points) const {
  points.clear();
  if (tree.count(v) <= options_.exact_up_to) gather(tree, v, points);
  return {low(tree, v), high(tree, v), points};
}

/// Least squared distance of x to a node, by its points or by its box.
template <class Real>
double Perch<Real>::least(const Tree<Real>& tree, const Real* x, const View& v) const {
  if (v.points.empty())
    return sum_of_squares(dim_, [&](std::size_t j) {
      return std::max(std::max(gap(x[j], v.high[j]), gap(v.low[j], x[j])), 0.0);
    });
  double best = squared_distance(tree.points().row(v.points[0]), x, dim_);
  for (const RowSlot point : v.points.subspan(1))
    best = std::min(best, squared_distance(tree.points().row(point), x, dim_));
  return best;
}

/// Greatest squared distance of x to a node.
template <class Real>
double Perch<Real>::most(const Tree<Real>& tree, const Real* x, const View& v) const {
  if (v.points.empty())
    return sum_of_squares(
        dim_, [&](std::size_t j) { return std::max(gap(v.high[j], x[j]), gap(x[j], v.low[j])); });
  double best = 0;
  for (const RowSlot point : v.points)
    best = std::max(best, squared_distance(tree.points().row(point), x, dim_));
  return best;
}

/// LO, squared.
template <class Real>
double Perch<Real>::lower_bound(const Tree<Real>& tree, const View& a, const View& b) const {
  if (options_.bounds == Bounds::kReference) {
    const auto one_way = [&](const View& from, const View& to) {
      const double one = least(tree, to.low, from);
      return to.is_point() ? one : std::min(one, least(tree, to.high, from));
    };
    return std::max(one_way(a, b), one_way(b, a));
  }
  if (a.points.empty() && b.points.empty())
    return sum_of_squares(dim_, [&](std::size_t j) {
      return std::max(std::max(gap(a.low[j], b.high[j]), gap(b.low[j], a.high[j])), 0.0);
    });
  const View &few = a.points.empty() ? b : a, &other = a.points.empty() ? a : b;
  double best = least(tree, tree.points().row(few.points[0]), other);
  for (const RowSlot point : few.points.subspan(1))
    best = std::min(best, least(tree, tree.points().row(point), other));
  return best;
}

/// HI, squared.
template <class Real>
double Perch<Real>::upper_bound(const Tree<Real>& tree, const View& a, const View& b) const {
  if (options_.bounds == Bounds::kReference) {
    const auto one_way = [&](const View& from, const View& to) {
      const double one = most(tree, to.low, from);
      return to.is_point() ? one : std::max(one, most(tree, to.high, from));
    };
    return std::min(one_way(a, b), one_way(b, a));
  }
  if (a.points.empty() && b.points.empty())
    return sum_of_squares(dim_, [&](std::size_t j) {
      return std::max(gap(a.high[j], b.low[j]), gap(b.high[j], a.low[j]));
    });
  const View &few = a.points.empty() ? b : a, &other = a.points.empty() ? a : b;
  double best = 0;
  for (const RowSlot point : few.points)
    best = std::max(best, most(tree, tree.points().row(point), other));
  return best;
}

template <class Real>
void Perch<Real>::make_box(const Tree<Real>& tree, NodeId v) {
  const NodeId a = tree.left(v), b = tree.right(v);
  const Real *low_a = low(tree, a), *low_b = low(tree, b);
  const Real *high_a = high(tree, a), *high_b = high(tree, b);
  Real* out = boxes_.data() + 2 * dim_ * v.slot();
  for (std::size_t j = 0; j < dim_; ++j) out[j] = std::min(low_a[j], low_b[j]);
  for (std::size_t j = 0; j < dim_; ++j) out[dim_ + j] = std::max(high_a[j], high_b[j]);
}

/// One more point x below v and all above it. A box that already holds x ends the
/// widening: the boxes above hold that box.
template <class Real>
void Perch<Real>::tell_ancestors(Tree<Real>& tree, NodeId v, const Real* x) {
  bool widening = true;
  for (; v != kNone; v = tree.parent(v)) {
    tree.grow(v);
    if (!widening) continue;
    widening = false;
    Real *lo = boxes_.data() + 2 * dim_ * v.slot(), *hi = lo + dim_;
    for (std::size_t j = 0; j < dim_; ++j) {
      widening = widening || x[j] < lo[j] || x[j] > hi[j];
      lo[j] = std::min(lo[j], x[j]);
      hi[j] = std::max(hi[j], x[j]);
    }
  }
}

// --- search -----------------------------------------------------------------------

/// The nearest leaf, which may be a collapsed node. A* from the root of a tree with at
/// least one point.
template <class Real>
NodeId Perch<Real>::nearest(const Tree<Real>& tree, const Real* x) {
  const auto candidate = [&](NodeId v) {
    return Candidate{least(tree, x, view(tree, v, points_a_)), v, is_leaf(v), tree.first_leaf(v)};
  };
  frontier_.assign(1, candidate(tree.root()));
  Candidate best = frontier_.front();  // the nearest leaf met, if is_leaf
  for (;;) {
    const Candidate here = frontier_.front();
    if (here.is_leaf) return here.node;
    std::pop_heap(frontier_.begin(), frontier_.end(), std::greater<>{});
    frontier_.pop_back();
    for (const NodeId child : {tree.left(here.node), tree.right(here.node)}) {
      const Candidate next = candidate(child);
      if (best.is_leaf && next > best) continue;  // that leaf would be popped before it
      if (next.is_leaf) best = next;
      frontier_.push_back(next);
      std::push_heap(frontier_.begin(), frontier_.end(), std::greater<>{});
    }
  }
}

// --- rotations --------------------------------------------------------------------

/// Both passes ask about a v that has a grandparent.
template <class Real>
bool Perch<Real>::is_masked(const Tree<Real>& tree, NodeId v) const {
  const View here = view(tree, v, points_a_);
  const View sibling = view(tree, tree.sibling(v), points_b_);
  const View aunt = view(tree, tree.sibling(tree.parent(v)), points_c_);
  return upper_bound(tree, here, aunt) < lower_bound(tree, here, sibling);
}

template <class Real>
bool Perch<Real>::can_balance(const Tree<Real>& tree, NodeId v) const {
  const NodeId s = tree.sibling(v), a = tree.sibling(tree.parent(v));
  if (!evens_out(options_.balance, tree.count(v), tree.count(s), tree.count(a))) return false;
  const View here = view(tree, v, points_a_);
  const View sibling = view(tree, s, points_b_);
  const View aunt = view(tree, a, points_c_);
  return upper_bound(tree, here, sibling) > lower_bound(tree, here, aunt);
}

/// v's sibling and aunt change places. The node above v is a new one: it keeps
/// its id only if v was most of it.
template <class Real>
void Perch<Real>::rotate(Tree<Real>& tree, NodeId v) {
  const NodeId p = tree.parent(v), aunt = tree.sibling(p);
  if (2 * std::uint64_t{tree.count(v)} <= tree.count(p)) tree.set_id(p.slot(), tree.new_id());
  tree.swap(tree.sibling(v), aunt);
  tree.recount(p);
  make_box(tree, p);
  if (is_leaf(v) && is_leaf(aunt)) offer(tree, p);
}

template <class Real>
void Perch<Real>::unmask(Tree<Real>& tree, NodeId start) {
  for (NodeId v = start; v != tree.root(); v = tree.parent(v)) {
    if (tree.parent(v) != tree.root() && is_masked(tree, v))
      rotate(tree, v);
    else if (!is_leaf(v))
      return;
  }
}

template <class Real>
void Perch<Real>::balance(Tree<Real>& tree, NodeId start) {
  if (options_.balance == Balance::kNone) return;
  for (NodeId v = start; v != tree.root() && tree.parent(v) != tree.root(); v = tree.parent(v)) {
    NodeId first = v, second = tree.sibling(v);
    const std::uint32_t n = tree.count(first), n_sibling = tree.count(second);
    const bool equal_swaps = options_.balance == Balance::kPython;
    if (n_sibling < n || (n_sibling == n && equal_swaps)) std::swap(first, second);
    for (const NodeId w : {first, second})
      if (can_balance(tree, w)) {
        rotate(tree, w);
        v = w;
        break;
      }
  }
}

// --- collapsing -------------------------------------------------------------------

template <class Real>
bool Perch<Real>::may_collapse(const Tree<Real>& tree, NodeId v) const {
  return !is_leaf(v) && is_leaf(tree.left(v)) && is_leaf(tree.right(v));
}

template <class Real>
double Perch<Real>::spread(const Tree<Real>& tree, NodeId v) const {
  return upper_bound(tree, view(tree, tree.left(v), points_a_),
                     view(tree, tree.right(v), points_b_));
}

template <class Real>
void Perch<Real>::offer(const Tree<Real>& tree, NodeId v) {
  if (!collapses()) return;
  heap_.push_back({spread(tree, v), tree.first_leaf(v), v.slot()});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

/// Entries whose node has changed since are met here and dropped: whenever two
/// leaves become siblings, their parent is offered anew.
template <class Real>
void Perch<Real>::collapse_one(const Tree<Real>& tree) {
  while (!heap_.empty()) {
    const Collapsible top = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
    const NodeId v = NodeId::inner(top.slot);
    if (tree.is_free(top.slot) || !may_collapse(tree, v) || top.first != tree.first_leaf(v) ||
        top.spread != spread(tree, v))
      continue;
    collapsed_[top.slot] = 1;
    if (v != tree.root() && is_leaf(tree.sibling(v))) offer(tree, tree.parent(v));
    return;
  }
}

// --- the whole --------------------------------------------------------------------

/// All the memory that an insert beside `at` can ask for.
template <class Real>
void Perch<Real>::make_room(const Tree<Real>& tree, NodeId at) {
  ramify::make_room(boxes_, 2 * dim_);
  const std::size_t looked_at = std::min(options_.exact_up_to, tree.points().slots()) + 2;
  for (std::vector<RowSlot>* points : {&points_a_, &points_b_, &points_c_}) {
    points->clear();
    ramify::make_room(*points, looked_at);
  }
  stack_.clear();
  ramify::make_room(stack_, looked_at);
  if (!collapses()) return;
  // One offer at the start, one at each rotation of two passes upwards, one at the end.
  std::size_t offers = 2;
  for (NodeId v = at; v != kNone; v = tree.parent(v)) offers += 2;
  ramify::make_room(collapsed_, 1);
  ramify::make_room(heap_, offers);
}

template <class Real>
bool Perch<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                         const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) {
  if (tree.root() == kNone) {
    tree.set_root(leaf);
    return true;
  }
  const NodeId at =
      collapses() ? this->nearest(tree, tree.points().row(leaf.row())) : first_of(nearest);
  make_room(tree, at);
  const NodeId q = tree.attach(leaf, at);
  tree.mark_stale(q);
  if (const std::size_t room = tree.slots() * 2 * dim_; boxes_.size() < room) boxes_.resize(room);
  make_box(tree, q);
  tell_ancestors(tree, tree.parent(q), tree.points().row(leaf.row()));
  if (collapses()) {
    if (collapsed_.size() < tree.slots()) collapsed_.push_back(0);
    offer(tree, q);
  }
  unmask(tree, at);
  balance(tree, tree.sibling(leaf));
  if (collapses() && tree.points().living() > options_.max_leaves) collapse_one(tree);
  return true;
}

/// Nothing of what was below a node that has gone is kept.
template <class Real>
void Perch<Real>::forget(Slot slot) {
  std::fill_n(boxes_.data() + 2 * dim_ * slot, 2 * dim_, Real{0});
  if (collapses()) collapsed_[slot] = 0;
}

template <class Real>
void Perch<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  const NodeId gone = tree.parent(leaf);
  make_room(tree, leaf);
  const NodeId beside = tree.detach(leaf);
  if (beside == kNone) return;
  forget(gone.slot());
  for (NodeId v = tree.parent(beside); v != kNone; v = tree.parent(v)) {
    tree.recount(v);
    make_box(tree, v);
    if (collapses() && may_collapse(tree, v)) offer(tree, v);
  }
}

template <class Real>
void Perch<Real>::renumber(std::span<const RowSlot> new_slot) {
  for (Collapsible& entry : heap_) entry.first = new_slot[entry.first];
  // Ties may have changed places: of entries that no longer hold only.
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

template class Perch<float>;
template class Perch<double>;

}  // namespace ramify
