// SPDX-License-Identifier: BSD-3-Clause
#include "graph/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace ramify {
namespace {

/// Where each row begins, if every entry of every edge is kept.
std::vector<std::uint64_t> row_begins(std::size_t n, std::span<const Vertex> a,
                                      std::span<const Vertex> b, std::span<const Weight> weight) {
  std::vector<std::uint64_t> begin(n + 1, 0);
  for (std::size_t e = 0; e < a.size(); ++e) {
    if (a[e] == b[e] || weight[e] == 0) continue;
    ++begin[a[e] + 1];
    ++begin[b[e] + 1];
  }
  for (std::size_t v = 0; v < n; ++v) begin[v + 1] += begin[v];
  return begin;
}

/// Row v in order, each neighbour once with its largest weight, written from `out` on.
std::uint64_t settle_row(Graph& graph, std::uint64_t first, std::uint64_t last, std::uint64_t out,
                         std::vector<std::pair<Vertex, Weight>>& row) {
  row.clear();
  for (std::uint64_t i = first; i < last; ++i) row.emplace_back(graph.to[i], graph.weight[i]);
  std::sort(row.begin(), row.end());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i + 1 < row.size() && row[i + 1].first == row[i].first) continue;  // the last is largest
    graph.to[out] = row[i].first;
    graph.weight[out++] = row[i].second;
  }
  return out;
}

/// Refuses weights that sums of theirs could not hold.
void check_total(const std::vector<Weight>& weights) {
  Weight total = 0;
  for (const Weight weight : weights) {
    total += std::min(weight, kMostWeight) / 2;  // both ends have it
    if (total >= kMostWeight || weight >= kMostWeight)
      throw std::overflow_error("the weights of the graph add up to too much");
  }
}

}  // namespace

Graph graph_of(std::size_t n, std::span<const Vertex> a, std::span<const Vertex> b,
               std::span<const Weight> weight) {
  Graph graph;
  graph.begin = row_begins(n, a, b, weight);
  graph.to.resize(graph.begin[n]);
  graph.weight.resize(graph.begin[n]);
  std::vector<std::uint64_t> next(graph.begin.begin(), graph.begin.end() - 1);
  for (std::size_t e = 0; e < a.size(); ++e) {
    if (a[e] == b[e] || weight[e] == 0) continue;
    for (const auto& [from, to] : {std::pair(a[e], b[e]), std::pair(b[e], a[e])}) {
      graph.to[next[from]] = to;
      graph.weight[next[from]++] = weight[e];
    }
  }
  std::vector<std::pair<Vertex, Weight>> row;
  std::uint64_t out = 0;
  for (std::size_t v = 0; v < n; ++v) {
    const std::uint64_t first = graph.begin[v];
    graph.begin[v] = out;
    out = settle_row(graph, first, graph.begin[v + 1], out, row);
  }
  graph.begin[n] = out;
  graph.to.resize(out);
  graph.weight.resize(out);
  check_total(graph.weight);
  return graph;
}

SharedNeighbours shared_neighbours(std::span<const Vertex> lists, std::size_t k) {
  SharedNeighbours found;
  found.common.resize(lists.size());
  found.united.resize(lists.size());
  if (k == 0) return found;
  const std::size_t n = lists.size() / k;
  std::vector<std::uint8_t> marked(n, 0);  // in the list in question
  std::vector<std::uint32_t> length(n);
  for (std::size_t i = 0; i < lists.size(); ++i) length[i / k] += lists[i] != kNoVertex;
  for (std::size_t i = 0; i < n; ++i) {
    const auto own = lists.subspan(i * k, k);
    if (i + 1 < n)
      for (const Vertex v : lists.subspan((i + 1) * k, k))
        if (v != kNoVertex) prefetch(&lists[std::size_t{v} * k]);
    for (const Vertex v : own)
      if (v != kNoVertex) marked[v] = 1;
    for (std::size_t r = 0; r < k; ++r) {
      if (own[r] == kNoVertex) continue;
      std::uint32_t common = 0;
      for (const Vertex v : lists.subspan(std::size_t{own[r]} * k, k))
        common += v != kNoVertex && marked[v] != 0;
      found.common[i * k + r] = common;
      found.united[i * k + r] = length[i] + length[own[r]] - common;
    }
    for (const Vertex v : own)
      if (v != kNoVertex) marked[v] = 0;
  }
  return found;
}

std::vector<double> ranked_neighbours(std::span<const Vertex> lists, std::size_t k) {
  std::vector<double> found(lists.size());
  if (k == 0) return found;
  const std::size_t n = lists.size() / k;
  std::vector<Vertex> marked(n, kNoVertex);  // by whom, last
  std::vector<std::uint32_t> place(n);       // and where
  std::vector<std::uint32_t> from(k);        // how many are in both lists from this entry on
  for (std::size_t i = 0; i < n; ++i) {
    const auto own = lists.subspan(i * k, k);
    for (std::uint32_t r = 0; r < k; ++r) {
      if (own[r] == kNoVertex) continue;
      marked[own[r]] = static_cast<Vertex>(i);
      place[own[r]] = r;
    }
    for (std::size_t r = 0; r < k; ++r) {
      if (own[r] == kNoVertex) continue;
      std::fill(from.begin(), from.end(), 0);
      const auto other = lists.subspan(std::size_t{own[r]} * k, k);
      for (std::uint32_t s = 0; s < k; ++s)
        if (other[s] != kNoVertex && marked[other[s]] == i) ++from[std::max(s, place[other[s]])];
      std::uint32_t common = 0;
      double total = 0.0;
      for (std::size_t s = 0; s < k; ++s) {
        common += from[s];
        if (s >= r) total += static_cast<double>(common) / static_cast<double>(s + 1);
      }
      found[i * k + r] = total / static_cast<double>(k);
    }
  }
  return found;
}

}  // namespace ramify
