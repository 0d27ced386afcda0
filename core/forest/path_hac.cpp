// SPDX-License-Identifier: BSD-3-Clause
#include "forest/path_hac.hpp"

#include <algorithm>

#include "forest/tally.hpp"
#include "math/growth.hpp"

namespace ramify {

template <class Real>
bool PathHac<Real>::merge(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
                          std::span<const Slot> path, bool comes, std::size_t end_of_ids,
                          std::vector<Merge>& merges) {
  if (!table_.seat(forest, trees, path, comes, end_of_ids)) return false;
  const bool merged = with_rule(metric_, linkage_, [&](auto rule) {
    using Rule = decltype(rule);
    if constexpr (Rule::kMeanOfParts)
      return merge_by_chain<Real, Rule>(forest, table_, dim_, scratch_, merges);
    else
      return !Rule::kReducible && merge_greedily(forest, table_, dim_, scratch_, merges);
  });
  std::uint32_t& given_up = scratch_.given_up;
  if (!merged) given_up = std::min(given_up + 1, 24U);
  if (merged && given_up > 0) --given_up;
  tally(linkage_ == Linkage::kCentroid && metric_ != Metric::kDot ? Engine::kTableGreedy
                                                                  : Engine::kTableChain,
        forest.size(), merged);
  return merged;
}

template <class Real>
void PathHac<Real>::wipe() noexcept {
  table_.wipe();
  scratch_.means.wipe();
  for (std::vector<float>* buffer :
       {&scratch_.patched[0], &scratch_.patched[1], &scratch_.run.sums, &scratch_.run.least,
        &scratch_.foot_bounds, &scratch_.kept_bounds})
    ramify::wipe(*buffer);
  ramify::wipe(scratch_.nearest);
  ramify::wipe(scratch_.near_linkages);
  scratch_.matrix.wipe();
  for (std::vector<double>& row : scratch_.rows) ramify::wipe(row);
}

template class PathHac<float>;
template class PathHac<double>;

}  // namespace ramify
