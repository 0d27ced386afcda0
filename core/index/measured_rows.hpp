// SPDX-License-Identifier: BSD-3-Clause
// measured_rows.hpp: neighbours of rows of some columns, in the way that was less work.
//
// Boxes around rows of eight columns and more rule out much where rows lie in clusters or
// near a few directions, and little where they do not: there a sweep over byte codes of all
// rows is several times quicker (long_rows.hpp). A few searches, made whenever the number of
// rows has doubled, tell which it is. Both answer alike, so the choice is never seen.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "index/bucket_rows.hpp"
#include "index/long_rows.hpp"
#include "math/search_costs.hpp"

namespace ramify {

template <class Real>
class MeasuredRows final : public Neighbours<Real> {
 public:
  explicit MeasuredRows(std::size_t dim)
      : dim_(dim), boxes_(std::make_unique<Boxes>(dim)), index_(boxes_.get()) {}

  void add(const RowStore<Real>& points, RowSlot row) override {
    index_->add(points, row);
    look_after(points, {});
  }
  void remove(const RowStore<Real>& points, RowSlot row) override { index_->remove(points, row); }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    index_->renumber(new_slot, living);
    end_ = index_->end();
  }
  void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
            const Pulse& pulse) override {
    index_->load(points, end, helpers, pulse);
    look_after(points, pulse);
  }
  bool gains_by_loading(std::size_t count) const override {
    return index_->gains_by_loading(count);
  }
  void nearest(const RowStore<Real>& points, std::span<const Query<Real>> queries, std::size_t k,
               Neighbour* out, SearchScratch& scratch, const Pulse& pulse) const override {
    index_->nearest(points, queries, k, out, scratch, pulse);
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    index_->make_room_to_search(scratch);
  }
  BigVector<RowSlot> by_place(std::size_t begin) const override { return index_->by_place(begin); }

 private:
  using Boxes = BucketRows<Real, CentroidSquared>;
  using Long = LongRows<Real, CentroidSquared>;
  using Neighbours<Real>::end_;
  static constexpr std::size_t kFirstTrial = 1024;  // rows
  static constexpr std::size_t kTried = 16;

  void look_after(const RowStore<Real>& points, const Pulse& pulse) {
    end_ = index_->end();
    if (end_ < next_trial_) return;
    next_trial_ = 2 * end_;
    if (boxes_ && boxes_rule_out_little(points))
      become(long_, boxes_, points, pulse);
    else if (long_ && long_->by_tree())
      become(boxes_, long_, points, pulse);
  }

  bool boxes_rule_out_little(const RowStore<Real>& points) const {
    SearchScratch scratch;
    std::size_t looked = 0, tried = 0;
    for (std::size_t t = 0; t < kTried; ++t) {
      const auto row = static_cast<RowSlot>(t * end_ / kTried);
      if (points.is_hole(row)) continue;
      looked += boxes_->looked_at(points, row, scratch);
      ++tried;
    }
    const auto rows = static_cast<double>(end_ * tried);
    return kTreeItemCost * static_cast<double>(looked) > rows * cost_of_scanning(dim_);
  }

  /// Hold all rows in the other index. If memory runs out, this one is still there.
  template <class To, class From>
  void become(std::unique_ptr<To>& to, std::unique_ptr<From>& from, const RowStore<Real>& points,
              const Pulse& pulse) {
    Alone alone;
    auto made = std::make_unique<To>(dim_);
    made->load(points, end_, alone, pulse);
    index_ = made.get();
    to = std::move(made);
    from.reset();
  }

  std::size_t dim_;
  std::size_t next_trial_ = kFirstTrial;
  std::unique_ptr<Boxes> boxes_;  // one of these two
  std::unique_ptr<Long> long_;
  Neighbours<Real>* index_;
};

}  // namespace ramify
