// SPDX-License-Identifier: BSD-3-Clause
#include "projection.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

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
void Projection<Real>::fit(const std::function<const Real*(std::size_t)>& row, std::size_t count) {
  std::vector<double> rows(count * dim_);
  centre_.assign(dim_, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dim_; ++d)
      centre_[d] += static_cast<double>(row(i)[d]) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dim_; ++d)
      rows[i * dim_ + d] = static_cast<double>(row(i)[d]) - centre_[d];
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

template <class Real>
void Projection<Real>::apply(const Real* row, ShortRow& out) {
  centred_.resize(dim_);
  for (std::size_t d = 0; d < dim_; ++d) centred_[d] = static_cast<double>(row[d]) - centre_[d];
  out.radius = dot(centred_.data(), centred_.data(), dim_);
  const auto rest = [&](double inside) {
    return static_cast<float>(std::sqrt(std::max(0.0, out.radius - inside)));
  };
  double inside = 0;
  for (std::size_t b = 0; b < directions_; ++b) {
    if (b == kCoarse - 1) out.coarse[b] = rest(inside);
    const double along = dot(centred_.data(), basis_.data() + b * dim_, dim_);
    inside += along * along;
    if (b < kCoarse - 1) out.coarse[b] = static_cast<float>(along);
    out.fine[b] = static_cast<float>(along);
  }
  (has_fine() ? out.fine[kFine - 1] : out.coarse[kCoarse - 1]) = rest(inside);
}

template class Projection<float>;
template class Projection<double>;

}  // namespace ramify
