// SPDX-License-Identifier: BSD-3-Clause
// path_greedy.cpp: of what hangs off a path, the two nearest clusters are merged, again and again:
// for centroid linkage, where a union can come nearer to others than its parts were.
//
// The nearest of a union is known, or looked for in its row. Of an item, a bound is known: what the
// table says of it and those behind it. Only if that is not above the least linkage there is, its
// row is looked at. Mostly all items are farther from each other than the union is from the next
// one.
#include "forest/agglomerate.hpp"
#include "forest/path_hac.hpp"
#include "forest/path_unions.hpp"
#include "math/order.hpp"

namespace ramify {
namespace {

template <class Real, class Rule>
class PathGreedy : PathUnions<Real, Rule> {
 public:
  using PathUnions<Real, Rule>::PathUnions;

  /// False if it cannot tell which two are nearest.
  RAMIFY_INLINE bool run() {
    find_bounds();
    return run_greedy(*this);
  }

  using PathUnions<Real, Rule>::is_done, PathUnions<Real, Rule>::goes_on;

  RAMIFY_INLINE bool take_several() {
    if (s_.unions.size() != 1 || !this->take_run(s_.unions.front(), least_of_pairs())) return false;
    known_of(s_.unions.front()) = {};
    return true;
  }
  RAMIFY_INLINE bool nearest_pair(Merge& out) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t c : s_.unions) least = std::min(least, nearest_of_union(c).linkage);
    look_at_items(least);
    return find_pairs(limit_of(least)) && !this->has_looked_enough(s_.pairs.size() - 1) &&
           choose(out);
  }
  RAMIFY_INLINE void merge(std::uint32_t a, std::uint32_t b) {
    PathNearest nearest;
    const std::uint32_t c = Base::merge(a, b, nearest);
    // Only c's entry needs to record the pair of c and another union.
    for (const std::uint32_t other : s_.unions) {
      PathNearest& known = known_of(other);
      if (known.cluster == a || known.cluster == b) known = {};
    }
    if (nearest.cluster != kNobody) this->offer_unions(nearest, c);
    known_of(c) = nearest;
  }

 private:
  using Base = PathUnions<Real, Rule>;
  using Base::s_, Base::means_, Base::limit_of, Base::forest_, Base::table_;
  using typename Base::Cluster;
  static constexpr std::size_t kMostTies = 2048;  // more ties are quicker from all pairs

  RAMIFY_INLINE void find_bounds() {
    s_.nearest.clear();
    s_.foot_bounds.assign(table_.foot_width(), Base::kClosed);
    s_.kept_bounds.resize(table_.kept_width());
    for (std::size_t i = 0; i < table_.kept_width(); ++i) s_.kept_bounds[i] = table_.least(i);
    for (std::uint32_t i = 0; i < forest_.size(); ++i)
      if (s_.clusters[i].in_foot) bound_of(i) = this->least_of_item(i);
  }
  float& bound_of(std::uint32_t item) {
    const Cluster& c = s_.clusters[item];
    return (c.in_foot ? s_.foot_bounds : s_.kept_bounds)[c.place];
  }
  /// No two open items are nearer.
  RAMIFY_INLINE float least_of_pairs() const {
    return this->least_open(s_.foot_bounds.data(), s_.kept_bounds.data());
  }

  /// What is known of the nearest of a union, if anything.
  RAMIFY_INLINE PathNearest& known_of(std::uint32_t c) {
    const std::uint32_t row = s_.clusters[c].row;
    if (row >= s_.nearest.size()) s_.nearest.resize(row + 1);
    return s_.nearest[row];
  }
  RAMIFY_INLINE const PathNearest& nearest_of_union(std::uint32_t c) {
    PathNearest& nearest = known_of(c);
    if (nearest.cluster == kNobody) {
      this->note_row();
      nearest = this->nearest_item_of_union(c);
      this->offer_unions(nearest, c);
    }
    return nearest;
  }

  /// Find the least linkage to another item of all that may have one within the limit.
  RAMIFY_INLINE void look_at_items(double& least) {
    const float lowest = least_of_pairs();
    if (!(lowest <= limit_of(least))) return;
    const auto look_at = [&](std::uint32_t item) {
      this->note_row();
      least = std::min<double>(least, bound_of(item) = this->least_of_item(item));
    };
    for_each_item([&] { return lowest; }, look_at);  // who has the least bound is a good guess
    for_each_item([&] { return Base::in_float(limit_of(least)); }, look_at);
  }
  template <class Limit, class Use>
  RAMIFY_INLINE void for_each_item(const Limit& limit, const Use& use) {
    this->for_each_within(s_.foot_bounds.data(), s_.kept_bounds.data(), limit, use);
  }
  /// All pairs that near; false if they are too many, and some of them were left out.
  RAMIFY_INLINE bool find_pairs(double limit) {
    s_.pairs.clear();
    for (const std::uint32_t c : s_.unions) {
      const PathNearest& nearest = nearest_of_union(c);
      if (nearest.linkage <= limit) add_pairs(c, nearest, limit);
    }
    for_each_item([&] { return Base::in_float(limit); },
                  [&](std::uint32_t item) { add_pairs(item, {}, limit); });
    if (s_.pairs.size() > kMostTies) return false;  // of items, every pair is there twice
    const auto key = [](const Merge& m) { return std::uint64_t{m.a} << 32U | m.b; };
    std::sort(s_.pairs.begin(), s_.pairs.end(),
              [&](const Merge& a, const Merge& b) { return key(a) < key(b); });
    s_.pairs.erase(std::unique(s_.pairs.begin(), s_.pairs.end(),
                               [&](const Merge& a, const Merge& b) { return key(a) == key(b); }),
                   s_.pairs.end());
    return true;
  }
  void add_pairs(std::uint32_t c, const PathNearest& nearest, double limit) {
    if (s_.pairs.size() > kMostTies) return;
    if (nearest.cluster != kNobody && nearest.next > limit) {
      s_.near.assign(1, nearest.cluster);
    } else {
      this->find_near(c, limit);
    }
    for (const std::uint32_t other : s_.near)
      s_.pairs.push_back({std::min(c, other), std::max(c, other)});
  }

  /// The nearest of these pairs, exactly.
  bool choose(Merge& out) {
    if (s_.pairs.size() == 1) {
      out = s_.pairs.front();
      return true;
    }
    tally(Engine::kExactly, 2);
    const std::size_t items = forest_.size();
    double least = std::numeric_limits<double>::infinity(), next = least;
    bool all_items = true;
    for (const Merge& pair : s_.pairs) {
      const double linkage = means_.linkage_from(pair.a, pair.b);
      all_items = all_items && pair.b < items;
      const bool first =
          linkage == least ? key_of(pair, linkage) < key_of(out, least) : linkage < least;
      next = std::min(next, std::max(linkage, least));
      if (first) out = pair;
      least = std::min(least, linkage);
    }
    return !s_.pairs.empty() && (all_items || next - least > this->rounding(next));
  }
  MergeKey key_of(const Merge& pair, double linkage) const {
    return MergeKey(linkage, s_.ranks[pair.a], s_.ranks[pair.b]);
  }
};

template <class Real>
RAMIFY_INLINE bool run(PathGreedy<Real, CentroidSquared>& greedy) {
  return greedy.run();
}

}  // namespace

template <class Real>
bool merge_greedily(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
                    std::size_t dim, PathScratch& scratch, std::vector<Merge>& merges) {
  PathGreedy<Real, CentroidSquared> greedy(forest, table, dim, scratch, merges);
  return chosen<run<Real>>()(greedy);
}

template bool merge_greedily(std::span<const ForestItem<float>>, const PathTable<float>&,
                             std::size_t, PathScratch&, std::vector<Merge>&);
template bool merge_greedily(std::span<const ForestItem<double>>, const PathTable<double>&,
                             std::size_t, PathScratch&, std::vector<Merge>&);

}  // namespace ramify
