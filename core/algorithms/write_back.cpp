// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/write_back.hpp"

#include <algorithm>

namespace ramify {
namespace {

constexpr std::uint64_t kNoId = ~std::uint64_t{0};  // until ids are handed on

/// The lowest taken-out node that holds both; x, which hung nowhere, fits any.
std::uint32_t lowest_common(const CutForest& cut, std::uint32_t a, std::uint32_t b) {
  if (a == CutForest::kNowhere || b == CutForest::kNowhere) return std::min(a, b);
  if (cut.one_path) return std::max(a, b);
  while (a != b) (a < b ? a : b) = cut.above[a < b ? a : b];
  return a;
}

}  // namespace

template <class Real>
void WriteBack<Real>::make_room(CutForest& cut, std::size_t merges) {
  const std::size_t clusters = cut.trees.size() + merges;
  cut.trees.reserve(clusters);
  cut.owner.reserve(clusters);
  leaves_.reserve(clusters);
  has_x_.reserve(clusters);
  others_.reserve(merges);
  heirs_.assign(cut.taken.size(), {});
  spare_.reserve(cut.taken.size());
}

template <class Real>
void WriteBack<Real>::operator()(Tree<Real>& tree, CutForest& cut, std::span<const Merge> merges,
                                 const Traits& traits) {
  plan(tree, cut, merges, traits);
  join(tree, cut, merges, traits.lazy);
  hand_on_ids(tree, cut, merges, traits);
}

/// Whom each union belongs to, and which of them are a taken-out node.
template <class Real>
void WriteBack<Real>::plan(const Tree<Real>& tree, CutForest& cut, std::span<const Merge> merges,
                           const Traits& traits) {
  leaves_.clear();
  for (const NodeId v : cut.trees) leaves_.push_back(tree.count(v));
  has_x_.assign(cut.trees.size(), 0);
  if (traits.has_x) {
    leaves_.back() = 0;
    has_x_.back() = 1;
  }
  others_.clear();
  const std::uint32_t gone = traits.has_gone ? 1 : 0;
  for (std::uint32_t t = 0; t < merges.size(); ++t) {
    const auto [a, b] = merges[t];
    const std::uint32_t owner = lowest_common(cut, cut.owner[a], cut.owner[b]);
    cut.owner.push_back(owner);
    leaves_.push_back(leaves_[a] + leaves_[b]);
    has_x_.push_back(has_x_[a] | has_x_[b]);
    if (owner != CutForest::kNowhere && !heirs_[owner].whole &&
        leaves_.back() + gone == tree.count(NodeId::inner(cut.taken[owner])))
      heirs_[owner] = {0, t, true};
    else
      others_.push_back(t);
  }
  spare_.clear();
  for (std::uint32_t k = 0; k < cut.taken.size(); ++k)
    if (!heirs_[k].whole)
      spare_.push_back({k, tree.weight(NodeId::inner(cut.taken[k])), tree.id(cut.taken[k])});
}

template <class Real>
void WriteBack<Real>::join(Tree<Real>& tree, CutForest& cut, std::span<const Merge> merges,
                           bool lazy) {
  const std::size_t m = cut.trees.size();
  std::size_t other = 0;  // of those before t, how many
  for (std::uint32_t t = 0; t < merges.size(); ++t) {
    const NodeId a = cut.trees[merges[t].a], b = cut.trees[merges[t].b];
    const bool stays = other == others_.size() || others_[other] != t;
    const Slot slot = stays                   ? cut.taken[cut.owner[m + t]]
                      : other < spare_.size() ? cut.taken[spare_[other].taken]
                                              : tree.new_slot(kNoId);
    const NodeId node = NodeId::inner(slot);
    if (!lazy)
      tree.join(a, b, slot);
    else if (stays && tree.left(node) == a && tree.right(node) == b)
      tree.recount(node);
    else
      tree.join_for_later(a, b, slot);
    if (!stays) tree.set_id(slot, kNoId);
    other += stays ? 0 : 1;
    cut.trees.push_back(node);
  }
}

/// Of those that hold not all leaves, who holds the most points?
template <class Real>
void WriteBack<Real>::hand_on_ids(Tree<Real>& tree, const CutForest& cut,
                                  std::span<const Merge> merges, const Traits& traits) {
  const std::size_t m = cut.trees.size() - merges.size();
  const double of_x = traits.has_x ? tree.weight(cut.trees[m - 1]) - traits.known : 0;
  for (const std::uint32_t t : others_) {
    if (cut.owner[m + t] == CutForest::kNowhere) continue;
    Heir& heir = heirs_[cut.owner[m + t]];
    if (heir.whole) continue;
    const double kept = tree.weight(cut.trees[m + t]) - (has_x_[m + t] != 0 ? of_x : 0);
    if (kept > heir.kept) heir = {kept, t, false};
  }
  for (const Spare& one : spare_)
    if (2 * heirs_[one.taken].kept > one.weight)
      tree.set_id(cut.trees[m + heirs_[one.taken].merge].slot(), one.id);
  for (const std::uint32_t t : others_) {
    const Slot slot = cut.trees[m + t].slot();
    if (tree.id(slot) == kNoId) tree.set_id(slot, tree.new_id());
  }
}

template class WriteBack<float>;
template class WriteBack<double>;

}  // namespace ramify
