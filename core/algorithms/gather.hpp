// SPDX-License-Identifier: BSD-3-Clause
// gather.hpp: subtrees as a forest to be merged.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forest/forest_hac.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// `room` is for means that the tree does not keep; the forest looks at it.
template <class Real>
void gather(Tree<Real>& tree, std::span<const NodeId> subtrees, std::vector<Real>& room,
            std::vector<ForestItem<Real>>& forest) {
  std::size_t not_kept = 0;
  forest.clear();
  for (const NodeId v : subtrees) {
    tree.freshen(v);
    if (tree.keeps_mean(v)) {
      forest.push_back({tree.summary(v, nullptr), tree.rank(v)});
    } else {
      forest.push_back({{tree.weight(v), nullptr, tree.ssd(v)}, tree.rank(v)});
      ++not_kept;
    }
  }
  if (not_kept == 0) return;
  room.resize(not_kept * tree.dim());
  Real* next = room.data();
  for (std::size_t i = 0; i < forest.size(); ++i) {
    if (forest[i].summary.mean) continue;
    forest[i].summary.mean = tree.mean(subtrees[i], next);
    next += tree.dim();
  }
}

}  // namespace ramify
