// SPDX-License-Identifier: BSD-3-Clause
// group_tree.hpp: a binary tree from groups within groups.
//
// Some clusterers (BIRCH) say which points belong together, in groups of any
// size and nesting. Here the members of each group, points and inner groups, are
// merged by average-linkage HAC of their summaries, inner groups first. A group
// is then a node of the tree, with the points of the group below it.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/algorithm.hpp"

namespace ramify {

/// Replace whatever inner nodes the tree has. `group_of` names the innermost
/// group of each point, `above` the group that each group lies in, which has a
/// larger number; the last group holds all (its own entry is not looked at).
/// Groups may be empty. Throws std::invalid_argument if the numbers do not fit;
/// whenever it throws, the tree is as it was. Of a group of m members: O(m log m), or O(m^2) from
/// kLanes dimensions on and where many are equal.
template <class Real>
void build_group_tree(Tree<Real>& tree, Metric metric, std::span<const std::uint32_t> group_of,
                      std::span<const std::uint32_t> above);

template <class Real>
class Groups;

struct GroupsOptions {
  template <class Real>
  using Type = Groups<Real>;
};

/// The caller says which points belong together. Points that arrive later hang from the
/// root until the next time.
template <class Real>
class Groups final : public Algorithm<Real> {
 public:
  Groups(std::size_t /*dim*/, const Rule& rule, const GroupsOptions& /*options*/)
      : metric_(rule.metric) {}

  bool weighs() const override { return false; }
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> /*nearest*/,
              const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) override {
    hang_beside(tree, leaf, tree.root());
    return true;
  }
  void regroup(Tree<Real>& tree, std::span<const std::uint32_t> group_of,
               std::span<const std::uint32_t> above) override {
    build_group_tree(tree, metric_, group_of, above);
  }

 private:
  Metric metric_;
};

}  // namespace ramify
