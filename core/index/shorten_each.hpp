// SPDX-License-Identifier: BSD-3-Clause
// shorten_each.hpp: short vectors of many items, which all helpers make together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "helpers.hpp"
#include "math/projection.hpp"

namespace ramify {

enum class Shortened { kWhole, kBroad };  // with the leading vector, or without

/// use(i, short vectors) for one of the items after the other. Nothing may have been begun by the
/// helpers.
template <Shortened kWhat, class Real, class RowOf, class Use>
void shorten_each(const Projection<Real>& projection, std::span<const std::uint32_t> items,
                  RowOf&& row, Helpers& helpers, const Pulse& pulse, Use&& use) {
  std::vector<ShortRow> shortened(std::min(items.size(), kPrepared));
  prepare_and_use(
      items.size(), helpers, pulse,
      [&](std::size_t first, std::size_t last) {
        const auto row_of = [&](std::size_t i) { return row(items[first + i]); };
        if constexpr (kWhat == Shortened::kWhole)
          projection.apply_to_each(row_of, last - first, &shortened[first % kPrepared]);
        else
          projection.apply_broad_to_each(row_of, last - first, &shortened[first % kPrepared]);
      },
      [&](std::size_t i) { use(i, shortened[i % kPrepared]); });
}

}  // namespace ramify
