// SPDX-License-Identifier: BSD-3-Clause
// row_store.hpp: the rows seen so far, one after the other, in their own type.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "math/growth.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// float or double rows of one width, addressed by arrival index.
template <class Real>
class Points {
 public:
  explicit Points(std::size_t dim) : dim_(dim) {}

  std::size_t dim() const { return dim_; }
  std::size_t size() const { return values_.size() / dim_; }
  const Real* row(PointId point) const { return values_.data() + point * dim_; }
  Real* row(PointId point) { return values_.data() + point * dim_; }
  std::span<const Real> values() const { return values_; }

  void make_room(std::size_t rows) { ramify::make_room(values_, rows * dim_); }
  void append(const Real* row) {
    ramify::make_room(values_, dim_);
    values_.append(row, row + dim_);
  }
  /// Forget all rows from `size` on.
  void truncate(std::size_t size) { values_.resize(size * dim_); }

 private:
  std::size_t dim_;
  BigVector<Real> values_;
};

/// Scale a row to unit length; `out` may be the row itself. The largest entry is divided out first,
/// so that rows near the ends of the number range neither overflow nor vanish.
template <class Real>
void scale_to_unit(const Real* row, std::size_t dim, Real* out) {
  double largest = 0;
  for (std::size_t j = 0; j < dim; ++j)
    largest = std::fmax(largest, std::fabs(static_cast<double>(row[j])));
  double squares = 0;
  for (std::size_t j = 0; j < dim; ++j) {
    const double scaled = static_cast<double>(row[j]) / largest;
    squares += scaled * scaled;
  }
  const double norm = std::sqrt(squares);
  for (std::size_t j = 0; j < dim; ++j)
    out[j] = static_cast<Real>(static_cast<double>(row[j]) / largest / norm);
}

/// Index of the first entry that is NaN or infinite; `values.size()` if none.
template <class Real>
std::size_t first_non_finite(std::span<const Real> values) {
  std::size_t i = 0;
  while (i < values.size() && std::isfinite(values[i])) ++i;
  return i;
}

/// Numbers beyond this have squares that overflow once a few of them are added.
inline constexpr double kLargest = 1e145;

/// First row without a non-zero entry; `rows` if none.
template <class Real>
std::size_t first_zero_row(const Real* values, std::size_t rows, std::size_t dim) {
  for (std::size_t i = 0; i < rows; ++i) {
    const Real* row = values + i * dim;
    std::size_t j = 0;
    while (j < dim && row[j] == Real{0}) ++j;
    if (j == dim) return i;
  }
  return rows;
}

}  // namespace ramify
