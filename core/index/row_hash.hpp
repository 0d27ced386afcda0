// SPDX-License-Identifier: BSD-3-Clause
// row_hash.hpp: has this very row come before?
//
// Rows are equal by value: 0 and -0 are one. The table is open, with linear probing, and
// entries behind one that leaves move up, so that there are no marks to clean up.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "math/dispatch.hpp"
#include "tree/row_store.hpp"

namespace ramify {

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) {
  hash = (hash ^ with) * 0xD6E8FEB86659FD93U;
  return hash ^ (hash >> 32);
}
/// Hash of a row by value: 0 and -0 are equal and hash alike. Offline HAC merges equal rows in the
/// order of their hashes, so this one must stay as it is.
template <class Real>
std::uint64_t hash_of(const Real* row, std::size_t dim) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  for (std::size_t j = 0; j < dim; ++j)
    hash = mixed(hash, std::bit_cast<std::uint64_t>(static_cast<double>(row[j]) + 0.0));
  return hash;
}
/// Another one, for long rows: sixteen numbers that do not wait for each other.
template <class Real>
RAMIFY_INLINE std::uint64_t hash_of_long(const Real* row, std::size_t dim) {
  constexpr std::size_t kWords = 16, kValues = kWords * sizeof(std::uint32_t) / sizeof(Real);
  std::uint32_t parts[kWords] = {};
  const auto take_in = [&](const Real* values, std::size_t count) {
    Real some[kValues] = {};
    for (std::size_t k = 0; k < count; ++k) some[k] = values[k] + Real{0};
    std::uint32_t words[kWords];
    std::memcpy(words, some, sizeof words);
    for (std::size_t k = 0; k < kWords; ++k) {
      parts[k] = (parts[k] ^ words[k]) * 0x9E3779B1U;
      parts[k] ^= parts[k] >> 15;
    }
  };
  std::size_t j = 0;
  for (; j + kValues <= dim; j += kValues) take_in(row + j, kValues);
  if (j < dim) take_in(row + j, dim - j);
  std::uint64_t hash = dim;
  for (const std::uint32_t part : parts) hash = mixed(hash, part);
  return hash;
}

template <class Real>
class RowHash {
 public:
  static constexpr RowSlot kNoRow = std::numeric_limits<RowSlot>::max();

  std::size_t size() const { return size_; }
  /// The memory that `rows` more rows need; add() cannot fail then.
  void make_room(const RowStore<Real>& points, std::size_t rows) {
    std::size_t wanted = std::max<std::size_t>(table_.size(), 16);
    while (wanted < 2 * (size_ + rows)) wanted *= 2;
    if (wanted == table_.size()) return;
    std::vector<RowSlot> table(wanted, kNoRow);
    std::swap(table, table_);
    for (const RowSlot row : table)
      if (row != kNoRow) table_[free_place(points, row)] = row;
  }
  /// The row with these values; kNoRow if there is none.
  RowSlot find(const RowStore<Real>& points, const Real* row) const {
    if (table_.empty()) return kNoRow;
    for (std::size_t at = home(points, row); table_[at] != kNoRow; at = next(at))
      if (std::equal(row, row + points.dim(), points.row(table_[at]))) return table_[at];
    return kNoRow;
  }
  void add(const RowStore<Real>& points, RowSlot row) {
    table_[free_place(points, row)] = row;
    ++size_;
  }
  /// Take out a row that is in the table, and still in the store.
  void remove(const RowStore<Real>& points, RowSlot row) {
    std::size_t hole = home(points, points.row(row));
    while (table_[hole] != row) hole = next(hole);
    for (std::size_t at = next(hole); table_[at] != kNoRow; at = next(at)) {
      // An entry that cannot be found past the hole moves into it.
      const std::size_t from = home(points, points.row(table_[at])), mask = table_.size() - 1;
      if (((at - from) & mask) < ((at - hole) & mask)) continue;
      table_[hole] = table_[at];
      hole = at;
    }
    table_[hole] = kNoRow;
    --size_;
  }
  /// Another row with the same values stands for them from now on.
  void replace(const RowStore<Real>& points, RowSlot row, RowSlot other) {
    std::size_t at = home(points, points.row(other));
    while (table_[at] != row) at = next(at);
    table_[at] = other;
  }
  /// Rows have other slots now (RowStore::compact).
  void renumber(std::span<const RowSlot> new_slot) {
    for (RowSlot& row : table_)
      if (row != kNoRow) row = new_slot[row];
  }

 private:
  std::size_t home(const RowStore<Real>& points, const Real* row) const {
    const std::size_t dim = points.dim();
    const std::uint64_t hash =
        dim < kLanes ? hash_of(row, dim) : chosen<hash_of_long<Real>>()(row, dim);
    return hash & (table_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (table_.size() - 1); }
  std::size_t free_place(const RowStore<Real>& points, RowSlot row) const {
    std::size_t at = home(points, points.row(row));
    while (table_[at] != kNoRow) at = next(at);
    return at;
  }

  std::vector<RowSlot> table_;  // a power of two of them, at least half free
  std::size_t size_ = 0;
};

}  // namespace ramify
