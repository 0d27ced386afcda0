// SPDX-License-Identifier: BSD-3-Clause
#include "forest/path_hac.hpp"

#include <algorithm>

#include "forest/path_chain.hpp"
#include "forest/path_greedy.hpp"
#include "forest/tally.hpp"
#include "math/dispatch.hpp"
#include "math/growth.hpp"

namespace ramify {
namespace {

template <class Work>
RAMIFY_INLINE bool run_on_path(Work& work) {
  return work.run();
}

}  // namespace

template <class Real>
bool PathHac<Real>::merge(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
                          std::span<const Slot> path, bool comes, std::size_t end_of_ids,
                          std::vector<Merge>& merges) {
  if (!table_.seat(forest, trees, path, comes, end_of_ids)) return false;
  const auto run = [&](auto work) {
    const bool decided = chosen<run_on_path<decltype(work)>>()(work);
    std::uint32_t& given_up = scratch_.given_up;
    if (!decided) given_up = std::min(given_up + 1, 24U);
    if (decided && given_up > 0) --given_up;
    tally(linkage_ == Linkage::kCentroid && metric_ != Metric::kDot ? Engine::kTableGreedy
                                                                    : Engine::kTableChain,
          forest.size(), decided);
    return decided;
  };
  return with_rule(metric_, linkage_, [&](auto rule) {
    using Rule = decltype(rule);
    if constexpr (Rule::kMeanOfParts)
      return run(PathChain<Real, Rule>(forest, table_, dim_, scratch_, merges));
    else if constexpr (!Rule::kReducible)
      return run(PathGreedy<Real, Rule>(forest, table_, dim_, scratch_, merges));
    else
      return false;
  });
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
