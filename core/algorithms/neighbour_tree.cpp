// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/neighbour_tree.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify {
namespace {

/// With a row to come for every kMany that are there, all lists are searched for anew.
constexpr std::size_t kMany = 4;

}  // namespace

template <class Real>
NeighbourTree<Real>::NeighbourTree(std::size_t dim, const Rule& rule,
                                   const NeighbourTreeOptions& options)
    : dim_(dim), rule_{options.k, options.weight, rule.metric == Metric::kCosine} {
  if (rule.metric == Metric::kDot)
    throw std::invalid_argument("nearest rows are by distances, and not by inner products");
}

template <class Real>
bool NeighbourTree<Real>::insert(Tree<Real>&, NodeId, std::span<const Neighbour>,
                                 const Neighbours<Real>*, const Pulse&) {
  throw std::invalid_argument("this algorithm takes rows in batches alone");
}

template <class Real>
bool NeighbourTree<Real>::change(Tree<Real>& tree, RowSlot begin, std::span<const RowSlot> leaving,
                                 const Pulse& pulse, Helpers& helpers) {
  const RowStore<Real>& points = tree.points();
  Plan plan;
  plan.coming = living(points, begin, leaving);
  const std::size_t before = state_ ? state_->lists.size() : living(points, 0, {}, begin).size();
  const bool many = plan.coming.size() * kMany > before;
  try {
    if (!state_ && !stored_lists_.empty() && !many) resume(points, living(points, 0, {}, begin));
    if (!state_ || many)
      start(points, living(points, 0, leaving), pulse, helpers);
    else
      go_on(points, plan, leaving);
    prepare(tree, plan);
  } catch (const Stopped&) {  // before anything was changed
    return false;
  } catch (...) {
    state_.reset();
    throw;
  }
  write(tree, plan, leaving);
  return true;
}

/// The rows from one slot on, up to another, without those that leave, which are in order.
template <class Real>
std::vector<RowSlot> NeighbourTree<Real>::living(const RowStore<Real>& points, RowSlot first,
                                                 std::span<const RowSlot> leaving, RowSlot end) {
  std::vector<RowSlot> found;
  end = std::min(end, static_cast<RowSlot>(points.slots()));
  for (RowSlot row = first; row < end; ++row)
    if (!points.is_hole(row) && !std::binary_search(leaving.begin(), leaving.end(), row))
      found.push_back(row);
  return found;
}

// --- lists and graph --------------------------------------------------------------------

/// From the rows alone.
template <class Real>
void NeighbourTree<Real>::start(const RowStore<Real>& points, std::span<const RowSlot> rows,
                                const Pulse& pulse, Helpers& helpers) {
  auto made = std::make_unique<State>(dim_, rule_);
  made->lists.begin(points, rows, pulse, helpers);
  made->update({}, points, rows, pulse);
  state_ = std::move(made);
  is_new_ = true;
}

/// From the rows and lists of a file.
template <class Real>
void NeighbourTree<Real>::resume(const RowStore<Real>& points, std::span<const RowSlot> rows) {
  auto made = std::make_unique<State>(dim_, rule_);
  made->lists.begin(points, rows, stored_lists_);
  made->update({}, points, rows);
  state_ = std::move(made);
  is_new_ = true;
}

template <class Real>
void NeighbourTree<Real>::go_on(const RowStore<Real>& points, const Plan& plan,
                                std::span<const RowSlot> leaving) {
  std::vector<Item> items;
  std::vector<Vertex> gone;
  for (const RowSlot row : leaving) {
    const Item item = state_->lists.item_at(row);
    if (item == NeighbourLists<Real>::kNobody) continue;  // it comes and goes at once
    items.push_back(item);
    gone.push_back(state_->vertex[item]);
  }
  state_->lists.change(points, items, plan.coming);
  state_->update(gone, points, plan.coming);
}

/// The graph learns what the lists have.
template <class Real>
void NeighbourTree<Real>::State::update(std::span<const Vertex> gone, const RowStore<Real>& points,
                                        std::span<const RowSlot> rows, const Pulse& pulse) {
  std::vector<Vertex> came;
  came.reserve(rows.size());
  for (const RowSlot row : rows) {
    const Item one = lists.item_at(row);
    came.push_back(graph.announce(lists.key(one), points.arrival(row)));
    if (vertex.size() <= one) vertex.resize(one + std::size_t{1});
    vertex[one] = came.back();
    if (item.size() <= came.back()) item.resize(came.back() + std::size_t{1});
    item[came.back()] = one;
  }
  std::vector<Edge> edges = lists.take_edges();
  for (Edge& edge : edges) {
    edge.a = vertex[edge.a];
    edge.b = vertex[edge.b];
  }
  graph.update(gone, came, edges, pulse);
}

// --- the tree ---------------------------------------------------------------------------

/// All memory that write() needs.
template <class Real>
void NeighbourTree<Real>::prepare(Tree<Real>& tree, Plan& plan) {
  const LiveGraph& graph = state_->graph;
  if (is_new_) {
    plan.written = graph.clusters();
    plan.spare = tree.used_slots();
  } else {
    plan.written.assign(graph.written().begin(), graph.written().end());
    plan.spare.assign(graph.released().begin(), graph.released().end());
    plan.spare.insert(plan.spare.end(), top_.begin(), top_.end());
  }
  const auto ends = graph.ends();
  std::size_t merges = ends.empty() ? 0 : ends.size() - 1;
  for (const Vertex v : plan.written)
    for (const LiveGraph::Merge& merge : graph.merges(v))
      merges += merge.node == LiveGraph::kNoNode ? 1 : 0;
  if (merges > plan.spare.size())
    tree.make_room(merges - plan.spare.size());
  else
    tree.make_room_to_erase(plan.spare.size() - merges);
  plan.top.reserve(ends.size());
  plan.ends.reserve(ends.size());
  for (const Vertex v : ends)
    plan.ends.push_back({graph.count(v), graph.key(v), graph.number(v), v, kNone});
}

template <class Real>
void NeighbourTree<Real>::write(Tree<Real>& tree, Plan& plan,
                                std::span<const RowSlot> leaving) noexcept {
  LiveGraph& graph = state_->graph;
  for (const RowSlot row : leaving) tree.cut_off(NodeId::leaf(row));
  if (tree.root() != kNone) tree.cut_off(tree.root());
  for (const Vertex v : plan.written) {
    const auto merges = graph.merges(v);
    const auto members = graph.members(v);
    const auto part = [&](std::uint32_t i) {
      return i < members.size() ? node(members[i]) : NodeId::inner(merges[i - members.size()].node);
    };
    for (LiveGraph::Merge& merge : merges) {
      if (merge.node == LiveGraph::kNoNode) merge.node = take_slot(tree, plan);
      join(tree, part(merge.a), part(merge.b), rule_.height(merge.weight), merge.node);
    }
  }
  const NodeId root = join_ends(tree, plan);
  for (const Slot slot : plan.spare) tree.free_slot(slot);
  if (root != kNone) tree.set_root(root);
  // From above, so that the parents of stale nodes are stale.
  for (auto slot = plan.top.rbegin(); slot != plan.top.rend(); ++slot)
    tree.mark_stale(tree.parent(NodeId::inner(*slot)));
  for (auto v = plan.written.rbegin(); v != plan.written.rend(); ++v)
    tree.mark_stale(tree.parent(node(*v)));
  while (tree.next_id() < tree.points().next_arrival()) tree.new_id();
  top_ = std::move(plan.top);
  is_new_ = false;
  stored_lists_ = {};
}

/// What no edge connects is joined at 0: again and again the two that come first.
template <class Real>
NodeId NeighbourTree<Real>::join_ends(Tree<Real>& tree, Plan& plan) {
  std::vector<End>& ends = plan.ends;
  for (End& end : ends) end.node = node(end.vertex);
  const std::greater<> later;
  std::make_heap(ends.begin(), ends.end(), later);
  const auto take = [&] {
    std::pop_heap(ends.begin(), ends.end(), later);
    const End first = ends.back();
    ends.pop_back();
    return first;
  };
  while (ends.size() > 1) {
    const End a = take(), b = take();
    const Slot slot = take_slot(tree, plan);
    join(tree, a.node, b.node, rule_.height(0), slot);
    plan.top.push_back(slot);
    End both = std::pair(a.key, a.number) < std::pair(b.key, b.number) ? a : b;
    both.count = a.count + b.count;
    both.node = NodeId::inner(slot);
    ends.push_back(both);
    std::push_heap(ends.begin(), ends.end(), later);
  }
  return ends.empty() ? kNone : ends.front().node;
}

template <class Real>
Slot NeighbourTree<Real>::take_slot(Tree<Real>& tree, Plan& plan) {
  if (plan.spare.empty()) return tree.new_slot(0);
  const Slot slot = plan.spare.back();
  plan.spare.pop_back();
  return slot;
}

template <class Real>
void NeighbourTree<Real>::join(Tree<Real>& tree, NodeId a, NodeId b, double height, Slot slot) {
  if (tree.first_leaf(b) < tree.first_leaf(a)) std::swap(a, b);
  tree.set_id(slot, tree.points().arrival(tree.first_leaf(b)));
  tree.join_for_later(a, b, slot);
  tree.set_height(slot, height);
}

/// A cluster in the tree.
template <class Real>
NodeId NeighbourTree<Real>::node(Vertex v) const {
  const auto merges = std::as_const(state_->graph).merges(v);
  return merges.empty() ? NodeId::leaf(state_->lists.row(state_->item[v]))
                        : NodeId::inner(merges.back().node);
}

template <class Real>
void NeighbourTree<Real>::renumber(std::span<const RowSlot> new_slot) {
  if (state_) state_->lists.renumber(new_slot);
}

// --- files ------------------------------------------------------------------------------

/// The lists by place among the rows, unless they are lost, and the heights.
template <class Real>
Memory NeighbourTree<Real>::memory(const Tree<Real>& tree) const {
  Memory out;
  out.marks = stored_lists_;
  out.numbers = tree.given_heights();
  if (!state_) return out;
  const RowStore<Real>& points = tree.points();
  std::vector<std::uint32_t> place(points.slots());
  std::uint32_t next = 0;
  for (RowSlot row = 0; row < points.slots(); ++row)
    if (!points.is_hole(row)) place[row] = next++;
  out.marks.assign(next * rule_.k, NeighbourLists<Real>::kNobody);
  for (RowSlot row = 0; row < points.slots(); ++row) {
    if (points.is_hole(row)) continue;
    std::size_t at = place[row] * rule_.k;
    for (const Item other : state_->lists.list(state_->lists.item_at(row)))
      out.marks[at++] = place[state_->lists.row(other)];
  }
  return out;
}

template <class Real>
void NeighbourTree<Real>::restore(const Tree<Real>& tree, const Memory& memory) {
  const std::size_t n = tree.points().slots(), k = rule_.k;
  const auto& lists = memory.marks;
  if (lists.empty()) return;
  if (lists.size() != n * k)
    throw std::invalid_argument("a stored tree has lists of other lengths than its rows");
  std::vector<std::uint32_t> named_by(n, NeighbourLists<Real>::kNobody);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t r = 0; r < k; ++r) {
      const std::uint32_t other = lists[i * k + r];
      if (r >= std::min(k, n - 1) && other == NeighbourLists<Real>::kNobody) continue;
      if (other >= n || other == i || named_by[other] == i)
        throw std::invalid_argument("a stored list names a row that cannot be in it");
      named_by[other] = static_cast<std::uint32_t>(i);
    }
  stored_lists_ = lists;
}

template <class Real>
void NeighbourTree<Real>::check(const Tree<Real>& tree) const {
  if (!state_) return;
  state_->lists.check(tree.points());
  state_->graph.check();
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("neighbour tree: ") + what);
  };
  const LiveGraph& graph = state_->graph;
  std::size_t merges = top_.size();
  for (const Vertex v : graph.clusters()) {
    const auto members = graph.members(v);
    const auto own = graph.merges(v);
    merges += own.size();
    for (const LiveGraph::Merge& merge : own) {
      const NodeId at = NodeId::inner(merge.node);
      for (const std::uint32_t i : {merge.a, merge.b})
        require(tree.parent(i < members.size() ? node(members[i])
                                               : NodeId::inner(own[i - members.size()].node)) == at,
                "a merge is elsewhere in the tree");
      require(tree.given_height(merge.node) == rule_.height(merge.weight), "a height is not right");
    }
  }
  require(merges + 1 == std::max<std::size_t>(tree.attached(), 1), "the tree has other merges");
}

template class NeighbourTree<float>;
template class NeighbourTree<double>;

}  // namespace ramify
