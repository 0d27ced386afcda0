// SPDX-License-Identifier: BSD-3-Clause
// rotation.hpp: turn a vector of any length so that all its entries have about one spread, in
// O(d log d).
//
// Signs at random, then Hadamard matrices over stretches of 2^k entries, which add up to the
// length; the order reversed; and all of it once more. The first stretch has at least half of
// the entries, so each of them is spread over half of the vector in one round or the other.
// Signs, Hadamard matrices and the reversal are orthonormal: no length changes, nor does any
// distance.
#pragma once

#include <cstddef>
#include <vector>

namespace ramify {

class Rotation {
 public:
  Rotation() = default;
  explicit Rotation(std::size_t dim);

  /// Turn a vector, in place.
  void apply(float* vector) const;
  /// What rounding can have moved a turned vector by, as a share of its length: twice a
  /// rounding for every sum, and some.
  double rounding() const { return rounding_; }

 private:
  std::size_t dim_ = 0;
  double rounding_ = 0;
  std::vector<float> signs_;  // of both rounds
};

}  // namespace ramify
