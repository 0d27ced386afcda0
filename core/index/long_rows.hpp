// SPDX-License-Identifier: BSD-3-Clause
// long_rows.hpp: neighbours of rows of many columns: equal ones by hash, others by their
// short vectors.
//
// Of rows that are equal only the first has short vectors (equal_rows.hpp).
#pragma once

#include <span>
#include <vector>

#include "index/equal_rows.hpp"
#include "index/neighbours.hpp"

namespace ramify {

template <class Real>
class LongRows final : public Neighbours<Real> {
 public:
  LongRows(std::size_t dim, SearchBy by) : dim_(dim), equal_(dim), short_(dim, by) {}
  std::size_t end() const override { return equal_.end(); }

  void add(const RowStore<Real>& points) override {
    const auto row = static_cast<RowSlot>(equal_.end());
    equal_.extend(row + std::size_t{1});
    if (!points.is_hole(row)) take_in(points, row);
    look_after(points);
  }
  void make_room_to_remove() override {
    equal_.make_room_to_remove();
    short_.make_removable();
  }
  void remove(const RowStore<Real>& points, RowSlot row) override {
    std::uint32_t place = 0;
    if (equal_.remove(points, row, place) && short_.fitted()) short_.remove(place);
  }
  void put_back(const RowStore<Real>& points, RowSlot row) override {
    take_in(points, row);
    look_after(points);
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    equal_.renumber(new_slot, living);
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    short_.make_room_to_search(scratch);
  }

  void nearest(const RowStore<Real>& points, const Real* x, std::size_t k, std::size_t end,
               SearchScratch& scratch, std::vector<Neighbour>& out) const override {
    Nearest best(k, out);
    const auto before = static_cast<RowSlot>(std::min(end, this->end()));
    if (find_equal(points, equal_.find(points, x), k, before, best)) return;
    make_room_to_search(scratch);
    search(points, x, before, scratch, best);
  }
  void nearest_to_each(const RowStore<Real>& points, const Real* rows, std::size_t count,
                       std::size_t k, std::size_t end, SearchScratch& scratch,
                       std::vector<std::vector<Neighbour>>& out) const override {
    if (!sweeps() || count < kQueries)
      return Neighbours<Real>::nearest_to_each(points, rows, count, k, end, scratch, out);
    out.resize(count);
    const auto before = static_cast<RowSlot>(std::min(end, this->end()));
    std::vector<Nearest> best;
    best.reserve(count);
    std::vector<Query> rest;  // that have not come before
    for (std::uint32_t q = 0; q < count; ++q) {
      const Real* x = rows + q * dim_;
      best.emplace_back(k, out[q]);
      if (!find_equal(points, equal_.find(points, x), k, before, best[q]))
        rest.push_back({x, before, q});
    }
    make_room_to_search(scratch);
    sweep(points, rest, best, scratch, {});
  }
  bool nearest_allowed(const RowStore<Real>& points, const Real* x, std::size_t end,
                       const std::uint8_t* ruled_out, SearchScratch& scratch,
                       Neighbour& out) const noexcept override {
    NearestAllowed best(ruled_out, out);
    search(points, x, static_cast<RowSlot>(end), scratch, best);
    return best.any();
  }

  /// Is the tree quicker for one row and for many?
  bool by_tree() const { return short_.fitted() && short_.one_by_tree() && short_.many_by_tree(); }

  // In the tree one row is as quick as many; a scan of many is a few times quicker.
  bool gains_by_loading(std::size_t count) const override {
    if (!short_.fitted()) return true;
    return short_.many_by_tree() ? count >= kFew && count >= equal_.places() / 3
                                 : count >= kQueries;
  }
  bool minds_the_future() const override { return true; }
  void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
            const Pulse& pulse) override {
    const std::size_t begin = equal_.end();
    equal_.extend(end);
    const bool anew = short_.wants_fit(equal_.places() + (end - begin));
    std::vector<std::uint32_t> fresh;
    for (auto row = static_cast<RowSlot>(begin); row < end; ++row) {
      if (row % kBlock == 0) pulse.check();
      if (!points.is_hole(row) && equal_.take_in(points, row))
        fresh.push_back(equal_.place_of(row));
    }
    if (anew && (short_.fitted() || short_.wants_fit(equal_.places())))
      fit(points, helpers, pulse);
    else if (short_.fitted())
      short_.add_many(fresh, row_of(points), kNoWeight, helpers, pulse);
    look_after(points, helpers, pulse);
  }
  bool has_places() const override { return short_.fitted() && !sweeps(); }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    if (!has_places()) return in_order_of_arrival(begin, end());
    BigVector<RowSlot> out;
    out.reserve(end() - begin);
    short_.for_each_by_place([&](std::uint32_t place) {
      equal_.for_each_from(place, begin, [&](RowSlot row) { out.push_back(row); });
    });
    return out;
  }
  void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries, std::size_t k,
                      RowSlot* out, const Pulse& pulse) const override {
    std::vector<std::vector<Neighbour>> found(queries.size());
    std::vector<Nearest> best;
    best.reserve(queries.size());
    std::vector<Query> rest;  // that have not come before
    for (std::uint32_t q = 0; q < queries.size(); ++q) {
      best.emplace_back(k, found[q]);
      const std::uint32_t place = equal_.place_of(queries[q]);
      if (!find_equal(points, equal_.first_at(place), k, queries[q], best[q]))
        rest.push_back({points.row(queries[q]), queries[q], q, place});
    }
    SearchScratch scratch;
    make_room_to_search(scratch);
    if (sweeps())
      sweep(points, rest, best, scratch, pulse);
    else
      for (const Query& query : rest) {
        pulse.check();
        search_by_tree(points, query, scratch, best[query.number]);
      }
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::size_t i = 0; i < found[q].size(); ++i) out[q * k + i] = found[q][i].row;
  }

 private:
  static constexpr std::size_t kFew = 256;

  // --- what is kept -----------------------------------------------------------------

  /// The row has an entry among the equal ones.
  void take_in(const RowStore<Real>& points, RowSlot row) {
    if (equal_.take_in(points, row) && short_.fitted())
      short_.add(equal_.place_of(row), points.row(row), 0);
  }

  auto has() const {
    return [this](std::uint32_t place) { return equal_.first_at(place) != EqualRows<Real>::kNone; };
  }
  auto row_of(const RowStore<Real>& points) const {
    return [this, &points](std::uint32_t place) { return points.row(equal_.first_at(place)); };
  }
  static constexpr auto kNoWeight = [](std::uint32_t) { return 0.0; };

  void fit(const RowStore<Real>& points, Helpers& helpers, const Pulse& pulse) {
    short_.fit(equal_.places(), has(), row_of(points), kNoWeight, helpers, pulse);
  }
  void look_after(const RowStore<Real>& points) {
    Alone alone;
    look_after(points, alone, {});
  }
  void look_after(const RowStore<Real>& points, Helpers& helpers, const Pulse& pulse) {
    if (short_.wants_fit(equal_.places())) fit(points, helpers, pulse);
    if (!short_.wants_trial(equal_.places())) return;
    short_.try_both(
        equal_.places(), 0, has(), row_of(points), kNoWeight,
        [&](std::uint32_t a, std::uint32_t b) {
          return squared_distance(points.row(equal_.first_at(a)), points.row(equal_.first_at(b)),
                                  dim_);
        },
        pulse);
  }

  // --- searches ---------------------------------------------------------------------

  /// One of several: its nearest among the rows below `end` are wanted.
  struct Query {
    const Real* row;
    RowSlot end;
    std::uint32_t number;
    std::uint32_t place = EqualRows<Real>::kNone;  // if it is among them, though perhaps later
  };

  /// Are many looked up by the scan?
  bool sweeps() const { return short_.fitted() && !short_.many_by_tree(); }
  bool find_equal(const RowStore<Real>& points, RowSlot first, std::size_t k, RowSlot end,
                  Nearest& best) const {
    return !equal_.tiny() && equal_.find_equal(points, first, k, end, best);
  }
  template <class Best>
  auto considering(const RowStore<Real>& points, const Real* x, RowSlot end, Best& best) const {
    return [this, &points, x, end, &best](std::uint32_t place) {
      const RowSlot row = equal_.first_at(place);
      if (row >= end) return;  // also if nobody is there
      const double distance = squared_distance(x, points.row(row), dim_);
      if (distance <= best.limit()) equal_.offer(best, distance, row, end);
    };
  }
  template <class Best>
  void search(const RowStore<Real>& points, const Real* x, RowSlot end, SearchScratch& scratch,
              Best& best) const {
    const auto consider = considering(points, x, end, best);
    if (short_.fitted())
      short_.search(
          x, 0, 0, equal_.places_before(end), consider, [&] { return best.limit(); }, kNoWeight,
          scratch);
    else
      for (std::uint32_t place = 0; place < equal_.places_before(end); ++place) consider(place);
  }
  void search_by_tree(const RowStore<Real>& points, const Query& query, SearchScratch& scratch,
                      Nearest& best) const {
    const auto consider = considering(points, query.row, query.end, best);
    if (short_.fitted())
      short_.search_by_tree(
          query.row, 0, equal_.places_before(query.end), consider, [&] { return best.limit(); },
          scratch);
    else
      for (std::uint32_t place = 0; place < equal_.places_before(query.end); ++place)
        consider(place);
  }
  void sweep(const RowStore<Real>& points, const std::vector<Query>& queries,
             std::vector<Nearest>& best, SearchScratch& scratch, const Pulse& pulse) const {
    if (queries.empty()) return;
    std::vector<std::size_t> ends;
    ends.reserve(queries.size());
    for (const Query& query : queries) ends.push_back(equal_.places_before(query.end));
    short_.search_many(
        queries.size(), [&](std::size_t i) { return queries[i].row; },
        [&](std::size_t i) { return queries[i].place; }, ends,
        [&](std::size_t i, std::size_t place) {
          const Query& query = queries[i];
          considering(points, query.row, query.end,
                      best[query.number])(static_cast<std::uint32_t>(place));
        },
        [&](std::size_t i) { return best[queries[i].number].limit(); },
        [&](std::size_t place) {
          const RowSlot row = equal_.first_at(static_cast<std::uint32_t>(place));
          if (row < points.slots()) points.prefetch(row);
        },
        scratch, pulse);
  }

  std::size_t dim_;
  EqualRows<Real> equal_;
  ShortVectors<Real, CentroidSquared> short_;  // by place
};

}  // namespace ramify
