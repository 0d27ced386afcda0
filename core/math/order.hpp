// SPDX-License-Identifier: BSD-3-Clause
// order.hpp: the one total order that breaks every tie.
//
//   neighbours  nearer first; then the point that arrived earlier
//   merges      smaller linkage first; then the smaller union; then the pair
//               whose earlier first leaf is earlier; then whose later one is
//
// A cluster's *first leaf* is its earliest point. The size rule keeps equal
// points at logarithmic depth, and it makes the order fit for nearest-neighbour
// chains: a union is larger than its parts, so where merging leaves a linkage
// unchanged the key still grows (docs/math.md, "Ties").
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "tree/ids.hpp"

namespace ramify {

struct Neighbour {
  double distance;
  RowSlot row;

  friend bool operator<(const Neighbour& a, const Neighbour& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
  }
};

/// What ties between merges look at, apart from the linkage itself.
struct Rank {
  std::uint32_t size;
  RowSlot first_leaf;
};

/// For a fixed cluster c: does (c, a) come before (c, b) when their linkages
/// are equal? c itself cancels out, so its rank is not needed.
inline bool comes_first(Rank a, Rank b) {
  return a.size != b.size ? a.size < b.size : a.first_leaf < b.first_leaf;
}

/// Key of a pair of clusters: the merge with the smallest key is made next.
struct MergeKey {
  double linkage;
  std::uint64_t size;
  RowSlot first;   // of the two first leaves, the earlier
  RowSlot second;  // the later

  MergeKey(double linkage_, Rank a, Rank b)
      : linkage(linkage_),
        size(std::uint64_t{a.size} + b.size),
        first(std::min(a.first_leaf, b.first_leaf)),
        second(std::max(a.first_leaf, b.first_leaf)) {}

  friend bool operator<(const MergeKey& a, const MergeKey& b) {
    return std::tie(a.linkage, a.size, a.first, a.second) <
           std::tie(b.linkage, b.size, b.first, b.second);
  }
};

}  // namespace ramify
