// SPDX-License-Identifier: BSD-3-Clause
#include "index/neighbours.hpp"

#include "index/bucket_rows.hpp"
#include "index/cell_rows.hpp"
#include "index/long_rows.hpp"
#include "index/measured_rows.hpp"

namespace ramify {

template <class Real>
std::unique_ptr<Neighbours<Real>> make_neighbours(std::size_t dim, Metric metric) {
  const bool few = dim < kLanes;
  if (metric == Metric::kDot) {
    if (few) return std::make_unique<BucketRows<Real, MinusDot>>(dim);
    return std::make_unique<LongRows<Real, MinusDot>>(dim);
  }
  // The centroid of a point is the point.
  if (dim < kFewColumns) return std::make_unique<BucketRows<Real, CentroidSquared>>(dim);
  if (few) return std::make_unique<MeasuredRows<Real>>(dim);
  return std::make_unique<LongRows<Real, CentroidSquared>>(dim);
}

template <class Real>
std::unique_ptr<Neighbours<Real>> make_cells(CellPlans<Real>& plans) {
  return std::make_unique<CellRows<Real>>(plans);
}

template std::unique_ptr<Neighbours<float>> make_cells(CellPlans<float>&);
template std::unique_ptr<Neighbours<double>> make_cells(CellPlans<double>&);
template std::unique_ptr<Neighbours<float>> make_neighbours(std::size_t, Metric);
template std::unique_ptr<Neighbours<double>> make_neighbours(std::size_t, Metric);

}  // namespace ramify
