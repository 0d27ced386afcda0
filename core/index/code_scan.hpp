// SPDX-License-Identifier: BSD-3-Clause
// code_scan.hpp: which of many rows may be near to one? Byte codes of all of them
// (projection.hpp), swept in whole numbers.
//
// If |q_x - q_y| in steps of a byte exceeds what is asked for by more than the doubts of
// both rows, y is out of the question. Rows whose doubt is unusually large, because they
// lie far from all that the projection was fitted to, are never ruled out.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "math/growth.hpp"
#include "math/projection.hpp"

namespace ramify {

/// What rows are compared with.
struct CodeQuery {
  std::vector<std::int8_t> codes;
  std::int32_t bias = 0;
  double squares = 0;  // |q|^2
  double doubt = 0;
  Multiplier multiplier;  // for products

  /// Those of a row; asks for no memory if there is room.
  void set(const ShortRow& row) {
    codes.assign(row.broad.begin(), row.broad.end());
    sum_up(row.broad_doubt);
  }
  /// Codes have been filled in, of a row of this doubt.
  void sum_up(double of_row) {
    std::int32_t sum = 0, sum_of_squares = 0;
    for (const std::int8_t code : codes) {
      sum += std::int32_t{code};
      sum_of_squares += std::int32_t{code} * code;
    }
    bias = 128 * sum;
    squares = static_cast<double>(sum_of_squares);
    doubt = of_row;
  }
};

/// What a sweep has found for one query, to be looked at when it is over: most of it is out
/// of the question then.
class CodeCandidates {
 public:
  /// Without room, every row is looked at at once.
  void make_room(std::size_t rows) { rest_.reserve(rows); }
  void clear() {
    top_ = std::numeric_limits<std::int32_t>::min();
    rest_.clear();
  }
  /// True if a row is to be looked at now: it has a larger value than all before, or there
  /// is no room to remember it. Asks for no memory.
  bool now(std::int32_t value, std::size_t row) {
    if (value > top_ || rest_.size() == rest_.capacity()) {
      top_ = std::max(top_, value);
      return true;
    }
    rest_.emplace_back(-value, static_cast<std::uint32_t>(row));
    return false;
  }
  /// The others, largest values first, until use(value, row) says that it is enough, which it does
  /// of values below `least`: most of them, that were not when they came. soon(row) is told a
  /// little earlier.
  template <class Use, class Soon>
  void settle(std::int32_t least, Use&& use, Soon&& soon) {
    constexpr std::size_t kAhead = 2;
    std::erase_if(rest_, [&](const auto& one) { return -one.first < least; });
    std::sort(rest_.begin(), rest_.end());
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (i + kAhead < rest_.size()) soon(rest_[i + kAhead].second);
      if (!use(-rest_[i].first, rest_[i].second)) break;
    }
    clear();
  }

 private:
  std::int32_t top_ = std::numeric_limits<std::int32_t>::min();
  std::vector<std::pair<std::int32_t, std::uint32_t>> rest_;
};

class CodeScan {
 public:
  std::size_t size() const { return size_; }
  std::size_t width() const { return width_; }
  /// Rows that are never ruled out.
  std::size_t loose() const { return loose_; }

  /// Forget all rows; new ones come from a projection with these traits. For inner products rows
  /// are turned whole; limits are minus products then, and gaps mean nothing.
  template <class Real>
  void begin(const Projection<Real>& projection, bool of_products = false) {
    width_ = projection.broad();
    unit_ = projection.scale() / projection.step();
    usual_ = 1.1 * projection.usual_doubt();
    size_ = loose_ = 0;
    worst_ = longest_ = 0;
    of_products_ = of_products;
    codes_.clear();
    offsets_.clear();
  }
  /// Room for rows up to this one; those that are new are not there until they are set.
  void extend(std::size_t rows) {
    const std::size_t blocks = (rows + kBlock - 1) / kBlock;
    size_ = std::max(size_, rows);
    if (offsets_.size() >= blocks * kBlock) return;
    make_room(codes_, blocks * kBlock * width_ - codes_.size());
    codes_.resize(blocks * kBlock * width_, kZero);
    make_room(offsets_, kBlock);
    offsets_.resize(blocks * kBlock, kGone);
  }

  void set(std::size_t i, const ShortRow& row) {
    remove(i);
    std::int32_t squares = 0;
    for (std::size_t j = 0; j < width_; ++j) {
      squares += std::int32_t{row.broad[j]} * row.broad[j];
      code(i, j) = static_cast<std::uint8_t>(row.broad[j] + 128);
    }
    offsets_[i] = of_products_ ? 0 : squares / 2;
    if (row.broad_doubt <= usual_) {
      worst_ = std::max(worst_, row.broad_doubt);
      longest_ = std::max(longest_, std::sqrt(static_cast<double>(squares)));
    } else {
      offsets_[i] = kNeverOut;
      ++loose_;
    }
  }
  /// Nothing of it is kept.
  void remove(std::size_t i) {
    loose_ -= offsets_[i] == kNeverOut ? 1 : 0;
    offsets_[i] = kGone;
    for (std::size_t j = 0; j < width_; ++j) code(i, j) = kZero;
  }
  void move(std::size_t from, std::size_t to) {
    if (from == to) return;
    remove(to);
    for (std::size_t j = 0; j < width_; ++j) code(to, j) = code(from, j);
    std::swap(offsets_[to], offsets_[from]);
    for (std::size_t j = 0; j < width_; ++j) code(from, j) = kZero;
  }
  /// Rows have other numbers now, in the same order; `left` of them. A removed row has the number
  /// of the next surviving one.
  void renumber(std::span<const std::uint32_t> new_row, std::size_t left) {
    for (std::size_t i = 0; i < new_row.size(); ++i)
      if (i + 1 == new_row.size() ? new_row[i] < left : new_row[i] < new_row[i + 1])
        move(i, new_row[i]);
    size_ = left;
  }
  /// Where one of `parts` parts of all rows begins, each of whole blocks.
  std::size_t begin_of(std::size_t part, std::size_t parts) const {
    const std::size_t blocks = (size_ + kBlock - 1) / kBlock;
    return std::min(part * blocks / parts * kBlock, size_);
  }

  /// A row that is there, as a query; not one that is never ruled out. Asks for no memory if there
  /// is room.
  void query_at(std::size_t i, CodeQuery& out) const {
    out.codes.resize(width_);
    for (std::size_t j = 0; j < width_; ++j)
      out.codes[j] = static_cast<std::int8_t>(code(i, j) - kZero);
    out.sum_up(worst_);
  }
  bool is_loose(std::size_t i) const { return offsets_[i] == kNeverOut; }

  /// At most |x - y|^2, for a row that has this value.
  double gap(const CodeQuery& query, std::int32_t value) const {
    if (value >= -kNeverOut / 2) return 0;
    const double squares = std::max(0.0, query.squares - 2 * static_cast<double>(value));
    const double apart = std::max(0.0, std::sqrt(squares) - query.doubt - worst_) / unit_;
    return apart * apart * (1 - 1e-5);
  }

  /// Have every row from `from`, a whole number of blocks, to `end` offered whose squared distance
  /// may be at most the limit.
  ///   offer(i, gap)  row i is at least this far, squared
  ///   limit()        squared distances above it are of no use any more
  template <class Offer, class Limit>
  void search(const CodeQuery& query, std::size_t from, std::size_t end, Offer&& offer,
              Limit&& limit) const {
    pass(query, from, end, limit, [&](std::size_t i, std::int32_t value) {
      offer(i, gap(query, value));
      return true;
    });
  }

  /// The same in two steps, for a sweep in several pieces: some rows are offered at once,
  /// the others by settle(), and only if they still matter.
  ///   offer(i)
  template <class Offer, class Limit>
  void collect(const CodeQuery& query, std::size_t from, std::size_t end,
               CodeCandidates& candidates, Offer&& offer, Limit&& limit) const {
    pass(query, from, end, limit, [&](std::size_t i, std::int32_t value) {
      const bool now = candidates.now(value, i);
      if (now) offer(i);
      return now;
    });
  }
  template <class Offer, class Limit, class Soon>
  void settle(const CodeQuery& query, CodeCandidates& candidates, Offer&& offer, Limit&& limit,
              Soon&& soon) const {
    std::int32_t least = threshold(query, limit());
    candidates.settle(
        least,
        [&](std::int32_t value, std::size_t row) {
          if (value < least) return false;
          offer(row);
          least = threshold(query, limit());
          return true;
        },
        soon);
  }

  /// The same for many queries, so that codes are fetched once for several.
  ///   ends[q]            for query q rows from here on do not count
  ///   offer(q, i), limit(q)
  ///   soon(i)            row i will probably be offered
  template <class Offer, class Limit, class Soon>
  void search_many(const std::vector<CodeQuery>& queries, const std::vector<std::size_t>& ends,
                   Offer&& offer, Limit&& limit, Soon&& soon, const Pulse& pulse) const {
    const std::size_t tiles = (queries.size() + kQueries - 1) / kQueries;
    const std::size_t stretch = std::max(kStretch / (width_ * kBlock), std::size_t{1}) * kBlock;
    std::vector<std::int8_t> codes(tiles * kQueries * width_);
    std::vector<ByteQueries> tile(tiles);
    std::vector<std::size_t> last(tiles, 0);
    std::vector<CodeCandidates> candidates(queries.size());
    for (CodeCandidates& mine : candidates) mine.make_room(kRemembered);
    for (std::size_t q = 0; q < tiles * kQueries; ++q) {
      ByteQueries& mine = tile[q / kQueries];
      mine.codes = codes.data() + q / kQueries * kQueries * width_;
      mine.width = width_;
      mine.threshold[q % kQueries] = kNoValue;
      mine.bias[q % kQueries] = 0;
      if (q >= queries.size()) continue;
      std::copy_n(queries[q].codes.begin(), width_,
                  codes.begin() + static_cast<std::ptrdiff_t>(q * width_));
      mine.bias[q % kQueries] = queries[q].bias;
      mine.threshold[q % kQueries] = threshold(queries[q], limit(q));
      last[q / kQueries] = std::max(last[q / kQueries], ends[q]);
    }
    const std::size_t end = *std::max_element(ends.begin(), ends.end());
    for (std::size_t from = 0; from < end; from += stretch) {
      pulse.check();
      for (std::size_t t = 0; t < tiles; ++t)
        sweep(queries, ends, tile[t], t * kQueries, from, std::min(from + stretch, last[t]),
              candidates, offer, limit);
    }
    for (std::size_t q = 0; q < queries.size(); ++q)
      settle(
          queries[q], candidates[q], [&](std::size_t i) { offer(q, i); }, [&] { return limit(q); },
          soon);
  }

 private:
  static constexpr std::uint8_t kZero = 128;
  static constexpr std::int32_t kGone = std::int32_t{1} << 30;  // value below all thresholds
  static constexpr std::int32_t kNeverOut = -(std::int32_t{1} << 29);
  static constexpr std::int32_t kNoValue = std::numeric_limits<std::int32_t>::max();
  static constexpr double kTiny = 1e-280;          // products of such steps have lost digits
  static constexpr std::size_t kRemembered = 256;  // candidates of each of many queries
  static constexpr std::size_t kStretch = std::size_t{1} << 18;  // bytes of codes

  std::size_t place(std::size_t i, std::size_t j) const {
    return i / kBlock * kBlock * width_ + place_in_block(i % kBlock, j);
  }
  std::uint8_t& code(std::size_t i, std::size_t j) { return codes_[place(i, j)]; }
  std::uint8_t code(std::size_t i, std::size_t j) const { return codes_[place(i, j)]; }

  /// Rows with values below this one are farther than the limit, squared.
  std::int32_t threshold(const CodeQuery& query, double limit) const {
    constexpr double kMost = double{1 << 28};
    const double value = of_products_ ? product_value(query, -limit) : distance_value(query, limit);
    return value > -kMost ? static_cast<std::int32_t>(std::floor(std::min(value, kMost)))
                          : static_cast<std::int32_t>(-kMost);  // also if it is no number
  }
  double distance_value(const CodeQuery& query, double limit) const {
    const double far = std::sqrt(std::max(limit, 0.0)) * unit_ * (1 + 1e-5) + query.doubt + worst_;
    return (query.squares - far * far) / 2 - 1;
  }
  /// With e what bytes leave out of two rows, (q_x + e_x).(q_y + e_y) is at most
  /// q_x.q_y + |q_x| |e_y| + |e_x| (|q_y| + |e_y|).
  double product_value(const CodeQuery& query, double product) const {
    const Multiplier& by = query.multiplier;
    if (!(by.unit > kTiny)) return -std::numeric_limits<double>::infinity();
    const double steps = (product - by.shift - by.slack - 1e-12 * std::fabs(product)) / by.unit;
    return steps - std::sqrt(query.squares) * worst_ - by.doubt * (longest_ + worst_) - 2;
  }

  /// Call use(i, value) for every row from `from` to `end` whose value is not below the threshold,
  /// which is another one once `use` says that it has looked at the row.
  template <class Limit, class Use>
  void pass(const CodeQuery& query, std::size_t from, std::size_t end, Limit&& limit,
            const Use& use) const {
    const ByteKernels& kernels = byte_kernels();
    ByteQueries queries;
    queries.codes = query.codes.data();
    queries.width = width_;
    queries.bias[0] = query.bias;
    queries.threshold[0] = threshold(query, limit());
    std::int32_t values[kBlock];
    for (; from < end; from += kBlock) {
      std::uint32_t mask =
          kernels.one(queries, codes_.data() + from * width_, offsets_.data() + from, values);
      for (; mask != 0; mask &= mask - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(mask));
        if (values[k] < queries.threshold[0] || from + k >= end) continue;
        if (use(from + k, values[k])) queries.threshold[0] = threshold(query, limit());
      }
    }
  }

  template <class Offer, class Limit>
  void sweep(const std::vector<CodeQuery>& queries, const std::vector<std::size_t>& ends,
             ByteQueries& tile, std::size_t first, std::size_t from, std::size_t to,
             std::vector<CodeCandidates>& candidates, Offer&& offer, Limit&& limit) const {
    const ByteKernels& kernels = byte_kernels();
    std::int32_t values[kQueries * kBlock];
    std::uint32_t masks[kQueries];
    for (; from < to; from += kBlock) {
      if (kernels.tile(tile, codes_.data() + from * width_, offsets_.data() + from, values,
                       masks) == 0)
        continue;
      for (std::size_t k = 0; k < kQueries; ++k)
        for (std::uint32_t mask = masks[k]; mask != 0; mask &= mask - 1) {
          const auto i = static_cast<std::size_t>(std::countr_zero(mask));
          const std::size_t q = first + k;
          if (values[k * kBlock + i] < tile.threshold[k] || from + i >= ends[q]) continue;
          if (!candidates[q].now(values[k * kBlock + i], from + i)) continue;
          offer(q, from + i);
          tile.threshold[k] = threshold(queries[q], limit(q));
        }
    }
  }

  std::size_t size_ = 0, width_ = 0, loose_ = 0;
  double unit_ = 1;     // steps of a byte in a distance of one
  double usual_ = 0;    // rows with larger doubts are loose
  double worst_ = 0;    // doubt of those that are not
  double longest_ = 0;  // and length, in steps
  bool of_products_ = false;
  BigVector<std::uint8_t> codes_;    // kBlock * width_ a block
  BigVector<std::int32_t> offsets_;  // by row: |q|^2 / 2, kGone or kNeverOut
};

}  // namespace ramify
