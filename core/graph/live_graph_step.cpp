// SPDX-License-Identifier: BSD-3-Clause
// live_graph_step.cpp: what a level of an update begins with, and what it hands on.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/live_graph.hpp"

namespace ramify {
namespace {

constexpr std::size_t kAhead = 4;  // lists that are on their way from memory

}  // namespace

/// Lists that were made at this level learn what has changed. Seeds are from where to look for
/// components that are not what they were; what changes by an edge too light for this band, and
/// within a component, find_components sees to.
void LiveGraph::apply(Level l, const Change& change) {
  seeds_.clear();
  news_.clear();
  const auto tell = [&](Vertex v, Vertex to, Weight sum) {
    if (links_[v].birth == l) news_.push_back({v, to, sum});
  };
  std::size_t first_new = 0;
  for (const Vertex gone : change.gone) {
    Past& known = bring_front(l, gone, Of::kBefore, first_new);
    for (std::size_t i = first_new; i < known.front.size(); ++i)
      if (marks_[known.front[i].to] != kGone) tell(known.front[i].to, gone, 0);
    seed_front(l, known);
  }
  for (const Vertex v : change.changed) seed_changed(l, v);
  for (const Vertex came : change.came) {
    const Past& known = bring_front(l, came, Of::kNow, first_new);
    for (std::size_t i = first_new; i < known.front.size(); ++i)
      if (marks_[known.front[i].to] != kCame) tell(known.front[i].to, came, known.front[i].sum);
    if (l >= waking(came)) seeds_.push_back(came);
  }
  for (const EdgeChange& edge : change.edges) {
    tell(edge.a, edge.b, edge.after);
    tell(edge.b, edge.a, edge.after);
    if (marks_[edge.a] != kChanged && marks_[edge.b] != kChanged &&
        holds(l, edge.a, edge.b, std::max(edge.before, edge.after)))
      seeds_.insert(seeds_.end(), {edge.a, edge.b});
  }
  for (std::size_t i = 0; i < news_.size(); ++i) {
    if (i + 2 * kAhead < news_.size()) prefetch(&vertices_[news_[i + 2 * kAhead].of].list);
    if (i + kAhead < news_.size()) {
      const List& list = vertices_[news_[i + kAhead].of].list;
      prefetch(list.data() + list.size() / 2);
    }
    learn(news_[i].of, news_[i].to, news_[i].sum);
  }
}

/// A vertex that has other points than before: those that it is near to now are found from it,
/// those that it was near to are seeds themselves.
void LiveGraph::seed_changed(Level l, Vertex v) {
  if (l < links_[v].waking) return;
  Past& known = remember(v);
  if (l >= known.asleep || old_death(v) == l) seeds_.push_back(v);
  if (known.has_front && l < known.was_asleep) return;
  std::size_t first_new = 0;
  seed_front(l, bring_front(l, v, Of::kBefore, first_new));
}

/// Those that a vertex was near to in the tree before.
void LiveGraph::seed_front(Level l, Past& known) {
  if (l < known.was_asleep) return;
  double most = 0;
  for (const Entry& entry : known.front) {
    most = std::max(most, static_cast<double>(entry.sum) / old_count(entry.to));
    if (marks_[entry.to] != kGone && held(l, known.vertex, entry.to, entry.sum))
      seeds_.push_back(entry.to);
  }
  known.was_asleep = static_cast<Level>(bands_.first(most / old_count(known.vertex)));
}

/// The neighbours at this level of a vertex that came, or in the tree before of one that was there;
/// they may have been brought at an earlier level. Who is new among them stands last.
LiveGraph::Past& LiveGraph::bring_front(Level l, Vertex v, Of tree, std::size_t& first_new) {
  Past& known = remember(v);
  List& front = known.front;
  const bool before = tree == Of::kBefore;
  const auto death = [&](Vertex u) { return before ? old_death(u) : links_[u].death; };
  first_new = 0;
  if (!known.has_front || known.is_before != before) {
    before ? old_neighbours(v, l, front) : neighbours(v, l, front);
    known.has_front = true;
    known.is_before = before;
    known.was_asleep = 0;
    return known;
  }
  scratch_.clear();
  for (std::size_t i = 0; i < front.size(); ++i)
    if (death(front[i].to) < l)
      scratch_.push_back(front[i]);
    else
      front[first_new++] = front[i];
  front.resize(first_new);
  for (const Entry& entry : scratch_) {
    Vertex to = entry.to;
    while (death(to) < l) to = before ? old_next(to) : links_[to].next;
    gather(front, to, entry.sum);
  }
  end_gathering(front, first_new);
  return known;
}

/// The components to merge anew. Where a component has fallen apart or has grown, all of its
/// parts hold a seed; so an edge that is too light for this band, and has an end in one of
/// those, has both ends in one or is between two.
void LiveGraph::find_components(Level l, const Change& change) {
  dirty_.clear();
  components_.assign(1, 0);
  for (const Vertex v : seeds_) explore(l, v);
  for (const EdgeChange& edge : change.edges)
    if (component_of_[edge.a] == kNoVertex && component_of_[edge.b] == kNoVertex &&
        is_one_component(l, edge.a, edge.b))
      explore(l, edge.a);
}

/// The component of a vertex, unless it is known.
void LiveGraph::explore(Level l, Vertex from) {
  if (component_of_[from] != kNoVertex) return;
  const auto component = static_cast<Vertex>(components_.size() - 1);
  const auto reach = [&](Vertex v) {
    const std::size_t at = dirty_.size();
    if (at == dirty_lists_.size()) dirty_lists_.emplace_back();
    List& list = dirty_lists_[at];
    list.clear();  // if nothing of it is looked at, this is all of the component
    if (l >= waking(v)) {
      if (marks_[v] == kCame) {
        list = past(v)->front;
        fall_asleep(v, list);
      } else {
        neighbours(v, l, list);
      }
    }
    component_of_[v] = component;
    dirty_at_[v] = static_cast<Vertex>(at);
    dirty_.push_back(v);
  };
  std::size_t i = dirty_.size();
  reach(from);
  for (; i < dirty_.size(); ++i)
    for (std::size_t e = 0; e < dirty_lists_[i].size(); ++e) {  // lists may move meanwhile
      const Entry entry = dirty_lists_[i][e];
      if (component_of_[entry.to] == kNoVertex && holds(l, dirty_[i], entry.to, entry.sum))
        reach(entry.to);
    }
  components_.push_back(dirty_.size());
}

/// Are two vertices in one component? Looks from both until one side has no more to see.
bool LiveGraph::is_one_component(Level l, Vertex a, Vertex b) {
  if (l < waking(a) || l < waking(b)) return false;
  std::array<std::vector<Vertex>, 2> seen{{{a}, {b}}};
  std::array<std::size_t, 2> next{0, 0};
  const auto mark = [](std::size_t side) { return kNoVertex - 1 - static_cast<Vertex>(side); };
  component_of_[a] = mark(0);
  component_of_[b] = mark(1);
  bool met = false;
  for (std::size_t side = 0; !met && next[side] < seen[side].size(); side = 1 - side) {
    const Vertex v = seen[side][next[side]++];
    neighbours(v, l, scratch_);
    if (next[side] == 1) fall_asleep(v, scratch_);
    for (const Entry& entry : scratch_) {
      Vertex& reached = component_of_[entry.to];
      if (reached == mark(side) || !holds(l, v, entry.to, entry.sum)) continue;
      met = met || reached == mark(1 - side);
      if (reached == kNoVertex) {
        reached = mark(side);
        seen[side].push_back(entry.to);
      }
    }
  }
  for (const auto& some : seen)
    for (const Vertex v : some) component_of_[v] = kNoVertex;
  return met;
}

/// Edges whose weight has changed, between vertices of the next level that were there before.
void LiveGraph::carry_edges(Level l, const Change& change, Change& out) {
  moved_ = change.gone;
  moved_.insert(moved_.end(), change.came.begin(), change.came.end());
  for (const Vertex v : dirty_)
    if (marks_[v] != kCame && up(l, v) != old_up(l, v)) moved_.push_back(v);
  for (const Vertex v : moved_) ways_[v] |= kMoves;
  for (const Vertex v : out.gone) ways_[v] |= kGoes;
  for (const Vertex v : out.came) ways_[v] |= kComes;
  carry_moves(l, out);
  for (const EdgeChange& edge : change.edges) {
    if (((ways_[edge.a] | ways_[edge.b]) & kMoves) != 0) continue;
    const Vertex a = up(l, edge.a), b = up(l, edge.b);
    if (a != b) out.edges.push_back({std::min(a, b), std::max(a, b), edge.before, edge.after});
  }
  for (const auto* some : {&moved_, &out.gone, &out.came})
    for (const Vertex v : *some) ways_[v] = 0;
  settle_edges(l, out);
}

/// What vertices of this level bring with them that are in another group than before: what is
/// between them and others is between other groups.
void LiveGraph::carry_moves(Level l, Change& out) {
  const auto carry = [&](Vertex moved, Vertex group, const List& list, Way never, auto&& above,
                         bool is_more) {
    for (const Entry& entry : list) {
      if ((ways_[entry.to] & kMoves) != 0 && entry.to < moved) continue;  // it does so itself
      const Vertex to = above(entry.to);
      if (to == group || (ways_[to] & never) != 0) continue;
      const Weight sum = entry.sum;
      out.edges.push_back(
          {std::min(group, to), std::max(group, to), is_more ? 0 : sum, is_more ? sum : 0});
    }
  };
  const auto now = [&](Vertex v) { return up(l, v); };
  const auto before = [&](Vertex v) { return old_up(l, v); };
  for (const Vertex v : moved_) {
    if (marks_[v] != kGone && (ways_[now(v)] & kComes) == 0)
      carry(v, now(v), dirty_lists_[dirty_at_[v]], kComes, now, true);
    if (marks_[v] == kCame || (ways_[before(v)] & kGoes) != 0) continue;
    std::size_t first_new = 0;
    carry(v, before(v), bring_front(l, v, Of::kBefore, first_new).front, kGoes, before, false);
  }
}

/// Each pair once, with what is between them before and after.
void LiveGraph::settle_edges(Level l, Change& out) {
  const auto ends = [](const EdgeChange& edge) { return std::uint64_t{edge.a} << 32 | edge.b; };
  std::sort(out.edges.begin(), out.edges.end(),
            [&](const EdgeChange& x, const EdgeChange& y) { return ends(x) < ends(y); });
  std::size_t kept = 0;
  for (std::size_t i = 0, end = 0; i < out.edges.size(); i = end) {
    EdgeChange all = out.edges[i];
    Weight more = 0;  // may be less than none: whole numbers wrap around
    for (end = i; end < out.edges.size() && out.edges[end].a == all.a && out.edges[end].b == all.b;
         ++end)
      more += out.edges[end].after - out.edges[end].before;
    if (more == 0) continue;
    const auto made = [&](Vertex v) { return links_[v].birth == l + 1; };
    if (made(all.a) || made(all.b)) {  // its list still has what was
      all.before = made(all.a) ? weight(all.a, all.b) : weight(all.b, all.a);
      all.after = all.before + more;
    }
    out.edges[kept++] = all;
  }
  out.edges.resize(kept);
}

}  // namespace ramify
