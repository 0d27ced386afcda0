// SPDX-License-Identifier: BSD-3-Clause
// options.hpp: what a stream's tree is to be like.
#pragma once

#include <cstddef>
#include <optional>

#include "algorithms/registry.hpp"
#include "index/cell_plan.hpp"

namespace ramify {

struct Options {
  Rule rule;
  AlgorithmOptions algorithm;
  /// A row that equals a stored one raises that one's weight, instead of adding a leaf.
  bool count_repeats = false;
  /// Beyond this many leaves (0: no limit) the two closest that are siblings become one. Only
  /// under OHAC.
  std::size_t max_leaves = 0;
  /// Remember which points are in which leaf.
  bool track_members = true;
  /// Polish the tree when the number of points that ever came is a power of two, from 1024 on.
  bool polish = false;
  /// Near neighbours instead of the nearest (index/cell_rows.hpp). Only for squared distances, and
  /// algorithms that take them.
  std::optional<CellOptions> cells = std::nullopt;

  /// May a leaf be of several points?
  bool leaves_are_many() const { return count_repeats || max_leaves > 0; }
  /// And are they told apart?
  bool tracks_members() const { return count_repeats || (max_leaves > 0 && track_members); }
};

}  // namespace ramify
