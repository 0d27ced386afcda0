// SPDX-License-Identifier: BSD-3-Clause
#include "forest/forest_hac.hpp"

#include "forest/agglomerate.hpp"
#include "forest/bucket_space.hpp"
#include "forest/matrix_space.hpp"
#include "forest/scan_space.hpp"
#include "forest/tally.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWorthAPulse = 128;  // smaller forests are over before anyone wants to stop

enum class Outcome { kMerged, kStopped, kTooManySearches };

template <class Space, class Rule, class Real, class... Others>
RAMIFY_INLINE Outcome run(std::span<const ForestItem<Real>> forest, std::size_t dim,
                          const Pulse& pulse, ForestScratch& scratch, std::vector<Merge>& merges,
                          Others&... others) {
  Space space(forest, dim, scratch, pulse, others...);
  Agglomeration<Space> work(space, scratch, forest.size(), pulse, merges);
  bool done = false;
  if constexpr (Rule::kReducible)
    done = run_chain(work, scratch.chain);
  else
    done = run_greedy(work);
  if (done) return Outcome::kMerged;
  return work.were_too_many() ? Outcome::kTooManySearches : Outcome::kStopped;
}

/// A large forest: a function of its own, so that the search is compiled into it.
template <class Space, class Rule, class Real, class... Others>
[[gnu::noinline]] Outcome run_by_searches(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                          const Pulse& pulse, ForestScratch& scratch,
                                          std::vector<Merge>& merges, Others&... others) {
  return run<Space, Rule>(forest, dim, pulse, scratch, merges, others...);
}

/// Small forests are all of OHAC's work: compiled for each set of instructions.
template <class Rule, class Real>
RAMIFY_INLINE Outcome run_on_matrix(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                    const Pulse& pulse, ForestScratch& scratch,
                                    std::vector<Merge>& merges) {
  return run<MatrixSpace<Real, Rule>, Rule>(forest, dim, pulse, scratch, merges);
}

template <class Real>
void begin_merging(std::span<const ForestItem<Real>> forest, ForestScratch& scratch,
                   std::vector<Merge>& merges) {
  const std::size_t m = forest.size();
  merges.clear();
  merges.reserve(m - 1);
  scratch.ranks.resize(2 * m - 1);
  for (std::size_t i = 0; i < m; ++i) scratch.ranks[i] = forest[i].rank;
}

ForestSpace what_suits(std::size_t m, std::size_t dim, Metric metric) {
  if (m <= matrix_limit(dim)) return ForestSpace::kMatrix;
  const std::size_t few = metric == Metric::kDot ? kLanes : kFewColumns;
  return dim < few ? ForestSpace::kBuckets : ForestSpace::kScan;
}

template <class Rule, class Real>
Outcome run_in(ForestSpace space, std::span<const ForestItem<Real>> forest, std::size_t dim,
               const Pulse& pulse, ForestScratch& scratch, std::vector<Merge>& merges,
               Helpers& helpers) {
  const std::size_t m = forest.size();
  if (space == ForestSpace::kMatrix) {
    tally(Engine::kMatrix, m);
    return chosen<run_on_matrix<Rule, Real>>()(forest, dim, m < kWorthAPulse ? Pulse{} : pulse,
                                               scratch, merges);
  }
  tally(space == ForestSpace::kScan ? Engine::kScan : Engine::kBuckets, m);
  if (space == ForestSpace::kBuckets)
    return run_by_searches<BucketSpace<Real, Rule>, Rule>(forest, dim, pulse, scratch, merges);
  return run_by_searches<ScanSpace<Real, Rule>, Rule>(forest, dim, pulse, scratch, merges, helpers);
}

}  // namespace

template <class Real>
bool forest_hac(std::span<const ForestItem<Real>> forest, std::size_t dim, Metric metric,
                Linkage linkage, const Pulse& pulse, ForestScratch& scratch,
                std::vector<Merge>& merges, ForestSpace space, Helpers* helpers) {
  const std::size_t m = forest.size();
  if (space == ForestSpace::kBySize) space = what_suits(m, dim, metric);
  Alone alone;
  Helpers& all = helpers == nullptr ? alone : *helpers;
  const auto merge_in = [&](ForestSpace where) {
    begin_merging(forest, scratch, merges);
    return with_rule(metric, linkage, [&](auto rule) {
      return run_in<decltype(rule)>(where, forest, dim, pulse, scratch, merges, all);
    });
  };
  try {
    Outcome outcome = merge_in(space);
    if (outcome == Outcome::kTooManySearches) outcome = merge_in(ForestSpace::kMatrix);
    if (m > matrix_limit(dim)) std::vector<double>().swap(scratch.matrix);
    return outcome == Outcome::kMerged;
  } catch (const Stopped&) {
    return false;
  }
}

template bool forest_hac(std::span<const ForestItem<float>>, std::size_t, Metric, Linkage,
                         const Pulse&, ForestScratch&, std::vector<Merge>&, ForestSpace, Helpers*);
template bool forest_hac(std::span<const ForestItem<double>>, std::size_t, Metric, Linkage,
                         const Pulse&, ForestScratch&, std::vector<Merge>&, ForestSpace, Helpers*);

}  // namespace ramify
