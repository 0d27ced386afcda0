// SPDX-License-Identifier: BSD-3-Clause
// neighbour_lists_begin.cpp: lists of all rows at once, and whether lists are right.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "graph/neighbour_lists.hpp"

namespace ramify {
namespace {

constexpr std::size_t kMore = 8;     // neighbours than needed, so that ties seldom go on
constexpr std::size_t kPiece = 256;  // searches

}  // namespace

template <class Real>
void NeighbourLists<Real>::begin(const RowStore<Real>& points, std::span<const RowSlot> rows,
                                 const Pulse& pulse, Helpers& helpers) {
  all_changed_ = true;
  for (const RowSlot row : rows) new_item(points, row);
  std::vector<std::uint8_t> done(size_, 0);
  list_equal_rows(points, done);
  search_all(points, done, pulse, helpers);
  reverse_all();
  look_after(points);
}

template <class Real>
void NeighbourLists<Real>::begin(const RowStore<Real>& points, std::span<const RowSlot> rows,
                                 std::span<const std::uint32_t> lists) {
  all_changed_ = true;
  for (const RowSlot row : rows) new_item(points, row);
  for (Item item = 0; item < size_; ++item) {
    for (const std::uint32_t other : lists.subspan(item * k_, k_)) {
      if (other == kNobody) continue;
      const std::size_t at = item * k_ + length_[item]++;
      to_[at] = other;
      apart_[at] = squared_distance(points.row(row_[item]), points.row(row_[other]), dim_);
    }
  }
  reverse_all();
  look_after(points);
}

/// Rows that equal k others need no search: the earliest of these are their lists.
template <class Real>
void NeighbourLists<Real>::list_equal_rows(const RowStore<Real>& points,
                                           std::vector<std::uint8_t>& done) {
  std::vector<Item> order(size_);
  std::iota(order.begin(), order.end(), Item{0});
  const auto row = [&](Item item) { return points.row(row_[item]); };
  std::sort(order.begin(), order.end(), [&](Item a, Item b) {
    if (key_[a] != key_[b]) return key_[a] < key_[b];
    return number_[a] < number_[b];
  });
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() && key_[order[to]] == key_[order[from]]) ++to;
    if (to - from <= k_) continue;
    bool equal = true;  // and not by chance of the hash
    for (std::size_t i = from + 1; equal && i < to; ++i)
      equal = std::equal(row(order[from]), row(order[from]) + dim_, row(order[i]));
    for (std::size_t i = from; equal && i < to; ++i) {
      const Item item = order[i];
      for (std::size_t j = from; length_[item] < k_; ++j) {
        if (j == i) continue;
        to_[item * k_ + length_[item]] = order[j];
        apart_[item * k_ + length_[item]++] = 0;
      }
      done[item] = 1;
    }
  }
}

/// The lists of all others, by the index of nearest rows, which knows no keys: it is asked for so
/// many that there is no tie at the end.
template <class Real>
void NeighbourLists<Real>::search_all(const RowStore<Real>& points,
                                      const std::vector<std::uint8_t>& done, const Pulse& pulse,
                                      Helpers& helpers) {
  std::vector<Item> wanted;
  for (Item item = 0; item < size_; ++item)
    if (done[item] == 0) wanted.push_back(item);
  if (wanted.empty() || size_ < 2) return;
  const auto index = make_neighbours<Real>(dim_, Metric::kSqeuclidean);
  index->load(points, points.slots(), helpers, pulse);
  std::vector<std::uint8_t> ruled_out;
  if (points.living() > size_)
    for (RowSlot row = 0; row < points.slots(); ++row) ruled_out.push_back(item_at(row) == kNobody);
  const std::uint8_t* const out = ruled_out.empty() ? nullptr : ruled_out.data();
  const auto end = static_cast<RowSlot>(points.slots());
  const auto settle = [&](Item item, std::vector<Neighbour>& found, bool all) {
    std::erase_if(found, [&](const Neighbour& one) {
      return one.row == Nearest::kNone.row || one.row == row_[item];
    });
    if (!all && found.back().distance == found[k_ - 1].distance) return false;
    std::sort(found.begin(), found.end(), [&](const Neighbour& a, const Neighbour& b) {
      return comes_first(a.distance, item_[a.row], b.distance, item_[b.row]);
    });
    found.resize(std::min(found.size(), k_));
    for (const Neighbour& one : found) {
      to_[item * k_ + length_[item]] = item_[one.row];
      apart_[item * k_ + length_[item]++] = one.distance;
    }
    return true;
  };
  const auto search = [&](std::size_t from, std::size_t to, const Pulse& own) {
    SearchScratch scratch;
    std::vector<Query<Real>> queries;
    for (std::size_t i = from; i < to; ++i)
      queries.push_back({points.row(row_[wanted[i]]), end, row_[wanted[i]], out});
    std::size_t many = std::min(k_ + 1 + kMore, size_);
    std::vector<Neighbour> found(queries.size() * many), some;
    index->nearest(points, queries, many, found.data(), scratch, own);
    for (std::size_t i = from; i < to; ++i) {
      const auto first = found.begin() + static_cast<std::ptrdiff_t>((i - from) * many);
      some.assign(first, first + static_cast<std::ptrdiff_t>(many));
      for (std::size_t more = many; !settle(wanted[i], some, more == size_);) {
        own.check();
        more = std::min(4 * more, size_);
        some.resize(more);
        index->nearest(points, {&queries[i - from], 1}, more, some.data(), scratch, own);
      }
    }
  };
  helpers.begin((wanted.size() + kPiece - 1) / kPiece, [&](std::size_t piece, const Pulse& own) {
    search(piece * kPiece, std::min((piece + 1) * kPiece, wanted.size()), own);
  });
  helpers.finish(pulse);
}

template <class Real>
void NeighbourLists<Real>::reverse_all() {
  std::vector<std::uint32_t> count(row_.size(), 0);
  for (Item item = 0; item < row_.size(); ++item)
    for (const Item other : list(item)) ++count[other];
  for (Item item = 0; item < row_.size(); ++item) named_by_[item].reserve(count[item]);
  for (Item item = 0; item < row_.size(); ++item)
    for (const Item other : list(item)) named_by_[other].push_back(item);
  look_for_farthest();
}

// --- edges ------------------------------------------------------------------------------

/// The weight between an item whose list is marked and another one; 0: there is no edge.
template <class Real>
void NeighbourLists<Real>::check(const RowStore<Real>& points) const {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("neighbour lists: ") + what);
  };
  std::vector<std::size_t> named(row_.size(), 0);
  std::vector<Item> in_list(row_.size(), kNobody);
  const std::size_t every = size_ / kScanned + 1;
  for (Item item = 0, place = 0; item < row_.size(); ++item) {
    if (row_[item] == kGone) continue;
    const std::size_t length = length_[item];
    const auto apart = distances(item);
    require(length == std::min(k_, size_ - 1), "a list is too short");
    for (std::size_t i = 0; i < length; ++i) {
      const Item other = list(item)[i];
      require(other != item && row_[other] != kGone && in_list[other] != item,
              "a list names a row that cannot be in it");
      in_list[other] = item;
      require(apart[i] == squared_distance(points.row(row_[item]), points.row(row_[other]), dim_),
              "a distance is not right");
      require(i == 0 || comes_first(apart[i - 1], list(item)[i - 1], apart[i], other),
              "a list is out of order");
      ++named[other];
      const auto& by = named_by_[other];
      require(std::count(by.begin(), by.end(), item) == 1, "a list is not known to one in it");
    }
    if (length == 0 || place++ % every != 0) continue;
    for (Item other = 0; other < row_.size(); ++other) {
      if (other == item || row_[other] == kGone || in_list[other] == item) continue;
      const double d = squared_distance(points.row(row_[item]), points.row(row_[other]), dim_);
      require(comes_first(apart[length - 1], list(item)[length - 1], d, other),
              "a list is not that of the nearest rows");
    }
  }
  for (Item item = 0; item < row_.size(); ++item)
    require(named_by_[item].size() == named[item], "an item is in another number of lists");
}

#define RAMIFY_OF(Real)                                                                      \
  template void NeighbourLists<Real>::begin(const RowStore<Real>&, std::span<const RowSlot>, \
                                            const Pulse&, Helpers&);                         \
  template void NeighbourLists<Real>::begin(const RowStore<Real>&, std::span<const RowSlot>, \
                                            std::span<const std::uint32_t>);                 \
  template void NeighbourLists<Real>::check(const RowStore<Real>&) const
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
