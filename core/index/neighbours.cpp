// SPDX-License-Identifier: BSD-3-Clause
#include "index/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "index/bucket_rows.hpp"
#include "index/cell_rows.hpp"
#include "index/long_rows.hpp"
#include "index/measured_rows.hpp"
#include "index/plain_scan.hpp"
#include "index/product_rows.hpp"

namespace ramify {
namespace {

/// A scan of all rows.
template <class Real, class Rule>
class ScanNeighbours final : public Neighbours<Real> {
 public:
  std::size_t end() const override { return end_; }
  void add(const RowStore<Real>&) override { ++end_; }
  void make_room_to_remove() override {}
  void remove(const RowStore<Real>&, RowSlot) override {}
  void put_back(const RowStore<Real>&, RowSlot) override {}
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    end_ = end_ < new_slot.size() ? new_slot[end_] : living;
  }
  void make_room_to_search(SearchScratch&) const override {}

  void nearest(const RowStore<Real>& points, const Real* x, std::size_t k, std::size_t end,
               SearchScratch&, std::vector<Neighbour>& out) const override {
    Nearest best(k, out);
    scan_rows<Rule>(points, x, std::min(end, end_), best);
  }
  bool nearest_allowed(const RowStore<Real>& points, const Real* x, std::size_t end,
                       const std::uint8_t* ruled_out, SearchScratch&,
                       Neighbour& out) const noexcept override {
    NearestAllowed best(ruled_out, out);
    scan_rows<Rule>(points, x, end, best);
    return best.any();
  }

  bool gains_by_loading(std::size_t) const override { return true; }
  bool minds_the_future() const override { return false; }
  void load(const RowStore<Real>&, std::size_t end, Helpers&, const Pulse&) override { end_ = end; }
  bool has_places() const override { return false; }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    return in_order_of_arrival(begin, end_);
  }
  void nearest_before(const RowStore<Real>& points, std::span<const RowSlot> queries, std::size_t k,
                      RowSlot* out, const Pulse& pulse) const override {
    std::vector<Neighbour> found;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      pulse.check();
      Nearest best(k, found);
      scan_rows<Rule>(points, points.row(queries[q]), queries[q], best);
      for (std::size_t i = 0; i < found.size(); ++i) out[q * k + i] = found[i].row;
    }
  }

 private:
  std::size_t end_ = 0;
};

template <class Real, class Rule>
std::unique_ptr<Neighbours<Real>> buckets_or_scan(std::size_t dim, IndexKind kind) {
  if (kind == IndexKind::kBuckets) return std::make_unique<BucketRows<Real, Rule>>(dim);
  return std::make_unique<ScanNeighbours<Real, Rule>>();
}

IndexKind what_suits(std::size_t dim, Metric metric) {
  const bool squares = metric != Metric::kDot;
  if (dim < kLanes)
    return squares && dim >= kFewColumns ? IndexKind::kMeasured : IndexKind::kBuckets;
  return squares ? IndexKind::kShort : IndexKind::kProducts;
}

}  // namespace

template <class Real>
std::unique_ptr<Neighbours<Real>> make_neighbours(std::size_t dim, Metric metric, IndexKind kind) {
  if (kind == IndexKind::kByDimension) kind = what_suits(dim, metric);
  if (kind == IndexKind::kMeasured) return std::make_unique<MeasuredRows<Real>>(dim);
  if (kind == IndexKind::kShort) return std::make_unique<LongRows<Real>>(dim, SearchBy::kMeasured);
  if (kind == IndexKind::kShortByTree)
    return std::make_unique<LongRows<Real>>(dim, SearchBy::kTree);
  if (kind == IndexKind::kShortByScan)
    return std::make_unique<LongRows<Real>>(dim, SearchBy::kScan);
  if (kind == IndexKind::kProducts) return std::make_unique<ProductRows<Real>>(dim);
  if (metric == Metric::kDot) return buckets_or_scan<Real, MinusDot>(dim, kind);
  // The centroid of a point is the point.
  return buckets_or_scan<Real, CentroidSquared>(dim, kind);
}

template <class Real>
std::unique_ptr<Neighbours<Real>> make_cells(CellPlans<Real>& plans) {
  return std::make_unique<CellRows<Real>>(plans);
}

template std::unique_ptr<Neighbours<float>> make_cells(CellPlans<float>&);
template std::unique_ptr<Neighbours<double>> make_cells(CellPlans<double>&);
template std::unique_ptr<Neighbours<float>> make_neighbours(std::size_t, Metric, IndexKind);
template std::unique_ptr<Neighbours<double>> make_neighbours(std::size_t, Metric, IndexKind);

}  // namespace ramify
