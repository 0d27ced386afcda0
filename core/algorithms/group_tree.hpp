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

#include "math/linkage.hpp"
#include "tree/tree.hpp"

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

}  // namespace ramify
