// SPDX-License-Identifier: BSD-3-Clause
// long_rows.hpp: neighbours of rows of many columns, by their short vectors.
//
// Of rows that are equal only the first has short vectors (equal_rows.hpp). Under distances a row
// that has come before is found by hash; under inner products an equal row need not be the nearest.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "index/equal_rows.hpp"
#include "index/neighbours.hpp"

namespace ramify {

template <class Real, class Rule>
class LongRows final : public Neighbours<Real> {
 public:
  explicit LongRows(std::size_t dim, SearchBy by = SearchBy::kMeasured)
      : dim_(dim), equal_(dim), short_(dim, by) {}

  void add(const RowStore<Real>& points, RowSlot row) override {
    if (row == end_) extend(row + std::size_t{1});
    if (!points.is_hole(row) && equal_.take_in(points, row) && short_.fitted())
      short_.add(equal_.place_of(row), points.row(row), 0);
    Alone alone;
    look_after(points, alone, {});
  }
  void remove(const RowStore<Real>& points, RowSlot row) override {
    equal_.make_room_to_remove();
    short_.make_removable();
    std::uint32_t place = 0;
    if (equal_.remove(points, row, place) && short_.fitted()) short_.remove(place);
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    equal_.renumber(new_slot, living);
    end_ = equal_.end();
  }
  void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
            const Pulse& pulse) override {
    const auto begin = static_cast<RowSlot>(end_);
    extend(end);
    const bool anew = short_.wants_fit(equal_.places() + (end - begin));
    std::vector<std::uint32_t> fresh;
    for (RowSlot row = begin; row < end; ++row) {
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
  // In the tree one row is as quick as many; a scan of many is a few times quicker.
  bool gains_by_loading(std::size_t count) const override {
    if (!short_.fitted()) return true;
    return short_.many_by_tree() ? count >= kFew && count >= equal_.places() / 3
                                 : count >= kQueries;
  }

  void nearest(const RowStore<Real>& points, std::span<const Query<Real>> queries, std::size_t k,
               Neighbour* out, SearchScratch& scratch, const Pulse& pulse) const override {
    make_room_to_search(scratch);
    if (sweeps() && queries.size() >= kQueries)
      return sweep(points, queries, k, out, scratch, pulse);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      pulse.check();
      Nearest best(k, out + q * k, queries[q].ruled_out);
      if (!find_equal(points, queries[q], k, best)) search(points, queries[q], scratch, best);
    }
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    short_.make_room_to_search(scratch);
  }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    BigVector<RowSlot> out;
    if (!short_.fitted() || sweeps()) return out;
    out.reserve(end_ - begin);
    short_.for_each_by_place([&](std::uint32_t place) {
      equal_.for_each_from(place, begin, [&](RowSlot row) { out.push_back(row); });
    });
    return out;
  }

  /// Is the tree quicker for one row and for many?
  bool by_tree() const { return short_.fitted() && short_.one_by_tree() && short_.many_by_tree(); }

 private:
  using Neighbours<Real>::end_;
  static constexpr std::size_t kFew = 256;

  // --- what is kept -----------------------------------------------------------------

  void extend(std::size_t end) {
    equal_.extend(end);
    end_ = end;
  }
  auto has() {
    return [this](std::uint32_t place) { return equal_.first_at(place) != EqualRows<Real>::kNone; };
  }
  auto row_of(const RowStore<Real>& points) const {
    return [this, &points](std::uint32_t place) { return points.row(equal_.first_at(place)); };
  }
  static constexpr auto kNoWeight = [](std::uint32_t) { return 0.0; };

  void fit(const RowStore<Real>& points, Helpers& helpers, const Pulse& pulse) {
    short_.fit(equal_.places(), has(), row_of(points), kNoWeight, helpers, pulse);
  }
  void look_after(const RowStore<Real>& points, Helpers& helpers, const Pulse& pulse) {
    if (short_.wants_fit(equal_.places())) fit(points, helpers, pulse);
    if (!short_.wants_trial(equal_.places())) return;
    short_.try_both(
        equal_.places(), 0, has(), row_of(points), kNoWeight,
        [&](std::uint32_t a, std::uint32_t b) {
          return score(points.row(equal_.first_at(a)), points.row(equal_.first_at(b)));
        },
        pulse);
  }

  // --- searches ---------------------------------------------------------------------

  double score(const Real* x, const Real* y) const {
    return Rule::score(pair_value<Rule>(x, y, dim_), 0, 0);
  }
  /// Are many looked up by the scan?
  bool sweeps() const { return short_.fitted() && !short_.many_by_tree(); }
  /// The place of a row that is in the index, or kNone.
  std::uint32_t place_of(const Query<Real>& query) const {
    return query.self == Query<Real>::kOutside ? EqualRows<Real>::kNone
                                               : equal_.place_of(query.self);
  }
  RowSlot end_of(const Query<Real>& query) const {
    return std::min(query.end, static_cast<RowSlot>(end_));
  }
  /// Are the k nearest equal to it?
  bool find_equal(const RowStore<Real>& points, const Query<Real>& query, std::size_t k,
                  Nearest& best) const {
    if (Rule::kProduct || query.ruled_out != nullptr || equal_.tiny()) return false;
    const std::uint32_t place = place_of(query);
    const RowSlot first =
        place == EqualRows<Real>::kNone ? equal_.find(points, query.row) : equal_.first_at(place);
    return equal_.find_equal(points, first, k, end_of(query), best);
  }
  auto considering(const RowStore<Real>& points, const Query<Real>& query, Nearest& best) const {
    return [this, &points, x = query.row, end = end_of(query), &best](std::uint32_t place) {
      const RowSlot row = equal_.first_at(place);
      if (row >= end) return;  // also if the place is empty
      const double distance = score(x, points.row(row));
      if (distance <= best.limit()) equal_.offer(best, distance, row, end);
    };
  }
  void search(const RowStore<Real>& points, const Query<Real>& query, SearchScratch& scratch,
              Nearest& best) const {
    const auto consider = considering(points, query, best);
    const std::uint32_t end = equal_.places_before(end_of(query));
    if (short_.fitted())
      short_.search(
          query.row, 0, 0, end, consider, [&] { return best.limit(); }, kNoWeight, scratch);
    else
      for (std::uint32_t place = 0; place < end; ++place) consider(place);
  }
  void sweep(const RowStore<Real>& points, std::span<const Query<Real>> queries, std::size_t k,
             Neighbour* out, SearchScratch& scratch, const Pulse& pulse) const {
    struct Search {
      const Query<Real>* query;
      Nearest best;
    };
    std::vector<Search> rest;  // those that are not settled by equal rows
    std::vector<std::size_t> ends;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      Nearest best(k, out + q * k, queries[q].ruled_out);
      if (find_equal(points, queries[q], k, best)) continue;
      rest.push_back({&queries[q], best});
      ends.push_back(equal_.places_before(end_of(queries[q])));
    }
    if (rest.empty()) return;
    short_.search_many(
        rest.size(), [&](std::size_t i) { return rest[i].query->row; },
        [&](std::size_t i) { return place_of(*rest[i].query); }, ends,
        [&](std::size_t i, std::size_t place) {
          considering(points, *rest[i].query, rest[i].best)(static_cast<std::uint32_t>(place));
        },
        [&](std::size_t i) { return rest[i].best.limit(); },
        [&](std::size_t place) {
          const RowSlot row = equal_.first_at(static_cast<std::uint32_t>(place));
          if (row < points.slots()) points.prefetch(row);
        },
        scratch, pulse);
  }

  std::size_t dim_;
  EqualRows<Real> equal_;
  ShortVectors<Real, Rule> short_;  // by place
};

}  // namespace ramify
