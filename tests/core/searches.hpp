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
    const Query<Real> query{x.data(), static_cast<RowSlot>(end)};
    return ask(points, {&query, 1}, k).front();
  }
  std::vector<Found> nearest_to_each(const Store& points, const Rows<Real>& rows, std::size_t k,
                                     std::size_t end) {
    std::vector<Query<Real>> queries;
    for (std::size_t q = 0; q < rows.shape(0); ++q)
      queries.push_back({rows.data() + q * rows.shape(1), static_cast<RowSlot>(end)});
    return ask(points, queries, k);
  }
  std::optional<std::pair<RowSlot, double>> nearest_allowed(const Store& points, const Row<Real>& x,
                                                            std::size_t end,
                                                            const Vector<std::uint8_t>& ruled_out) {
    Query<Real> query{x.data(), static_cast<RowSlot>(end)};
    query.ruled_out = ruled_out.data();
    const Found found = ask(points, {&query, 1}, 1).front();
    if (found.first.empty()) return std::nullopt;
    return std::pair{found.first.front(), found.second.front()};
  }
  /// k a query; what is not filled is 2^32 - 1.
  auto nearest_before(const Store& points, const Numbers& queries, std::size_t k) {
    std::vector<Query<Real>> of_rows;
    for (const RowSlot row : queries) of_rows.push_back({points.row(row), row, row});
    std::vector<Neighbour> found(queries.size() * k);
    index().nearest(points, of_rows, k, found.data(), scratch_, {});
    Numbers out;
    for (const Neighbour& one : found) out.push_back(one.row);
    return to_numpy(std::move(out), k);
  }

  virtual Neighbours<Real>& index() = 0;

 private:
  /// What is not filled is left out.
  std::vector<Found> ask(const Store& points, std::span<const Query<Real>> queries, std::size_t k) {
    std::vector<Neighbour> found(queries.size() * k);
    index().nearest(points, queries, k, found.data(), scratch_, {});
    std::vector<Found> out(queries.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].row == Nearest::kNone.row) continue;
      out[i / k].first.push_back(found[i].row);
      out[i / k].second.push_back(found[i].distance);
    }
    return out;
  }

  SearchScratch scratch_;
};

}  // namespace ramify::parts
