// SPDX-License-Identifier: BSD-3-Clause
#include "tree/modularity.hpp"

#include <algorithm>
#include <cstddef>

namespace ramify {
namespace {

struct Edge {
  std::size_t from;  // position of its first leaf, from the left
  double weight;
};

// Edges by the position of their second leaf: those of position p are first[p] .. first[p + 1].
struct Sorted {
  std::vector<std::size_t> first;
  std::vector<Edge> edges;
};

Sorted by_second_leaf(std::span<const std::int64_t> start, std::size_t leaves,
                      std::span<const std::int64_t> ends, std::span<const double> weights) {
  const auto at = [&](std::size_t end) {
    return static_cast<std::size_t>(start[static_cast<std::size_t>(ends[end])]);
  };
  Sorted out{std::vector<std::size_t>(leaves + 1, 0), std::vector<Edge>(weights.size())};
  for (std::size_t e = 0; e < weights.size(); ++e)
    ++out.first[std::max(at(2 * e), at(2 * e + 1)) + 1];
  for (std::size_t p = 0; p < leaves; ++p) out.first[p + 1] += out.first[p];
  std::vector<std::size_t> next = out.first;
  for (std::size_t e = 0; e < weights.size(); ++e) {
    const auto [a, b] = std::minmax({at(2 * e), at(2 * e + 1)});
    out.edges[next[b]++] = {a, weights[e]};
  }
  return out;
}

// For every node the weight of the edges that it brings together; of a leaf, those to itself.
std::vector<double> joined_at(Children children, std::span<const std::int64_t> ends,
                              std::span<const double> weights) {
  const std::size_t leaves = leaf_count(children);
  const LeafLayout layout = lay_out_leaves(children);
  std::vector<std::size_t> between(leaves, 0);  // entry p: the merge between p - 1 and p
  for (std::size_t i = 0; i + 1 < leaves; ++i) {
    const auto right = static_cast<std::size_t>(children[2 * i + 1]);
    between[static_cast<std::size_t>(layout.start[right])] = leaves + i;
  }
  const Sorted sorted = by_second_leaf(layout.start, leaves, ends, weights);
  std::vector<double> joined(2 * leaves - 1, 0);
  std::vector<std::size_t> highest;  // positions p; between[p] falls along them
  for (std::size_t p = 0; p < leaves; ++p) {
    if (p > 0) {
      while (!highest.empty() && between[highest.back()] < between[p]) highest.pop_back();
      highest.push_back(p);
    }
    for (std::size_t e = sorted.first[p]; e < sorted.first[p + 1]; ++e) {
      const auto [from, weight] = sorted.edges[e];
      const std::size_t node =
          from == p ? static_cast<std::size_t>(layout.order[p])
                    : between[*std::upper_bound(highest.begin(), highest.end(), from)];
      joined[node] += weight;
    }
  }
  return joined;
}

}  // namespace

BestCut best_by_modularity(Children children, std::span<const std::int64_t> ends,
                           std::span<const double> weights, double resolution) {
  const std::size_t leaves = leaf_count(children);
  const std::size_t nodes = 2 * leaves - 1;
  std::vector<double> inside = joined_at(children, ends, weights);
  std::vector<double> degree(nodes, 0);
  double total = 0;
  for (std::size_t e = 0; e < weights.size(); ++e) {
    degree[static_cast<std::size_t>(ends[2 * e])] += weights[e];
    degree[static_cast<std::size_t>(ends[2 * e + 1])] += weights[e];
    total += weights[e];
  }
  for (std::size_t v = leaves; v < nodes; ++v)
    for (const std::int64_t child : children.subspan(2 * (v - leaves), 2)) {
      inside[v] += inside[static_cast<std::size_t>(child)];
      degree[v] += degree[static_cast<std::size_t>(child)];
    }
  std::vector<double> best(nodes);
  std::vector<bool> whole(nodes, true);
  for (std::size_t v = 0; v < nodes; ++v) {
    best[v] = 4 * total * inside[v] - resolution * degree[v] * degree[v];
    if (v < leaves) continue;
    const std::size_t row = 2 * (v - leaves);
    const double parts = best[static_cast<std::size_t>(children[row])] +
                         best[static_cast<std::size_t>(children[row + 1])];
    whole[v] = best[v] >= parts;
    best[v] = std::max(best[v], parts);
  }
  BestCut out{{}, total > 0 ? best[nodes - 1] / (4 * total * total) : 0};
  std::vector<bool> above(nodes, false);  // the cut is further down
  for (std::size_t v = nodes; v-- > 0;) {
    if (v != nodes - 1 && !above[v]) continue;
    if (whole[v]) {
      out.nodes.push_back(static_cast<std::int64_t>(v));
      continue;
    }
    for (const std::int64_t child : children.subspan(2 * (v - leaves), 2))
      above[static_cast<std::size_t>(child)] = true;
  }
  std::reverse(out.nodes.begin(), out.nodes.end());
  return out;
}

}  // namespace ramify
