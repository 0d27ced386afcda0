// SPDX-License-Identifier: BSD-3-Clause
// contraction.hpp: a graph whose vertices are merged, two at a time.
//
// A cluster is called by one of its points. Its list of neighbours lies in the rows of its own
// points, one row after the other, as a union never has more neighbours than its parts: so
// memory is that of the graph, and nothing is ever moved elsewhere. Lists name neighbours as
// they were when they were written; whoever reads one looks up what they have become, adds up
// what is between the same two clusters, and writes the list back shorter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/wide.hpp"

namespace ramify {

class Contraction {
 public:
  /// The graph, which is to be filled before the start, and is used up.
  Graph& graph() { return graph_; }

  /// Clusters of so many points each, which rank as the least of them does. Memory is kept from
  /// one start to the next.
  void start(std::span<const std::uint32_t> ranks, std::span<const std::uint32_t> counts) {
    rank_.assign(ranks.begin(), ranks.end());
    count_.assign(counts.begin(), counts.end());
    last_row_.resize(size());
    std::iota(last_row_.begin(), last_row_.end(), Vertex{0});
    next_row_.assign(size(), kNoVertex);
    way_.resize(size());
    length_.resize(size());
    for (std::size_t v = 0; v < size(); ++v) {
      way_[v] = {static_cast<Vertex>(v), kNoVertex};
      length_[v] = graph_.begin[v + 1] - graph_.begin[v];
    }
  }

  std::size_t size() const { return graph_.size(); }
  bool is_cluster(Vertex v) const { return way_[v].parent == v; }
  std::uint32_t count(Vertex cluster) const { return count_[cluster]; }
  std::uint32_t rank(Vertex cluster) const { return rank_[cluster]; }

  /// The cluster that merges with this one first, if nothing nearer comes up, and what is between.
  struct Nearest {
    Vertex cluster = kNoVertex;
    Weight sum = 0;
  };
  Nearest nearest(Vertex cluster) {
    collect(cluster, cluster);
    keep(cluster);
    Nearest best;
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (best.cluster == kNoVertex || is_nearer({found_[i], sums_[i]}, best))
        best = {found_[i], sums_[i]};
    return best;
  }

  /// Make one cluster of two; its name is what is returned, one of theirs.
  Vertex merge(Vertex a, Vertex b) {
    if (count_[a] < count_[b]) std::swap(a, b);
    way_[b].parent = a;
    collect(a, a);
    for (std::size_t i = 0; i < found_.size(); ++i) way_[found_[i]].place = static_cast<Vertex>(i);
    collect_more(b, a);
    next_row_[last_row_[a]] = b;
    last_row_[a] = last_row_[b];
    count_[a] += count_[b];
    rank_[a] = std::min(rank_[a], rank_[b]);
    keep(a);
    return a;
  }

 private:
  Vertex find(Vertex v) {
    while (way_[v].parent != v) v = way_[v].parent = way_[way_[v].parent].parent;
    return v;
  }

  /// Of two neighbours of one cluster, which merges with it first?
  bool is_nearer(const Nearest& a, const Nearest& b) const {
    const Wide left(a.sum, count_[b.cluster]), right(b.sum, count_[a.cluster]);
    if (left != right) return left > right;
    if (count_[a.cluster] != count_[b.cluster]) return count_[a.cluster] < count_[b.cluster];
    return rank_[a.cluster] < rank_[b.cluster];
  }

  /// The list of `rows`, as neighbours of `self`, into found_ and sums_.
  void collect(Vertex rows, Vertex self) {
    found_.clear();
    sums_.clear();
    collect_more(rows, self);
  }
  void collect_more(Vertex rows, Vertex self) {
    each_stretch(rows, length_[rows], [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i) {
        if (i + kAhead < last) prefetch(&way_[graph_.to[i + kAhead]]);
        const Vertex v = find(graph_.to[i]);
        if (v == self) continue;
        Vertex& place = way_[v].place;
        if (place == kNoVertex) {
          place = static_cast<Vertex>(found_.size());
          found_.push_back(v);
          sums_.push_back(0);
        }
        sums_[place] += graph_.weight[i];
      }
    });
    for (const Vertex v : found_) way_[v].place = kNoVertex;
  }

  /// What was collected becomes the cluster's list.
  void keep(Vertex cluster) {
    length_[cluster] = found_.size();
    std::size_t next = 0;
    each_stretch(cluster, found_.size(), [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i, ++next) {
        graph_.to[i] = found_[next];
        graph_.weight[i] = sums_[next];
      }
    });
  }

  /// The rows in which the first `length` entries of a cluster's list lie.
  template <class Visit>
  void each_stretch(Vertex row, std::uint64_t length, const Visit& visit) const {
    for (; length > 0; row = next_row_[row]) {
      const std::uint64_t first = graph_.begin[row];
      const std::uint64_t here = std::min(length, graph_.begin[row + 1] - first);
      visit(first, first + here);
      length -= here;
    }
  }

  static constexpr std::size_t kAhead = 8;  // points that are on their way from memory

  /// What walks over lists read of a point, close together.
  struct Way {
    Vertex parent;  // on the way to the point that a cluster is called by
    Vertex place;   // in found_, of whom is there
  };

  Graph graph_;
  std::vector<Way> way_;
  std::vector<std::uint32_t> rank_;    // of a cluster: the least of its points
  std::vector<std::uint32_t> count_;   // of points
  std::vector<std::uint64_t> length_;  // of lists
  std::vector<Vertex> next_row_;       // of the same cluster
  std::vector<Vertex> last_row_;       // of a cluster
  std::vector<Vertex> found_;
  std::vector<Weight> sums_;
};

/// Nearest-neighbour chains: from a cluster to its nearest, and on, until two are each other's,
/// which are then one. `may_merge(a, b, sum)` says whether two are near enough; where a
/// cluster's nearest is not, or it has none, `done(cluster)` is told. `merged(a, b, sum, both)`
/// hears of every merge, after it.
template <class MayMerge, class Merged, class Done>
void merge_by_chains(Contraction& clusters, const MayMerge& may_merge, const Merged& merged,
                     const Done& done) {
  std::vector<Vertex> chain;
  for (Vertex start = 0; start < clusters.size();) {
    if (chain.empty()) {
      if (clusters.is_cluster(start))
        chain.push_back(start);
      else
        ++start;
      continue;
    }
    const Vertex last = chain.back();
    const auto [next, sum] = clusters.nearest(last);
    if (next == kNoVertex || !may_merge(last, next, sum)) {  // then it is alone in the chain
      done(last);
      chain.clear();
      ++start;
    } else if (chain.size() > 1 && next == chain[chain.size() - 2]) {
      const Vertex both = clusters.merge(last, next);
      merged(last, next, sum, both);
      chain.resize(chain.size() - 2);
    } else {
      chain.push_back(next);
    }
  }
}

}  // namespace ramify
