// SPDX-License-Identifier: BSD-3-Clause
// live_graph_read.cpp: the tree of a live graph, and what must hold of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "graph/live_graph.hpp"
#include "graph/tree_writer.hpp"

namespace ramify {

std::vector<Edge> LiveGraph::edges() const {
  std::vector<Edge> found;
  for (Vertex v = 0; v < vertices_.size(); ++v)
    if (is_point(v))
      for (const Entry& entry : vertices_[v].list)
        if (v < entry.to) found.push_back({v, entry.to, entry.sum});
  return found;
}

std::vector<Vertex> LiveGraph::clusters() const {
  std::vector<Vertex> found;
  for (Vertex v = 0; v < vertices_.size(); ++v)
    if (links_[v].count > 1) found.push_back(v);
  std::sort(found.begin(), found.end(), [&](Vertex a, Vertex b) {
    return std::pair(links_[a].birth, a) < std::pair(links_[b].birth, b);
  });
  return found;
}

LiveGraph::Snapshot LiveGraph::snapshot() const {
  Snapshot out;
  const std::vector<Vertex> groups = clusters();
  std::vector<Vertex> last(ends_);
  for (Vertex v = 0; v < vertices_.size(); ++v)
    if (is_point(v)) out.points.push_back(v);
  std::sort(out.points.begin(), out.points.end(),
            [&](Vertex a, Vertex b) { return vertices_[a].number < vertices_[b].number; });
  TreeWriter tree(out.points.size());
  std::vector<std::int64_t> node(vertices_.size());
  for (std::size_t i = 0; i < out.points.size(); ++i)
    node[out.points[i]] = static_cast<std::int64_t>(i);
  std::vector<std::int64_t> parts;
  for (const Vertex v : groups) {
    const VertexData& group = vertices_[v];
    parts.clear();
    for (const Vertex member : group.members) parts.push_back(node[member]);
    for (const Merge& merge : group.merges)
      parts.push_back(tree.join(parts[merge.a], parts[merge.b], merge.weight));
    node[v] = parts.back();
  }
  std::sort(last.begin(), last.end(), [&](Vertex a, Vertex b) { return ranks_before(a, b); });
  std::vector<TreeWriter::Part> ends;
  ends.reserve(last.size());
  for (std::size_t i = 0; i < last.size(); ++i)
    ends.emplace_back(links_[last[i]].count, static_cast<std::uint32_t>(i), node[last[i]]);
  tree.join_parts(ends);
  out.tree = std::move(tree).tree();
  return out;
}

std::size_t LiveGraph::entries() const {
  std::size_t found = 0;
  for (const VertexData& vertex : vertices_) found += vertex.list.size();
  return found;
}

std::size_t LiveGraph::bytes() const {
  const std::size_t numbers = sizeof past_of_[0] + sizeof component_of_[0] + sizeof dirty_at_[0] +
                              sizeof place_[0] + sizeof marks_[0] + sizeof ways_[0];
  std::size_t found =
      vertices_.size() * (sizeof(VertexData) + sizeof(Link) + sizeof(Was) + numbers);
  for (const VertexData& vertex : vertices_)
    found += vertex.list.capacity() * sizeof(Entry) + vertex.members.capacity() * sizeof(Vertex) +
             vertex.merges.capacity() * sizeof(Merge);
  return found;
}

void LiveGraph::check() const {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("live graph: ") + what);
  };
  std::size_t points = 0;
  std::vector<Vertex> ends;
  for (Vertex v = 0; v < vertices_.size(); ++v) {
    const VertexData& vertex = vertices_[v];
    if (links_[v].count == 0) continue;
    points += is_point(v);
    if (links_[v].death == kNever) ends.push_back(v);
    require((links_[v].death == kNever) == (links_[v].next == kNoVertex), "3, an end with a next");
    require(links_[v].death == kNever || links_[v].death < bands_.count(), "3, too late a band");
    std::uint32_t count = is_point(v);
    for (const Vertex member : vertex.members) {
      count += links_[member].count;
      require(links_[member].next == v && links_[member].death + 1 == links_[v].birth &&
                  links_[member].birth <= links_[member].death,
              "2, a member that is elsewhere");
    }
    require(count == links_[v].count, "2, a wrong number of points");
    require(links_[v].floor > 0 && links_[v].floor <= count, "4, less than its floor");
    require(vertex.merges.size() + 1 == std::max<std::size_t>(1, vertex.members.size()),
            "2, a wrong number of merges");
  }
  require(points == points_, "a wrong number of points");
  require(ends == ends_, "3, an end that is not known");
  check_lists(require);
}

/// All edges between points go through the levels, side by side.
template <class Require>
void LiveGraph::check_lists(const Require& require) const {
  std::vector<Edge> now = edges();
  std::vector<std::uint8_t> is_met(vertices_.size(), 0);
  std::vector<std::pair<Vertex, Entry>> found;  // of those that begin at this level
  for (std::size_t level = 0; level <= bands_.count(); ++level) {
    const auto l = static_cast<Level>(level);
    std::erase_if(now, [&](Edge& edge) {
      edge.a = at_level(edge.a, l);
      edge.b = at_level(edge.b, l);
      return edge.a == edge.b;
    });
    found.clear();
    for (const Edge& edge : now) {
      require(level == bands_.count() || l >= links_[edge.a].waking ||
                  !holds(l, edge.a, edge.b, edge.weight),
              "4, who merges before it wakes");
      if (links_[edge.a].birth == l) found.push_back({edge.a, {edge.b, edge.weight}});
      if (links_[edge.b].birth == l) found.push_back({edge.b, {edge.a, edge.weight}});
    }
    std::sort(found.begin(), found.end(), [](const auto& x, const auto& y) {
      return std::pair(x.first, x.second.to) < std::pair(y.first, y.second.to);
    });
    for (std::size_t i = 0; i < found.size();) {
      const Vertex v = found[i].first;
      List expected;
      for (; i < found.size() && found[i].first == v; ++i)
        if (!expected.empty() && expected.back().to == found[i].second.to)
          expected.back().sum += found[i].second.sum;
        else
          expected.push_back(found[i].second);
      require(
          std::equal(expected.begin(), expected.end(), vertices_[v].list.begin(),
                     vertices_[v].list.end(),
                     [](const Entry& x, const Entry& y) { return x.to == y.to && x.sum == y.sum; }),
          "1, a list that is not what is between points");
      is_met[v] = 1;
    }
  }
  for (Vertex v = 0; v < vertices_.size(); ++v)
    require(is_met[v] != 0 || links_[v].count == 0 || vertices_[v].list.empty(),
            "1, a list of nothing");
}

}  // namespace ramify
