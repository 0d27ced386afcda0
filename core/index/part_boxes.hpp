// SPDX-License-Identifier: BSD-3-Clause
// part_boxes.hpp: how near points can be that are somewhere else, by boxes around them.
//
// A caller that keeps points in several places has boxes around those of each place, and asks only
// where a box is nearer than what is known. A bound is computed in the type of the rows, and in
// another order than a distance, so it is taken a little lower: by more than all that rounding can
// have added.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace ramify {

/// Boxes around the points of several owners: those of owner o are begin[o] .. begin[o + 1] - 1.
/// Corners lie coordinate by coordinate: of box b in coordinate j at j * begin.back() + b.
template <class Real>
class PartBoxes {
 public:
  PartBoxes(std::span<const Real> low, std::span<const Real> high,
            std::span<const std::int64_t> begin, std::size_t dim)
      : begin_(begin), dim_(dim), low_(low), high_(high), sums_(boxes()), sizes_(boxes()) {
    for (std::size_t o = 0; o < owners(); ++o)
      for (std::size_t j = 0; j < dim; ++j) {
        const auto first = j * boxes() + at(o), last = j * boxes() + at(o + 1);
        Real least = std::numeric_limits<Real>::infinity(), most = -least;
        for (std::size_t b = first; b < last; ++b) {
          least = std::min(least, low[b]);
          most = std::max(most, high[b]);
        }
        outer_.insert(outer_.end(), {least, most});
      }
  }

  std::size_t owners() const { return begin_.size() - 1; }

  /// For each owner: what no squared distance (or minus product) of a row to a point in the owner's
  /// boxes is below; infinite for who has no box. Beyond `enough` it may be any bound that is.
  /// O(boxes dim).
  void least_distances(const Real* row, bool product, double enough, double* out) {
    for (std::size_t o = 0; o < owners(); ++o) {
      out[o] = std::numeric_limits<double>::infinity();
      if (at(o) == at(o + 1)) continue;
      if (!product && at(o + 1) - at(o) > 1) {
        const double around = outer_gap(row, o);
        if (around > enough) {
          out[o] = around;
          continue;
        }
      }
      product ? products(row, o) : gaps(row, o);
      for (std::size_t b = at(o); b < at(o + 1); ++b) out[o] = std::min(out[o], bound(b, product));
    }
  }

 private:
  static constexpr double kSlack = std::is_same_v<Real, float> ? 1e-5 : 1e-9;

  std::size_t at(std::size_t owner) const { return static_cast<std::size_t>(begin_[owner]); }
  std::size_t boxes() const { return static_cast<std::size_t>(begin_.back()); }

  double outer_gap(const Real* row, std::size_t owner) const {
    Real sum = 0;
    for (std::size_t j = 0; j < dim_; ++j) {
      const Real* const corner = outer_.data() + 2 * (owner * dim_ + j);
      sum += squared_gap(row[j], corner[0], corner[1]);
    }
    return lowered(sum, sum);
  }
  void gaps(const Real* row, std::size_t owner) {
    Real* const sums = sums_.data();
    std::fill(sums + at(owner), sums + at(owner + 1), Real{0});
    for (std::size_t j = 0; j < dim_; ++j) {
      const Real here = row[j];
      const Real *const low = low_.data() + j * boxes(), *const high = high_.data() + j * boxes();
      for (std::size_t b = at(owner); b < at(owner + 1); ++b)
        sums[b] += squared_gap(here, low[b], high[b]);
    }
  }
  void products(const Real* row, std::size_t owner) {
    Real *const sums = sums_.data(), *const sizes = sizes_.data();
    std::fill(sums + at(owner), sums + at(owner + 1), Real{0});
    std::fill(sizes + at(owner), sizes + at(owner + 1), Real{0});
    for (std::size_t j = 0; j < dim_; ++j) {
      const Real here = row[j];
      const Real *const low = low_.data() + j * boxes(), *const high = high_.data() + j * boxes();
      for (std::size_t b = at(owner); b < at(owner + 1); ++b) {
        const Real one = here * low[b], other = here * high[b];
        sums[b] -= std::max(one, other);
        sizes[b] += std::max(std::abs(one), std::abs(other));
      }
    }
  }
  double bound(std::size_t b, bool product) const {
    return lowered(sums_[b], product ? sizes_[b] : sums_[b]);
  }
  static Real squared_gap(Real here, Real low, Real high) {
    const Real gap = std::max(std::max(low - here, here - high), Real{0});
    return gap * gap;
  }
  /// What is too large for the type is not known.
  static double lowered(Real sum, Real size) {
    if (!(size < std::numeric_limits<Real>::infinity()))
      return -std::numeric_limits<double>::infinity();
    return static_cast<double>(sum) - kSlack * static_cast<double>(size);
  }

  std::span<const std::int64_t> begin_;
  std::size_t dim_;
  std::span<const Real> low_, high_;
  std::vector<Real> sums_, sizes_;  // of the row at hand, by box
  std::vector<Real> outer_;         // around all boxes of an owner: low and high, by coordinate
};

/// Widen one of some boxes, corners as above, for each row that is in none: the nearest.
template <class Real>
void widen(const Real* rows, std::size_t count, std::size_t dim, std::size_t boxes, Real* low,
           Real* high) {
  for (const Real* row = rows; row != rows + count * dim; row += dim) {
    std::size_t nearest = 0;
    Real least = std::numeric_limits<Real>::infinity();
    for (std::size_t b = 0; b < boxes && least > 0; ++b) {
      Real gap = 0;
      for (std::size_t j = 0; j < dim; ++j)
        gap = std::max({gap, low[j * boxes + b] - row[j], row[j] - high[j * boxes + b]});
      if (gap < least) {
        least = gap;
        nearest = b;
      }
    }
    for (std::size_t j = 0; j < dim; ++j) {
      Real& lowest = low[j * boxes + nearest];
      Real& highest = high[j * boxes + nearest];
      lowest = std::min(lowest, row[j]);
      highest = std::max(highest, row[j]);
    }
  }
}

}  // namespace ramify
