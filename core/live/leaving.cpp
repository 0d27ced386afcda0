// SPDX-License-Identifier: BSD-3-Clause
// leaving.cpp: points leave a stream's tree, leaves become one, and holes are closed.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "live/live.hpp"

namespace ramify {
namespace {

constexpr std::size_t kFewHoles = 64;  // not worth closing
constexpr const char* kTogether = "the point is in a leaf with others, and cannot leave alone";

}  // namespace

template <class Real>
bool Live<Real>::erase(Arrival number) {
  return erase_many({&number, 1}) > 0;
}

template <class Real>
void Live<Real>::check_erase(std::span<const Arrival> numbers) const {
  if (!options_.tracks_members()) return;
  for (const Arrival number : numbers) {
    const Arrival leaf = members_.leaf_of(number);
    RowSlot row = 0;
    if (leaf != Members::kNobody && members_.count(leaf) > 1 && points().find(leaf, row) &&
        points().ssd(row) > 0)
      throw std::invalid_argument(kTogether);
  }
}

template <class Real>
std::size_t Live<Real>::erase_many(std::span<const Arrival> numbers) {
  std::size_t erased = 0;
  if (algorithm_->takes_batches()) {
    Alone alone;
    const std::size_t before = size();
    change({nullptr, 0}, numbers, {}, alone);
    erased = before - size();
    close_holes_if_many();
    wipe();
    return erased;
  }
  check_erase(numbers);  // all of them may leave, or none does
  for (const Arrival number : numbers) {
    if (leave(number)) ++erased;
    close_holes_if_many();
  }
  wipe();
  if (erased == 0 || !algorithm_->rebuilds()) return erased;
  close_holes();
  Alone alone;
  algorithm_->rebuild(tree_, {}, alone);
  ++version_;
  return erased;
}

/// Take a point out: with its leaf, unless that has others.
template <class Real>
bool Live<Real>::leave(Arrival number) {
  if (!options_.tracks_members()) {
    if (!take_out(number)) return false;
    if (options_.leaves_are_many()) changes_.left(number, number);
    return true;
  }
  const Arrival leaf = members_.leaf_of(number);
  if (leaf == Members::kNobody) return false;
  if (members_.count(leaf) == 1) {
    take_out(leaf);
  } else {
    RowSlot row = 0;
    points().find(leaf, row);
    if (points().ssd(row) > 0) throw std::invalid_argument(kTogether);
    tree_.make_room_to_erase();
    const double before = points().weight(row);
    algorithm_->weigh(tree_, NodeId::leaf(row), {before - members_.weight_of(number), 0});
    changes_.weighed(leaf, before);
    ++version_;
  }
  members_.leave(number);
  changes_.left(number, leaf);
  return true;
}

/// Take a leaf out of the tree, and leave its row as a hole. If this throws, it is
/// still there.
template <class Real>
bool Live<Real>::take_out(Arrival number) {
  RowSlot row = 0;
  if (!points().find(number, row) || row >= end_) return false;
  tree_.make_room_to_erase();
  algorithm_->erase(tree_, NodeId::leaf(row));
  source_.take_out(points(), row);
  if (is_counted(row)) repeats_.remove(points(), row);
  gone(row);
  tree_.erase_row(row);
  return true;
}

/// A leaf is no longer in the tree; its row is still there.
template <class Real>
void Live<Real>::gone(RowSlot row) noexcept {
  ++version_;
  changes_.gone(points().arrival(row), points().weight(row));
}

/// Overwrite copies of rows in buffers, some of which may be of rows that have gone.
template <class Real>
void Live<Real>::wipe() noexcept {
  std::fill(mean_.begin(), mean_.end(), Real{0});
  search_.wipe();
  algorithm_->wipe(tree_);
}

template <class Real>
void Live<Real>::keep_to_budget() {
  while (size() > options_.max_leaves) {
    budget_.know(tree_);
    merge_closest_leaves();
    close_holes_if_many();
  }
}

template <class Real>
void Live<Real>::set_max_leaves(std::size_t most) {
  if (most < 2 || options_.max_leaves == 0)
    throw std::invalid_argument("a budget is of at least 2 leaves, and there from the first row");
  options_.max_leaves = most;
}

/// The two closest leaves that are siblings become one, at the place of the earlier, with
/// the summary that their parent had: nothing above notices.
template <class Real>
void Live<Real>::merge_closest_leaves() {
  tree_.make_room_to_weigh();
  tree_.make_room_to_erase();
  const NodeId v = budget_.take_closest(tree_);
  tree_.freshen(v);
  NodeId a = tree_.left(v), b = tree_.right(v);
  if (b.row() < a.row()) std::swap(a, b);
  const Standing standing{tree_.weight(v), tree_.ssd(v)};
  std::copy_n(tree_.mean(v, tree_.room(0)), tree_.dim(), mean_.begin());
  const bool moves = !std::equal(mean_.begin(), mean_.end(), points().row(a.row()));
  for (const NodeId leaf : {a, b})
    if (is_counted(leaf.row()) && (leaf == b || standing.ssd > 0))
      repeats_.remove(points(), leaf.row());
  source_.take_out(points(), b.row());
  if (moves) source_.take_out(points(), a.row());
  const Arrival number = points().arrival(b.row());
  if (options_.tracks_members()) members_.merge(number, points().arrival(a.row()));
  changes_.merged(number, points().arrival(a.row()));
  changes_.weighed(points().arrival(a.row()), points().weight(a.row()));
  tree_.detach(b);
  tree_.weigh(a, standing);
  std::copy(mean_.begin(), mean_.end(), tree_.own_row(a));
  tree_.lose_leaf(tree_.parent(a));
  gone(b.row());
  tree_.erase_row(b.row());
  if (moves) source_.add(points(), a.row());
}

template <class Real>
bool Live<Real>::weigh(Arrival number, double weight) {
  RowSlot row = 0;
  if (!find(number, row)) return false;
  if (!algorithm_->weighs() || options_.tracks_members()) throw std::invalid_argument(kNoWeights);
  require_weight(weight);
  tree_.make_room_to_weigh();
  tree_.make_room_to_erase();
  const double before = points().weight(row);
  algorithm_->weigh(tree_, NodeId::leaf(row), {weight, 0});
  changes_.weighed(points().arrival(row), before);
  ++version_;
  return true;
}

template <class Real>
void Live<Real>::close_holes_if_many() {
  if (points().holes() > std::max(kFewHoles, points().living())) {
    tree_.make_room_to_erase();
    compact();
  }
}

template <class Real>
void Live<Real>::close_holes() {
  if (points().holes() == 0) return;
  tree_.make_room_to_erase();
  compact();
}

/// Close the holes that erased rows have left.
template <class Real>
void Live<Real>::compact() {
  tree_.compact([&](std::span<const RowSlot> new_slot) {
    source_.renumber(new_slot, points().living());
    algorithm_->renumber(new_slot);
    repeats_.renumber(new_slot);
    budget_.renumber(new_slot);
  });
  cuts_.forget();
  end_ = points().slots();
}

#define RAMIFY_OF(Real)                                                  \
  template bool Live<Real>::erase(Arrival);                              \
  template void Live<Real>::check_erase(std::span<const Arrival>) const; \
  template std::size_t Live<Real>::erase_many(std::span<const Arrival>); \
  template bool Live<Real>::leave(Arrival);                              \
  template void Live<Real>::gone(RowSlot) noexcept;                      \
  template void Live<Real>::wipe() noexcept;                             \
  template void Live<Real>::keep_to_budget();                            \
  template void Live<Real>::set_max_leaves(std::size_t);                 \
  template bool Live<Real>::weigh(Arrival, double);                      \
  template void Live<Real>::close_holes_if_many();                       \
  template void Live<Real>::close_holes()
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
