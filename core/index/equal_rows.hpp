// SPDX-License-Identifier: BSD-3-Clause
// equal_rows.hpp: which rows are equal, and who came first of them.
//
// Equal rows share a *place*. Of each place the first row alone needs to be searched for;
// the others follow it in a list, in order of arrival. A row that has come before is found
// by hash: it is at distance zero, and no row that is as near came earlier.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "index/nearest.hpp"
#include "index/row_hash.hpp"

namespace ramify {

template <class Real>
class EqualRows {
 public:
  using Place = std::uint32_t;
  static constexpr RowSlot kNone = 0xFFFFFFFFU;

  explicit EqualRows(std::size_t dim) : dim_(dim) {}

  /// Rows in slots below have been looked at.
  std::size_t end() const { return place_.size(); }
  /// Places, of which some may be empty.
  std::size_t places() const { return rows_.size(); }
  /// Rows that differ.
  std::size_t size() const { return rows_.size() - free_.size(); }
  /// The first row at a place; kNone if the place is empty.
  RowSlot first_at(Place place) const { return rows_[place]; }
  /// kNone for a hole.
  Place place_of(RowSlot row) const { return place_[row]; }
  /// Is the row the first of those equal to it?
  bool is_first(RowSlot row) const { return place_[row] != kNone && rows_[place_[row]] == row; }
  /// The row with these values that came first, or kNone.
  RowSlot find(const RowStore<Real>& points, const Real* x) const { return first_.find(points, x); }

  /// Have an entry for every row below `end`; those that are new have no place yet.
  void extend(std::size_t end) {
    place_.resize(end, kNone);
    if (linked_) make_links(end);
  }
  /// Give a row with an entry its place; true if no row is equal to it.
  bool take_in(const RowStore<Real>& points, RowSlot row) {
    const Real* values = points.row(row);
    note_size(values);
    if (const RowSlot first = first_.find(points, values); first != RowHash<Real>::kNoRow) {
      link(points, row, place_[first]);
      return false;
    }
    const bool reuses = !free_.empty();
    const auto place = reuses ? free_.back() : static_cast<Place>(rows_.size());
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
    return true;
  }
  void make_room_to_remove() { make_room(free_, 1); }
  /// Take a row out; true if its place, which is returned, is empty now.
  bool remove(const RowStore<Real>& points, RowSlot row, Place& place) {
    place = place_[row];
    place_[row] = kNone;
    in_order_ = false;
    if (!linked_ || (next_[row] == kNone && previous_[row] == kNone)) {
      first_.remove(points, row);
      rows_[place] = kNone;
      if (linked_) last_[place] = kNone;
      free_.push_back(place);
      return true;
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
    return false;
  }
  /// Rows have other slots now, `living` of them, and no holes (RowStore::compact).
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) {
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
    if (first == RowHash<Real>::kNoRow || first >= end || points.is_hole(first)) return false;
    RowSlot row = first;
    for (std::size_t count = 1; count < k; ++count) {
      row = !linked_ ? kNone : next_[row];
      if (row == kNone || row >= end) return false;
    }
    offer(best, 0, first, end);
    return true;
  }
  /// May rows that differ be at distance zero?
  bool tiny() const { return tiny_; }

  /// Places that rows before `end` have.
  Place places_before(RowSlot end) const {
    if (!in_order_) return static_cast<Place>(rows_.size());
    return static_cast<Place>(std::lower_bound(rows_.begin(), rows_.end(), end) - rows_.begin());
  }
  /// All rows at a place from slot `begin` on, the latest first.
  template <class Use>
  void for_each_from(Place place, std::size_t begin, Use&& use) const {
    if (!linked_) {
      if (rows_[place] >= begin) use(rows_[place]);
      return;
    }
    for (RowSlot row = last_[place]; row != kNone && row >= begin; row = previous_[row]) use(row);
  }

 private:
  /// Put a row into the list of those that are equal to it.
  void link(const RowStore<Real>& points, RowSlot row, Place place) {
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

  std::size_t dim_;
  bool tiny_ = false;     // has there been a number whose square is nothing?
  bool in_order_ = true;  // are first rows in ascending order by place?
  bool linked_ = false;   // have there been equal rows?
  RowSlot latest_ = 0;
  RowHash<Real> first_;                 // of equal rows the first
  BigVector<Place> place_;              // by row: the place that equal rows share
  BigVector<RowSlot> rows_;             // by place: the first row there
  BigVector<RowSlot> last_;             // by place: the last, if any rows are equal
  BigVector<RowSlot> next_, previous_;  // by row: equal ones, if there are any
  std::vector<Place> free_;             // places
};

}  // namespace ramify
