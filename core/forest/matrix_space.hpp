// SPDX-License-Identifier: BSD-3-Clause
// matrix_space.hpp: all linkages of a small forest at once, kept up to date by
// Lance-Williams in O(m) a merge.
//
// A union takes over the row of one of its parts. Only rows of unions are ever
// rewritten: the row of a single forest item goes stale in the columns of items
// that have been merged, and those columns are closed (infinite in `closed`).
// A search looks along its own row at the open columns, and asks each
// union, of which there are few, for its entry. Rows are padded to whole vectors. Columns before
// the first open one, and after the last, are not looked at: a path is mostly merged from below.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "forest/forest_spaces.hpp"
#include "forest/tally.hpp"
#include "math/dispatch.hpp"
#include "math/lanes.hpp"

namespace ramify {

template <class Real, class Rule>
class MatrixSpace {
 public:
  static constexpr bool kHasAllPairs = true;

  RAMIFY_INLINE MatrixSpace(std::span<const ForestItem<Real>> forest, std::size_t dim,
                            ForestScratch& scratch, const Pulse& pulse)
      : m_(forest.size()), stride_((m_ + kWidth - 1) / kWidth * kWidth), s_(scratch) {
    s_.matrix.resize(m_ * stride_);
    count_work(m_ * stride_);
    begin(forest);
    if (dim < kLanes)
      fill_by_column(forest, dim);
    else
      fill_by_pair(forest, dim, pulse);
  }

  RAMIFY_INLINE Found nearest(std::uint32_t c) {
    count_work(open_end_ - open_begin_ + s_.unions.size());
    const std::uint32_t row = s_.row_of[c];
    Best best = nearest_open(row);
    for (const std::uint32_t other : s_.unions)
      if (other != row) consider(best, other, row_at(other)[row]);
    return {s_.at_row[best.row], best.linkage};
  }

  RAMIFY_INLINE void merge(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t row_a = s_.row_of[a], row_b = s_.row_of[b];
    forget_union(row_a);
    forget_union(row_b);
    const double *to_a = row_at(row_a), *to_b = row_at(row_b);
    const double* sizes = s_.sizes.data();
    const bool a_was_item = s_.closed[row_a] == 0;
    const double n_a = sizes[row_a], n_b = sizes[row_b];
    // A single item's row is right in the columns of items, a union's everywhere.
    const double l_ab = a_was_item && s_.closed[row_b] != 0 ? to_b[row_a] : to_a[row_b];
    s_.linkages.push_back(l_ab);
    double* to_union = row_at(row_a);
    s_.closed[row_a] = s_.closed[row_b] = kClosed;
    if (stride_ >= 8 * kWidth) narrow();
    count_work(open_end_ - open_begin_ + s_.unions.size());
    for (std::size_t i = open_begin_; i < open_end_; ++i)
      to_union[i] = Rule::update({n_a, n_b, sizes[i], to_a[i], to_b[i], l_ab});
    for (const std::uint32_t other : s_.unions) {
      double* to_other = row_at(other);
      to_union[other] = to_other[row_a] =
          Rule::update({n_a, n_b, sizes[other], to_other[row_a], to_other[row_b], l_ab});
    }
    s_.sizes[row_a] = n_a + n_b;
    s_.unions.push_back(row_a);
    s_.at_row[row_a] = c;
    s_.at_row[row_b] = kNobody;
    s_.row_of[c] = row_a;
  }

  // --- for nearest_pairs.hpp ---
  std::size_t rows() const { return m_; }
  std::uint32_t row_of(std::uint32_t c) const { return s_.row_of[c]; }
  std::uint32_t at_row(std::uint32_t row) const { return s_.at_row[row]; }
  double linkage(std::uint32_t r, std::uint32_t s) const {
    // A single item's row is right in the columns of items, a union's everywhere.
    return s_.closed[r] == 0 && s_.closed[s] != 0 ? row_at(s)[r] : row_at(r)[s];
  }

 private:
  static constexpr std::size_t kWidth = kLanesWidth, kPairsToAPulse = 4096;
  static constexpr double kClosed = std::numeric_limits<double>::infinity();
  static constexpr double kFar = 1e300;  // of an item to itself; finite, so that sums stay so

  struct Best {
    std::uint32_t row;
    double linkage;
  };

  /// Whole vectors of columns at either end that are all closed are passed over.
  RAMIFY_INLINE void narrow() {
    const auto all_closed = [&](std::size_t from) {
      int open = 0;
      for (std::size_t i = from; i < from + kWidth; ++i) open += s_.closed[i] == 0 ? 1 : 0;
      return open == 0;
    };
    while (open_begin_ < open_end_ && all_closed(open_begin_)) open_begin_ += kWidth;
    while (open_begin_ < open_end_ && all_closed(open_end_ - kWidth)) open_end_ -= kWidth;
  }

  RAMIFY_INLINE void begin(std::span<const ForestItem<Real>> forest) {
    s_.sizes.assign(stride_, 1);
    s_.closed.assign(stride_, kClosed);
    s_.unions.clear();
    s_.linkages.clear();
    s_.row_of.resize(2 * m_ - 1);
    s_.at_row.resize(stride_);
    for (std::uint32_t i = 0; i < m_; ++i) {
      s_.row_of[i] = i;
      s_.at_row[i] = i;
      s_.sizes[i] = forest[i].summary.n;
      s_.closed[i] = 0;
    }
  }

  RAMIFY_INLINE const double* row_at(std::uint32_t row) const { return &s_.matrix[row * stride_]; }
  RAMIFY_INLINE double* row_at(std::uint32_t row) { return &s_.matrix[row * stride_]; }

  struct Least {
    std::uint32_t column;
    double value;
    bool is_alone;
  };
  /// The least of the numbers that read(i, lanes) has for kWidth columns from i on.
  template <class Read>
  RAMIFY_INLINE Least least_of(const Read& read) const {
    // Each lane keeps its least entry, where it was, and whether it came twice.
    typedef std::int64_t Marks __attribute__((vector_size(8 * kWidth)));
    Lanes least, next;
    Marks at = {0, 1, 2, 3, 4, 5, 6, 7};
    at += static_cast<std::int64_t>(open_begin_);
    Marks where = at, twice = {};
    read(open_begin_, least);
    for (std::size_t i = open_begin_ + kWidth; i < open_end_; i += kWidth) {
      read(i, next);
      at += static_cast<std::int64_t>(kWidth);
      const Marks less = next < least, same = next == least;
      least = less ? next : least;
      where = less ? at : where;
      twice = ~less & (twice | same);
    }
    Least found{static_cast<std::uint32_t>(where[0]), least[0], twice[0] == 0};
    for (std::size_t j = 1; j < kWidth; ++j) {
      if (least[j] > found.value) continue;
      const bool is_alone = least[j] != found.value && twice[j] == 0;
      found = {static_cast<std::uint32_t>(where[j]), least[j], is_alone};
    }
    return found;
  }

  RAMIFY_INLINE void consider(Best& best, std::uint32_t row, double linkage) const {
    if (linkage < best.linkage ||
        (linkage == best.linkage &&
         comes_first(s_.ranks[s_.at_row[row]], s_.ranks[s_.at_row[best.row]])))
      best = {row, linkage};
  }

  /// The nearest item among the open columns; infinitely far if there is none. `read` has the
  /// linkages of kWidth columns from i on: read(i, lanes).
  template <class Read>
  RAMIFY_INLINE Best nearest_open(std::uint32_t row, const Read& read) const {
    if (open_begin_ == open_end_) return {row, kClosed};
    const double* closed = s_.closed.data();
    Least nearest = least_of([&](std::size_t i, Lanes& out) __attribute__((always_inline)) {
      Lanes closed_here;
      read(i, out);
      load(closed_here, closed + i);
      out += closed_here;
    });
    if (nearest.is_alone || nearest.value == kClosed) return {nearest.column, nearest.value};
    if (nearest.value < kFar) {
      // The lighter one comes first (order.hpp); sizes are the weights of ranks.
      const Least lightest =
          least_of([&](std::size_t i, Lanes& out) __attribute__((always_inline)) {
            Lanes linkages, closed_here;
            load(linkages, row_at(row) + i);
            load(closed_here, closed + i);
            load(out, &s_.sizes[i]);
            const Lanes infinite = Lanes{} + kClosed;
            out = linkages + closed_here == nearest.value ? out : infinite;
          });
      if (lightest.is_alone) return {lightest.column, nearest.value};
    }
    return nearest_open_one_by_one(row);
  }
  RAMIFY_INLINE Best nearest_open_one_by_one(std::uint32_t row) const {
    Best best{row, kClosed};
    const double *linkages = row_at(row), *closed = s_.closed.data();
    for (auto i = static_cast<std::uint32_t>(open_begin_); i < open_end_; ++i)
      if (closed[i] == 0 && i != row) consider(best, i, linkages[i]);
    return best;
  }
  RAMIFY_INLINE Best nearest_open(std::uint32_t row) const {
    const double* linkages = row_at(row);
    return nearest_open(row, [&](std::size_t i, Lanes& out) { load(out, linkages + i); });
  }

  RAMIFY_INLINE void forget_union(std::uint32_t row) {
    for (std::uint32_t& other : s_.unions)
      if (other == row) {
        other = s_.unions.back();
        s_.unions.pop_back();
        return;
      }
  }

  RAMIFY_INLINE void fill_by_column(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    // Column by column, so that one row of linkages is a few flat loops.
    s_.columns.assign((dim + 1) * stride_, 1);  // padding is computed like the rest
    double* columns = s_.columns.data();
    double* weights = columns + dim * stride_;
    for (std::size_t i = 0; i < m_; ++i) {
      const SummaryView<Real>& summary = forest[i].summary;
      for (std::size_t j = 0; j < dim; ++j)
        columns[j * stride_ + i] = static_cast<double>(summary.mean[j]);
      weights[i] = Rule::weight(summary.n, summary.variance());
    }
    for (std::size_t i = 0; i < m_; ++i) {
      double* row = &s_.matrix[i * stride_];
      const double weight = weights[i];
      for (std::size_t from = 0; from < stride_; from += kWidth) {
        Lanes there, sums;
        load(there, columns + from);
        add_terms<true>(columns[i], there, sums);
        for (std::size_t j = 1; j < dim; ++j) {
          const double* column = columns + j * stride_;
          load(there, column + from);
          add_terms<false>(column[i], there, sums);
        }
        store(sums, row + from);
      }
      for (std::size_t k = 0; k < stride_; ++k) row[k] = Rule::score(row[k], weight, weights[k]);
      row[i] = kFar;
    }
  }
  /// One column's part of what a linkage is a sum of.
  template <bool kFirst>
  RAMIFY_INLINE static void add_terms(double here, const Lanes& there, Lanes& sums) {
    const Lanes gap = here - there, term = Rule::kProduct ? here * there : gap * gap;
    sums = kFirst ? 0.0 + term : sums + term;
  }

  void fill_by_pair(std::span<const ForestItem<Real>> forest, std::size_t dim, const Pulse& pulse) {
    std::fill(s_.matrix.begin(), s_.matrix.end(), kFar);
    const auto compute = [&](std::size_t i, std::size_t k) {
      if (pairs_++ % kPairsToAPulse == 0) pulse.check();
      return linkage_of<Rule>(forest[i].summary, forest[k].summary, dim);
    };
    const auto use = [&](std::size_t i, std::size_t k, double linkage) {
      s_.matrix[i * stride_ + k] = s_.matrix[k * stride_ + i] = linkage;
    };
    if (!s_.trees.empty()) return s_.kept.each_pair(s_.trees, compute, use);
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t k = 0; k < i; ++k) use(i, k, compute(i, k));
  }

  std::size_t m_, stride_, pairs_ = 0;
  std::size_t open_begin_ = 0, open_end_ = stride_;  // no other columns are open
  ForestScratch& s_;
};

}  // namespace ramify
