// SPDX-License-Identifier: BSD-3-Clause
// summary.hpp: what a cluster has to remember of its points.
//
//   n  how many points     m  their mean     s  sum of |x - m|^2  ("ssd")
//
// Never (n, sum x, sum |x|^2): far from the origin that form subtracts two huge
// numbers, and unit noise at offset 1e8 gets a negative variance. Means are kept
// in the type of the rows, everything else is computed in double.
#pragma once

#include <cstddef>

#include "math/kernels.hpp"

namespace ramify {

/// A look at a summary that is stored elsewhere.
template <class Real>
struct SummaryView {
  double n;
  const Real* mean;
  double ssd;

  double variance() const { return ssd / n; }
};

/// Mean of the union of two clusters. `out` may be one of the inputs' means.
/// Equal means give that very mean, so duplicates never drift. O(dim).
template <class Real>
inline void merged_mean(const SummaryView<Real>& a, const SummaryView<Real>& b, std::size_t dim,
                        Real* out) {
  move_towards(a.mean, b.mean, b.n / (a.n + b.n), dim, out);
}

/// Sum of squared deviations of the union, given the squared gap of the means.
inline double merged_ssd(double n_a, double ssd_a, double n_b, double ssd_b, double gap) {
  return ssd_a + ssd_b + n_a * n_b / (n_a + n_b) * gap;
}

}  // namespace ramify
