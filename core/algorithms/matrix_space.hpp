// SPDX-License-Identifier: BSD-3-Clause
// matrix_space.hpp: all linkages of a small forest at once, kept up to date by
// Lance-Williams in O(m) a merge.
//
// A union takes over the row of one of its parts. Only rows of unions are ever
// rewritten: the row of a single forest item goes stale in the columns of items
// that have been merged, and those columns are closed (infinite in `closed`).
// Whoever searches looks along its own row at the open columns, and asks each
// union, of which there are few, for its entry. Rows are padded to whole vectors. Columns before
// the first open one, and after the last, are not looked at: a path is mostly merged from below.
//
// In many dimensions most of the work is filling the matrix, pair by pair in the one
// order of sums that answers have. Inner products of all means at once are several times
// quicker and differ in the last digits. Those matter only where two clusters are almost
// equally near: a space filled by products says so (is_certain), and the caller begins
// again with an exact one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "algorithms/forest_spaces.hpp"
#include "math/dispatch.hpp"
#include "math/lanes.hpp"
#include "math/product_bounds.hpp"

namespace ramify {

enum class Filling { kExact, kByProducts };

template <class Real, class Rule, Filling kFilling = Filling::kExact>
class MatrixSpace {
 public:
  RAMIFY_INLINE MatrixSpace(std::span<const ForestItem<Real>> forest, std::size_t dim,
                            ForestScratch& scratch, const Pulse&)
      : m_(forest.size()), stride_((m_ + kWidth - 1) / kWidth * kWidth), s_(scratch) {
    s_.matrix.resize(m_ * stride_);
    begin(forest);
    if constexpr (kFilling == Filling::kByProducts)
      fill_by_products(forest, dim);
    else if (dim < kLanes)
      fill_by_column(forest, dim);
    else
      fill_by_pair(forest, dim);
  }

  /// Was every nearest cluster so far nearest beyond doubt?
  bool is_certain() const { return is_certain_; }

  RAMIFY_INLINE Found nearest(std::uint32_t c) {
    const std::uint32_t row = s_.row_of[c];
    Best best = nearest_open(row);
    for (const std::uint32_t other : s_.unions)
      if (other != row) consider(best, other, row_at(other)[row]);
    if constexpr (kFilling == Filling::kByProducts) {
      const double limit = best.linkage + doubt_;
      std::size_t near = open_within(row, limit);
      for (const std::uint32_t other : s_.unions)
        near += other != row && s_.matrix[other * stride_ + row] <= limit;
      is_certain_ = is_certain_ && near == 1;
    }
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
    s_.linkages.push_back(l_ab + doubt_);
    double* to_union = row_at(row_a);
    s_.closed[row_a] = s_.closed[row_b] = kClosed;
    if (stride_ >= 8 * kWidth) narrow();
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
    s_.row_of[c] = row_a;
  }

 private:
  static constexpr std::size_t kWidth = kLanesWidth;
  static constexpr double kClosed = std::numeric_limits<double>::infinity();
  static constexpr double kFar = 1e300;  // of an item to itself; finite, so that sums stay so

  struct Best {
    std::uint32_t row;
    double linkage;
  };

  /// Whole vectors of columns at either end that are all closed are done with.
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

#if defined(__GNUC__) || defined(__clang__)
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
#endif

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
#if defined(__GNUC__) || defined(__clang__)
    const double* closed = s_.closed.data();
    Least nearest = least_of([&](std::size_t i, Lanes& out) __attribute__((always_inline)) {
      Lanes shut;
      read(i, out);
      load(shut, closed + i);
      out += shut;
    });
    if (nearest.is_alone || nearest.value == kClosed) return {nearest.column, nearest.value};
    if (nearest.value < kFar) {
      // The lighter one comes first (order.hpp); sizes are the weights of ranks.
      const Least lightest =
          least_of([&](std::size_t i, Lanes& out) __attribute__((always_inline)) {
            Lanes linkages, shut;
            load(linkages, row_at(row) + i);
            load(shut, closed + i);
            load(out, &s_.sizes[i]);
            const Lanes infinite = Lanes{} + kClosed;
            out = linkages + shut == nearest.value ? out : infinite;
          });
      if (lightest.is_alone) return {lightest.column, nearest.value};
    }
#else
    Lanes all;
    for (std::size_t i = open_begin_; i < open_end_; i += kWidth) read(i, all);
#endif
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

  RAMIFY_INLINE std::size_t open_within(std::uint32_t row, double limit) const {
    const double* linkages = row_at(row);
    const double* closed = s_.closed.data();
    std::int64_t near = 0;
    for (std::size_t i = open_begin_; i < open_end_; ++i)
      near += linkages[i] + closed[i] <= limit ? 1 : 0;
    return static_cast<std::size_t>(near);
  }

  /// All linkages from inner products, the last item being the origin of distances.
  RAMIFY_INLINE void fill_by_products(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    const std::size_t count = (m_ + kGram - 1) / kGram * kGram;
    s_.columns.resize(dim * column_stride(count));
    s_.products.resize(count * count);
    static_assert(kFilling == Filling::kExact || Rule::kMeanOfParts);
    const Real* origin = Rule::kProduct ? nullptr : forest.back().summary.mean;
    as_columns(
        m_, count, dim, [&](std::size_t i) { return forest[i].summary.mean; }, origin,
        s_.columns.data());
    product_kernels().double_gram(s_.columns.data(), count, dim, s_.products.data());
    s_.radii.assign(stride_, 0);
    s_.rule_weights.assign(stride_, 0);
    double farthest = 0, points = 0, least = std::numeric_limits<double>::infinity();
    double heaviest = 0;
    for (std::size_t i = 0; i < m_; ++i) {
      s_.radii[i] = s_.products[i * count + i];
      s_.rule_weights[i] = Rule::weight(forest[i].summary.n, forest[i].summary.variance());
      farthest = std::max(farthest, s_.radii[i]);
      heaviest = std::max(heaviest, s_.rule_weights[i]);
      points += forest[i].summary.n;
      least = std::min(least, forest[i].summary.n);
    }
    for (std::size_t i = 0; i < m_; ++i) {
      fill_row(i, i / kWidth * kWidth, &s_.products[i * count]);
      s_.matrix[i * stride_ + i] = kFar;
      for (std::size_t k = m_; k < stride_; ++k) s_.matrix[i * stride_ + k] = kFar;
    }
    mirror();
    const double most = Rule::kProduct ? farthest : 4 * farthest + 2 * heaviest;
    // Of the products, and of the means that are taken of linkages, as in StablePath.
    const auto m = static_cast<double>(m_);
    doubt_ = 8 * gram_rounding<double>(dim) * farthest + 2e-14 * (points / least + m * m) * most;
    is_certain_ = std::isfinite(doubt_);
  }
  /// Linkages of item i to those from `from` on.
  RAMIFY_INLINE void fill_row(std::size_t i, std::size_t from, const double* products) {
    double* row = &s_.matrix[i * stride_];
    const double own = s_.radii[i], weight = s_.rule_weights[i];
    const double *radii = s_.radii.data(), *weights = s_.rule_weights.data();
    for (std::size_t k = from; k < stride_; ++k) {
      const double gap = own + radii[k] - 2 * products[k];
      const double value = Rule::kProduct ? products[k] : (gap > 0 ? gap : 0);
      row[k] = Rule::score(value, weight, weights[k]);
    }
  }
  /// Copy the upper half to the lower one, a few rows and columns at a time.
  RAMIFY_INLINE void mirror() {
    double* matrix = s_.matrix.data();
    for (std::size_t i = 0; i < m_; i += kWidth)
      for (std::size_t k = i; k < m_; k += kWidth)
        for (std::size_t a = i; a < std::min(i + kWidth, m_); ++a)
          for (std::size_t b = std::max(a + 1, k); b < std::min(k + kWidth, m_); ++b)
            matrix[b * stride_ + a] = matrix[a * stride_ + b];
  }

  void fill_by_pair(std::span<const ForestItem<Real>> forest, std::size_t dim) {
    std::fill(s_.matrix.begin(), s_.matrix.end(), kFar);
    for (std::size_t i = 0; i + 1 < m_; ++i)
      for (std::size_t k = i + 1; k < m_; ++k)
        s_.matrix[i * stride_ + k] = s_.matrix[k * stride_ + i] =
            linkage_of<Rule>(forest[i].summary, forest[k].summary, dim);
  }

  std::size_t m_, stride_;
  std::size_t open_begin_ = 0, open_end_ = stride_;  // no other columns are open
  ForestScratch& s_;
  double doubt_ = 0;  // what a linkage may be off by, and its unions
  bool is_certain_ = true;
};

}  // namespace ramify
