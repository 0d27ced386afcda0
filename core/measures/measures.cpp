// SPDX-License-Identifier: BSD-3-Clause
#include "measures/measures.hpp"

#include <vector>

#include "math/kernels.hpp"
#include "math/summary.hpp"
#include "measures/heavy_paths.hpp"
#include "tree/row_store.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 1024;  // leaves between two looks at the pulse

// Summaries of the subtrees that are complete but not yet merged. Leaves come
// heavy child first, so there are never more than 1 + log2(n) of them.
class SummaryStack {
 public:
  SummaryStack(std::size_t dim, MomentSimilarity similarity) : dim_(dim), similarity_(similarity) {}

  /// Push a leaf and return its row, to be filled in.
  double* push() {
    if (means_.size() < (tops_.size() + 1) * dim_) means_.resize((tops_.size() + 1) * dim_);
    tops_.push_back({1, 0, 0});
    return means_.data() + (tops_.size() - 1) * dim_;
  }

  /// Merge the two topmost, adding what their union earns and costs; returns w across.
  double merge(Sum& revenue, Sum& cost) {
    Top& a = tops_[tops_.size() - 2];
    const Top& b = tops_.back();
    double* mean_a = means_.data() + (tops_.size() - 2) * dim_;
    const double* mean_b = mean_a + dim_;
    const double gap = squared_distance(mean_a, mean_b, dim_);
    const double across = a.n * b.n * mean_similarity(a, b, gap, mean_a, mean_b);
    revenue.add(b.n * a.within);
    revenue.add(a.n * b.within);
    cost.add((a.n + b.n) * across);
    const SummaryView<double> view_a{a.n, mean_a, a.ssd}, view_b{b.n, mean_b, b.ssd};
    merged_mean(view_a, view_b, dim_, mean_a);
    a.within += b.within + across;
    a.ssd = merged_ssd(a.n, a.ssd, b.n, b.ssd, gap);
    a.n += b.n;
    tops_.pop_back();
    return across;
  }

  double total() const { return tops_.front().within; }

 private:
  struct Top {
    double n, ssd, within;  // `within` is w of the subtree
  };

  double mean_similarity(const Top& a, const Top& b, double gap, const double* mean_a,
                         const double* mean_b) const {
    if (similarity_ == MomentSimilarity::kSqeuclidean) return -(gap + (a.ssd / a.n + b.ssd / b.n));
    return dot(mean_a, mean_b, dim_);
  }

  std::size_t dim_;
  MomentSimilarity similarity_;
  std::vector<Top> tops_;
  std::vector<double> means_;
};

// A row as double. Squared distances do not see a common shift, so there the
// first row becomes the origin: means then keep their digits far from zero.
template <class Real>
void read_row(const Real* row, const Real* origin, std::size_t dim, MomentSimilarity similarity,
              double* out) {
  const bool shift = similarity == MomentSimilarity::kSqeuclidean;
  for (std::size_t j = 0; j < dim; ++j)
    out[j] = static_cast<double>(row[j]) - (shift ? static_cast<double>(origin[j]) : 0.0);
  if (similarity == MomentSimilarity::kCosine) scale_to_unit(out, dim, out);
}

}  // namespace

template <class Real>
PairSums moment_sums(Children children, const Real* rows, std::size_t dim,
                     MomentSimilarity similarity, const Pulse& pulse, std::span<double> across) {
  const HeavyPaths paths(children);
  const std::size_t n = paths.leaves();
  SummaryStack stack(dim, similarity);
  Sum revenue, cost;
  for (std::size_t position = 0; position < paths.leaves(); ++position) {
    if (position % kStride == 0) pulse.check(position);
    std::size_t v = paths.leaf_at(position);
    read_row(rows + v * dim, rows, dim, similarity, stack.push());
    // A light child comes last: with it, its parent is complete.
    for (; paths.is_top(v) && !paths.is_root(v); v = paths.parent(v)) {
      const double w = stack.merge(revenue, cost);
      if (!across.empty()) across[paths.parent(v) - n] = w;
    }
  }
  return {stack.total(), revenue.get(), cost.get()};
}

template PairSums moment_sums(Children, const float*, std::size_t, MomentSimilarity, const Pulse&,
                              std::span<double>);
template PairSums moment_sums(Children, const double*, std::size_t, MomentSimilarity, const Pulse&,
                              std::span<double>);

double dendrogram_purity(Children children, std::span<const std::int64_t> classes_of_leaves,
                         std::size_t classes, const Pulse& pulse) {
  const HeavyPaths paths(children);
  const auto class_at = [&](std::size_t position) {
    return static_cast<std::size_t>(classes_of_leaves[paths.leaf_at(position)]);
  };
  std::vector<double> below(classes), light(classes);  // counts of each class
  Sum purity, pairs;
  ClimbNews news(paths, pulse);
  // One heavy path after the other, from its bottom leaf up: `below` holds the
  // counts of the node reached, and each step folds in one light subtree.
  for (std::size_t bottom = 0; bottom < paths.leaves(); ++bottom) {
    std::size_t v = paths.leaf_at(bottom);
    if (!paths.is_heavy(v)) continue;
    below[class_at(bottom)] = 1;
    for (; paths.is_heavy(v); v = paths.parent(v)) {
      const std::size_t from = bottom + paths.size(v);
      const std::size_t to = bottom + paths.size(paths.parent(v));
      for (std::size_t i = from; i < to; ++i) light[class_at(i)] += 1;
      const auto leaves = static_cast<double>(to - bottom);
      for (std::size_t i = from; i < to; ++i) {
        const std::size_t c = class_at(i);
        if (light[c] == 0) continue;  // folded in already
        const double across = below[c] * light[c];
        below[c] += light[c];
        light[c] = 0;
        pairs.add(across);
        purity.add(across * (below[c] / leaves));
      }
      news.more(to - from);
    }
    for (std::size_t i = bottom; i < bottom + paths.size(v); ++i) below[class_at(i)] = 0;
  }
  return pairs.get() > 0 ? purity.get() / pairs.get() : 1;
}

}  // namespace ramify
