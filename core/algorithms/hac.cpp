// SPDX-License-Identifier: BSD-3-Clause
// Equal points are merged first, group by group: they are at linkage 0, which
// nothing undercuts, and a group's own merges follow from the tie order alone.
// Without this, k equal points would cost k^2 comparisons of ties.
#include "algorithms/hac.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>

#include "forest/forest_hac.hpp"
#include "index/row_hash.hpp"

namespace ramify {
namespace {

/// Merges numbered over all points: point i is cluster i, merge t is n + t.
template <class Real>
class OfflineHac {
 public:
  OfflineHac(const RowStore<Real>& points, Metric metric, Linkage linkage)
      : points_(points), metric_(metric), linkage_(linkage) {}

  bool run(const Pulse& pulse, Helpers& helpers) {
    merges_.reserve(points_.slots() - 1);
    if (metric_ == Metric::kDot)
      for (RowSlot i = 0; i < points_.slots(); ++i) add_root(i, rank_of(i));
    else
      merge_equal_points();
    std::vector<Merge> merges;
    ForestScratch scratch;
    if (!forest_hac<Real>(forest_, points_.dim(), metric_, linkage_, pulse, scratch, merges,
                          ForestSpace::kBySize, &helpers))
      return false;
    append(merges);
    return true;
  }

  const std::vector<Merge>& merges() const { return merges_; }

 private:
  bool equal_rows(RowSlot a, RowSlot b) const {
    return std::equal(points_.row(a), points_.row(a) + points_.dim(), points_.row(b));
  }

  Rank rank_of(RowSlot point) const { return {points_.weight(point), 1, point}; }

  /// A cluster of equal points.
  void add_root(std::uint32_t cluster, const Rank& rank) {
    roots_.push_back(cluster);
    const Real* mean = points_.row(rank.first_leaf);
    forest_.push_back({{rank.weight, mean, points_.ssd(rank.first_leaf)}, rank});
  }

  void merge_equal_points() {
    struct Entry {
      std::uint64_t hash;
      RowSlot point;
    };
    std::vector<Entry> entries;
    entries.reserve(points_.slots());
    for (RowSlot i = 0; i < points_.slots(); ++i)
      if (points_.ssd(i) > 0)  // stands for points that differ: not at linkage 0 to its like
        add_root(i, rank_of(i));
      else
        entries.push_back({hash_of(points_.row(i), points_.dim()), i});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.point < b.point;
    });
    std::vector<std::vector<RowSlot>> groups;  // more than one only if hashes collide
    for (std::size_t i = 0; i < entries.size();) {
      groups.clear();
      const std::uint64_t hash = entries[i].hash;
      for (; i < entries.size() && entries[i].hash == hash; ++i) {
        const RowSlot point = entries[i].point;
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
          return equal_rows(members.front(), point);
        });
        if (group == groups.end())
          groups.push_back({point});
        else
          group->push_back(point);
      }
      for (const auto& members : groups) merge_group(members);
    }
  }

  /// All linkages are 0: the two smallest go first, then the earliest.
  void merge_group(const std::vector<RowSlot>& members) {
    struct Part {
      Rank rank;
      std::uint32_t cluster;
      bool operator>(const Part& other) const { return comes_first(other.rank, rank); }
    };
    std::priority_queue<Part, std::vector<Part>, std::greater<>> parts;
    for (const RowSlot point : members) parts.push({rank_of(point), point});
    for (;;) {
      const Part a = parts.top();
      parts.pop();
      if (parts.empty()) return add_root(a.cluster, a.rank);
      const Part b = parts.top();
      parts.pop();
      const bool in_order = a.rank.first_leaf < b.rank.first_leaf;
      merges_.push_back(in_order ? Merge{a.cluster, b.cluster} : Merge{b.cluster, a.cluster});
      parts.push({merged(a.rank, b.rank),
                  static_cast<std::uint32_t>(points_.slots() + merges_.size() - 1)});
    }
  }

  /// The forest's own numbering, translated.
  void append(const std::vector<Merge>& merges) {
    const std::size_t offset = points_.slots() + merges_.size();
    const auto global = [&](std::uint32_t c) {
      return c < roots_.size() ? roots_[c] : static_cast<std::uint32_t>(offset + c - roots_.size());
    };
    for (const auto [a, b] : merges) merges_.push_back({global(a), global(b)});
  }

  const RowStore<Real>& points_;
  Metric metric_;
  Linkage linkage_;
  std::vector<Merge> merges_;
  std::vector<std::uint32_t> roots_;
  std::vector<ForestItem<Real>> forest_;
};

}  // namespace

template <class Real>
bool build_hac(Tree<Real>& tree, Metric metric, Linkage linkage, const Pulse& pulse,
               Helpers& helpers) {
  const std::size_t n = tree.points().slots();
  if (n == 0) return true;
  OfflineHac<Real> work(tree.points(), metric, linkage);
  if (!work.run(pulse, helpers)) return false;
  tree.clear_inner();
  const auto node = [&](std::uint32_t c) {
    return c < n ? NodeId::leaf(c) : NodeId::inner(static_cast<Slot>(c - n));
  };
  for (const auto [a, b] : work.merges()) tree.join(node(a), node(b), tree.new_slot(tree.new_id()));
  tree.set_root(node(static_cast<std::uint32_t>(2 * n - 2)));
  return true;
}

template bool build_hac(Tree<float>&, Metric, Linkage, const Pulse&, Helpers&);
template bool build_hac(Tree<double>&, Metric, Linkage, const Pulse&, Helpers&);

}  // namespace ramify
