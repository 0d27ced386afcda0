// SPDX-License-Identifier: BSD-3-Clause
// linkage_table.hpp: linkages between the subtrees that hang off a path, kept from one repair to
// the next.
//
// Long paths share most of their subtrees with the paths before, where rows have no structure, and
// the linkages between those are what they were. So each subtree that hangs off the path that is
// open has a place in the table, and keeps it, as long as it is what it was, until others need it
// more: the next path but one may turn off where this one does. Only those that are new are
// compared: with all, in the one order of sums that answers have. Whoever searches in the table
// (matrix_space.hpp) finds what a table of all pairs would hold, to the bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/forest_hac.hpp"
#include "math/dispatch.hpp"
#include "math/growth.hpp"
#include "math/kernels.hpp"
#include "math/lanes.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// A few rows beside blocks of others, coordinate j of place i of a block at
/// [j * kLanesWidth + i].
struct RowsAndBlocks {
  const double* rows;
  const double* blocks;
  std::size_t count, dim;
  double* const* out;  // by row
};

/// Squared distances, or inner products: kernels.hpp's sums, in their order.
template <bool kProduct, std::size_t kRows>
RAMIFY_INLINE void sums_of_blocks(const RowsAndBlocks& r) {
  constexpr std::size_t kTogether = 4;  // sums of a row that the registers hold
  for (std::size_t block = 0; block < r.count; ++block) {
    const double* columns = r.blocks + block * r.dim * kLanesWidth;
    Lanes lanes[kRows][kLanes];
    for (std::size_t first = 0; first < kLanes; first += kTogether) {
      Lanes sums[kRows][kTogether] = {};
      const auto add_terms = [&](std::size_t j, std::size_t k) {
        Lanes there;
        load(there, columns + j * kLanesWidth);
        for (std::size_t row = 0; row < kRows; ++row) {
          const double here = r.rows[row * r.dim + j];
          const Lanes gap = here - there;
          sums[row][k] = sums[row][k] + (kProduct ? here * there : gap * gap);
        }
      };
      std::size_t j = first;
      for (; j + kTogether <= r.dim; j += kLanes)
        for (std::size_t k = 0; k < kTogether; ++k) add_terms(j + k, k);
      for (std::size_t k = 0; j + k < r.dim; ++k) add_terms(j + k, k);
      for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t k = 0; k < kTogether; ++k) lanes[row][first + k] = sums[row][k];
    }
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t width = kLanes / 2; width > 0; width /= 2)
        for (std::size_t k = 0; k < width; ++k)
          lanes[row][k] = lanes[row][k] + lanes[row][k + width];
      store(lanes[row][0], r.out[row] + block * kLanesWidth);
    }
  }
}

template <class Real>
class LinkageTable {
 public:
  static constexpr std::size_t kWidth = kLanesWidth;  // rows are whole vectors
  static constexpr double kFar = 1e300;  // of a subtree to itself; finite, so that sums stay so

  bool in_use() const { return !node_at_.empty(); }

  /// From now on nothing is known.
  void forget() {
    for (NodeId& v : node_at_) v = kNone;
  }
  /// v has other points from now on, or is gone.
  void release(NodeId v) {
    if (knows(v)) node_at_[place_of_[v.raw()]] = kNone;
  }

  /// How many of these are not in the table. Nodes have raw ids below `end`.
  std::size_t strangers(std::span<const NodeId> trees, std::size_t end) {
    if (place_of_.size() < end) place_of_.resize(end + end / 2);
    std::size_t count = 0;
    for (const NodeId v : trees) count += knows(v) ? 0 : 1;
    return count;
  }

  /// A place for each of these; after this all linkages between them are right. strangers() has
  /// been called. O(dim) for a place and a stranger.
  template <class Rule>
  void seat(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
            std::size_t dim) {
    make_room(forest.size(), dim);
    vacate(trees);
    if (path_ % kPathsToAnOrder == 0) put_in_order(trees, dim);
    fresh_.clear();
    fresh_.reserve(forest.size());  // from here on nothing may fail
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < forest.size(); ++i) {
      const NodeId v = trees[i];
      if (!knows(v)) {
        while (node_at_[next] != kNone) ++next;
        node_at_[next] = v;
        place_of_[v.raw()] = next;
        last_path_[next] = path_;
        fresh_.push_back(next);
        const SummaryView<Real>& summary = forest[i].summary;
        double* column = column_of(next, dim);
        for (std::size_t j = 0; j < dim; ++j)
          column[j * kWidth] = static_cast<double>(summary.mean[j]);
        weights_[next] = Rule::weight(summary.n, summary.variance());
      }
      places_[i] = place_of_[v.raw()];
    }
    used_ = places_in_use();
    std::size_t done = 0;
    for (; done + kTogether <= fresh_.size(); done += kTogether)
      compare<Rule, kTogether>(done, dim);
    for (; done < fresh_.size(); ++done) compare<Rule, 1>(done, dim);
  }

  /// Of the forest that was seated last.
  std::uint32_t place(std::size_t item) const { return places_[item]; }
  /// No place from here on is in use. A multiple of kWidth.
  std::size_t used() const { return used_; }
  /// Linkages of a place to all others; those of empty places mean nothing.
  const double* row(std::size_t place) const { return &table_[place * stride_]; }

  /// Overwrite what is left of rows that have been there.
  void wipe() noexcept {
    forget();
    ramify::wipe(blocks_);
    ramify::wipe(rows_);
    ramify::wipe(table_);
    ramify::wipe(spare_);
    ramify::wipe(spare_blocks_);
    ramify::wipe(node_at_);
  }

 private:
  static constexpr std::size_t kTogether = 4;  // new rows
  static constexpr std::uint64_t kPathsToAnOrder = 32;
  static constexpr std::size_t kShortRows = 48;

  bool knows(NodeId v) const {
    if (v == kNone || v.raw() >= place_of_.size()) return false;
    const std::uint32_t place = place_of_[v.raw()];
    return place < node_at_.size() && node_at_[place] == v;
  }

  /// Have enough empty places for those of a new path that have none: whoever has not been on a
  /// path for the longest time leaves.
  void vacate(std::span<const NodeId> trees) {
    ++path_;
    std::size_t needed = 0;
    for (const NodeId v : trees)
      if (knows(v))
        last_path_[place_of_[v.raw()]] = path_;
      else
        ++needed;
    idle_.clear();
    for (std::uint32_t place = 0; place < node_at_.size(); ++place)
      if (node_at_[place] == kNone)
        needed -= needed > 0 ? 1 : 0;
      else if (last_path_[place] != path_)
        idle_.emplace_back(last_path_[place], place);
    if (needed == 0) return;
    std::nth_element(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(needed - 1),
                     idle_.end());
    for (std::size_t i = 0; i < needed; ++i) node_at_[idle_[i].second] = kNone;
  }

  /// Move everybody: first those on the path, lowest first, so that a path which is merged from
  /// below is done with its first columns soon (matrix_space.hpp). Some paths later most are
  /// still in order.
  void put_in_order(std::span<const NodeId> trees, std::size_t dim) {
    std::vector<std::uint32_t> from;  // by new place
    for (const NodeId v : trees)
      if (knows(v)) from.push_back(place_of_[v.raw()]);
    for (const auto& [path, place] : idle_)
      if (node_at_[place] != kNone) from.push_back(place);
    const std::vector<double> weights = weights_;
    const std::vector<NodeId> nodes = node_at_;
    const std::vector<std::uint64_t> paths = last_path_;
    spare_.resize(table_.size());
    spare_blocks_.resize(blocks_.size());  // from here on nothing may fail
    for (std::size_t i = 0; i < from.size(); ++i)
      for (std::size_t k = 0; k < from.size(); ++k)
        spare_[i * stride_ + k] = table_[from[i] * stride_ + from[k]];
    table_.swap(spare_);
    blocks_.swap(spare_blocks_);
    std::fill(node_at_.begin(), node_at_.end(), kNone);
    for (std::uint32_t to = 0; to < from.size(); ++to) {
      const double* column = &spare_blocks_[place_in_blocks(from[to], dim)];
      for (std::size_t j = 0; j < dim; ++j) column_of(to, dim)[j * kWidth] = column[j * kWidth];
      weights_[to] = weights[from[to]];
      last_path_[to] = paths[from[to]];
      node_at_[to] = nodes[from[to]];
      place_of_[node_at_[to].raw()] = to;
    }
  }

  /// Places for so many, and for some that are not on the path; a larger table begins empty.
  void make_room(std::size_t count, std::size_t dim) {
    places_.resize(count);
    // Short rows are compared in no time, and every place makes searches longer.
    const std::size_t idle = dim < kShortRows ? count / 8 : count / 4;
    if (count + idle <= node_at_.size()) return;
    forget();
    const std::size_t stride = (count + 2 * idle + kWidth - 1) / kWidth * kWidth;
    table_.assign(stride * stride, 0);
    blocks_.assign(stride * dim, 0);
    rows_.resize(kTogether * dim);
    weights_.assign(stride, 0);
    node_at_.assign(stride, kNone);
    last_path_.assign(stride, 0);
    idle_.reserve(stride);
    stride_ = stride;
  }

  std::size_t places_in_use() const {
    std::size_t end = node_at_.size();
    while (end > 0 && node_at_[end - 1] == kNone) --end;
    return (end + kWidth - 1) / kWidth * kWidth;
  }

  /// The linkages of some new places, in their rows and their columns.
  template <class Rule, std::size_t kRows>
  void compare(std::size_t first, std::size_t dim) {
    double* rows[kRows];
    for (std::size_t k = 0; k < kRows; ++k) {
      const std::uint32_t place = fresh_[first + k];
      const double* column = column_of(place, dim);
      for (std::size_t j = 0; j < dim; ++j) rows_[k * dim + j] = column[j * kWidth];
      rows[k] = &table_[place * stride_];
    }
    chosen<sums_of_blocks<Rule::kProduct, kRows>>()(
        {rows_.data(), blocks_.data(), used_ / kWidth, dim, rows});
    for (std::size_t k = 0; k < kRows; ++k) {
      const double weight = weights_[fresh_[first + k]];
      for (std::size_t i = 0; i < used_; ++i)
        rows[k][i] = Rule::score(rows[k][i], weight, weights_[i]);
      rows[k][fresh_[first + k]] = kFar;
    }
    for (std::size_t i = 0; i < used_; ++i)
      for (std::size_t k = 0; k < kRows; ++k) table_[i * stride_ + fresh_[first + k]] = rows[k][i];
  }

  static std::size_t place_in_blocks(std::uint32_t place, std::size_t dim) {
    return place / kWidth * kWidth * dim + place % kWidth;
  }
  double* column_of(std::uint32_t place, std::size_t dim) {
    return &blocks_[place_in_blocks(place, dim)];
  }

  std::size_t stride_ = 0, used_ = 0;
  std::vector<double> table_, spare_;          // and room to put it in order
  std::vector<NodeId> node_at_;                // by place; kNone if it is empty
  std::vector<double> blocks_, spare_blocks_;  // means, those of kWidth places together
  std::vector<double> rows_;                   // means of new places
  std::vector<double> weights_;                // the rule's, by place
  std::vector<std::uint32_t> place_of_;        // by raw id; right if node_at_ says so
  std::vector<std::uint32_t> places_;          // by item of the forest
  std::vector<std::uint32_t> fresh_;           // places
  std::uint64_t path_ = 0;                     // how many have been seated
  std::vector<std::uint64_t> last_path_;       // that a place was on
  std::vector<std::pair<std::uint64_t, std::uint32_t>> idle_;  // and the place
};

}  // namespace ramify
