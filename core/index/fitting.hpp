// SPDX-License-Identifier: BSD-3-Clause
// fitting.hpp: when a projection is fitted to items that come and go, and to which of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ramify {

/// There must be enough to fit to. It is time again when there are eight times as many, or when too
/// many are loose: unlike those that it was fitted to.
class Fitting {
 public:
  using Item = std::uint32_t;

  explicit Fitting(std::size_t dim) : next_(dim < 64 ? 256 : 1024) {}

  bool is_due(std::size_t items, std::size_t loose) const {
    return items >= next_ || (fitted_to_ > 0 && items >= 2 * fitted_to_ && loose > items / 16);
  }
  /// All items 0 .. items-1 that has(item) says are there; none if they are too few to fit to.
  template <class Has>
  std::vector<Item> begin(std::size_t items, Has&& has) {
    std::vector<Item> there;
    for (Item i = 0; i < items; ++i)
      if (has(i)) there.push_back(i);
    if (there.size() < 2) {
      next_ = 2 * items;
      return {};
    }
    fitted_to_ = there.size();
    next_ = 8 * fitted_to_;
    return there;
  }
  /// Call fit(row_of, count) with rows spread over them.
  template <class RowOf, class Fit>
  static void to_sample(const std::vector<Item>& there, RowOf&& row, Fit&& fit) {
    const std::size_t sample = std::min(there.size(), kSample);
    fit([&](std::size_t i) { return row(there[i * there.size() / sample]); }, sample);
  }

 private:
  static constexpr std::size_t kSample = 1024;
  std::size_t next_, fitted_to_ = 0;
};

}  // namespace ramify
