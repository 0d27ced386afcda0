// SPDX-License-Identifier: BSD-3-Clause
#include "math/rotation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace ramify {
namespace {

/// A Hadamard matrix times a vector of 2^k entries, and scaled to keep its length.
void mix(float* vector, std::size_t size) {
  for (std::size_t half = 1; half < size; half *= 2)
    for (std::size_t from = 0; from < size; from += 2 * half) {
      float* const low = vector + from;
      float* const high = low + half;
      for (std::size_t i = 0; i < half; ++i) {
        const float a = low[i], b = high[i];
        low[i] = a + b;
        high[i] = a - b;
      }
    }
  const float scale = 1 / std::sqrt(static_cast<float>(size));
  for (std::size_t i = 0; i < size; ++i) vector[i] *= scale;
}

}  // namespace

Rotation::Rotation(std::size_t dim)
    : dim_(dim), rounding_(6e-8 * (4 * std::log2(static_cast<double>(dim)) + 16)), signs_(2 * dim) {
  std::uint64_t state = 0x9E3779B97F4A7C15U;
  for (float& sign : signs_) {  // Marsaglia's xorshift
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    sign = (state >> 40) % 2 == 0 ? 1.0F : -1.0F;
  }
}

void Rotation::apply(float* vector) const {
  for (std::size_t round = 0; round < 2; ++round) {
    const float* sign = signs_.data() + round * dim_;
    for (std::size_t i = 0; i < dim_; ++i) vector[i] *= sign[i];
    for (std::size_t from = 0; from < dim_;) {
      const std::size_t size = std::bit_floor(dim_ - from);
      mix(vector + from, size);
      from += size;
    }
    if (round == 0) std::reverse(vector, vector + dim_);
  }
}

}  // namespace ramify
