// SPDX-License-Identifier: BSD-3-Clause
// batches.cpp: rows come to a stream's tree, and points leave it, many at once.
#include <algorithm>
#include <vector>

#include "live/live.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStep = 256;    // rows that come at once into a large tree
constexpr std::size_t kFirst = 2048;  // and into a small one

}  // namespace

template <class Real>
std::size_t Live<Real>::rebuild_with(const Batch<Real>& batch, const Pulse& pulse,
                                     Helpers& helpers) {
  const std::size_t before = size(), count = batch.count;
  close_holes();
  take_rows(batch);
  // Rows count as done in proportion to the merges made.
  const Pulse share =
      pulse ? Pulse([&](std::size_t merges) { return pulse(merges * count / (before + count)); })
            : Pulse{};
  if (!algorithm_->rebuild(tree_, share, helpers)) return 0;
  end_ = points().slots();
  ++version_;
  return count;
}

/// A few rows at a time; and of a batch that has many for the tree three times as many as there
/// are, so that it can be stopped on the way, and takes a third longer for that at most. The tree
/// follows from the rows that are there, and not from how they came.
template <class Real>
std::size_t Live<Real>::change_in_steps(const Batch<Real>& batch, const Pulse& pulse,
                                        Helpers& helpers) {
  std::size_t done = 0, left = 0;
  const Pulse within = pulse ? Pulse([&](std::size_t) { return pulse(done); }) : Pulse{};
  while (done < batch.count && pulse(done)) {
    pulse.rest();
    close_holes_if_many();
    const std::size_t rest = batch.count - done;
    const std::size_t most = 4 * rest > size() ? std::max(kFirst, 3 * size()) : kStep;
    const std::size_t end = done + std::min(rest, most);
    const std::size_t first = left;
    while (left < batch.leaving.size() && batch.before[left] < end) ++left;
    Batch<Real> step(batch.rows + done * tree_.dim(), end - done);
    step.as_stored = batch.as_stored;
    if (!change(step, batch.leaving.subspan(first, left - first), within, helpers)) break;
    done = end;
  }
  return done;
}

/// Rows come and points leave, all at once. False when the pulse said stop.
template <class Real>
bool Live<Real>::change(const Batch<Real>& batch, std::span<const Arrival> leaving,
                        const Pulse& pulse, Helpers& helpers) {
  take_rows(batch);
  std::vector<RowSlot> rows;
  for (const Arrival number : leaving) {
    RowSlot row = 0;
    if (points().find(number, row)) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  if (!rows.empty()) tree_.make_room_to_erase();
  if (!algorithm_->change(tree_, static_cast<RowSlot>(end_), rows, pulse, helpers)) return false;
  end_ = points().slots();
  version_ += batch.count;
  for (const RowSlot row : rows) {
    source_.take_out(points(), row);
    gone(row);
    tree_.erase_row(row);
  }
  return true;
}

#define RAMIFY_OF(Real)                                                                         \
  template std::size_t Live<Real>::rebuild_with(const Batch<Real>&, const Pulse&, Helpers&);    \
  template std::size_t Live<Real>::change_in_steps(const Batch<Real>&, const Pulse&, Helpers&); \
  template bool Live<Real>::change(const Batch<Real>&, std::span<const Arrival>, const Pulse&,  \
                                   Helpers&)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
