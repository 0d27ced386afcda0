// SPDX-License-Identifier: BSD-3-Clause
// bucket_boxes.hpp: the boxes of a bucket tree's nodes, with the least weight in each.
//
// Two children are always looked at together, so the boxes of nodes v and v + 1, v even,
// lie interleaved: for each coordinate both lows, then both highs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "math/boxes.hpp"
#include "math/growth.hpp"

namespace ramify {

template <class Real, class Rule>
class BucketBoxes {
 public:
  explicit BucketBoxes(std::size_t dim) : dim_(dim) {}

  void resize(std::size_t nodes) {
    corners_.resize(nodes * 2 * dim_);
    if constexpr (Rule::kWeighted) least_weight_.resize(nodes);
  }
  void reserve(std::size_t nodes) {
    corners_.reserve(nodes * 2 * dim_);
    if constexpr (Rule::kWeighted) least_weight_.reserve(nodes);
  }

  Real low(std::uint32_t v, std::size_t j) const { return corners_[place(v, j)]; }
  Real high(std::uint32_t v, std::size_t j) const { return corners_[place(v, j) + 2]; }

  void make_empty(std::uint32_t v) {
    constexpr Real kFar = std::numeric_limits<Real>::infinity();
    for (std::size_t j = 0; j < dim_; ++j) set_side(v, j, kFar, -kFar);
    if constexpr (Rule::kWeighted) least_weight_[v] = std::numeric_limits<double>::infinity();
  }
  void include(std::uint32_t v, const Real* row, double weight) {
    for (std::size_t j = 0; j < dim_; ++j)
      set_side(v, j, std::min(low(v, j), row[j]), std::max(high(v, j), row[j]));
    if constexpr (Rule::kWeighted) least_weight_[v] = std::min(least_weight_[v], weight);
  }

  void include_box(std::uint32_t v, std::uint32_t other) {
    for (std::size_t j = 0; j < dim_; ++j)
      set_side(v, j, std::min(low(v, j), low(other, j)), std::max(high(v, j), high(other, j)));
    if constexpr (Rule::kWeighted)
      least_weight_[v] = std::min(least_weight_[v], least_weight_[other]);
  }

  bool is_flat(std::uint32_t v) const {
    for (std::size_t j = 0; j < dim_; ++j)
      if (low(v, j) != high(v, j)) return false;
    return true;
  }
  std::uint32_t widest_side(std::uint32_t v) const {
    std::uint32_t axis = 0;
    double widest = -1;
    for (std::uint32_t j = 0; j < dim_; ++j) {
      const double width = static_cast<double>(high(v, j)) - static_cast<double>(low(v, j));
      if (width > widest) {
        widest = width;
        axis = j;
      }
    }
    return axis;
  }

  /// At most the score of every item below `child` and of every one below child + 1.
  /// Summed in the order of the scores themselves, so that rounding keeps it so.
  RAMIFY_INLINE std::pair<double, double> bounds(std::uint32_t child, const Real* x,
                                                 double weight) const {
    const Real* corners = corners_.data() + place(child, 0);
    double gaps[2];
    if constexpr (Rule::kProduct)
      largest_products(x, corners, dim_, gaps);
    else
      smallest_gaps(x, corners, dim_, gaps);
    constexpr double kNothing[2] = {0, 0};
    const double* least = Rule::kWeighted ? &least_weight_[child] : kNothing;
    return {Rule::bound(gaps[0], weight, least[0]), Rule::bound(gaps[1], weight, least[1])};
  }

  /// The same for one of the two.
  RAMIFY_INLINE double bound(std::uint32_t v, const Real* x, double weight) const {
    const auto [even, odd] = bounds(v & ~1U, x, weight);
    return v % 2 == 0 ? even : odd;
  }

 private:
  std::size_t place(std::uint32_t v, std::size_t j) const {
    return std::size_t{v / 2} * 4 * dim_ + 4 * j + v % 2;
  }
  void set_side(std::uint32_t v, std::size_t j, Real low, Real high) {
    corners_[place(v, j)] = low;
    corners_[place(v, j) + 2] = high;
  }

  std::size_t dim_;
  BigVector<Real> corners_;
  BigVector<double> least_weight_;  // if the rule has weights
};

}  // namespace ramify
