// SPDX-License-Identifier: BSD-3-Clause
#include "live/live.hpp"

#include <stdexcept>
#include <utility>

namespace ramify {
namespace {

template <class Real>
NeighbourSource<Real> source_of(std::size_t dim, const Options& options) {
  return options.cells ? NeighbourSource<Real>::near(dim, *options.cells)
                       : NeighbourSource<Real>::exact(dim, options.rule.metric);
}

}  // namespace

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options)
    : Live(dim, options, source_of<Real>(dim, options)) {}

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options, NeighbourSource<Real> source)
    : options_(options),
      tree_(dim),
      algorithm_(make_algorithm<Real>(dim, options.rule, options.algorithm)),
      source_(std::move(source)),
      budget_(options.rule.metric, options.rule.linkage),
      mean_(dim) {
  if (algorithm_->gives_heights()) tree_.give_heights();
  if (options.polish) require_any_shape();
  if (options.max_leaves == 1) throw std::invalid_argument("max_leaves must be at least 2");
  if (options.count_repeats && (algorithm_->rebuilds() || !algorithm_->weighs()))
    throw std::invalid_argument("this algorithm cannot count repeats");
  if (options.cells &&
      (!algorithm_->takes_near_neighbours() || options.rule.metric == Metric::kDot))
    throw std::invalid_argument("cells are for OHAC, and for distances");
}

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
                 const Memory& memory, std::vector<Members::Member> members)
    : Live(dim, options) {
  tree_ = Tree<Real>::from_arrays(dim, arrays);
  end_ = points().slots();
  algorithm_->restore(tree_, memory);
  if (algorithm_->gives_heights()) tree_.restore_heights(memory.numbers);
  if (algorithm_->keeps_marks()) tree_.restore_marks(memory.marks);
  if (options_.tracks_members()) restore_members(std::move(members));
  if (!source_.is_exact()) source_.restore(dim, memory.numbers);
  if (!options.count_repeats) return;
  repeats_.make_room(points(), end_);
  for (RowSlot row = 0; row < end_; ++row)
    if (is_counted(row)) repeats_.add(points(), row);
}

template <class Real>
void Live<Real>::restore_members(std::vector<Members::Member> members) {
  members_.restore(std::move(members));
  std::vector<Arrival> leaves;
  leaves.reserve(end_);
  for (RowSlot row = 0; row < end_; ++row) leaves.push_back(points().arrival(row));
  if (!members_.have_leaves(leaves))
    throw std::invalid_argument("the points of a stored tree do not fit its leaves");
}

template <class Real>
void Live<Real>::record(bool on, bool all) {
  if (on) refresh();
  tree_.record(on, all);
  changes_.record(on, all ? 0 : arrivals());
}

/// How many points have come so far: rows of a batch under way may be stored already that
/// are yet to come into the tree.
template <class Real>
Arrival Live<Real>::arrivals() const {
  return end_ < points().slots() ? points().arrival(static_cast<RowSlot>(end_))
                                 : points().next_arrival();
}

template <class Real>
Change Live<Real>::take_change() {
  refresh();
  return changes_.take(tree_, {end_, arrivals(), version_, leaves_are_many(), members()});
}

template <class Real>
bool Live<Real>::find(Arrival number, RowSlot& row) const {
  if (options_.tracks_members()) {
    number = members_.leaf_of(number);
    if (number == Members::kNobody) return false;
  }
  return points().find(number, row) && row < end_;
}

template <class Real>
std::vector<double> Live<Real>::weights() const {
  std::vector<double> out;
  if (options_.tracks_members()) {
    members_.for_each_weight([&](double weight) { out.push_back(weight); });
    return out;
  }
  for (RowSlot row = 0; row < end_; ++row)
    if (!points().is_hole(row)) out.push_back(points().weight(row));
  return out;
}

template <class Real>
Memory Live<Real>::memory() const {
  Memory memory = algorithm_->memory(tree_);
  if (algorithm_->keeps_marks()) memory.marks = tree_.mark_array();
  if (!source_.is_exact()) memory.numbers = source_.stored(arrivals());
  return memory;
}

template <class Real>
void Live<Real>::have_ready(const Needs& needs) {
  try {
    if (needs.index) source_.take_in_all(points(), end_);
  } catch (...) {
    source_.discard();
    throw;
  }
  if (needs.no_holes) close_holes();
  refresh();
  if (needs.cut) cut(*needs.cut);
}

template <class Real>
bool Live<Real>::is_ready(const Needs& needs) const {
  return !tree_.is_stale() &&
         (!needs.index || (source_.known() != nullptr && source_.known()->end() == end_)) &&
         (!needs.no_holes || points().holes() == 0) &&
         (!needs.cut || cuts_.find(*needs.cut, version_) != nullptr);
}

template <class Real>
void Live<Real>::nearest(const Real* rows, std::size_t count, std::size_t k, Reading& reading,
                         std::vector<Neighbour>& out) const {
  const std::size_t dim = tree_.dim();
  reading.queries.assign(rows, rows + count * dim);
  for (std::size_t i = 0; i < count; ++i)
    prepare(reading.queries.data() + i * dim, dim, options_.rule.metric);
  std::vector<Query<Real>> queries;
  queries.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    queries.push_back({reading.queries.data() + i * dim, static_cast<RowSlot>(end_)});
  out.assign(count * k, Nearest::kNone);
  source_.known()->nearest(points(), queries, k, out.data(), reading.search, {});
  if (options_.rule.metric == Metric::kCosine)
    for (Neighbour& neighbour : out) neighbour.distance /= 2;
}

/// Of a tree that is not stale.
template <class Real>
void Live<Real>::cut(const CutRule& rule) {
  if (cuts_.find(rule, version_) != nullptr) return;
  if (rule.by == CutBy::kVariance && !cuts_.knows_splits(version_)) {
    close_holes();  // so that rows are numbered as in a snapshot
    cuts_.rank_splits(tree_, version_);
  }
  cuts_.cut(tree_, rule, version_);
}

template <class Real>
const Tree<Real>& Live<Real>::tree() {
  have_ready({.no_holes = true});
  return tree_;
}

template <class Real>
FlatTree Live<Real>::flat() {
  return flatten(tree());
}

template <class Real>
void Live<Real>::check() {
  algorithm_->check(tree_);
  tree().check();
  if (source_.known() != nullptr && source_.known()->end() > end_)
    throw std::logic_error("live invariant broken: the index holds points that the tree lacks");
}

template class Live<float>;
template class Live<double>;

}  // namespace ramify
