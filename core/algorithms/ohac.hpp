// SPDX-License-Identifier: BSD-3-Clause
// ohac.hpp: online HAC, the paper's Algorithm 2.
//
//   y      the nearest leaf of the new point x
//   Split  the forest that remains when the nodes on y's root path are taken
//          out: y, its sibling, its parent's sibling, ...
//
// T becomes HAC(Split(T, y) + {x}). With k > 1 neighbours the root paths of all
// k are taken out: a dial from the paper's algorithm towards offline HAC.
#pragma once

#include <span>

#include "algorithms/repair.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class Ohac {
 public:
  Ohac(std::size_t dim, Metric metric, Linkage linkage) : repair_(dim, metric, linkage) {}

  /// Insert an unattached leaf whose nearest points are given (none: the tree is
  /// empty) into a tree with room for a slot. False when the pulse said stop: then,
  /// and whenever this throws, the tree is as it was.
  /// O(l^2 * dim) for l nodes on the paths.
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> neighbours,
              const Pulse& pulse);

  /// Take a leaf out of a tree with room to erase: its place's root path is split, and
  /// HAC merges what hung off it. False, and whenever it throws: as above.
  bool erase(Tree<Real>& tree, NodeId leaf, const Pulse& pulse);

 private:
  struct Untake;
  void split_path(const Tree<Real>& tree, NodeId y, NodeId below);
  void split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours);
  void find_above(const Tree<Real>& tree);

  Repair<Real> repair_;
  std::vector<std::uint8_t> is_taken_;  // by slot, all zero between inserts
};

}  // namespace ramify
