// SPDX-License-Identifier: BSD-3-Clause
#include "measures/heavy_paths.hpp"

#include <algorithm>

namespace ramify {

HeavyPaths::HeavyPaths(Children children) {
  const std::size_t n = leaf_count(children);
  size_.assign(2 * n - 1, 0);
  std::fill_n(size_.begin(), n, 1);
  start_.assign(2 * n - 1, 0);
  parent_.resize(2 * n - 1);
  order_.resize(n);
  for (std::size_t i = 0; i + 1 < n; ++i)
    for (const std::int64_t child : children.subspan(2 * i, 2)) {
      parent_[static_cast<std::size_t>(child)] = static_cast<std::uint32_t>(n + i);
      size_[n + i] += size_[static_cast<std::size_t>(child)];
    }
  parent_[2 * n - 2] = static_cast<std::uint32_t>(2 * n - 2);
  for (std::size_t i = n - 1; i-- > 0;) {
    auto heavy = static_cast<std::size_t>(children[2 * i]);
    auto light = static_cast<std::size_t>(children[2 * i + 1]);
    if (size_[light] > size_[heavy]) std::swap(heavy, light);
    start_[heavy] = start_[n + i];
    start_[light] = start_[n + i] + size_[heavy];
  }
  for (std::size_t leaf = 0; leaf < n; ++leaf)
    order_[start_[leaf]] = static_cast<std::uint32_t>(leaf);
}

std::uint64_t HeavyPaths::light_leaves() const {
  std::uint64_t leaves = 0;
  for (std::size_t v = 0; v < size_.size(); ++v)
    if (is_top(v) && !is_root(v)) leaves += size_[v];
  return leaves;
}

}  // namespace ramify
