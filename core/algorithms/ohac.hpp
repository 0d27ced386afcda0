// SPDX-License-Identifier: BSD-3-Clause
// ohac.hpp: online HAC, the paper's Algorithm 2.
//
//   y      the nearest leaf of the new point x
//   Split  the forest that hangs off y's root path (cut_forest.hpp)
//
// T becomes HAC(Split(T, y) + {x}). With k > 1 neighbours the root paths of all
// k are taken out: a dial from the paper's algorithm towards offline HAC.
//
// People may have marked nodes (edits.hpp). A path then begins at the topmost linked node
// above its leaf, and ends at the lowest held one above that: y's decides what is split.
#pragma once

#include <span>

#include "algorithms/algorithm.hpp"
#include "algorithms/cut_forest.hpp"
#include "algorithms/repair.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class Ohac;

struct OhacOptions {
  std::size_t n_neighbors = 1;  // k
  PathWays ways{};
  template <class Real>
  using Type = Ohac<Real>;
};

template <class Real>
class Ohac final : public Algorithm<Real> {
 public:
  Ohac(std::size_t dim, const Rule& rule, const OhacOptions& options)
      : k_(options.n_neighbors), repair_(dim, rule.metric, rule.linkage, options.ways) {}

  std::size_t neighbours() const override { return k_; }
  bool takes_near_neighbours() const override { return true; }
  bool takes_any_shape() const override { return true; }
  /// O(l^2 * dim) for l nodes on the paths of the neighbours, of which there may be any
  /// number, but none only in an empty tree.
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  /// The root path of the leaf's place is split, and HAC merges what hung off it.
  void erase(Tree<Real>& tree, NodeId leaf) override;
  /// The leaf's root path is split, and HAC merges it with what hung off it.
  void weigh(Tree<Real>& tree, NodeId leaf, Standing standing) override;
  void wipe(const Tree<Real>& tree) noexcept override { repair_.wipe(tree); }
  bool keeps_marks() const override { return true; }
  /// The root paths of both, linked as they are with others, are split, and HAC merges
  /// them, as one, with what hung off the paths.
  void link(Tree<Real>& tree, NodeId one, NodeId other) override;

 private:
  void weigh_linked(Tree<Real>& tree, NodeId leaf, Standing standing);

  std::size_t k_;
  Repair<Real> repair_;
  ForestCutter<Real> cutter_{repair_.cut()};
};

}  // namespace ramify
