// SPDX-License-Identifier: BSD-3-Clause
// linkage.hpp: how far apart two clusters are, from their summaries alone.
//
// In the core a linkage is a distance: smaller is closer. `gap` is |mA - mB|^2,
// `var` is ssd/n (notation of summary.hpp). Cosine is squared distance of unit
// rows with heights halved, so it needs no linkage of its own.
//
// Each rule also has its Lance-Williams form: the linkage of a union to a third
// cluster from the linkages of its parts, in O(1) instead of O(dim). They are
// written so that equal parts give exactly that value back: ties stay ties.
//
// most_gap() is the other way round: gaps above it have scores above the limit, with
// any weight that is not below the least.
//
// bound() is score() made safe for a box of clusters: with the smallest gap (or
// largest product) and smallest weight found in the box, it is at most the score
// of every cluster in it, rounding included.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "math/kernels.hpp"
#include "math/summary.hpp"

namespace ramify {

enum class Metric { kSqeuclidean, kCosine, kDot };
enum class Linkage { kAverage, kCentroid, kWard };

/// What two sibling linkages of a Lance-Williams update know.
struct Parts {
  double n_a, n_b, n_c;     // sizes of the parts a, b and of the third cluster c
  double l_ac, l_bc, l_ab;  // linkages among them
};

inline double weighted_mean(const Parts& p) {
  return p.l_ac + (p.l_bc - p.l_ac) * (p.n_b / (p.n_a + p.n_b));
}

/// Mean of all squared distances across.
struct AverageSquared {
  static constexpr bool kReducible = true;
  static constexpr bool kMeanOfParts = true;  // update() is a mean of two linkages
  static constexpr bool kProduct = false;     // of inner products, not of squared gaps
  static constexpr bool kWeighted = true;
  static double weight(double, double variance) { return variance; }
  static double score(double gap, double var_a, double var_b) { return gap + (var_a + var_b); }
  static double bound(double gap, double var_a, double var_b) { return score(gap, var_a, var_b); }
  static double most_gap(double limit, double var_a, double var_b) {
    return limit - (var_a + var_b) * (1 - 1e-14) + limit * 1e-14;
  }
  static double update(const Parts& p) { return weighted_mean(p); }
};

/// Squared distance of the means. Not reducible: a union's mean can move nearer
/// to a third cluster than either part was.
struct CentroidSquared {
  static constexpr bool kReducible = false;
  static constexpr bool kMeanOfParts = false;
  static constexpr bool kProduct = false;
  static constexpr bool kWeighted = false;
  static double weight(double, double) { return 0; }
  static double score(double gap, double, double) { return gap; }
  static double bound(double gap, double, double) { return gap; }
  static double most_gap(double limit, double, double) { return limit; }
  static double update(const Parts& p) {
    const double n = p.n_a + p.n_b;
    return weighted_mean(p) - p.n_a / n * (p.n_b / n) * p.l_ab;
  }
};

/// Growth of the total ssd when the two are merged.
struct WardGrowth {
  static constexpr bool kReducible = true;
  static constexpr bool kMeanOfParts = false;
  static constexpr bool kProduct = false;
  static constexpr bool kWeighted = true;
  static double weight(double n, double) { return n; }
  static double score(double gap, double n_a, double n_b) { return n_a * n_b / (n_a + n_b) * gap; }
  static double bound(double gap, double n_a, double n_b) {
    // The factor grows with n_b only up to rounding, hence the hair's breadth.
    return score(gap, n_a, n_b) * (1 - 1e-14);
  }
  static double most_gap(double limit, double n_a, double n_b) {
    return limit * ((n_a + n_b) / (n_a * n_b)) * (1 + 1e-14);
  }
  static double update(const Parts& p) {
    return ((p.n_a + p.n_c) * p.l_ac + (p.n_b + p.n_c) * p.l_bc - p.n_c * p.l_ab) /
           (p.n_a + p.n_b + p.n_c);
  }
};

/// Minus the mean of all inner products across, which is minus the product of
/// the means: average and centroid linkage are one and the same under dot.
struct MinusDot {
  static constexpr bool kReducible = true;
  static constexpr bool kMeanOfParts = true;
  static constexpr bool kProduct = true;
  static constexpr bool kWeighted = false;
  static double weight(double, double) { return 0; }
  static double score(double product, double, double) { return -product; }
  static double bound(double product, double, double) { return -product; }
  static double most_gap(double, double, double) {
    return std::numeric_limits<double>::infinity();  // gaps say nothing of products
  }
  static double update(const Parts& p) { return weighted_mean(p); }
};

/// Call `use` with the rule for a metric and a linkage.
template <class Use>
decltype(auto) with_rule(Metric metric, Linkage linkage, Use&& use) {
  if (metric == Metric::kDot) return use(MinusDot{});
  if (linkage == Linkage::kCentroid) return use(CentroidSquared{});
  if (linkage == Linkage::kWard) return use(WardGrowth{});
  return use(AverageSquared{});
}

/// |mA - mB|^2, or the inner product mA.mB, whichever the rule is made of.
template <class Rule, class Real>
inline double pair_value(const Real* mean_a, const Real* mean_b, std::size_t dim) {
  return Rule::kProduct ? dot(mean_a, mean_b, dim) : squared_distance(mean_a, mean_b, dim);
}

/// Linkage of two clusters. Symmetric to the bit. O(dim).
template <class Rule, class Real>
inline double linkage_of(const SummaryView<Real>& a, const SummaryView<Real>& b, std::size_t dim) {
  return Rule::score(pair_value<Rule>(a.mean, b.mean, dim), Rule::weight(a.n, a.variance()),
                     Rule::weight(b.n, b.variance()));
}

/// The height users see for a linkage: SciPy's, for the same merge.
inline double height_of(Metric metric, Linkage linkage, double value) {
  if (metric == Metric::kDot) return value;
  if (linkage == Linkage::kCentroid) return std::sqrt(value);
  if (linkage == Linkage::kWard) return std::sqrt(2 * value);
  return metric == Metric::kCosine ? value / 2 : value;
}

}  // namespace ramify
