// SPDX-License-Identifier: BSD-3-Clause
#include "forest/summary_tree.hpp"

namespace ramify {

template <class Real>
SummaryTree<Real> merge_summaries(std::span<const ForestItem<Real>> forest, std::size_t dim,
                                  Metric metric, Linkage linkage) {
  SummaryTree<Real> out;
  ForestScratch scratch;
  forest_hac<Real>(forest, dim, metric, linkage, {}, scratch, out.merges);
  out.means.resize(out.merges.size() * dim);  // which do not move from now on
  std::vector<SummaryView<Real>> views;
  views.reserve(forest.size() + out.merges.size());
  for (const ForestItem<Real>& item : forest) views.push_back(item.summary);
  with_rule(metric, linkage, [&](auto rule) {
    using Rule = decltype(rule);
    for (const Merge& merge : out.merges) {
      const SummaryView<Real> a = views[merge.a], b = views[merge.b];
      out.heights.push_back(height_of(metric, linkage, linkage_of<Rule>(a, b, dim)));
      const double gap = squared_distance(a.mean, b.mean, dim);
      out.ssds.push_back(merged_ssd(a.n, a.ssd, b.n, b.ssd, gap));
      Real* const mean = out.means.data() + (out.ssds.size() - 1) * dim;
      merged_mean(a, b, dim, mean);
      views.push_back({a.n + b.n, mean, out.ssds.back()});
    }
  });
  return out;
}

template SummaryTree<float> merge_summaries(std::span<const ForestItem<float>>, std::size_t, Metric,
                                            Linkage);
template SummaryTree<double> merge_summaries(std::span<const ForestItem<double>>, std::size_t,
                                             Metric, Linkage);

}  // namespace ramify
