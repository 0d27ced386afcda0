// SPDX-License-Identifier: BSD-3-Clause
// path_unions.hpp: what a merge does to the clusters of a path (path_clusters.hpp).
//
// Two become a union, whose linkages follow from theirs; or the only union takes in what comes next
// on the path. Who is merged next is for others to say: path_chain.cpp, path_greedy.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "forest/path_clusters.hpp"
#include "forest/path_run.hpp"
#include "forest/tally.hpp"
#include "forest/union_means.hpp"
#include "math/dispatch.hpp"
#include "math/least_two.hpp"

namespace ramify {

template <class Real, class Rule>
class PathUnions : protected PathClusters<Real> {
 public:
  bool is_done() const { return merges_.size() + 1 >= forest_.size(); }
  bool goes_on() const { return true; }  // a path is over before anyone wants to stop

  /// The forest has been seated.
  PathUnions(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table,
             std::size_t dim, PathScratch& scratch, std::vector<Merge>& merges)
      : Clusters(forest, table, scratch),
        merges_(merges),
        means_(forest, dim, merges, scratch.means) {
    merges_.clear();
    merges_.reserve(forest.size() - 1);
  }

 protected:
  using Clusters = PathClusters<Real>;
  using Clusters::forest_, Clusters::table_, Clusters::s_;
  using typename Clusters::Cluster;

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

  // --- merging -------------------------------------------------------------------------

  /// The union of two clusters, and in `nearest` the item that is nearest to it.
  RAMIFY_INLINE std::uint32_t merge(std::uint32_t a, std::uint32_t b, PathNearest& nearest) {
    tally(Engine::kOneByOne, 2);
    if (s_.ranks[b].first_leaf < s_.ranks[a].first_leaf) std::swap(a, b);
    const Cluster of_a = s_.clusters[a], of_b = s_.clusters[b];
    const double n = of_a.n + of_b.n, share = of_b.n / n;
    double moved = 0;  // by how much the mean of their linkages is too large
    if constexpr (!Rule::kMeanOfParts)
      moved = share * (1 - share) * this->linkage_of_clusters(of_a, of_b);
    const std::uint32_t c = note_merge(a, b);
    if (of_a.is_union) this->forget_union(a);
    if (of_b.is_union) this->forget_union(b);
    Cluster& made = s_.clusters[c];
    made = {of_a.place, of_a.in_foot,
            true,       this->row_for_union(of_a, of_b),
            n,          of_a.spread + share * (of_b.spread - of_a.spread) + moved};
    const float* foot_a = of_a.is_union ? nullptr : this->foot_of_item(of_a);
    const float* foot_b = of_b.is_union ? nullptr : this->foot_of_item(of_b);
    if (!of_a.is_union) this->close(of_a);
    if (!of_b.is_union) this->close(of_b);
    this->narrow();
    prefetch_next();
    nearest = unite_rows(of_a, foot_a, of_b, foot_b, made, {share, moved});
    for (const std::uint32_t other : s_.unions) {
      const std::uint32_t row = s_.clusters[other].row;
      const double to_a = this->at(row, of_a), to_b = this->at(row, of_b);
      if (!of_a.is_union) this->at(row, of_a) = kFarRow;
      if (!of_b.is_union) this->at(row, of_b) = kFarRow;
      this->at(row, made) = this->at(made.row, s_.clusters[other]) =
          to_a + (to_b - to_a) * share - moved;
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
    this->pass_by_closed();
    if (next_ == forest_.size() || s_.clusters[next_].in_foot) return false;
    const Cluster& made = s_.clusters[into];
    PathRun<Rule> run(made.n);
    choose_run(made, run, pairs);
    if (run.size() == 0) return false;
    if (s_.free_rows.empty()) this->add_row();
    double* out = this->row_of_union(s_.free_rows.back()) + table_.foot_width();
    for (std::size_t j = 0; j < run.size(); ++j) this->close_kept(run.place(j));
    const bool is_certain = run.is_apart(
        {this->kept_of_union(made), s_.kept_closed.data(), s_.open.data(), begin_, end_}, s_.run,
        out);
    tally(Engine::kRun, run.size() + 1, is_certain);
    if (is_certain)
      into = take_in_all(run, into);
    else
      for (std::size_t j = 0; j < run.size(); ++j) this->open_kept(run.place(j));
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
    const float* to_foot = this->foot_of_item(of_item);
    this->close(of_item);
    this->at(made.row, of_item) = kFarRow;
    this->narrow();
    LeastTwo least;
    least.begin();
    double* foot = this->row_of_union(made.row);
    double* kept = foot + table_.foot_width();
    const UnionShares shares{of_item.n / made.n, 0};
    if (open_foot_ > 0) blend_rows(foot, to_foot, shares, foot, 0, this->foot_width(), least);
    blend_rows(kept, this->kept_of_item(of_item), shares, kept, begin_, end_, least);
    nearest = this->found(made, least);
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

  std::vector<Merge>& merges_;
  UnionMeans<Real, Rule> means_;

 private:
  using Clusters::begin_, Clusters::end_, Clusters::next_, Clusters::open_foot_;
  static constexpr std::size_t kSoon = 3, kLooks = 256, kRowOfLooks = 64;
  static constexpr std::size_t kSoClose = 8;  // items after those a run is chosen among

  RAMIFY_INLINE void choose_run(const Cluster& made, PathRun<Rule>& run, double pairs) {
    const double* row = this->kept_of_union(made);
    s_.run.may_be_close.assign(table_.kept_width() / kLanes, 0);
    const auto note_close = [&](std::uint32_t place) { s_.run.may_be_close[place / kLanes] = 1; };
    std::size_t close = 0;
    for (std::uint32_t i = next_; i < forest_.size() && close < kSoClose; ++i) {
      const Cluster& c = s_.clusters[i];
      if (c.in_foot || this->is_closed(c)) continue;
      if (!run.is_full()) {
        run.add(i, c.place, this->kept_of_item(c), c.n, row[c.place]);
      } else {
        note_close(c.place);
        ++close;
      }
    }
    run.pick([&](double linkage, double more) { return limit_of(linkage, more); }, pairs);
    for (std::uint32_t i = 0; open_foot_ > 0 && i < table_.foot(); ++i)
      if (s_.foot_closed[i] == 0)
        run.keep_nearer(this->foot_of_union(made)[i], table_.foot_to_kept(i));
    run.for_each_left(note_close);
  }
  /// The union's linkages afterwards are in a spare row, but for those to the foot.
  RAMIFY_INLINE std::uint32_t take_in_all(const PathRun<Rule>& run, std::uint32_t into) {
    Cluster made = s_.clusters[into];
    const double* foot = this->foot_of_union(made);
    double* out = this->row_of_union(s_.free_rows.back());
    for (std::size_t i = 0; i < this->foot_width(); ++i)
      out[i] = s_.foot_closed[i] == 0 ? run.after(foot[i], table_.foot_to_kept(i)) : kFarRow;
    std::swap(made.row, s_.free_rows.back());
    for (std::size_t j = 0; j < run.size(); ++j) into = note_merge(into, run.item(j));
    const double before = made.n;
    made.n = run.points_with(run.size() - 1);
    made.spread = made.spread * (before / made.n) + run.spread();
    s_.clusters[into] = made;
    s_.unions.front() = into;
    this->narrow();
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
    const std::size_t soon = next_ + kSoon;
    if (soon >= forest_.size() || s_.clusters[soon].in_foot) return;
    const float* row = table_.kept_row(s_.clusters[soon].place);
    for (std::size_t i = begin_; i < end_; i += kLanes) __builtin_prefetch(row + i);
  }

  void add_up_spreads() {
    if constexpr (Rule::kMeanOfParts) return;
    spread_ = 0;
    for (const std::uint32_t u : s_.unions) spread_ += std::fabs(s_.clusters[u].spread);
  }

  /// The union's linkages to all that is open, from its parts'. And which is the least.
  RAMIFY_INLINE PathNearest unite_rows(const Cluster& a, const float* foot_a, const Cluster& b,
                                       const float* foot_b, const Cluster& made,
                                       const UnionShares& shares) {
    LeastTwo least;
    least.begin();
    double* foot = this->row_of_union(made.row);
    double* kept = foot + table_.foot_width();
    if (a.is_union && b.is_union) {
      blend_rows(this->foot_of_union(a), this->foot_of_union(b), shares, foot, 0,
                 this->foot_width(), least);
      blend_rows(this->kept_of_union(a), this->kept_of_union(b), shares, kept, begin_, end_, least);
    } else if (a.is_union) {
      this->at(a.row, b) = kFarRow;
      blend_rows(this->foot_of_union(a), foot_b, shares, foot, 0, this->foot_width(), least);
      blend_rows(this->kept_of_union(a), this->kept_of_item(b), shares, kept, begin_, end_, least);
    } else if (b.is_union) {
      this->at(b.row, a) = kFarRow;
      blend_rows(foot_a, this->foot_of_union(b), shares, foot, 0, this->foot_width(), least);
      blend_rows(this->kept_of_item(a), this->kept_of_union(b), shares, kept, begin_, end_, least);
    } else {
      blend_open_rows(foot_a, foot_b, s_.foot_closed.data(), shares, foot, 0, this->foot_width(),
                      least);
      blend_open_rows(this->kept_of_item(a), this->kept_of_item(b), s_.kept_closed.data(), shares,
                      kept, begin_, end_, least);
    }
    return this->found(made, least);
  }
  /// At least how far any mean is from the last item's, which they are counted from. Exactly: in
  /// the table, tiny ones may be lost. O(items dim), once it is asked for.
  double reach() {
    if (Rule::kProduct || reach_ >= 0) return reach_;
    const auto last = static_cast<std::uint32_t>(forest_.size() - 1);
    double most = 0;
    for (std::uint32_t i = 0; i < last; ++i) most = std::max(most, means_.linkage_from(i, last));
    return reach_ = 1.01 * std::sqrt(most);
  }

  std::size_t looked_ = 0;  // linkages that were computed exactly, and rows, in their place
  double spread_ = 0;       // of all unions
  double reach_ = -1;       // see reach()
};

}  // namespace ramify
