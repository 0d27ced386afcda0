// SPDX-License-Identifier: BSD-3-Clause
#include "math/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/kernels.hpp"

namespace ramify {
namespace {

/// Make the rows of a matrix orthonormal, one after the other. A row that the
/// earlier ones already span becomes zero, which is as good as leaving it out.
void orthonormalise(std::vector<double>& rows, std::size_t dim) {
  for (std::size_t i = 0; i < rows.size() / dim; ++i) {
    double* row = rows.data() + i * dim;
    const double before = dot(row, row, dim);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough, says Kahan
      for (std::size_t j = 0; j < i; ++j) {
        const double* other = rows.data() + j * dim;
        const double along = dot(row, other, dim);
        for (std::size_t d = 0; d < dim; ++d) row[d] -= along * other[d];
      }
    const double after = dot(row, row, dim);
    const double scale = after > 1e-12 * before && after > 0 ? 1 / std::sqrt(after) : 0;
    for (std::size_t d = 0; d < dim; ++d) row[d] *= scale;
  }
}

}  // namespace

template <class Real>
void Projection<Real>::fit(const std::function<const Real*(std::size_t)>& row, std::size_t count,
                           const Pulse& pulse) {
  std::vector<double> rows(count * dim_);
  centre_.assign(dim_, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dim_; ++d)
      centre_[d] += static_cast<double>(row(i)[d]) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dim_; ++d)
      rows[i * dim_ + d] = static_cast<double>(row(i)[d]) - centre_[d];
  sweep_ = kCoarse;
  has_fine_ = dim_ >= kVeryLongRow;
  directions_ = (has_fine_ ? kFine : kCoarse) - 1;
  fit_basis(rows, count, pulse);
  if (coarse_will_do(row, count)) return;
  sweep_ = std::min(kBroad, dim_ + 1);
  has_fine_ = false;
  directions_ = sweep_ - 1;
  fit_basis(rows, count, pulse);
}

template <class Real>
void Projection<Real>::fit_basis(const std::vector<double>& rows, std::size_t count,
                                 const Pulse& pulse) {
  // Start from rows spread over the sample; each round multiplies by the
  // covariance, which turns the span towards the leading directions.
  basis_.assign(directions_ * dim_, 0);
  std::vector<double> next(directions_ * dim_);
  for (std::size_t i = 0; i < directions_; ++i)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i * count / directions_ * dim_), dim_,
                basis_.begin() + static_cast<std::ptrdiff_t>(i * dim_));
  orthonormalise(basis_, dim_);
  for (int round = 0; round < 3; ++round) {
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kBlock == 0) pulse.check();
      const double* x = rows.data() + i * dim_;
      for (std::size_t b = 0; b < directions_; ++b) {
        const double along = dot(x, basis_.data() + b * dim_, dim_);
        double* out = next.data() + b * dim_;
        for (std::size_t d = 0; d < dim_; ++d) out[d] += along * x[d];
      }
    }
    basis_.swap(next);
    orthonormalise(basis_, dim_);
  }
}

/// Of some rows of the sample: does the coarse vector rule out most others as
/// nearest neighbours?
template <class Real>
bool Projection<Real>::coarse_will_do(const std::function<const Real*(std::size_t)>& row,
                                      std::size_t count) const {
  constexpr std::size_t kAsked = 32;
  std::vector<ShortRow> shortened(count);
  std::vector<double> centred(dim_);
  for (std::size_t i = 0; i < count; ++i) apply(row(i), centred.data(), shortened[i]);
  std::size_t left = 0, asked = 0;
  for (std::size_t a = 0; a < count; a += (count + kAsked - 1) / kAsked, ++asked) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i)
      if (i != a) nearest = std::min(nearest, squared_distance(row(a), row(i), dim_));
    for (std::size_t i = 0; i < count; ++i) {
      const float gap = gap_kernels().of_pair(shortened[a].sweep, shortened[i].sweep, kCoarse);
      left += i != a && static_cast<double>(gap) <= nearest;
    }
  }
  return 8 * left <= asked * count;
}

template <class Real>
void Projection<Real>::apply(const Real* row, double* centred, ShortRow& out) const {
  for (std::size_t d = 0; d < dim_; ++d) centred[d] = static_cast<double>(row[d]) - centre_[d];
  out.radius = dot(centred, centred, dim_);
  const auto rest = [&](double inside) {
    return static_cast<float>(std::sqrt(std::max(0.0, out.radius - inside)));
  };
  double inside = 0;
  for (std::size_t b = 0; b < directions_; ++b) {
    if (b == sweep_ - 1) out.sweep[b] = rest(inside);
    const double along = dot(centred, basis_.data() + b * dim_, dim_);
    inside += along * along;
    if (b < sweep_ - 1) out.sweep[b] = static_cast<float>(along);
    if (has_fine_) out.fine[b] = static_cast<float>(along);
  }
  (has_fine_ ? out.fine[kFine - 1] : out.sweep[sweep_ - 1]) = rest(inside);
  out.length = 0;
  for (std::size_t j = 0; j < sweep_; ++j)
    out.length += static_cast<double>(out.sweep[j]) * static_cast<double>(out.sweep[j]);
}

template class Projection<float>;
template class Projection<double>;

}  // namespace ramify
