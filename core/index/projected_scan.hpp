// SPDX-License-Identifier: BSD-3-Clause
// projected_scan.hpp: an exact scan of many long rows that looks at few of them.
//
// Beside rows that somebody else keeps, it keeps their short vectors
// (projection.hpp). A search computes all bounds in one sweep, takes the most
// promising row as a first answer, and then asks for the true value of those rows
// alone that neither sweep nor fine bound rules out. A batch of searches sweeps
// for several rows at a time, a stretch of rows after the other, so that short
// vectors are fetched from memory once for all of them.
//
// Until kFirstFit rows are there, nothing is ruled out. The basis is fitted then
// and again whenever the number of rows has grown eightfold. Data without leading
// directions gains nothing: a search whose bounds ruled out too little makes the
// next kRest ones plain scans.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "math/growth.hpp"
#include "math/kernels.hpp"
#include "math/product_bounds.hpp"
#include "math/projection.hpp"
#include "pulse.hpp"

namespace ramify {

template <class Real>
class ProjectedScan {
 public:
  explicit ProjectedScan(std::size_t dim) : projection_(dim) {}

  std::size_t size() const { return size_; }

  /// Take in one more row; `row(i)` gives the long rows 0..size(), the new one
  /// included.
  template <class RowOf>
  void append(RowOf&& row) {
    ++size_;
    if (size_ >= next_fit_) {
      fit(row, {});
      return;
    }
    if (!projection_.fitted()) return;
    make_space(size_);
    set(size_ - 1, row(size_ - 1));
  }

  /// Take in rows up to `end` at once.
  template <class RowOf>
  void extend(std::size_t end, RowOf&& row, const Pulse& pulse) {
    const std::size_t from = size_;
    size_ = end;
    if (size_ >= next_fit_) {
      fit(row, pulse);
      return;
    }
    if (!projection_.fitted()) return;
    make_space(size_);
    set_from(from, row, pulse);
  }

  bool can_sweep() const { return projection_.fitted(); }

  /// Row i has changed.
  void set(std::size_t i, const Real* row) {
    if (!projection_.fitted()) return;
    ShortRow shortened;
    projection_.apply(row, centred_.data(), shortened);
    const bool telling = tells(shortened.radius);
    slack_[i] = telling ? Projection<Real>::slack(shortened.radius) : kAnything;
    offset_[i] = telling
                     ? static_cast<float>((shortened.length - static_cast<double>(slack_[i])) / 2)
                     : -kAnything;
    // Zeros, where products of infinite entries would be no numbers.
    for (std::size_t j = 0; j < width(); ++j) entry(i, j) = telling ? shortened.sweep[j] : 0.0F;
    if (projection_.has_fine()) std::copy_n(shortened.fine, kFine, fine_.data() + i * kFine);
  }

  /// The last row takes the place of row i.
  void move_last_to(std::size_t i) {
    --size_;
    copy(size_, i);
  }

  /// Row i is no longer of interest to anybody, and nothing of it is kept.
  void remove(std::size_t i) {
    if (!projection_.fitted()) return;
    slack_[i] = 0;
    offset_[i] = kAnything;  // sweeps rule it out
    for (std::size_t j = 0; j < width(); ++j) entry(i, j) = 0;
    if (projection_.has_fine()) std::fill_n(fine_.data() + i * kFine, kFine, 0.0F);
  }

  /// Rows have other numbers now, in the same order; so many are left.
  void renumber(std::span<const std::uint32_t> new_row, std::size_t left) {
    for (std::size_t i = 0; i < size_; ++i)
      if (i + 1 == new_row.size() ? new_row[i] < left : new_row[i] < new_row[i + 1])
        copy(i, new_row[i]);
    size_ = size_ < new_row.size() ? new_row[size_] : left;
  }

  /// Have every row offered that can matter.
  ///   bound(gap, i)  at most the score of row i if |x - row i|^2 >= gap; never
  ///                  negative
  ///   offer(i)       computes the score of row i and does with it what it likes
  ///   limit()        scores above it are of no use any more
  ///   allowed(i)     whether row i counts; rows from `end` on do not
  /// `bounds` and `centred` have room (make_room_to_search), `rest` is kept from search
  /// to search.
  template <class Allowed, class Bound, class Offer, class Limit>
  void search(const Real* x, std::size_t end, Allowed&& allowed, Bound&& bound, Offer&& offer,
              Limit&& limit, std::vector<float>& bounds, std::vector<double>& centred,
              std::uint32_t& rest) const {
    if (!projection_.fitted() || rest > 0) {
      if (rest > 0) --rest;
      for (std::size_t i = 0; i < end; ++i)
        if (allowed(i)) offer(i);
      return;
    }
    ShortRow mine;
    projection_.apply(x, centred.data(), mine);
    const float own = Projection<Real>::slack(mine.radius);
    const GapKernels& gaps = gap_kernels();
    for (std::size_t block = 0; block * kBlock < end; ++block)
      gaps.of_block(mine.sweep, block_columns(block), width(), bounds.data() + block * kBlock);
    const auto safe = [&](float gap, std::size_t i) {
      // Near the ends of float's range a gap says nothing, and rules out nothing.
      const bool telling = gap > 1e-30F && gap < 1e37F;
      const float least = telling ? gap - (slack_[i] + own) : 0.0F;
      return rounded_down(bound(static_cast<double>(std::max(0.0F, least)), i));
    };
    std::size_t first = end;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < end; ++i) {
      bounds[i] = safe(bounds[i], i);
      if (bounds[i] < least && allowed(i)) {
        least = bounds[i];
        first = i;
      }
    }
    if (first != end) offer(first);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < end; ++i) {
      if (static_cast<double>(bounds[i]) > limit() || i == first || !allowed(i)) continue;
      if (projection_.has_fine()) {
        const float gap = gaps.of_pair(mine.fine, fine_.data() + i * kFine, kFine);
        if (static_cast<double>(safe(gap, i)) > limit()) continue;
      }
      offer(i);
      ++offered;
    }
    if (offered > end - end / 4) rest = kRest;
  }

  void make_room_to_search(std::vector<float>& bounds, std::vector<double>& centred) const {
    if (bounds.size() < slack_.size()) {
      ramify::make_room(bounds, slack_.size() - bounds.size());
      bounds.resize(slack_.size());
    }
    centred.resize(projection_.dim());
  }

  /// What a batch of searches keeps between calls; one for each thread.
  struct Batch {
    std::vector<float> queries;  // kTile sweep vectors side by side, tile after tile
    std::vector<float> values;   // of one tile with one stretch of rows
    std::vector<std::uint32_t> places;
  };

  /// Searches for rows of its own, each among the rows before it.
  ///   offer(q, i)  computes the score of row i for queries[q]
  ///   limit(q)     squared distances above it are of no use to queries[q] any more
  template <class Id, class Offer, class Limit>
  void search_before(std::span<const Id> queries, Batch& batch, Offer&& offer, Limit&& limit,
                     const Pulse& pulse) const {
    const ProductKernels& kernels = product_kernels();
    const std::size_t tiles = (queries.size() + kTile - 1) / kTile;
    const std::size_t stretch =
        std::max(kStretch / (width() * sizeof(float) * kBlock), std::size_t{1}) * kBlock;
    batch.queries.assign(tiles * kTile * width(), 0);
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::size_t j = 0; j < width(); ++j)
        batch.queries[(q / kTile * width() + j) * kTile + q % kTile] = entry(queries[q], j);
    batch.values.resize(kTile * stretch);
    batch.places.resize(stretch);
    const std::size_t end = *std::max_element(queries.begin(), queries.end());
    // From the last rows backwards: streams tend to resemble what came just before.
    for (std::size_t s = (end + stretch - 1) / stretch; s-- > 0;) {
      pulse.check();
      const std::size_t from = s * stretch, to = std::min(from + stretch, end);
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        for (std::size_t block = from / kBlock; block * kBlock < to; ++block)
          kernels.products(batch.queries.data() + tile * kTile * width(), block_columns(block),
                           offset_.data() + block * kBlock, width(),
                           batch.values.data() + block * kBlock - from, stretch);
        const std::size_t last = std::min(queries.size(), (tile + 1) * kTile);
        for (std::size_t q = tile * kTile; q < last; ++q)
          if (queries[q] > from)
            look_closer(batch, q, queries[q], from, std::min<std::size_t>(to, queries[q]), stretch,
                        offer, limit);
      }
    }
  }

 private:
  static constexpr std::size_t kFirstFit = 1024;  // and the size of a sample
  static constexpr std::uint32_t kRest = 64;
  static constexpr std::size_t kStretch = std::size_t{1} << 18;  // bytes of sweep vectors
  static constexpr float kAnything = std::numeric_limits<float>::infinity();

  std::size_t width() const { return projection_.sweep_width(); }
  const float* block_columns(std::size_t block) const {
    return columns_.data() + block * kBlock * width();
  }
  float& entry(std::size_t i, std::size_t j) {
    return columns_[(i / kBlock * width() + j) * kBlock + i % kBlock];
  }
  float entry(std::size_t i, std::size_t j) const {
    return columns_[(i / kBlock * width() + j) * kBlock + i % kBlock];
  }

  void copy(std::size_t from, std::size_t to) {
    if (!projection_.fitted() || from == to) return;
    slack_[to] = slack_[from];
    offset_[to] = offset_[from];
    for (std::size_t j = 0; j < width(); ++j) entry(to, j) = entry(from, j);
    if (projection_.has_fine())
      std::copy_n(fine_.data() + from * kFine, kFine, fine_.data() + to * kFine);
  }

  /// A float that is at most the value, which is not negative. Beyond float's range
  /// that is its largest number, not infinity; below it nothing but zero.
  static float rounded_down(double value) {
    constexpr double kMost = std::numeric_limits<float>::max();
    constexpr double kLeast = std::numeric_limits<float>::min();
    const double lower = std::min(value * (1 - 3e-7), kMost);
    return lower < kLeast ? 0.0F : static_cast<float>(lower);
  }

  /// Near the ends of float's range products say nothing, and rule out nothing:
  /// such a row has an infinite slack.
  static bool tells(double radius) { return radius > 1e-24 && radius < 1e30; }

  /// Offer query q those rows of a stretch that its sweep did not rule out.
  template <class Offer, class Limit>
  void look_closer(Batch& batch, std::size_t q, std::size_t self, std::size_t from, std::size_t to,
                   std::size_t stretch, Offer&& offer, Limit&& limit) const {
    const ProductKernels& kernels = product_kernels();
    const float* values = batch.values.data() + q % kTile * stretch;
    // |z_x - z_y|^2 - slacks = 2 (own - value), which rules a row out above the limit.
    const auto own = static_cast<double>(offset_[self]);
    const auto least = [&] {
      const double value = own - limit(q) / 2;
      return static_cast<float>(value - 1e-6 * std::fabs(value));  // rounded down for sure
    };
    const std::size_t count = to - from;
    const float most = kernels.largest(values, count);
    if (!(most >= least())) return;
    // The most promising one first: it may rule out all others.
    std::size_t first = 0;
    while (values[first] != most && first + 1 < count) ++first;
    offer(q, from + first);
    const std::size_t found = kernels.at_least(values, count, least(), batch.places.data());
    for (std::size_t p = 0; p < found; ++p) {
      const std::size_t i = batch.places[p];
      if (i == first || !(values[i] >= least())) continue;
      if (projection_.has_fine() && fine_rules_out(self, from + i, limit(q))) continue;
      offer(q, from + i);
    }
  }

  bool fine_rules_out(std::size_t a, std::size_t b, double limit) const {
    const float gap =
        gap_kernels().of_pair(fine_.data() + a * kFine, fine_.data() + b * kFine, kFine);
    return gap < 1e37F && static_cast<double>(gap - (slack_[a] + slack_[b])) * (1 - 3e-7) > limit;
  }

  void make_space(std::size_t rows) {
    const std::size_t blocks = (rows + kBlock - 1) / kBlock;
    if (slack_.size() >= blocks * kBlock) return;
    make_room(columns_, blocks * kBlock * width() - columns_.size());
    columns_.resize(blocks * kBlock * width());
    make_room(slack_, kBlock);
    slack_.resize(blocks * kBlock);
    make_room(offset_, kBlock);
    offset_.resize(blocks * kBlock);
    if (!projection_.has_fine()) return;
    make_room(fine_, blocks * kBlock * kFine - fine_.size());
    fine_.resize(blocks * kBlock * kFine);
  }

  template <class RowOf>
  void set_from(std::size_t from, RowOf&& row, const Pulse& pulse) {
    for (std::size_t i = from; i < size_; ++i) {
      if (i % kBlock == 0) pulse.check();
      set(i, row(i));
    }
  }

  template <class RowOf>
  void fit(RowOf&& row, const Pulse& pulse) {
    const std::size_t sample = std::min(size_, kFirstFit);
    projection_.fit([&](std::size_t i) { return row(i * size_ / sample); }, sample, pulse);
    centred_.resize(projection_.dim());
    for (std::vector<float>* old : {&columns_, &fine_, &slack_, &offset_}) old->clear();
    make_space(size_);
    set_from(0, row, pulse);
    next_fit_ = 8 * size_;
  }

  Projection<Real> projection_;
  std::size_t size_ = 0;
  std::size_t next_fit_ = kFirstFit;
  std::vector<float> columns_;   // sweep vectors: kBlock * width() a block, column by column
  std::vector<float> fine_;      // fine vectors, one after the other, if there are any
  std::vector<float> slack_;     // by row
  std::vector<float> offset_;    // by row: (|z|^2 - slack) / 2 of the sweep vector
  std::vector<double> centred_;  // room to shorten a row
};

}  // namespace ramify
