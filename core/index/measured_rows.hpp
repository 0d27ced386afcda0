// SPDX-License-Identifier: BSD-3-Clause
// measured_rows.hpp: neighbours of rows of some columns, in the way that was less work.
//
// Boxes around rows of eight columns and more rule out much where rows lie in clusters or
// near a few directions, and little where they do not: there a sweep over byte codes of all
// rows is several times quicker (long_rows.hpp). A few searches, made whenever the number of
// rows has doubled, tell which it is. Both answer alike, so nobody else can tell.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "index/bucket_rows.hpp"
#include "index/long_rows.hpp"
#include "math/search_costs.hpp"

namespace ramify {

template <class Real>
class MeasuredRows final : public Neighbours<Real> {
 public:
  explicit MeasuredRows(std::size_t dim)
      : dim_(dim), buckets_(std::make_unique<Buckets>(dim)), index_(buckets_.get()) {}
  std::size_t end() const override { return index_->end(); }
  void add(const RowStore<Real>& points) override {
    index_->add(points);
    look_after(points, {});
  }
  void make_room_to_remove() override {
    removable_ = true;
    index_->make_room_to_remove();
  }
  void remove(const RowStore<Real>& points, RowSlot row) override { index_->remove(points, row); }
  void put_back(const RowStore<Real>& points, RowSlot row) override {
    index_->put_back(points, row);
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    index_->renumber(new_slot, living);
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    index_->make_room_to_search(scratch);
  }

  void nearest(const RowStore<Real>& points, const Real* x, std::size_t k, std::size_t end,
               SearchScratch& scratch, std::vector<Neighbour>& out) const override {
    index_->nearest(points, x, k, end, scratch, out);
  }
  void nearest_to_each(const RowStore<Real>& points, const Real* rows, std::size_t count,
                       std::size_t k, std::size_t end, SearchScratch& scratch,
                       std::vector<std::vector<Neighbour>>& out) const override {
    index_->nearest_to_each(points, rows, count, k, end, scratch, out);
  }
  bool nearest_allowed(const RowStore<Real>& points, const Real* x, std::size_t end,
                       const std::uint8_t* ruled_out, SearchScratch& scratch,
                       Neighbour& out) const noexcept override {
    return index_->nearest_allowed(points, x, end, ruled_out, scratch, out);
  }

  bool gains_by_loading(std::size_t count) const override {
    return index_->gains_by_loading(count);
  }
  bool minds_the_future() const override { return true; }
  void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
            const Pulse& pulse) override {
    index_->load(points, end, helpers, pulse);
    look_after(points, pulse);
  }
  bool has_places() const override { return index_->has_places(); }
  BigVector<RowSlot> by_place(std::size_t begin) const override { return index_->by_place(begin); }
  void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries, std::size_t k,
                      RowSlot* out, const Pulse& pulse) const override {
    index_->nearest_before(points, queries, k, out, pulse);
  }

 private:
  using Buckets = BucketRows<Real, CentroidSquared>;
  static constexpr std::size_t kFirstTrial = 1024;  // rows
  static constexpr std::size_t kTried = 16;

  void look_after(const RowStore<Real>& points, const Pulse& pulse) {
    if (end() < next_trial_) return;
    next_trial_ = 2 * end();
    if (buckets_ && boxes_rule_out_little(points))
      become(long_, buckets_, std::make_unique<LongRows<Real>>(dim_, SearchBy::kMeasured), points,
             pulse);
    else if (long_ && long_->by_tree())
      become(buckets_, long_, std::make_unique<Buckets>(dim_), points, pulse);
  }

  bool boxes_rule_out_little(const RowStore<Real>& points) const {
    SearchScratch scratch;
    std::size_t looked = 0, tried = 0;
    for (std::size_t t = 0; t < kTried; ++t) {
      const auto row = static_cast<RowSlot>(t * end() / kTried);
      if (points.is_hole(row)) continue;
      looked += buckets_->looked_at(points, row, scratch);
      ++tried;
    }
    const auto rows = static_cast<double>(end() * tried);
    return kTreeItemCost * static_cast<double>(looked) > rows * cost_of_scanning(dim_);
  }

  /// Hold all rows in the other index. If memory runs out, this one is still there.
  template <class To, class From>
  void become(std::unique_ptr<To>& to, std::unique_ptr<From>& from, std::unique_ptr<To> made,
              const RowStore<Real>& points, const Pulse& pulse) {
    Alone alone;
    made->load(points, end(), alone, pulse);
    if (removable_) made->make_room_to_remove();
    index_ = made.get();
    to = std::move(made);
    from.reset();
  }

  std::size_t dim_;
  bool removable_ = false;
  std::size_t next_trial_ = kFirstTrial;
  std::unique_ptr<Buckets> buckets_;  // one of these two
  std::unique_ptr<LongRows<Real>> long_;
  Neighbours<Real>* index_;
};

}  // namespace ramify
