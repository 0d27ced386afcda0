// SPDX-License-Identifier: BSD-3-Clause
// graph.hpp: a weighted graph of points, as rows of neighbours.
//
// Weights are whole numbers above 0, in a unit that the caller chose. So a sum of weights is
// exact, does not depend on the order of its terms, and two means of weights are compared
// without rounding (wide.hpp): a tree follows from the graph alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

using Vertex = std::uint32_t;
using Weight = std::uint64_t;

/// Have what will soon be read on its way from memory.
inline void prefetch(const void* at) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(at);
#else
  static_cast<void>(at);
#endif
}

/// The sum of all weights of a graph stays below this.
inline constexpr Weight kMostWeight = Weight{1} << 62;

/// An edge, for as long as a graph is being put together.
struct Edge {
  Vertex a;
  Vertex b;
  Weight weight;
};

/// Invariants: (1) row v is entries begin[v] to begin[v + 1], in ascending order of `to`;
/// (2) nobody is beside itself, or twice in a row; (3) both ends have an edge, with one weight.
struct Graph {
  std::vector<std::uint64_t> begin;  // n + 1 of them
  std::vector<Vertex> to;
  std::vector<Weight> weight;

  std::size_t size() const { return begin.empty() ? 0 : begin.size() - 1; }
};

/// The graph of n points with these edges. A pair that is named more than once, either way
/// round, has the largest of its weights; weights of 0 and edges from a point to itself are
/// none. Throws std::overflow_error if the weights add up to kMostWeight. O(m log(degree)).
Graph graph_of(std::size_t n, std::span<const Vertex> a, std::span<const Vertex> b,
               std::span<const Weight> weight);

/// An entry of a list that names nobody.
inline constexpr Vertex kNoVertex = 0xFFFFFFFFU;

/// What the list of each point has in common with the lists of those that it names: `common` is
/// how many points are in both, `united` how many in either. A list has room for k points, and
/// names none twice. O(n k^2).
struct SharedNeighbours {
  std::vector<std::uint32_t> common;
  std::vector<std::uint32_t> united;
};
SharedNeighbours shared_neighbours(std::span<const Vertex> lists, std::size_t k);

/// Shared neighbours at every scale: for entry r (from 1) of a list, the mean over k' = 1 .. k of
/// the share of the first k' of both lists that is in both, where r <= k', and 0 where r > k'.
/// So early entries of a list count more, as ends and as what is shared. O(n k^2).
std::vector<double> ranked_neighbours(std::span<const Vertex> lists, std::size_t k);

}  // namespace ramify
