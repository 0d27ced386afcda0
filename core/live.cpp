// SPDX-License-Identifier: BSD-3-Clause
#include "live.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "algorithms/hac.hpp"
#include "algorithms/group_tree.hpp"
#include "algorithms/otd.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 8;  // inserts between two looks at the pulse
constexpr const char* kChanged =
    "a row holds what no tree can take (NaN, infinity, a number beyond 1e145 in size, only zeros "
    "under cosine, or a negative number with certify): it has been changed since it was checked";

/// Leaves that did not get into the tree are forgotten, however their insert ended.
template <class Real>
class Unattached {
 public:
  explicit Unattached(Tree<Real>& tree) : tree_(tree) {}
  Unattached(const Unattached&) = delete;
  Unattached& operator=(const Unattached&) = delete;
  ~Unattached() { tree_.truncate(tree_.attached()); }

 private:
  Tree<Real>& tree_;
};

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
  if (options.certify) certificate_ = Certificate::from_numbers(memory.numbers);
  if (options.algorithm == Algorithm::kPerch) perch_.restore(tree_, memory.marks);
  if (options.algorithm == Algorithm::kGrinch) grinch_.restore(tree_, memory.marks, memory.numbers);
}

template <class Real>
Memory Live<Real>::memory() const {
  if (certificate_) return {{}, certificate_->numbers()};
  if (options_.algorithm == Algorithm::kPerch) return {perch_.collapsed(), {}};
  if (options_.algorithm == Algorithm::kGrinch) return {grinch_.marks(), grinch_.numbers()};
  return {};
}

template <class Real>
std::size_t Live<Real>::insert_many(const Real* rows, std::size_t count, const Pulse& pulse,
                                    Helpers& helpers) {
  tree_.make_room(count);
  const Unattached<Real> unattached(tree_);
  if (options_.algorithm == Algorithm::kNaiveHac) return rebuild_with(rows, count, pulse);
  if (gains_by_looking_ahead(count)) return insert_looked_up(rows, count, pulse, helpers);
  // OTD inserts in a tenth of a microsecond: ask less often than the others.
  const std::size_t stride = options_.algorithm == Algorithm::kOtd ? 256 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (pulse && i % stride == 0 && !pulse(i)) return i;
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
  return by_points_alone && count > 1 && index().gains_by_loading(count);
}

template <class Real>
std::size_t Live<Real>::insert_looked_up(const Real* rows, std::size_t count, const Pulse& pulse,
                                         Helpers& helpers) {
  const std::size_t before = size(), end = before + count;
  // An index that may hold points which the tree lacks, or half of a change.
  struct Discard {
    Live& live;
    std::size_t end;
    ~Discard() {
      if (live.size() < end) live.neighbours_.reset();
    }
  };
  const Discard discard{*this, end};
  // There is room for the whole batch, so that rows stay where they are.
  const auto fetch = [&](std::size_t to) {
    for (std::size_t i = points().size(); i < to; ++i) take_row(rows + (i - before) * tree_.dim());
  };
  const auto goes_on = [&] { return !pulse || pulse(size() - before); };
  const Breathe breathe = [&] {
    if (!goes_on()) throw Stopped{};
  };
  const Pulse within = pulse ? Pulse([&](std::size_t) { return goes_on(); }) : Pulse{};
  const std::size_t wanted = options_.algorithm == Algorithm::kOhac ? options_.n_neighbors : 1;
  const std::size_t k = std::min(wanted, end - 1);  // the last row has no more than that
  try {
    Lookahead<Real> ahead(index(), tree_.points(), fetch, before, end, k, helpers);
    for (std::size_t i = before; i < end; ++i) {
      if (i == ahead.slice_end() || i == before) {
        ahead.advance(breathe);
        prefetch_.clear();
      }
      if (i % kStride == 0) breathe();
      for (std::size_t next = std::max(i + 1, prefetch_.sent());
           next < ahead.slice_end() && prefetch_.has_room(i); ++next)
        prefetch_.send(tree_, next, ahead.neighbours(next));
      prefetch_.walk(tree_, i);
      found_.clear();
      for (const PointId point : ahead.neighbours(i)) found_.push_back({0, point});
      if (!hang_up(NodeId::leaf(static_cast<PointId>(i)), within)) break;
    }
  } catch (const Stopped&) {
  }
  return size() - before;
}

template <class Real>
bool Live<Real>::insert(const Real* row, const Pulse& pulse) {
  const NodeId leaf = take_row(row);
  const bool first = size() == 0;
  const Algorithm algorithm = options_.algorithm;
  if (algorithm == Algorithm::kOtd) {
    otd_insert(tree_, leaf, options_.metric, certificate_ ? &*certificate_ : nullptr);
  } else if (algorithm == Algorithm::kPerch && perch_.collapses()) {
    const NodeId at = first ? kNone : perch_.nearest(tree_, points().row(leaf.point()));
    stale_ = true;
    perch_.insert(tree_, leaf, at);
  } else if (algorithm == Algorithm::kGroups) {
    stale_ = true;
    first ? tree_.set_root(leaf) : static_cast<void>(tree_.attach(leaf, tree_.root()));
  } else {
    return insert_with_index(leaf, pulse);
  }
  return true;
}

template <class Real>
bool Live<Real>::insert_with_index(NodeId leaf, const Pulse& pulse) {
  try {
    index_all_points();
    found_.clear();
    if (const std::size_t n = size(); n > 0) {
      const std::size_t wanted = options_.algorithm == Algorithm::kOhac ? options_.n_neighbors : 1;
      neighbours_->nearest(points(), points().row(leaf.point()), std::min(wanted, n), found_);
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
  if (options_.algorithm == Algorithm::kOhac) return ohac_.insert(tree_, leaf, found_, pulse);
  const NodeId nearest = found_.empty() ? kNone : NodeId::leaf(found_.front().point);
  stale_ = true;
  if (options_.algorithm == Algorithm::kPerch)
    perch_.insert(tree_, leaf, nearest);
  else if (options_.algorithm == Algorithm::kGrinch)
    grinch_.insert(tree_, leaf, nearest, *neighbours_);
  else if (nearest == kNone)
    tree_.set_root(leaf);
  else
    tree_.attach(leaf, nearest);
  return true;
}

template <class Real>
void Live<Real>::insert_beside(const Real* row, std::span<const PointId> nearest) {
  if (options_.algorithm != Algorithm::kOhac)
    throw std::invalid_argument("only OHAC can be told a row's neighbours");
  if (nearest.empty() != (size() == 0))
    throw std::invalid_argument("an empty tree takes no neighbours, and any other at least one");
  found_.clear();
  for (const PointId point : nearest) {
    if (point >= size()) throw std::invalid_argument("a neighbour is not among the points so far");
    found_.push_back({0, point});  // how near it is, OHAC does not ask
  }
  tree_.make_room(1);
  const Unattached<Real> unattached(tree_);
  ohac_.insert(tree_, take_row(row), found_, {});
}

template <class Real>
std::size_t Live<Real>::rebuild_with(const Real* rows, std::size_t count, const Pulse& pulse) {
  const std::size_t before = size();
  for (std::size_t i = 0; i < count; ++i) take_row(rows + i * tree_.dim());
  // Rows count as done in proportion to the merges made.
  const Pulse share =
      pulse ? Pulse([&](std::size_t merges) { return pulse(merges * count / (before + count)); })
            : Pulse{};
  return build_hac(tree_, options_.metric, options_.linkage, share) ? count : 0;
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
  const std::size_t missing = size() - index().size();
  if (missing > 0 && neighbours_->gains_by_loading(missing))
    neighbours_->load(tree_.points(), size(), {});
  while (neighbours_->size() < size()) neighbours_->add(tree_.points());
}

template <class Real>
void Live<Real>::nearest(const Real* x, std::size_t k, std::vector<Neighbour>& out) {
  query_.assign(x, x + tree_.dim());
  prepare(query_.data());
  try {
    index_all_points();
    neighbours_->nearest(tree_.points(), query_.data(), k, out);
  } catch (...) {
    neighbours_.reset();
    throw;
  }
  if (options_.metric == Metric::kCosine)
    for (Neighbour& neighbour : out) neighbour.distance /= 2;
}

template <class Real>
void Live<Real>::regroup(std::span<const std::uint32_t> group_of,
                         std::span<const std::uint32_t> above) {
  if (options_.algorithm != Algorithm::kGroups)
    throw std::invalid_argument("only a nested tree can be regrouped");
  build_group_tree(tree_, options_.metric, group_of, above);
  stale_ = false;
}

template <class Real>
const Tree<Real>& Live<Real>::tree() {
  if (stale_) tree_.summarise();
  stale_ = false;
  return tree_;
}

template <class Real>
Snapshot Live<Real>::snapshot() {
  tree();
  const std::size_t n = size();
  struct Entry {
    double monotone;
    Rank rank;
    Slot slot;
  };
  std::vector<double> height(tree_.slots()), monotone(tree_.slots());
  std::vector<Entry> entries;
  entries.reserve(tree_.slots());
  with_rule(options_.metric, options_.linkage, [&](auto rule) {
    for (const Slot slot : tree_.bottom_up()) {
      const NodeId v = NodeId::inner(slot), a = tree_.left(v), b = tree_.right(v);
      const double value =
          linkage_of<decltype(rule)>(tree_.summary(a), tree_.summary(b), tree_.dim());
      height[slot] = monotone[slot] = height_of(options_.metric, options_.linkage, value);
      for (const NodeId child : {a, b})
        if (!child.is_leaf()) monotone[slot] = std::max(monotone[slot], monotone[child.slot()]);
      entries.push_back({monotone[slot], tree_.rank(v), slot});
    }
  });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.monotone != b.monotone ? a.monotone < b.monotone : comes_first(a.rank, b.rank);
  });
  Snapshot out;
  out.nodes.reserve(2 * n - 1);
  for (std::size_t i = 0; i < n; ++i) out.nodes.push_back(NodeId::leaf(static_cast<PointId>(i)));
  std::vector<std::int64_t> number(tree_.slots());
  for (const Entry& entry : entries) {
    number[entry.slot] = static_cast<std::int64_t>(out.nodes.size());
    out.nodes.push_back(NodeId::inner(entry.slot));
  }
  const auto number_of = [&](NodeId v) {
    return v.is_leaf() ? static_cast<std::int64_t>(v.point()) : number[v.slot()];
  };
  for (const Entry& entry : entries) {
    const NodeId v = NodeId::inner(entry.slot);
    NodeId a = tree_.left(v), b = tree_.right(v);
    if (tree_.first_leaf(b) < tree_.first_leaf(a)) std::swap(a, b);
    out.children.push_back(number_of(a));
    out.children.push_back(number_of(b));
    out.heights.push_back(height[entry.slot]);
    out.names.push_back(static_cast<std::int64_t>(tree_.name(entry.slot)));
  }
  return out;
}

template <class Real>
void Live<Real>::check() {
  if (options_.algorithm == Algorithm::kPerch) perch_.check(tree_);
  if (options_.algorithm == Algorithm::kGrinch) grinch_.check(tree_);
  tree().check();
  if (neighbours_ && neighbours_->size() > size())
    throw std::logic_error("live invariant broken: the index holds points that the tree lacks");
}

template class Live<float>;
template class Live<double>;

}  // namespace ramify
