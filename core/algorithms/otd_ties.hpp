// SPDX-License-Identifier: BSD-3-Clause
// otd_ties.hpp: OTD's two comparisons, exactly, for where rounding may have moved them.
//
// OTD compares means of similarities, from summaries that are rounded. Where two of them are
// equal, as they often are on whole numbers, their last digits would decide, and those depend on
// where the origin is and in which order points came. So a comparison that is closer than rounding
// can account for is made again from the points themselves, without any rounding:
//
//   n = sum of w_i    S = sum of w_i x_i    Q = sum of w_i |x_i|^2    P = S.x
//
//   squared distances   w(T) < w(T,x)     2 (n Q - |S|^2) > (n - 1) (Q - 2 P + n |x|^2)
//                       w(A,x) <= w(B,x)  n_B (Q_A - 2 P_A) >= n_A (Q_B - 2 P_B)
//   inner products      w(T) < w(T,x)     |S|^2 - Q < (n - 1) P
//                       w(A,x) <= w(B,x)  n_B P_A <= n_A P_B
//
// docs/math.md, "Ties of OTD", has the bound of what rounding can do. Of subtrees with more leaves
// than kMostLeaves summaries decide: to look at all of their points would take too long.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "math/linkage.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Products of four such numbers have no bit that is too small for a double, nor overflow.
inline constexpr double kLeastRow = 0x1p-200, kMostRow = 0x1p200;

/// What the two sides of a comparison are made of.
struct Closeness {
  double spread;         // squared distances of x to all means in it, and the variances
  std::uint32_t leaves;  // of the largest cluster
};

/// How near two rounded similarities may be to each other while their order is in doubt.
template <class Real>
class OtdDoubt {
 public:
  static constexpr std::uint32_t kMostLeaves = sizeof(Real) == sizeof(float) ? 512 : 4096;

  OtdDoubt(const Tree<Real>& tree, const Real* x, Metric metric)
      : columns_(static_cast<double>(tree.dim())),
        length_(dot(x, x, tree.dim())),
        of_products_(metric == Metric::kDot),
        can_tell_(length_ == 0 ||
                  (length_ >= kLeastRow * kLeastRow && length_ <= columns_ * kMostRow * kMostRow)) {
  }

  /// Is a difference small enough for rounding to have made it? No square root is taken.
  RAMIFY_INLINE bool is_close(double difference, const Closeness& c) const {
    if (c.leaves > kMostLeaves || c.spread == 0) return false;  // all are x: nothing was rounded
    if (!can_tell_) return false;
    constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
    constexpr double kMeanUnit = std::numeric_limits<Real>::epsilon() / 2 + 8 * kUnit;
    const double leaves = c.leaves, moved = kMeanUnit * leaves;
    const double far = 3 * (length_ + c.spread);  // from zero, squared
    const double apart = of_products_ ? far : 2 * c.spread;
    const double rest =
        16 * (moved * moved * far + (leaves + columns_ + 16) * kUnit * apart) + kTiny;
    const double over = std::fabs(difference) - rest;
    return !(over > 0 && over * over > 256 * moved * moved * far * apart);
  }

 private:
  static constexpr double kTiny = 1e-290;  // squares below have lost digits

  double columns_, length_;
  bool of_products_;
  bool can_tell_;  // false if numbers of x are certainly too large or too small to be exact
};

/// Is w(T) < w(T,x)? Nothing if numbers are too large, too small or too many to be sure.
template <class Real>
std::optional<bool> is_nearer_than_within(const Tree<Real>& tree, NodeId t, const Real* x,
                                          Metric metric);
/// Is w(A,x) <= w(B,x)?
template <class Real>
std::optional<bool> is_no_nearer(const Tree<Real>& tree, NodeId a, NodeId b, const Real* x,
                                 Metric metric);

}  // namespace ramify
