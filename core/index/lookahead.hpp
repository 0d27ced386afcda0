// SPDX-License-Identifier: BSD-3-Clause
// lookahead.hpp: the neighbours of a whole batch, before the tree sees it.
//
// A point's neighbours depend on the points before it, never on the tree. So a
// batch is looked up in slices: while one slice grows the tree, helpers may look
// up the next. Within a slice the lookups go from place to place, not in order of
// arrival, so that each finds warm what the one before it needed.
//
// The index holds points that come later than the one that asks. Where that costs
// time, it is loaded in windows that grow geometrically, so that never more than a
// fixed share of it is from the future.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "helpers.hpp"
#include "index/neighbours.hpp"

namespace ramify {

template <class Real>
class Lookahead {
 public:
  /// Have `points` hold all rows up to this one; they must not move.
  using Fetch = std::function<void(std::size_t end)>;

  /// For the rows in slots begin .. end-1, k neighbours each. No other thread may change
  /// the index until this one is done.
  Lookahead(Neighbours<Real>& index, const RowStore<Real>& points, Fetch fetch, std::size_t begin,
            std::size_t end, std::size_t k, Helpers& helpers);
  ~Lookahead() { helpers_.abandon(); }
  Lookahead(const Lookahead&) = delete;
  Lookahead& operator=(const Lookahead&) = delete;

  /// Have the next slice of points ready. `pulse` may throw, and then the index is
  /// good for nothing but destruction.
  void advance(const Pulse& pulse);
  /// The points that are ready: from slice_begin() to slice_end()-1.
  std::size_t slice_begin() const { return ready_.begin; }
  std::size_t slice_end() const { return ready_.end; }
  /// Neighbours of a point of the slice, nearest first.
  std::span<const RowSlot> neighbours(std::size_t point) const {
    const std::size_t earlier = earlier_ + (point - begin_);
    return {ready_.found.data() + (point - ready_.begin) * k_, std::min(k_, earlier)};
  }

 private:
  struct Slice {
    std::size_t begin = 0, end = 0;
    std::vector<RowSlot> queries;  // in order of place
    std::vector<RowSlot> found;    // k a point, in order of arrival
  };

  void load_window(const Pulse& pulse);
  void start(const Pulse& pulse);
  void look_up(std::size_t piece, const Pulse& pulse);

  Neighbours<Real>& index_;
  const RowStore<Real>& points_;
  Fetch fetch_;
  std::size_t begin_, end_, k_;
  std::size_t earlier_;    // living rows before begin_
  std::size_t slice_ = 0;  // points in a slice
  Helpers& helpers_;
  std::size_t window_begin_ = 0, window_end_ = 0;
  BigVector<RowSlot> by_slice_;  // the window's points, slice by slice, each by place
  Slice ready_, coming_;
};

}  // namespace ramify
