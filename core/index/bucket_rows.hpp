// SPDX-License-Identifier: BSD-3-Clause
// bucket_rows.hpp: neighbours by boxes around rows (bucket_tree.hpp).
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "index/bucket_tree.hpp"
#include "index/neighbours.hpp"

namespace ramify {

/// Neighbours of rows of few columns.
template <class Real, class Rule>
class BucketRows final : public Neighbours<Real> {
 public:
  explicit BucketRows(std::size_t dim) : buckets_(dim) {}

  void add(const RowStore<Real>& points, RowSlot row) override {
    if (!points.is_hole(row)) buckets_.insert(row, points.row(row));
    if (row == end_) ++end_;
  }
  void remove(const RowStore<Real>&, RowSlot row) override {
    buckets_.make_removable();
    buckets_.remove(row);
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    buckets_.renumber(new_slot);
    end_ = end_ < new_slot.size() ? new_slot[end_] : living;
  }
  void load(const RowStore<Real>& points, std::size_t end, Helpers&, const Pulse& pulse) override {
    buckets_.clear();
    BigVector<RowSlot> items;
    BigVector<Real> rows;
    items.reserve(end);
    rows.reserve(end * points.dim());
    for (RowSlot row = 0; row < end; ++row) {
      if (points.is_hole(row)) continue;
      items.push_back(row);
      rows.append(points.row(row), points.row(row) + points.dim());
    }
    buckets_.load(std::move(items), std::move(rows), {}, pulse);
    end_ = end;
  }
  // Loading rebuilds the index, in about a third of the time that searching and
  // adding point by point takes.
  bool gains_by_loading(std::size_t count) const override {
    return count >= kFew && count >= buckets_.size() / 3;
  }

  void nearest(const RowStore<Real>&, std::span<const Query<Real>> queries, std::size_t k,
               Neighbour* out, SearchScratch& scratch, const Pulse& pulse) const override {
    pulse.check();
    for (std::size_t q = 0; q < queries.size(); ++q) {
      Nearest best(k, out + q * k, queries[q].ruled_out);
      buckets_.search(queries[q].row, 0, best, scratch.pending, queries[q].end);
    }
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    scratch.pending.reserve(buckets_.levels());
  }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    BigVector<RowSlot> out;
    out.reserve(end_ - begin);
    buckets_.for_each([&](RowSlot row) {
      if (row >= begin) out.push_back(row);
    });
    return out;
  }

  /// Rows and boxes that a search for the nearest of a row looks at.
  std::size_t looked_at(const RowStore<Real>& points, RowSlot row, SearchScratch& scratch) const {
    Looker looker{row};
    buckets_.search(points.row(row), 0, looker, scratch.pending);
    return looker.looked;
  }

 private:
  using Neighbours<Real>::end_;
  static constexpr std::size_t kFew = 256;

  /// Of all rows but one; counts.
  struct Looker {
    RowSlot self;
    double least = std::numeric_limits<double>::infinity();
    std::size_t looked = 0;

    double limit() {
      ++looked;
      return least;
    }
    std::size_t equals() const { return std::numeric_limits<std::size_t>::max(); }
    void offer(double score, RowSlot row) {
      if (row != self) least = std::min(least, score);
    }
  };

  BucketTree<Real, Rule> buckets_;
};

}  // namespace ramify
