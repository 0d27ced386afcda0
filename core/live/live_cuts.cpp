// SPDX-License-Identifier: BSD-3-Clause
#include "live/live_cuts.hpp"

#include <algorithm>

#include "math/linkage.hpp"
#include "tree/pruning.hpp"
#include "tree/snapshot.hpp"

namespace ramify {

template <class Real>
void LiveCuts<Real>::rank_splits(Tree<Real>& tree, std::uint64_t version) {
  const Snapshot snapshot = number(flatten(tree));
  const std::size_t n = tree.attached();
  std::vector<double> gains;
  gains.reserve(n - 1);
  for (std::size_t v = n; v < snapshot.nodes.size(); ++v) {
    const NodeId node = snapshot.nodes[v];
    gains.push_back(linkage_of<WardGrowth>(tree.summary(tree.left(node), tree.room(0)),
                                           tree.summary(tree.right(node), tree.room(1)),
                                           tree.dim()));
  }
  const SplitOrder order = split_order(snapshot.children, gains);
  split_rank_.assign(std::max<std::size_t>(tree.slots(), 1), 0);
  for (std::uint32_t i = 0; i < order.rows.size(); ++i)
    split_rank_[snapshot.nodes[n + order.rows[i]].slot()] = i;
  split_version_ = version;
}

template class LiveCuts<float>;
template class LiveCuts<double>;

}  // namespace ramify
