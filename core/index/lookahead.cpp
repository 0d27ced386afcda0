// SPDX-License-Identifier: BSD-3-Clause
#include "index/lookahead.hpp"

#include <algorithm>
#include <numeric>

namespace ramify {
namespace {

// While the last slice grows the tree, there is nothing left to look up: short ones keep
// helpers busy for longer. But lookups go by place, and long ones find more in the cache.
constexpr std::size_t kLongSlice = std::size_t{1} << 15;  // neighbours
constexpr std::size_t kShortSlice = 1024;                 // points
constexpr std::size_t kSlices = 16;                       // of all points that there are
constexpr std::size_t kPiece = 256;                       // points
constexpr std::size_t kFirstWindow = 4096;                // points

}  // namespace

template <class Real>
Lookahead<Real>::Lookahead(Neighbours<Real>& index, const RowStore<Real>& points, Fetch fetch,
                           std::size_t begin, std::size_t end, std::size_t k, Helpers& helpers)
    : index_(index),
      points_(points),
      fetch_(std::move(fetch)),
      begin_(begin),
      end_(end),
      k_(k),
      earlier_(begin - points.holes()),
      helpers_(helpers) {
  window_begin_ = window_end_ = begin;
  coming_.begin = coming_.end = begin;
}

template <class Real>
void Lookahead<Real>::advance(const Pulse& pulse) {
  if (coming_.begin == coming_.end) start(pulse);
  helpers_.finish([&](std::size_t) {
    pulse.check();
    pulse.rest();  // the index does not change
    return true;
  });
  std::swap(ready_, coming_);
  coming_.begin = coming_.end = ready_.end;
  if (coming_.begin < end_) start(pulse);
}

/// Begin to look up the slice after the one that came last.
template <class Real>
void Lookahead<Real>::start(const Pulse& pulse) {
  if (coming_.end == window_end_) load_window(pulse);
  coming_.begin = coming_.end;
  coming_.end = std::min(coming_.begin + slice_, window_end_);
  const auto from = by_slice_.begin() + static_cast<std::ptrdiff_t>(coming_.begin - window_begin_);
  coming_.queries.assign(from, from + static_cast<std::ptrdiff_t>(coming_.end - coming_.begin));
  coming_.found.resize((coming_.end - coming_.begin) * k_);
  helpers_.begin((coming_.queries.size() + kPiece - 1) / kPiece,
                 [this](std::size_t piece, const Pulse& own) { look_up(piece, own); });
}

template <class Real>
void Lookahead<Real>::load_window(const Pulse& pulse) {
  window_begin_ = window_end_;
  // Many windows cost loading, few cost searches among points from the future: the
  // more so the more neighbouring places there are.
  const std::size_t growth = points_.dim() < 4 ? 4 : 2;
  window_end_ = std::min(end_, std::max(growth * window_begin_, kFirstWindow));
  if (end_ - window_end_ < window_end_ / 8) window_end_ = end_;
  fetch_(window_begin_ + 1);
  const Arrival number = points_.arrival(static_cast<RowSlot>(window_begin_));
  const std::size_t expected = index_.expect(points_, window_begin_, number, pulse);
  window_end_ = window_begin_ + std::min(window_end_ - window_begin_, expected);
  fetch_(window_end_);
  index_.load(points_, window_end_, helpers_, pulse);
  const BigVector<RowSlot> places = index_.by_place(window_begin_);
  std::size_t most = kShortSlice;
  if (places.size() > 0)
    most = helpers_.count() > 1 ? std::max(window_end_ / kSlices, kShortSlice) : kLongSlice;
  slice_ = std::clamp(kLongSlice / std::max<std::size_t>(k_, 1), kPiece, most);
  // A stable sort of the window's points by slice, by counting.
  const std::size_t slices = (window_end_ - window_begin_ + slice_ - 1) / slice_;
  std::vector<std::size_t> next(slices);
  for (std::size_t s = 0; s < slices; ++s) next[s] = s * slice_;
  by_slice_.resize(window_end_ - window_begin_);
  if (places.size() == 0)
    std::iota(by_slice_.begin(), by_slice_.end(), static_cast<RowSlot>(window_begin_));
  for (const RowSlot point : places) by_slice_[next[(point - window_begin_) / slice_]++] = point;
}

template <class Real>
void Lookahead<Real>::look_up(std::size_t piece, const Pulse& pulse) {
  const std::size_t from = piece * kPiece;
  const std::size_t count = std::min(kPiece, coming_.queries.size() - from);
  std::vector<Query<Real>> queries;
  queries.reserve(count);
  for (std::size_t q = from; q < from + count; ++q) {
    const RowSlot row = coming_.queries[q];
    queries.push_back({points_.row(row), row, row});
  }
  std::vector<Neighbour> found(count * k_);
  SearchScratch scratch;
  index_.nearest(points_, queries, k_, found.data(), scratch, pulse);
  for (std::size_t q = 0; q < count; ++q) {
    RowSlot* out = coming_.found.data() + (queries[q].self - coming_.begin) * k_;
    for (std::size_t i = 0; i < k_; ++i) out[i] = found[q * k_ + i].row;
  }
}

template class Lookahead<float>;
template class Lookahead<double>;

}  // namespace ramify
