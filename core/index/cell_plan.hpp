// SPDX-License-Identifier: BSD-3-Clause
// cell_plan.hpp: how rows are divided into cells, and how many cells a search looks into.
//
//   q  the byte codes of a row (projection.hpp)     c  a centroid, byte codes as well
//   value of a cell for q:  q.c - floor(|c|^2 / 2), large where the two are near
//
// A row's *home* is the cell of the largest value, the one with the lowest number among
// equals. A search looks into every cell whose value is at most `slack` below the largest.
// All of it is in whole numbers of codes that no set of instructions changes, and so are
// the answers.
//
// A plan holds for a stretch of the stream, an *epoch*, and changes at its end alone. So
// it does not matter whether rows come one by one or in batches. What is to be stored of
// an index is its plan: which row is in which cell follows from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "index/code_scan.hpp"
#include "math/projection.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// What a user, or a test, can say about cells.
struct CellOptions {
  /// Share of searches that should find the nearest row.
  double recall = 0.97;
  /// Rows from which on there is a projection, and more than one cell: before, all rows are
  /// swept, which is as quick, and exact.
  std::size_t fit = 1024, first = std::size_t{1} << 15;
  /// Rows of an epoch, at least; later ones are a sixteenth of all rows.
  std::size_t epoch = 4096;
};

/// What codes are, and the centroids; never changed once it is made.
template <class Real>
class CellShape {
 public:
  using RowOf = std::function<const Real*(std::size_t)>;

  /// Fit codes to `count` rows, and `cells` centroids: rows spread over all of them, then
  /// moved to the mean of those that are nearest, twice (Lloyd's steps).
  CellShape(std::size_t dim, const RowOf& row, std::size_t count, std::size_t cells,
            const Pulse& pulse);
  /// The inverse of write(), with errors as in Projection::read.
  CellShape(std::size_t dim, std::span<const double>& numbers);
  void write(std::vector<double>& out) const;

  const Projection<Real>& projection() const { return projection_; }
  std::size_t cells() const { return cells_; }
  /// Whole blocks of them.
  std::size_t padded() const { return offsets_.size(); }
  /// Values of all cells for up to kQueries rows, padded() each; what is beyond cells() is
  /// less than any of them.
  void values(const CodeQuery* queries, std::size_t count, std::int32_t* out) const;
  void value(const CodeQuery& query, std::int32_t* out) const;
  /// The number of the largest value.
  std::uint32_t home(const std::int32_t* values) const;
  CodeQuery query(const ShortRow& row) const;
  /// Entry j of a centroid.
  std::int8_t entry(std::size_t cell, std::size_t j) const {
    return static_cast<std::int8_t>(codes_[place(cell, j)] - 128);
  }

 private:
  std::size_t place(std::size_t cell, std::size_t j) const {
    return cell / kBlock * kBlock * projection_.broad() + place_in_block(cell % kBlock, j);
  }
  void make_centroids();
  void set_centroid(std::size_t cell, const std::int8_t* codes);
  void move_to_means(const std::vector<CodeQuery>& rows, const Pulse& pulse);

  Projection<Real> projection_;
  std::size_t cells_ = 1;
  std::vector<std::uint8_t> codes_;    // of centroids, in blocks (byte_codes.hpp)
  std::vector<std::int32_t> offsets_;  // floor(|c|^2 / 2)
};

/// What holds for an epoch. Copies share the shape.
template <class Real>
struct CellPlan {
  std::shared_ptr<const CellShape<Real>> shape;  // none: too few rows so far
  std::int32_t slack = 0;
  Arrival begun = 0;     // number of the first row of the epoch
  Arrival next = 0;      // and of the first that comes after it
  std::size_t made = 0;  // rows that differ, when the shape was made
  Arrival made_at = 0;   // number of the row that came next then
  /// Of the rows that were searched for exactly as well, the latest: the slack that would
  /// have found the nearest.
  std::vector<std::int32_t> needed;
  double rows = 0, hits = 0;  // of all epochs past: rows that came, and found their nearest

  std::size_t cells() const { return shape ? shape->cells() : 1; }
  double recall() const { return rows > 0 ? hits / rows : 1; }
  /// Remember what was needed, and look as far as the wanted share of searches needs.
  void learn(std::span<const std::int32_t> slacks, double recall);

  static constexpr std::size_t kRemembered = 512;  // slacks

  std::vector<double> stored() const;
  /// The inverse of stored(); throws std::invalid_argument for what it cannot have written.
  static CellPlan restored(std::size_t dim, std::span<const double> numbers);
};

/// The plan, and the two before: epochs may begin with rows of a batch that never get into the
/// tree. Two, because neighbours are looked up for one stretch of rows while those of the
/// stretch before, by an earlier plan, have yet to come (lookahead.hpp).
template <class Real>
class CellPlans {
 public:
  CellPlans(std::size_t dim, const CellOptions& options) : dim_(dim), options_(options) {}

  std::size_t dim() const { return dim_; }
  const CellOptions& options() const { return options_; }
  const CellPlan<Real>& now() const { return now_; }
  /// The plan by which the last row came that is in the tree, if the next has this number.
  const CellPlan<Real>& until(Arrival next) const {
    const CellPlan<Real>* found = &now_;
    for (std::size_t i = 0; i < known_ && found->begun >= next; ++i) found = &earlier_[i];
    return *found;
  }

  void advance(CellPlan<Real> plan) noexcept {
    earlier_[1] = std::move(earlier_[0]);
    earlier_[0] = std::move(now_);
    now_ = std::move(plan);
    known_ = std::min(known_ + 1, earlier_.size());
  }
  /// This plan holds whatever becomes of the row that is next.
  void settle() noexcept { known_ = 0; }
  void restore(CellPlan<Real> plan) {
    now_ = std::move(plan);
    settle();
  }
  /// No row with this number or a later one has come. True if that takes a plan back.
  bool take_back(Arrival next) noexcept {
    const std::size_t before = known_;
    for (; known_ > 0 && now_.begun >= next; --known_) {
      now_ = std::move(earlier_[0]);
      earlier_[0] = std::move(earlier_[1]);
    }
    return known_ < before;
  }

 private:
  std::size_t dim_;
  CellOptions options_;
  CellPlan<Real> now_;
  std::array<CellPlan<Real>, 2> earlier_;  // the later first
  std::size_t known_ = 0;                  // of them
};

}  // namespace ramify
