// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/group_tree.hpp"

#include <stdexcept>
#include <vector>

#include "algorithms/gather.hpp"

namespace ramify {
namespace {

void require_groups_in_groups(std::size_t points, std::span<const std::uint32_t> group_of,
                              std::span<const std::uint32_t> above) {
  bool fits = group_of.size() == points && !above.empty();
  for (const std::uint32_t group : group_of) fits = fits && group < above.size();
  for (std::size_t g = 0; g + 1 < above.size(); ++g)
    fits = fits && above[g] > g && above[g] < above.size();
  if (!fits) throw std::invalid_argument("the groups are not nested, or do not fit the points");
}

}  // namespace

template <class Real>
void build_group_tree(Tree<Real>& tree, Metric metric, std::span<const std::uint32_t> group_of,
                      std::span<const std::uint32_t> above) {
  const std::size_t n = tree.points().slots();
  require_groups_in_groups(n, group_of, above);
  if (n == 0) return;
  std::vector<std::vector<NodeId>> members(above.size());
  for (RowSlot i = 0; i < n; ++i) members[group_of[i]].push_back(NodeId::leaf(i));
  typename Tree<Real>::Remake remake(tree);
  ForestScratch scratch;
  std::vector<ForestItem<Real>> forest;
  std::vector<Real> means;
  std::vector<Merge> merges;
  for (std::size_t g = 0; g < above.size(); ++g) {
    std::vector<NodeId> nodes = std::move(members[g]);  // then each merge
    if (nodes.empty()) continue;
    gather<Real>(tree, nodes, means, forest);
    merges.clear();
    forest_hac<Real>(forest, tree.dim(), metric, Linkage::kAverage, {}, scratch, merges);
    for (const auto [a, b] : merges)
      nodes.push_back(tree.join(nodes[a], nodes[b], tree.new_slot(tree.new_id())));
    if (g + 1 < above.size())
      members[above[g]].push_back(nodes.back());
    else
      tree.set_root(nodes.back());
  }
  remake.keep();
}

template void build_group_tree(Tree<float>&, Metric, std::span<const std::uint32_t>,
                               std::span<const std::uint32_t>);
template void build_group_tree(Tree<double>&, Metric, std::span<const std::uint32_t>,
                               std::span<const std::uint32_t>);

}  // namespace ramify
