// SPDX-License-Identifier: BSD-3-Clause
// least_two.hpp: the least and the second least of many numbers.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "math/lanes.hpp"

namespace ramify {

RAMIFY_INLINE void raise(Lanes& most, const Lanes& next) { most = next > most ? next : most; }

/// Numbers come kLanesWidth at a time.
struct LeastTwo {
  Lanes first, second;

  RAMIFY_INLINE void begin() {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    fill(first, kInfinite);
    fill(second, kInfinite);
  }
  RAMIFY_INLINE void offer(const Lanes& next) {
    Lanes larger = first;
    raise(larger, next);
    lower(second, larger);
    lower(first, next);
  }
  RAMIFY_INLINE void result(double& least, double& next_least) const {
    Half first_half, second_half;
    fold(first, second, first_half, second_half);
    Quarter first_quarter, second_quarter;
    fold(first_half, second_half, first_quarter, second_quarter);
    const double a = first_quarter[0], b = first_quarter[1];
    least = std::min(a, b);
    next_least = std::min(std::max(a, b), std::min(second_quarter[0], second_quarter[1]));
  }

 private:
  typedef double Half __attribute__((vector_size(4 * kLanesWidth)));
  typedef double Quarter __attribute__((vector_size(2 * kLanesWidth)));
  /// The same of the two halves, side by side.
  template <class All, class Part>
  RAMIFY_INLINE static void fold(const All& least, const All& next, Part& least_out,
                                 Part& next_out) {
    Part a[2], b[2];
    std::memcpy(a, &least, sizeof a);
    std::memcpy(b, &next, sizeof b);
    const Part larger = a[0] > a[1] ? a[0] : a[1];
    least_out = a[1] < a[0] ? a[1] : a[0];
    next_out = b[1] < b[0] ? b[1] : b[0];
    next_out = larger < next_out ? larger : next_out;
  }
};

}  // namespace ramify
