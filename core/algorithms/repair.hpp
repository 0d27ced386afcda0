// SPDX-License-Identifier: BSD-3-Clause
// repair.hpp: write a forest that was cut out of a tree back into it.
//
// "Break into a forest, HAC the forest" is how every tree of OHAC comes about: with a
// new point it is an insert, without a leaf that goes it is an erasure. Whoever calls
// chooses what is cut out; what happens then is here, once.
//
// Taken-out nodes come back under the id they had: of the new nodes whose
// points all lay below old node u (the new point aside) and no lower, the first made
// that holds the most of them inherits u's id, if that is more than half of u. The
// others get new ids. So a cluster that merely gains or loses a point, or stays as it
// was, keeps its id.
//
// What is cut out may end below the root, at a held node (edits.hpp): the new top takes
// its place, and is held.
#pragma once

#include <vector>

#include "algorithms/forest_hac.hpp"
#include "algorithms/gather.hpp"
#include "algorithms/long_path.hpp"
#include "algorithms/path_hac.hpp"
#include "algorithms/stable_path.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Nodes that were taken out of a tree, always with all above them up to the last, which
/// is the root or held, and what is left.
struct CutForest {
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;

  bool one_path = true;              // then taken[i + 1] is taken[i]'s parent
  std::vector<Slot> taken;           // taken-out nodes, smaller first
  std::vector<std::uint32_t> above;  // else: for each, its parent's place in taken
  std::vector<NodeId> trees;         // the forest; of one path, lowest first
  std::vector<std::uint32_t> owner;  // where in taken each of them hung; kNowhere
};

/// How many subtrees hang off a path that merge_long_path() is quicker for.
std::size_t usual_long_path(std::size_t dim, Metric metric, Linkage linkage);

/// From how many subtrees on a path is merged by PathHac, and from how many by
/// merge_long_path(); 0: where that is quicker. The tree is the same.
struct PathLengths {
  std::size_t path_from = 0, long_path_from = 0;
};

template <class Real>
class Repair {
 public:
  Repair(std::size_t dim, Metric metric, Linkage linkage, PathLengths lengths = {})
      : metric_(metric),
        linkage_(linkage),
        path_from_(lengths.path_from > 0 ? lengths.path_from : kWorthAPath),
        paths_from_(lengths.path_from > 0 ? lengths.path_from : kWorthPaths),
        long_path_from_(lengths.long_path_from > 0 ? lengths.long_path_from
                                                   : usual_long_path(dim, metric, linkage)),
        stable_path_(dim),
        path_hac_(dim, metric, linkage) {}

  /// To be filled in before every call.
  CutForest& cut() { return cut_; }

  /// HAC of the forest that was cut out, with an unattached leaf that is `coming` (for
  /// which the tree has a slot) and without one that is `going` (which hangs beside
  /// the first tree of the forest; there is room to erase); either may be kNone, and both
  /// the same leaf, whose weight has changed and was `known` before. False when the pulse
  /// said stop: then, and whenever this throws, the tree is as it was.
  bool operator()(Tree<Real>& tree, NodeId coming, NodeId going, const Pulse& pulse,
                  double known = 0);
  /// HAC of the forest that was cut out, two trees of which come together before all
  /// others, and are linked. There is room to mark. If this throws, the tree is as it was.
  void link(Tree<Real>& tree, NodeId a, NodeId b);
  /// Overwrite what buffers hold of rows that have been in this tree, and are not any more.
  void wipe(const Tree<Real>& tree) noexcept {
    ramify::wipe(mean_);
    ramify::wipe(means_);
    ramify::wipe(scratch_.columns);
    ramify::wipe(scratch_.products);
    ramify::wipe(scratch_.matrix);
    ramify::wipe(scratch_.linkages);
    long_path_.wipe();
    stable_path_.wipe();
    if (tree.changes() != remembered_) path_hac_.table().forget();
    path_hac_.wipe();
  }

  /// HAC of the forest that was cut out, which is all there is, if `accept` says yes to
  /// the merges that it would make: accept(forest, merges). False otherwise, and when the
  /// pulse said stop: then, and whenever this throws, the tree is as it was.
  template <class Accept>
  bool rearrange(Tree<Real>& tree, const Pulse& pulse, const Accept& accept) {
    gather<Real>(tree, cut_.trees, means_, forest_);
    if (!forest_hac<Real>(forest_, tree.dim(), metric_, linkage_, pulse, scratch_, merges_) ||
        !accept(std::span<const ForestItem<Real>>(forest_), std::span<const Merge>(merges_)))
      return false;
    make_room_to_rebuild();
    rebuild(tree);
    inherit_ids(tree, false, 0, false);
    tree.set_root(cut_.trees.back());
    return true;
  }

 private:
  struct Place;
  bool merge_path(Tree<Real>& tree, const Place& place, bool comes, NodeId going, double known);
  bool merge_paths(const Tree<Real>& tree, bool comes);
  bool suits_table(const Tree<Real>& tree) const;
  void release_remade(const Tree<Real>& tree, const Place& place);
  void write_path(Tree<Real>& tree, bool comes, double known);
  void put_last(NodeId tree);
  void merge_last_two_first(const Tree<Real>& tree);
  bool is_long() const;
  static std::size_t end_of_ids(const Tree<Real>& tree);
  void recall(const Tree<Real>& tree, NodeId coming);
  void note_merges(const Tree<Real>& tree, bool comes, const Place& place, bool compared);
  bool merge_below_the_stable_part(std::size_t dim, std::size_t& remade);
  bool is_worth_asking();
  bool merge_stepwise(std::size_t dim, std::size_t& remade);
  void merge_lowest(std::size_t dim, std::size_t count);
  void keep_stable_part(std::size_t remade);
  void make_room_to_rebuild();
  void rebuild(Tree<Real>& tree);
  std::uint32_t lowest_common(std::uint32_t a, std::uint32_t b) const;
  void inherit_ids(Tree<Real>& tree, bool has_x_last, double known, bool gone);

  Metric metric_;
  Linkage linkage_;
  // Shorter ones are merged as quickly: one path, and several.
  static constexpr std::size_t kWorthAPath = 12, kWorthPaths = 64;
  std::size_t path_from_, paths_from_, long_path_from_;
  ForestScratch scratch_;
  StablePath<Real> stable_path_;
  LongPathScratch long_path_;
  PairMemory memory_;
  PathHac<Real> path_hac_;
  std::uint64_t remembered_ = 0;  // the tree's changes when memories of paths were right
  double usual_share_ = 0;        // of a path, how much was made anew of late
  std::uint32_t not_asked_ = 0;

  // Of the repair at hand; kept to spare allocations.
  CutForest cut_;                         // trees: with x last, then each merge
  std::vector<double> old_weight_;        // of each taken-out node, how many points
  std::vector<std::uint64_t> old_id_;     // and its id
  std::vector<std::uint32_t> old_count_;  // and how many leaves
  std::vector<ForestItem<Real>> forest_, low_forest_;
  std::vector<Real> mean_;   // of two that are linked
  std::vector<Real> means_;  // of the forest, as far as the tree has none
  std::vector<Slot> kept_;   // path nodes that stay, lowest first
  NodeId kept_child_;        // the first one's child on the path
  std::vector<Merge> merges_;

  struct Heir {
    double kept = 0;  // points of the taken-out node that it holds
    std::uint32_t merge = 0;
    bool whole = false;  // it holds all leaves of it
  };
  std::vector<Heir> heirs_;  // for each taken-out node
  struct Part {              // of the path: a subtree, or a union of some
    std::uint32_t highest;   // the highest of them, and x if it is alone
    std::uint32_t count;     // how many, without x
    bool has_x, is_node = false;
  };
  std::vector<Part> parts_;
  std::vector<std::uint32_t> other_merges_;  // which make no node of the path
  std::vector<std::uint8_t> is_there_;       // for each taken-out node: is it made again?
  std::vector<Slot> spare_;
};

}  // namespace ramify
