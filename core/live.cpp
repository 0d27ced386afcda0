// SPDX-License-Identifier: BSD-3-Clause
#include "live.hpp"

#include <algorithm>
#include <stdexcept>

#include "hac.hpp"
#include "nested.hpp"
#include "otd.hpp"

namespace ramify {
namespace {

constexpr std::size_t kStride = 8;  // inserts between two looks at the pulse

}  // namespace

template <class Real>
Live<Real>::Live(std::size_t dim, const Options& options)
    : options_(options),
      tree_(dim),
      neighbours_(make_neighbours<Real>(dim, options.metric)),
      ohac_(dim, options.metric, options.linkage),
      perch_(dim, options.perch),
      grinch_(dim, options.metric, options.grinch),
      unit_row_(dim) {
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
bool Live<Real>::gains_by_looking_ahead(std::size_t count) const {
  const Algorithm algorithm = options_.algorithm;
  const bool by_points_alone = algorithm == Algorithm::kOhac || algorithm == Algorithm::kNaiveNn ||
                               algorithm == Algorithm::kGrinch ||
                               (algorithm == Algorithm::kPerch && !perch_.collapses());
  return by_points_alone && count > 1 && neighbours_->gains_by_loading(count);
}

template <class Real>
std::size_t Live<Real>::insert_looked_up(const Real* rows, std::size_t count, const Pulse& pulse,
                                         Helpers& helpers) {
  struct Tidy {
    Live& live;
    ~Tidy() { live.forget_unattached(); }
  };
  const Tidy tidy{*this};
  const std::size_t before = size(), end = before + count;
  // There is room for the whole batch, so that rows stay where they are.
  const auto fetch = [&](std::size_t to) {
    for (std::size_t i = points().size(); i < to; ++i)
      tree_.add_leaf(scaled(rows + (i - before) * tree_.dim()));
  };
  const auto goes_on = [&] { return !pulse || pulse(size() - before); };
  const Breathe breathe = [&] {
    if (!goes_on()) throw Stopped{};
  };
  const Pulse within = pulse ? Pulse([&](std::size_t) { return goes_on(); }) : Pulse{};
  const std::size_t wanted = options_.algorithm == Algorithm::kOhac ? options_.n_neighbors : 1;
  const std::size_t k = std::min(wanted, end - 1);  // the last row has no more than that
  try {
    Lookahead<Real> ahead(*neighbours_, tree_.points(), fetch, before, end, k, helpers);
    for (std::size_t i = before; i < end; ++i) {
      if (i == ahead.slice_end() || i == before) {
        ahead.advance(breathe);
        scout_.clear();
      }
      if (i % kStride == 0) breathe();
      for (std::size_t next = std::max(i + 1, scout_.sent());
           next < ahead.slice_end() && scout_.has_room(i); ++next)
        scout_.send(tree_, next, ahead.neighbours(next));
      scout_.walk(tree_, i);
      found_.clear();
      for (const PointId point : ahead.neighbours(i)) found_.push_back({0, point});
      if (!hang_up(NodeId::leaf(static_cast<PointId>(i)), within)) break;
    }
  } catch (const Stopped&) {
  }
  return size() - before;
}

/// Points of a batch that was cut short, and an index that knows them.
template <class Real>
void Live<Real>::forget_unattached() {
  if (points().size() == size()) return;
  tree_.truncate(size());
  neighbours_ = make_neighbours<Real>(tree_.dim(), options_.metric);
}

template <class Real>
bool Live<Real>::insert(const Real* row, const Pulse& pulse) {
  const Real* x = scaled(row);
  const std::size_t before = size();
  const Algorithm algorithm = options_.algorithm;
  if (algorithm == Algorithm::kOtd) {
    otd_insert(tree_, tree_.add_leaf(x), options_.metric, certificate_ ? &*certificate_ : nullptr);
    return true;
  }
  if (algorithm == Algorithm::kPerch && perch_.collapses()) {
    const NodeId at = before == 0 ? kNone : perch_.nearest(tree_, x);
    stale_ = true;
    perch_.insert(tree_, tree_.add_leaf(x), at);
    return true;
  }
  if (algorithm == Algorithm::kNested) {
    const NodeId leaf = tree_.add_leaf(x);
    stale_ = true;
    before == 0 ? tree_.set_root(leaf) : static_cast<void>(tree_.attach(leaf, tree_.root()));
    return true;
  }
  index_all_points();
  found_.clear();
  if (before > 0) {
    const std::size_t wanted = algorithm == Algorithm::kOhac ? options_.n_neighbors : 1;
    neighbours_->nearest(tree_.points(), x, std::min(wanted, before), found_);
  }
  const NodeId leaf = tree_.add_leaf(x);
  if (!hang_up(leaf, pulse)) {
    tree_.truncate(before);
    return false;
  }
  neighbours_->add(tree_.points());
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
  ohac_.insert(tree_, tree_.add_leaf(scaled(row)), found_, {});
}

template <class Real>
std::size_t Live<Real>::rebuild_with(const Real* rows, std::size_t count, const Pulse& pulse) {
  const std::size_t before = size();
  for (std::size_t i = 0; i < count; ++i) tree_.add_leaf(scaled(rows + i * tree_.dim()));
  // Rows count as done in proportion to the merges made.
  const Pulse share =
      pulse ? Pulse([&](std::size_t merges) { return pulse(merges * count / (before + count)); })
            : Pulse{};
  if (build_hac(tree_, options_.metric, options_.linkage, share)) return count;
  tree_.truncate(before);
  return 0;
}

template <class Real>
const Real* Live<Real>::scaled(const Real* row) {
  if (options_.metric != Metric::kCosine) return row;
  scale_to_unit(row, tree_.dim(), unit_row_.data());
  return unit_row_.data();
}

template <class Real>
void Live<Real>::index_all_points() {
  const std::size_t missing = size() - neighbours_->size();
  if (missing > 0 && neighbours_->gains_by_loading(missing))
    neighbours_->load(tree_.points(), size(), {});
  while (neighbours_->size() < size()) neighbours_->add(tree_.points());
}

template <class Real>
void Live<Real>::nearest(const Real* x, std::size_t k, std::vector<Neighbour>& out) {
  index_all_points();
  neighbours_->nearest(tree_.points(), scaled(x), k, out);
  if (options_.metric == Metric::kCosine)
    for (Neighbour& neighbour : out) neighbour.distance /= 2;
}

template <class Real>
void Live<Real>::regroup(std::span<const std::uint32_t> group_of,
                         std::span<const std::uint32_t> above) {
  if (options_.algorithm != Algorithm::kNested)
    throw std::invalid_argument("only a nested tree can be regrouped");
  build_nested(tree_, options_.metric, group_of, above);
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
  if (neighbours_->size() > size())
    throw std::logic_error("live invariant broken: the index holds points that the tree lacks");
}

template class Live<float>;
template class Live<double>;

}  // namespace ramify
