// SPDX-License-Identifier: BSD-3-Clause
// neighbour_source.hpp: where a stream's tree has its neighbours from.
//
// The exact index, cells, or an index of the caller's own. There is none before it is needed, and
// it is not worth the care that a tree is: one that failed is thrown away, and made again from the
// points. Everything that is told of rows is told of those that a tree has, in slots below `end`.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "index/cell_plan.hpp"
#include "index/neighbours.hpp"

namespace ramify {

template <class Real>
class NeighbourSource {
 public:
  using Make = std::function<std::unique_ptr<Neighbours<Real>>()>;

  /// An index of the caller's own; its answers are exact.
  explicit NeighbourSource(Make make) : make_(std::move(make)) {}
  /// The exact index that suits such rows.
  static NeighbourSource exact(std::size_t dim, Metric metric);
  /// Near neighbours, by plans that change as the stream goes on.
  static NeighbourSource near(std::size_t dim, const CellOptions& options);

  /// The index, made now if there is none.
  Neighbours<Real>& index() {
    if (!index_) index_ = make_();
    return *index_;
  }
  /// The index, if there is one.
  const Neighbours<Real>* known() const { return index_.get(); }
  void discard() noexcept { index_.reset(); }

  /// Have all rows in the index.
  void take_in_all(const RowStore<Real>& points, std::size_t end);
  /// A row has come, which is the next, or has come back with other values.
  void add(const RowStore<Real>& points, RowSlot row) noexcept;
  /// A row is about to go, or to get other values.
  void take_out(const RowStore<Real>& points, RowSlot row) noexcept;
  /// Rows have other slots now, and no holes.
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) {
    if (index_) index_->renumber(new_slot, living);
  }

  // --- plans, if neighbours are near ones (index/cell_plan.hpp) ------------------------
  bool is_exact() const { return !plans_; }
  /// Share of the rows below this number that were told their nearest neighbour: measured, or 1.
  double recall(Arrival next) const { return plans_ ? plans_->until(next).recall() : 1; }
  std::vector<double> stored(Arrival next) const { return plans_->until(next).stored(); }
  void restore(std::size_t dim, std::span<const double> stored) {
    plans_->restore(CellPlan<Real>::restored(dim, stored));
  }
  /// No row with this number or a later one has come.
  void take_back(Arrival next) noexcept {
    if (plans_ && plans_->take_back(next)) discard();
  }
  /// Rows have come all at once, without neighbours: divide them into cells now, not when
  /// another point has come or gone.
  void settle(const RowStore<Real>& points, std::size_t end) noexcept;

 private:
  Make make_;
  std::unique_ptr<CellPlans<Real>> plans_;
  std::unique_ptr<Neighbours<Real>> index_;
};

}  // namespace ramify
