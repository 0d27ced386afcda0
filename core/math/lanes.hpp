// SPDX-License-Identifier: BSD-3-Clause
// lanes.hpp: a few numbers side by side, of which each is computed as if it were alone.
#pragma once

#include <cstddef>
#include <cstring>

#include "math/dispatch.hpp"

namespace ramify {

inline constexpr std::size_t kLanesWidth = 8;

#if defined(__GNUC__) || defined(__clang__)
typedef double Lanes __attribute__((vector_size(8 * kLanesWidth)));
RAMIFY_INLINE void lower(Lanes& least, const Lanes& next) { least = next < least ? next : least; }
#else
struct Lanes {
  double lane[kLanesWidth];
  double operator[](std::size_t k) const { return lane[k]; }
};
template <class Each>
inline Lanes each(Each&& value) {
  Lanes out;
  for (std::size_t k = 0; k < kLanesWidth; ++k) out.lane[k] = value(k);
  return out;
}
inline Lanes operator+(const Lanes& a, const Lanes& b) {
  return each([&](std::size_t k) { return a[k] + b[k]; });
}
inline Lanes operator+(double a, const Lanes& b) {
  return each([&](std::size_t k) { return a + b[k]; });
}
inline Lanes operator-(const Lanes& a, const Lanes& b) {
  return each([&](std::size_t k) { return a[k] - b[k]; });
}
inline Lanes operator-(double a, const Lanes& b) {
  return each([&](std::size_t k) { return a - b[k]; });
}
inline Lanes operator-(const Lanes& a, double b) {
  return each([&](std::size_t k) { return a[k] - b; });
}
inline Lanes operator*(const Lanes& a, const Lanes& b) {
  return each([&](std::size_t k) { return a[k] * b[k]; });
}
inline Lanes operator*(double a, const Lanes& b) {
  return each([&](std::size_t k) { return a * b[k]; });
}
inline void lower(Lanes& least, const Lanes& next) {
  for (std::size_t k = 0; k < kLanesWidth; ++k)
    if (next[k] < least[k]) least.lane[k] = next[k];
}
#endif

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

}  // namespace ramify
