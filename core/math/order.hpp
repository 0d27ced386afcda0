// SPDX-License-Identifier: BSD-3-Clause
// order.hpp: the one total order that breaks every tie.
//
//   neighbours  nearer first; then the point that arrived earlier
//   merges      smaller linkage first; then the lighter union; then the one of fewer
//               leaves; then the pair whose earlier first leaf is earlier; then whose
//               later one is
//
// A cluster's *first leaf* is its earliest point. Weights are sums over leaves, each of
// which is 1 unless it stands for several points. The weight rule keeps equal points at
// logarithmic depth, and with the leaves it makes the order fit for nearest-neighbour
// chains: a union has more of them than its parts, so where merging leaves a linkage
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
  double weight;
  std::uint32_t count;  // of leaves
  RowSlot first_leaf;
};

inline Rank merged(const Rank& a, const Rank& b) {
  return {a.weight + b.weight, a.count + b.count, std::min(a.first_leaf, b.first_leaf)};
}

/// For a fixed cluster c: does (c, a) come before (c, b) when their linkages
/// are equal? c itself cancels out, so its rank is not needed.
inline bool comes_first(const Rank& a, const Rank& b) {
  if (a.weight != b.weight) return a.weight < b.weight;
  return a.count != b.count ? a.count < b.count : a.first_leaf < b.first_leaf;
}

/// Key of a pair of clusters: the merge with the smallest key is made next.
struct MergeKey {
  double linkage;
  double weight;
  std::uint32_t count;
  RowSlot first;   // of the two first leaves, the earlier
  RowSlot second;  // the later

  MergeKey(double linkage_, const Rank& a, const Rank& b)
      : linkage(linkage_),
        weight(a.weight + b.weight),
        count(a.count + b.count),
        first(std::min(a.first_leaf, b.first_leaf)),
        second(std::max(a.first_leaf, b.first_leaf)) {}

  friend bool operator<(const MergeKey& a, const MergeKey& b) {
    return std::tie(a.linkage, a.weight, a.count, a.first, a.second) <
           std::tie(b.linkage, b.weight, b.count, b.first, b.second);
  }
};

}  // namespace ramify
