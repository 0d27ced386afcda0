// SPDX-License-Identifier: BSD-3-Clause
// batch.hpp: rows that are to be inserted, and what is refused of them.
//
// The caller's rows are only read once, and looked at after they have been copied:
// another thread may write to them at any time.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "math/dispatch.hpp"
#include "math/linkage.hpp"
#include "tree/ids.hpp"
#include "tree/row_store.hpp"

namespace ramify {

/// Rows to be inserted, in order; and what is to leave on the way.
template <class Real>
struct Batch {
  Batch(const Real* rows_, std::size_t count_) : rows(rows_), count(count_) {}

  const Real* rows;
  std::size_t count;
  const double* weights = nullptr;  // one for each row; none: 1
  bool as_stored = false;           // of length 1 already, under cosine
  std::span<const Arrival> leaving;
  std::span<const std::uint64_t> before;  // for each that leaves: the row it makes way for
};

inline constexpr const char* kChanged =
    "a row holds what no tree can take (NaN, infinity, a number beyond 1e145 in size, only zeros "
    "under cosine, or a negative number with certify): it has been changed since it was checked";
inline constexpr const char* kNoWeights = "this tree takes no weights";

inline void require_weight(double weight) {
  if (!(std::isfinite(weight) && weight > 0))
    throw std::invalid_argument("weights must be finite and positive");
}

/// Refuse what no tree can hold, and scale to unit length under cosine. What has been scaled is
/// left alone: twice is not the same as once, to the last bit.
template <class Real>
RAMIFY_INLINE void prepare(Real* row, std::size_t dim, Metric metric, bool as_stored = false) {
  bool fits = true;
  for (std::size_t j = 0; j < dim; ++j)
    fits &= std::fabs(static_cast<double>(row[j])) <= kLargest;  // no NaN is
  if (!fits) throw std::invalid_argument(kChanged);
  if (metric != Metric::kCosine) return;
  if (std::all_of(row, row + dim, [](Real value) { return value == Real{0}; }))
    throw std::invalid_argument(kChanged);
  if (!as_stored) scale_to_unit(row, dim, row);
}

}  // namespace ramify
