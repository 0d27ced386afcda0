// SPDX-License-Identifier: BSD-3-Clause
#include "tree/frontier.hpp"

#include <algorithm>

namespace ramify {

template <class Real>
Frontier<Real>::Frontier(const Tree<Real>& tree, const CutRule& rule,
                         std::span<const std::uint32_t> rank)
    : tree_(tree), rule_(rule), rank_(rank) {
  if (rule.by == CutBy::kCount)
    split_greatest();
  else
    split_from_root();
  std::sort(found_.begin(), found_.end(),
            [](const Found& a, const Found& b) { return a.first < b.first; });
  clusters_.reserve(found_.size());
  for (const Found& found : found_) clusters_.push_back(found.node);
}

template <class Real>
bool Frontier<Real>::is_split(NodeId v) const {
  if (v.is_leaf()) return false;
  if (rule_.by == CutBy::kHeight) return tree_.heights(v).monotone >= rule_.height;
  if (rule_.by == CutBy::kVariance) return rank_[v.slot()] + std::size_t{1} < rule_.number;
  if (rule_.by == CutBy::kMaxSize) return tree_.weight(v) > static_cast<double>(rule_.number);
  return rule_.number > 1 && !(key(v) < least_);
}

template <class Real>
void Frontier<Real>::split_greatest() {
  struct Entry {
    Key key;
    NodeId node;
    bool operator<(const Entry& other) const { return key < other.key; }
  };
  std::vector<Entry> greatest;  // a heap
  const auto offer = [&](NodeId v) {
    if (v.is_leaf()) return found_.push_back({v.row(), v});
    greatest.push_back({key(v), v});
    std::push_heap(greatest.begin(), greatest.end());
  };
  offer(tree_.root());
  while (found_.size() + greatest.size() < rule_.number) {
    std::pop_heap(greatest.begin(), greatest.end());
    const Entry top = greatest.back();
    greatest.pop_back();
    least_ = top.key;
    offer(tree_.left(top.node));
    offer(tree_.right(top.node));
  }
  for (const Entry& entry : greatest) found_.push_back({entry.key.first, entry.node});
}

template <class Real>
void Frontier<Real>::split_from_root() {
  std::vector<NodeId> todo{tree_.root()};
  while (!todo.empty()) {
    const NodeId v = todo.back();
    todo.pop_back();
    if (!is_split(v)) {
      found_.push_back({tree_.first_leaf(v), v});
      continue;
    }
    todo.push_back(tree_.left(v));
    todo.push_back(tree_.right(v));
  }
}

template <class Real>
NodeId Frontier<Real>::cluster_of(NodeId v) const {
  for (NodeId above = tree_.parent(v); above != kNone && !is_split(above); above = tree_.parent(v))
    v = above;
  return v;
}

template <class Real>
std::size_t Frontier<Real>::label_of(NodeId cluster) const {
  const auto at =
      std::lower_bound(found_.begin(), found_.end(), tree_.first_leaf(cluster),
                       [](const Found& found, RowSlot first) { return found.first < first; });
  return static_cast<std::size_t>(at - found_.begin());
}

/// Records are read once, in order; what is walked through again and again are two flat
/// arrays that fit a cache. Every node is walked over twice.
template <class Real>
void label_rows(const Tree<Real>& tree, std::span<const NodeId> nodes, std::int64_t* out) {
  constexpr std::uint32_t kUnknown = 0xFFFFFFFFU, kSplit = 0xFFFFFFFEU;
  std::vector<Slot> above(tree.slots());
  std::vector<std::uint32_t> label(tree.slots(), kUnknown);
  for (Slot slot = 0; slot < tree.slots(); ++slot) {
    const NodeId parent = tree.parent(NodeId::inner(slot));
    above[slot] = parent == kNone ? slot : parent.slot();
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const NodeId cluster = nodes[i];
    for (NodeId v = tree.parent(cluster); v != kNone && label[v.slot()] != kSplit;
         v = tree.parent(v))
      label[v.slot()] = kSplit;
    if (cluster.is_leaf())
      out[cluster.row()] = i;
    else
      label[cluster.slot()] = i;
  }
  const std::size_t rows = tree.points().slots();
  for (RowSlot row = 0; row < rows; ++row) {
    const NodeId parent = tree.parent(NodeId::leaf(row));
    if (parent == kNone || label[parent.slot()] == kSplit) continue;  // a cluster itself
    Slot known = parent.slot();
    while (label[known] == kUnknown) known = above[known];
    const std::uint32_t found = label[known];
    for (Slot slot = parent.slot(); label[slot] == kUnknown; slot = above[slot])
      label[slot] = found;
    out[row] = found;
  }
}

template void label_rows(const Tree<float>&, std::span<const NodeId>, std::int64_t*);
template void label_rows(const Tree<double>&, std::span<const NodeId>, std::int64_t*);
template class Frontier<float>;
template class Frontier<double>;

}  // namespace ramify
