// SPDX-License-Identifier: BSD-3-Clause
// live_graph_merge.cpp: a component of a live graph is merged, and which vertices its groups are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "graph/contraction.hpp"
#include "graph/live_graph.hpp"

namespace ramify {
namespace {

constexpr std::size_t kMergesAtOnce = 256;  // between two looks at the pulse

}  // namespace

/// What a component's vertices merge to in this band, by themselves.
void LiveGraph::merge_component(Level l, std::size_t component, const Pulse& pulse) {
  const std::size_t first = components_[component], k = components_[component + 1] - first;
  if (k == 2) {
    merge_two(first);
    return;
  }
  order_.resize(k);
  ranks_.resize(k);
  counts_.resize(k);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranks_before(dirty_[first + a], dirty_[first + b]);
  });
  Graph& graph = contraction_.graph();
  graph.begin.assign(1, 0);
  graph.to.clear();
  graph.weight.clear();
  for (std::uint32_t i = 0; i < k; ++i) {
    ranks_[order_[i]] = i;
    counts_[i] = links_[dirty_[first + i]].count;
    for (const Entry& entry : dirty_lists_[first + i]) {
      if (component_of_[entry.to] != component) continue;
      graph.to.push_back(static_cast<Vertex>(dirty_at_[entry.to] - first));
      graph.weight.push_back(entry.sum);
    }
    graph.begin.push_back(graph.to.size());
  }

  // Nodes: the vertices, then the merges. A group is what stands under a node that is done.
  contraction_.start(ranks_, counts_);
  node_.resize(k);
  std::iota(node_.begin(), node_.end(), 0U);
  done_.clear();
  merges_.clear();
  const auto pairs = [&](Vertex a, Vertex b) { return std::uint64_t{counts_[a]} * counts_[b]; };
  merge_by_chains(
      contraction_,
      [&](Vertex a, Vertex b, Weight sum) { return bands_.holds(l, sum, pairs(a, b)); },
      [&](Vertex a, Vertex b, Weight sum, Vertex both) {
        const double mean = static_cast<double>(sum) / static_cast<double>(pairs(a, b));
        merges_.push_back({node_[a], node_[b], kNoNode, mean});
        counts_[both] = counts_[a] + counts_[b];
        node_[both] = static_cast<std::uint32_t>(k + merges_.size() - 1);
        if (merges_.size() % kMergesAtOnce == 0) pulse.check();
      },
      [&](Vertex v) { done_.push_back(node_[v]); });
  part_groups(k, {&dirty_[first], k});
}

/// Of a component of two, which is one by their only edge.
void LiveGraph::merge_two(std::size_t first) {
  Vertex a = dirty_[first], b = dirty_[first + 1];
  const List& list = dirty_lists_[first];
  const auto edge =
      std::find_if(list.begin(), list.end(), [&](const Entry& entry) { return entry.to == b; });
  const double pairs = static_cast<double>(std::uint64_t{links_[a].count} * links_[b].count);
  const bool swaps = ranks_before(b, a);
  if (swaps) std::swap(a, b);
  group_members_.assign({a, b});
  group_merges_.assign({{swaps, !swaps, kNoNode, static_cast<double>(edge->sum) / pairs}});
  member_end_.assign(1, 2);
  merge_end_.assign(1, 1);
}

/// Members, by rank, and merges of each group, out of all of a component.
void LiveGraph::part_groups(std::size_t k, std::span<const Vertex> members) {
  group_.resize(k + merges_.size());
  at_.resize(k + merges_.size());
  for (std::uint32_t g = 0; g < done_.size(); ++g) group_[done_[g]] = g;
  for (std::size_t t = merges_.size(); t-- > 0;)
    group_[merges_[t].a] = group_[merges_[t].b] = group_[k + t];
  member_end_.assign(done_.size(), 0);
  for (std::size_t i = 0; i < k; ++i) ++member_end_[group_[i]];
  merge_end_.resize(done_.size());
  std::uint32_t many = 0, more = 0;
  for (std::size_t g = 0; g < done_.size(); ++g) {  // where each begins, until it is filled
    merge_end_[g] = more;
    more += member_end_[g] - 1;
    many += std::exchange(member_end_[g], many);
  }
  group_members_.resize(k);
  group_merges_.resize(merges_.size());
  std::vector<std::uint32_t>& taken = node_;  // of each group, so many parts have their numbers
  taken.assign(done_.size(), 0);
  for (const std::uint32_t i : order_) {
    at_[i] = taken[group_[i]]++;
    group_members_[member_end_[group_[i]]++] = members[i];
  }
  for (std::size_t t = 0; t < merges_.size(); ++t) {
    const std::uint32_t g = group_[k + t];
    at_[k + t] = taken[g]++;
    group_merges_[merge_end_[g]++] = {at_[merges_[t].a], at_[merges_[t].b], kNoNode,
                                      merges_[t].weight};
  }
}

/// A vertex that is not merged in this band.
void LiveGraph::stay_single(Level l, Vertex v, Change& out) {
  const bool was_merged = old_death(v) == l;
  if (was_merged || marks_[v] == kCame) {
    const Vertex one = before(v);
    Past& known = remember(v);
    known.heir_of = one == kNoVertex ? one : old_up(l, one);
    if (was_merged) {
      links_[v].death = kNever;
      links_[v].next = kNoVertex;
    }
    out.came.push_back(v);
  } else if (marks_[v] == kChanged) {
    out.changed.push_back(v);
    fall_asleep(v, dirty_lists_[dirty_at_[v]]);
  }
}

/// With these neighbours, none if they were not looked at.
void LiveGraph::fall_asleep(Vertex v, const List& neighbours) {
  if (neighbours.empty()) return;
  double most = 0;
  for (const Entry& entry : neighbours)
    most = std::max(most, static_cast<double>(entry.sum) / links_[entry.to].count);
  remember(v).asleep = static_cast<Level>(bands_.first(most / links_[v].count));
}

/// The vertex of this level that had most points of this one before, if there is one that is gone.
Vertex LiveGraph::before(Vertex v) const {
  if (marks_[v] != kCame) return v;
  const Vertex one = past(v)->heir_of;
  return one != kNoVertex && marks_[one] == kGone ? one : kNoVertex;
}

/// Which vertex of before a group is: one that most of its points were in, and that had most of
/// its points from them, and that nobody else is. Nobody, if there is none.
Vertex LiveGraph::number_of(Level l, const Group& group) {
  const auto group_before = [&](Vertex one) {
    return one != kNoVertex && old_death(one) == l ? old_next(one) : kNoVertex;
  };
  Vertex found = kNoVertex;
  std::uint64_t votes = 0, count = 0, staying = 0, stayed = 0;
  for (const Vertex v : group.members) {
    const std::uint64_t more = links_[v].count;
    count += more;
    const Vertex one = group_before(before(v));
    if (one == found) {
      votes += more;
    } else if (votes >= more) {
      votes -= more;
    } else {
      found = one;
      votes = more - votes;
    }
  }
  if (found == kNoVertex) return kNoVertex;
  for (const Vertex v : group.members) {
    if (group_before(before(v)) != found) continue;
    staying += links_[v].count;
    stayed += old_count(before(v));
  }
  const bool is_it = count >= links_[found].floor && 2 * staying > count &&
                     2 * stayed > old_count(found) && !remember(found).is_taken;
  return is_it ? found : kNoVertex;
}

/// Some vertices that this band makes one of.
void LiveGraph::make_group(Level l, const Group& group, Change& out) {
  Vertex v = number_of(l, group);
  const bool is_new = v == kNoVertex;
  if (is_new) v = new_vertex();
  remember(v).is_taken = true;
  const Vertex largest =
      *std::max_element(group.members.begin(), group.members.end(),
                        [&](Vertex a, Vertex b) { return links_[a].count < links_[b].count; });
  bool is_changed = group.members.size() != vertices_[v].members.size();
  std::uint32_t count = 0;
  for (const Vertex member : group.members) {
    if (marks_[member] != kCame && old_death(member) > l) out.gone.push_back(member);
    is_changed = is_changed || marks_[member] != kStays || old_up(l, member) != v;
    if (links_[member].death != l || links_[member].next != v) {
      remember(member);
      links_[member].death = l;
      links_[member].next = v;
    }
    count += links_[member].count;
  }
  VertexData& data = vertices_[v];
  data.key = vertices_[group.members.front()].key;  // they are in order of rank
  data.number = vertices_[group.members.front()].number;
  data.members.assign(group.members.begin(), group.members.end());
  const std::size_t stay = std::min(group.merges.size(), data.merges.size());
  for (std::size_t t = stay; t < data.merges.size(); ++t)
    if (data.merges[t].node != kNoNode) released_.push_back(data.merges[t].node);
  data.merges.resize(group.merges.size());
  for (std::size_t t = 0; t < group.merges.size(); ++t) {
    const std::uint32_t node = t < stay ? data.merges[t].node : kNoNode;
    data.merges[t] = group.merges[t];
    data.merges[t].node = node;
  }
  links_[v].count = count;
  written_.push_back(v);
  if (is_new) {
    links_[v].birth = static_cast<Level>(l + 1);
    links_[v].floor = count - count / 4;
    if (const Vertex one = before(largest); one != kNoVertex) remember(v).heir_of = old_up(l, one);
    out.came.push_back(v);
  } else if (is_changed) {
    out.changed.push_back(v);
  }
}

/// The lists of new groups: those of their members, one level up.
void LiveGraph::list_groups(Level l, const Change& out) {
  for (const Vertex v : out.came) {
    if (links_[v].birth != l + 1) continue;
    List& list = scratch_;
    list.clear();
    for (const Vertex member : vertices_[v].members)
      for (const Entry& entry : dirty_lists_[dirty_at_[member]])
        if (const Vertex to = up(l, entry.to); to != v) gather(list, to, entry.sum);
    end_gathering(list);
    double most = 0;
    for (const Entry& entry : list)
      most = std::max(most, static_cast<double>(entry.sum) / links_[entry.to].floor);
    links_[v].waking = static_cast<Level>(bands_.first(most / links_[v].floor));
    std::sort(list.begin(), list.end());
    vertices_[v].list.assign(list.begin(), list.end());
  }
}

}  // namespace ramify
