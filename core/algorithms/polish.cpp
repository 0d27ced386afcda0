// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/polish.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "math/sum.hpp"

namespace ramify {
namespace {

constexpr std::size_t kPointsASubtree = 10, kFewSubtrees = 24, kManySubtrees = 1000;
constexpr std::size_t kRounds = 5, kFewest = 12;
constexpr double kRounding = 1e-12;  // a gain of a smaller share is none

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
PolishRound Polish<Real>::operator()(Tree<Real>& tree, std::size_t m, const Pulse& pulse) {
  PolishRound found;
  if (tree.root() == kNone || m < 3) return found;
  cut_top(tree, m);
  if (repair_.cut().taken.size() < 2) return found;
  find_old_merges(tree);
  found.m = repair_.cut().trees.size();
  found.is_better = repair_.rearrange(tree, pulse, [&](const auto& forest, const auto& merges) {
    found.before = found.after = worth(forest, old_);
    const double made = worth(forest, merges);
    if (!(made - found.before > kRounding * std::fabs(found.before))) return false;
    found.after = made;
    return true;
  });
  return found;
}

/// A linked or held node is one thing, except that a held root has no sibling.
template <class Real>
bool Polish<Real>::may_split(const Tree<Real>& tree, NodeId v) const {
  const Mark mark = tree.mark(v);
  return !v.is_leaf() && (mark == Mark::kPlain || (mark == Mark::kHeld && v == tree.root()));
}

/// Take out the widest nodes, each after its parent.
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
    if (!may_split(tree, v)) return;
    const double width = is_by_revenue() ? tree.weight(v) * tree.ssd(v) : tree.ssd(v);
    widest.push({width, by_leaves(tree, v.slot()), v.slot()});
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

template <class Real>
double Polish<Real>::worth(std::span<const ForestItem<Real>> forest,
                           std::span<const Merge> merges) {
  unite(forest, merges);
  return is_by_revenue() ? revenue(merges) : -squares(forest.size());
}

/// Have the summaries of a forest's merges.
template <class Real>
void Polish<Real>::unite(std::span<const ForestItem<Real>> forest, std::span<const Merge> merges) {
  std::vector<double> means(dim_ * (forest.size() + merges.size()));
  parts_.clear();
  parts_.reserve(forest.size() + merges.size());
  for (const ForestItem<Real>& item : forest) {
    const auto& [n, mean, ssd] = item.summary;
    double* row = means.data() + parts_.size() * dim_;
    std::copy_n(mean, dim_, row);
    const double within =
        metric_ == Metric::kDot ? (n * (n - 1) * dot(row, row, dim_) - ssd) / 2 : -n * ssd;
    parts_.push_back({n, ssd, within, 0, 0, item.rank});
  }
  for (const Merge& merge : merges) {
    const Part &a = parts_[merge.a], &b = parts_[merge.b];
    const double* mean_a = means.data() + merge.a * dim_;
    const double* mean_b = means.data() + merge.b * dim_;
    const double gap = squared_distance(mean_a, mean_b, dim_);
    const double ssd = merged_ssd(a.n, a.ssd, b.n, b.ssd, gap);
    const double within = metric_ == Metric::kDot
                              ? a.within + b.within + a.n * b.n * dot(mean_a, mean_b, dim_)
                              : -(a.n + b.n) * ssd;
    const double growth = WardGrowth::score(gap, a.n, b.n);
    const double own = linkage_ == Linkage::kWard ? growth : gap;
    merged_mean<double>({a.n, mean_a, 0}, {b.n, mean_b, 0}, dim_,
                        means.data() + parts_.size() * dim_);
    parts_.push_back({a.n + b.n, ssd, within, growth, std::max({own, a.height, b.height}),
                      merged(a.rank, b.rank)});
  }
}

/// What the merges earn: |B| w(A) + |A| w(B) for each merge of A and B.
template <class Real>
double Polish<Real>::revenue(std::span<const Merge> merges) const {
  Sum earned;
  for (const Merge& merge : merges) {
    const Part &a = parts_[merge.a], &b = parts_[merge.b];
    earned.add(b.n * a.within);
    earned.add(a.n * b.within);
  }
  return earned.get();
}

/// The sum of SSE(k)/k: merges are undone from the highest down, as cuts by height do it.
template <class Real>
double Polish<Real>::squares(std::size_t m) const {
  std::vector<std::uint32_t> merges(parts_.size() - m);
  std::iota(merges.begin(), merges.end(), static_cast<std::uint32_t>(m));
  std::sort(merges.begin(), merges.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Part &one = parts_[a], &other = parts_[b];
    return std::tie(one.height, one.rank.count, one.rank.first_leaf) <
           std::tie(other.height, other.rank.count, other.rank.first_leaf);
  });
  Sum left, all;
  for (std::size_t i = 0; i < m; ++i) left.add(parts_[i].ssd);
  auto k = static_cast<double>(m);
  all.add(left.get() / k);
  for (const std::uint32_t merge : merges) {
    left.add(parts_[merge].growth);
    k -= 1;
    all.add(left.get() / k);
  }
  return all.get();
}

template class Polish<float>;
template class Polish<double>;

}  // namespace ramify
