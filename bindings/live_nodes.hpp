// SPDX-License-Identifier: BSD-3-Clause
// live_nodes.hpp: what nodes and points of a live tree are called in Python, and where they are.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "live/live.hpp"

namespace ramify::bindings {

template <class Real>
void require_points(const Live<Real>& live, std::size_t k) {
  if (k < 1 || k > live.size())
    throw std::invalid_argument("k must be between 1 and the number of points");
}

/// The number of the earliest point in a leaf.
template <class Real>
std::int64_t arrival_of(const Live<Real>& live, RowSlot row) {
  const Arrival leaf = live.points().arrival(row);
  const Members* const members = live.members();
  return static_cast<std::int64_t>(members == nullptr ? leaf : members->first_in(leaf));
}

template <class Real>
std::int64_t public_id(const Live<Real>& live, NodeId v) {
  return live.frozen().public_id(v);
}

template <class Real>
NodeId leaf_of(const Live<Real>& live, std::int64_t number) {
  RowSlot row = 0;
  if (number < 0 || !live.find(static_cast<Arrival>(number), row))
    throw std::out_of_range("there is no point " + std::to_string(number));
  return NodeId::leaf(row);
}

/// The turns from the root to a node: 0 to the child with the earlier first point.
template <class Real>
std::string code_of(const Live<Real>& live, NodeId v) {
  const Tree<Real>& tree = live.frozen();
  std::string turns;
  for (; v != tree.root(); v = tree.parent(v))
    turns += tree.first_leaf(v) < tree.first_leaf(tree.sibling(v)) ? '0' : '1';
  std::reverse(turns.begin(), turns.end());
  return turns;
}

template <class Real>
std::size_t depth_of(const Live<Real>& live, NodeId v) {
  std::size_t depth = 0;
  while ((v = live.frozen().parent(v)) != kNone) ++depth;
  return depth;
}

template <class Real>
void append_mean(const Tree<Real>& tree, NodeId v, std::vector<Real>& out) {
  const std::size_t before = out.size();
  out.resize(before + tree.dim());
  const Real* const mean = tree.mean(v, &out[before]);
  if (mean != &out[before]) std::copy_n(mean, tree.dim(), &out[before]);
}

}  // namespace ramify::bindings
