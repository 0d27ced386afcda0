// SPDX-License-Identifier: BSD-3-Clause
// scales.hpp: counts brought to whole groups, and numbers to about 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ramify {

/// The count, or the least larger one that fills whole groups.
constexpr std::size_t whole(std::size_t count, std::size_t of) {
  return (count + of - 1) / of * of;
}

/// What to multiply numbers with so that the largest is about 1: a power of two.
inline double scale_to_one(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0 ? std::ldexp(1.0, std::clamp(-exponent, -480, 480)) : 1;
}

}  // namespace ramify
