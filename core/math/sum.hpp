// SPDX-License-Identifier: BSD-3-Clause
// sum.hpp: a sum that carries its own rounding error (Neumaier's).
//
// A million terms of mixed size lose their last digits one by one in a plain
// sum; here what each addition drops is kept beside it and added at the end.
#pragma once

#include <cmath>

namespace ramify {

class Sum {
 public:
  constexpr Sum() = default;
  constexpr Sum(double value, double rest) : value_(value), rest_(rest) {}

  void add(double term) {
    const double next = value_ + term;
    rest_ += std::fabs(value_) >= std::fabs(term) ? (value_ - next) + term : (term - next) + value_;
    value_ = next;
  }
  double get() const { return value_ + rest_; }

  // The two halves, for a caller that stores a sum and goes on with it later.
  double value() const { return value_; }
  double rest() const { return rest_; }

 private:
  double value_ = 0;
  double rest_ = 0;
};

}  // namespace ramify
