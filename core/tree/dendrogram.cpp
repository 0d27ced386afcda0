// SPDX-License-Identifier: BSD-3-Clause
#include "tree/dendrogram.hpp"

#include <algorithm>

namespace ramify {

const char* what_is_wrong(Children children) {
  const std::size_t n = leaf_count(children);
  std::vector<bool> has_parent(2 * n - 1);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const std::int64_t child = children[i];
    if (child < 0 || static_cast<std::size_t>(child) >= n + i / 2)
      return "a child does not come before its parent";
    if (has_parent[static_cast<std::size_t>(child)]) return "a node has two parents";
    has_parent[static_cast<std::size_t>(child)] = true;
  }
  return "";
}

std::vector<std::int64_t> parents_of(Children children) {
  const std::size_t n = leaf_count(children);
  std::vector<std::int64_t> parents(2 * n - 1, -1);
  for (std::size_t i = 0; i < children.size(); ++i)
    parents[static_cast<std::size_t>(children[i])] = static_cast<std::int64_t>(n + i / 2);
  return parents;
}

std::vector<std::int64_t> sizes_of(Children children) {
  const std::size_t n = leaf_count(children);
  std::vector<std::int64_t> sizes(2 * n - 1, 1);
  for (std::size_t i = 0; i + 1 < n; ++i)
    sizes[n + i] = sizes[static_cast<std::size_t>(children[2 * i])] +
                   sizes[static_cast<std::size_t>(children[2 * i + 1])];
  return sizes;
}

std::vector<std::int64_t> depths_of(Children children) {
  const std::size_t n = leaf_count(children);
  std::vector<std::int64_t> depths(2 * n - 1, 0);
  for (std::size_t i = n - 1; i-- > 0;)
    for (const std::int64_t child : children.subspan(2 * i, 2))
      depths[static_cast<std::size_t>(child)] = depths[n + i] + 1;
  return depths;
}

std::vector<double> monotone_heights(Children children, std::span<const double> heights) {
  const std::size_t n = leaf_count(children);
  std::vector<double> monotone(heights.begin(), heights.end());
  for (std::size_t i = 0; i + 1 < n; ++i)
    for (const std::int64_t child : children.subspan(2 * i, 2))
      if (static_cast<std::size_t>(child) >= n)
        monotone[i] = std::max(monotone[i], monotone[static_cast<std::size_t>(child) - n]);
  return monotone;
}

std::vector<double> displacements(Children children, std::span<const double> weights) {
  const std::size_t n = leaf_count(children);
  std::vector<double> most(2 * n - 1, 0);
  for (std::size_t i = n - 1; i-- > 0;) {
    const auto a = static_cast<std::size_t>(children[2 * i]);
    const auto b = static_cast<std::size_t>(children[2 * i + 1]);
    most[a] = std::max(most[n + i], weights[b] / weights[a]);
    most[b] = std::max(most[n + i], weights[a] / weights[b]);
  }
  most.resize(n);
  return most;
}

LeafLayout lay_out_leaves(Children children) {
  const std::size_t n = leaf_count(children);
  const std::vector<std::int64_t> sizes = sizes_of(children);
  LeafLayout layout{std::vector<std::int64_t>(n), std::vector<std::int64_t>(2 * n - 1, 0)};
  for (std::size_t i = n - 1; i-- > 0;) {
    const auto left = static_cast<std::size_t>(children[2 * i]);
    const auto right = static_cast<std::size_t>(children[2 * i + 1]);
    layout.start[left] = layout.start[n + i];
    layout.start[right] = layout.start[n + i] + sizes[left];
  }
  for (std::size_t leaf = 0; leaf < n; ++leaf)
    layout.order[static_cast<std::size_t>(layout.start[leaf])] = static_cast<std::int64_t>(leaf);
  return layout;
}

std::vector<std::int64_t> cut_labels(Children children, std::size_t k) {
  const std::size_t n = leaf_count(children);
  const std::size_t kept = n - k;                // inner nodes that stay
  std::vector<std::int64_t> top(2 * n - 1, -1);  // cluster root of each node, if not itself
  for (std::size_t i = kept; i-- > 0;) {
    const auto node = static_cast<std::int64_t>(n + i);
    const std::int64_t root = top[n + i] < 0 ? node : top[n + i];
    for (const std::int64_t child : children.subspan(2 * i, 2))
      top[static_cast<std::size_t>(child)] = root;
  }
  std::vector<std::int64_t> labels(n), label_of(2 * n - 1, -1);
  std::int64_t next = 0;
  for (std::size_t leaf = 0; leaf < n; ++leaf) {
    const std::size_t root = top[leaf] < 0 ? leaf : static_cast<std::size_t>(top[leaf]);
    if (label_of[root] < 0) label_of[root] = next++;
    labels[leaf] = label_of[root];
  }
  return labels;
}

}  // namespace ramify
