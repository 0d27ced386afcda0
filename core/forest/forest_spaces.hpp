// SPDX-License-Identifier: BSD-3-Clause
// forest_spaces.hpp: what the three places to look for a cluster's nearest cluster share
// (bucket_space.hpp, matrix_space.hpp, scan_space.hpp).
//
// Each space holds the clusters that are still apart and answers
//   nearest(c)      the cluster with the smallest MergeKey to c
//   merge(a, b, c)  a and b are gone, their union c has come
// Those that take long look at the pulse. Used by forest_hac.cpp alone.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "forest/forest_hac.hpp"

namespace ramify {

struct Found {
  std::uint32_t cluster;
  double linkage;
};

/// The nearest cluster offered so far, other than the one that asks.
class NearestCluster {
 public:
  NearestCluster(std::uint32_t self, const std::vector<Rank>& ranks) : self_(self), ranks_(ranks) {}

  double limit() const { return found_.linkage; }
  std::size_t equals() const { return std::numeric_limits<std::size_t>::max(); }
  void offer(double linkage, std::uint32_t cluster) {
    if (cluster == self_) return;
    if (!any_ || linkage < found_.linkage ||
        (linkage == found_.linkage && comes_first(ranks_[cluster], ranks_[found_.cluster]))) {
      found_ = {cluster, linkage};
      any_ = true;
    }
  }
  Found found() const { return found_; }
  /// All that another has been offered.
  void add(const NearestCluster& other) {
    if (other.any_) offer(other.found_.linkage, other.found_.cluster);
  }

 private:
  std::uint32_t self_;
  const std::vector<Rank>& ranks_;
  bool any_ = false;
  Found found_{0, std::numeric_limits<double>::infinity()};
};

/// Size, ssd and rule weight of every cluster, for the spaces that need sums.
class Weights {
 public:
  Weights(std::size_t clusters, const std::vector<Rank>& ranks) : ssd_(clusters), ranks_(ranks) {}

  void set_ssd(std::uint32_t c, double ssd) { ssd_[c] = ssd; }
  template <class Real>
  SummaryView<Real> view(std::uint32_t c, const Real* mean) const {
    return {ranks_[c].weight, mean, ssd_[c]};
  }
  template <class Rule>
  double weight(std::uint32_t c) const {
    const double n = ranks_[c].weight;
    return Rule::weight(n, ssd_[c] / n);
  }
  /// Mean and ssd of a union; `out` receives the mean. O(dim).
  template <class Real>
  void unite(std::uint32_t a, const Real* mean_a, std::uint32_t b, const Real* mean_b,
             std::uint32_t c, std::size_t dim, Real* out) {
    const SummaryView<Real> from = view(a, mean_a), with = view(b, mean_b);
    ssd_[c] = merged_ssd(from.n, from.ssd, with.n, with.ssd, squared_distance(mean_a, mean_b, dim));
    merged_mean(from, with, dim, out);
  }

 private:
  std::vector<double> ssd_;
  const std::vector<Rank>& ranks_;
};

}  // namespace ramify
