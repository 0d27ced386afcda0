// SPDX-License-Identifier: BSD-3-Clause
// certificate.hpp: what OTD's theorem guarantees for the stream that came.
//
// For similarities w >= 0. The arrival of x at a tree T of n points raises the
// greatest conceivable revenue by
//
//   D = w(T) + (n - 1) w(T, x)          (w without a bar: sums over pairs)
//
// and OTD's own revenue by at least (b/3) D, where b <= 1 is the least
// wbar(A) / wbar(A, x) over the subtrees A of two and more points that the walk
// turned away from (the paper's Theorem 1; its proof uses the separation of the
// data for those A alone, so the bound holds step by step, with each step's own
// b). Summed over the stream this is a proven lower bound on the tree's revenue.
#pragma once

#include <stdexcept>
#include <vector>

#include "math/sum.hpp"

namespace ramify {

struct Certificate {
  double beta = 1;  // least b so far
  Sum guaranteed;   // sum of (b/3) D
  Sum achieved;     // the tree's revenue
  Sum maximum;      // sum of D, which is (n - 2) w(all points)

  /// Flat, for storage, and back; std::invalid_argument if it is no certificate.
  std::vector<double> numbers() const {
    return {beta,
            guaranteed.value(),
            guaranteed.rest(),
            achieved.value(),
            achieved.rest(),
            maximum.value(),
            maximum.rest()};
  }
  static Certificate from_numbers(const std::vector<double>& kept) {
    if (kept.size() != 7) throw std::invalid_argument("a stored certificate is damaged");
    return {kept[0], Sum(kept[1], kept[2]), Sum(kept[3], kept[4]), Sum(kept[5], kept[6])};
  }
};

}  // namespace ramify
