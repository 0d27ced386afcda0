// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/repair.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/edits.hpp"
#include "forest/tally.hpp"
#include "math/kernels.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWorthAsking = 6;      // smaller forests are merged as quickly
constexpr std::size_t kTooLongToAsk = 2048;  // all pairs of a longer path are too many

}  // namespace

/// Where the topmost of the taken-out nodes hangs.
template <class Real>
struct Repair<Real>::Place {
  Place(const Tree<Real>& tree, const CutForest& cut) {
    if (cut.taken.empty()) return;
    top = NodeId::inner(cut.taken.back());
    above = tree.parent(top);
    mark = tree.mark(top);
  }
  /// Another tree takes the place, and what was said about it.
  void fill(Tree<Real>& tree, NodeId now) const {
    tree.replace_child(above, top, now);
    if (mark == Mark::kPlain) return;
    tree.set_mark(top, Mark::kPlain);
    tree.set_mark(now, mark);
  }

  NodeId top, above;
  Mark mark = Mark::kPlain;
};

template <class Real>
bool Repair<Real>::operator()(Tree<Real>& tree, NodeId coming, NodeId going, const Pulse& pulse,
                              double known) {
  const bool comes = coming != kNone;
  const Place place(tree, cut_);
  if (going != kNone) {
    release(going);
    release(tree.parent(going));
  }
  if (comes) cut_.trees.push_back(coming);
  gather<Real>(tree, cut_.trees, means_, forest_);
  recall(tree, coming);
  const bool by_table = merge_by_table(tree, comes);
  std::size_t remade = cut_.taken.size();
  if (!by_table && (!comes || !merge_below_the_stable_part(tree.dim(), remade))) {
    remade = cut_.taken.size();
    if (!merge_all(tree, comes, pulse)) return false;
  }
  kept_.clear();
  if (comes) keep_stable_part(remade);
  write_back_.make_room(cut_, merges_.size());
  if (going != kNone) tree.detach(going);
  // Where there are many columns, summaries are left for later.
  write_back_(tree, cut_, merges_, {comes, known, going != kNone, by_table});
  if (kept_.empty()) {
    place.fill(tree, cut_.trees.back());
  } else {
    tree.replace_child(NodeId::inner(kept_.front()), kept_child_, cut_.trees.back());
    for (const Slot slot : kept_) {  // as if it had been made anew: the earlier child first
      const NodeId a = tree.left(NodeId::inner(slot)), b = tree.right(NodeId::inner(slot));
      if (tree.first_leaf(b) < tree.first_leaf(a))
        tree.join(b, a, slot);
      else
        tree.summarise(slot);
    }
  }
  summarise_up(tree, place.above);
  if (by_table && going != kNone) tree.freshen(tree.root());  // nothing is left of what has gone
  note_merges(tree, place);
  return true;
}

/// From the table. Where there are several paths, their nodes tell nothing about what will be met
/// again: most of the subtrees will.
template <class Real>
bool Repair<Real>::merge_by_table(const Tree<Real>& tree, bool comes) {
  std::span<const Slot> path;
  if (cut_.one_path) path = cut_.taken;
  return suits_table(tree) && !by_matrix_ && path_hac_.table().suits(forest_.size()) &&
         path_hac_.merge(forest_, cut_.trees, path, comes, end_of_ids(tree), merges_);
}

template <class Real>
bool Repair<Real>::suits_table(const Tree<Real>& tree) const {
  const std::size_t m = forest_.size();
  return !cut_.taken.empty() && m >= (cut_.one_path ? path_from_ : paths_from_) &&
         PathHac<Real>::fits(m) && PathHac<Real>::fits(tree.dim(), metric_, linkage_);
}

/// Without the table. Where the table could not tell, linkages are rounded as it rounds them; and
/// where the stable part may be asked for, as what is below it is merged: whether it was asked
/// hangs on what has been counted, which no tree may show.
template <class Real>
bool Repair<Real>::merge_all(const Tree<Real>& tree, bool comes, const Pulse& pulse) {
  if (suits_table(tree)) return hac(forest_, tree.dim(), pulse, ForestSpace::kMatrix, cut_.trees);
  const bool may_ask = comes && suits_stable_path(tree.dim());
  return hac(forest_, tree.dim(), pulse, may_ask ? ForestSpace::kMatrix : ForestSpace::kBySize);
}

/// What is known of pairs holds only if no other code has touched the tree; a leaf
/// that comes may have the id of one that has gone.
template <class Real>
void Repair<Real>::recall(const Tree<Real>& tree, NodeId coming) {
  release(coming);
  if (tree.changes() != remembered_) forget();
}

/// These have other points now; what is above a held node too, though it was not on the path.
template <class Real>
void Repair<Real>::release_remade(const Tree<Real>& tree, const Place& place) {
  for (std::size_t t = cut_.trees.size() - merges_.size(); t < cut_.trees.size(); ++t)
    release(cut_.trees[t]);
  for (const Slot slot : kept_) release(NodeId::inner(slot));
  for (NodeId v = place.above; v != kNone; v = tree.parent(v)) release(v);
}

/// Raw ids are below, that of a node which is still to come included.
template <class Real>
std::size_t Repair<Real>::end_of_ids(const Tree<Real>& tree) {
  return 2 * std::max(tree.points().slots(), tree.slots() + 1) + 2;
}

template <class Real>
void Repair<Real>::note_merges(const Tree<Real>& tree, const Place& place) {
  if (path_hac_.table().in_use() || scratch_.kept.in_use()) release_remade(tree, place);
  remembered_ = tree.changes();
}

template <class Real>
void Repair<Real>::link(Tree<Real>& tree, NodeId a, NodeId b) {
  const Place place(tree, cut_);
  if (tree.first_leaf(b) < tree.first_leaf(a)) std::swap(a, b);
  put_last(a);
  put_last(b);
  gather<Real>(tree, cut_.trees, means_, forest_);
  merge_last_two_first(tree);
  write_back_.make_room(cut_, merges_.size());
  write_back_(tree, cut_, merges_, {false, 0});
  place.fill(tree, cut_.trees.back());
  tree.set_mark(cut_.trees[cut_.trees.size() - merges_.size()], Mark::kLinked);
  summarise_up(tree, place.above);
}

/// Make the merges of all there is real.
template <class Real>
void Repair<Real>::write_all(Tree<Real>& tree) {
  const Place place(tree, cut_);
  write_back_.make_room(cut_, merges_.size());
  write_back_(tree, cut_, merges_, {false, 0});
  place.fill(tree, cut_.trees.back());
}

template <class Real>
void Repair<Real>::put_last(NodeId tree) {
  const auto at = std::find(cut_.trees.begin(), cut_.trees.end(), tree) - cut_.trees.begin();
  std::rotate(cut_.trees.begin() + at, cut_.trees.begin() + at + 1, cut_.trees.end());
  std::rotate(cut_.owner.begin() + at, cut_.owner.begin() + at + 1, cut_.owner.end());
}

/// HAC of the forest with its last two as one cluster, and their merge in front.
template <class Real>
void Repair<Real>::merge_last_two_first(const Tree<Real>& tree) {
  const std::size_t dim = tree.dim();
  const auto m = static_cast<std::uint32_t>(forest_.size());
  const ForestItem<Real> a = forest_[m - 2], b = forest_[m - 1];
  mean_.resize(dim);
  merged_mean(a.summary, b.summary, dim, mean_.data());
  const double gap = squared_distance(a.summary.mean, b.summary.mean, dim);
  const double ssd = merged_ssd(a.summary.n, a.summary.ssd, b.summary.n, b.summary.ssd, gap);
  forest_.pop_back();
  forest_.back() = {{a.summary.n + b.summary.n, mean_.data(), ssd}, merged(a.rank, b.rank)};
  hac(forest_, dim, {});
  const auto in_all = [&](std::uint32_t c) { return c < m - 2 ? c : c == m - 2 ? m : c + 2; };
  for (Merge& merge : merges_) merge = {in_all(merge.a), in_all(merge.b)};
  merges_.insert(merges_.begin(), {m - 2, m - 1});
}

/// May StablePath be asked about this path? By the forest alone: whether it is asked is another
/// question.
template <class Real>
bool Repair<Real>::suits_stable_path(std::size_t dim) const {
  return cut_.one_path && metric_ != Metric::kDot && linkage_ == Linkage::kAverage &&
         dim < kLanes && forest_.size() >= kWorthAsking && forest_.size() <= kTooLongToAsk;
}

/// Try to merge only what lies below the stable part of the path. `remade` comes
/// back as the number of taken-out nodes that are to be made anew.
template <class Real>
bool Repair<Real>::merge_below_the_stable_part(std::size_t dim, std::size_t& remade) {
  if (!suits_stable_path(dim) || !is_worth_asking()) return false;
  const bool found = merge_stepwise(dim, remade);
  constexpr double kWeight = 1.0 / 16;
  const double share =
      found ? static_cast<double>(remade) / static_cast<double>(cut_.taken.size()) : 1;
  usual_share_ += kWeight * (share - usual_share_);
  return found;
}

/// Where hardly anything stays, as where long rows have no structure, merging all of the
/// path at once is less work; now and then StablePath is asked again.
template <class Real>
bool Repair<Real>::is_worth_asking() {
  using Asks = PathWays::Asks;
  if (asks_ != Asks::kWherePaid)
    return asks_ == Asks::kAlways || (asks_ == Asks::kInTurn && ++not_asked_ % 2 == 0);
  return usual_share_ < 0.5 || ++not_asked_ % 16 == 0;
}

template <class Real>
bool Repair<Real>::merge_stepwise(std::size_t dim, std::size_t& remade) {
  remade = stable_path_.unstable_level(forest_);
  while (4 * remade <= 3 * cut_.taken.size() && remade + 2 <= matrix_limit(dim)) {
    merge_lowest(dim, remade + 1);
    const std::size_t level = stable_path_.unstable_after(remade, merges_, scratch_.linkages);
    if (level == remade) return true;
    remade = level;
  }
  return false;
}

/// HAC of the lowest `count` trees of the path and x.
template <class Real>
void Repair<Real>::merge_lowest(std::size_t dim, std::size_t count) {
  if (count == 1) {  // y and x; every fourth insert asks for just that
    tally(Engine::kStableFoot, 2);
    const bool x_first = forest_.back().rank.first_leaf < forest_.front().rank.first_leaf;
    merges_.assign(1, x_first ? Merge{1, 0} : Merge{0, 1});
    scratch_.linkages.assign(1, stable_path_.foot(0).last_row[0]);
    return;
  }
  if (count < kFew && !by_matrix_) {
    FewClusters few = stable_path_.foot(count - 1);
    for (std::size_t i = 0; i < count; ++i) few.ranks[i] = forest_[i].rank;
    few.ranks[count] = forest_.back().rank;
    if (merge_few(few, merges_, scratch_.linkages)) return;
  }
  low_forest_.assign(forest_.begin(), forest_.begin() + static_cast<std::ptrdiff_t>(count));
  low_forest_.push_back(forest_.back());
  hac(low_forest_, dim, {});
}

/// Put aside what stays: taken-out nodes from `remade` on, and what hangs there.
template <class Real>
void Repair<Real>::keep_stable_part(std::size_t remade) {
  kept_.assign(cut_.taken.begin() + static_cast<std::ptrdiff_t>(remade), cut_.taken.end());
  if (kept_.empty()) {
    cut_.owner.push_back(CutForest::kNowhere);
    return;
  }
  kept_child_ = remade == 0 ? cut_.trees.front() : NodeId::inner(cut_.taken[remade - 1]);
  cut_.taken.resize(remade);
  const NodeId x = cut_.trees.back();
  cut_.trees.resize(remade + 1);
  cut_.owner.resize(remade + 1);
  if (remade == 0) cut_.owner.front() = CutForest::kNowhere;
  cut_.trees.push_back(x);
  cut_.owner.push_back(CutForest::kNowhere);
}

template class Repair<float>;
template class Repair<double>;

}  // namespace ramify
