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

#include "algorithms/algorithm.hpp"
#include "algorithms/repair.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class Ohac;

struct OhacOptions {
  std::size_t n_neighbors = 1;  // k
  template <class Real>
  using Type = Ohac<Real>;
};

template <class Real>
class Ohac final : public Algorithm<Real> {
 public:
  Ohac(std::size_t dim, const Rule& rule, const OhacOptions& options)
      : k_(options.n_neighbors), repair_(dim, rule.metric, rule.linkage) {}

  std::size_t neighbours() const override { return k_; }
  /// O(l^2 * dim) for l nodes on the paths of the neighbours, of which there may be any
  /// number, but none only in an empty tree.
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  /// The root path of the leaf's place is split, and HAC merges what hung off it.
  void erase(Tree<Real>& tree, NodeId leaf) override;
  /// The leaf's root path is split, and HAC merges it with what hung off it.
  void weigh(Tree<Real>& tree, NodeId leaf, Standing standing) override;

 private:
  struct Untake;
  void split_path(const Tree<Real>& tree, NodeId y, NodeId below);
  void split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours);
  void find_above(const Tree<Real>& tree);

  std::size_t k_;
  Repair<Real> repair_;
  std::vector<std::uint8_t> is_taken_;  // by slot, all zero between inserts
};

}  // namespace ramify
