// SPDX-License-Identifier: BSD-3-Clause
// row_store.hpp: the rows of a stream, in their own type, and their arrival numbers.
//
// Rows lie in row slots in order of arrival, so that "came earlier" is "has the
// smaller slot", everywhere. A row that is erased is overwritten at once and leaves
// a hole; compact() closes the holes, in order. As long as nothing was ever erased,
// slot and arrival number are the same and nothing is stored about either.
//
// A row is one point, unless it was given a weight: it stands for that many equal points
// then, or, with an ssd, for that many points around it. As long as all are single
// points, nothing is stored about that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "math/growth.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// What a row stands for: how many points, and their sum of squared distances to it.
struct Standing {
  double weight = 1;
  double ssd = 0;
};

/// float or double rows of one width.
template <class Real>
class RowStore {
 public:
  explicit RowStore(std::size_t dim) : dim_(dim) {}

  std::size_t dim() const { return dim_; }
  /// Slots in use, holes included.
  std::size_t slots() const { return values_.size() / dim_; }
  std::size_t holes() const { return holes_; }
  std::size_t living() const { return slots() - holes_; }
  bool is_hole(RowSlot slot) const { return !hole_.empty() && hole_[slot] != 0; }
  const Real* row(RowSlot slot) const { return values_.data() + slot * dim_; }
  Real* row(RowSlot slot) { return values_.data() + slot * dim_; }
  /// Begin to load all of a row.
  void prefetch(RowSlot slot) const {
    constexpr std::size_t kLine = 64 / sizeof(Real);
    for (std::size_t j = 0; j < dim_; j += kLine) __builtin_prefetch(row(slot) + j);
  }
  /// All slots, one after the other.
  std::span<const Real> values() const { return {values_.data(), values_.size()}; }

  bool weighted() const { return weighted_; }
  double weight(RowSlot slot) const { return weighted_ ? standings_[slot].weight : 1; }
  double ssd(RowSlot slot) const { return weighted_ ? standings_[slot].ssd : 0; }
  /// Each slot's; empty as long as all are single points.
  std::span<const Standing> standings() const { return {standings_.data(), standings_.size()}; }
  /// The memory that weigh() needs; it cannot fail then.
  void make_room_to_weigh() {
    if (weighted_) return;
    BigVector<Standing> standings;
    standings.reserve(slots() + slots() / 2 + 1);
    for (std::size_t slot = 0; slot < slots(); ++slot) standings.push_back({});
    standings_ = std::move(standings);
    weighted_ = true;
  }
  void weigh(RowSlot slot, Standing standing) { standings_[slot] = standing; }

  Arrival arrival(RowSlot slot) const { return numbered_ ? arrivals_[slot] : slot; }
  Arrival next_arrival() const { return next_; }
  /// The slot of a living point; false if there is none. O(log n).
  bool find(Arrival number, RowSlot& slot) const {
    if (!numbered_) {
      if (number >= slots()) return false;
      slot = static_cast<RowSlot>(number);
    } else {
      const auto at = std::lower_bound(arrivals_.begin(), arrivals_.end(), number);
      if (at == arrivals_.end() || *at != number) return false;
      slot = static_cast<RowSlot>(at - arrivals_.begin());
    }
    return !is_hole(slot);
  }

  void make_room(std::size_t rows) {
    ramify::make_room(values_, rows * dim_);
    if (numbered_) ramify::make_room(arrivals_, rows);
    if (!hole_.empty()) ramify::make_room(hole_, rows);
    if (weighted_) ramify::make_room(standings_, rows);
  }
  void append(const Real* row) {
    make_room(1);
    values_.append(row, row + dim_);
    if (numbered_) arrivals_.push_back(next_);
    if (!hole_.empty()) hole_.push_back(0);
    if (weighted_) standings_.push_back({});
    ++next_;
  }
  /// Forget all rows from `slots` on, as if they had never come.
  void truncate(std::size_t slots) {
    next_ -= this->slots() - slots;
    values_.resize(slots * dim_);
    if (numbered_) arrivals_.resize(slots);
    if (!hole_.empty()) hole_.resize(slots);
    if (weighted_) standings_.resize(slots);
  }

  /// The memory that erase() and compact() need; they cannot fail afterwards.
  void make_room_to_erase() {
    if (hole_.empty()) {
      hole_.reserve(slots() + slots() / 2 + 1);
      hole_.assign(slots(), 0);
    }
    if (numbered_) return;
    arrivals_.reserve(slots() + slots() / 2 + 1);
    for (std::size_t slot = 0; slot < slots(); ++slot) arrivals_.push_back(slot);
    numbered_ = true;
  }
  /// Overwrite a row: what is forgotten is gone.
  void erase(RowSlot slot) {
    std::fill_n(row(slot), dim_, Real{0});
    hole_[slot] = 1;
    if (weighted_) standings_[slot] = {};
    ++holes_;
  }
  /// Close the holes. `new_slot` is where each slot has gone, a hole's where the next
  /// living one has.
  void compact(std::span<const RowSlot> new_slot) {
    const std::size_t kept = living();
    for (std::size_t slot = 0; slot < new_slot.size(); ++slot) {
      if (hole_[slot] != 0) continue;
      std::copy_n(values_.data() + slot * dim_, dim_, values_.data() + new_slot[slot] * dim_);
      arrivals_[new_slot[slot]] = arrivals_[slot];
      if (weighted_) standings_[new_slot[slot]] = standings_[slot];
    }
    std::fill(values_.data() + kept * dim_, values_.end(), Real{0});
    values_.resize(kept * dim_);
    arrivals_.resize(kept);
    if (weighted_) standings_.resize(kept);
    hole_.assign(kept, 0);
    holes_ = 0;
  }

  /// The next number is skipped; there is room to erase, so that all have one.
  void skip_number() { ++next_; }
  /// Numbers below this one are skipped; there is room to erase, too.
  void skip_to(Arrival number) { next_ = std::max(next_, number); }

  /// Arrival numbers of all slots; empty if they are the slots themselves.
  std::vector<Arrival> numbers() const {
    const bool plain = !numbered_ || (next_ == slots() && holes_ == 0);
    return plain ? std::vector<Arrival>{}
                 : std::vector<Arrival>(arrivals_.begin(), arrivals_.end());
  }
  /// Give the rows stored so far these numbers, ascending, and the next one this.
  void number(std::span<const Arrival> arrivals, Arrival next) {
    make_room_to_erase();
    std::copy(arrivals.begin(), arrivals.end(), arrivals_.begin());
    next_ = next;
  }

 private:
  std::size_t dim_;
  BigVector<Real> values_;
  // Not told by arrivals_ being empty: it is empty, too, once all points have left.
  bool numbered_ = false;           // arrivals_ has a number for each slot
  BigVector<Arrival> arrivals_;     // by slot, if numbered_; else the slots themselves
  std::vector<std::uint8_t> hole_;  // by slot; empty: there are none
  std::size_t holes_ = 0;
  Arrival next_ = 0;
  bool weighted_ = false;  // standings_ has an entry for each slot
  BigVector<Standing> standings_;
};

/// Scale a row to unit length; `out` may be the row itself. The largest entry is divided out first,
/// so that rows near the ends of the number range neither overflow nor vanish.
template <class Real>
void scale_to_unit(const Real* row, std::size_t dim, Real* out) {
  Real most = 0;  // as Real: of doubles of floats GCC 12 for ARM makes an internal error
  for (std::size_t j = 0; j < dim; ++j) most = std::fmax(most, std::fabs(row[j]));
  const auto largest = static_cast<double>(most);
  double squares = 0;
  for (std::size_t j = 0; j < dim; ++j) {
    const double scaled = static_cast<double>(row[j]) / largest;
    squares += scaled * scaled;
  }
  const double norm = std::sqrt(squares);
  for (std::size_t j = 0; j < dim; ++j)
    out[j] = static_cast<Real>(static_cast<double>(row[j]) / largest / norm);
}

/// Index of the first entry that is NaN or infinite; `values.size()` if none.
template <class Real>
std::size_t first_non_finite(std::span<const Real> values) {
  std::size_t i = 0;
  while (i < values.size() && std::isfinite(values[i])) ++i;
  return i;
}

/// Numbers beyond this have squares that overflow once a few of them are added.
inline constexpr double kLargest = 1e145;

/// First row without a non-zero entry; `rows` if none.
template <class Real>
std::size_t first_zero_row(const Real* values, std::size_t rows, std::size_t dim) {
  for (std::size_t i = 0; i < rows; ++i) {
    const Real* row = values + i * dim;
    std::size_t j = 0;
    while (j < dim && row[j] == Real{0}) ++j;
    if (j == dim) return i;
  }
  return rows;
}

}  // namespace ramify
