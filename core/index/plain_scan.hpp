// SPDX-License-Identifier: BSD-3-Clause
// plain_scan.hpp: a look at all rows, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>

#include "math/linkage.hpp"
#include "tree/row_store.hpp"

namespace ramify {

/// Offer all living rows below `end` to `best`, as far as they can matter to it.
template <class Rule, class Real, class Best>
void scan_rows(const RowStore<Real>& points, const Real* x, std::size_t end, Best& best) {
  constexpr std::size_t kStride = 256;
  double values[kStride];
  for (std::size_t start = 0; start < end; start += kStride) {
    const std::size_t count = std::min(kStride, end - start);
    const Real* rows = points.row(static_cast<RowSlot>(start));
    if constexpr (Rule::kProduct)
      kernels<Real>().dots(x, rows, count, points.dim(), values);
    else
      kernels<Real>().squared_distances(x, rows, count, points.dim(), values);
    for (std::size_t i = 0; i < count; ++i) {
      const double score = Rule::score(values[i], 0, 0);
      const auto row = static_cast<RowSlot>(start + i);
      if (score <= best.limit() && !points.is_hole(row)) best.offer(score, row);
    }
  }
}

}  // namespace ramify
