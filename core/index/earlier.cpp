// SPDX-License-Identifier: BSD-3-Clause
#include "index/earlier.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace ramify {
namespace {

constexpr std::size_t kFirstWindow = 512;  // rows
constexpr std::size_t kGrowth = 4;

}  // namespace

template <class Real>
std::vector<Neighbour> nearest_earlier(const RowStore<Real>& rows, Metric metric, std::size_t k) {
  const std::size_t count = rows.slots();
  std::vector<Neighbour> out(count * k, {std::numeric_limits<double>::infinity(), 0});
  const std::unique_ptr<Neighbours<Real>> index = make_neighbours<Real>(rows.dim(), metric);
  Alone alone;
  SearchScratch scratch;
  // Rows from the future may make searches slower: never more than a fixed share is.
  std::size_t window = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (i >= window) {
      window = std::min(count, std::max(kGrowth * i, kFirstWindow));
      index->load(rows, window, alone, {});
    }
    const auto row = static_cast<RowSlot>(i);
    const Query<Real> query{rows.row(row), row, row};
    index->nearest(rows, {&query, 1}, k, &out[i * k], scratch, {});
  }
  return out;
}

template std::vector<Neighbour> nearest_earlier(const RowStore<float>&, Metric, std::size_t);
template std::vector<Neighbour> nearest_earlier(const RowStore<double>&, Metric, std::size_t);

}  // namespace ramify
