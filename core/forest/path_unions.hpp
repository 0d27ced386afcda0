// SPDX-License-Identifier: BSD-3-Clause
// path_unions.hpp: what hangs off a path while it is being merged.
//
// A cluster is an item, whose linkages are a row of the table (path_table.hpp), or a union of some,
// which has a row of its own. Linkages to items that are done with are far beyond all others. Who
// is merged next is for others to say: path_chain.hpp, path_greedy.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "forest/forest_hac.hpp"
#include "forest/matrix_linkages.hpp"
#include "forest/path_rows.hpp"
#include "forest/path_run.hpp"
#include "forest/path_table.hpp"
#include "forest/tally.hpp"
#include "forest/union_means.hpp"
#include "math/dispatch.hpp"
#include "math/least_two.hpp"

namespace ramify {

/// The nearest cluster of one, as far as is known.
struct PathNearest {
  std::uint32_t cluster = kNobody;
  double linkage = std::numeric_limits<double>::infinity();
  double next = std::numeric_limits<double>::infinity();  // of the others, the least linkage

  RAMIFY_INLINE void offer(std::uint32_t other, double value) {
    if (value < linkage) {
      next = linkage;
      linkage = value;
      cluster = other;
    } else {
      next = std::min(next, value);
    }
  }
};

/// What merging needs besides the table; kept to spare allocations.
struct PathScratch {
  struct Cluster {
    std::uint32_t place;     // of an item: in the table; of a union: of one of its items
    bool in_foot, is_union;  // the place is in the foot
    std::uint32_t row;       // of a union
    double n;
    double spread;  // how far the items of a union are from its mean, under centroid linkage
  };
  std::vector<Cluster> clusters;
  std::vector<Rank> ranks;
  std::vector<float> foot_closed, kept_closed;      // 0, or kClosedPlace where a place is done with
  std::vector<std::uint32_t> foot_item, kept_item;  // by place
  std::vector<std::uint8_t> open;                   // by block of kept places: how many are open
  std::vector<std::uint32_t> unions, chain;
  PathRunScratch run;
  std::vector<float> patched[2];          // of a kept row: what the foot knows
  std::vector<std::vector<double>> rows;  // of unions: the foot, then the kept
  std::vector<std::uint32_t> free_rows;
  std::vector<PathNearest> nearest;             // by row
  std::vector<float> foot_bounds, kept_bounds;  // by place: linkages to other items, or less
  UnionMeansScratch means;
  MatrixLinkagesScratch matrix;
  std::vector<std::uint32_t> near;
  std::vector<double> near_linkages;
  std::vector<Merge> pairs;
  // Lately, how much more often a path was left to a matrix than merged: where ties keep coming,
  // less and less is tried before.
  std::uint32_t given_up = 0;
};

template <class Real, class Rule>
class PathUnions {
 public:
  bool is_done() const { return merges_.size() + 1 >= forest_.size(); }
  bool goes_on() const { return true; }  // a path is over before anyone wants to stop

  /// The forest has been seated.
  PathUnions(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
             std::size_t dim, PathScratch& scratch, std::vector<Merge>& merges)
      : forest_(forest),
        table_(table),
        s_(scratch),
        merges_(merges),
        means_(forest, dim, merges, scratch.means) {
    begin();
  }

 protected:
  using Cluster = PathScratch::Cluster;
  static constexpr float kClosed = PathTable<Real>::kClosed;
  static_assert(kClosed == kClosedPlace);

  /// As far off as two linkages can be, one on either side, and a little more. `more`: how far the
  /// union has spread since its cluster was made.
  RAMIFY_INLINE double limit_of(double linkage, double more = 0) const {
    return linkage + 2.05 * table_.doubt(std::fabs(linkage) + 2 * (spread_ + more));
  }
  /// Has so much been looked at one by one that a matrix of all pairs is quicker?
  bool has_looked_enough(std::size_t at_more) {
    looked_ += at_more;
    return looked_ > kLooks + ((forest_.size() * forest_.size() / 4) >> s_.given_up);
  }
  /// A row has been searched: that is as much as some of those.
  void note_row() { looked_ += forest_.size() / kRowOfLooks + 1; }
  RAMIFY_INLINE bool is_closed(const Cluster& c) const {
    return (c.in_foot ? s_.foot_closed : s_.kept_closed)[c.place] != 0;
  }
  std::size_t foot_width() const { return open_foot_ > 0 ? table_.foot_width() : 0; }

  // --- rows ----------------------------------------------------------------------------

  RAMIFY_INLINE const double* foot_of_union(const Cluster& c) const {
    return s_.rows[c.row].data();
  }
  RAMIFY_INLINE const double* kept_of_union(const Cluster& c) const {
    return s_.rows[c.row].data() + table_.foot_width();
  }
  RAMIFY_INLINE double* row_of_union(std::uint32_t row) { return s_.rows[row].data(); }
  RAMIFY_INLINE const float* kept_of_item(const Cluster& c) const {
    return c.in_foot ? table_.foot_to_kept(c.place) : table_.kept_row(c.place);
  }
  /// To the open ones of the foot.
  RAMIFY_INLINE const float* foot_of_item(const Cluster& c) {
    if (c.in_foot || open_foot_ == 0) return c.in_foot ? table_.foot_row(c.place) : nullptr;
    return patched(c.place);
  }
  /// Linkage of a union to another cluster. Those to unions are behind those to places.
  RAMIFY_INLINE double& at(std::uint32_t union_row, const Cluster& c) {
    const std::size_t before = c.is_union  ? table_.foot_width() + table_.kept_width() + c.row
                               : c.in_foot ? c.place
                                           : table_.foot_width() + c.place;
    return row_of_union(union_row)[before];
  }
  RAMIFY_INLINE double linkage_of_clusters(const Cluster& a, const Cluster& b) {
    if (a.is_union) return at(a.row, b);
    return b.is_union ? at(b.row, a) : linkage_of_items(a, b);
  }

  // --- the nearest ---------------------------------------------------------------------

  RAMIFY_INLINE void offer_unions(PathNearest& best, std::uint32_t c) {
    for (const std::uint32_t other : s_.unions)
      if (other != c) best.offer(other, at(s_.clusters[other].row, s_.clusters[c]));
  }
  /// Is an open item that near to an item?
  RAMIFY_INLINE bool any_within(std::uint32_t c, double limit) {
    const Cluster& cluster = s_.clusters[c];
    const float most = in_float(limit);
    return any_open_below(foot_of_item(cluster), s_.foot_closed.data(), 0, foot_width(), most) ||
           any_open_below(kept_of_item(cluster), s_.kept_closed.data(), begin_, end_, most);
  }
  /// At least as large.
  RAMIFY_INLINE static float in_float(double limit) {
    return static_cast<float>(limit + 2e-7 * std::fabs(limit));
  }
  /// The least that is open, of numbers by place of the foot and of the kept.
  RAMIFY_INLINE float least_open(const float* by_foot, const float* by_kept) const {
    float least = kClosed;
    lower_by_open(by_foot, s_.foot_closed.data(), 0, foot_width(), least);
    lower_by_open(by_kept, s_.kept_closed.data(), begin_, end_, least);
    return least;
  }
  /// Of an item to all open ones.
  RAMIFY_INLINE float least_of_item(std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    return least_open(foot_of_item(cluster), kept_of_item(cluster));
  }
  /// Call `use` with each open item whose number is at most limit(), by place.
  template <class Limit, class Use>
  RAMIFY_INLINE void for_each_within(const float* by_foot, const float* by_kept, const Limit& limit,
                                     const Use& use) const {
    each_open_within(by_foot, s_.foot_closed.data(), s_.foot_item.data(), 0, foot_width(), limit,
                     use);
    each_open_within(by_kept, s_.kept_closed.data(), s_.kept_item.data(), begin_, end_, limit, use);
  }
  /// The open items.
  RAMIFY_INLINE void offer_items(PathNearest& best, std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    LeastTwo least;
    least.begin();
    const float* to_foot = foot_of_item(cluster);
    const float* to_kept = kept_of_item(cluster);
    offer_open(to_foot, s_.foot_closed.data(), 0, foot_width(), least);
    offer_open(to_kept, s_.kept_closed.data(), begin_, end_, least);
    double first, second;
    least.result(first, second);
    if (!(first < kClosed / 2)) return;
    best.offer(item_at(to_foot, to_kept, first), first);
    best.next = std::min(best.next, second);
  }
  RAMIFY_INLINE PathNearest nearest_item_of_union(std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    LeastTwo least;
    least.begin();
    offer_row(foot_of_union(cluster), 0, foot_width(), least);
    offer_row(kept_of_union(cluster), begin_, end_, least);
    return found(cluster, least);
  }
  /// Have in s_.near who is that near to a cluster, items first. How many of them are items.
  std::size_t find_near(std::uint32_t c, double limit) {
    const Cluster& cluster = s_.clusters[c];
    const auto add_row_of = [&](const auto* to_foot, const auto* to_kept) {
      for (std::size_t i = 0; i < foot_width(); ++i)
        if (s_.foot_closed[i] == 0 && to_foot[i] <= limit && s_.foot_item[i] != c)
          s_.near.push_back(s_.foot_item[i]);
      for (std::size_t i = begin_; i < end_; ++i)
        if (s_.kept_closed[i] == 0 && to_kept[i] <= limit && s_.kept_item[i] != c)
          s_.near.push_back(s_.kept_item[i]);
    };
    s_.near.clear();
    if (cluster.is_union)
      add_row_of(foot_of_union(cluster), kept_of_union(cluster));
    else
      add_row_of(foot_of_item(cluster), kept_of_item(cluster));
    const std::size_t items = s_.near.size();
    for (const std::uint32_t other : s_.unions)
      if (other != c && at(s_.clusters[other].row, cluster) <= limit) s_.near.push_back(other);
    return items;
  }

  // --- merging -------------------------------------------------------------------------

  /// The union of two clusters, and in `nearest` the item that is nearest to it.
  RAMIFY_INLINE std::uint32_t merge(std::uint32_t a, std::uint32_t b, PathNearest& nearest) {
    tally(Engine::kOneByOne, 2);
    if (s_.ranks[b].first_leaf < s_.ranks[a].first_leaf) std::swap(a, b);
    const Cluster of_a = s_.clusters[a], of_b = s_.clusters[b];
    const double n = of_a.n + of_b.n, share = of_b.n / n;
    double moved = 0;  // by how much the mean of their linkages is too large
    if constexpr (!Rule::kMeanOfParts)
      moved = share * (1 - share) * linkage_of_clusters(of_a, of_b);
    const std::uint32_t c = note_merge(a, b);
    if (of_a.is_union) forget_union(a);
    if (of_b.is_union) forget_union(b);
    Cluster& made = s_.clusters[c];
    made = {of_a.place, of_a.in_foot,
            true,       row_for_union(of_a, of_b),
            n,          of_a.spread + share * (of_b.spread - of_a.spread) + moved};
    const float* foot_a = of_a.is_union ? nullptr : foot_of_item(of_a);
    const float* foot_b = of_b.is_union ? nullptr : foot_of_item(of_b);
    if (!of_a.is_union) close(of_a);
    if (!of_b.is_union) close(of_b);
    narrow();
    prefetch_next();
    nearest = unite_rows(of_a, foot_a, of_b, foot_b, made, {share, moved});
    for (const std::uint32_t other : s_.unions) {
      const std::uint32_t row = s_.clusters[other].row;
      const double to_a = at(row, of_a), to_b = at(row, of_b);
      if (!of_a.is_union) at(row, of_a) = kFarRow;
      if (!of_b.is_union) at(row, of_b) = kFarRow;
      at(row, made) = at(made.row, s_.clusters[other]) = to_a + (to_b - to_a) * share - moved;
    }
    s_.unions.push_back(c);
    if (of_a.is_union && of_b.is_union) s_.free_rows.push_back(of_b.row);
    add_up_spreads();
    return c;
  }

  /// The only union takes in some of those that come next on the path, if that is certain. `pairs`
  /// is at most the least linkage of two open items.
  RAMIFY_INLINE bool take_run(std::uint32_t& into, double pairs) {
    // Runs are of kept ones; whatever comes next in the foot is nearly always nearer.
    pass_by_closed();
    if (next_ == forest_.size() || s_.clusters[next_].in_foot) return false;
    const Cluster& made = s_.clusters[into];
    PathRun<Rule> run(made.n);
    choose_run(made, run, pairs);
    if (run.size() == 0) return false;
    if (s_.free_rows.empty()) add_row();
    double* out = row_of_union(s_.free_rows.back()) + table_.foot_width();
    for (std::size_t j = 0; j < run.size(); ++j) close_kept(run.place(j));
    const bool is_certain = run.is_apart(
        {kept_of_union(made), s_.kept_closed.data(), s_.open.data(), begin_, end_}, s_.run, out);
    tally(Engine::kRun, run.size() + 1, is_certain);
    if (is_certain)
      into = take_in_all(run, into);
    else
      for (std::size_t j = 0; j < run.size(); ++j) open_kept(run.place(j));
    return is_certain;
  }
  /// The only union takes in an item.
  RAMIFY_INLINE std::uint32_t take_in(std::uint32_t into, std::uint32_t item,
                                      PathNearest& nearest) {
    static_assert(Rule::kMeanOfParts);
    tally(Engine::kOneByOne, 2);
    const std::uint32_t c = note_merge(into, item);
    Cluster& made = s_.clusters[c];
    const Cluster& of_item = s_.clusters[item];
    made = s_.clusters[into];
    made.n += of_item.n;
    s_.unions.front() = c;
    const float* to_foot = foot_of_item(of_item);
    close(of_item);
    at(made.row, of_item) = kFarRow;
    narrow();
    LeastTwo least;
    least.begin();
    double* foot = row_of_union(made.row);
    double* kept = foot + table_.foot_width();
    const UnionShares shares{of_item.n / made.n, 0};
    if (open_foot_ > 0) blend_rows(foot, to_foot, shares, foot, 0, foot_width(), least);
    blend_rows(kept, kept_of_item(of_item), shares, kept, begin_, end_, least);
    nearest = found(made, least);
    return c;
  }

  /// What rounding can have done to the difference of two exact linkages of unions, here and in
  /// forest_hac() together.
  double rounding(double linkage) {
    // Means of linkages are taken up to m times, each off by four ulps of the largest at most; that
    // itself, and what it is a mean of, by one for each column.
    const auto m = static_cast<double>(forest_.size()), columns = static_cast<double>(means_.dim());
    const double times = 1.2e-15 * (m + columns);
    if constexpr (Rule::kProduct) return 4 * times * table_.longest() + 1e-290;
    // Means are at most reach() from that of the last item, and variances at most its square.
    const double largest = 6 * reach() * reach();
    // A mean is off by a few ulps of its distance from where it is counted from, for each of up to
    // m merges; a variance by the root of m times as much.
    const double far = 64 * 1.2e-16 * m * std::sqrt(m) * reach();
    return times * largest + far * std::sqrt(std::max(linkage, 0.0)) + far * far + 1e-290;
  }

  std::span<const ForestItem<Real>> forest_;
  const PathTable<Real>& table_;
  PathScratch& s_;
  std::vector<Merge>& merges_;
  UnionMeans<Real, Rule> means_;

 private:
  static constexpr std::size_t kSoon = 3, kLooks = 256, kRowOfLooks = 64;
  static constexpr std::size_t kSoClose = 8;  // items after those a run is chosen among

  void begin() {
    const std::size_t m = forest_.size();
    merges_.clear();
    merges_.reserve(m - 1);
    s_.clusters.resize(2 * m - 1);
    s_.ranks.resize(2 * m - 1);
    s_.foot_closed.assign(table_.foot_width(), kClosed);
    s_.kept_closed.assign(table_.kept_width(), kClosed);
    s_.open.assign(table_.kept_width() / kLanes, 0);
    s_.foot_item.resize(table_.foot_width());
    s_.kept_item.resize(table_.kept_width());
    s_.run.sums.resize(table_.kept_width());
    s_.run.least.resize(table_.kept_width());
    for (std::vector<float>& patched : s_.patched) patched.assign(table_.foot_width(), kClosed);
    s_.unions.clear();
    s_.free_rows.clear();
    // The first is taken first: a row has an entry for as many others as there can be unions.
    for (auto i = static_cast<std::uint32_t>(s_.rows.size()); i-- > 0;) {
      if (s_.rows[i].size() < width()) s_.rows[i].resize(width());
      s_.free_rows.push_back(i);
    }
    for (std::uint32_t i = 0; i < m; ++i) {
      const bool in_foot = table_.is_foot(i);
      const std::uint32_t place = table_.place(i);
      s_.clusters[i] = {place, in_foot, false, 0, forest_[i].summary.n, 0};
      s_.ranks[i] = forest_[i].rank;
      if (in_foot)
        s_.foot_closed[place] = 0;
      else
        open_kept(place);
      (in_foot ? s_.foot_item : s_.kept_item)[place] = i;
    }
    begin_ = table_.begin();
    end_ = table_.end();
    open_foot_ = table_.foot();
  }

  /// Of the row of a union.
  std::size_t width() const {
    return table_.foot_width() + table_.kept_width() + forest_.size() / 2 + 1;
  }
  const float* patched(std::uint32_t place) {
    std::vector<float>& out = s_.patched[patches_++ % 2];  // two are asked for at a time
    for (std::uint32_t i = 0; i < table_.foot(); ++i) out[i] = table_.foot_to_kept(i)[place];
    return out.data();
  }

  /// Which open item has this linkage in a row?
  template <class Number>
  RAMIFY_INLINE std::uint32_t item_at(const Number* to_foot, const Number* to_kept,
                                      double linkage) const {
    for (std::size_t i = 0; i < foot_width(); ++i)
      if (s_.foot_closed[i] == 0 && to_foot[i] == linkage) return s_.foot_item[i];
    for (std::size_t i = begin_; i < end_; ++i)
      if (s_.kept_closed[i] == 0 && to_kept[i] == linkage) return s_.kept_item[i];
    return kNobody;
  }
  RAMIFY_INLINE PathNearest found(const Cluster& cluster, const LeastTwo& least) {
    PathNearest best;
    double first, second;
    least.result(first, second);
    if (!(first < kClosed)) return best;
    best.linkage = first;
    best.next = second;
    const double* to_kept = kept_of_union(cluster);
    // Mostly the one that comes next on the path.
    pass_by_closed();
    if (next_ < forest_.size() && !s_.clusters[next_].in_foot &&
        to_kept[s_.clusters[next_].place] == first) {
      best.cluster = next_;
      return best;
    }
    best.cluster = item_at(foot_of_union(cluster), to_kept, first);
    return best;
  }
  RAMIFY_INLINE void pass_by_closed() {
    while (next_ < forest_.size() && is_closed(s_.clusters[next_])) ++next_;
  }

  RAMIFY_INLINE void choose_run(const Cluster& made, PathRun<Rule>& run, double pairs) {
    const double* row = kept_of_union(made);
    s_.run.may_be_close.assign(table_.kept_width() / kLanes, 0);
    const auto note_close = [&](std::uint32_t place) { s_.run.may_be_close[place / kLanes] = 1; };
    std::size_t close = 0;
    for (std::uint32_t i = next_; i < forest_.size() && close < kSoClose; ++i) {
      const Cluster& c = s_.clusters[i];
      if (c.in_foot || is_closed(c)) continue;
      if (!run.is_full()) {
        run.add(i, c.place, kept_of_item(c), c.n, row[c.place]);
      } else {
        note_close(c.place);
        ++close;
      }
    }
    run.pick([&](double linkage, double more) { return limit_of(linkage, more); }, pairs);
    for (std::uint32_t i = 0; open_foot_ > 0 && i < table_.foot(); ++i)
      if (s_.foot_closed[i] == 0) run.keep_nearer(foot_of_union(made)[i], table_.foot_to_kept(i));
    run.for_each_left(note_close);
  }
  /// The union's linkages afterwards are in a spare row, but for those to the foot.
  RAMIFY_INLINE std::uint32_t take_in_all(const PathRun<Rule>& run, std::uint32_t into) {
    Cluster made = s_.clusters[into];
    const double* foot = foot_of_union(made);
    double* out = row_of_union(s_.free_rows.back());
    for (std::size_t i = 0; i < foot_width(); ++i)
      out[i] = s_.foot_closed[i] == 0 ? run.after(foot[i], table_.foot_to_kept(i)) : kFarRow;
    std::swap(made.row, s_.free_rows.back());
    for (std::size_t j = 0; j < run.size(); ++j) into = note_merge(into, run.item(j));
    const double before = made.n;
    made.n = run.points_with(run.size() - 1);
    made.spread = made.spread * (before / made.n) + run.spread();
    s_.clusters[into] = made;
    s_.unions.front() = into;
    narrow();
    add_up_spreads();
    return into;
  }
  RAMIFY_INLINE std::uint32_t note_merge(std::uint32_t a, std::uint32_t b) {
    const auto c = static_cast<std::uint32_t>(forest_.size() + merges_.size());
    const bool in_order = s_.ranks[a].first_leaf < s_.ranks[b].first_leaf;
    merges_.push_back(in_order ? Merge{a, b} : Merge{b, a});
    s_.ranks[c] = merged(s_.ranks[a], s_.ranks[b]);
    return c;
  }

  /// Begin to load the row of an item that is likely to be merged soon.
  RAMIFY_INLINE void prefetch_next() const {
#if defined(__GNUC__) || defined(__clang__)
    const std::size_t soon = next_ + kSoon;
    if (soon >= forest_.size() || s_.clusters[soon].in_foot) return;
    const float* row = table_.kept_row(s_.clusters[soon].place);
    for (std::size_t i = begin_; i < end_; i += kLanes) __builtin_prefetch(row + i);
#endif
  }

  /// An item is done with: no search will find it.
  RAMIFY_INLINE void close(const Cluster& c) {
    if (!c.in_foot) return close_kept(c.place);
    s_.foot_closed[c.place] = kClosed;
    --open_foot_;
  }
  RAMIFY_INLINE void close_kept(std::uint32_t place) {
    s_.kept_closed[place] = kClosed;
    --s_.open[place / kLanes];
  }
  RAMIFY_INLINE void open_kept(std::uint32_t place) {
    s_.kept_closed[place] = 0;
    ++s_.open[place / kLanes];
  }
  /// Blocks of places at either end that are done with are not looked at again.
  RAMIFY_INLINE void narrow() {
    while (begin_ < end_ && s_.open[begin_ / kLanes] == 0) begin_ += kLanes;
    while (begin_ < end_ && s_.open[end_ / kLanes - 1] == 0) end_ -= kLanes;
  }
  RAMIFY_INLINE void forget_union(std::uint32_t c) {
    for (std::uint32_t& other : s_.unions)
      if (other == c) {
        other = s_.unions.back();
        s_.unions.pop_back();
        return;
      }
  }
  void add_up_spreads() {
    if constexpr (Rule::kMeanOfParts) return;
    spread_ = 0;
    for (const std::uint32_t u : s_.unions) spread_ += std::fabs(s_.clusters[u].spread);
  }
  std::uint32_t row_for_union(const Cluster& a, const Cluster& b) {
    if (a.is_union) return a.row;
    if (b.is_union) return b.row;
    if (s_.free_rows.empty()) add_row();
    const std::uint32_t row = s_.free_rows.back();
    s_.free_rows.pop_back();
    return row;
  }
  void add_row() {
    s_.free_rows.push_back(static_cast<std::uint32_t>(s_.rows.size()));
    s_.rows.emplace_back(width());
  }

  /// The union's linkages to all that is open, from its parts'. And which is the least.
  RAMIFY_INLINE PathNearest unite_rows(const Cluster& a, const float* foot_a, const Cluster& b,
                                       const float* foot_b, const Cluster& made,
                                       const UnionShares& shares) {
    LeastTwo least;
    least.begin();
    double* foot = row_of_union(made.row);
    double* kept = foot + table_.foot_width();
    if (a.is_union && b.is_union) {
      blend_rows(foot_of_union(a), foot_of_union(b), shares, foot, 0, foot_width(), least);
      blend_rows(kept_of_union(a), kept_of_union(b), shares, kept, begin_, end_, least);
    } else if (a.is_union) {
      at(a.row, b) = kFarRow;
      blend_rows(foot_of_union(a), foot_b, shares, foot, 0, foot_width(), least);
      blend_rows(kept_of_union(a), kept_of_item(b), shares, kept, begin_, end_, least);
    } else if (b.is_union) {
      at(b.row, a) = kFarRow;
      blend_rows(foot_a, foot_of_union(b), shares, foot, 0, foot_width(), least);
      blend_rows(kept_of_item(a), kept_of_union(b), shares, kept, begin_, end_, least);
    } else {
      blend_open_rows(foot_a, foot_b, s_.foot_closed.data(), shares, foot, 0, foot_width(), least);
      blend_open_rows(kept_of_item(a), kept_of_item(b), s_.kept_closed.data(), shares, kept, begin_,
                      end_, least);
    }
    return found(made, least);
  }
  /// At least how far any mean is from the last item's, which they are counted from. Exactly: in
  /// the table, tiny ones may be lost. O(items dim), once somebody has to know.
  double reach() {
    if (Rule::kProduct || reach_ >= 0) return reach_;
    const auto last = static_cast<std::uint32_t>(forest_.size() - 1);
    double most = 0;
    for (std::uint32_t i = 0; i < last; ++i) most = std::max(most, means_.linkage_from(i, last));
    return reach_ = 1.01 * std::sqrt(most);
  }
  double linkage_of_items(const Cluster& a, const Cluster& b) {
    if (b.in_foot && !a.in_foot) return table_.foot_to_kept(b.place)[a.place];
    return (b.in_foot ? table_.foot_row(a.place) : kept_of_item(a))[b.place];
  }

  std::size_t begin_ = 0, end_ = 0;  // kept places that may be open
  std::size_t open_foot_ = 0;
  std::uint32_t next_ = 0;  // items below are done with
  std::uint32_t patches_ = 0;
  std::size_t looked_ = 0;  // linkages that were computed exactly, and rows, in their place
  double spread_ = 0;       // of all unions
  double reach_ = -1;       // see reach()
};

}  // namespace ramify
