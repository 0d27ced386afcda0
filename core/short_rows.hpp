// SPDX-License-Identifier: BSD-3-Clause
// short_rows.hpp: an exact scan of many long rows that looks at few of them.
//
// Beside rows that somebody else keeps, it keeps their short vectors
// (projection.hpp). A search computes all coarse bounds in one sweep, takes the
// most promising row as a first answer, and then asks for the true value of those
// rows alone that neither their coarse nor their fine bound rules out.
//
// Until kFirstFit rows are there, nothing is ruled out. The basis is fitted then
// and again whenever the number of rows has grown eightfold. Data without leading
// directions gains nothing: a search whose bounds ruled out too little makes the
// next kRest ones plain scans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "growth.hpp"
#include "kernels.hpp"
#include "projection.hpp"

namespace ramify {

template <class Real>
class ShortRows {
 public:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  explicit ShortRows(std::size_t dim) : projection_(dim) {}

  std::size_t size() const { return size_; }

  /// Take in one more row; `row(i)` gives the long rows 0..size(), the new one
  /// included.
  template <class RowOf>
  void append(RowOf&& row) {
    ++size_;
    if (size_ >= next_fit_) {
      fit(row);
      return;
    }
    if (!projection_.fitted()) return;
    make_space(size_);
    set(size_ - 1, row(size_ - 1));
  }

  /// Row i has changed.
  void set(std::size_t i, const Real* row) {
    if (!projection_.fitted()) return;
    ShortRow shortened;
    projection_.apply(row, shortened);
    slack_[i] = Projection<Real>::slack(shortened.radius);
    for (std::size_t j = 0; j < kCoarse; ++j) entry(i, j) = shortened.coarse[j];
    if (projection_.has_fine()) std::copy_n(shortened.fine, kFine, fine_.data() + i * kFine);
  }

  /// The last row takes the place of row i.
  void move_last_to(std::size_t i) {
    --size_;
    if (!projection_.fitted() || i == size_) return;
    slack_[i] = slack_[size_];
    for (std::size_t j = 0; j < kCoarse; ++j) entry(i, j) = entry(size_, j);
    if (projection_.has_fine())
      std::copy_n(fine_.data() + size_ * kFine, kFine, fine_.data() + i * kFine);
  }

  /// Have every row offered that can matter.
  ///   bound(gap, i)  at most the score of row i if |x - row i|^2 >= gap; never
  ///                  negative
  ///   offer(i)       computes the score of row i and does with it what it likes
  ///   limit()        scores above it are of no use any more
  ///   self           a row to leave out, kNobody if there is none
  template <class Bound, class Offer, class Limit>
  void search(const Real* x, std::size_t self, Bound&& bound, Offer&& offer, Limit&& limit) {
    if (!projection_.fitted() || rest_ > 0) {
      if (rest_ > 0) --rest_;
      for (std::size_t i = 0; i < size_; ++i)
        if (i != self) offer(i);
      return;
    }
    ShortRow mine;
    projection_.apply(x, mine);
    const float own = Projection<Real>::slack(mine.radius);
    bounds_.resize(columns_.size() / kCoarse);
    const GapKernels& gaps = gap_kernels();
    for (std::size_t block = 0; block * kBlock < size_; ++block)
      gaps.of_block(mine.coarse, columns_.data() + block * kBlock * kCoarse, kCoarse,
                    bounds_.data() + block * kBlock);
    const auto safe = [&](float gap, std::size_t i) {
      // Near the ends of float's range a gap says nothing, and rules out nothing.
      const bool telling = gap > 1e-30F && gap < 1e37F;
      const float least = telling ? gap - (slack_[i] + own) : 0.0F;
      const double at_least = bound(static_cast<double>(std::max(0.0F, least)), i);
      return static_cast<float>(at_least * (1 - 3e-7));  // rounded down for sure
    };
    std::size_t first = 0;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < size_; ++i) {
      bounds_[i] = safe(bounds_[i], i);
      if (bounds_[i] < least && i != self) {
        least = bounds_[i];
        first = i;
      }
    }
    if (first != self) offer(first);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (static_cast<double>(bounds_[i]) > limit() || i == first || i == self) continue;
      if (projection_.has_fine()) {
        const float gap = gaps.of_pair(mine.fine, fine_.data() + i * kFine, kFine);
        if (static_cast<double>(safe(gap, i)) > limit()) continue;
      }
      offer(i);
      ++offered;
    }
    if (offered > size_ - size_ / 4) rest_ = kRest;
  }

 private:
  static constexpr std::size_t kFirstFit = 1024;  // and the size of a sample
  static constexpr std::uint32_t kRest = 64;

  float& entry(std::size_t i, std::size_t j) {
    return columns_[(i / kBlock * kCoarse + j) * kBlock + i % kBlock];
  }

  void make_space(std::size_t rows) {
    const std::size_t blocks = (rows + kBlock - 1) / kBlock;
    if (slack_.size() >= blocks * kBlock) return;
    make_room(columns_, kBlock * kCoarse);
    columns_.resize(blocks * kBlock * kCoarse);
    make_room(slack_, kBlock);
    slack_.resize(blocks * kBlock);
    if (!projection_.has_fine()) return;
    make_room(fine_, kBlock * kFine);
    fine_.resize(blocks * kBlock * kFine);
  }

  template <class RowOf>
  void fit(RowOf&& row) {
    const std::size_t sample = std::min(size_, kFirstFit);
    projection_.fit([&](std::size_t i) { return row(i * size_ / sample); }, sample);
    make_space(size_);
    for (std::size_t i = 0; i < size_; ++i) set(i, row(i));
    next_fit_ = 8 * size_;
  }

  Projection<Real> projection_;
  std::size_t size_ = 0;
  std::size_t next_fit_ = kFirstFit;
  std::uint32_t rest_ = 0;      // searches for which bounds are not worth computing
  std::vector<float> columns_;  // coarse vectors: kBlock * kCoarse a block, column by column
  std::vector<float> fine_;     // fine vectors, one after the other, if there are any
  std::vector<float> slack_;    // by row
  std::vector<float> bounds_;   // of the search at hand
};

}  // namespace ramify
