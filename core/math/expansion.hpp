// SPDX-License-Identifier: BSD-3-Clause
// expansion.hpp: sums and products of doubles without any rounding.
//
// A number is a sum of doubles that do not overlap, the smallest first (Shewchuk, "Adaptive
// Precision Floating-Point Arithmetic", 1997). Sums of small whole numbers are of one part, and
// then all of this is a few additions. There is room for that many parts, and none is ever
// allocated: these are asked while a tree changes. Factors must be such that the last bit of a
// product is a number still.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "math/dispatch.hpp"

namespace ramify {

class Expansion {
 public:
  /// False if the number had more parts than there is room for: then it is not right.
  bool fits() const { return fits_; }
  /// Below, at or above zero: -1, 0, 1.
  int sign() const { return size_ == 0 ? 0 : parts_[size_ - 1] < 0 ? -1 : 1; }

  RAMIFY_INLINE void add(double term) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double sum = term + parts_[i], of_part = sum - term;
      const double rest = (term - (sum - of_part)) + (parts_[i] - of_part);
      if (rest != 0) parts_[kept++] = rest;
      term = sum;
    }
    fits_ = fits_ && kept < kMost;
    if (term != 0 && kept < kMost) parts_[kept++] = term;
    size_ = kept;
  }
  /// The difference of a product and its rounded value is a double, too (Dekker).
  RAMIFY_INLINE void add_product(double a, double b) {
    const double product = a * b;
    const double high_a = upper_half(a), low_a = a - high_a;
    const double high_b = upper_half(b), low_b = b - high_b;
    const double over = ((product - high_a * high_b) - low_a * high_b) - high_a * low_b;
    const double rest = low_a * low_b - over;
    if (rest != 0) add(rest);
    if (product != 0) add(product);
  }
  void add_product(const Expansion& a, double b) {
    for (std::size_t i = 0; i < a.size_; ++i) add_product(a.parts_[i], b);
    fits_ = fits_ && a.fits_;
  }
  void add_product(const Expansion& a, const Expansion& b) {
    for (std::size_t i = 0; i < b.size_; ++i) add_product(a, b.parts_[i]);
    fits_ = fits_ && a.fits_ && b.fits_;
  }
  Expansion times(const Expansion& other) const {
    Expansion out;
    out.add_product(*this, other);
    return out;
  }
  /// Plus the other one times a number.
  Expansion plus(double times, const Expansion& other) const {
    Expansion out = *this;
    out.add_product(other, times);
    return out;
  }

 private:
  static constexpr std::size_t kMost = 48;

  RAMIFY_INLINE static double upper_half(double a) {
    const double far = 134217729.0 * a;  // 2^27 + 1
    return far - (far - a);
  }

  std::array<double, kMost> parts_{};
  std::size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace ramify
