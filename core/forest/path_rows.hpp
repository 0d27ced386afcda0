// SPDX-License-Identifier: BSD-3-Clause
// path_rows.hpp: loops over rows of linkages, by place.
//
// The row of an item is of floats, and says nothing of which places are closed: beside it there
// is `closed`, which is 0 where one is open and kClosedPlace elsewhere. The row of a union is of
// doubles, and has kFarRow there. Ranges are multiples of kLanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forest/tally.hpp"
#include "math/lanes.hpp"
#include "math/least_two.hpp"

namespace ramify {

inline constexpr double kFarRow = 1e200;
inline constexpr float kClosedPlace = 1e38F;

/// Is an open number at most so large?
RAMIFY_INLINE bool any_open_below(const float* row, const float* closed, std::size_t from,
                                  std::size_t to, float most) {
  count_work(to - from);
  int near = 0;
  for (std::size_t i = from; i < to; ++i) near |= row[i] + closed[i] <= most ? 1 : 0;
  return near != 0;
}

/// Call `use` with the item of each open place whose number is at most limit().
template <class Limit, class Use>
RAMIFY_INLINE void each_open_within(const float* numbers, const float* closed,
                                    const std::uint32_t* items, std::size_t from, std::size_t to,
                                    const Limit& limit, const Use& use) {
  for (std::size_t block = from; block < to; block += kLanes) {
    if (!any_open_below(numbers, closed, block, block + kLanes, limit())) continue;
    for (std::size_t i = block; i < block + kLanes; ++i)
      if (numbers[i] + closed[i] <= limit()) use(items[i]);
  }
}

RAMIFY_INLINE void lower_by_open(const float* row, const float* closed, std::size_t from,
                                 std::size_t to, float& least) {
  count_work(to - from);
  for (std::size_t i = from; i < to; ++i) {
    const float value = row[i] + closed[i];
    least = value < least ? value : least;
  }
}

RAMIFY_INLINE void offer_open(const float* row, const float* closed_row, std::size_t from,
                              std::size_t to, LeastTwo& least) {
  count_work(to - from);
  for (std::size_t i = from; i < to; i += kLanesWidth) {
    Lanes value, closed;
    load(value, row + i);
    load(closed, closed_row + i);
    least.offer(value + closed);
  }
}
RAMIFY_INLINE void offer_row(const double* row, std::size_t from, std::size_t to, LeastTwo& least) {
  count_work(to - from);
  for (std::size_t i = from; i < to; i += kLanesWidth) {
    Lanes value;
    load(value, row + i);
    least.offer(value);
  }
}

/// How much of a union is its second part, and what is taken off the mean of their linkages.
struct UnionShares {
  double share, less;
};
/// The linkages of a union from those of its parts, of which one is a union itself.
template <class A, class B>
RAMIFY_INLINE void blend_rows(const A* a, const B* b, const UnionShares& shares, double* out,
                              std::size_t from, std::size_t to, LeastTwo& least) {
  count_work(to - from);
  for (std::size_t i = from; i < to; i += kLanesWidth) {
    Lanes of_a, of_b;
    load(of_a, a + i);
    load(of_b, b + i);
    const Lanes value = of_a + shares.share * (of_b - of_a) - shares.less;
    store(value, out + i);
    least.offer(value);
  }
}
/// The same of two items.
RAMIFY_INLINE void blend_open_rows(const float* a, const float* b, const float* closed_row,
                                   const UnionShares& shares, double* out, std::size_t from,
                                   std::size_t to, LeastTwo& least) {
  count_work(to - from);
  for (std::size_t i = from; i < to; i += kLanesWidth) {
    Lanes of_a, of_b, closed;
    load(of_a, a + i);
    load(of_b, b + i);
    load(closed, closed_row + i);
    const Lanes value =
        of_a + shares.share * (of_b - of_a) + ((kFarRow / kClosedPlace) * closed - shares.less);
    store(value, out + i);
    least.offer(value);
  }
}

}  // namespace ramify
