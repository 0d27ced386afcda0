// SPDX-License-Identifier: BSD-3-Clause
// path_clusters.hpp: the clusters of a path while they are merged: their linkages, who is open, and
// who is nearest.
//
// A cluster is an item, whose linkages are a row of the table (path_table.hpp), or a union of some,
// which has a row of its own. Linkages to items that have gone are far beyond all others. What a
// merge does to the rows is path_unions.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "forest/forest_hac.hpp"
#include "forest/matrix_linkages.hpp"
#include "forest/path_rows.hpp"
#include "forest/path_run.hpp"
#include "forest/path_table.hpp"
#include "forest/union_means.hpp"
#include "math/dispatch.hpp"
#include "math/least_two.hpp"

namespace ramify {

/// The nearest cluster of one, as far as is known.
struct PathNearest {
  std::uint32_t cluster = kNobody;
  double linkage = std::numeric_limits<double>::infinity();
  double next = std::numeric_limits<double>::infinity();  // of the others, the least linkage

  RAMIFY_INLINE void offer(std::uint32_t other, double value) {
    if (value < linkage) {
      next = linkage;
      linkage = value;
      cluster = other;
    } else {
      next = std::min(next, value);
    }
  }
};

/// What merging needs besides the table; kept to spare allocations.
struct PathScratch {
  struct Cluster {
    std::uint32_t place;     // of an item: in the table; of a union: of one of its items
    bool in_foot, is_union;  // the place is in the foot
    std::uint32_t row;       // of a union
    double n;
    double spread;  // how far the items of a union are from its mean, under centroid linkage
  };
  std::vector<Cluster> clusters;
  std::vector<Rank> ranks;
  std::vector<float> foot_closed, kept_closed;      // 0, or kClosedPlace where a place is closed
  std::vector<std::uint32_t> foot_item, kept_item;  // by place
  std::vector<std::uint8_t> open;                   // by block of kept places: how many are open
  std::vector<std::uint32_t> unions, chain;
  PathRunScratch run;
  std::vector<float> patched[2];          // of a kept row: what the foot knows
  std::vector<std::vector<double>> rows;  // of unions: the foot, then the kept
  std::vector<std::uint32_t> free_rows;
  std::vector<PathNearest> nearest;             // by row
  std::vector<float> foot_bounds, kept_bounds;  // by place: linkages to other items, or less
  UnionMeansScratch means;
  MatrixLinkagesScratch matrix;
  std::vector<std::uint32_t> near;
  std::vector<double> near_linkages;
  std::vector<Merge> pairs;
  // Lately, how much more often a path was left to a matrix than merged: where ties keep coming,
  // less and less is tried before.
  std::uint32_t given_up = 0;
};

template <class Real>
class PathClusters {
 protected:
  using Cluster = PathScratch::Cluster;
  static constexpr float kClosed = PathTable<Real>::kClosed;
  static_assert(kClosed == kClosedPlace);

  /// The forest has been seated.
  PathClusters(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
               PathScratch& scratch)
      : forest_(forest), table_(table), s_(scratch) {
    begin();
  }

  RAMIFY_INLINE bool is_closed(const Cluster& c) const {
    return (c.in_foot ? s_.foot_closed : s_.kept_closed)[c.place] != 0;
  }
  std::size_t foot_width() const { return open_foot_ > 0 ? table_.foot_width() : 0; }

  // --- rows ----------------------------------------------------------------------------

  RAMIFY_INLINE const double* foot_of_union(const Cluster& c) const {
    return s_.rows[c.row].data();
  }
  RAMIFY_INLINE const double* kept_of_union(const Cluster& c) const {
    return s_.rows[c.row].data() + table_.foot_width();
  }
  RAMIFY_INLINE double* row_of_union(std::uint32_t row) { return s_.rows[row].data(); }
  RAMIFY_INLINE const float* kept_of_item(const Cluster& c) const {
    return c.in_foot ? table_.foot_to_kept(c.place) : table_.kept_row(c.place);
  }
  /// To the open ones of the foot.
  RAMIFY_INLINE const float* foot_of_item(const Cluster& c) {
    if (c.in_foot || open_foot_ == 0) return c.in_foot ? table_.foot_row(c.place) : nullptr;
    return patched(c.place);
  }
  /// Linkage of a union to another cluster. Those to unions are behind those to places.
  RAMIFY_INLINE double& at(std::uint32_t union_row, const Cluster& c) {
    const std::size_t before = c.is_union  ? table_.foot_width() + table_.kept_width() + c.row
                               : c.in_foot ? c.place
                                           : table_.foot_width() + c.place;
    return row_of_union(union_row)[before];
  }
  RAMIFY_INLINE double linkage_of_clusters(const Cluster& a, const Cluster& b) {
    if (a.is_union) return at(a.row, b);
    return b.is_union ? at(b.row, a) : linkage_of_items(a, b);
  }

  // --- the nearest ---------------------------------------------------------------------

  RAMIFY_INLINE void offer_unions(PathNearest& best, std::uint32_t c) {
    for (const std::uint32_t other : s_.unions)
      if (other != c) best.offer(other, at(s_.clusters[other].row, s_.clusters[c]));
  }
  /// Is an open item that near to an item?
  RAMIFY_INLINE bool any_within(std::uint32_t c, double limit) {
    const Cluster& cluster = s_.clusters[c];
    const float most = in_float(limit);
    return any_open_below(foot_of_item(cluster), s_.foot_closed.data(), 0, foot_width(), most) ||
           any_open_below(kept_of_item(cluster), s_.kept_closed.data(), begin_, end_, most);
  }
  /// At least as large.
  RAMIFY_INLINE static float in_float(double limit) {
    return static_cast<float>(limit + 2e-7 * std::fabs(limit));
  }
  /// The least that is open, of numbers by place of the foot and of the kept.
  RAMIFY_INLINE float least_open(const float* by_foot, const float* by_kept) const {
    float least = kClosed;
    lower_by_open(by_foot, s_.foot_closed.data(), 0, foot_width(), least);
    lower_by_open(by_kept, s_.kept_closed.data(), begin_, end_, least);
    return least;
  }
  /// Of an item to all open ones.
  RAMIFY_INLINE float least_of_item(std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    return least_open(foot_of_item(cluster), kept_of_item(cluster));
  }
  /// Call `use` with each open item whose number is at most limit(), by place.
  template <class Limit, class Use>
  RAMIFY_INLINE void for_each_within(const float* by_foot, const float* by_kept, const Limit& limit,
                                     const Use& use) const {
    each_open_within(by_foot, s_.foot_closed.data(), s_.foot_item.data(), 0, foot_width(), limit,
                     use);
    each_open_within(by_kept, s_.kept_closed.data(), s_.kept_item.data(), begin_, end_, limit, use);
  }
  /// The open items.
  RAMIFY_INLINE void offer_items(PathNearest& best, std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    LeastTwo least;
    least.begin();
    const float* to_foot = foot_of_item(cluster);
    const float* to_kept = kept_of_item(cluster);
    offer_open(to_foot, s_.foot_closed.data(), 0, foot_width(), least);
    offer_open(to_kept, s_.kept_closed.data(), begin_, end_, least);
    double first, second;
    least.result(first, second);
    if (!(first < kClosed / 2)) return;
    best.offer(item_at(to_foot, to_kept, first), first);
    best.next = std::min(best.next, second);
  }
  RAMIFY_INLINE PathNearest nearest_item_of_union(std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    LeastTwo least;
    least.begin();
    offer_row(foot_of_union(cluster), 0, foot_width(), least);
    offer_row(kept_of_union(cluster), begin_, end_, least);
    return found(cluster, least);
  }
  /// Have in s_.near who is that near to a cluster, items first. How many of them are items.
  std::size_t find_near(std::uint32_t c, double limit) {
    const Cluster& cluster = s_.clusters[c];
    count_work(foot_width() + end_ - begin_);
    const auto add_row_of = [&](const auto* to_foot, const auto* to_kept) {
      for (std::size_t i = 0; i < foot_width(); ++i)
        if (s_.foot_closed[i] == 0 && to_foot[i] <= limit && s_.foot_item[i] != c)
          s_.near.push_back(s_.foot_item[i]);
      for (std::size_t i = begin_; i < end_; ++i)
        if (s_.kept_closed[i] == 0 && to_kept[i] <= limit && s_.kept_item[i] != c)
          s_.near.push_back(s_.kept_item[i]);
    };
    s_.near.clear();
    if (cluster.is_union)
      add_row_of(foot_of_union(cluster), kept_of_union(cluster));
    else
      add_row_of(foot_of_item(cluster), kept_of_item(cluster));
    const std::size_t items = s_.near.size();
    for (const std::uint32_t other : s_.unions)
      if (other != c && at(s_.clusters[other].row, cluster) <= limit) s_.near.push_back(other);
    return items;
  }

  /// Which open item has this linkage in a row?
  template <class Number>
  RAMIFY_INLINE std::uint32_t item_at(const Number* to_foot, const Number* to_kept,
                                      double linkage) const {
    count_work(foot_width() + end_ - begin_);
    for (std::size_t i = 0; i < foot_width(); ++i)
      if (s_.foot_closed[i] == 0 && to_foot[i] == linkage) return s_.foot_item[i];
    for (std::size_t i = begin_; i < end_; ++i)
      if (s_.kept_closed[i] == 0 && to_kept[i] == linkage) return s_.kept_item[i];
    return kNobody;
  }
  RAMIFY_INLINE PathNearest found(const Cluster& cluster, const LeastTwo& least) {
    PathNearest best;
    double first, second;
    least.result(first, second);
    if (!(first < kClosed)) return best;
    best.linkage = first;
    best.next = second;
    const double* to_kept = kept_of_union(cluster);
    // Mostly the one that comes next on the path.
    pass_by_closed();
    if (next_ < forest_.size() && !s_.clusters[next_].in_foot &&
        to_kept[s_.clusters[next_].place] == first) {
      best.cluster = next_;
      return best;
    }
    best.cluster = item_at(foot_of_union(cluster), to_kept, first);
    return best;
  }
  RAMIFY_INLINE void pass_by_closed() {
    while (next_ < forest_.size() && is_closed(s_.clusters[next_])) ++next_;
  }

  // --- opening and closing -------------------------------------------------------------

  /// An item has gone: no search will find it.
  RAMIFY_INLINE void close(const Cluster& c) {
    if (!c.in_foot) return close_kept(c.place);
    s_.foot_closed[c.place] = kClosed;
    --open_foot_;
  }
  RAMIFY_INLINE void close_kept(std::uint32_t place) {
    s_.kept_closed[place] = kClosed;
    --s_.open[place / kLanes];
  }
  RAMIFY_INLINE void open_kept(std::uint32_t place) {
    s_.kept_closed[place] = 0;
    ++s_.open[place / kLanes];
  }
  /// Blocks at either end whose places are all closed are not looked at again.
  RAMIFY_INLINE void narrow() {
    while (begin_ < end_ && s_.open[begin_ / kLanes] == 0) begin_ += kLanes;
    while (begin_ < end_ && s_.open[end_ / kLanes - 1] == 0) end_ -= kLanes;
  }
  RAMIFY_INLINE void forget_union(std::uint32_t c) {
    for (std::uint32_t& other : s_.unions)
      if (other == c) {
        other = s_.unions.back();
        s_.unions.pop_back();
        return;
      }
  }
  std::uint32_t row_for_union(const Cluster& a, const Cluster& b) {
    if (a.is_union) return a.row;
    if (b.is_union) return b.row;
    if (s_.free_rows.empty()) add_row();
    const std::uint32_t row = s_.free_rows.back();
    s_.free_rows.pop_back();
    return row;
  }
  void add_row() {
    s_.free_rows.push_back(static_cast<std::uint32_t>(s_.rows.size()));
    s_.rows.emplace_back(width());
  }

  std::span<const ForestItem<Real>> forest_;
  const PathTable<Real>& table_;
  PathScratch& s_;
  std::size_t begin_ = 0, end_ = 0;  // kept places that may be open
  std::size_t open_foot_ = 0;
  std::uint32_t next_ = 0;  // items below have gone

 private:
  void begin() {
    const std::size_t m = forest_.size();
    s_.clusters.resize(2 * m - 1);
    s_.ranks.resize(2 * m - 1);
    s_.foot_closed.assign(table_.foot_width(), kClosed);
    s_.kept_closed.assign(table_.kept_width(), kClosed);
    s_.open.assign(table_.kept_width() / kLanes, 0);
    s_.foot_item.resize(table_.foot_width());
    s_.kept_item.resize(table_.kept_width());
    s_.run.sums.resize(table_.kept_width());
    s_.run.least.resize(table_.kept_width());
    for (std::vector<float>& patched : s_.patched) patched.assign(table_.foot_width(), kClosed);
    s_.unions.clear();
    s_.free_rows.clear();
    // The first is taken first: a row has an entry for as many others as there can be unions.
    for (auto i = static_cast<std::uint32_t>(s_.rows.size()); i-- > 0;) {
      if (s_.rows[i].size() < width()) s_.rows[i].resize(width());
      s_.free_rows.push_back(i);
    }
    for (std::uint32_t i = 0; i < m; ++i) {
      const bool in_foot = table_.is_foot(i);
      const std::uint32_t place = table_.place(i);
      s_.clusters[i] = {place, in_foot, false, 0, forest_[i].summary.n, 0};
      s_.ranks[i] = forest_[i].rank;
      if (in_foot)
        s_.foot_closed[place] = 0;
      else
        open_kept(place);
      (in_foot ? s_.foot_item : s_.kept_item)[place] = i;
    }
    begin_ = table_.begin();
    end_ = table_.end();
    open_foot_ = table_.foot();
  }

  /// Of the row of a union.
  std::size_t width() const {
    return table_.foot_width() + table_.kept_width() + forest_.size() / 2 + 1;
  }
  const float* patched(std::uint32_t place) {
    std::vector<float>& out = s_.patched[patches_++ % 2];  // two are asked for at a time
    for (std::uint32_t i = 0; i < table_.foot(); ++i) out[i] = table_.foot_to_kept(i)[place];
    return out.data();
  }

  double linkage_of_items(const Cluster& a, const Cluster& b) {
    if (b.in_foot && !a.in_foot) return table_.foot_to_kept(b.place)[a.place];
    return (b.in_foot ? table_.foot_row(a.place) : kept_of_item(a))[b.place];
  }

  std::uint32_t patches_ = 0;
};

}  // namespace ramify
