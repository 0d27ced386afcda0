// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/repair.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/edits.hpp"
#include "math/kernels.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWorthAsking = 6;             // smaller forests are merged as quickly
constexpr std::size_t kTooLongForPairs = 2048;      // all pairs of a longer path are too many
constexpr std::uint64_t kNoId = ~std::uint64_t{0};  // until inherit_ids()

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

/// From how many subtrees on comparing all pairs takes longer, where no table of them is kept
/// (path_hac.hpp). Products of all means at once are quick where linkages can be had from them
/// (matrix_space.hpp); below kLanes dimensions so are all ways, and ward's paths are short.
std::size_t usual_long_path(std::size_t dim, Metric metric, Linkage linkage) {
  return dim < kLanes || !fits_long_path(metric, linkage) ? ~std::size_t{0} : 1000;
}

template <class Real>
bool Repair<Real>::operator()(Tree<Real>& tree, NodeId coming, NodeId going, const Pulse& pulse,
                              double known) {
  const bool comes = coming != kNone;
  const Place place(tree, cut_);
  if (going != kNone) {
    path_hac_.table().release(going);
    path_hac_.table().release(tree.parent(going));
  }
  if (comes) cut_.trees.push_back(coming);
  gather<Real>(tree, cut_.trees, means_, forest_);
  recall(tree, coming);
  if (merge_path(tree, place, comes, going, known)) return true;
  std::size_t remade = cut_.taken.size();
  const LongPathOutcome outcome =
      is_long() ? merge_long_path<Real>(forest_, cut_.trees, comes, tree.dim(), metric_, linkage_,
                                        pulse, memory_, long_path_, merges_)
                : LongPathOutcome::kUnsure;
  if (outcome == LongPathOutcome::kStopped) return false;
  if (outcome == LongPathOutcome::kUnsure &&
      (!comes || !merge_below_the_stable_part(tree.dim(), remade))) {
    remade = cut_.taken.size();
    if (!merge_paths(tree, comes) &&
        !forest_hac<Real>(forest_, tree.dim(), metric_, linkage_, pulse, scratch_, merges_))
      return false;
  }
  kept_.clear();
  if (comes) keep_stable_part(remade);
  make_room_to_rebuild();
  if (going != kNone) tree.detach(going);
  rebuild(tree);
  inherit_ids(tree, comes, known, going != kNone);
  if (kept_.empty()) {
    place.fill(tree, cut_.trees.back());
  } else {
    tree.replace_child(NodeId::inner(kept_.front()), kept_child_, cut_.trees.back());
    for (const Slot slot : kept_) tree.summarise(slot);
  }
  summarise_up(tree, place.above);
  note_merges(tree, comes, place, outcome == LongPathOutcome::kMerged);
  return true;
}

/// Where there are many columns: only what has changed of the path is written, and summaries are
/// left for later.
template <class Real>
bool Repair<Real>::merge_path(Tree<Real>& tree, const Place& place, bool comes, NodeId going,
                              double known) {
  const std::size_t m = forest_.size();
  if (!cut_.one_path || !suits_table(tree) ||
      !path_hac_.merge(forest_, cut_.trees, cut_.taken, comes, end_of_ids(tree), merges_))
    return false;
  const std::size_t levels = cut_.taken.size();
  cut_.trees.reserve(m + merges_.size());
  parts_.resize(m + merges_.size());
  is_there_.assign(levels, 0);
  other_merges_.clear();
  other_merges_.reserve(merges_.size());
  spare_.clear();
  spare_.reserve(levels);
  old_weight_.resize(levels);
  old_id_.resize(levels);
  heirs_.assign(levels, {});  // from here on nothing may fail
  if (going != kNone) tree.detach(going);
  write_path(tree, comes, known);
  place.fill(tree, cut_.trees.back());
  summarise_up(tree, place.above);
  if (going != kNone) tree.freshen(tree.root());  // nothing is left of who has gone
  kept_.clear();
  note_merges(tree, comes, place, false);
  return true;
}

/// What hangs off several paths, from the same table; they are written as any forest is. Their
/// nodes tell nothing about what will be met again: most of the subtrees will.
template <class Real>
bool Repair<Real>::merge_paths(const Tree<Real>& tree, bool comes) {
  return !cut_.one_path && suits_table(tree) &&
         path_hac_.merge(forest_, cut_.trees, {}, comes, end_of_ids(tree), merges_);
}

template <class Real>
bool Repair<Real>::suits_table(const Tree<Real>& tree) const {
  const std::size_t m = forest_.size();
  return !cut_.taken.empty() && m >= (cut_.one_path ? path_from_ : paths_from_) &&
         PathHac<Real>::fits(m) && PathHac<Real>::fits(tree.dim(), metric_, linkage_);
}

/// A union of all subtrees up to some level is the node of that level, which may have gained x: it
/// stays where it is.
template <class Real>
void Repair<Real>::write_path(Tree<Real>& tree, bool comes, double known) {
  const std::size_t m = forest_.size(), levels = cut_.taken.size();
  for (std::uint32_t i = 0; i < m; ++i) parts_[i] = {i, 1, false};
  if (comes) parts_[m - 1] = {0, 0, true};
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const Part &a = parts_[merges_[t].a], &b = parts_[merges_[t].b];
    Part& made = parts_[m + t];
    made = {std::max(a.highest, b.highest), a.count + b.count, a.has_x || b.has_x};
    made.is_node = made.highest > 0 && made.count == made.highest + 1 &&
                   !is_there_[made.highest - 1];  // there are two if x joins it last
    if (made.is_node)
      is_there_[made.highest - 1] = 1;
    else
      other_merges_.push_back(t);
  }
  for (std::size_t k = 0; k < levels; ++k) {
    if (is_there_[k]) continue;
    spare_.push_back(cut_.taken[k]);
    old_weight_[k] = tree.weight(NodeId::inner(cut_.taken[k]));
    old_id_[k] = tree.id(cut_.taken[k]);
  }
  std::size_t used = 0;
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const NodeId a = cut_.trees[merges_[t].a], b = cut_.trees[merges_[t].b];
    const Part& part = parts_[m + t];
    if (part.is_node) {
      const NodeId node = NodeId::inner(cut_.taken[part.highest - 1]);
      if (tree.left(node) == a && tree.right(node) == b)
        tree.recount(node);
      else
        tree.join_for_later(a, b, node.slot());
      cut_.trees.push_back(node);
    } else {
      const Slot slot = used < spare_.size() ? spare_[used++] : tree.new_slot(kNoId);
      cut_.trees.push_back(tree.join_for_later(a, b, slot));
    }
  }
  const double of_x = comes ? tree.weight(cut_.trees[m - 1]) - known : 0;
  for (const std::uint32_t t : other_merges_) {
    const Part& part = parts_[m + t];
    const std::size_t level = part.highest > 0 ? part.highest - 1 : 0;
    tree.set_id(cut_.trees[m + t].slot(), kNoId);
    if (is_there_[level]) continue;
    const double kept = tree.weight(cut_.trees[m + t]) - (part.has_x ? of_x : 0);
    if (kept > heirs_[level].kept) heirs_[level] = {kept, t, false};
  }
  for (std::size_t k = 0; k < levels; ++k)
    if (!is_there_[k] && 2 * heirs_[k].kept > old_weight_[k])
      tree.set_id(cut_.trees[m + heirs_[k].merge].slot(), old_id_[k]);
  for (const std::uint32_t t : other_merges_) {
    const Slot slot = cut_.trees[m + t].slot();
    if (tree.id(slot) == kNoId) tree.set_id(slot, tree.new_id());
  }
}

template <class Real>
bool Repair<Real>::is_long() const {
  return cut_.one_path && forest_.size() >= long_path_from_;
}

/// What is known of pairs holds only if nobody else has touched the tree; a leaf
/// that comes may have the id of one that has gone.
template <class Real>
void Repair<Real>::recall(const Tree<Real>& tree, NodeId coming) {
  path_hac_.table().release(coming);
  if (tree.changes() != remembered_) {
    if (memory_.in_use()) memory_.forget();
    path_hac_.table().forget();
  }
  if (is_long() || memory_.in_use()) memory_.make_room(end_of_ids(tree), forest_.size());
}

/// These have other points now; what is above a held node too, though it was not on the path.
template <class Real>
void Repair<Real>::release_remade(const Tree<Real>& tree, const Place& place) {
  for (std::size_t t = cut_.trees.size() - merges_.size(); t < cut_.trees.size(); ++t)
    path_hac_.table().release(cut_.trees[t]);
  for (const Slot slot : kept_) path_hac_.table().release(NodeId::inner(slot));
  for (NodeId v = place.above; v != kNone; v = tree.parent(v)) path_hac_.table().release(v);
}

/// Raw ids are below, that of a node which is still to come included.
template <class Real>
std::size_t Repair<Real>::end_of_ids(const Tree<Real>& tree) {
  return 2 * std::max(tree.points().slots(), tree.slots() + 1) + 2;
}

template <class Real>
void Repair<Real>::note_merges(const Tree<Real>& tree, bool comes, const Place& place,
                               bool compared) {
  if (path_hac_.table().in_use()) release_remade(tree, place);
  remembered_ = tree.changes();
  if (!memory_.in_use()) return;
  if (!cut_.one_path || place.above != kNone) {
    memory_.forget();
  } else {
    memory_.note_merges(cut_.trees, comes, merges_, compared);
    for (const Slot slot : kept_) memory_.renew(NodeId::inner(slot));
    memory_.tick();
  }
}

template <class Real>
void Repair<Real>::link(Tree<Real>& tree, NodeId a, NodeId b) {
  const Place place(tree, cut_);
  if (tree.first_leaf(b) < tree.first_leaf(a)) std::swap(a, b);
  put_last(a);
  put_last(b);
  gather<Real>(tree, cut_.trees, means_, forest_);
  merge_last_two_first(tree);
  make_room_to_rebuild();
  rebuild(tree);
  inherit_ids(tree, false, 0, false);
  place.fill(tree, cut_.trees.back());
  tree.set_mark(cut_.trees[cut_.trees.size() - merges_.size()], Mark::kLinked);
  summarise_up(tree, place.above);
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
  forest_hac<Real>(forest_, dim, metric_, linkage_, {}, scratch_, merges_);
  const auto in_all = [&](std::uint32_t c) { return c < m - 2 ? c : c == m - 2 ? m : c + 2; };
  for (Merge& merge : merges_) merge = {in_all(merge.a), in_all(merge.b)};
  merges_.insert(merges_.begin(), {m - 2, m - 1});
}

/// Try to merge only what lies below the stable part of the path. `remade` comes
/// back as the number of taken-out nodes that are to be made anew.
template <class Real>
bool Repair<Real>::merge_below_the_stable_part(std::size_t dim, std::size_t& remade) {
  const bool fit = cut_.one_path && metric_ != Metric::kDot && linkage_ == Linkage::kAverage &&
                   dim < kLanes && forest_.size() >= kWorthAsking &&
                   forest_.size() <= kTooLongForPairs;
  if (!fit || !is_worth_asking()) return false;
  const bool found = merge_stepwise(dim, remade);
  constexpr double kWeight = 1.0 / 16;
  const double share =
      found ? static_cast<double>(remade) / static_cast<double>(cut_.taken.size()) : 1;
  usual_share_ += kWeight * (share - usual_share_);
  return found;
}

/// Where hardly anything stays, as where long rows have no structure, merging all of the
/// path at once is less work; now and then somebody asks again.
template <class Real>
bool Repair<Real>::is_worth_asking() {
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
    merges_.assign(1, {0, 1});
    scratch_.linkages.assign(1, stable_path_.foot(0).last_row[0]);
    return;
  }
  if (count < kFew) {
    FewClusters few = stable_path_.foot(count - 1);
    for (std::size_t i = 0; i < count; ++i) few.ranks[i] = forest_[i].rank;
    few.ranks[count] = forest_.back().rank;
    if (merge_few(few, merges_, scratch_.linkages)) return;
  }
  low_forest_.assign(forest_.begin(), forest_.begin() + static_cast<std::ptrdiff_t>(count));
  low_forest_.push_back(forest_.back());
  forest_hac<Real>(low_forest_, dim, metric_, linkage_, {}, scratch_, merges_);
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

/// From here on nothing may fail.
template <class Real>
void Repair<Real>::make_room_to_rebuild() {
  cut_.trees.reserve(cut_.trees.size() + merges_.size());
  cut_.owner.reserve(cut_.owner.size() + merges_.size());
  old_weight_.clear();
  old_id_.clear();
  old_count_.clear();
  old_count_.reserve(cut_.taken.size());
  old_weight_.reserve(cut_.taken.size());
  old_id_.reserve(cut_.taken.size());
  heirs_.assign(cut_.taken.size(), {});
}

/// Make the merges real, in the slots of the taken-out nodes and, with x, a new one, for
/// which the tree has room.
template <class Real>
void Repair<Real>::rebuild(Tree<Real>& tree) {
  for (const Slot slot : cut_.taken) {
    old_weight_.push_back(tree.weight(NodeId::inner(slot)));
    old_id_.push_back(tree.id(slot));
    old_count_.push_back(tree.count(NodeId::inner(slot)));
  }
  const std::size_t old = cut_.taken.size();
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const auto [a, b] = merges_[t];
    const Slot slot = t < old ? cut_.taken[t] : tree.new_slot(kNoId);
    cut_.trees.push_back(tree.join(cut_.trees[a], cut_.trees[b], slot));
    cut_.owner.push_back(lowest_common(cut_.owner[a], cut_.owner[b]));
  }
}

/// The lowest taken-out node that holds both; x, which hung nowhere, fits any.
template <class Real>
std::uint32_t Repair<Real>::lowest_common(std::uint32_t a, std::uint32_t b) const {
  if (a == CutForest::kNowhere || b == CutForest::kNowhere) return std::min(a, b);
  if (cut_.one_path) return std::max(a, b);
  while (a != b) (a < b ? a : b) = cut_.above[a < b ? a : b];
  return a;
}

/// Of x, `known` of its points were below the taken-out nodes before; and perhaps somebody is gone
/// from there. Who holds all leaves of such a node is its heir, and of two who do, the one without
/// x; else who holds most of its weight.
template <class Real>
void Repair<Real>::inherit_ids(Tree<Real>& tree, bool has_x_last, double known, bool gone) {
  const std::size_t m = cut_.trees.size() - merges_.size();
  std::size_t with_x = has_x_last ? m - 1 : CutForest::kNowhere;  // the cluster that x is in so far
  const double of_x = has_x_last ? tree.weight(cut_.trees[m - 1]) - known : 0;
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const bool has_x = merges_[t].a == with_x || merges_[t].b == with_x;
    if (has_x) with_x = m + t;
    tree.set_id(cut_.trees[m + t].slot(), kNoId);
    if (cut_.owner[m + t] == CutForest::kNowhere) continue;
    Heir& heir = heirs_[cut_.owner[m + t]];
    const double kept = tree.weight(cut_.trees[m + t]) - (has_x ? of_x : 0);
    const bool whole = tree.count(cut_.trees[m + t]) - (has_x ? 1 : 0) ==
                       old_count_[cut_.owner[m + t]] - (gone ? 1 : 0);
    if (!heir.whole && (whole || kept > heir.kept)) heir = {kept, t, whole};
  }
  for (std::size_t i = 0; i < heirs_.size(); ++i)
    if (heirs_[i].whole || 2 * heirs_[i].kept > old_weight_[i])
      tree.set_id(cut_.trees[m + heirs_[i].merge].slot(), old_id_[i]);
  for (std::size_t t = 0; t < merges_.size(); ++t) {
    const Slot slot = cut_.trees[m + t].slot();
    if (tree.id(slot) == kNoId) tree.set_id(slot, tree.new_id());
  }
}

template class Repair<float>;
template class Repair<double>;

}  // namespace ramify
