// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/ohac.hpp"

#include <algorithm>

namespace ramify {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;        // x hung nowhere before
constexpr std::size_t kWorthAsking = 6;                // smaller forests are merged as quickly
constexpr std::uint64_t kUnnamed = ~std::uint64_t{0};  // until inherit_names()

}  // namespace

template <class Real>
bool Ohac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> neighbours,
                        const Pulse& pulse) {
  if (neighbours.empty()) {
    tree.set_root(leaf);
    return true;
  }
  if (neighbours.size() == 1 || tree.root().is_leaf()) {
    const NodeId y = NodeId::leaf(neighbours.front().row);
    split_path(tree, y, y);
  } else {
    split_paths(tree, neighbours);
  }
  trees_.push_back(leaf);
  gather_forest(tree);
  std::size_t remade = taken_.size();
  if (!merge_below_the_stable_part(tree.dim(), remade)) {
    remade = taken_.size();
    if (!forest_hac<Real>(forest_, tree.dim(), metric_, linkage_, pulse, scratch_, merges_))
      return false;
  }
  keep_stable_part(remade);
  make_room_to_rebuild();
  rebuild(tree);
  inherit_names(tree, true);
  if (kept_.empty()) {
    tree.set_root(trees_.back());
    return true;
  }
  tree.replace_child(NodeId::inner(kept_.front()), kept_child_, trees_.back());
  for (const Slot slot : kept_) tree.summarise(slot);
  return true;
}

template <class Real>
bool Ohac<Real>::erase(Tree<Real>& tree, NodeId leaf, const Pulse& pulse) {
  const NodeId gone = tree.parent(leaf);
  if (gone == kNone || gone == tree.root()) {
    tree.detach(leaf);
    return true;
  }
  // The sibling takes the place of their parent; nothing in the forest holds the leaf.
  split_path(tree, tree.sibling(leaf), gone);
  gather_forest(tree);
  if (!forest_hac<Real>(forest_, tree.dim(), metric_, linkage_, pulse, scratch_, merges_))
    return false;
  kept_.clear();
  make_room_to_rebuild();
  tree.detach(leaf);
  rebuild(tree);
  inherit_names(tree, false);
  tree.set_root(trees_.back());
  return true;
}

template <class Real>
void Ohac<Real>::gather_forest(const Tree<Real>& tree) {
  forest_.clear();
  for (const NodeId v : trees_) forest_.push_back({tree.summary(v), tree.rank(v)});
}

/// Try to merge only what lies below the stable part of the path. `remade` comes
/// back as the number of taken-out nodes that are to be made anew.
template <class Real>
bool Ohac<Real>::merge_below_the_stable_part(std::size_t dim, std::size_t& remade) {
  const bool fit = one_path_ && metric_ != Metric::kDot && linkage_ == Linkage::kAverage &&
                   forest_.size() >= kWorthAsking && forest_.size() <= kMatrixLimit;
  if (!fit) return false;
  remade = stable_path_.unstable_level(forest_);
  while (4 * remade <= 3 * taken_.size()) {
    merge_lowest(dim, remade + 1);
    const std::size_t level = stable_path_.unstable_after(remade, merges_, scratch_.linkages);
    if (level == remade) return true;
    remade = level;
  }
  return false;
}

/// HAC of the lowest `count` trees of the path and x.
template <class Real>
void Ohac<Real>::merge_lowest(std::size_t dim, std::size_t count) {
  if (count == 1) {  // y and x; every second insert asks for just that
    merges_.assign(1, {0, 1});
    scratch_.linkages.assign(
        1, linkage_of<AverageSquared>(forest_.front().summary, forest_.back().summary, dim));
    return;
  }
  low_forest_.assign(forest_.begin(), forest_.begin() + static_cast<std::ptrdiff_t>(count));
  low_forest_.push_back(forest_.back());
  forest_hac<Real>(low_forest_, dim, metric_, linkage_, {}, scratch_, merges_);
}

/// Put aside what stays: taken-out nodes from `remade` on, and what hangs there.
template <class Real>
void Ohac<Real>::keep_stable_part(std::size_t remade) {
  kept_.assign(taken_.begin() + static_cast<std::ptrdiff_t>(remade), taken_.end());
  if (kept_.empty()) {
    owner_.push_back(kNowhere);
    return;
  }
  kept_child_ = remade == 0 ? trees_.front() : NodeId::inner(taken_[remade - 1]);
  taken_.resize(remade);
  const NodeId x = trees_.back();
  trees_.resize(remade + 1);
  owner_.resize(remade + 1);
  if (remade == 0) owner_.front() = kNowhere;
  trees_.push_back(x);
  owner_.push_back(kNowhere);
}

/// Collect the nodes above `below`, to be taken out, and what hangs off them, first of
/// all y in the place of `below`.
template <class Real>
void Ohac<Real>::split_path(const Tree<Real>& tree, NodeId y, NodeId below) {
  one_path_ = true;
  taken_.clear();
  trees_.assign(1, y);
  owner_.assign(1, tree.parent(below) == kNone ? kNowhere : 0);
  for (NodeId v = tree.parent(below); v != kNone; below = v, v = tree.parent(v)) {
    const NodeId side = tree.left(v) == below ? tree.right(v) : tree.left(v);
    tree.prefetch(side);
    owner_.push_back(static_cast<std::uint32_t>(taken_.size()));
    taken_.push_back(v.slot());
    trees_.push_back(side);
  }
}

/// No slot is marked as taken any more, however the work ended.
template <class Real>
struct Ohac<Real>::Untake {
  Ohac& ohac;
  ~Untake() {
    for (const Slot slot : ohac.taken_) ohac.is_taken_[slot] = 0;
  }
};

/// The same for several root paths, in no special order.
template <class Real>
void Ohac<Real>::split_paths(const Tree<Real>& tree, std::span<const Neighbour> neighbours) {
  is_taken_.resize(tree.slots());
  one_path_ = false;
  taken_.clear();
  trees_.clear();
  owner_.clear();
  const Untake untake{*this};
  for (const Neighbour& y : neighbours)
    for (NodeId v = tree.parent(NodeId::leaf(y.row)); v != kNone && !is_taken_[v.slot()];
         v = tree.parent(v)) {
      taken_.push_back(v.slot());
      is_taken_[v.slot()] = 1;
    }
  // A parent is larger than its child, so this puts children first.
  std::sort(taken_.begin(), taken_.end(), [&](Slot a, Slot b) {
    return comes_first(tree.rank(NodeId::inner(a)), tree.rank(NodeId::inner(b)));
  });
  for (std::uint32_t i = 0; i < taken_.size(); ++i) {
    const NodeId v = NodeId::inner(taken_[i]);
    for (const NodeId child : {tree.left(v), tree.right(v)}) {
      if (!child.is_leaf() && is_taken_[child.slot()]) continue;
      trees_.push_back(child);
      owner_.push_back(i);
    }
  }
  find_above(tree);
}

template <class Real>
void Ohac<Real>::find_above(const Tree<Real>& tree) {
  above_.assign(taken_.size(), kNowhere);
  for (std::uint32_t i = 0; i < taken_.size(); ++i) {
    const NodeId parent = tree.parent(NodeId::inner(taken_[i]));
    if (parent == kNone) continue;
    const auto place = std::lower_bound(
        taken_.begin(), taken_.end(), tree.rank(parent),
        [&](Slot a, Rank b) { return comes_first(tree.rank(NodeId::inner(a)), b); });
    above_[i] = static_cast<std::uint32_t>(place - taken_.begin());
  }
}

/// From here on nothing may fail.
template <class Real>
void Ohac<Real>::make_room_to_rebuild() {
  trees_.reserve(trees_.size() + merges_.size());
  owner_.reserve(owner_.size() + merges_.size());
  old_size_.clear();
  old_name_.clear();
  old_size_.reserve(taken_.size());
  old_name_.reserve(taken_.size());
  heirs_.assign(taken_.size(), {});
}

/// Make the merges real, in the slots of the taken-out nodes and, with x, a new one, for
/// which the tree has room.
template <class Real>
void Ohac<Real>::rebuild(Tree<Real>& tree) {
  for (const Slot slot : taken_) {
    old_size_.push_back(tree.size(NodeId::inner(slot)));
    old_name_.push_back(tree.name(slot));
  }
  const std::size_t old = taken_.size();
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const auto [a, b] = merges_[t];
    const Slot slot = t < old ? taken_[t] : tree.new_slot(kUnnamed);
    trees_.push_back(tree.join(trees_[a], trees_[b], slot));
    owner_.push_back(lowest_common(owner_[a], owner_[b]));
  }
}

/// The lowest taken-out node that holds both; x, which hung nowhere, fits any.
template <class Real>
std::uint32_t Ohac<Real>::lowest_common(std::uint32_t a, std::uint32_t b) const {
  if (a == kNowhere || b == kNowhere) return std::min(a, b);
  if (one_path_) return std::max(a, b);
  while (a != b) (a < b ? a : b) = above_[a < b ? a : b];
  return a;
}

template <class Real>
void Ohac<Real>::inherit_names(Tree<Real>& tree, bool has_x_last) {
  const std::size_t m = trees_.size() - merges_.size();
  std::size_t with_x = has_x_last ? m - 1 : kNowhere;  // the cluster that x is in so far
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const bool has_x = merges_[t].a == with_x || merges_[t].b == with_x;
    if (has_x) with_x = m + t;
    tree.rename(trees_[m + t].slot(), kUnnamed);
    if (owner_[m + t] == kNowhere) continue;
    Heir& heir = heirs_[owner_[m + t]];
    const std::uint32_t kept = tree.size(trees_[m + t]) - (has_x ? 1 : 0);
    if (kept > heir.kept) heir = {kept, t};
  }
  for (std::size_t i = 0; i < heirs_.size(); ++i)
    if (2 * std::uint64_t{heirs_[i].kept} > old_size_[i])
      tree.rename(trees_[m + heirs_[i].merge].slot(), old_name_[i]);
  for (std::size_t t = 0; t < merges_.size(); ++t) {
    const Slot slot = trees_[m + t].slot();
    if (tree.name(slot) == kUnnamed) tree.rename(slot, tree.new_name());
  }
}

template class Ohac<float>;
template class Ohac<double>;

}  // namespace ramify
