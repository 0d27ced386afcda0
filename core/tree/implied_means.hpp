// SPDX-License-Identifier: BSD-3-Clause
// implied_means.hpp: means of a stored tree that its rows and links give again.
//
// Most nodes have, to the bit, the mean that merging their children's summaries gives. A file
// need not hold these means, which are as large as the rows. The others, of nodes to which points
// were added one by one, are listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ramify {

/// Arrays of a stored tree, as in Tree::Arrays; nothing about them is believed.
template <class Real>
struct StoredLinks {
  std::size_t dim;
  std::span<const Real> points;
  std::span<const std::uint32_t> links;
  std::span<const double> standings;
};

/// Places of the nodes whose means merging their children's would not give, ascending. O(n dim).
template <class Real>
std::vector<std::uint32_t> listed_means(const StoredLinks<Real>& tree, std::span<const Real> means);

/// All means, given those of the nodes at these places. O(n dim).
/// std::invalid_argument if there can be no such tree.
template <class Real>
std::vector<Real> all_means(const StoredLinks<Real>& tree, std::span<const std::uint32_t> places,
                            std::span<const Real> listed);

}  // namespace ramify
