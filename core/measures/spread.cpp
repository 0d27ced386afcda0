// SPDX-License-Identifier: BSD-3-Clause
#include "measures/spread.hpp"

#include "math/kernels.hpp"
#include "math/summary.hpp"
#include "measures/heavy_paths.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 1024;  // leaves between two looks at the pulse

// Weights and means of the subtrees that are complete but not yet merged: at most
// 1 + log2(n), since leaves come heavy child first.
class MeanStack {
 public:
  explicit MeanStack(std::size_t dim) : dim_(dim) {}

  /// Push a leaf and return its row, to be filled in.
  double* push(double weight) {
    weights_.push_back(weight);
    if (means_.size() < weights_.size() * dim_) means_.resize(weights_.size() * dim_);
    return means_.data() + (weights_.size() - 1) * dim_;
  }

  /// Merge the two topmost and return the gain of their union.
  double merge() {
    const double n_a = weights_[weights_.size() - 2], n_b = weights_.back();
    double* mean_a = means_.data() + (weights_.size() - 2) * dim_;
    const double* mean_b = mean_a + dim_;
    const double gap = squared_distance(mean_a, mean_b, dim_);
    merged_mean<double>({n_a, mean_a, 0}, {n_b, mean_b, 0}, dim_, mean_a);
    weights_.pop_back();
    weights_.back() = n_a + n_b;
    return n_a * n_b / (n_a + n_b) * gap;
  }

 private:
  std::size_t dim_;
  std::vector<double> weights_, means_;
};

}  // namespace

template <class Real>
std::vector<double> split_gains(Children children, const Real* rows, std::size_t dim,
                                std::span<const double> weights, const Pulse& pulse) {
  const HeavyPaths paths(children);
  const std::size_t n = paths.leaves();
  std::vector<double> gains(n - 1);
  MeanStack stack(dim);
  for (std::size_t position = 0; position < n; ++position) {
    if (position % kStride == 0) pulse.check(position);
    std::size_t v = paths.leaf_at(position);
    double* row = stack.push(weights.empty() ? 1 : weights[v]);
    // The first row becomes the origin: means then keep their digits far from zero.
    for (std::size_t j = 0; j < dim; ++j)
      row[j] = static_cast<double>(rows[v * dim + j]) - static_cast<double>(rows[j]);
    for (; paths.is_top(v) && !paths.is_root(v); v = paths.parent(v))
      gains[paths.parent(v) - n] = stack.merge();
  }
  return gains;
}

template std::vector<double> split_gains(Children, const float*, std::size_t,
                                         std::span<const double>, const Pulse&);
template std::vector<double> split_gains(Children, const double*, std::size_t,
                                         std::span<const double>, const Pulse&);

}  // namespace ramify
