// SPDX-License-Identifier: BSD-3-Clause
// stream.cpp: rows come to a stream's tree, one after the other.
#include <algorithm>
#include <functional>
#include <stdexcept>

#include "index/lookahead.hpp"
#include "live/live.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 8;  // inserts between two looks at the pulse

}  // namespace

/// Who has to leave before which row of a batch.
template <class Real>
class Live<Real>::Leaving {
 public:
  Leaving(Live& live, const Batch<Real>& batch) : live_(live), batch_(batch) {}

  /// Row i is about to come.
  void make_way_for(std::size_t i) {
    for (; next_ < batch_.leaving.size() && batch_.before[next_] <= i; ++next_)
      live_.leave(batch_.leaving[next_]);
  }

 private:
  Live& live_;
  const Batch<Real>& batch_;
  std::size_t next_ = 0;
};

template <class Real>
void Live<Real>::make_room(const Batch<Real>& batch) {
  if (batch.weights != nullptr || options_.count_repeats || options_.max_leaves > 0) {
    if (!algorithm_->weighs()) throw std::invalid_argument(kNoWeights);
    tree_.make_room_to_weigh();
  }
  if (batch.weights != nullptr)
    for (std::size_t i = 0; i < batch.count; ++i) require_weight(batch.weights[i]);
  if (options_.count_repeats) {
    repeats_.make_room(points(), batch.count);
    tree_.make_room_to_erase();
  }
  if (options_.tracks_members()) members_.make_room(batch.count);
  tree_.make_room(batch.count);
}

template <class Real>
std::size_t Live<Real>::insert_many(const Batch<Real>& batch, const Pulse& pulse,
                                    Helpers& helpers) {
  make_room(batch);
  const Unattached unattached{*this};
  // Rows that leave on the way leave the buffers, too.
  struct Wiped {
    Live& live;
    bool needed;
    ~Wiped() {
      if (needed) live.wipe();
    }
  };
  const Wiped wiped{*this, !batch.leaving.empty()};
  if (algorithm_->takes_batches()) return change_in_steps(batch, pulse, helpers);
  if (algorithm_->rebuilds()) return rebuild_with(batch, pulse, helpers);
  if (gains_by_looking_ahead(batch)) return insert_looked_up(batch, pulse, helpers);
  return insert_each(batch, pulse);
}

template <class Real>
std::size_t Live<Real>::insert_each(const Batch<Real>& batch, const Pulse& pulse) {
  Leaving leaving(*this, batch);
  const std::size_t stride = algorithm_->stride();
  std::size_t i = 0;
  const Pulse within = pulse ? Pulse([&](std::size_t) { return pulse(i); }) : Pulse{};
  for (; i < batch.count; ++i) {
    if (i % stride == 0) {
      if (!pulse(i)) break;
      pulse.rest();
    }
    leaving.make_way_for(i);
    close_holes_if_many();
    if (!insert(batch, i, within)) break;
  }
  return i;
}

/// Can all neighbours of a batch be looked up before the first of it is inserted?
template <class Real>
bool Live<Real>::gains_by_looking_ahead(const Batch<Real>& batch) {
  const std::size_t count = batch.count;
  if (algorithm_->neighbours() == 0 || options_.count_repeats || count == 1 ||
      (options_.max_leaves > 0 && size() + count > options_.max_leaves) ||
      !source_.index().gains_by_loading(count))
    return false;
  // Cells are made anew on the way, of the rows that are in the tree at that moment.
  if (!source_.is_exact() && !batch.leaving.empty()) return false;
  // Rows must stay where they are from now on, and readers may want them without holes.
  if (points().holes() > 0 && 8 * count < size()) return false;
  close_holes();
  return true;
}

template <class Real>
std::size_t Live<Real>::insert_looked_up(const Batch<Real>& batch, const Pulse& pulse,
                                         Helpers& helpers) {
  const std::size_t begin = end_, end = begin + batch.count;
  // An index that may hold points which the tree lacks, or half of a change.
  struct Discard {
    Live& live;
    std::size_t end;
    ~Discard() {
      if (live.end_ < end) live.source_.discard();
    }
  };
  const Discard discard{*this, end};
  // There is room for the whole batch, so that rows stay where they are.
  const auto fetch = [&](std::size_t to) {
    for (std::size_t i = points().slots(); i < to; ++i) take_row(batch, i - begin);
  };
  const Pulse within([&](std::size_t) { return pulse(end_ - begin); }, [&] { pulse.rest(); });
  const std::size_t k =
      std::min(algorithm_->neighbours(), size() + batch.count - 1);  // the last row has no more
  Leaving leaving(*this, batch);
  // Nothing may be looked up while points leave the index.
  Alone alone;
  Helpers& those = batch.leaving.empty() ? helpers : alone;
  try {
    Lookahead<Real> ahead(source_.index(), tree_.points(), fetch, begin, end, k, those);
    for (std::size_t i = begin; i < end; ++i) {
      if (i == ahead.slice_end() || i == begin) {
        ahead.advance(within);
        prefetch_.clear();
      }
      if (i % kStride == 0) {
        within.check();
        within.rest();
      }
      leaving.make_way_for(i - begin);
      const NodeId leaf = NodeId::leaf(static_cast<RowSlot>(i));
      if (batch.leaving.empty()) {
        for (std::size_t next = std::max(i + 1, prefetch_.sent());
             next < ahead.slice_end() && prefetch_.has_room(i); ++next)
          prefetch_.send(tree_, next, ahead.neighbours(next));
        prefetch_.walk(tree_, i);
      }
      found_.clear();
      for (const RowSlot row : ahead.neighbours(i)) found_.push_back({0, row});
      if (!batch.leaving.empty() && !still_there(k)) find_neighbours(leaf);
      if (!hang_up(leaf, within)) break;
    }
  } catch (const Stopped&) {
  }
  return end_ - begin;
}

/// Are the neighbours that were found, k of them or all there are, still in the tree?
/// Then they are the nearest still: no row has come that was not looked at.
template <class Real>
bool Live<Real>::still_there(std::size_t k) const {
  return found_.size() == std::min(k, size()) &&
         std::none_of(found_.begin(), found_.end(),
                      [&](const Neighbour& near) { return points().is_hole(near.row); });
}

/// Store a copy of row i as a leaf; the copy is what is looked at.
template <class Real>
RAMIFY_INLINE NodeId Live<Real>::take_row(const Batch<Real>& batch, std::size_t i) {
  const NodeId leaf = tree_.add_leaf(batch.rows + i * tree_.dim());
  if (batch.weights != nullptr) tree_.weigh(leaf, {batch.weights[i], 0});
  if (!algorithm_->takes({tree_.own_row(leaf), tree_.dim()})) throw std::invalid_argument(kChanged);
  prepare(tree_.own_row(leaf), tree_.dim(), options_.rule.metric, batch.as_stored);
  return leaf;
}

template <class Real>
void Live<Real>::take_rows(const Batch<Real>& batch) {
  for (std::size_t i = 0; i < batch.count; ++i) take_row(batch, i);
}

/// The nearest points of a leaf that is to come, as many as the algorithm asks for.
template <class Real>
void Live<Real>::find_neighbours(NodeId leaf) {
  found_.clear();
  const std::size_t k = std::min(algorithm_->neighbours(), size());
  if (k == 0) return;
  found_.resize(k);
  const Query<Real> query{points().row(leaf.row()), leaf.row()};
  source_.index().nearest(points(), {&query, 1}, k, found_.data(), search_, {});
}

/// Hang up a leaf whose neighbours have been found. False when the pulse said stop.
template <class Real>
RAMIFY_INLINE bool Live<Real>::hang_up(NodeId leaf, const Pulse& pulse) {
  if (!algorithm_->insert(tree_, leaf, found_, source_.known(), pulse)) return false;
  attached(leaf);
  return true;
}

template <class Real>
RAMIFY_INLINE void Live<Real>::attached(NodeId leaf) {
  end_ = leaf.row() + std::size_t{1};
  if (options_.tracks_members())
    members_.begin(points().arrival(leaf.row()), points().weight(leaf.row()));
  ++version_;
  if (options_.polish) polish_if_due(points().arrival(leaf.row()));
}

/// If the row of an unattached leaf has come before, add its weight there, and forget it.
template <class Real>
bool Live<Real>::joins(NodeId leaf) {
  const RowSlot row = repeats_.find(points(), points().row(leaf.row()));
  if (row == RowHash<Real>::kNoRow) return false;
  const NodeId there = NodeId::leaf(row);
  const double weight = points().weight(leaf.row()), before = points().weight(row);
  algorithm_->weigh(tree_, there, {before + weight, 0});
  const Arrival point = points().next_arrival() - 1, into = points().arrival(row);
  members_.join(point, weight, into);
  changes_.weighed(into, before);
  tree_.skip_last();
  ++version_;
  return true;
}

template <class Real>
bool Live<Real>::insert_with_index(NodeId leaf, const Pulse& pulse) {
  try {
    source_.take_in_all(points(), end_);
    source_.index().expect(points(), end_, points().arrival(leaf.row()), {});
    find_neighbours(leaf);
  } catch (...) {
    source_.discard();
    throw;
  }
  if (!hang_up(leaf, pulse)) return false;
  source_.add(points(), leaf.row());
  return true;
}

/// Insert row i of a batch; there is room for it. False when the pulse said stop.
template <class Real>
RAMIFY_INLINE bool Live<Real>::insert(const Batch<Real>& batch, std::size_t i, const Pulse& pulse) {
  const NodeId leaf = take_row(batch, i);
  if (options_.count_repeats && joins(leaf)) return true;
  if (algorithm_->neighbours() > 0) {
    if (!insert_with_index(leaf, pulse)) return false;
  } else {
    found_.clear();
    if (!hang_up(leaf, pulse)) return false;
  }
  if (options_.count_repeats) repeats_.add(points(), leaf.row());
  if (options_.max_leaves > 0) keep_to_budget();
  return true;
}

template <class Real>
void Live<Real>::insert_beside(const Batch<Real>& batch, std::span<const Arrival> nearest,
                               std::size_t k, std::span<const Arrival> numbers) {
  if (algorithm_->neighbours() == 0)
    throw std::invalid_argument("this algorithm asks for no neighbours");
  if (nearest.size() != batch.count * k)
    throw std::invalid_argument("there must be k neighbours for each row");
  if (!numbers.empty()) {
    const bool fit =
        numbers.size() == batch.count && numbers.front() >= points().next_arrival() &&
        std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
    if (!fit) throw std::invalid_argument("numbers must be new and ascending, one for each row");
    tree_.make_room_to_erase();
  }
  make_room(batch);
  const Unattached unattached{*this};
  for (std::size_t i = 0; i < batch.count; ++i) {
    if (algorithm_->searches()) source_.take_in_all(points(), end_);
    found_.clear();
    for (const Arrival number : nearest.subspan(i * k, k)) {
      RowSlot row = 0;
      if (number == kNobody) continue;
      if (!find(number, row))
        throw std::invalid_argument("a neighbour is not among the points so far");
      found_.push_back({0, row});  // its distance is not asked for
    }
    if (found_.empty() != (size() == 0))
      throw std::invalid_argument("an empty tree takes no neighbours, and any other at least one");
    if (!numbers.empty()) tree_.skip_to(numbers[i]);
    hang_up(take_row(batch, i), {});
  }
}

#define RAMIFY_OF(Real)                                                                     \
  template void Live<Real>::make_room(const Batch<Real>&);                                  \
  template void Live<Real>::take_rows(const Batch<Real>&);                                  \
  template std::size_t Live<Real>::insert_many(const Batch<Real>&, const Pulse&, Helpers&); \
  template void Live<Real>::insert_beside(const Batch<Real>&, std::span<const Arrival>,     \
                                          std::size_t, std::span<const Arrival>)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
