// SPDX-License-Identifier: BSD-3-Clause
// path_run.hpp: some subtrees that a union takes in one after the other, all at once.
//
// HAC of a path is mostly one union Q and the subtrees that come next: each is Q's nearest, and Q
// is its nearest. To find the nearest takes a pass over a row for each of them. To see that it is
// nearest does not: with Q_0 = Q and Q_j = Q_(j-1) + S_j, what is to be known is
//
//   L(Q_(j-1), S_b) > l_j  for all others b, with l_j a little above L(Q_(j-1), S_j)
//   L(S_j, S_b) > l_j      for all others b; under centroid linkage, for all pairs of them
//
// and the first of these are running sums of the rows of S_1, S_2, ..., less how far Q has spread
// under centroid linkage. The S_j are chosen among a window of those that come next on the path.
// All rows are read side by side. Where L(Q, S_b) and all L(S_j, S_b) are above every l_j, so are
// the means of them; that is true of most b, and asks for no more than the least of the rows. Under
// centroid linkage with s the share of S_1 .. S_j in Q_j, and none of them farther than f from Q,
//
//   L(Q_j, S_b) >= (1 - s) L(Q, S_b) + s (least of L(S_i, S_b) - f)
//
// which is least where s is 0 or largest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/path_rows.hpp"
#include "math/lanes.hpp"
#include "math/product_bounds.hpp"

namespace ramify {

/// Kept to spare allocations; by place, and by block of places.
struct PathRunScratch {
  std::vector<float> sums, least;
  std::vector<std::uint8_t> may_be_close;
};

/// What a union's row says of places from .. to-1, and which of them are closed.
struct OpenRow {
  const double* row;
  const float* closed;       // by place
  const std::uint8_t* open;  // by block: how many are not
  std::size_t from, to;      // multiples of kLanes
};

template <class Rule>
class PathRun {
 public:
  static constexpr std::size_t kMost = WeightedRows::kMost;
  static constexpr std::size_t kWindow = Rule::kMeanOfParts ? kMost : 2 * kMost;

  std::size_t size() const { return count_; }
  std::uint32_t item(std::size_t j) const { return window_[picked_[j]].item; }
  std::uint32_t place(std::size_t j) const { return places_[picked_[j]]; }
  /// How many points the union has after item j.
  double points_with(std::size_t j) const { return so_far_[j + 1]; }
  /// How far the union's parts are from its mean by then, it being one part before the run.
  double spread() const { return spreads_[count_]; }

  explicit PathRun(double points_in_union) { so_far_[0] = points_in_union; }
  RAMIFY_INLINE bool is_full() const { return in_window_ == kWindow; }
  /// An item with n points; `row` has its linkages by place, and `linkage` is that to the union.
  RAMIFY_INLINE void add(std::uint32_t item, std::uint32_t place, const float* row, double n,
                         double linkage) {
    // The places of the others in the window are near this one.
    if constexpr (!Rule::kMeanOfParts) __builtin_prefetch(row + place);
    window_[in_window_] = {item, row, n, linkage};
    places_[in_window_] = place;
    sums_[in_window_++] = linkage * so_far_[0];
  }

  /// Pick as many as are certain to come next in the window. `limit_of` says how far others
  /// have to be, given a linkage and a spread; `pairs` is at most the least linkage of two items.
  template <class LimitOf>
  RAMIFY_INLINE void pick(LimitOf&& limit_of, double pairs) {
    while (count_ < kMost && pick_one(limit_of, pairs)) {
    }
    for (std::size_t j = 0; j < count_; ++j) {
      largest_ = std::max(largest_, limits_[j]);
      farthest_ = std::max(farthest_, window_[picked_[j]].linkage);
    }
    if constexpr (!Rule::kMeanOfParts)
      largest_ = limit_of(largest_, spread() + (1 - so_far_[0] / so_far_[count_]) * farthest_);
  }
  /// As many as are nearer than another cluster that has a linkage to the union, and to each place.
  RAMIFY_INLINE void keep_nearer(double linkage_to_union, const float* by_place) {
    double sum = linkage_to_union * so_far_[0];
    for (std::size_t j = 0; j < count_; ++j) {
      const double linkage = by_place[place(j)];
      const bool mutual = !Rule::kMeanOfParts || linkage > limits_[j];
      if (!(mutual && sum > sum_limit(j))) count_ = j;
      sum += n(j) * linkage;
    }
  }
  /// Call `use` with the places of those in the window that have not been picked.
  template <class Use>
  RAMIFY_INLINE void for_each_left(Use&& use) const {
    for (std::size_t k = 0; k < in_window_; ++k)
      if (sums_[k] < kInfinite) use(places_[k]);
  }
  /// What that cluster's linkage to the union is after the run.
  double after(double linkage_to_union, const float* by_place) const {
    double linkage = linkage_to_union;
    for (std::size_t j = 0; j < count_; ++j)
      linkage += (by_place[place(j)] - linkage) * (n(j) / so_far_[j + 1]);
    return linkage - spread();
  }

  /// Is nothing else that near? The linkages of the union after the run are in `out` then. The run
  /// itself is closed.
  RAMIFY_INLINE bool is_apart(const OpenRow& r, PathRunScratch& s, double* out) const {
    count_work((r.to - r.from) * (count_ + 1));
    Lanes least;
    fill(least, kFarRow);
    const double share = so_far_[0] / so_far_[count_], less = spread();
    for (std::size_t i = r.from, summed = r.from; i < r.to; i += kLanes) {
      if (r.open[i / kLanes] == 0) {
        std::fill_n(out + i, kLanes, kFarRow);
      } else if (s.may_be_close[i / kLanes] != 0) {
        if (!is_apart_at_each(r, i, out)) return false;
      } else {
        if (i >= summed) summed = add_up(r, i, s);
        for (std::size_t at = i; at < i + kLanes; at += kLanesWidth)
          blend(r, at, s, share, less, out, least);
      }
    }
    if (least_of(least) > largest_) return true;
    for (std::size_t i = r.from; i < r.to; i += kLanes)
      if (s.may_be_close[i / kLanes] == 0 && r.open[i / kLanes] > 0 && !is_apart_at_each(r, i, out))
        return false;
    return true;
  }

 private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  double n(std::size_t j) const { return window_[picked_[j]].n; }
  /// What sums of linkages to the union before item j have to be above.
  double sum_limit(std::size_t j) const { return (limits_[j] + spreads_[j]) * so_far_[j]; }

  template <class LimitOf>
  RAMIFY_INLINE bool pick_one(LimitOf&& limit_of, double pairs) {
    const std::size_t nearest = nearest_in_window();
    if (nearest == in_window_) return false;
    const std::size_t j = count_;
    const double linkage = sums_[nearest] / so_far_[j] - spreads_[j];
    limits_[j] = limit_of(linkage, spreads_[j]);
    if (!(pairs > limits_[j]) || !add_row(nearest, limits_[j], sum_limit(j))) return false;
    picked_[count_++] = nearest;
    so_far_[j + 1] = so_far_[j] + window_[nearest].n;
    const double share = window_[nearest].n / so_far_[j + 1];
    spreads_[j + 1] = Rule::kMeanOfParts ? 0 : (1 - share) * (spreads_[j] + share * linkage);
    return true;
  }
  /// Of those not picked; where linkages are means of their parts', the next is as good a guess.
  RAMIFY_INLINE std::size_t nearest_in_window() const {
    if constexpr (Rule::kMeanOfParts) return count_;
    std::size_t nearest = in_window_;
    double least = kInfinite;
    for (std::size_t k = 0; k < in_window_; ++k) {
      nearest = sums_[k] < least ? k : nearest;
      least = std::min(least, sums_[k]);
    }
    return nearest;
  }
  /// The sums of the others with that item in the union. False if one is as near to either.
  RAMIFY_INLINE bool add_row(std::size_t nearest, double limit, double sum_limit) {
    const Item& one = window_[nearest];
    sums_[nearest] = kInfinite;
    for (std::size_t k = Rule::kMeanOfParts ? nearest + 1 : 0; k < in_window_; ++k) {
      const double linkage = one.row[places_[k]];
      if (!(sums_[k] > sum_limit && (!Rule::kMeanOfParts || linkage > limit))) return false;
      sums_[k] += one.n * linkage;
    }
    return true;
  }

  /// The rows of the run, from there to the next block that is closed.
  RAMIFY_INLINE std::size_t add_up(const OpenRow& r, std::size_t from, PathRunScratch& s) const {
    std::size_t end = from;
    while (end < r.to && r.open[end / kLanes] > 0) end += kLanes;
    WeightedRows rows{{}, {}, count_, from, end, s.sums.data(), s.least.data()};
    for (std::size_t j = 0; j < count_; ++j) {
      rows.rows[j] = window_[picked_[j]].row;
      rows.weights[j] = static_cast<float>(n(j) / so_far_[count_]);
    }
    product_kernels().sum_rows(rows);
    return end;
  }

  RAMIFY_INLINE void blend(const OpenRow& r, std::size_t at, const PathRunScratch& s, double share,
                           double less, double* out, Lanes& least) const {
    Lanes linkage, closed, sum, of_run;
    load(linkage, r.row + at);
    load(closed, r.closed + at);
    load(sum, s.sums.data() + at);
    load(of_run, s.least.data() + at);
    lower(least, linkage + closed);
    Lanes after = share * linkage + sum;
    if constexpr (Rule::kMeanOfParts) {
      lower(least, of_run + closed);
    } else {
      lower(least, share * linkage + ((1 - share) * (of_run - farthest_) + closed));
      after = after - less;
    }
    store(after + kFarRow / kClosedPlace * closed, out + at);
  }

  /// The same for kLanes places, of which some may be as near before or after the run, but not when
  /// it matters.
  RAMIFY_INLINE bool is_apart_at_each(const OpenRow& r, std::size_t place, double* out) const {
    constexpr std::size_t kParts = kLanes / kLanesWidth;
    Lanes sum[kParts], closed[kParts], least[kParts], least_of_row[kParts];
    for (std::size_t p = 0; p < kParts; ++p) {
      load(closed[p], r.closed + place + p * kLanesWidth);
      load(sum[p], r.row + place + p * kLanesWidth);
      fill(least[p], kFarRow);
      fill(least_of_row[p], kFarRow);
      sum[p] = so_far_[0] * sum[p] + kFarRow / kClosedPlace * closed[p];
    }
    for (std::size_t j = 0; j < count_; ++j) {
      const double limit = sum_limit(j), weight = n(j);
      const float* linkages = window_[picked_[j]].row + place;
      for (std::size_t p = 0; p < kParts; ++p) {
        Lanes linkage;
        load(linkage, linkages + p * kLanesWidth);
        linkage = linkage + closed[p];
        lower(least[p], sum[p] - limit);
        if constexpr (Rule::kMeanOfParts) lower(least_of_row[p], linkage - limits_[j]);
        sum[p] = sum[p] + weight * linkage;
      }
    }
    for (std::size_t p = 0; p < kParts; ++p) {
      store(1 / so_far_[count_] * sum[p] - spread(), out + place + p * kLanesWidth);
      lower(least[0], least[p]);
      lower(least[0], least_of_row[p]);
    }
    return least_of(least[0]) > 0;
  }
  RAMIFY_INLINE static double least_of(const Lanes& lanes) {
    double least = lanes[0];
    for (std::size_t k = 1; k < kLanesWidth; ++k) least = std::min(least, lanes[k]);
    return least;
  }

  struct Item {
    std::uint32_t item;
    const float* row;
    double n;
    double linkage;  // to the union before the run
  };
  Item window_[kWindow];
  std::uint32_t places_[kWindow];
  // Of those not picked: points in the union, times its linkage to an item, as it is by then.
  double sums_[kWindow];
  std::size_t in_window_ = 0, count_ = 0;
  std::size_t picked_[kMost];       // in the window
  double so_far_[kMost + 1];        // points in the union before item j
  double spreads_[kMost + 1] = {};  // and how far its parts are from its mean
  double limits_[kMost];            // no other cluster may be as near to the two
  double largest_ = -kInfinite;     // of these, and a little more
  double farthest_ = -kInfinite;    // of those picked, from the union before the run
};

}  // namespace ramify
