// SPDX-License-Identifier: BSD-3-Clause
// repair.hpp: merge a forest that was cut out of a tree, and write it back: all or nothing.
//
// "Break into a forest, HAC the forest" is how every tree of OHAC comes about: with a
// new point it is an insert, without a leaf that goes it is an erasure. The caller
// chooses what is cut out; what happens then is here, once.
//
// Taken-out nodes come back under the ids they had, as far as there is an heir (write_back.hpp).
//
// What is cut out may end below the root, at a held node (edits.hpp): the new top takes
// its place, and is held.
#pragma once

#include <vector>

#include "algorithms/cut_forest.hpp"
#include "algorithms/gather.hpp"
#include "algorithms/write_back.hpp"
#include "forest/forest_hac.hpp"
#include "forest/path_hac.hpp"
#include "forest/stable_path.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// How a path is merged. The tree is the same, to the bit: tests choose, and compare.
struct PathWays {
  enum class Asks { kWherePaid, kAlways, kNever, kInTurn };

  /// The table merges paths of at least this many subtrees; 0: those that it merges more quickly.
  std::size_t path_from = 0;
  /// When StablePath is asked which part of a path stays as it is.
  Asks asks = Asks::kWherePaid;
  /// What the table or merge_few() would merge goes to a matrix, as if they could not tell.
  bool by_matrix = false;
};

template <class Real>
class Repair {
 public:
  Repair(std::size_t dim, Metric metric, Linkage linkage, const PathWays& ways = {})
      : metric_(metric),
        linkage_(linkage),
        path_from_(ways.path_from > 0 ? ways.path_from : kWorthAPath),
        paths_from_(ways.path_from > 0 ? ways.path_from : kWorthPaths),
        asks_(ways.asks),
        by_matrix_(ways.by_matrix),
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
    ramify::wipe(scratch_.matrix);
    ramify::wipe(scratch_.linkages);
    stable_path_.wipe();
    if (tree.changes() != remembered_) forget();
    path_hac_.wipe();
    scratch_.kept.wipe();
  }

  /// HAC of the forest that was cut out, which is all there is, if `accept` says yes to
  /// the merges that it would make: accept(forest, merges). False otherwise, and when the
  /// pulse said stop: then, and whenever this throws, the tree is as it was.
  template <class Accept>
  bool rearrange(Tree<Real>& tree, const Pulse& pulse, const Accept& accept) {
    gather<Real>(tree, cut_.trees, means_, forest_);
    if (!hac(forest_, tree.dim(), pulse) ||
        !accept(std::span<const ForestItem<Real>>(forest_), std::span<const Merge>(merges_)))
      return false;
    write_all(tree);
    return true;
  }

 private:
  struct Place;
  /// v has other points from now on, or is gone.
  void release(NodeId v) {
    path_hac_.table().release(v);
    scratch_.kept.release(v);
  }
  void forget() {
    path_hac_.table().forget();
    scratch_.kept.forget();
  }
  /// The merges of a forest. Of a path, a matrix takes over what it can of the last one.
  bool hac(std::span<const ForestItem<Real>> forest, std::size_t dim, const Pulse& pulse,
           ForestSpace space = ForestSpace::kBySize, std::span<const NodeId> trees = {}) {
    scratch_.trees = trees;
    return forest_hac<Real>(forest, dim, metric_, linkage_, pulse, scratch_, merges_, space);
  }
  void write_all(Tree<Real>& tree);
  bool merge_by_table(const Tree<Real>& tree, bool comes);
  bool suits_table(const Tree<Real>& tree) const;
  bool suits_stable_path(std::size_t dim) const;
  bool merge_all(const Tree<Real>& tree, bool comes, const Pulse& pulse);
  void release_remade(const Tree<Real>& tree, const Place& place);
  void put_last(NodeId tree);
  void merge_last_two_first(const Tree<Real>& tree);
  static std::size_t end_of_ids(const Tree<Real>& tree);
  void recall(const Tree<Real>& tree, NodeId coming);
  void note_merges(const Tree<Real>& tree, const Place& place);
  bool merge_below_the_stable_part(std::size_t dim, std::size_t& remade);
  bool is_worth_asking();
  bool merge_stepwise(std::size_t dim, std::size_t& remade);
  void merge_lowest(std::size_t dim, std::size_t count);
  void keep_stable_part(std::size_t remade);

  Metric metric_;
  Linkage linkage_;
  // Shorter ones are merged as quickly: one path, and several.
  static constexpr std::size_t kWorthAPath = 12, kWorthPaths = 64;
  std::size_t path_from_, paths_from_;
  PathWays::Asks asks_;
  bool by_matrix_;
  ForestScratch scratch_;
  StablePath<Real> stable_path_;
  PathHac<Real> path_hac_;
  std::uint64_t remembered_ = 0;  // the tree's changes when the table was right
  double usual_share_ = 0;        // of a path, how much was made anew of late
  std::uint32_t not_asked_ = 0;

  // Of the repair at hand; kept to spare allocations.
  CutForest cut_;  // trees: with x last, then each merge
  WriteBack<Real> write_back_;
  std::vector<ForestItem<Real>> forest_, low_forest_;
  std::vector<Real> mean_;   // of two that are linked
  std::vector<Real> means_;  // of the forest, as far as the tree has none
  std::vector<Slot> kept_;   // path nodes that stay, lowest first
  NodeId kept_child_;        // the first one's child on the path
  std::vector<Merge> merges_;
};

}  // namespace ramify
