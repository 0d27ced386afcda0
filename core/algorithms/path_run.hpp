// SPDX-License-Identifier: BSD-3-Clause
// path_run.hpp: some subtrees that a union takes in one after the other, all at once.
//
// HAC of a path is mostly one union Q and the subtrees S_1, S_2, ... that come next: each is Q's
// nearest, and Q is its nearest. To find the nearest takes a pass over a row for each of them. To
// see that it is nearest does not: with Q_0 = Q and Q_j = Q_(j-1) + S_j, what is to be known is
//
//   L(Q_(j-1), S_b) > l_j  and  L(S_j, S_b) > l_j  for all others b,
//   with l_j a little above L(Q_(j-1), S_j)
//
// and the first of these are running sums of the rows of S_1, S_2, ... All rows are read side by
// side. Where L(Q, S_b) and all L(S_j, S_b) are above every l_j, so are the means of them; that is
// true of most b, and asks for no more than the least of the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "math/lanes.hpp"
#include "math/product_bounds.hpp"

namespace ramify {

/// Kept to spare allocations; by place, and by block of places.
struct PathRunScratch {
  std::vector<float> sums, least;
  std::vector<std::uint8_t> may_be_close;
};

class PathRun {
 public:
  static constexpr std::size_t kMost = WeightedRows::kMost;
  static constexpr double kFar = 1e200;  // of a place that is done with, in the row of a union
  static constexpr float kShut = 1e38F;  // and in `shut`, which is 0 elsewhere

  std::size_t size() const { return count_; }
  std::uint32_t item(std::size_t j) const { return items_[j]; }
  std::uint32_t place(std::size_t j) const { return places_[j]; }
  /// How many points the union has after item j.
  double points_with(std::size_t j) const { return so_far_[j + 1]; }

  explicit PathRun(double points_in_union) { so_far_[0] = points_in_union; }
  RAMIFY_INLINE bool is_full() const { return count_ == kMost; }
  /// An item with n points; `row` has its linkages by place, and `linkage` is that to the union.
  RAMIFY_INLINE void add(std::uint32_t item, std::uint32_t place, const float* row, double n,
                         double linkage) {
    items_[count_] = item;
    places_[count_] = place;
    rows_[count_] = row;
    n_[count_] = n;
    sums_[count_++] = linkage * so_far_[0];
  }

  /// As many as are certain to come next among themselves. `limit_of` says how far others have to
  /// be.
  template <class LimitOf>
  RAMIFY_INLINE void keep_in_order(LimitOf&& limit_of) {
    for (std::size_t j = 0; j < count_; ++j) {
      const double limit = limit_of(sums_[j] / so_far_[j]);
      for (std::size_t k = j + 1; k < count_; ++k) {
        const double linkage = rows_[j][places_[k]];
        if (!(linkage > limit && sums_[k] > limit * so_far_[j])) {
          count_ = j;
          break;
        }
        sums_[k] += n_[j] * linkage;
      }
      limits_[j] = limit;
      so_far_[j + 1] = so_far_[j] + n_[j];
    }
  }
  /// As many as are nearer than another cluster that has a linkage to the union, and to each place.
  RAMIFY_INLINE void keep_nearer(double linkage_to_union, const float* by_place) {
    double sum = linkage_to_union * so_far_[0];
    for (std::size_t j = 0; j < count_; ++j) {
      const double linkage = by_place[places_[j]];
      if (!(linkage > limits_[j] && sum > limits_[j] * so_far_[j])) count_ = j;
      sum += n_[j] * linkage;
    }
  }
  /// What that cluster's linkage to the union is after the run.
  double after(double linkage_to_union, const float* by_place) const {
    double linkage = linkage_to_union;
    for (std::size_t j = 0; j < count_; ++j)
      linkage += (by_place[places_[j]] - linkage) * (n_[j] / so_far_[j + 1]);
    return linkage;
  }

  /// Is nothing else that near, of places from .. to-1 that are not shut, where `row` has the
  /// union's linkages? Those after the run are in `out` then. The run itself is shut.
  RAMIFY_INLINE bool is_apart(const double* row, const float* shut, std::size_t from,
                              std::size_t to, PathRunScratch& s, double* out) const {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < count_; ++j) most = std::max(most, limits_[j]);
    add_up(from, to, s);
    Lanes least;
    fill(least, kFar);
    const double share = so_far_[0] / so_far_[count_];
    for (std::size_t i = from; i < to; i += kLanes)
      if (s.may_be_close[i / kLanes] == 0)
        for (std::size_t at = i; at < i + kLanes; at += kLanesWidth)
          blend(row + at, shut + at, s.sums.data() + at, s.least.data() + at, share, out + at,
                least);
      else if (!is_apart_at_each(row + i, shut + i, i, out + i))
        return false;
    if (least_of(least) > most) return true;
    for (std::size_t i = from; i < to; i += kLanes)
      if (s.may_be_close[i / kLanes] == 0 && !is_apart_at_each(row + i, shut + i, i, out + i))
        return false;
    return true;
  }

 private:
  void add_up(std::size_t from, std::size_t to, PathRunScratch& s) const {
    WeightedRows rows{{}, {}, count_, from, to, s.sums.data(), s.least.data()};
    for (std::size_t j = 0; j < count_; ++j) {
      rows.rows[j] = rows_[j];
      rows.weights[j] = static_cast<float>(n_[j] / so_far_[count_]);
    }
    product_kernels().sum_rows(rows);
  }

  RAMIFY_INLINE static void blend(const double* row, const float* shut, const float* sums,
                                  const float* least_of_run, double share, double* out,
                                  Lanes& least) {
    Lanes linkage, closed, sum, of_run;
    load(linkage, row);
    load(closed, shut);
    load(sum, sums);
    load(of_run, least_of_run);
    lower(least, linkage + closed);
    lower(least, of_run + closed);
    store((share * linkage + sum) + kFar / kShut * closed, out);
  }

  /// The same for kLanes places, of which some may be as near before or after the run, but not when
  /// it matters.
  RAMIFY_INLINE bool is_apart_at_each(const double* row, const float* shut, std::size_t place,
                                      double* out) const {
    constexpr std::size_t kParts = kLanes / kLanesWidth;
    Lanes sum[kParts], closed[kParts], least[kParts], least_of_row[kParts];
    for (std::size_t p = 0; p < kParts; ++p) {
      load(closed[p], shut + p * kLanesWidth);
      load(sum[p], row + p * kLanesWidth);
      fill(least[p], kFar);
      fill(least_of_row[p], kFar);
      sum[p] = so_far_[0] * sum[p] + kFar / kShut * closed[p];
    }
    for (std::size_t j = 0; j < count_; ++j) {
      const double sum_limit = limits_[j] * so_far_[j];
      for (std::size_t p = 0; p < kParts; ++p) {
        Lanes linkage;
        load(linkage, rows_[j] + place + p * kLanesWidth);
        linkage = linkage + closed[p];
        lower(least[p], sum[p] - sum_limit);
        lower(least_of_row[p], linkage - limits_[j]);
        sum[p] = sum[p] + n_[j] * linkage;
      }
    }
    for (std::size_t p = 0; p < kParts; ++p) {
      store(1 / so_far_[count_] * sum[p], out + p * kLanesWidth);
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

  std::size_t count_ = 0;
  std::uint32_t items_[kMost], places_[kMost];
  const float* rows_[kMost];
  double n_[kMost];
  double so_far_[kMost + 1];  // points in the union before item j
  double sums_[kMost];        // those times its linkage to the union, as it is by then
  double limits_[kMost];      // nobody else may be as near to the two
};

}  // namespace ramify
