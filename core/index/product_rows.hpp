// SPDX-License-Identifier: BSD-3-Clause
// product_rows.hpp: the rows of many columns that have the largest inner products with one.
//
// Byte codes of all rows (projection.hpp) say what a product is at most, and only rows that may
// beat the best so far are looked at. There are no boxes, and an equal row need not be
// the nearest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/neighbours.hpp"
#include "index/plain_scan.hpp"

namespace ramify {

template <class Real>
class ProductRows final : public Neighbours<Real> {
 public:
  explicit ProductRows(std::size_t dim)
      : dim_(dim), projection_(dim), next_fit_(dim < 64 ? 256 : 1024) {}
  std::size_t end() const override { return end_; }

  void add(const RowStore<Real>& points) override {
    const auto row = static_cast<RowSlot>(end_++);
    scan_.extend(end_);
    if (!points.is_hole(row)) take_in(points, row);
    look_after(points, {});
  }
  void make_room_to_remove() override {}
  void remove(const RowStore<Real>&, RowSlot row) override {
    --living_;
    if (!fitted()) return;
    scan_.remove(row);
    room_.wipe();  // perhaps of this very row
    shortened_.wipe();
  }
  void put_back(const RowStore<Real>& points, RowSlot row) override {
    take_in(points, row);
    look_after(points, {});
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    const std::size_t left = end_ < new_slot.size() ? new_slot[end_] : living;
    if (fitted()) {
      for (std::size_t row = 0; row < end_; ++row)  // who is gone has the slot of the next
        if (row + 1 == new_slot.size() ? new_slot[row] < living : new_slot[row] < new_slot[row + 1])
          scan_.move(row, new_slot[row]);
      scan_.shrink(left);
    }
    end_ = left;
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    if (!fitted()) return;
    projection_.make_room(scratch.room);
    scratch.query.codes.reserve(projection_.broad());
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

  bool gains_by_loading(std::size_t count) const override { return !fitted() || count >= kQueries; }
  bool minds_the_future() const override { return true; }
  void load(const RowStore<Real>& points, std::size_t end, const Pulse& pulse) override {
    const std::size_t begin = end_;
    end_ = end;
    scan_.extend(end_);
    std::size_t coming = 0;
    for (auto row = static_cast<RowSlot>(begin); row < end; ++row)
      coming += points.is_hole(row) ? 0 : 1;
    if (wants_fit(living_ + coming)) {
      living_ += coming;
      return fit(points, pulse);
    }
    for (auto row = static_cast<RowSlot>(begin); row < end; ++row) {
      if (row % kBlock == 0) pulse.check();
      if (!points.is_hole(row)) take_in(points, row);
    }
    look_after(points, pulse);
  }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    return in_order_of_arrival(begin, end_);
  }
  void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries, std::size_t k,
                      RowSlot* out, const Pulse& pulse) const override {
    std::vector<std::vector<Neighbour>> found(queries.size());
    std::vector<Nearest> best;
    best.reserve(queries.size());
    for (std::size_t q = 0; q < queries.size(); ++q) best.emplace_back(k, found[q]);
    if (fitted())
      sweep(points, queries, best, pulse);
    else
      for (std::size_t q = 0; q < queries.size(); ++q) {
        pulse.check();
        scan_rows<MinusDot>(points, points.row(queries[q]), queries[q], best[q]);
      }
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::size_t i = 0; i < found[q].size(); ++i) out[q * k + i] = found[q][i].row;
  }

 private:
  static constexpr std::size_t kSample = 1024;

  bool fitted() const { return projection_.fitted(); }

  // --- what is kept -----------------------------------------------------------------

  void take_in(const RowStore<Real>& points, RowSlot row) {
    ++living_;
    if (fitted()) encode(points, row);
  }
  void encode(const RowStore<Real>& points, RowSlot row) {
    projection_.apply_broad(points.row(row), room_, shortened_);
    scan_.set(row, shortened_);
  }

  /// Is it time to fit, with so many rows?
  bool wants_fit(std::size_t rows) const {
    return rows >= next_fit_ || (fitted() && rows >= 2 * fitted_to_ && scan_.loose() > rows / 16);
  }
  void look_after(const RowStore<Real>& points, const Pulse& pulse) {
    if (wants_fit(living_)) fit(points, pulse);
  }
  void fit(const RowStore<Real>& points, const Pulse& pulse) {
    std::vector<RowSlot> there;
    there.reserve(living_);
    for (RowSlot row = 0; row < end_; ++row)
      if (!points.is_hole(row)) there.push_back(row);
    const std::size_t sample = std::min(there.size(), kSample);
    projection_.fit_whole(
        [&](std::size_t i) { return points.row(there[i * there.size() / sample]); }, sample);
    projection_.make_room(room_);
    scan_.begin_products(projection_);
    scan_.extend(end_);
    fitted_to_ = there.size();
    next_fit_ = 8 * fitted_to_;
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (i % kBlock == 0) pulse.check();
      encode(points, there[i]);
    }
  }

  // --- searches ---------------------------------------------------------------------

  template <class Best>
  void look(const RowStore<Real>& points, const Real* x, std::size_t row, Best& best) const {
    const double score = MinusDot::score(dot(x, points.row(static_cast<RowSlot>(row)), dim_), 0, 0);
    if (score <= best.limit()) best.offer(score, static_cast<RowSlot>(row));
  }
  void turn(const Real* x, ProjectionRoom& room, CodeQuery& query) const {
    query.multiplier = projection_.turn(x, room, query.codes);
    query.sum_up(query.multiplier.doubt);
  }
  template <class Best>
  void search(const RowStore<Real>& points, const Real* x, std::size_t end, SearchScratch& scratch,
              Best& best) const {
    if (!fitted()) return scan_rows<MinusDot>(points, x, end, best);
    turn(x, scratch.room, scratch.query);
    scan_.search(
        scratch.query, 0, std::min(end, scan_.size()),
        [&](std::size_t row, double) { look(points, x, row, best); }, [&] { return best.limit(); });
  }
  void sweep(const RowStore<Real>& points, std::span<const RowSlot> queries,
             std::vector<Nearest>& best, const Pulse& pulse) const {
    if (queries.empty()) return;
    ProjectionRoom room;
    projection_.make_room(room);
    std::vector<CodeQuery> turned(queries.size());
    const std::vector<std::size_t> ends(queries.begin(), queries.end());
    for (std::size_t q = 0; q < queries.size(); ++q) turn(points.row(queries[q]), room, turned[q]);
    scan_.search_many(
        turned, ends,
        [&](std::size_t q, std::size_t row) { look(points, points.row(queries[q]), row, best[q]); },
        [&](std::size_t q) { return best[q].limit(); }, pulse);
  }

  std::size_t dim_;
  std::size_t end_ = 0, living_ = 0;
  Projection<Real> projection_;
  CodeScan scan_;
  ProjectionRoom room_;
  ShortRow shortened_;
  std::size_t next_fit_, fitted_to_ = 0;
};

}  // namespace ramify
