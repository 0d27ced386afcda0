// SPDX-License-Identifier: BSD-3-Clause
// outline.hpp: a live tree opened from the root, as far as a tree above it has to know.
//
// Where a tree is one of several under a common top, its own top does not count: it is
// opened at the widest node (the largest n * ssd) until there are m *frontier* nodes, and
// the common top merges those of all trees. Below the frontier a cut of the whole may
// split nodes: the highest ones, or those above a height or a size. The outline has the
// frontier, the nodes that a cut can split, and their children; its leaves, the
// *units*, are never split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tree/frontier.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Of a tree that is not stale and does not change as long as this one is used.
template <class Real>
class Outline {
 public:
  static constexpr std::int64_t kNobody = -1;

  /// `rule` is a cut of the whole into rule.number, or by height or size; a number may be
  /// larger than there are points. O((m + k) log(m + k)) for k units.
  Outline(const Tree<Real>& tree, std::size_t m, const CutRule& rule);

  /// The frontier first, in order of first points; then children, after their parents.
  std::span<const NodeId> nodes() const { return nodes_; }
  std::size_t frontier_size() const { return frontier_size_; }
  /// Place in nodes() of the first of each node's two children, the second follows it;
  /// kNobody for a unit.
  std::span<const std::int64_t> children() const { return children_; }
  /// Place in nodes() of the unit that a leaf, or a node below one, is in. O(path).
  std::size_t unit_of(NodeId v) const;
  /// The same for all rows by slot; holes are left alone. O(n).
  void units_of_all(std::int64_t* out) const;

 private:
  void open_top(std::size_t m);
  void open_below(const CutRule& rule);
  void open_highest(std::size_t splits);
  void open(std::size_t place);

  const Tree<Real>& tree_;
  std::vector<NodeId> nodes_;
  std::vector<std::int64_t> children_;
  std::size_t frontier_size_ = 0;
  std::unordered_map<std::uint32_t, std::size_t> unit_;  // place by NodeId::raw
};

}  // namespace ramify
