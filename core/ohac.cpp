// SPDX-License-Identifier: BSD-3-Clause
#include "ohac.hpp"

#include <algorithm>

namespace ramify {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;        // x hung nowhere before
constexpr std::uint64_t kUnnamed = ~std::uint64_t{0};  // until inherit_names()

}  // namespace

template <class Real>
bool Ohac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> neighbours,
                        const Pulse& pulse) {
  if (neighbours.empty()) {
    tree.set_root(leaf);
    return true;
  }
  split(tree, neighbours);
  trees_.push_back(leaf);
  owner_.push_back(kNowhere);
  forest_.clear();
  for (const NodeId v : trees_) forest_.push_back({tree.summary(v), tree.rank(v)});
  if (!forest_hac<Real>(forest_, tree.dim(), metric_, linkage_, pulse, scratch_, merges_))
    return false;
  rebuild(tree);
  inherit_names(tree);
  return true;
}

/// Collect the nodes to take out, and what hangs off them.
template <class Real>
void Ohac<Real>::split(const Tree<Real>& tree, std::span<const Neighbour> neighbours) {
  is_taken_.resize(tree.slots());
  one_path_ = neighbours.size() == 1;
  taken_.clear();
  trees_.clear();
  owner_.clear();
  for (const Neighbour& y : neighbours)
    for (NodeId v = tree.parent(NodeId::leaf(y.point)); v != kNone && !is_taken_[v.slot()];
         v = tree.parent(v)) {
      is_taken_[v.slot()] = 1;
      taken_.push_back(v.slot());
    }
  if (taken_.empty()) {  // a single leaf is root and forest
    trees_.push_back(tree.root());
    owner_.push_back(kNowhere);
    return;
  }
  // A parent is larger than its child, so this puts children first. One path
  // comes in that order by itself.
  if (!one_path_)
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
  if (!one_path_) find_above(tree);
  for (const Slot slot : taken_) is_taken_[slot] = 0;
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

/// Make the merges real, in the slots of the taken-out nodes and a new one.
template <class Real>
void Ohac<Real>::rebuild(Tree<Real>& tree) {
  old_size_.clear();
  old_name_.clear();
  for (const Slot slot : taken_) {
    old_size_.push_back(tree.size(NodeId::inner(slot)));
    old_name_.push_back(tree.name(slot));
  }
  heirs_.assign(taken_.size(), {});
  const std::size_t old = taken_.size();
  for (std::uint32_t t = 0; t < merges_.size(); ++t) {
    const auto [a, b] = merges_[t];
    const Slot slot = t < old ? taken_[t] : tree.new_slot(kUnnamed);
    trees_.push_back(tree.join(trees_[a], trees_[b], slot));
    owner_.push_back(lowest_common(owner_[a], owner_[b]));
  }
  tree.set_root(trees_.back());
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
void Ohac<Real>::inherit_names(Tree<Real>& tree) {
  const std::size_t m = trees_.size() - merges_.size();
  std::size_t with_x = m - 1;  // the cluster that x is in so far
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
