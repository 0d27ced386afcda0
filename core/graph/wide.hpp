// SPDX-License-Identifier: BSD-3-Clause
// wide.hpp: products of 64-bit numbers, compared without rounding.
#pragma once

#include <compare>
#include <cstdint>

namespace ramify {

/// a * b, all 128 bits of it.
struct Wide {
  std::uint64_t high;
  std::uint64_t low;

  Wide(std::uint64_t a, std::uint64_t b) : low(a * b) {
    const std::uint64_t mask = 0xFFFFFFFFU;
    const std::uint64_t a1 = a >> 32, a0 = a & mask, b1 = b >> 32, b0 = b & mask;
    const std::uint64_t cross = a1 * b0 + ((a0 * b0) >> 32);
    const std::uint64_t other = a0 * b1 + (cross & mask);
    high = a1 * b1 + (cross >> 32) + (other >> 32);
  }

  friend auto operator<=>(const Wide&, const Wide&) = default;
};

}  // namespace ramify
