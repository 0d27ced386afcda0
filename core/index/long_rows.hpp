// SPDX-License-Identifier: BSD-3-Clause
// long_rows.hpp: neighbours of rows of many columns: equal ones by hash, others by their
// short vectors.
//
// Of rows that are equal only the first has short vectors; the others follow it in a
// list, in order of arrival. A row that has come before is found without a search: it
// is at distance zero, and nobody who is as near came earlier.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "index/nearest.hpp"
#include "index/neighbours.hpp"
#include "index/row_hash.hpp"

namespace ramify {

template <class Real>
class LongRows final : public Neighbours<Real> {
 public:
  LongRows(std::size_t dim, SearchBy by) : dim_(dim), short_(dim, by) {}
  std::size_t end() const override { return place_.size(); }

  void add(const RowStore<Real>& points) override {
    const auto row = static_cast<RowSlot>(place_.size());
    place_.push_back(kNone);
    if (linked_) make_links(place_.size());
    if (!points.is_hole(row)) take_in(points, row);
    look_after(points, {});
  }
  void make_room_to_remove() override {
    make_room(free_, 1);
    short_.make_removable();
  }
  void remove(const RowStore<Real>& points, RowSlot row) override {
    const std::uint32_t place = place_[row];
    place_[row] = kNone;
    in_order_ = false;
    if (!linked_ || (next_[row] == kNone && previous_[row] == kNone)) {
      first_.remove(points, row);
      rows_[place] = kNone;
      free_.push_back(place);
      if (short_.fitted()) short_.remove(place);
      return;
    }
    const RowSlot before = previous_[row], after = next_[row];
    if (before == kNone) {
      rows_[place] = after;
      first_.replace(points, row, after);
    } else {
      next_[before] = after;
    }
    if (after == kNone)
      last_[place] = before;
    else
      previous_[after] = before;
    next_[row] = previous_[row] = kNone;
  }
  void put_back(const RowStore<Real>& points, RowSlot row) override {
    take_in(points, row);
    look_after(points, {});
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    const auto moved = [&](RowSlot row) { return row == kNone ? kNone : new_slot[row]; };
    const std::size_t end = place_.size();
    for (RowSlot& row : rows_) row = moved(row);
    for (RowSlot& row : last_) row = moved(row);
    for (std::size_t row = 0; row < end; ++row) {
      if (place_[row] == kNone) continue;  // a hole
      place_[new_slot[row]] = place_[row];
      if (!linked_) continue;
      next_[new_slot[row]] = moved(next_[row]);
      previous_[new_slot[row]] = moved(previous_[row]);
    }
    first_.renumber(new_slot);
    place_.resize(end < new_slot.size() ? new_slot[end] : living);
    if (!linked_) return;
    next_.resize(place_.size());
    previous_.resize(place_.size());
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    short_.make_room_to_search(scratch);
  }

  void nearest(const RowStore<Real>& points, const Real* x, std::size_t k, std::size_t end,
               SearchScratch& scratch, std::vector<Neighbour>& out) const override {
    Nearest best(k, out);
    const auto before = static_cast<RowSlot>(std::min(end, this->end()));
    if (find_equal(points, first_.find(points, x), k, before, best)) return;
    make_room_to_search(scratch);
    search(points, x, before, scratch, best);
  }
  bool nearest_allowed(const RowStore<Real>& points, const Real* x, std::size_t end,
                       const std::uint8_t* ruled_out, SearchScratch& scratch,
                       Neighbour& out) const noexcept override {
    NearestAllowed best(ruled_out, out);
    search(points, x, static_cast<RowSlot>(end), scratch, best);
    return best.any();
  }

  // In the tree one row is as quick as many; a scan of many is a few times quicker.
  bool gains_by_loading(std::size_t count) const override {
    if (!short_.fitted()) return true;
    return short_.many_by_tree() ? count >= kFew && count >= rows_.size() / 3 : count >= kQueries;
  }
  bool minds_the_future() const override { return true; }
  void load(const RowStore<Real>& points, std::size_t end, const Pulse& pulse) override {
    const std::size_t begin = place_.size();
    place_.resize(end, kNone);
    if (linked_) make_links(end);
    loading_ = short_.wants_fit(rows_.size() + (end - begin));  // then all get short vectors
    for (auto row = static_cast<RowSlot>(begin); row < end; ++row) {
      if (row % kBlock == 0) pulse.check();
      if (!points.is_hole(row)) take_in(points, row);
    }
    if (loading_ && (short_.fitted() || short_.wants_fit(rows_.size()))) fit(points, pulse);
    loading_ = false;
    look_after(points, pulse);
  }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    if (!short_.fitted() || !short_.many_by_tree()) return in_order_of_arrival(begin, end());
    BigVector<RowSlot> out;
    out.reserve(end() - begin);
    short_.for_each_by_place([&](std::uint32_t place) {
      if (!linked_) {
        if (rows_[place] >= begin) out.push_back(rows_[place]);
        return;
      }
      for (RowSlot row = last_[place]; row != kNone && row >= begin; row = previous_[row])
        out.push_back(row);
    });
    return out;
  }
  void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries, std::size_t k,
                      RowSlot* out, const Pulse& pulse) const override {
    std::vector<std::vector<Neighbour>> found(queries.size());
    std::vector<Nearest> best;
    best.reserve(queries.size());
    std::vector<std::uint32_t> rest;  // queries that have not come before
    for (std::uint32_t q = 0; q < queries.size(); ++q) {
      best.emplace_back(k, found[q]);
      if (!find_equal(points, rows_[place_[queries[q]]], k, queries[q], best[q])) rest.push_back(q);
    }
    SearchScratch scratch;
    make_room_to_search(scratch);
    if (short_.fitted() && !short_.many_by_tree())
      sweep(points, queries, rest, best, scratch, pulse);
    else
      for (const std::uint32_t q : rest) {
        pulse.check();
        search_by_tree(points, queries[q], scratch, best[q]);
      }
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::size_t i = 0; i < found[q].size(); ++i) out[q * k + i] = found[q][i].row;
  }

 private:
  static constexpr RowSlot kNone = 0xFFFFFFFFU;
  static constexpr std::size_t kFew = 256;

  // --- what is kept -----------------------------------------------------------------

  /// There is an entry in place_ for the row.
  void take_in(const RowStore<Real>& points, RowSlot row) {
    const Real* values = points.row(row);
    note_size(values);
    if (const RowSlot first = first_.find(points, values); first != RowHash<Real>::kNoRow) {
      link(points, row, place_[first]);
      return;
    }
    const bool reuses = !free_.empty();
    const auto place = reuses ? free_.back() : static_cast<std::uint32_t>(rows_.size());
    first_.make_room(points, 1);
    if (reuses) {
      free_.pop_back();
    } else {
      rows_.push_back(kNone);
      if (linked_) last_.push_back(kNone);
    }
    if (reuses || row < latest_) in_order_ = false;
    latest_ = std::max(latest_, row);
    rows_[place] = row;
    if (linked_) last_[place] = row;
    place_[row] = place;
    first_.add(points, row);
    if (short_.fitted() && !loading_) short_.add(place, values, 0);
  }

  /// Put a row into the list of those that are equal to it.
  void link(const RowStore<Real>& points, RowSlot row, std::uint32_t place) {
    if (!linked_) {
      linked_ = true;
      make_links(place_.size());
      last_.clear();
      for (const RowSlot first : rows_) last_.push_back(first);
    }
    place_[row] = place;
    RowSlot before = last_[place];
    while (before != kNone && before > row) before = previous_[before];
    const RowSlot after = before == kNone ? rows_[place] : next_[before];
    previous_[row] = before;
    next_[row] = after;
    if (before == kNone) {
      first_.replace(points, rows_[place], row);
      rows_[place] = row;
      in_order_ = false;
    } else {
      next_[before] = row;
    }
    if (after == kNone)
      last_[place] = row;
    else
      previous_[after] = row;
  }
  void make_links(std::size_t rows) {
    next_.resize(rows, kNone);
    previous_.resize(rows, kNone);
  }

  /// Squares of differences of tiny numbers are zero, of others never: then rows at
  /// distance zero are equal.
  void note_size(const Real* values) {
    if constexpr (sizeof(Real) == sizeof(float)) return;
    for (std::size_t j = 0; j < dim_; ++j) {
      const double size = std::fabs(static_cast<double>(values[j]));
      tiny_ = tiny_ || (size > 0 && size < 1e-130);
    }
  }

  auto has() const {
    return [this](std::uint32_t place) { return rows_[place] != kNone; };
  }
  auto row_of(const RowStore<Real>& points) const {
    return [this, &points](std::uint32_t place) { return points.row(rows_[place]); };
  }
  static constexpr auto kNoWeight = [](std::uint32_t) { return 0.0; };

  void fit(const RowStore<Real>& points, const Pulse& pulse) {
    short_.fit(rows_.size(), has(), row_of(points), kNoWeight, pulse);
  }
  void look_after(const RowStore<Real>& points, const Pulse& pulse) {
    if (short_.wants_fit(rows_.size())) fit(points, pulse);
    if (!short_.wants_trial(rows_.size())) return;
    short_.try_both(
        rows_.size(), 0, has(), row_of(points), kNoWeight,
        [&](std::uint32_t a, std::uint32_t b) {
          return squared_distance(points.row(rows_[a]), points.row(rows_[b]), dim_);
        },
        pulse);
  }

  // --- searches ---------------------------------------------------------------------

  /// Offer a row that is first of its equals, and as many of those as are of use.
  template <class Best>
  void offer(Best& best, double distance, RowSlot row, RowSlot end) const {
    for (std::size_t left = best.equals(); row != kNone && row < end && left > 0; --left) {
      best.offer(distance, row);
      if (!linked_) return;
      row = next_[row];
    }
  }
  /// If k rows before `end` are equal to the one whose first equal is known, they are it.
  bool find_equal(const RowStore<Real>& points, RowSlot first, std::size_t k, RowSlot end,
                  Nearest& best) const {
    if (tiny_ || first == RowHash<Real>::kNoRow || first >= end || points.is_hole(first))
      return false;
    RowSlot row = first;
    for (std::size_t count = 1; count < k; ++count) {
      row = !linked_ ? kNone : next_[row];
      if (row == kNone || row >= end) return false;
    }
    offer(best, 0, first, end);
    return true;
  }

  /// Places that rows before `end` have.
  std::uint32_t places_before(RowSlot end) const {
    if (!in_order_) return static_cast<std::uint32_t>(rows_.size());
    return static_cast<std::uint32_t>(std::lower_bound(rows_.begin(), rows_.end(), end) -
                                      rows_.begin());
  }
  template <class Best>
  auto considering(const RowStore<Real>& points, const Real* x, RowSlot end, Best& best) const {
    return [this, &points, x, end, &best](std::uint32_t place) {
      const RowSlot row = rows_[place];
      if (row >= end) return;  // also if nobody is there
      const double distance = squared_distance(x, points.row(row), dim_);
      if (distance <= best.limit()) offer(best, distance, row, end);
    };
  }
  template <class Best>
  void search(const RowStore<Real>& points, const Real* x, RowSlot end, SearchScratch& scratch,
              Best& best) const {
    const auto consider = considering(points, x, end, best);
    if (short_.fitted())
      short_.search(
          x, 0, 0, places_before(end), consider, [&] { return best.limit(); }, kNoWeight, scratch);
    else
      for (std::uint32_t place = 0; place < places_before(end); ++place) consider(place);
  }
  void search_by_tree(const RowStore<Real>& points, RowSlot row, SearchScratch& scratch,
                      Nearest& best) const {
    const Real* x = points.row(row);
    const auto consider = considering(points, x, row, best);
    if (short_.fitted())
      short_.search_by_tree(
          x, 0, places_before(row), consider, [&] { return best.limit(); }, scratch);
    else
      for (std::uint32_t place = 0; place < places_before(row); ++place) consider(place);
  }
  void sweep(const RowStore<Real>& points, std::span<const RowSlot> queries,
             const std::vector<std::uint32_t>& which, std::vector<Nearest>& best,
             SearchScratch& scratch, const Pulse& pulse) const {
    if (which.empty()) return;
    std::vector<std::size_t> ends;
    ends.reserve(which.size());
    for (const std::uint32_t q : which) ends.push_back(places_before(queries[q]));
    short_.search_many(
        which.size(), [&](std::size_t i) { return points.row(queries[which[i]]); }, ends,
        [&](std::size_t i, std::size_t place) {
          const RowSlot self = queries[which[i]];
          considering(points, points.row(self), self,
                      best[which[i]])(static_cast<std::uint32_t>(place));
        },
        [&](std::size_t i) { return best[which[i]].limit(); }, scratch, pulse);
  }

  std::size_t dim_;
  bool tiny_ = false;     // has there been a number whose square is nothing?
  bool in_order_ = true;  // are first rows in ascending order by place?
  bool linked_ = false;   // have there been equal rows?
  bool loading_ = false;  // short vectors are made later
  RowSlot latest_ = 0;
  RowHash<Real> first_;                        // of equal rows the first
  BigVector<std::uint32_t> place_;             // by row: the place that equal rows share
  BigVector<RowSlot> rows_;                    // by place: the first row there
  BigVector<RowSlot> last_;                    // by place: the last, if any rows are equal
  BigVector<RowSlot> next_, previous_;         // by row: equal ones, if there are any
  std::vector<std::uint32_t> free_;            // places
  ShortVectors<Real, CentroidSquared> short_;  // by place
};

}  // namespace ramify
