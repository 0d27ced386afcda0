// SPDX-License-Identifier: BSD-3-Clause
// lanes.hpp: a few numbers side by side, of which each is computed as if it were alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "math/dispatch.hpp"

namespace ramify {

inline constexpr std::size_t kLanesWidth = 8;

typedef double Lanes __attribute__((vector_size(8 * kLanesWidth)));
typedef std::uint64_t LaneBits __attribute__((vector_size(8 * kLanesWidth)));
RAMIFY_INLINE void lower(Lanes& least, const Lanes& next) { least = next < least ? next : least; }

// By reference: vectors by value have another calling convention for each set of
// instructions.
RAMIFY_INLINE void load(Lanes& lanes, const double* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}
RAMIFY_INLINE void load(Lanes& lanes, const float* from) {
  // Spelled out, this is one instruction where there is one.
  static_assert(kLanesWidth == 8);
  const auto at = [&](std::size_t k) { return static_cast<double>(from[k]); };
  lanes = Lanes{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
}
RAMIFY_INLINE void fill(Lanes& lanes, double all) {
  const double values[kLanesWidth] = {all, all, all, all, all, all, all, all};
  load(lanes, values);
}
RAMIFY_INLINE void store(const Lanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }

// Nothing below compares lanes but by lower(): compilers take other comparisons apart, lane by
// lane, where the set of instructions is not that of the whole file (dispatch.hpp).
/// combine(first half of `all`, second half, out).
template <class Part, class All, class Combine>
RAMIFY_INLINE void fold(const All& all, Part& out, const Combine& combine) {
  Part part[2];
  static_assert(sizeof part == sizeof all);
  std::memcpy(part, &all, sizeof part);
  combine(part[0], part[1], out);
}

RAMIFY_INLINE double least_lane(const Lanes& lanes) {
  typedef double Half __attribute__((vector_size(4 * kLanesWidth)));
  typedef double Quarter __attribute__((vector_size(2 * kLanesWidth)));
  const auto lesser = [](const auto& a, const auto& b, auto& out)
                          __attribute__((always_inline)) { out = b < a ? b : a; };
  Half half;
  Quarter quarter;
  double least;
  fold(lanes, half, lesser);
  fold(half, quarter, lesser);
  lesser(quarter[0], quarter[1], least);
  return least;
}

/// Where lanes are as low as `least`, than which none may be lower, add bits to `out`.
RAMIFY_INLINE void mark_equal(const Lanes& lanes, const Lanes& least, std::uint64_t bits,
                              LaneBits& out) {
  const Lanes gap = lanes - least;
  LaneBits marks;
  std::memcpy(&marks, &gap, sizeof marks);
  out |= (((0 - marks) >> 63) - 1) & bits;  // the sign of minus a number: 0 for 0 alone
}

/// Lane k becomes `to`. By its index it would go through memory.
RAMIFY_INLINE void set_lane(Lanes& lanes, std::size_t k, double to) {
  static constexpr std::uint64_t kOne[2 * kLanesWidth] = {0, 0, 0, 0, 0, 0, 0, ~std::uint64_t{0}};
  LaneBits mask, bits, to_bits;
  std::memcpy(&mask, kOne + kLanesWidth - 1 - k, sizeof mask);
  Lanes all;
  fill(all, to);
  std::memcpy(&bits, &lanes, sizeof bits);
  std::memcpy(&to_bits, &all, sizeof bits);
  bits = (bits & ~mask) | (to_bits & mask);
  std::memcpy(&lanes, &bits, sizeof bits);
}

}  // namespace ramify
