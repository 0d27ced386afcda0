// SPDX-License-Identifier: BSD-3-Clause
// live_graph_step.cpp: the parts of one level of an update.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "graph/contraction.hpp"
#include "graph/live_graph.hpp"

namespace ramify {
namespace {

constexpr std::size_t kMergesAtOnce = 256;  // between two looks at the pulse
constexpr std::size_t kAhead = 4;           // lists that are on their way from memory

void prefetch(const void* at) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(at);
#else
  static_cast<void>(at);
#endif
}

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
  bool is_new = false;
  for (const Vertex gone : change.gone) {
    const Past& known = bring_front(l, gone, Of::kBefore, is_new);
    if (!is_new && l < known.waking) continue;
    for (const Entry& entry : known.front) {
      if (marks_[entry.to] == kGone) continue;
      if (is_new) tell(entry.to, gone, 0);
      if (l >= known.waking && holds(l, gone, entry.to, entry.sum)) seeds_.push_back(entry.to);
    }
  }
  for (const Vertex came : change.came) {
    seeds_.push_back(came);
    const Past& known = bring_front(l, came, Of::kNow, is_new);
    if (!is_new) continue;
    for (const Entry& entry : known.front)
      if (marks_[entry.to] != kCame) tell(entry.to, came, entry.sum);
  }
  for (const EdgeChange& edge : change.edges) {
    tell(edge.a, edge.b, edge.after);
    tell(edge.b, edge.a, edge.after);
    if (holds(l, edge.a, edge.b, std::max(edge.before, edge.after)))
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

/// The neighbours at this level of a vertex that came, or in the tree before of one that is gone;
/// at the level before they were brought, too, if it was there. Is anybody new among them?
LiveGraph::Past& LiveGraph::bring_front(Level l, Vertex v, Of tree, bool& is_new) {
  Past& known = remember(v);
  List& front = known.front;
  const bool before = tree == Of::kBefore;
  const auto death = [&](Vertex u) { return before ? old_death(u) : links_[u].death; };
  is_new = !known.has_front;
  if (is_new) {
    before ? old_neighbours(v, l, front) : neighbours(v, l, front);
    known.has_front = true;
  } else {
    is_new = before ? known.moving < l
                    : std::any_of(
                          front.begin(), front.end(),
                          [&](const Entry& entry) { return death(entry.to) < l; });
    if (!is_new) return known;
    std::size_t kept = 0;
    for (const Entry entry : front) {
      Vertex to = entry.to;
      if (death(to) < l) to = before ? old_next(to) : links_[to].next;
      if (place_[to] == kNoVertex) {
        place_[to] = static_cast<Vertex>(kept);
        front[kept++] = {to, 0};
      }
      front[place_[to]].sum += entry.sum;
    }
    front.resize(kept);
    for (const Entry& entry : front) place_[entry.to] = kNoVertex;
  }
  double most = 0;
  known.moving = kNever;
  for (const Entry& entry : front) {
    most = std::max(most, static_cast<double>(entry.sum) / links_[entry.to].count);
    if (before) known.moving = std::min(known.moving, old_death(entry.to));
  }
  known.waking = static_cast<Level>(bands_.first(most / links_[v].count));
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
    const Past* const came = marks_[v] == kCame ? past(v) : nullptr;
    if (l < (came != nullptr ? came->waking : links_[v].waking))
      dirty_lists_[at].clear();  // nothing of it is looked at: this is all of the component
    else if (came != nullptr)
      dirty_lists_[at] = came->front;
    else
      neighbours(v, l, dirty_lists_[at]);
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
  if (l < links_[a].waking || l < links_[b].waking) return false;
  std::array<std::vector<Vertex>, 2> seen{{{a}, {b}}};
  std::array<std::size_t, 2> next{0, 0};
  const auto mark = [](std::size_t side) { return kNoVertex - 1 - static_cast<Vertex>(side); };
  component_of_[a] = mark(0);
  component_of_[b] = mark(1);
  bool met = false;
  for (std::size_t side = 0; !met && next[side] < seen[side].size(); side = 1 - side) {
    const Vertex v = seen[side][next[side]++];
    neighbours(v, l, scratch_);
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

/// What a component's vertices merge to in this band, by themselves.
std::vector<LiveGraph::Group> LiveGraph::groups_of(Level l, std::size_t component,
                                                   const Pulse& pulse) {
  const std::size_t first = components_[component], k = components_[component + 1] - first;
  std::vector<std::uint32_t> order(k), ranks(k), counts(k);
  for (std::uint32_t i = 0; i < k; ++i) {
    order[i] = i;
    counts[i] = links_[dirty_[first + i]].count;
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranks_before(dirty_[first + a], dirty_[first + b]);
  });
  for (std::uint32_t i = 0; i < k; ++i) ranks[order[i]] = i;

  if (k == 2) {  // they are a component by their one edge
    const Vertex a = dirty_[first + order[0]], b = dirty_[first + order[1]];
    const List& list = dirty_lists_[first];
    const auto edge = std::find_if(list.begin(), list.end(), [&](const Entry& entry) {
      return entry.to == dirty_[first + 1];
    });
    const double pairs = static_cast<double>(std::uint64_t{links_[a].count} * links_[b].count);
    std::vector<Group> one(1);
    one[0].members = {a, b};
    one[0].merges = {
        {order[0] == 0, order[1] == 0, kNoNode, static_cast<double>(edge->sum) / pairs}};
    return one;
  }
  Graph graph;
  graph.begin.push_back(0);
  for (std::size_t i = 0; i < k; ++i) {
    for (const Entry& entry : dirty_lists_[first + i]) {
      if (component_of_[entry.to] != component) continue;
      graph.to.push_back(static_cast<Vertex>(dirty_at_[entry.to] - first));
      graph.weight.push_back(entry.sum);
    }
    graph.begin.push_back(graph.to.size());
  }

  // Nodes: the vertices, then the merges. A group is what stands under a node that is done.
  Contraction clusters(std::move(graph), ranks, counts);
  std::vector<std::uint32_t> node(k), done;
  std::vector<Merge> merges;
  for (std::uint32_t i = 0; i < k; ++i) node[i] = i;
  const auto pairs = [&](Vertex a, Vertex b) { return std::uint64_t{counts[a]} * counts[b]; };
  merge_by_chains(
      clusters, [&](Vertex a, Vertex b, Weight sum) { return bands_.holds(l, sum, pairs(a, b)); },
      [&](Vertex a, Vertex b, Weight sum, Vertex both) {
        const double mean = static_cast<double>(sum) / static_cast<double>(pairs(a, b));
        merges.push_back({node[a], node[b], kNoNode, mean});
        counts[both] = counts[a] + counts[b];
        node[both] = static_cast<std::uint32_t>(k + merges.size() - 1);
        if (merges.size() % kMergesAtOnce == 0) pulse.check();
      },
      [&](Vertex v) { done.push_back(node[v]); });

  std::vector<std::uint32_t> group(k + merges.size()), place(k + merges.size());
  for (std::uint32_t g = 0; g < done.size(); ++g) group[done[g]] = g;
  for (std::size_t t = merges.size(); t-- > 0;)
    group[merges[t].a] = group[merges[t].b] = group[k + t];
  std::vector<Group> groups(done.size());
  for (const std::uint32_t i : order) {
    place[i] = static_cast<std::uint32_t>(groups[group[i]].members.size());
    groups[group[i]].members.push_back(dirty_[first + i]);
  }
  for (std::size_t t = 0; t < merges.size(); ++t) {
    Group& one = groups[group[k + t]];
    place[k + t] = static_cast<std::uint32_t>(one.members.size() + one.merges.size());
    one.merges.push_back({place[merges[t].a], place[merges[t].b], kNoNode, merges[t].weight});
  }
  return groups;
}

/// A vertex that is not merged in this band.
void LiveGraph::stay_single(Level l, Vertex v, Change& out) {
  const bool was_merged = old_death(v) == l;
  if (was_merged) {
    remember(v);
    links_[v].death = kNever;
    links_[v].next = kNoVertex;
  }
  if (was_merged || marks_[v] == kCame) out.came.push_back(v);
}

/// Some vertices that this band makes one of. The same members are the same vertex as before.
void LiveGraph::make_group(Level l, Group group, Change& out) {
  const Vertex old =
      old_death(group.members.front()) == l ? old_next(group.members.front()) : kNoVertex;
  const bool is_old = old != kNoVertex && vertices_[old].members.size() == group.members.size() &&
                      std::all_of(group.members.begin(), group.members.end(), [&](Vertex v) {
                        return old_death(v) == l && old_next(v) == old;
                      });
  if (is_old) {
    kept_.push_back(old);
    written_.push_back(old);
    for (std::size_t t = 0; t < group.merges.size(); ++t)
      group.merges[t].node = vertices_[old].merges[t].node;
    vertices_[old].members = std::move(group.members);
    vertices_[old].merges = std::move(group.merges);
    return;
  }
  const Vertex v = new_vertex();
  remember(v);
  for (const Vertex member : group.members) {
    if (marks_[member] != kCame && old_death(member) > l) out.gone.push_back(member);
    remember(member);
    links_[member].death = l;
    links_[member].next = v;
    links_[v].count += links_[member].count;
  }
  links_[v].birth = static_cast<Level>(l + 1);
  vertices_[v].key = vertices_[group.members.front()].key;  // they are in order of rank
  vertices_[v].number = vertices_[group.members.front()].number;
  vertices_[v].members = std::move(group.members);
  vertices_[v].merges = std::move(group.merges);
  written_.push_back(v);
  out.came.push_back(v);
}

/// The lists of new groups: those of their members, one level up.
void LiveGraph::list_groups(Level l, const Change& out) {
  for (const Vertex v : out.came) {
    if (links_[v].birth != l + 1) continue;
    List& list = vertices_[v].list;
    for (const Vertex member : vertices_[v].members)
      for (const Entry& entry : dirty_lists_[dirty_at_[member]]) {
        const Vertex to = links_[entry.to].death == l ? links_[entry.to].next : entry.to;
        if (to == v) continue;
        if (place_[to] == kNoVertex) {
          place_[to] = static_cast<Vertex>(list.size());
          list.push_back({to, 0});
        }
        list[place_[to]].sum += entry.sum;
      }
    double most = 0;
    for (const Entry& entry : list) {
      place_[entry.to] = kNoVertex;
      most = std::max(most, static_cast<double>(entry.sum) / links_[entry.to].count);
    }
    links_[v].waking = static_cast<Level>(bands_.first(most / links_[v].count));
    std::sort(list.begin(), list.end());
  }
}

/// Edges whose weight has changed, between vertices of the next level that were there before.
void LiveGraph::carry_edges(Level l, const Change& change, Change& out) {
  if (change.edges.empty()) return;
  for (const Vertex v : out.came) marks_[v] = kCame;
  for (const EdgeChange& edge : change.edges) {
    Vertex a = at_level(edge.a, static_cast<Level>(l + 1));
    Vertex b = at_level(edge.b, static_cast<Level>(l + 1));
    if (a == b || marks_[a] == kCame || marks_[b] == kCame) continue;
    if (a > b) std::swap(a, b);
    out.edges.push_back({a, b, edge.before, edge.after});
  }
  for (const Vertex v : out.came) marks_[v] = kStays;
  std::sort(out.edges.begin(), out.edges.end(), [](const EdgeChange& x, const EdgeChange& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
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
