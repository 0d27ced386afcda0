// SPDX-License-Identifier: BSD-3-Clause
// search_costs.hpp: what the parts of a search cost, so that ways to search can be compared.
//
// In nanoseconds, roughly, of a machine of 2024, with more rows than fit into its caches; only
// ratios matter.
#pragma once

#include <cstddef>

namespace ramify {

/// An item, or a node, that a search in a bucket tree looks at.
inline constexpr double kTreeItemCost = 5;
/// A row of `width` bytes that a scan passes, and a sweep for many rows at a time.
inline double cost_of_scanning(std::size_t width) {
  return 0.1 + 0.025 * static_cast<double>(width);
}
inline double cost_of_sweeping(std::size_t width) {
  return 0.2 + 0.006 * static_cast<double>(width);
}
/// A look at the row itself, which is seldom in a cache.
inline double cost_of_a_look(std::size_t dim) { return 30 + 0.4 * static_cast<double>(dim); }

}  // namespace ramify
