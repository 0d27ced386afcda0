// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/grinch.hpp"

#include <algorithm>
#include <stdexcept>

namespace ramify {

// --- summaries --------------------------------------------------------------------

template <class Real>
SummaryView<Real> Grinch<Real>::view(const Tree<Real>& tree, NodeId v) const {
  if (v.is_leaf()) return {1.0, tree.points().row(v.row()), 0.0};
  const Note& note = notes_[v.slot()];
  return {note.n, means_.data() + v.slot() * dim_, note.ssd};
}

/// Make the summary of v, and first those below that wait for it.
template <class Real>
void Grinch<Real>::refresh(const Tree<Real>& tree, NodeId v) {
  if (v.is_leaf() || !notes_[v.slot()].stale) return;
  stack_.assign(1, v);
  for (std::size_t i = 0; i < stack_.size(); ++i)
    for (const NodeId child : {tree.left(stack_[i]), tree.right(stack_[i])})
      if (!child.is_leaf() && notes_[child.slot()].stale) stack_.push_back(child);
  for (auto at = stack_.rbegin(); at != stack_.rend(); ++at) {
    const SummaryView<Real> a = view(tree, tree.left(*at)), b = view(tree, tree.right(*at));
    Note& note = notes_[at->slot()];
    note.n = a.n + b.n;
    note.ssd = merged_ssd(a.n, a.ssd, b.n, b.ssd, squared_distance(a.mean, b.mean, dim_));
    note.stale = false;
    merged_mean(a, b, dim_, means_.data() + at->slot() * dim_);
  }
}

template <class Real>
double Grinch<Real>::linkage(const Tree<Real>& tree, NodeId a, NodeId b) {
  refresh(tree, a);
  refresh(tree, b);
  return with_rule(metric_, Linkage::kAverage, [&](auto rule) {
    return linkage_of<decltype(rule)>(view(tree, a), view(tree, b), dim_);
  });
}

template <class Real>
double Grinch<Real>::score(const Tree<Real>& tree, NodeId v) {
  if (!notes_[v.slot()].scored) {
    const double value = linkage(tree, tree.left(v), tree.right(v));
    notes_[v.slot()].score = value;
    notes_[v.slot()].scored = true;
  }
  return notes_[v.slot()].score;
}

/// Something below v has changed.
template <class Real>
void Grinch<Real>::tell_upwards(const Tree<Real>& tree, NodeId v) {
  for (; v != kNone; v = tree.parent(v)) {
    Note& note = notes_[v.slot()];
    note.count = count(tree.left(v)) + count(tree.right(v));
    note.stale = true;
    note.scored = false;
  }
}

// --- the search for a graft ---------------------------------------------------------

template <class Real>
void Grinch<Real>::rule_out(const Tree<Real>& tree, NodeId v) {
  stack_.assign(1, v);
  while (!stack_.empty()) {
    const NodeId u = stack_.back();
    stack_.pop_back();
    if (!u.is_leaf()) {
      stack_.push_back(tree.left(u));
      stack_.push_back(tree.right(u));
    } else if (ruled_out_[u.row()] == 0) {
      ruled_out_[u.row()] = 1;
      ruled_out_list_.push_back(u.row());
    }
  }
}

/// The leaf with the smallest L(c, leaf) that is not ruled out, or kNone. c adds
/// the same to each of them, so it is the one nearest to c's mean.
template <class Real>
NodeId Grinch<Real>::closest_allowed(const Tree<Real>& tree, NodeId c,
                                     const Neighbours<Real>& index) {
  if (ruled_out_list_.size() == ruled_out_.size()) return kNone;
  refresh(tree, c);
  // The newest point lies below c, so only those before it can be allowed.
  Query<Real> query{view(tree, c).mean, static_cast<RowSlot>(ruled_out_.size() - 1)};
  query.ruled_out = ruled_out_.data();
  Neighbour found;
  index.nearest(tree.points(), {&query, 1}, 1, &found, search_, {});
  return found.row == Nearest::kNone.row ? kNone : NodeId::leaf(found.row);
}

template <class Real>
NodeId Grinch<Real>::common_ancestor(const Tree<Real>& tree, NodeId a, NodeId b) {
  for (NodeId v = a; v != kNone; v = tree.parent(v))
    if (!v.is_leaf()) above_[v.slot()] = 1;
  NodeId common = b;
  while (common.is_leaf() || above_[common.slot()] == 0) common = tree.parent(common);
  for (NodeId v = a; v != kNone; v = tree.parent(v))
    if (!v.is_leaf()) above_[v.slot()] = 0;
  return common;
}

// --- rearrangements -------------------------------------------------------------------

template <class Real>
NodeId Grinch<Real>::rotate(const Tree<Real>& tree, NodeId leaf, NodeId nearest) {
  NodeId v = nearest;
  double to_v = linkage(tree, leaf, v);
  for (NodeId p = tree.parent(v); p != kNone; p = tree.parent(v)) {
    // The authors compute both before they look at the cap: quirk 3.
    if (!(to_v > score(tree, p)) || count(p) > options_.rotate_cap) break;
    v = p;
    to_v = linkage(tree, leaf, v);
  }
  return v;
}

template <class Real>
void Grinch<Real>::graft(Tree<Real>& tree, NodeId c, const Neighbours<Real>& index) {
  const bool full = options_.graft == Graft::kFull;
  rule_out(tree, c);
  if (c != tree.root())
    if (const NodeId sibling = tree.sibling(c); sibling.is_leaf()) rule_out(tree, sibling);
  while (c != tree.root() && count(c) < options_.graft_cap) {
    const NodeId n = closest_allowed(tree, c, index);
    if (n == kNone)
      c = tree.parent(c);
    else if (try_graft(tree, c, n) == Outcome::kCapped)
      break;
    if (!full || c == tree.root()) break;
    rule_out(tree, tree.parent(c));
  }
  for (const RowSlot point : ruled_out_list_) ruled_out_[point] = 0;
  ruled_out_list_.clear();
}

/// Walk c and n up to each other. c ends at the grafted node or where they met.
template <class Real>
typename Grinch<Real>::Outcome Grinch<Real>::try_graft(Tree<Real>& tree, NodeId& c, NodeId n) {
  const NodeId common = common_ancestor(tree, c, n);
  while (c != common && n != common && tree.sibling(c) != n) {
    if (count(c) > options_.graft_cap || count(n) > options_.graft_cap) return Outcome::kCapped;
    const double together = linkage(tree, c, n);
    const bool c_gains = together < score(tree, tree.parent(c));
    const bool n_gains = together < score(tree, tree.parent(n));
    if (c_gains && n_gains) {
      move_beside(tree, c, n);
      c = tree.parent(c);
      return Outcome::kGrafted;
    }
    if (!n_gains)
      n = tree.parent(n);
    else
      c = tree.parent(c);
  }
  c = common;
  return Outcome::kMet;
}

template <class Real>
void Grinch<Real>::move_beside(Tree<Real>& tree, NodeId c, NodeId n) {
  const NodeId z = tree.sibling(c), old_parent = tree.parent(n);
  const NodeId left_behind = tree.parent(old_parent);
  const NodeId joined = tree.move(n, c);
  tree.set_id(joined.slot(), tree.new_id());
  tell_upwards(tree, left_behind);
  tell_upwards(tree, joined);
  if (options_.restructure && old_parent != z) restructure(tree, z);
}

template <class Real>
void Grinch<Real>::restructure(Tree<Real>& tree, NodeId z) {
  double least = std::numeric_limits<double>::infinity();
  NodeId best = kNone;
  for (NodeId a = tree.parent(z); a != tree.root() && count(a) < options_.restructure_cap;
       a = tree.parent(a)) {
    const NodeId candidate = tree.sibling(a);
    const double value = linkage(tree, z, candidate);
    if (value < least) {
      least = value;
      best = candidate;
    }
  }
  const double now = score(tree, tree.parent(z));
  if (best != kNone && least < now) tree.swap(tree.sibling(z), best);
}

// --- the whole --------------------------------------------------------------------

template <class Real>
void Grinch<Real>::make_room(std::size_t points) {
  ramify::make_room(ruled_out_, 1);
  ruled_out_.resize(points);
  ramify::make_room(notes_, 1);
  ramify::make_room(means_, dim_);
  ramify::make_room(above_, 1);
  ramify::make_room(ruled_out_list_, points);
  stack_.clear();
  ramify::make_room(stack_, points);
}

template <class Real>
bool Grinch<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                          const Neighbours<Real>* index, const Pulse& /*pulse*/) {
  make_room(leaf.row() + 1);
  index->make_room_to_search(search_);
  if (nearest.empty()) {
    tree.set_root(leaf);
    return true;
  }
  const NodeId c = tree.attach(leaf, rotate(tree, leaf, first_of(nearest)));
  notes_.emplace_back();
  means_.resize(means_.size() + dim_);
  above_.push_back(0);
  tree.mark_stale(c);
  tell_upwards(tree, c);
  if (options_.graft != Graft::kNone) graft(tree, c, *index);
  return true;
}

template <class Real>
Memory Grinch<Real>::memory(const Tree<Real>& tree) const {
  Memory out;
  out.numbers.reserve(notes_.size() * (3 + dim_));
  for (const Slot slot : tree.stored_slots()) {
    const Note& note = notes_[slot];
    out.marks.push_back(note.count);
    out.marks.push_back((note.stale ? 1U : 0U) | (note.scored ? 2U : 0U));
    out.numbers.insert(out.numbers.end(), {note.n, note.ssd, note.score});
    const Real* mean = means_.data() + slot * dim_;
    out.numbers.insert(out.numbers.end(), mean, mean + dim_);
  }
  return out;
}

template <class Real>
void Grinch<Real>::restore(const Tree<Real>& tree, const Memory& memory) {
  const auto& [marks, numbers] = memory;
  const std::size_t slots = tree.slots();
  if (marks.size() != 2 * slots || numbers.size() != (3 + dim_) * slots)
    throw std::invalid_argument("the arrays of a stored GRINCH tree do not fit its nodes");
  notes_.resize(slots);
  means_.resize(slots * dim_);
  above_.resize(slots);
  ruled_out_.resize(tree.points().slots());
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const double* from = numbers.data() + slot * (3 + dim_);
    const std::uint32_t flags = marks[2 * slot + 1];
    notes_[slot] = {marks[2 * slot], (flags & 1U) != 0, (flags & 2U) != 0,
                    from[0],         from[1],           from[2]};
    for (std::size_t j = 0; j < dim_; ++j) means_[slot * dim_ + j] = static_cast<Real>(from[3 + j]);
  }
}

template <class Real>
void Grinch<Real>::check(const Tree<Real>& tree) const {
  if (notes_.size() != tree.slots() || means_.size() != tree.slots() * dim_)
    throw std::logic_error("grinch invariant 1 broken: a node lacks its summary");
  for (const Slot slot : tree.bottom_up()) {
    const NodeId parent = tree.parent(NodeId::inner(slot));
    if (parent != kNone && notes_[slot].stale && !notes_[parent.slot()].stale)
      throw std::logic_error("grinch invariant 2 broken: the parent of a stale node is not");
  }
}

template class Grinch<float>;
template class Grinch<double>;

}  // namespace ramify
