// SPDX-License-Identifier: BSD-3-Clause
// wide.hpp: products of 64-bit numbers, compared without rounding.
#pragma once

#include <cstdint>

namespace ramify {

#ifdef __SIZEOF_INT128__
__extension__ using Product = unsigned __int128;
#endif

/// a * b, all 128 bits of it.
struct Wide {
  std::uint64_t high;
  std::uint64_t low;

  Wide(std::uint64_t a, std::uint64_t b) : low(a * b) {
#ifdef __SIZEOF_INT128__
    high = static_cast<std::uint64_t>((Product{a} * b) >> 64);
#else
    const std::uint64_t mask = 0xFFFFFFFFU;
    const std::uint64_t a1 = a >> 32, a0 = a & mask, b1 = b >> 32, b0 = b & mask;
    const std::uint64_t cross = a1 * b0 + ((a0 * b0) >> 32);
    const std::uint64_t other = a0 * b1 + (cross & mask);
    high = a1 * b1 + (cross >> 32) + (other >> 32);
#endif
  }

  friend bool operator==(const Wide&, const Wide&) = default;
  friend bool operator>=(const Wide& a, const Wide& b) {
    return a.high > b.high || (a.high == b.high && a.low >= b.low);
  }
  friend bool operator>(const Wide& a, const Wide& b) { return !(b >= a); }
};

}  // namespace ramify
