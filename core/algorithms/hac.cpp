// SPDX-License-Identifier: BSD-3-Clause
// Equal points are merged first, group by group: they are at linkage 0, which
// nothing undercuts, and a group's own merges follow from the tie order alone.
// Without this, k equal points would cost k^2 comparisons of ties.
#include "algorithms/hac.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <queue>

#include "algorithms/forest_hac.hpp"

namespace ramify {
namespace {

/// Hash of a row by value: 0 and -0 are equal and hash alike.
template <class Real>
std::uint64_t hash_of(const Real* row, std::size_t dim) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  for (std::size_t j = 0; j < dim; ++j) {
    const double value = static_cast<double>(row[j]) + 0.0;
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Merges numbered over all points: point i is cluster i, merge t is n + t.
template <class Real>
class OfflineHac {
 public:
  OfflineHac(const RowStore<Real>& points, Metric metric, Linkage linkage)
      : points_(points), metric_(metric), linkage_(linkage) {}

  bool run(const Pulse& pulse) {
    merges_.reserve(points_.slots() - 1);
    if (metric_ == Metric::kDot)
      for (RowSlot i = 0; i < points_.slots(); ++i) add_root(i, i, 1);
    else
      merge_equal_points();
    std::vector<Merge> merges;
    ForestScratch scratch;
    if (!forest_hac<Real>(forest_, points_.dim(), metric_, linkage_, pulse, scratch, merges))
      return false;
    append(merges);
    return true;
  }

  const std::vector<Merge>& merges() const { return merges_; }

 private:
  bool equal_rows(RowSlot a, RowSlot b) const {
    return std::equal(points_.row(a), points_.row(a) + points_.dim(), points_.row(b));
  }

  void add_root(std::uint32_t cluster, RowSlot first, std::uint32_t size) {
    roots_.push_back(cluster);
    forest_.push_back({{static_cast<double>(size), points_.row(first), 0.0}, {size, first}});
  }

  void merge_equal_points() {
    struct Entry {
      std::uint64_t hash;
      RowSlot point;
    };
    std::vector<Entry> entries;
    entries.reserve(points_.slots());
    for (RowSlot i = 0; i < points_.slots(); ++i)
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
      for (const auto& members : groups)
        add_root(merge_group(members), members.front(), static_cast<std::uint32_t>(members.size()));
    }
  }

  /// All linkages are 0: the two smallest go first, then the earliest.
  std::uint32_t merge_group(const std::vector<RowSlot>& members) {
    struct Part {
      Rank rank;
      std::uint32_t cluster;
      bool operator>(const Part& other) const { return comes_first(other.rank, rank); }
    };
    if (members.size() == 1) return members.front();
    std::priority_queue<Part, std::vector<Part>, std::greater<>> parts;
    for (const RowSlot point : members) parts.push({{1, point}, point});
    for (;;) {
      const Part a = parts.top();
      parts.pop();
      if (parts.empty()) return a.cluster;
      const Part b = parts.top();
      parts.pop();
      const bool in_order = a.rank.first_leaf < b.rank.first_leaf;
      merges_.push_back(in_order ? Merge{a.cluster, b.cluster} : Merge{b.cluster, a.cluster});
      const Rank rank{a.rank.size + b.rank.size, std::min(a.rank.first_leaf, b.rank.first_leaf)};
      parts.push({rank, static_cast<std::uint32_t>(points_.slots() + merges_.size() - 1)});
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
bool build_hac(Tree<Real>& tree, Metric metric, Linkage linkage, const Pulse& pulse) {
  const std::size_t n = tree.points().slots();
  if (n == 0) return true;
  OfflineHac<Real> work(tree.points(), metric, linkage);
  if (!work.run(pulse)) return false;
  tree.clear_inner();
  const auto node = [&](std::uint32_t c) {
    return c < n ? NodeId::leaf(c) : NodeId::inner(static_cast<Slot>(c - n));
  };
  for (const auto [a, b] : work.merges())
    tree.join(node(a), node(b), tree.new_slot(tree.new_name()));
  tree.set_root(node(static_cast<std::uint32_t>(2 * n - 2)));
  return true;
}

template bool build_hac(Tree<float>&, Metric, Linkage, const Pulse&);
template bool build_hac(Tree<double>&, Metric, Linkage, const Pulse&);

}  // namespace ramify
