// SPDX-License-Identifier: BSD-3-Clause
// projection_fit.cpp: which directions a projection is to have, by a sample of rows.
#include <algorithm>
#include <array>
#include <cmath>

#include "math/kernels.hpp"
#include "math/projection.hpp"
#include "math/scales.hpp"
#include "math/search_costs.hpp"

namespace ramify {
namespace {

using Basis = std::vector<double>;  // orthonormal rows of dim

constexpr std::size_t kFew = 32;     // directions that are tried first
constexpr std::size_t kAsked = 24;   // rows of a sample whose neighbours are looked for
constexpr double kShare = 0.01;      // a leading direction's variance, of the largest
constexpr double kRounding = 0.011;  // of a row's usual length: what bytes leave out
constexpr double kGood = 0.8;        // cost of a pair that needs no more directions

/// Make the rows of a matrix orthonormal, one after the other. A row that the
/// earlier ones already span becomes zero, which is as good as leaving it out.
void orthonormalise(Basis& rows, std::size_t dim, int passes = 2) {
  for (std::size_t i = 0; i < rows.size() / dim; ++i) {
    double* row = rows.data() + i * dim;
    const double before = dot(row, row, dim);
    for (int pass = 0; pass < passes; ++pass)  // twice is enough, says Kahan
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

/// kLanes rows side by side, as ProductKernels::project wants them.
std::vector<float> side_by_side(const Basis& rows, std::size_t dim) {
  const std::size_t count = rows.size() / dim;
  std::vector<float> out(whole(count, kLanes) * dim);
  for (std::size_t b = 0; b < count; ++b)
    for (std::size_t j = 0; j < dim; ++j)
      out[(b / kLanes * dim + j) * kLanes + b % kLanes] = static_cast<float>(rows[b * dim + j]);
  return out;
}

/// Numbers that look random, and are always the same: about normal, of variance 1/3.
class Numbers {
 public:
  double operator()() {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += uniform();
    return sum - 2;
  }

 private:
  double uniform() {  // Marsaglia's xorshift
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

/// Turn the rows of a symmetric matrix, and the basis with them, until it is nearly
/// diagonal (Jacobi's rotations).
void diagonalise(std::vector<double>& matrix, Basis& basis, std::size_t m, std::size_t dim) {
  const auto at = [&](std::size_t i, std::size_t k) -> double& { return matrix[i * m + k]; };
  const auto turn = [](double& a, double& b, double c, double s) {
    const double old = a;
    a = c * old - s * b;
    b = s * old + c * b;
  };
  for (int sweep = 0; sweep < 6; ++sweep)
    for (std::size_t i = 0; i + 1 < m; ++i)
      for (std::size_t k = i + 1; k < m; ++k) {
        if (std::fabs(at(i, k)) <= 1e-9 * std::sqrt(std::fabs(at(i, i) * at(k, k)))) continue;
        const double ratio = (at(k, k) - at(i, i)) / (2 * at(i, k));
        const double t =
            std::copysign(1 / (std::fabs(ratio) + std::sqrt(ratio * ratio + 1)), ratio);
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t j = 0; j < m; ++j) turn(at(i, j), at(k, j), c, s);
        for (std::size_t j = 0; j < m; ++j) turn(at(j, i), at(j, k), c, s);
        for (std::size_t j = 0; j < dim; ++j) turn(basis[i * dim + j], basis[k * dim + j], c, s);
      }
}

}  // namespace

/// Rows to fit to, centred and scaled.
template <class Real>
struct Projection<Real>::Sample {
  DirectionKernels kernels;
  std::size_t count, dim;
  std::vector<float> rows;
  std::vector<double> radii;  // |x - c|^2 of each

  const float* row(std::size_t i) const { return rows.data() + i * dim; }

  /// Entries of all rows along each direction, in whole kLanes.
  std::vector<float> along(const Basis& basis) const {
    const std::size_t width = whole(basis.size() / dim, kLanes);
    const std::vector<float> directions = side_by_side(basis, dim);
    std::vector<float> out(count * width);
    kernels.project(rows.data(), count, directions.data(), dim, width, out.data(), width);
    return out;
  }

  /// `wanted` directions in which the rows differ much: start from rows spread over the
  /// sample; each round multiplies by the covariance, which turns the span towards the
  /// leading directions.
  Basis directions(std::size_t wanted, const Pulse& pulse) const {
    Basis basis(wanted * dim);
    for (std::size_t i = 0; i < wanted; ++i)
      std::copy_n(row(i * count / wanted), dim,
                  basis.begin() + static_cast<std::ptrdiff_t>(i * dim));
    Numbers numbers;  // a sample of few different rows would span too little
    for (double& entry : basis) entry += 1e-3 * numbers();
    orthonormalise(basis, dim, 1);
    const std::size_t width = whole(wanted, kLanes);
    std::vector<float> next(width * dim), along(width);
    for (int round = 0; round < 3; ++round) {
      const std::vector<float> now = side_by_side(basis, dim);
      std::fill(next.begin(), next.end(), 0.0F);
      for (std::size_t i = 0; i < count; ++i) {
        if (i % kBlock == 0) pulse.check();
        kernels.project(row(i), 1, now.data(), dim, width, along.data(), width);
        kernels.add_products(row(i), along.data(), dim, width, next.data());
      }
      for (std::size_t b = 0; b < wanted; ++b)
        for (std::size_t j = 0; j < dim; ++j)
          basis[b * dim + j] =
              static_cast<double>(next[(b / kLanes * dim + j) * kLanes + b % kLanes]);
      orthonormalise(basis, dim, round == 2 ? 2 : 1);
    }
    sort_leading(basis);
    return basis;
  }

 private:
  /// Turn the first few so that the rows differ most along the first, and so on.
  void sort_leading(Basis& basis) const {
    const std::size_t m = std::min(basis.size() / dim, kFew);
    Basis leading(basis.begin(), basis.begin() + static_cast<std::ptrdiff_t>(m * dim));
    const std::vector<float> entries = along(leading);
    const std::size_t width = whole(m, kLanes);
    std::vector<double> matrix(m * m);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k < m; ++k)
          matrix[i * m + k] += static_cast<double>(entries[r * width + i]) *
                               static_cast<double>(entries[r * width + k]);
    diagonalise(matrix, leading, m, dim);
    std::vector<std::size_t> order(m);
    for (std::size_t i = 0; i < m; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-matrix[a * m + a], a) < std::pair(-matrix[b * m + b], b);
    });
    for (std::size_t i = 0; i < m; ++i)
      std::copy_n(leading.begin() + static_cast<std::ptrdiff_t>(order[i] * dim), dim,
                  basis.begin() + static_cast<std::ptrdiff_t>(i * dim));
  }
};

template <class Real>
void Projection<Real>::fit(const std::function<const Real*(std::size_t)>& row, std::size_t count,
                           const Pulse& pulse) {
  const Sample sample = draw(row, count);
  Basis basis = sample.directions(std::min(dim_, kFew), pulse);
  choose_leading(sample, basis);
  Width width = choose_width(sample, basis);
  if (width.cost >= kGood && dim_ > kFew) {
    basis = sample.directions(std::min(dim_, kMostBroad - 1), pulse);
    width = choose_width(sample, basis);
  }
  // Whole rows have no basis to be stored, and their sums no one order.
  if (dim_ > kFew && width.whole_cost <= width.cost && rounding_ == Rounding::kAny)
    set_whole();
  else
    set_broad(basis, width.directions);
  set_step(sample);
}

template <class Real>
void Projection<Real>::fit_whole(const std::function<const Real*(std::size_t)>& row,
                                 std::size_t count) {
  const Sample sample = draw(row, count);
  leading_ = 0;
  set_whole();
  set_step(sample);
}

/// Centre and scale are those of the sample.
template <class Real>
auto Projection<Real>::draw(const std::function<const Real*(std::size_t)>& row, std::size_t count)
    -> Sample {
  centre_.assign(dim_, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dim_; ++d)
      centre_[d] += static_cast<double>(row(i)[d]) / static_cast<double>(count);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dim_; ++d)
      largest = std::max(largest, std::fabs(static_cast<double>(row(i)[d]) - centre_[d]));
  scale_ = scale_to_one(largest);
  Sample sample{directions(), count, dim_, std::vector<float>(count * dim_),
                std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < dim_; ++d) {
      const double entry = (static_cast<double>(row(i)[d]) - centre_[d]) * scale_;
      sample.rows[i * dim_ + d] = static_cast<float>(entry);
      sample.radii[i] += entry * entry;
    }
  }
  return sample;
}

template <class Real>
void Projection<Real>::choose_leading(const Sample& sample, const Basis& basis) {
  const std::vector<float> entries = sample.along(basis);
  const std::size_t width = whole(basis.size() / dim_, kLanes);
  const std::size_t most = std::min(kMostLeading - 1, basis.size() / dim_);
  std::array<double, kMostLeading> variance{};
  for (std::size_t i = 0; i < sample.count; ++i)
    for (std::size_t b = 0; b < most; ++b) {
      const auto entry = static_cast<double>(entries[i * width + b]);
      variance[b] += entry * entry;
    }
  std::size_t directions = std::min<std::size_t>(most, 2);
  while (directions < most && variance[directions] >= kShare * variance[0]) ++directions;
  leading_ = directions + 1;
  leading_basis_.assign(basis.begin(),
                        basis.begin() + static_cast<std::ptrdiff_t>(directions * dim_));
}

/// How many directions the broad vector may have, and what a pair of rows costs then; and
/// what it costs if all are there.
template <class Real>
struct Projection<Real>::Width {
  std::size_t directions;
  double cost, whole_cost;
};

/// How many of the directions are to be in the broad vector: few cost less, many tell more
/// rows apart.
template <class Real>
auto Projection<Real>::choose_width(const Sample& sample, const Basis& basis) const -> Width {
  constexpr std::array<std::size_t, 8> kWidths{16, 24, 32, 64, 96, 128, 160, 192};
  const std::size_t all = basis.size() / dim_, width = whole(all, kLanes);
  const std::vector<float> entries = sample.along(basis);
  double usual = 0;
  for (const double radius : sample.radii) usual += radius / static_cast<double>(sample.count);
  const double rounding = 2 * kRounding * std::sqrt(usual);
  std::array<double, kWidths.size()> left{};
  std::array<double, kWidths.size()> rest_a{}, rest_i{};
  const auto rests = [&](std::size_t row, std::array<double, kWidths.size()>& out) {
    double inside = 0;
    std::size_t b = 0;
    for (std::size_t w = 0; w < kWidths.size(); ++w) {
      for (; b + 1 < kWidths[w] && b < all; ++b) {
        const auto entry = static_cast<double>(entries[row * width + b]);
        inside += entry * entry;
      }
      out[w] = std::sqrt(std::max(0.0, sample.radii[row] - inside));
    }
  };
  std::size_t asked = 0;
  double left_by_whole = 0;
  std::vector<double> distances(sample.count);
  for (std::size_t a = 0; a < sample.count; a += (sample.count + kAsked - 1) / kAsked, ++asked) {
    rests(a, rest_a);
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < sample.count; ++i) {
      distances[i] = squared_distance(sample.row(a), sample.row(i), dim_);
      if (i != a) nearest = std::min(nearest, distances[i]);
    }
    const double limit = std::sqrt(nearest) + rounding;
    for (std::size_t i = 0; i < sample.count; ++i) {
      if (i == a) continue;
      left_by_whole += distances[i] <= limit * limit;
      rests(i, rest_i);
      double gap = 0;
      std::size_t b = 0;
      for (std::size_t w = 0; w < kWidths.size(); ++w) {
        for (; b + 1 < kWidths[w] && b < all; ++b) {
          const double side = static_cast<double>(entries[a * width + b]) -
                              static_cast<double>(entries[i * width + b]);
          gap += side * side;
        }
        const double side = rest_a[w] - rest_i[w];
        left[w] += gap + side * side <= limit * limit;
      }
    }
  }
  const auto cost_of = [&](std::size_t bytes, double pairs_left) {
    const double share = pairs_left / static_cast<double>(asked * sample.count);
    return cost_of_sweeping(bytes) + share * cost_of_a_look(dim_);
  };
  Width chosen{all, std::numeric_limits<double>::infinity(), cost_of(dim_, left_by_whole)};
  for (std::size_t w = 0; w < kWidths.size(); ++w) {
    const double cost = cost_of(kWidths[w], left[w]);
    if (cost >= chosen.cost) continue;
    chosen.cost = cost;
    chosen.directions = std::min(kWidths[w] - 1, all);
    if (kWidths[w] > all) break;
  }
  return chosen;
}

/// The first directions of a basis, turned at random among themselves.
template <class Real>
void Projection<Real>::set_broad(const Basis& basis, std::size_t directions) {
  // If all are there, nothing is left out.
  if (directions + 1 >= dim_ && basis.size() / dim_ == dim_) directions = dim_;
  directions_ = directions;
  has_rest_ = directions < dim_;
  broad_ = whole(directions + (has_rest_ ? 1 : 0), kGroup);
  Basis turn(directions * directions);
  Numbers numbers;
  for (double& entry : turn) entry = numbers();
  orthonormalise(turn, directions);
  Basis turned(directions * dim_);
  for (std::size_t i = 0; i < directions; ++i)
    for (std::size_t k = 0; k < directions; ++k) {
      const double share = turn[i * directions + k];
      for (std::size_t j = 0; j < dim_; ++j) turned[i * dim_ + j] += share * basis[k * dim_ + j];
    }
  broad_basis_ = side_by_side(turned, dim_);
}

/// The broad vector is the row itself, turned.
template <class Real>
void Projection<Real>::set_whole() {
  directions_ = dim_;
  has_rest_ = false;
  broad_ = whole(dim_, kGroup);
  broad_basis_.clear();
  rotation_ = Rotation(dim_);
}

/// The step of a byte, with room for rows a little longer than the sample's.
template <class Real>
void Projection<Real>::set_step(const Sample& sample) {
  std::vector<float> all(sample.count * stride());
  project(sample.rows.data(), sample.count, all.data());
  const auto entries = [&](std::size_t i) { return all.data() + i * stride(); };
  rest_shift_ = 0;
  if (has_rest_) {
    double sum = 0;
    for (std::size_t i = 0; i < sample.count; ++i)
      sum += static_cast<double>(rest(entries(i), sample.radii[i]));
    rest_shift_ = sum / static_cast<double>(sample.count);
  }
  double most = 0;
  for (std::size_t i = 0; i < sample.count; ++i) {
    complete(entries(i), sample.radii[i]);
    for (std::size_t b = 0; b < broad_; ++b)
      most = std::max(most, std::fabs(static_cast<double>(entries(i)[b])));
  }
  step_ = most > 0 ? 1.1 * most / kMostByte : 1;
  usual_doubt_ = 0;
  ShortRow encoded;
  for (std::size_t i = 0; i < sample.count; ++i) {
    encode(entries(i), sample.radii[i], encoded);
    usual_doubt_ = std::max(usual_doubt_, encoded.broad_doubt);
  }
}

#define RAMIFY_OF(Real)                                                                            \
  template void Projection<Real>::fit(const std::function<const Real*(std::size_t)>&, std::size_t, \
                                      const Pulse&);                                               \
  template void Projection<Real>::fit_whole(const std::function<const Real*(std::size_t)>&,        \
                                            std::size_t)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
