// SPDX-License-Identifier: BSD-3-Clause
#include "graph/graph_hac.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "graph/contraction.hpp"
#include "graph/tree_writer.hpp"

namespace ramify {
namespace {

/// The edges that a heaviest spanning forest is made of, one after the other.
GraphTree single(Graph graph, std::span<const std::uint32_t> ranks, const Pulse& pulse) {
  struct Ranked {
    Weight weight;
    std::uint32_t low;
    std::uint32_t high;
    bool operator<(const Ranked& other) const {
      return std::tie(other.weight, low, high) < std::tie(weight, other.low, other.high);
    }
  };
  const std::size_t n = graph.size();
  std::vector<Ranked> edges;
  edges.reserve(graph.to.size() / 2);
  for (std::size_t v = 0; v < n; ++v)
    for (std::uint64_t i = graph.begin[v]; i < graph.begin[v + 1]; ++i)
      if (graph.to[i] > v)
        edges.push_back({graph.weight[i], std::min(ranks[v], ranks[graph.to[i]]),
                         std::max(ranks[v], ranks[graph.to[i]])});
  graph = {};
  pulse.check(0);
  std::sort(edges.begin(), edges.end());
  std::vector<Vertex> at(n), parent(n);
  for (Vertex v = 0; v < n; ++v) at[ranks[v]] = v;
  std::iota(parent.begin(), parent.end(), Vertex{0});
  std::vector<std::uint32_t> count(n, 1), least(ranks.begin(), ranks.end());
  const auto find = [&parent](Vertex v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  TreeWriter out(n);
  std::vector<std::int64_t> node(n);
  std::iota(node.begin(), node.end(), std::int64_t{0});
  for (const Ranked& edge : edges) {
    Vertex a = find(at[edge.low]), b = find(at[edge.high]);
    if (a == b) continue;
    if (count[a] < count[b]) std::swap(a, b);
    parent[b] = a;
    count[a] += count[b];
    least[a] = std::min(least[a], least[b]);
    node[a] = out.join(node[a], node[b], static_cast<double>(edge.weight));
    pulse.check(out.merges());
  }
  std::vector<TreeWriter::Part> parts;
  for (Vertex v = 0; v < n; ++v)
    if (parent[v] == v) parts.emplace_back(count[v], least[v], node[v]);
  out.join_parts(parts);
  return std::move(out).tree();
}

}  // namespace

GraphTree average_of_clusters(Graph graph, std::span<const std::uint32_t> ranks,
                              std::span<const std::uint32_t> sizes, const Pulse& pulse) {
  Contraction clusters;
  clusters.graph() = std::move(graph);
  clusters.start(ranks, sizes);
  TreeWriter out(clusters.size());
  std::vector<std::int64_t> node(clusters.size());
  std::iota(node.begin(), node.end(), std::int64_t{0});
  std::vector<TreeWriter::Part> parts;
  std::vector<std::uint32_t> count(sizes.begin(), sizes.end());
  merge_by_chains(
      clusters, [](Vertex, Vertex, Weight) { return true; },
      [&](Vertex a, Vertex b, Weight sum, Vertex both) {
        const double pairs = static_cast<double>(count[a]) * count[b];
        count[both] = count[a] + count[b];
        node[both] = out.join(node[a], node[b], static_cast<double>(sum) / pairs);
        pulse.check(out.merges());
      },
      [&](Vertex v) { parts.emplace_back(clusters.count(v), clusters.rank(v), node[v]); });
  out.join_parts(parts);
  return std::move(out).tree();
}

GraphTree graph_hac(Graph graph, GraphLinkage linkage, std::span<const std::uint32_t> ranks,
                    const Pulse& pulse) {
  if (linkage == GraphLinkage::kSingle) return single(std::move(graph), ranks, pulse);
  const std::vector<std::uint32_t> ones(graph.size(), 1);
  return average_of_clusters(std::move(graph), ranks, ones, pulse);
}

}  // namespace ramify
