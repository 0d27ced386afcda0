// SPDX-License-Identifier: BSD-3-Clause
// tree_writer.hpp: the tree of a graph as it is being written down, merge by merge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/graph_hac.hpp"

namespace ramify {

class TreeWriter {
 public:
  explicit TreeWriter(std::size_t n) : n_(n) {
    tree_.children.reserve(n > 0 ? 2 * n - 2 : 0);
    tree_.weights.reserve(n > 0 ? n - 1 : 0);
  }

  std::size_t merges() const { return tree_.weights.size(); }

  /// The node that joins these two, with so much between them.
  std::int64_t join(std::int64_t a, std::int64_t b, double weight) {
    tree_.children.insert(tree_.children.end(), {a, b});
    tree_.weights.push_back(weight);
    return static_cast<std::int64_t>(n_ + merges()) - 1;
  }

  /// A cluster that no edge leaves: its size, its rank among all such, its node.
  using Part = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;

  /// Join what is not connected, at 0: again and again the two that come first.
  void join_parts(const std::vector<Part>& parts) {
    std::priority_queue<Part, std::vector<Part>, std::greater<>> queue(std::greater<>{}, parts);
    while (queue.size() > 1) {
      const auto [size, rank, node] = queue.top();
      queue.pop();
      const auto [other_size, other_rank, other] = queue.top();
      queue.pop();
      queue.emplace(size + other_size, std::min(rank, other_rank), join(node, other, 0));
    }
  }

  GraphTree tree() && { return std::move(tree_); }

 private:
  std::size_t n_;
  GraphTree tree_;
};

}  // namespace ramify
