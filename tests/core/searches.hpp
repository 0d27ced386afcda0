// SPDX-License-Identifier: BSD-3-Clause
// searches.hpp: what every index is asked, and what its searches keep between them.
#pragma once

#include "index/neighbours.hpp"
#include "parts.hpp"
#include "tree/row_store.hpp"

namespace ramify::parts {

using Numbers = std::vector<RowSlot>;

template <class T>
std::span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

template <class Real>
class Searches {
 public:
  using Store = RowStore<Real>;
  /// Rows, and how far they are.
  using Found = std::pair<Numbers, std::vector<double>>;

  virtual ~Searches() = default;

  Found nearest(const Store& points, const Row<Real>& x, std::size_t k, std::size_t end) {
    std::vector<Neighbour> found;
    index().nearest(points, x.data(), k, end, scratch_, found);
    return rows_and_distances(found);
  }
  std::vector<Found> nearest_to_each(const Store& points, const Rows<Real>& rows, std::size_t k,
                                     std::size_t end) {
    std::vector<std::vector<Neighbour>> found;
    index().nearest_to_each(points, rows.data(), rows.shape(0), k, end, scratch_, found);
    std::vector<Found> out;
    for (const std::vector<Neighbour>& one : found) out.push_back(rows_and_distances(one));
    return out;
  }
  std::optional<std::pair<RowSlot, double>> nearest_allowed(const Store& points, const Row<Real>& x,
                                                            std::size_t end,
                                                            const Vector<std::uint8_t>& ruled_out) {
    Neighbour found{};
    index().make_room_to_search(scratch_);
    if (!index().nearest_allowed(points, x.data(), end, ruled_out.data(), scratch_, found))
      return std::nullopt;
    return std::pair{found.row, found.distance};
  }
  /// k a query; what is not filled is 2^32 - 1.
  auto nearest_before(const Store& points, const Numbers& queries, std::size_t k) {
    Numbers out(queries.size() * k, ~RowSlot{0});
    index().nearest_before(points, span_of(queries), k, out.data(), {});
    return to_numpy(std::move(out), k);
  }

  virtual Neighbours<Real>& index() = 0;

 private:
  static Found rows_and_distances(const std::vector<Neighbour>& found) {
    Found out;
    for (const Neighbour& one : found) {
      out.first.push_back(one.row);
      out.second.push_back(one.distance);
    }
    return out;
  }

  SearchScratch scratch_;
};

}  // namespace ramify::parts
