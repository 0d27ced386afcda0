// SPDX-License-Identifier: BSD-3-Clause
#include "graph/live_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace ramify {
namespace {

constexpr std::size_t kPastKept = 1024;  // whose memory the next update has

}  // namespace

Vertex LiveGraph::announce(std::uint64_t key, std::uint64_t number) {
  const Vertex v = new_vertex();
  marks_[v] = kCame;
  vertices_[v].key = key;
  vertices_[v].number = number;
  return v;
}

void LiveGraph::update(std::span<const Vertex> gone, std::span<const Vertex> came,
                       std::span<const Edge> edges, const Pulse& pulse) {
  written_.clear();
  released_.clear();
  now_.clear();
  begin(gone, came, edges, now_);
  for (Level l = 0; l < bands_.count() && !now_.empty(); ++l) {
    pulse.check();
    next_.clear();
    step(l, now_, next_, pulse);
    std::swap(now_, next_);
  }
  settle_ends(now_);
  finish();
}

/// What changes among the points.
void LiveGraph::begin(std::span<const Vertex> gone, std::span<const Vertex> came,
                      std::span<const Edge> edges, Change& change) {
  change.gone.assign(gone.begin(), gone.end());
  change.came.assign(came.begin(), came.end());
  dead_.assign(gone.begin(), gone.end());
  points_ += came.size();
  points_ -= gone.size();
  for (const Vertex v : came) {
    links_[v].count = links_[v].floor = 1;
    remember(v);
  }
  for (const Edge& edge : edges) {
    const Weight before = weight(edge.a, edge.b);
    if (before == edge.weight) continue;
    for (const auto& [v, to] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      if (marks_[v] != kCame) {
        learn(v, to, edge.weight);
      } else {
        put(vertices_[v].list, to, edge.weight);
        wake(v, to, edge.weight);
      }
    }
    if (marks_[edge.a] != kCame && marks_[edge.b] != kCame)
      change.edges.push_back({edge.a, edge.b, before, edge.weight});
  }
  for (const Vertex v : came) marks_[v] = kStays;
}

/// The merges of a band, where something has changed, and what changes above it.
void LiveGraph::step(Level l, const Change& change, Change& out, const Pulse& pulse) {
  for (const Vertex v : change.gone) marks_[v] = kGone;
  for (const Vertex v : change.came) marks_[v] = kCame;
  for (const Vertex v : change.changed) marks_[v] = kChanged;
  apply(l, change);
  find_components(l, change);

  old_groups_.clear();
  for (const auto& some : {std::span<const Vertex>(dirty_), std::span<const Vertex>(change.gone)})
    for (const Vertex v : some)
      if (old_death(v) == l) old_groups_.push_back(old_next(v));
  std::sort(old_groups_.begin(), old_groups_.end());
  old_groups_.erase(std::unique(old_groups_.begin(), old_groups_.end()), old_groups_.end());

  for (const Vertex v : change.changed)
    if (component_of_[v] == kNoVertex) out.changed.push_back(v);
  for (const Vertex v : change.came)
    if (component_of_[v] == kNoVertex) stay_single(l, v, out);
  for (std::size_t c = 0; c + 1 < components_.size(); ++c) {
    if (components_[c + 1] - components_[c] == 1) {
      stay_single(l, dirty_[components_[c]], out);
      continue;
    }
    merge_component(l, c, pulse);
    for (std::size_t g = 0; g < member_end_.size(); ++g) {
      const std::size_t from = g == 0 ? 0 : member_end_[g - 1];
      const std::size_t first = g == 0 ? 0 : merge_end_[g - 1];
      const Group group{{&group_members_[from], member_end_[g] - from},
                        {group_merges_.data() + first, merge_end_[g] - first}};
      if (group.members.size() == 1)
        stay_single(l, group.members.front(), out);
      else
        make_group(l, group, out);
    }
  }
  for (const Vertex v : change.gone)
    if (old_death(v) > l) out.gone.push_back(v);
  for (const Vertex group : old_groups_) {
    if (remember(group).is_taken) continue;
    out.gone.push_back(group);
    dead_.push_back(group);
  }
  list_groups(l, out);
  carry_edges(l, change, out);

  merged_anew_ += dirty_.size();
  for (const Vertex v : dirty_) component_of_[v] = kNoVertex;
  for (const auto* some : {&change.gone, &change.came, &change.changed})
    for (const Vertex v : *some) marks_[v] = kStays;
}

/// What has changed above the last band.
void LiveGraph::settle_ends(const Change& change) {
  if (change.gone.empty() && change.came.empty()) return;
  std::vector<Vertex> gone = change.gone, came = change.came, left, all;
  std::sort(gone.begin(), gone.end());
  std::sort(came.begin(), came.end());
  std::set_difference(ends_.begin(), ends_.end(), gone.begin(), gone.end(),
                      std::back_inserter(left));
  std::set_union(left.begin(), left.end(), came.begin(), came.end(), std::back_inserter(all));
  ends_ = std::move(all);
}

void LiveGraph::finish() {
  for (std::size_t i = 0; i < past_used_; ++i) {
    const Vertex v = past_[i].vertex;
    past_of_[v] = kNoVertex;
    was_[v] = {links_[v].next, links_[v].count, links_[v].death};
  }
  past_used_ = 0;
  if (past_.size() > kPastKept) past_.clear();
  for (const Vertex v : dead_) {
    for (const Merge& merge : vertices_[v].merges)
      if (merge.node != kNoNode) released_.push_back(merge.node);
    vertices_[v] = {};
    links_[v] = {};
    was_[v] = {};
    free_.push_back(v);
  }
  dead_.clear();
  ++updates_;
}

Vertex LiveGraph::new_vertex() {
  if (!free_.empty()) {
    const Vertex v = free_.back();
    free_.pop_back();
    return v;
  }
  const auto v = static_cast<Vertex>(vertices_.size());
  vertices_.emplace_back();
  links_.emplace_back();
  was_.emplace_back();
  past_of_.push_back(kNoVertex);
  marks_.push_back(kStays);
  ways_.push_back(0);
  component_of_.push_back(kNoVertex);
  dirty_at_.push_back(kNoVertex);
  place_.push_back(kNoVertex);
  return v;
}

bool LiveGraph::ranks_before(Vertex a, Vertex b) const {
  const VertexData &x = vertices_[a], &y = vertices_[b];
  return x.key != y.key ? x.key < y.key : x.number < y.number;
}

/// From now on. It has the memory of one that an earlier update knew.
LiveGraph::Past& LiveGraph::remember_anew(Vertex v) {
  past_of_[v] = static_cast<Vertex>(past_used_);
  if (past_used_ == past_.size()) past_.emplace_back();
  Past& one = past_[past_used_++];
  one.vertex = v;
  one.heir_of = kNoVertex;
  one.is_taken = one.has_front = false;
  one.asleep = 0;
  one.undo.clear();
  return one;
}

/// An entry gets a new sum, 0 for none; what it was is returned.
Weight LiveGraph::put(List& list, Vertex to, Weight sum) {
  const auto at = std::lower_bound(list.begin(), list.end(), Entry{to, 0});
  if (at == list.end() || at->to != to) {
    if (sum == 0) return 0;
    const auto place = at - list.begin();
    if (list.size() == list.capacity()) list.reserve(list.size() + list.size() / 8 + 2);
    list.insert(list.begin() + place, {to, sum});
    return 0;
  }
  const Weight before = std::exchange(at->sum, sum);
  if (sum == 0) list.erase(at);
  return before;
}

/// The list of a vertex that was there before the update.
void LiveGraph::learn(Vertex v, Vertex to, Weight sum) {
  remember(v).undo.push_back({to, put(vertices_[v].list, to, sum)});
  if (sum != 0) wake(v, to, sum);
}

Weight LiveGraph::weight(Vertex a, Vertex b) const {
  const List& list = vertices_[a].list;
  const auto at = std::lower_bound(list.begin(), list.end(), Entry{b, 0});
  return at != list.end() && at->to == b ? Weight{at->sum} : 0;
}

void LiveGraph::neighbours(Vertex v, Level l, List& found) const {
  found.clear();
  for (const Entry& entry : vertices_[v].list) gather(found, at_level(entry.to, l), entry.sum);
  end_gathering(found);
}

void LiveGraph::old_neighbours(Vertex v, Level l, List& found) const {
  found.clear();
  List list = vertices_[v].list;
  if (const Past* known = past(v))
    for (auto one = known->undo.rbegin(); one != known->undo.rend(); ++one)
      put(list, one->to, one->sum);
  for (const Entry& entry : list) {
    Vertex to = entry.to;
    while (old_death(to) < l) to = old_next(to);
    gather(found, to, entry.sum);
  }
  end_gathering(found);
}

}  // namespace ramify
