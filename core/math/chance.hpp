// SPDX-License-Identifier: BSD-3-Clause
// chance.hpp: random numbers, the same on every machine (SplitMix64; Steele, Lea and
// Flood, 2014). The state is one number, to be stored and gone on with.
#pragma once

#include <cstdint>

namespace ramify {

class Chance {
 public:
  explicit Chance(std::uint64_t state) : state_(state) {}

  std::uint64_t state() const { return state_; }

  /// From 0 on, below 1, in steps of 2^-53.
  double uniform() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ramify
