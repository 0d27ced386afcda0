// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/polish.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "math/sum.hpp"

namespace ramify {
namespace {

constexpr std::size_t kPointsASubtree = 10, kFewSubtrees = 24, kManySubtrees = 1000;
constexpr std::size_t kRounds = 5, kFewest = 12;

/// Tells all inner nodes of a tree apart, and has parents after their children.
template <class Real>
std::pair<std::uint32_t, RowSlot> by_leaves(const Tree<Real>& tree, Slot slot) {
  const NodeId v = NodeId::inner(slot);
  return {tree.count(v), tree.first_leaf(v)};
}

}  // namespace

std::vector<std::size_t> polish_rounds(std::size_t leaves) {
  std::vector<std::size_t> rounds{
      std::clamp(leaves / kPointsASubtree, kFewSubtrees, kManySubtrees)};
  while (rounds.size() < kRounds && rounds.back() * 2 / 3 >= kFewest)
    rounds.push_back(rounds.back() * 2 / 3);
  std::reverse(rounds.begin(), rounds.end());
  return rounds;
}

template <class Real>
bool Polish<Real>::operator()(Tree<Real>& tree, std::size_t m, const Pulse& pulse) {
  if (tree.root() == kNone || tree.count(tree.root()) < 3 || m < 3) return false;
  cut_top(tree, m);
  find_old_merges(tree);
  return repair_.rearrange(tree, pulse, [&](const auto& forest, const auto& merges) {
    return revenue(forest, merges) > revenue(forest, old_);
  });
}

/// Take out the nodes of the largest n * ssd, each after its parent.
template <class Real>
void Polish<Real>::cut_top(const Tree<Real>& tree, std::size_t m) {
  struct Entry {
    double key;
    std::pair<std::uint32_t, RowSlot> leaves;  // breaks ties
    Slot slot;
    bool operator<(const Entry& other) const {
      return std::tie(key, leaves) < std::tie(other.key, other.leaves);
    }
  };
  CutForest& cut = repair_.cut();
  cut.one_path = false;
  cut.taken.clear();
  std::priority_queue<Entry> widest;
  const auto offer = [&](NodeId v) {
    if (!v.is_leaf())
      widest.push({tree.weight(v) * tree.ssd(v), by_leaves(tree, v.slot()), v.slot()});
  };
  offer(tree.root());
  while (cut.taken.size() + 1 < m && !widest.empty()) {
    const Slot slot = widest.top().slot;
    widest.pop();
    cut.taken.push_back(slot);
    offer(tree.left(NodeId::inner(slot)));
    offer(tree.right(NodeId::inner(slot)));
  }
  // A parent has more leaves than its child, so this puts children first.
  std::sort(cut.taken.begin(), cut.taken.end(),
            [&](Slot a, Slot b) { return by_leaves(tree, a) < by_leaves(tree, b); });
}

/// What is left when the taken-out nodes are gone, and how these merged it.
template <class Real>
void Polish<Real>::find_old_merges(const Tree<Real>& tree) {
  CutForest& cut = repair_.cut();
  const auto taken = static_cast<std::uint32_t>(cut.taken.size());
  const auto place = [&](NodeId v) {
    if (v == kNone || v.is_leaf()) return CutForest::kNowhere;
    const auto at = std::lower_bound(cut.taken.begin(), cut.taken.end(), by_leaves(tree, v.slot()),
                                     [&](Slot a, const auto& b) { return by_leaves(tree, a) < b; });
    const bool found = at != cut.taken.end() && *at == v.slot();
    return found ? static_cast<std::uint32_t>(at - cut.taken.begin()) : CutForest::kNowhere;
  };
  cut.trees.clear();
  cut.owner.clear();
  cut.above.clear();
  old_.clear();
  for (std::uint32_t i = 0; i < taken; ++i) {
    const NodeId v = NodeId::inner(cut.taken[i]);
    cut.above.push_back(place(tree.parent(v)));
    std::uint32_t parts[2];
    for (int side = 0; side < 2; ++side) {
      const NodeId child = side == 0 ? tree.left(v) : tree.right(v);
      const std::uint32_t at = place(child);
      parts[side] = at == CutForest::kNowhere ? static_cast<std::uint32_t>(cut.trees.size())
                                              : taken + 1 + at;  // the forest has taken + 1
      if (at != CutForest::kNowhere) continue;
      cut.trees.push_back(child);
      cut.owner.push_back(i);
    }
    old_.push_back({parts[0], parts[1]});
  }
}

/// What merging a forest earns: |B| w(A) + |A| w(B) for each merge of A and B.
template <class Real>
double Polish<Real>::revenue(std::span<const ForestItem<Real>> forest,
                             std::span<const Merge> merges) {
  struct Part {
    double n, ssd, within;
  };
  std::vector<Part> parts;
  std::vector<double> means(dim_ * (forest.size() + merges.size()));
  parts.reserve(forest.size() + merges.size());
  for (const ForestItem<Real>& item : forest) {
    const auto& [n, mean, ssd] = item.summary;
    double* row = means.data() + parts.size() * dim_;
    std::copy_n(mean, dim_, row);
    const double within =
        metric_ == Metric::kDot ? (n * (n - 1) * dot(row, row, dim_) - ssd) / 2 : -n * ssd;
    parts.push_back({n, ssd, within});
  }
  Sum earned;
  for (const Merge& merge : merges) {
    const Part &a = parts[merge.a], &b = parts[merge.b];
    const double* mean_a = means.data() + merge.a * dim_;
    const double* mean_b = means.data() + merge.b * dim_;
    earned.add(b.n * a.within);
    earned.add(a.n * b.within);
    const double gap = squared_distance(mean_a, mean_b, dim_);
    const double ssd = merged_ssd(a.n, a.ssd, b.n, b.ssd, gap);
    const double within = metric_ == Metric::kDot
                              ? a.within + b.within + a.n * b.n * dot(mean_a, mean_b, dim_)
                              : -(a.n + b.n) * ssd;
    merged_mean<double>({a.n, mean_a, 0}, {b.n, mean_b, 0}, dim_,
                        means.data() + parts.size() * dim_);
    parts.push_back({a.n + b.n, ssd, within});
  }
  return earned.get();
}

template class Polish<float>;
template class Polish<double>;

}  // namespace ramify
