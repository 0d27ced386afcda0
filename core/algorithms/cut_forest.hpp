// SPDX-License-Identifier: BSD-3-Clause
// cut_forest.hpp: cut a forest out of a tree.
//
//   Split  the forest that remains when the nodes on a leaf's root path are taken out: the leaf,
//          its sibling, its parent's sibling, ...
//
// Nothing is changed in the tree: what is cut out is written down, and repaired (repair.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/order.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Nodes that were taken out of a tree, always with all above them up to the last, which
/// is the root or held, and what is left.
struct CutForest {
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;

  bool one_path = true;              // then taken[i + 1] is taken[i]'s parent
  std::vector<Slot> taken;           // taken-out nodes, smaller first
  std::vector<std::uint32_t> above;  // else: for each, its parent's place in taken
  std::vector<NodeId> trees;         // the forest; of one path, lowest first
  std::vector<std::uint32_t> owner;  // where in taken each of them hung; kNowhere
};

template <class Real>
class ForestCutter {
 public:
  explicit ForestCutter(CutForest& cut) : cut_(cut) {}

  /// Take out the nodes above `below`; what hangs off them is the forest, first of all y in the
  /// place of `below`.
  void split_path(const Tree<Real>& tree, NodeId y, NodeId below);
  /// The root paths of several points, as far as they are held where the first is.
  void split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours);
  /// The paths from these nodes up to `top`, or to the root, in no special order.
  void split_above(const Tree<Real>& tree, std::span<const NodeId> starts, NodeId top);

 private:
  struct Untake;
  void find_above(const Tree<Real>& tree);

  CutForest& cut_;
  std::vector<std::uint8_t> is_taken_;  // by slot, all zero between calls
  std::vector<NodeId> starts_;          // of the paths that are split
};

}  // namespace ramify
