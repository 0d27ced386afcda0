// SPDX-License-Identifier: BSD-3-Clause
// write_back.hpp: make the merges of a forest real in the tree that it was cut out of.
//
// Taken-out nodes come back under the id they had: of the new nodes whose
// points all lay below old node u (the new point aside) and no lower, the first made
// that holds all leaves of u inherits u's id, and keeps its place in memory; if there is none, the
// first that holds the most of u's points, if they are more than half. The others get new ids. So a
// cluster that merely gains or loses a point, or stays as it was, keeps its id.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/cut_forest.hpp"
#include "forest/forest_hac.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class WriteBack {
 public:
  /// What is special about this forest.
  struct Traits {
    bool has_x;             // its last tree is a leaf that hung elsewhere, if anywhere
    double known;           // of whose weight so much was below the taken-out nodes
    bool has_gone = false;  // a leaf was below them, and is not any more
    bool lazy = false;      // means may wait until they are read
  };

  /// The memory for `merges` merges: nothing can fail then.
  void make_room(CutForest& cut, std::size_t merges);
  /// The trees of the forest are joined, in the slots of the taken-out nodes and, if they are too
  /// few, a new one, for which the tree has room. After this cut.trees has the outcome of each
  /// merge as well. O(merges), and O(dim) for each unless that waits.
  void operator()(Tree<Real>& tree, CutForest& cut, std::span<const Merge> merges,
                  const Traits& traits);

 private:
  void plan(const Tree<Real>& tree, CutForest& cut, std::span<const Merge> merges,
            const Traits& traits);
  void join(Tree<Real>& tree, CutForest& cut, std::span<const Merge> merges, bool lazy);
  void hand_on_ids(Tree<Real>& tree, const CutForest& cut, std::span<const Merge> merges,
                   const Traits& traits);

  struct Heir {
    double kept = 0;  // points of the taken-out node that it holds
    std::uint32_t merge = 0;
    bool whole = false;  // it holds all leaves of it
  };
  std::vector<Heir> heirs_;            // of each taken-out node
  std::vector<std::uint32_t> leaves_;  // of each cluster, without x
  std::vector<std::uint8_t> has_x_;    // by cluster
  std::vector<std::uint32_t> others_;  // merges whose outcome is no taken-out node
  struct Spare {
    std::uint32_t taken;  // a taken-out node without a whole heir, as it was
    double weight;
    std::uint64_t id;
  };
  std::vector<Spare> spare_;
};

}  // namespace ramify
