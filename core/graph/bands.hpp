// SPDX-License-Identifier: BSD-3-Clause
// bands.hpp: the weights at which a live graph's tree is cut into bands, fixed for ever.
//
// Band l holds the merges whose mean weight is below threshold l - 1 and not below threshold l.
// Thresholds are shares of the largest weight that there can be: close together where neighbours
// merge, so that few clusters are merged together, and wide apart below, where clusters are few.
// The last threshold is 0: whatever is connected. A threshold is a whole number of 2^30ths of
// the weights' unit, so that nothing is rounded when a mean is compared with one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "graph/wide.hpp"

namespace ramify {

class Bands {
 public:
  /// `most`, the largest weight of an edge, is at most 2^30.
  explicit Bands(Weight most) {
    const std::uint64_t narrow = most * (kPart / 4096), last = most * (kPart >> 27);
    for (std::uint64_t at = most * kPart; at > last;) {
      thresholds_.push_back(at);
      at = at > narrow ? at / 20 * 17 : at / 5 * 4;
    }
    thresholds_.push_back(0);
  }

  std::size_t count() const { return thresholds_.size(); }

  /// No band before this one may merge two clusters with this mean weight between them, rounded.
  std::size_t first(double mean) const {
    const double most = mean * static_cast<double>(kPart) * (1 + 1e-12);
    const auto at = std::lower_bound(
        thresholds_.begin(), thresholds_.end(), most,
        [](std::uint64_t threshold, double m) { return static_cast<double>(threshold) > m; });
    return static_cast<std::size_t>(at - thresholds_.begin());
  }

  /// Is first(mean) less than this?
  bool comes_before(std::size_t band, double mean) const {
    return band > count() || (band > 0 && static_cast<double>(thresholds_[band - 1]) <=
                                              mean * static_cast<double>(kPart) * (1 + 1e-12));
  }

  /// Are two clusters so near, in the mean over so many pairs, that band l may merge them?
  bool holds(std::size_t l, Weight sum, std::uint64_t pairs) const {
    return sum > 0 && Wide(sum, kPart) >= Wide(pairs, thresholds_[l]);
  }

 private:
  static constexpr std::uint64_t kPart = std::uint64_t{1} << 30;
  std::vector<std::uint64_t> thresholds_;
};

}  // namespace ramify
