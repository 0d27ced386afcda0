// SPDX-License-Identifier: BSD-3-Clause
// scanned_rows.hpp: neighbours by a look at all rows: what every other index is compared with.
#pragma once

#include <algorithm>
#include <span>

#include "index/neighbours.hpp"

namespace ramify::parts {

template <class Real, class Rule>
class ScannedRows final : public Neighbours<Real> {
 public:
  void add(const RowStore<Real>&, RowSlot row) override {
    end_ = std::max<std::size_t>(end_, row + std::size_t{1});
  }
  void remove(const RowStore<Real>&, RowSlot) override {}
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    end_ = end_ < new_slot.size() ? new_slot[end_] : living;
  }
  void load(const RowStore<Real>&, std::size_t end, Helpers&, const Pulse&) override { end_ = end; }
  bool gains_by_loading(std::size_t) const override { return true; }
  void nearest(const RowStore<Real>& points, std::span<const Query<Real>> queries, std::size_t k,
               Neighbour* out, SearchScratch&, const Pulse& pulse) const override {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      pulse.check();
      const Query<Real>& query = queries[q];
      Nearest best(k, out + q * k, query.ruled_out);
      for (RowSlot row = 0; row < std::min<std::size_t>(query.end, end_); ++row)
        if (!points.is_hole(row))
          best.offer(Rule::score(pair_value<Rule>(query.row, points.row(row), points.dim()), 0, 0),
                     row);
    }
  }
  void make_room_to_search(SearchScratch&) const override {}

 private:
  using Neighbours<Real>::end_;
};

}  // namespace ramify::parts
