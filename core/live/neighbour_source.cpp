// SPDX-License-Identifier: BSD-3-Clause
#include "live/neighbour_source.hpp"

#include "helpers.hpp"

namespace ramify {

template <class Real>
NeighbourSource<Real> NeighbourSource<Real>::exact(std::size_t dim, Metric metric) {
  return NeighbourSource([=] { return make_neighbours<Real>(dim, metric); });
}

template <class Real>
NeighbourSource<Real> NeighbourSource<Real>::near(std::size_t dim, const CellOptions& options) {
  auto plans = std::make_unique<CellPlans<Real>>(dim, options);
  NeighbourSource out([own = plans.get()] { return make_cells(*own); });
  out.plans_ = std::move(plans);
  return out;
}

template <class Real>
void NeighbourSource<Real>::take_in_all(const RowStore<Real>& points, std::size_t end) {
  if (index().end() < end && index_->gains_by_loading(end - index_->end())) {
    Alone alone;
    index_->load(points, end, alone, {});
  }
  while (index_->end() < end) index_->add(points, static_cast<RowSlot>(index_->end()));
}

template <class Real>
void NeighbourSource<Real>::add(const RowStore<Real>& points, RowSlot row) noexcept {
  if (!index_) return;
  try {
    index_->add(points, row);
  } catch (...) {  // the point is in the tree; the index is made again when it is needed
    discard();
  }
}

template <class Real>
void NeighbourSource<Real>::take_out(const RowStore<Real>& points, RowSlot row) noexcept {
  if (!index_ || row >= index_->end()) return;
  try {
    index_->remove(points, row);
  } catch (...) {
    discard();
  }
}

template <class Real>
void NeighbourSource<Real>::settle(const RowStore<Real>& points, std::size_t end) noexcept {
  if (!plans_) return;
  try {
    index().expect(points, end, points.next_arrival(), {});
    plans_->settle();
  } catch (...) {  // the points are in the tree; cells are made when they are needed
    discard();
  }
}

template class NeighbourSource<float>;
template class NeighbourSource<double>;

}  // namespace ramify
