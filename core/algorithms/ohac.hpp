// SPDX-License-Identifier: BSD-3-Clause
// ohac.hpp: online HAC, the paper's Algorithm 2.
//
//   y      the nearest leaf of the new point x
//   Split  the forest that remains when the nodes on y's root path are taken
//          out: y, its sibling, its parent's sibling, ...
//
// T becomes HAC(Split(T, y) + {x}). With k > 1 neighbours the root paths of all
// k are taken out: a dial from the paper's algorithm towards offline HAC.
//
// Taken-out nodes come back under the name they had: of the new nodes whose
// points all lay below old node u (x aside) and no lower, the first made that
// holds the most of them inherits u's name, if that is more than half of u. The
// others get new names. So a cluster that merely gains x, or stays as it was,
// keeps its name.
#pragma once

#include <span>

#include "algorithms/forest_hac.hpp"
#include "algorithms/stable_path.hpp"
#include "tree/tree.hpp"

namespace ramify {

template <class Real>
class Ohac {
 public:
  Ohac(std::size_t dim, Metric metric, Linkage linkage)
      : metric_(metric), linkage_(linkage), stable_path_(dim) {}

  /// Insert an unattached leaf whose nearest points are given (none: the tree is
  /// empty) into a tree with room for a slot. False when the pulse said stop: then,
  /// and whenever this throws, the tree is as it was.
  /// O(l^2 * dim) for l nodes on the paths.
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> neighbours,
              const Pulse& pulse);

  /// Take a leaf out of a tree with room to erase: its place's root path is split, and
  /// HAC merges what hung off it. False, and whenever it throws: as above.
  bool erase(Tree<Real>& tree, NodeId leaf, const Pulse& pulse);

 private:
  struct Untake;
  void gather_forest(const Tree<Real>& tree);
  void split_path(const Tree<Real>& tree, NodeId y, NodeId below);
  void split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours);
  bool merge_below_the_stable_part(std::size_t dim, std::size_t& remade);
  void merge_lowest(std::size_t dim, std::size_t count);
  void keep_stable_part(std::size_t remade);
  void make_room_to_rebuild();
  void rebuild(Tree<Real>& tree);
  void inherit_names(Tree<Real>& tree, bool has_x_last);
  std::uint32_t lowest_common(std::uint32_t a, std::uint32_t b) const;
  void find_above(const Tree<Real>& tree);

  Metric metric_;
  Linkage linkage_;
  ForestScratch scratch_;
  StablePath<Real> stable_path_;

  // Of the insert at hand; kept to spare allocations.
  bool one_path_ = true;                 // then taken_[i + 1] is taken_[i]'s parent
  std::vector<Slot> taken_;              // taken-out nodes, smaller first
  std::vector<std::uint32_t> above_;     // else: for each, its parent's place in taken_
  std::vector<std::uint32_t> old_size_;  // for each, its number of points
  std::vector<std::uint64_t> old_name_;  // for each, its name
  std::vector<NodeId> trees_;            // the forest, x last; then each merge
  std::vector<std::uint32_t> owner_;     // where in taken_ each of them hung or fits
  std::vector<ForestItem<Real>> forest_, low_forest_;
  std::vector<Slot> kept_;  // path nodes that stay, lowest first
  NodeId kept_child_;       // the first one's child on the path
  std::vector<Merge> merges_;
  std::vector<std::uint8_t> is_taken_;  // by slot, all zero between inserts

  struct Heir {
    std::uint32_t kept = 0;  // points of the taken-out node that it holds
    std::uint32_t merge = 0;
  };
  std::vector<Heir> heirs_;  // for each taken-out node
};

}  // namespace ramify
