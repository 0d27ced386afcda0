// SPDX-License-Identifier: BSD-3-Clause
#include "live.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

#include "algorithms/hac.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 8;      // inserts between two looks at the pulse
constexpr std::size_t kStep = 256;      // rows that come at once into a large tree
constexpr std::size_t kFewHoles = 64;   // not worth closing
constexpr Arrival kFirstPolish = 1024;  // trees are polished by themselves from here on
constexpr const char* kChanged =
    "a row holds what no tree can take (NaN, infinity, a number beyond 1e145 in size, only zeros "
    "under cosine, or a negative number with certify): it has been changed since it was checked";
constexpr const char* kNoWeights = "this tree takes no weights";

}  // namespace

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options)
    : options_(options),
      tree_(dim),
      algorithm_(make_algorithm<Real>(dim, options.rule, options.algorithm)),
      pairs_(options.rule.metric, options.rule.linkage),
      mean_(dim) {
  if (algorithm_->gives_heights()) tree_.give_heights();
  if (options.polish) require_any_shape();
  if (options.max_leaves == 1) throw std::invalid_argument("max_leaves must be at least 2");
  if (options.count_repeats && (algorithm_->rebuilds() || !algorithm_->weighs()))
    throw std::invalid_argument("this algorithm cannot count repeats");
  if (!options.cells) return;
  const bool fits = std::holds_alternative<OhacOptions>(options.algorithm) ||
                    std::holds_alternative<NniOptions>(options.algorithm);
  if (!fits || options.rule.metric == Metric::kDot)
    throw std::invalid_argument("cells are for OHAC, and for distances");
  cells_ = std::make_unique<CellPlans<Real>>(dim, *options.cells);
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
  if (tracks_members()) restore_members(std::move(members));
  if (cells_) cells_->restore(CellPlan<Real>::restored(dim, memory.numbers));
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

/// Rows that did not get into the tree are forgotten, however their insert ended.
template <class Real>
struct Live<Real>::Unattached {
  Live& live;
  ~Unattached() {
    live.tree_.truncate(live.end_);
    if (live.cells_ && live.cells_->take_back(live.points().next_arrival()))
      live.neighbours_.reset();
  }
};

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
    for (std::size_t i = 0; i < batch.count; ++i)
      if (!(std::isfinite(batch.weights[i]) && batch.weights[i] > 0))
        throw std::invalid_argument("weights must be finite and positive");
  if (options_.count_repeats) {
    repeats_.make_room(points(), batch.count);
    tree_.make_room_to_erase();
  }
  if (tracks_members()) members_.make_room(batch.count);
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
      !index().gains_by_loading(count))
    return false;
  // Cells are made anew on the way, of the rows that are in the tree at that moment.
  if (cells_ && !batch.leaving.empty()) return false;
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
      if (live.end_ < end) live.neighbours_.reset();
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
  // Nobody may look anything up while points leave the index.
  Alone alone;
  Helpers& those = batch.leaving.empty() ? helpers : alone;
  try {
    Lookahead<Real> ahead(index(), tree_.points(), fetch, begin, end, k, those);
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
/// Then they are the nearest still: nobody has come who was not looked at.
template <class Real>
bool Live<Real>::still_there(std::size_t k) const {
  return found_.size() == std::min(k, size()) &&
         std::none_of(found_.begin(), found_.end(),
                      [&](const Neighbour& near) { return points().is_hole(near.row); });
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

/// If the row of an unattached leaf has come before, add its weight there, and forget it.
template <class Real>
bool Live<Real>::joins(NodeId leaf) {
  const RowSlot row = repeats_.find(points(), points().row(leaf.row()));
  if (row == RowHash<Real>::kNoRow) return false;
  const NodeId there = NodeId::leaf(row);
  const double weight = points().weight(leaf.row());
  algorithm_->weigh(tree_, there, {points().weight(row) + weight, 0});
  const Arrival point = points().next_arrival() - 1, into = points().arrival(row);
  members_.join(point, weight, into);
  note(weighed_, into);
  tree_.skip_last();
  ++version_;
  return true;
}

/// The nearest points of a leaf that is to come, as many as the algorithm asks for.
template <class Real>
void Live<Real>::find_neighbours(NodeId leaf) {
  found_.clear();
  const std::size_t k = std::min(algorithm_->neighbours(), size());
  if (k == 0) return;
  found_.resize(k);
  const Query<Real> query{points().row(leaf.row()), leaf.row()};
  index().nearest(points(), {&query, 1}, k, found_.data(), search_, {});
}

template <class Real>
bool Live<Real>::insert_with_index(NodeId leaf, const Pulse& pulse) {
  try {
    index_all_points();
    neighbours_->expect(points(), end_, points().arrival(leaf.row()), {});
    find_neighbours(leaf);
  } catch (...) {
    neighbours_.reset();
    throw;
  }
  if (!hang_up(leaf, pulse)) return false;
  try {
    neighbours_->add(points(), leaf.row());
  } catch (...) {  // the point is in the tree; the index is made again when it is needed
    neighbours_.reset();
  }
  return true;
}

/// Hang up a leaf whose neighbours have been found. False when the pulse said stop.
template <class Real>
RAMIFY_INLINE bool Live<Real>::hang_up(NodeId leaf, const Pulse& pulse) {
  if (!algorithm_->insert(tree_, leaf, found_, neighbours_.get(), pulse)) return false;
  attached(leaf);
  return true;
}

template <class Real>
RAMIFY_INLINE void Live<Real>::attached(NodeId leaf) {
  end_ = leaf.row() + std::size_t{1};
  if (tracks_members()) members_.begin(points().arrival(leaf.row()), points().weight(leaf.row()));
  ++version_;
  if (options_.polish) polish_if_due(points().arrival(leaf.row()));
}

/// A leaf is no longer in the tree.
template <class Real>
void Live<Real>::gone(Arrival number) noexcept {
  ++version_;
  note(gone_, number);
}

template <class Real>
template <class Note>
void Live<Real>::note(std::vector<Note>& notes, const Note& one) noexcept {
  if (!tree_.records()) return;
  try {
    ramify::make_room(notes, 1);
    notes.push_back(one);
  } catch (const std::bad_alloc&) {
    lost_track_ = true;  // the tree comes first
  }
}

template <class Real>
void Live<Real>::record(bool on) {
  tree_.record(on);
  clear_notes();
  known_until_ = 0;
}

/// How many points have come so far: rows of a batch under way may be stored already that
/// are yet to come into the tree.
template <class Real>
Arrival Live<Real>::arrivals() const {
  return end_ < points().slots() ? points().arrival(static_cast<RowSlot>(end_))
                                 : points().next_arrival();
}

template <class Real>
void Live<Real>::clear_notes() noexcept {
  known_until_ = arrivals();
  gone_.clear();
  weighed_.clear();
  left_.clear();
  merged_.clear();
  lost_track_ = false;
}

template <class Real>
Change Live<Real>::take_change() {
  tree_.refresh(options_.rule.metric, options_.rule.linkage);
  std::vector<Arrival> inserted, erased;
  for (std::size_t end = end_; end > 0; --end) {
    const auto row = static_cast<RowSlot>(end - 1);
    if (points().arrival(row) < known_until_) break;
    if (!points().is_hole(row)) inserted.push_back(points().arrival(row));
  }
  std::reverse(inserted.begin(), inserted.end());
  for (const Arrival number : gone_)
    if (number < known_until_) erased.push_back(number);
  Change about_leaves;
  tell_points(about_leaves);
  about_leaves.inserted = std::move(inserted);
  tell_weights(about_leaves);
  Change change = tree_.take_change();
  change.version = version_;
  change.inserted = std::move(about_leaves.inserted);
  change.weighed = std::move(about_leaves.weighed);
  change.came = std::move(about_leaves.came);
  change.left = std::move(about_leaves.left);
  change.absorbed = std::move(about_leaves.absorbed);
  change.erased = std::move(erased);
  change.incomplete = change.incomplete || lost_track_;
  clear_notes();
  return change;
}

/// Who came, left, and is in the leaf of another; only if leaves may be of several.
template <class Real>
void Live<Real>::tell_points(Change& change) const {
  if (!leaves_are_many()) return;
  std::vector<Change::Member> merged = merged_;
  std::sort(merged.begin(), merged.end(),
            [](const auto& a, const auto& b) { return a.point < b.point; });
  const auto now = [&](Arrival leaf) {
    for (;;) {
      const auto at = std::lower_bound(merged.begin(), merged.end(), leaf,
                                       [](const auto& a, Arrival b) { return a.point < b; });
      if (at == merged.end() || at->point != leaf) return leaf;
      leaf = at->leaf;
    }
  };
  for (const auto& [point, leaf] : left_)
    if (point < known_until_) change.left.push_back({point, leaf});
  const bool tracked = tracks_members();
  for (const auto& [leaf, into] : merged)
    if (!tracked || leaf < known_until_) change.absorbed.push_back({leaf, now(into)});
  if (!tracked) {
    for (Arrival point = known_until_; point < arrivals(); ++point) change.came.push_back(point);
    for (const auto& [point, leaf] : left_) std::erase(change.came, point);
    return;
  }
  members_.for_each_from(known_until_, [&](Arrival point, Arrival leaf) {
    change.came.push_back(point);
    if (leaf != point) change.absorbed.push_back({point, leaf});
  });
}

/// What leaves stand for that came or were weighed.
template <class Real>
void Live<Real>::tell_weights(Change& change) const {
  if (!points().weighted()) return;
  std::vector<Arrival> leaves = weighed_;
  leaves.insert(leaves.end(), change.inserted.begin(), change.inserted.end());
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  for (const Arrival leaf : leaves) {
    RowSlot row = 0;
    if (points().find(leaf, row)) change.weighed.push_back({leaf, points().weight(row)});
  }
}

// --- other shapes -------------------------------------------------------------------

/// Refuse what only algorithms can take that keep no notes of the tree's shape.
template <class Real>
void Live<Real>::require_any_shape() const {
  const AlgorithmOptions& own = options_.algorithm;
  const auto* otd = std::get_if<OtdOptions>(&own);
  const bool any = std::holds_alternative<OhacOptions>(own) ||
                   std::holds_alternative<NniOptions>(own) ||
                   std::holds_alternative<NaiveNnOptions>(own) || (otd != nullptr && !otd->certify);
  if (!any) throw std::invalid_argument("this algorithm's trees have no shape but their own");
}

template <class Real>
void Live<Real>::require_empty() const {
  require_any_shape();
  if (points().slots() > 0 || tracks_members() || options_.max_leaves > 0)
    throw std::invalid_argument("only an empty tree of single points can begin with a shape");
}

template <class Real>
std::size_t Live<Real>::begin_with_hac(const Batch<Real>& batch, const Pulse& pulse,
                                       Helpers& helpers) {
  require_empty();
  if (batch.count == 0) return 0;
  make_room(batch);
  const Unattached unattached{*this};
  for (std::size_t i = 0; i < batch.count; ++i) take_row(batch, i);
  if (!build_hac(tree_, options_.rule.metric, options_.rule.linkage, pulse, helpers)) return 0;
  end_ = points().slots();
  ++version_;
  begin_cells();
  return batch.count;
}

template <class Real>
void Live<Real>::adopt(const Batch<Real>& batch, std::span<const std::int64_t> children) {
  require_empty();
  if (children.size() / 2 + 1 != batch.count)
    throw std::invalid_argument("there must be a row for each leaf");
  make_room(batch);
  const Unattached unattached{*this};
  for (std::size_t i = 0; i < batch.count; ++i) take_row(batch, i);
  const auto node = [&](std::size_t v) {
    return v < batch.count ? NodeId::leaf(static_cast<RowSlot>(v))
                           : NodeId::inner(static_cast<Slot>(v - batch.count));
  };
  typename Tree<Real>::Remake remake(tree_);
  for (std::size_t row = 0; row + 1 < batch.count; ++row)
    tree_.join(node(static_cast<std::size_t>(children[2 * row])),
               node(static_cast<std::size_t>(children[2 * row + 1])),
               tree_.new_slot(tree_.new_id()));
  tree_.set_root(node(2 * batch.count - 2));
  remake.keep();
  end_ = points().slots();
  ++version_;
  begin_cells();
}

template <class Real>
std::vector<PolishRound> Live<Real>::polish(std::optional<std::size_t> m, const Pulse& pulse) {
  require_any_shape();
  std::vector<PolishRound> rounds;
  for (const std::size_t each : m ? std::vector{*m} : polish_rounds(size()))
    rounds.push_back(polish_top(each, pulse));
  return rounds;
}

template <class Real>
PolishRound Live<Real>::polish_top(std::size_t m, const Pulse& pulse) {
  const auto& [metric, linkage] = options_.rule;
  tree_.refresh(metric, linkage);
  const PolishRound round = Polish<Real>(tree_.dim(), metric, linkage)(tree_, m, pulse);
  if (round.is_better) ++version_;
  return round;
}

/// A point has come. If its number says so, polish the tree; one that cannot be had for
/// want of memory is left as it is.
template <class Real>
void Live<Real>::polish_if_due(Arrival number) noexcept {
  if (number + 1 < kFirstPolish || !std::has_single_bit(number + 1)) return;
  try {
    for (const std::size_t each : polish_rounds(size())) polish_top(each, {});
  } catch (const std::bad_alloc&) {
    return;
  }
}

template <class Real>
Refinement Live<Real>::refine(std::size_t sweeps, double slack, const Pulse& pulse) {
  require_any_shape();
  tree_.refresh(options_.rule.metric, options_.rule.linkage);
  const Refinement done = ramify::refine(tree_, options_.rule.metric, sweeps, slack, pulse);
  if (done.interchanges > 0) ++version_;
  return done;
}

// --- erasing ------------------------------------------------------------------------

template <class Real>
bool Live<Real>::find(Arrival number, RowSlot& row) const {
  if (tracks_members()) {
    number = members_.leaf_of(number);
    if (number == Members::kNobody) return false;
  }
  return points().find(number, row) && row < end_;
}

template <class Real>
std::vector<double> Live<Real>::weights() const {
  std::vector<double> out;
  if (tracks_members()) {
    members_.for_each_weight([&](double weight) { out.push_back(weight); });
    return out;
  }
  for (RowSlot row = 0; row < end_; ++row)
    if (!points().is_hole(row)) out.push_back(points().weight(row));
  return out;
}

template <class Real>
bool Live<Real>::erase(Arrival number) {
  return erase_many({&number, 1}) > 0;
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
  if (!tracks_members()) {
    if (!take_out(number)) return false;
    if (leaves_are_many()) note(left_, Change::Member{number, number});
    return true;
  }
  const Arrival leaf = members_.leaf_of(number);
  if (leaf == Members::kNobody) return false;
  if (members_.count(leaf) == 1) {
    take_out(leaf);
  } else {
    RowSlot row = 0;
    points().find(leaf, row);
    if (points().ssd(row) > 0)
      throw std::invalid_argument("the point is in a leaf with others, and cannot leave alone");
    tree_.make_room_to_erase();
    const double weight = points().weight(row) - members_.weight_of(number);
    algorithm_->weigh(tree_, NodeId::leaf(row), {weight, 0});
    note(weighed_, leaf);
    ++version_;
  }
  members_.leave(number);
  note(left_, Change::Member{number, leaf});
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
  take_out_of_index(row);
  if (is_counted(row)) repeats_.remove(points(), row);
  gone(number);
  tree_.erase_row(row);
  return true;
}

/// Overwrite copies of rows in buffers, some of which may be of rows that have gone.
template <class Real>
void Live<Real>::wipe() noexcept {
  std::fill(mean_.begin(), mean_.end(), Real{0});
  search_.wipe();
  algorithm_->wipe(tree_);
}

// --- a budget of leaves ---------------------------------------------------------------

template <class Real>
void Live<Real>::keep_to_budget() {
  while (size() > options_.max_leaves) {
    know_pairs();
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

/// Have all pairs of leaves known.
template <class Real>
void Live<Real>::know_pairs() {
  const bool missed = !tree_.take_rewired(rewired_);
  if (!knows_pairs_ || missed) {
    knows_pairs_ = false;
    tree_.watch(true);
    pairs_.begin(tree_);
    knows_pairs_ = true;
    return;
  }
  knows_pairs_ = false;  // until this has gone well
  for (const Slot slot : rewired_) pairs_.offer(tree_, slot);
  knows_pairs_ = true;
}

/// The two closest leaves that are siblings become one, at the place of the earlier, with
/// the summary that their parent had: nothing above notices.
template <class Real>
void Live<Real>::merge_closest_leaves() {
  tree_.make_room_to_weigh();
  tree_.make_room_to_erase();
  const NodeId v = pairs_.take_closest(tree_);
  tree_.freshen(v);
  NodeId a = tree_.left(v), b = tree_.right(v);
  if (b.row() < a.row()) std::swap(a, b);
  const Standing standing{tree_.weight(v), tree_.ssd(v)};
  std::copy_n(tree_.mean(v, tree_.room(0)), tree_.dim(), mean_.begin());
  const bool moves = !std::equal(mean_.begin(), mean_.end(), points().row(a.row()));
  for (const NodeId leaf : {a, b})
    if (is_counted(leaf.row()) && (leaf == b || standing.ssd > 0))
      repeats_.remove(points(), leaf.row());
  take_out_of_index(b.row());
  if (moves) take_out_of_index(a.row());
  const Arrival number = points().arrival(b.row());
  if (tracks_members()) members_.merge(number, points().arrival(a.row()));
  note(merged_, Change::Member{number, points().arrival(a.row())});
  note(weighed_, points().arrival(a.row()));
  tree_.detach(b);
  tree_.weigh(a, standing);
  std::copy(mean_.begin(), mean_.end(), tree_.own_row(a));
  tree_.lose_leaf(tree_.parent(a));
  gone(number);
  tree_.erase_row(b.row());
  if (!neighbours_ || !moves) return;
  try {
    neighbours_->add(points(), a.row());
  } catch (...) {
    neighbours_.reset();
  }
}

template <class Real>
bool Live<Real>::weigh(Arrival number, double weight) {
  RowSlot row = 0;
  if (!find(number, row)) return false;
  if (!algorithm_->weighs() || tracks_members()) throw std::invalid_argument(kNoWeights);
  if (!(std::isfinite(weight) && weight > 0))
    throw std::invalid_argument("weights must be finite and positive");
  tree_.make_room_to_weigh();
  tree_.make_room_to_erase();
  algorithm_->weigh(tree_, NodeId::leaf(row), {weight, 0});
  note(weighed_, points().arrival(row));
  ++version_;
  return true;
}

template <class Real>
Memory Live<Real>::memory() const {
  Memory memory = algorithm_->memory(tree_);
  if (algorithm_->keeps_marks()) memory.marks = tree_.mark_array();
  if (cells_) memory.numbers = cells_->until(arrivals()).stored();
  return memory;
}

template <class Real>
void Live<Real>::close_holes_if_many() {
  if (points().holes() > std::max(kFewHoles, points().living())) {
    tree_.make_room_to_erase();
    compact();
  }
}

/// Close the holes that erased rows have left.
template <class Real>
void Live<Real>::compact() {
  tree_.compact([&](std::span<const RowSlot> new_slot) {
    if (neighbours_) neighbours_->renumber(new_slot, points().living());
    algorithm_->renumber(new_slot);
    repeats_.renumber(new_slot);
    pairs_.renumber(new_slot);
  });
  frontier_.reset();
  end_ = points().slots();
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
    if (algorithm_->searches()) index_all_points();
    found_.clear();
    for (const Arrival number : nearest.subspan(i * k, k)) {
      RowSlot row = 0;
      if (number == kNobody) continue;
      if (!find(number, row))
        throw std::invalid_argument("a neighbour is not among the points so far");
      found_.push_back({0, row});  // how near it is, nobody asks
    }
    if (found_.empty() != (size() == 0))
      throw std::invalid_argument("an empty tree takes no neighbours, and any other at least one");
    if (!numbers.empty()) tree_.skip_to(numbers[i]);
    hang_up(take_row(batch, i), {});
  }
}

template <class Real>
std::size_t Live<Real>::rebuild_with(const Batch<Real>& batch, const Pulse& pulse,
                                     Helpers& helpers) {
  const std::size_t before = size(), count = batch.count;
  close_holes();
  for (std::size_t i = 0; i < count; ++i) take_row(batch, i);
  // Rows count as done in proportion to the merges made.
  const Pulse share =
      pulse ? Pulse([&](std::size_t merges) { return pulse(merges * count / (before + count)); })
            : Pulse{};
  if (!algorithm_->rebuild(tree_, share, helpers)) return 0;
  end_ = points().slots();
  ++version_;
  return count;
}

/// A batch that has many rows for the tree at once, any other a few rows at a time.
template <class Real>
std::size_t Live<Real>::change_in_steps(const Batch<Real>& batch, const Pulse& pulse,
                                        Helpers& helpers) {
  std::size_t done = 0, left = 0;
  const Pulse within = pulse ? Pulse([&](std::size_t) { return pulse(done); }) : Pulse{};
  while (done < batch.count && pulse(done)) {
    pulse.rest();
    close_holes_if_many();
    const std::size_t rest = batch.count - done;
    const std::size_t end = done + (4 * rest > size() ? rest : std::min(rest, kStep));
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
  for (std::size_t i = 0; i < batch.count; ++i) take_row(batch, i);
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
    take_out_of_index(row);
    gone(points().arrival(row));
    tree_.erase_row(row);
  }
  return true;
}

/// Store a copy of row i as a leaf; the copy is what is looked at.
template <class Real>
RAMIFY_INLINE NodeId Live<Real>::take_row(const Batch<Real>& batch, std::size_t i) {
  const NodeId leaf = tree_.add_leaf(batch.rows + i * tree_.dim());
  if (batch.weights != nullptr) tree_.weigh(leaf, {batch.weights[i], 0});
  if (!algorithm_->takes({tree_.own_row(leaf), tree_.dim()})) throw std::invalid_argument(kChanged);
  prepare(tree_.own_row(leaf), batch.as_stored);
  return leaf;
}

/// Refuse what no tree can hold, and scale to unit length under cosine. What has been scaled is
/// left alone: twice is not the same as once, to the last bit.
template <class Real>
RAMIFY_INLINE void Live<Real>::prepare(Real* row, bool as_stored) const {
  bool fits = true;
  for (std::size_t j = 0; j < tree_.dim(); ++j)
    fits &= std::fabs(static_cast<double>(row[j])) <= kLargest;  // no NaN is
  if (!fits) throw std::invalid_argument(kChanged);
  if (options_.rule.metric != Metric::kCosine) return;
  if (std::all_of(row, row + tree_.dim(), [](Real value) { return value == Real{0}; }))
    throw std::invalid_argument(kChanged);
  if (!as_stored) scale_to_unit(row, tree_.dim(), row);
}

template <class Real>
Neighbours<Real>& Live<Real>::index() {
  if (!neighbours_)
    neighbours_ =
        cells_ ? make_cells(*cells_) : make_neighbours<Real>(tree_.dim(), options_.rule.metric);
  return *neighbours_;
}

/// Where memory runs out the index is thrown away: it is made again when it is needed.
template <class Real>
void Live<Real>::take_out_of_index(RowSlot row) noexcept {
  if (!neighbours_ || row >= neighbours_->end()) return;
  try {
    neighbours_->remove(points(), row);
  } catch (...) {
    neighbours_.reset();
  }
}

template <class Real>
void Live<Real>::index_all_points() {
  if (index().end() < end_ && neighbours_->gains_by_loading(end_ - neighbours_->end())) {
    Alone alone;
    neighbours_->load(points(), end_, alone, {});
  }
  while (neighbours_->end() < end_)
    neighbours_->add(points(), static_cast<RowSlot>(neighbours_->end()));
}

/// Rows have come all at once, without neighbours: divide them into cells now, not when
/// somebody else has come or gone.
template <class Real>
void Live<Real>::begin_cells() {
  if (!cells_) return;
  try {
    index().expect(points(), end_, points().next_arrival(), {});
    cells_->settle();
  } catch (...) {  // the points are in the tree; cells are made when they are needed
    neighbours_.reset();
  }
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
  tree_.refresh(options_.rule.metric, options_.rule.linkage);
}

template <class Real>
void Live<Real>::nearest(const Real* rows, std::size_t count, std::size_t k, Reading& reading,
                         std::vector<Neighbour>& out) const {
  const std::size_t dim = tree_.dim();
  reading.queries.assign(rows, rows + count * dim);
  for (std::size_t i = 0; i < count; ++i) prepare(reading.queries.data() + i * dim);
  std::vector<Query<Real>> queries;
  queries.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    queries.push_back({reading.queries.data() + i * dim, static_cast<RowSlot>(end_)});
  out.assign(count * k, Nearest::kNone);
  neighbours_->nearest(points(), queries, k, out.data(), reading.search, {});
  if (options_.rule.metric == Metric::kCosine)
    for (Neighbour& neighbour : out) neighbour.distance /= 2;
}

template <class Real>
const Frontier<Real>& Live<Real>::frontier(const CutRule& rule) {
  if (!frontier_ || frontier_version_ != version_ || !(frontier_rule_ == rule)) {
    tree_.refresh(options_.rule.metric, options_.rule.linkage);
    frontier_.reset();
    if (rule.by == CutBy::kVariance) rank_splits();
    frontier_.emplace(tree_, rule, split_rank_);
    frontier_rule_ = rule;
    frontier_version_ = version_;
  }
  return *frontier_;
}

template <class Real>
Outline<Real> Live<Real>::outline(std::size_t m, const CutRule& rule) {
  tree_.refresh(options_.rule.metric, options_.rule.linkage);
  return Outline<Real>(tree_, m, rule);
}

/// In which order a cut by variance splits the nodes. O(n log n), and O(n dim).
template <class Real>
void Live<Real>::rank_splits() {
  if (!split_rank_.empty() && split_rank_version_ == version_) return;
  close_holes();  // so that rows are numbered as in a snapshot
  const Snapshot snapshot = number(flatten(tree_));
  const std::size_t n = size();
  std::vector<double> gains;
  gains.reserve(n - 1);
  for (std::size_t v = n; v < snapshot.nodes.size(); ++v) {
    const NodeId node = snapshot.nodes[v];
    gains.push_back(linkage_of<WardGrowth>(tree_.summary(tree_.left(node), tree_.room(0)),
                                           tree_.summary(tree_.right(node), tree_.room(1)),
                                           tree_.dim()));
  }
  const SplitOrder order = split_order(snapshot.children, gains);
  split_rank_.assign(std::max<std::size_t>(tree_.slots(), 1), 0);
  for (std::uint32_t i = 0; i < order.rows.size(); ++i)
    split_rank_[snapshot.nodes[n + order.rows[i]].slot()] = i;
  split_rank_version_ = version_;
}

template <class Real>
void Live<Real>::regroup(std::span<const std::uint32_t> group_of,
                         std::span<const std::uint32_t> above) {
  algorithm_->regroup(tree_, group_of, above);
  ++version_;
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
  tree_.refresh(options_.rule.metric, options_.rule.linkage);
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
  if (neighbours_ && neighbours_->end() > end_)
    throw std::logic_error("live invariant broken: the index holds points that the tree lacks");
}

template class Live<float>;
template class Live<double>;

}  // namespace ramify
