// SPDX-License-Identifier: BSD-3-Clause
#include "live.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "algorithms/group_tree.hpp"
#include "algorithms/hac.hpp"
#include "algorithms/otd.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 8;     // inserts between two looks at the pulse
constexpr std::size_t kFewHoles = 64;  // not worth closing
constexpr const char* kChanged =
    "a row holds what no tree can take (NaN, infinity, a number beyond 1e145 in size, only zeros "
    "under cosine, or a negative number with certify): it has been changed since it was checked";

}  // namespace

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options)
    : options_(options),
      tree_(dim),
      ohac_(dim, options.metric, options.linkage),
      perch_(dim, options.perch),
      grinch_(dim, options.metric, options.grinch) {
  if (options.certify) certificate_.emplace();
}

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
                 const Memory& memory)
    : Live(dim, options) {
  tree_ = Tree<Real>::from_arrays(dim, arrays);
  end_ = points().slots();
  if (options.certify) certificate_ = Certificate::from_numbers(memory.numbers);
  if (options.algorithm == Algorithm::kPerch) perch_.restore(tree_, memory.marks);
  if (options.algorithm == Algorithm::kGrinch) grinch_.restore(tree_, memory.marks, memory.numbers);
}

template <class Real>
Memory Live<Real>::memory() const {
  if (certificate_) return {{}, certificate_->numbers()};
  if (options_.algorithm == Algorithm::kPerch) {
    std::vector<std::uint32_t> marks = perch_.collapsed();
    const std::vector<Slot> place = tree_.numbering();
    for (std::uint32_t& slot : marks) slot = place[slot];
    return {std::move(marks), {}};
  }
  if (options_.algorithm == Algorithm::kGrinch) return {grinch_.marks(), grinch_.numbers()};
  return {};
}

/// Rows that did not get into the tree are forgotten, however their insert ended.
template <class Real>
struct Live<Real>::Unattached {
  Live& live;
  ~Unattached() { live.tree_.truncate(live.end_); }
};

template <class Real>
std::size_t Live<Real>::insert_many(const Real* rows, std::size_t count, const Pulse& pulse,
                                    Helpers& helpers) {
  tree_.make_room(count);
  const Unattached unattached{*this};
  if (options_.algorithm == Algorithm::kNaiveHac) return rebuild_with(rows, count, pulse);
  if (gains_by_looking_ahead(count)) return insert_looked_up(rows, count, pulse, helpers);
  // OTD inserts in a tenth of a microsecond: ask less often than the others.
  const std::size_t stride = options_.algorithm == Algorithm::kOtd ? 256 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (pulse && i % stride == 0 && !pulse(i)) return i;
    if (i % stride == 0) pulse.rest();
    if (!insert(rows + i * tree_.dim(), pulse ? [&, i](std::size_t) { return pulse(i); } : Pulse{}))
      return i;
  }
  return count;
}

/// Can all neighbours of a batch be looked up before the first of it is inserted?
template <class Real>
bool Live<Real>::gains_by_looking_ahead(std::size_t count) {
  const Algorithm algorithm = options_.algorithm;
  const bool by_points_alone = algorithm == Algorithm::kOhac || algorithm == Algorithm::kNaiveNn ||
                               algorithm == Algorithm::kGrinch ||
                               (algorithm == Algorithm::kPerch && !perch_.collapses());
  if (!by_points_alone || count == 1 || !index().gains_by_loading(count)) return false;
  // Rows must stay where they are from now on, and readers may want them without holes.
  if (points().holes() > 0 && 8 * count < size()) return false;
  close_holes();
  return true;
}

template <class Real>
std::size_t Live<Real>::insert_looked_up(const Real* rows, std::size_t count, const Pulse& pulse,
                                         Helpers& helpers) {
  const std::size_t begin = end_, end = begin + count;
  // An index that may hold points which the tree lacks, or half of a change.
  struct Discard {
    Live& live;
    std::size_t end;
    ~Discard() {
      if (live.end_ < end) live.neighbours_.reset();
    }
  };
  const Discard discard{*this, end};
  // There is room for the whole batch, so that rows stay where they are.
  const auto fetch = [&](std::size_t to) {
    for (std::size_t i = points().slots(); i < to; ++i) take_row(rows + (i - begin) * tree_.dim());
  };
  const Pulse within([&](std::size_t) { return pulse(end_ - begin); }, [&] { pulse.rest(); });
  const std::size_t wanted = options_.algorithm == Algorithm::kOhac ? options_.n_neighbors : 1;
  const std::size_t k = std::min(wanted, size() + count - 1);  // the last row has no more
  try {
    Lookahead<Real> ahead(index(), tree_.points(), fetch, begin, end, k, helpers);
    for (std::size_t i = begin; i < end; ++i) {
      if (i == ahead.slice_end() || i == begin) {
        ahead.advance(within);
        prefetch_.clear();
      }
      if (i % kStride == 0) {
        within.check();
        within.rest();
      }
      for (std::size_t next = std::max(i + 1, prefetch_.sent());
           next < ahead.slice_end() && prefetch_.has_room(i); ++next)
        prefetch_.send(tree_, next, ahead.neighbours(next));
      prefetch_.walk(tree_, i);
      found_.clear();
      for (const RowSlot row : ahead.neighbours(i)) found_.push_back({0, row});
      if (!hang_up(NodeId::leaf(static_cast<RowSlot>(i)), within)) break;
    }
  } catch (const Stopped&) {
  }
  return end_ - begin;
}

template <class Real>
bool Live<Real>::insert(const Real* row, const Pulse& pulse) {
  const NodeId leaf = take_row(row);
  const bool first = size() == 0;
  const Algorithm algorithm = options_.algorithm;
  if (algorithm == Algorithm::kOtd) {
    otd_insert(tree_, leaf, options_.metric, certificate_ ? &*certificate_ : nullptr);
  } else if (algorithm == Algorithm::kPerch && perch_.collapses()) {
    perch_.insert(tree_, leaf, first ? kNone : perch_.nearest(tree_, points().row(leaf.row())));
  } else if (algorithm == Algorithm::kGroups) {
    hang_beside(leaf, tree_.root());
  } else {
    return insert_with_index(leaf, pulse);
  }
  attached(leaf);
  return true;
}

template <class Real>
bool Live<Real>::insert_with_index(NodeId leaf, const Pulse& pulse) {
  try {
    index_all_points();
    found_.clear();
    if (const std::size_t n = size(); n > 0) {
      const std::size_t wanted = options_.algorithm == Algorithm::kOhac ? options_.n_neighbors : 1;
      neighbours_->nearest(points(), points().row(leaf.row()), std::min(wanted, n), end_, search_,
                           found_);
    }
  } catch (...) {
    neighbours_.reset();
    throw;
  }
  if (!hang_up(leaf, pulse)) return false;
  try {
    neighbours_->add(points());
  } catch (...) {  // the point is in the tree; the index is made again when it is needed
    neighbours_.reset();
  }
  return true;
}

/// Hang up a leaf whose neighbours have been found. False when the pulse said stop.
template <class Real>
bool Live<Real>::hang_up(NodeId leaf, const Pulse& pulse) {
  const NodeId nearest = found_.empty() ? kNone : NodeId::leaf(found_.front().row);
  if (options_.algorithm == Algorithm::kOhac) {
    if (!ohac_.insert(tree_, leaf, found_, pulse)) return false;
  } else if (options_.algorithm == Algorithm::kPerch) {
    perch_.insert(tree_, leaf, nearest);
  } else if (options_.algorithm == Algorithm::kGrinch) {
    grinch_.insert(tree_, leaf, nearest, *neighbours_);
  } else {
    hang_beside(leaf, nearest);
  }
  attached(leaf);
  return true;
}

/// Make a leaf the sibling of a node, or the root of an empty tree.
template <class Real>
void Live<Real>::hang_beside(NodeId leaf, NodeId at) {
  if (at == kNone)
    tree_.set_root(leaf);
  else
    tree_.mark_stale(tree_.attach(leaf, at));
}

template <class Real>
void Live<Real>::attached(NodeId leaf) {
  end_ = leaf.row() + std::size_t{1};
  changed(points().arrival(leaf.row()), {});
}

/// Something has happened to the tree.
template <class Real>
void Live<Real>::changed(std::optional<Arrival> inserted, std::optional<Arrival> erased) {
  ++version_;
  if (!tree_.records()) return;
  Change change;
  try {
    make_room(changes_, 1);
    change = tree_.take_change();
  } catch (const std::bad_alloc&) {
    tree_.record(true);                                  // with a clean page
    if (changes_.size() == changes_.capacity()) return;  // whoever asks sees a version missing
    change.incomplete = true;
  }
  change.version = version_;
  change.inserted = inserted;
  change.erased = erased;
  changes_.push_back(std::move(change));
}

template <class Real>
void Live<Real>::record(bool on) {
  tree_.record(on);
  changes_.clear();
}

// --- erasing ------------------------------------------------------------------------

template <class Real>
bool Live<Real>::find(Arrival number, RowSlot& row) const {
  return points().find(number, row) && row < end_;
}

template <class Real>
bool Live<Real>::erase(Arrival number) {
  RowSlot row = 0;
  if (!find(number, row)) return false;
  tree_.make_room_to_erase();
  const bool indexed = neighbours_ && row < neighbours_->end();
  try {
    if (indexed) neighbours_->make_room_to_remove();
  } catch (...) {
    neighbours_.reset();
    throw;
  }
  erase_leaf(NodeId::leaf(row));
  if (indexed) neighbours_->remove(row);
  changed({}, number);
  tree_.erase_row(row);
  if (points().holes() > std::max(kFewHoles, points().living())) compact();
  return true;
}

/// Take a leaf out of the tree; if this throws, it is still there.
template <class Real>
void Live<Real>::erase_leaf(NodeId leaf) {
  switch (options_.algorithm) {
    case Algorithm::kOhac:
      ohac_.erase(tree_, leaf, {});
      return;
    case Algorithm::kPerch:
      perch_.erase(tree_, leaf);
      return;
    case Algorithm::kNaiveNn:
      if (const NodeId beside = tree_.detach(leaf); beside != kNone)
        tree_.mark_stale(tree_.parent(beside));
      return;
    case Algorithm::kOtd:
      if (!certificate_) {
        otd_erase(tree_, leaf);
        return;
      }
      throw std::invalid_argument("a certificate holds for streams that nothing is taken out of");
    default:
      throw std::invalid_argument("this algorithm cannot take points out again");
  }
}

/// Close the holes that erased rows have left.
template <class Real>
void Live<Real>::compact() {
  tree_.compact([&](std::span<const RowSlot> new_slot) {
    if (neighbours_) neighbours_->renumber(new_slot, points().living());
    perch_.renumber(new_slot);
  });
  frontier_.reset();
  end_ = points().slots();
}

template <class Real>
void Live<Real>::insert_beside(const Real* row, std::span<const RowSlot> nearest) {
  if (options_.algorithm != Algorithm::kOhac)
    throw std::invalid_argument("only OHAC can be told a row's neighbours");
  if (nearest.empty() != (size() == 0))
    throw std::invalid_argument("an empty tree takes no neighbours, and any other at least one");
  found_.clear();
  for (const RowSlot near : nearest) {
    if (near >= end_) throw std::invalid_argument("a neighbour is not among the points so far");
    found_.push_back({0, near});  // how near it is, OHAC does not ask
  }
  tree_.make_room(1);
  const Unattached unattached{*this};
  hang_up(take_row(row), {});
}

template <class Real>
std::size_t Live<Real>::rebuild_with(const Real* rows, std::size_t count, const Pulse& pulse) {
  const std::size_t before = size();
  for (std::size_t i = 0; i < count; ++i) take_row(rows + i * tree_.dim());
  // Rows count as done in proportion to the merges made.
  const Pulse share =
      pulse ? Pulse([&](std::size_t merges) { return pulse(merges * count / (before + count)); })
            : Pulse{};
  if (!build_hac(tree_, options_.metric, options_.linkage, share)) return 0;
  end_ = points().slots();
  changed({}, {});
  return count;
}

/// Store a copy of the row as a leaf; the copy is what is looked at.
template <class Real>
NodeId Live<Real>::take_row(const Real* row) {
  const NodeId leaf = tree_.add_leaf(row);
  const Real* const copy = tree_.own_row(leaf);
  if (certificate_ && std::any_of(copy, copy + tree_.dim(), [](Real value) { return value < 0; }))
    throw std::invalid_argument(kChanged);
  prepare(tree_.own_row(leaf));
  return leaf;
}

/// Refuse what no tree can hold, and scale to unit length under cosine.
template <class Real>
void Live<Real>::prepare(Real* row) const {
  bool fits = true, zero = true;
  for (std::size_t j = 0; j < tree_.dim(); ++j) {
    fits = fits && std::fabs(static_cast<double>(row[j])) <= kLargest;  // no NaN is
    zero = zero && row[j] == Real{0};
  }
  const bool cosine = options_.metric == Metric::kCosine;
  if (!fits || (zero && cosine)) throw std::invalid_argument(kChanged);
  if (cosine) scale_to_unit(row, tree_.dim(), row);
}

template <class Real>
Neighbours<Real>& Live<Real>::index() {
  if (!neighbours_) neighbours_ = make_neighbours<Real>(tree_.dim(), options_.metric);
  return *neighbours_;
}

template <class Real>
void Live<Real>::index_all_points() {
  if (index().end() < end_ && neighbours_->gains_by_loading(end_ - neighbours_->end()))
    neighbours_->load(points(), end_, {});
  while (neighbours_->end() < end_) neighbours_->add(points());
}

// --- reading ------------------------------------------------------------------------

template <class Real>
void Live<Real>::have_ready() {
  try {
    index_all_points();
  } catch (...) {
    neighbours_.reset();
    throw;
  }
  tree_.refresh(options_.metric, options_.linkage);
}

template <class Real>
void Live<Real>::nearest(const Real* x, std::size_t k, Reading& reading,
                         std::vector<Neighbour>& out) const {
  reading.query.assign(x, x + tree_.dim());
  prepare(reading.query.data());
  neighbours_->nearest(points(), reading.query.data(), k, end_, reading.search, out);
  if (options_.metric == Metric::kCosine)
    for (Neighbour& neighbour : out) neighbour.distance /= 2;
}

template <class Real>
const Frontier<Real>& Live<Real>::frontier(const CutRule& rule) {
  if (!frontier_ || frontier_version_ != version_ || !(frontier_rule_ == rule)) {
    tree_.refresh(options_.metric, options_.linkage);
    frontier_.reset();
    frontier_.emplace(tree_, rule);
    frontier_rule_ = rule;
    frontier_version_ = version_;
  }
  return *frontier_;
}

template <class Real>
void Live<Real>::regroup(std::span<const std::uint32_t> group_of,
                         std::span<const std::uint32_t> above) {
  if (options_.algorithm != Algorithm::kGroups)
    throw std::invalid_argument("only a nested tree can be regrouped");
  build_group_tree(tree_, options_.metric, group_of, above);
  changed({}, {});
}

template <class Real>
void Live<Real>::close_holes() {
  if (points().holes() == 0) return;
  tree_.make_room_to_erase();
  compact();
}

template <class Real>
const Tree<Real>& Live<Real>::tree() {
  close_holes();
  tree_.refresh(options_.metric, options_.linkage);
  return tree_;
}

template <class Real>
FlatTree Live<Real>::flat() {
  return flatten(tree());
}

template <class Real>
void Live<Real>::check() {
  if (options_.algorithm == Algorithm::kPerch) perch_.check(tree_);
  if (options_.algorithm == Algorithm::kGrinch) grinch_.check(tree_);
  tree().check();
  if (neighbours_ && neighbours_->end() > end_)
    throw std::logic_error("live invariant broken: the index holds points that the tree lacks");
}

template class Live<float>;
template class Live<double>;

}  // namespace ramify
