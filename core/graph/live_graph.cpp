// SPDX-License-Identifier: BSD-3-Clause
#include "graph/live_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace ramify {
namespace {

constexpr std::size_t kPastKept = 4096;  // whose memory the next update has

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
  Change change = begin(gone, came, edges);
  for (Level l = 0; l < bands_.count() && !change.empty(); ++l) {
    pulse.check();
    change = step(l, change, pulse);
  }
  settle_ends(change);
  finish();
}

/// What changes among the points.
LiveGraph::Change LiveGraph::begin(std::span<const Vertex> gone, std::span<const Vertex> came,
                                   std::span<const Edge> edges) {
  Change change;
  change.gone.assign(gone.begin(), gone.end());
  change.came.assign(came.begin(), came.end());
  dead_.assign(gone.begin(), gone.end());
  points_ += came.size();
  points_ -= gone.size();
  for (const Vertex v : came) {
    links_[v].count = 1;
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
  return change;
}

/// The merges of a band, where something has changed, and what changes above it.
LiveGraph::Change LiveGraph::step(Level l, const Change& change, const Pulse& pulse) {
  for (const Vertex v : change.gone) marks_[v] = kGone;
  for (const Vertex v : change.came) marks_[v] = kCame;
  apply(l, change);
  find_components(l, change);

  std::vector<Vertex> old_groups;
  for (const auto& some : {std::span<const Vertex>(dirty_), std::span<const Vertex>(change.gone)})
    for (const Vertex v : some)
      if (old_death(v) == l) old_groups.push_back(old_next(v));
  std::sort(old_groups.begin(), old_groups.end());
  old_groups.erase(std::unique(old_groups.begin(), old_groups.end()), old_groups.end());

  Change out;
  kept_.clear();
  for (std::size_t c = 0; c + 1 < components_.size(); ++c) {
    if (components_[c + 1] - components_[c] == 1) {
      stay_single(l, dirty_[components_[c]], out);
      continue;
    }
    for (Group& group : groups_of(l, c, pulse)) {
      if (group.members.size() == 1)
        stay_single(l, group.members.front(), out);
      else
        make_group(l, std::move(group), out);
    }
  }
  for (const Vertex v : change.gone)
    if (old_death(v) > l) out.gone.push_back(v);
  std::sort(kept_.begin(), kept_.end());
  for (const Vertex group : old_groups) {
    if (std::binary_search(kept_.begin(), kept_.end(), group)) continue;
    out.gone.push_back(group);
    dead_.push_back(group);
  }
  list_groups(l, out);
  carry_edges(l, change, out);

  merged_anew_ += dirty_.size();
  for (const Vertex v : dirty_) component_of_[v] = kNoVertex;
  for (const auto& some : {change.gone, change.came})
    for (const Vertex v : some) marks_[v] = kStays;
  return out;
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
  for (std::size_t i = 0; i < past_used_; ++i) past_of_[past_[i].vertex] = kNoVertex;
  past_used_ = 0;
  if (past_.size() > kPastKept) past_.clear();
  for (const Vertex v : dead_) {
    for (const Merge& merge : vertices_[v].merges)
      if (merge.node != kNoNode) released_.push_back(merge.node);
    vertices_[v] = {};
    links_[v] = {};
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
  past_of_.push_back(kNoVertex);
  marks_.push_back(kStays);
  component_of_.push_back(kNoVertex);
  dirty_at_.push_back(kNoVertex);
  place_.push_back(kNoVertex);
  return v;
}

bool LiveGraph::ranks_before(Vertex a, Vertex b) const {
  const VertexData &x = vertices_[a], &y = vertices_[b];
  return x.key != y.key ? x.key < y.key : x.number < y.number;
}

LiveGraph::Past& LiveGraph::remember(Vertex v) {
  if (past_of_[v] == kNoVertex) {
    past_of_[v] = static_cast<Vertex>(past_used_);
    if (past_used_ == past_.size()) past_.emplace_back();
    Past& one = past_[past_used_++];
    one.vertex = v;
    one.death = links_[v].death;
    one.next = links_[v].next;
    one.has_front = false;
    one.undo.clear();
  }
  return past_[past_of_[v]];
}

/// An entry gets a new sum, 0 for none; what it was is returned.
Weight LiveGraph::put(List& list, Vertex to, Weight sum) {
  const auto at = std::lower_bound(list.begin(), list.end(), Entry{to, 0});
  if (at == list.end() || at->to != to) {
    if (sum != 0) list.insert(at, {to, sum});
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
  return at != list.end() && at->to == b ? at->sum : 0;
}

void LiveGraph::neighbours(Vertex v, Level l, List& found) const {
  found.clear();
  for (const Entry& entry : vertices_[v].list) {
    const Vertex to = at_level(entry.to, l);
    if (place_[to] == kNoVertex) {
      place_[to] = static_cast<Vertex>(found.size());
      found.push_back({to, 0});
    }
    found[place_[to]].sum += entry.sum;
  }
  for (const Entry& entry : found) place_[entry.to] = kNoVertex;
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
    if (place_[to] == kNoVertex) {
      place_[to] = static_cast<Vertex>(found.size());
      found.push_back({to, 0});
    }
    found[place_[to]].sum += entry.sum;
  }
  for (const Entry& entry : found) place_[entry.to] = kNoVertex;
}

}  // namespace ramify
