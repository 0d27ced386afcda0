// SPDX-License-Identifier: BSD-3-Clause
// product_rows.hpp: the rows of many columns that have the largest inner products with one, by
// their codes (product_codes.hpp). An equal row need not be the nearest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/neighbours.hpp"
#include "index/plain_scan.hpp"
#include "index/product_codes.hpp"

namespace ramify {

template <class Real>
class ProductRows final : public Neighbours<Real> {
 public:
  explicit ProductRows(std::size_t dim) : dim_(dim), codes_(dim) {}
  std::size_t end() const override { return end_; }

  void add(const RowStore<Real>& points) override {
    const auto row = static_cast<RowSlot>(end_++);
    if (!points.is_hole(row)) take_in(points, row);
    look_after(points);
  }
  void make_room_to_remove() override {}
  void remove(const RowStore<Real>&, RowSlot row) override {
    --living_;
    if (codes_.fitted()) codes_.remove(row);
  }
  void put_back(const RowStore<Real>& points, RowSlot row) override {
    take_in(points, row);
    look_after(points);
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    const std::size_t left = end_ < new_slot.size() ? new_slot[end_] : living;
    if (codes_.fitted()) codes_.renumber(new_slot.first(end_), left);
    end_ = left;
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    codes_.make_room_to_search(scratch);
  }

  void nearest(const RowStore<Real>& points, const Real* x, std::size_t k, std::size_t end,
               SearchScratch& scratch, std::vector<Neighbour>& out) const override {
    Nearest best(k, out);
    make_room_to_search(scratch);
    search(points, x, std::min(end, end_), scratch, best);
  }
  bool nearest_allowed(const RowStore<Real>& points, const Real* x, std::size_t end,
                       const std::uint8_t* ruled_out, SearchScratch& scratch,
                       Neighbour& out) const noexcept override {
    NearestAllowed best(ruled_out, out);
    search(points, x, end, scratch, best);
    return best.any();
  }

  bool gains_by_loading(std::size_t count) const override {
    return !codes_.fitted() || count >= kQueries;
  }
  bool minds_the_future() const override { return true; }
  void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
            const Pulse& pulse) override {
    std::vector<RowSlot> fresh;
    for (; end_ < end; ++end_)
      if (!points.is_hole(static_cast<RowSlot>(end_))) fresh.push_back(static_cast<RowSlot>(end_));
    living_ += fresh.size();
    if (codes_.fitted() && !codes_.wants_fit(living_))
      codes_.add_many(fresh, [&](RowSlot row) { return points.row(row); }, helpers, pulse);
    look_after(points, helpers, pulse);
  }
  bool has_places() const override { return false; }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    return in_order_of_arrival(begin, end_);
  }
  void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries, std::size_t k,
                      RowSlot* out, const Pulse& pulse) const override {
    std::vector<std::vector<Neighbour>> found(queries.size());
    std::vector<Nearest> best;
    best.reserve(queries.size());
    for (std::size_t q = 0; q < queries.size(); ++q) best.emplace_back(k, found[q]);
    const auto row_of = [&](std::size_t q) { return points.row(queries[q]); };
    if (codes_.fitted())
      codes_.search_many(
          {queries.begin(), queries.end()}, row_of,
          [&](std::size_t q, std::size_t row) { look(points, row_of(q), row, best[q]); },
          [&](std::size_t q) { return best[q].limit(); },
          [&](std::size_t row) { points.prefetch(static_cast<RowSlot>(row)); }, pulse);
    else
      for (std::size_t q = 0; q < queries.size(); ++q) {
        pulse.check();
        scan_rows<MinusDot>(points, row_of(q), queries[q], best[q]);
      }
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::size_t i = 0; i < found[q].size(); ++i) out[q * k + i] = found[q][i].row;
  }

 private:
  void take_in(const RowStore<Real>& points, RowSlot row) {
    ++living_;
    if (codes_.fitted()) codes_.add(row, points.row(row), 0);
  }
  void look_after(const RowStore<Real>& points) {
    Alone alone;
    look_after(points, alone, {});
  }
  void look_after(const RowStore<Real>& points, Helpers& helpers, const Pulse& pulse) {
    if (codes_.fitted()) codes_.extend(end_);
    if (!codes_.wants_fit(living_)) return;
    codes_.fit(
        end_, [&](RowSlot row) { return !points.is_hole(row); },
        [&](RowSlot row) { return points.row(row); }, [](RowSlot) { return 0.0; }, helpers, pulse);
  }

  template <class Best>
  void look(const RowStore<Real>& points, const Real* x, std::size_t row, Best& best) const {
    const double score = MinusDot::score(dot(x, points.row(static_cast<RowSlot>(row)), dim_), 0, 0);
    if (score <= best.limit()) best.offer(score, static_cast<RowSlot>(row));
  }
  template <class Best>
  void search(const RowStore<Real>& points, const Real* x, std::size_t end, SearchScratch& scratch,
              Best& best) const {
    if (!codes_.fitted()) return scan_rows<MinusDot>(points, x, end, best);
    codes_.search(
        x, 0, 0, static_cast<RowSlot>(end), [&](RowSlot row) { look(points, x, row, best); },
        [&] { return best.limit(); }, nullptr, scratch);
  }

  std::size_t dim_;
  std::size_t end_ = 0, living_ = 0;
  ProductCodes<Real> codes_;
};

}  // namespace ramify
