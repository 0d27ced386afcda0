// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/path_hac.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/dispatch.hpp"
#include "math/growth.hpp"
#include "math/lanes.hpp"
#include "math/least_two.hpp"

namespace ramify {
namespace {

constexpr double kFar = PathRun::kFar;
constexpr std::uint32_t kNobody = 0xFFFFFFFFU;
constexpr std::size_t kStep = kLanesWidth;

/// The chain, on a forest that has been seated.
template <class Real, class Rule>
class PathChain {
 public:
  PathChain(std::span<const ForestItem<Real>> forest, const PathTable<Real>& table, std::size_t dim,
            PathScratch& scratch, std::vector<Merge>& merges)
      : forest_(forest),
        table_(table),
        s_(scratch),
        merges_(merges),
        means_(forest, dim, merges, scratch.means) {
    begin();
  }

  RAMIFY_INLINE bool run() {
    const std::size_t m = forest_.size();
    std::vector<std::uint32_t>& chain = s_.chain;
    std::uint32_t start = 0;
    while (merges_.size() + 1 < m) {
      if (chain.empty()) {
        start = take_in_order(start);
        if (merges_.size() + 1 == m) break;
        chain.push_back(start);
      }
      const std::uint32_t c = chain.back();
      const std::uint32_t before = chain.size() >= 2 ? chain[chain.size() - 2] : kNobody;
      const std::uint32_t nearest = nearest_of(c, before);
      if (nearest == kNobody) return false;
      if (nearest == before) {
        chain.resize(chain.size() - 2);
        start = merge(c, nearest);
      } else {
        chain.push_back(nearest);
      }
    }
    return true;
  }

 private:
  using Cluster = PathScratch::Cluster;
  static constexpr float kShut = PathTable<Real>::kShut;
  static_assert(kShut == PathRun::kShut);
  static constexpr std::size_t kSoon = 3;
  static constexpr std::size_t kSoClose = 8;  // items after a run

  void begin();

  /// As far off as two linkages can be, one on either side, and a little more.
  double limit_of(double linkage) const {
    return linkage + 2.05 * table_.doubt(std::fabs(linkage));
  }

  /// Of the row of a union.
  std::size_t width() const {
    return table_.foot_width() + table_.kept_width() + forest_.size() / 2 + 1;
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
  const float* patched(std::uint32_t place) {
    std::vector<float>& out = s_.patched[patches_++ % 2];  // two are asked for at a time
    for (std::uint32_t i = 0; i < table_.foot(); ++i) out[i] = table_.foot_to_kept(i)[place];
    return out.data();
  }
  /// Linkage of a union to another cluster. Those to unions are behind those to places.
  RAMIFY_INLINE double& at(std::uint32_t union_row, const Cluster& c) {
    const std::size_t before = c.is_union  ? table_.foot_width() + table_.kept_width() + c.row
                               : c.in_foot ? c.place
                                           : table_.foot_width() + c.place;
    return row_of_union(union_row)[before];
  }

  // --- the nearest ---------------------------------------------------------------------

  struct Best {
    std::uint32_t cluster = kNobody;
    double linkage = std::numeric_limits<double>::infinity();
    double next = std::numeric_limits<double>::infinity();  // of the others, the least linkage
  };
  RAMIFY_INLINE static void offer(Best& best, std::uint32_t cluster, double linkage) {
    if (linkage < best.linkage) {
      best.next = best.linkage;
      best.linkage = linkage;
      best.cluster = cluster;
    } else {
      best.next = std::min(best.next, linkage);
    }
  }
  RAMIFY_INLINE void offer_unions(Best& best, std::uint32_t c) {
    for (const std::uint32_t other : s_.unions)
      if (other != c) offer(best, other, at(s_.clusters[other].row, s_.clusters[c]));
  }

  /// Its nearest cluster; kNobody if that cannot be told. `guess` is likely.
  RAMIFY_INLINE std::uint32_t nearest_of(std::uint32_t c, std::uint32_t guess) {
    const Cluster& cluster = s_.clusters[c];
    Best best;
    if (cluster.is_union) {
      best = c == last_union_ ? nearest_of_last() : nearest_item_of_union(c);
      offer_unions(best, c);
    } else {
      offer_unions(best, c);
      const bool alone = best.cluster != kNobody && best.cluster == guess &&
                         !any_within(c, limit_of(best.linkage));
      if (!alone) offer_items(best, c);
    }
    if (best.next > limit_of(best.linkage)) return best.cluster;
    return settle(c, limit_of(best.linkage));
  }

  /// Is an open item that near to an item?
  RAMIFY_INLINE bool any_within(std::uint32_t c, double limit) {
    const Cluster& cluster = s_.clusters[c];
    const auto most = static_cast<float>(limit + 2e-7 * std::fabs(limit));
    return any_below(foot_of_item(cluster), s_.foot_shut.data(), 0, foot_width(), most) ||
           any_below(kept_of_item(cluster), s_.kept_shut.data(), begin_, end_, most);
  }
  RAMIFY_INLINE static bool any_below(const float* row, const float* shut, std::size_t from,
                                      std::size_t to, float most) {
    int near = 0;
    for (std::size_t i = from; i < to; ++i) near |= row[i] + shut[i] <= most ? 1 : 0;
    return near != 0;
  }

  RAMIFY_INLINE void offer_items(Best& best, std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    LeastTwo least;
    least.begin();
    const float* to_foot = foot_of_item(cluster);
    const float* to_kept = kept_of_item(cluster);
    read_open(to_foot, s_.foot_shut.data(), 0, foot_width(), least);
    read_open(to_kept, s_.kept_shut.data(), begin_, end_, least);
    double first, second;
    least.result(first, second);
    if (!(first < kShut / 2)) return;
    offer(best, item_at(to_foot, to_kept, first), first);
    best.next = std::min(best.next, second);
  }
  RAMIFY_INLINE static void read_open(const float* row, const float* shut, std::size_t from,
                                      std::size_t to, LeastTwo& least) {
    for (std::size_t i = from; i < to; i += kStep) {
      Lanes value, closed;
      load(value, row + i);
      load(closed, shut + i);
      least.offer(value + closed);
    }
  }
  /// Which open item has this linkage in a row of items?
  std::uint32_t item_at(const float* to_foot, const float* to_kept, double linkage) const {
    for (std::size_t i = 0; i < foot_width(); ++i)
      if (s_.foot_shut[i] == 0 && to_foot[i] == linkage) return s_.foot_item[i];
    for (std::size_t i = begin_; i < end_; ++i)
      if (s_.kept_shut[i] == 0 && to_kept[i] == linkage) return s_.kept_item[i];
    return kNobody;
  }

  RAMIFY_INLINE Best nearest_item_of_union(std::uint32_t c) {
    const Cluster& cluster = s_.clusters[c];
    LeastTwo least;
    least.begin();
    read(foot_of_union(cluster), 0, foot_width(), least);
    read(kept_of_union(cluster), begin_, end_, least);
    return found(cluster, least);
  }
  RAMIFY_INLINE static void read(const double* row, std::size_t from, std::size_t to,
                                 LeastTwo& least) {
    for (std::size_t i = from; i < to; i += kStep) {
      Lanes value;
      load(value, row + i);
      least.offer(value);
    }
  }
  RAMIFY_INLINE Best found(const Cluster& cluster, const LeastTwo& least) {
    Best best;
    double first, second;
    least.result(first, second);
    if (!(first < kShut)) return best;
    best.linkage = first;
    best.next = second;
    const double* to_kept = kept_of_union(cluster);
    // Mostly the one that comes next on the path.
    while (next_ < forest_.size() && is_shut(s_.clusters[next_])) ++next_;
    if (next_ < forest_.size() && !s_.clusters[next_].in_foot &&
        to_kept[s_.clusters[next_].place] == first) {
      best.cluster = next_;
      return best;
    }
    const double* to_foot = foot_of_union(cluster);
    for (std::size_t i = 0; i < foot_width(); ++i)
      if (to_foot[i] == first && s_.foot_shut[i] == 0) {
        best.cluster = s_.foot_item[i];
        return best;
      }
    for (std::size_t i = begin_; i < end_; ++i)
      if (to_kept[i] == first && s_.kept_shut[i] == 0) {
        best.cluster = s_.kept_item[i];
        return best;
      }
    return best;
  }
  RAMIFY_INLINE bool is_shut(const Cluster& c) const {
    return (c.in_foot ? s_.foot_shut : s_.kept_shut)[c.place] != 0;
  }

  // --- merging -------------------------------------------------------------------------

  /// As long as there is one union, and it and its nearest item are each other's nearest for
  /// certain, it takes that in: what most of a chain is.
  RAMIFY_INLINE std::uint32_t take_in_order(std::uint32_t c) {
    if (c != last_union_ || s_.unions.size() != 1) return c;
    for (;;) {
      if (take_run(c)) continue;
      const Best& nearest = nearest_of_last();
      if (nearest.cluster == kNobody) return c;
      const double limit = limit_of(nearest.linkage);
      if (!(nearest.next > limit) || any_within(nearest.cluster, limit)) return c;
      c = take_in(c, nearest.cluster);
    }
  }
  RAMIFY_INLINE const Best& nearest_of_last() {
    if (!nearest_is_known_) nearest_of_last_ = nearest_item_of_union(last_union_);
    nearest_is_known_ = true;
    return nearest_of_last_;
  }

  /// Take in some of those that come next on the path, if that is certain.
  RAMIFY_INLINE bool take_run(std::uint32_t& into) {
    const Cluster& made = s_.clusters[into];
    PathRun run(made.n);
    choose_run(made, run);
    if (run.size() == 0) return false;
    if (s_.free_rows.empty()) add_row();
    double* out = row_of_union(s_.free_rows.back()) + table_.foot_width();
    for (std::size_t j = 0; j < run.size(); ++j) s_.kept_shut[run.place(j)] = kShut;
    const bool is_certain =
        run.is_apart(kept_of_union(made), s_.kept_shut.data(), begin_, end_, s_.run, out);
    if (is_certain)
      into = take_in_all(run, into);
    else
      for (std::size_t j = 0; j < run.size(); ++j) s_.kept_shut[run.place(j)] = 0;
    return is_certain;
  }
  RAMIFY_INLINE void choose_run(const Cluster& made, PathRun& run) {
    const double* row = kept_of_union(made);
    s_.run.may_be_close.assign(table_.kept_width() / kLanes, 0);
    std::size_t close = 0;
    for (std::uint32_t i = next_; i < forest_.size() && close < kSoClose; ++i) {
      const Cluster& c = s_.clusters[i];
      if (c.in_foot || is_shut(c)) continue;
      if (!run.is_full()) {
        run.add(i, c.place, kept_of_item(c), c.n, row[c.place]);
      } else {
        s_.run.may_be_close[c.place / kLanes] = 1;
        ++close;
      }
    }
    run.keep_in_order([&](double linkage) { return limit_of(linkage); });
    for (std::uint32_t i = 0; open_foot_ > 0 && i < table_.foot(); ++i)
      if (s_.foot_shut[i] == 0) run.keep_nearer(foot_of_union(made)[i], table_.foot_to_kept(i));
  }
  /// The union's linkages afterwards are in a spare row, but for those to the foot.
  RAMIFY_INLINE std::uint32_t take_in_all(const PathRun& run, std::uint32_t into) {
    Cluster made = s_.clusters[into];
    const double* foot = foot_of_union(made);
    double* out = row_of_union(s_.free_rows.back());
    for (std::size_t i = 0; i < foot_width(); ++i)
      out[i] = s_.foot_shut[i] == 0 ? run.after(foot[i], table_.foot_to_kept(i)) : kFar;
    std::swap(made.row, s_.free_rows.back());
    for (std::size_t j = 0; j < run.size(); ++j) into = note_merge(into, run.item(j));
    made.n = run.points_with(run.size() - 1);
    s_.clusters[into] = made;
    s_.unions.front() = into;
    next_ = run.item(run.size() - 1) + 1;
    narrow();
    last_union_ = into;
    nearest_is_known_ = false;
    return into;
  }
  RAMIFY_INLINE std::uint32_t note_merge(std::uint32_t a, std::uint32_t b) {
    const auto c = static_cast<std::uint32_t>(forest_.size() + merges_.size());
    const bool in_order = s_.ranks[a].first_leaf < s_.ranks[b].first_leaf;
    merges_.push_back(in_order ? Merge{a, b} : Merge{b, a});
    s_.ranks[c] = merged(s_.ranks[a], s_.ranks[b]);
    return c;
  }

  RAMIFY_INLINE std::uint32_t take_in(std::uint32_t into, std::uint32_t item) {
    const std::uint32_t c = note_merge(into, item);
    Cluster& made = s_.clusters[c];
    const Cluster& of_item = s_.clusters[item];
    made = s_.clusters[into];
    made.n += of_item.n;
    s_.unions.front() = c;
    const float* to_foot = foot_of_item(of_item);
    shut(of_item);
    at(made.row, of_item) = kFar;
    narrow();
    LeastTwo least;
    least.begin();
    double* foot = row_of_union(made.row);
    double* kept = foot + table_.foot_width();
    const double share = of_item.n / made.n;
    if (open_foot_ > 0) blend(foot, to_foot, share, foot, 0, foot_width(), least);
    blend(kept, kept_of_item(of_item), share, kept, begin_, end_, least);
    last_union_ = c;
    nearest_of_last_ = found(made, least);
    nearest_is_known_ = true;
    return c;
  }

  RAMIFY_INLINE std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (s_.ranks[b].first_leaf < s_.ranks[a].first_leaf) std::swap(a, b);
    const std::uint32_t c = note_merge(a, b);
    const Cluster of_a = s_.clusters[a], of_b = s_.clusters[b];
    if (of_a.is_union) forget_union(a);
    if (of_b.is_union) forget_union(b);
    Cluster& made = s_.clusters[c];
    made = {of_a.place, of_a.in_foot, true, row_for_union(of_a, of_b), of_a.n + of_b.n};
    const float* foot_a = of_a.is_union ? nullptr : foot_of_item(of_a);
    const float* foot_b = of_b.is_union ? nullptr : foot_of_item(of_b);
    if (!of_a.is_union) shut(of_a);
    if (!of_b.is_union) shut(of_b);
    narrow();
    prefetch_next();
    blend(of_a, foot_a, of_b, foot_b, made);
    for (const std::uint32_t other : s_.unions) {
      const std::uint32_t row = s_.clusters[other].row;
      const double to_a = at(row, of_a), to_b = at(row, of_b);
      if (!of_a.is_union) at(row, of_a) = kFar;
      if (!of_b.is_union) at(row, of_b) = kFar;
      at(row, made) = at(made.row, s_.clusters[other]) = to_a + (to_b - to_a) * (of_b.n / made.n);
    }
    s_.unions.push_back(c);
    if (of_a.is_union && of_b.is_union) s_.free_rows.push_back(of_b.row);
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
  RAMIFY_INLINE void shut(const Cluster& c) {
    (c.in_foot ? s_.foot_shut : s_.kept_shut)[c.place] = kShut;
    if (c.in_foot) --open_foot_;
  }
  /// Blocks of places at either end that are done with are not looked at again.
  RAMIFY_INLINE void narrow() {
    const auto is_done = [&](std::size_t from) {
      int open = 0;
      for (std::size_t i = from; i < from + kLanes; ++i) open += s_.kept_shut[i] == 0 ? 1 : 0;
      return open == 0;
    };
    while (begin_ < end_ && is_done(begin_)) begin_ += kLanes;
    while (begin_ < end_ && is_done(end_ - kLanes)) end_ -= kLanes;
  }
  RAMIFY_INLINE void forget_union(std::uint32_t c) {
    for (std::uint32_t& other : s_.unions)
      if (other == c) {
        other = s_.unions.back();
        s_.unions.pop_back();
        return;
      }
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

  /// The union's linkages to all that is open: means of its parts'. And which is the least.
  RAMIFY_INLINE void blend(const Cluster& a, const float* foot_a, const Cluster& b,
                           const float* foot_b, const Cluster& made) {
    LeastTwo least;
    least.begin();
    const double share = b.n / made.n;
    double* foot = row_of_union(made.row);
    double* kept = foot + table_.foot_width();
    if (a.is_union && b.is_union) {
      blend(foot_of_union(a), foot_of_union(b), share, foot, 0, foot_width(), least);
      blend(kept_of_union(a), kept_of_union(b), share, kept, begin_, end_, least);
    } else if (a.is_union) {
      close(a, b);
      blend(foot_of_union(a), foot_b, share, foot, 0, foot_width(), least);
      blend(kept_of_union(a), kept_of_item(b), share, kept, begin_, end_, least);
    } else if (b.is_union) {
      close(b, a);
      blend(foot_a, foot_of_union(b), share, foot, 0, foot_width(), least);
      blend(kept_of_item(a), kept_of_union(b), share, kept, begin_, end_, least);
    } else {
      blend_items(foot_a, foot_b, s_.foot_shut.data(), share, foot, 0, foot_width(), least);
      blend_items(kept_of_item(a), kept_of_item(b), s_.kept_shut.data(), share, kept, begin_, end_,
                  least);
    }
    last_union_ = static_cast<std::uint32_t>(forest_.size() + merges_.size() - 1);
    nearest_of_last_ = found(made, least);
    nearest_is_known_ = true;
  }
  RAMIFY_INLINE void close(const Cluster& of_union, const Cluster& item) {
    at(of_union.row, item) = kFar;
  }
  template <class A, class B>
  RAMIFY_INLINE static void blend(const A* a, const B* b, double share, double* out,
                                  std::size_t from, std::size_t to, LeastTwo& least) {
    for (std::size_t i = from; i < to; i += kStep) {
      Lanes of_a, of_b;
      load(of_a, a + i);
      load(of_b, b + i);
      const Lanes value = of_a + share * (of_b - of_a);
      store(value, out + i);
      least.offer(value);
    }
  }
  RAMIFY_INLINE static void blend_items(const float* a, const float* b, const float* shut,
                                        double share, double* out, std::size_t from, std::size_t to,
                                        LeastTwo& least) {
    for (std::size_t i = from; i < to; i += kStep) {
      Lanes of_a, of_b, closed;
      load(of_a, a + i);
      load(of_b, b + i);
      load(closed, shut + i);
      const Lanes value = of_a + share * (of_b - of_a) + (kFar / kShut) * closed;
      store(value, out + i);
      least.offer(value);
    }
  }

  // --- where the table cannot tell -------------------------------------------------------

  std::uint32_t settle(std::uint32_t c, double limit);
  double rounding(double linkage);
  double reach();

  std::span<const ForestItem<Real>> forest_;
  const PathTable<Real>& table_;
  PathScratch& s_;
  std::vector<Merge>& merges_;
  UnionMeans<Real, Rule> means_;
  std::size_t begin_ = 0, end_ = 0;  // kept places that may be open
  std::size_t open_foot_ = 0;
  std::uint32_t next_ = 0;  // items below are done with
  std::uint32_t patches_ = 0;
  double reach_ = -1;  // see reach(), once somebody had to know
  std::uint32_t last_union_ = kNobody;
  Best nearest_of_last_;
  bool nearest_is_known_ = false;
};

template <class Real, class Rule>
void PathChain<Real, Rule>::begin() {
  const std::size_t m = forest_.size();
  merges_.clear();
  merges_.reserve(m - 1);
  s_.clusters.resize(2 * m - 1);
  s_.ranks.resize(2 * m - 1);
  s_.foot_shut.assign(table_.foot_width(), kShut);
  s_.kept_shut.assign(table_.kept_width(), kShut);
  s_.foot_item.resize(table_.foot_width());
  s_.kept_item.resize(table_.kept_width());
  s_.run.sums.resize(table_.kept_width());
  s_.run.least.resize(table_.kept_width());
  for (std::vector<float>& patched : s_.patched) patched.assign(table_.foot_width(), kShut);
  s_.unions.clear();
  s_.chain.clear();
  s_.free_rows.clear();
  // The first is taken first: a row has an entry for as many others as there can be unions.
  for (auto i = static_cast<std::uint32_t>(s_.rows.size()); i-- > 0;) {
    if (s_.rows[i].size() < width()) s_.rows[i].resize(width());
    s_.free_rows.push_back(i);
  }
  for (std::uint32_t i = 0; i < m; ++i) {
    const bool in_foot = table_.is_foot(i);
    const std::uint32_t place = table_.place(i);
    s_.clusters[i] = {place, in_foot, false, 0, forest_[i].summary.n};
    s_.ranks[i] = forest_[i].rank;
    (in_foot ? s_.foot_shut : s_.kept_shut)[place] = 0;
    (in_foot ? s_.foot_item : s_.kept_item)[place] = i;
  }
  begin_ = table_.begin();
  end_ = table_.end();
  open_foot_ = table_.foot();
}

/// The nearest of those within a limit, exactly.
template <class Real, class Rule>
std::uint32_t PathChain<Real, Rule>::settle(std::uint32_t c, double limit) {
  std::vector<std::uint32_t>& near = s_.near;
  near.clear();
  const Cluster& cluster = s_.clusters[c];
  const auto offer_row = [&](const auto* to_foot, const auto* to_kept) {
    for (std::size_t i = 0; i < foot_width(); ++i)
      if (s_.foot_shut[i] == 0 && to_foot[i] <= limit && s_.foot_item[i] != c)
        near.push_back(s_.foot_item[i]);
    for (std::size_t i = begin_; i < end_; ++i)
      if (s_.kept_shut[i] == 0 && to_kept[i] <= limit && s_.kept_item[i] != c)
        near.push_back(s_.kept_item[i]);
  };
  if (cluster.is_union)
    offer_row(foot_of_union(cluster), kept_of_union(cluster));
  else
    offer_row(foot_of_item(cluster), kept_of_item(cluster));
  const std::size_t items = near.size();
  for (const std::uint32_t other : s_.unions)
    if (other != c && at(s_.clusters[other].row, cluster) <= limit) near.push_back(other);
  if (near.empty()) return kNobody;
  const bool all_items = !cluster.is_union && items == near.size();
  std::uint32_t best = near.front();
  double least = means_.linkage_from(c, best), next = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < near.size(); ++i) {
    const double linkage = means_.linkage_from(c, near[i]);
    const bool ties = linkage == least && (all_items || (!Rule::kProduct && linkage == 0 &&
                                                         means_.are_one_row(c, best) &&
                                                         means_.are_one_row(c, near[i])));
    if (ties) {
      if (comes_first(s_.ranks[near[i]], s_.ranks[best])) best = near[i];
    } else if (linkage < least) {
      next = least;
      least = linkage;
      best = near[i];
    } else {
      next = std::min(next, linkage);
    }
  }
  if (all_items) return best;
  if (next == std::numeric_limits<double>::infinity()) return best;
  return next - least > rounding(next) ? best : kNobody;
}

/// What rounding can have done to the difference of two exact linkages of unions, here and in
/// forest_hac() together.
template <class Real, class Rule>
double PathChain<Real, Rule>::rounding(double linkage) {
  // Means of linkages are taken up to m times, each off by four ulps of the largest at most; that
  // itself, and what it is a mean of, by one for each column.
  const auto m = static_cast<double>(forest_.size()), columns = static_cast<double>(means_.dim());
  const double times = 1.2e-15 * (m + columns);
  if constexpr (Rule::kProduct) return 4 * times * table_.longest() + 1e-290;
  // Means are at most reach() from that of the last item, and variances at most its square.
  const double largest = 6 * reach() * reach();
  // A mean is off by a few ulps of its distance from where it is counted from, for each of up to m
  // merges; a variance by the root of m times as much.
  const double far = 64 * 1.2e-16 * m * std::sqrt(m) * reach();
  return times * largest + far * std::sqrt(linkage) + far * far + 1e-290;
}

/// At least how far any mean is from the last item's, which they are counted from.
template <class Real, class Rule>
double PathChain<Real, Rule>::reach() {
  if (Rule::kProduct || reach_ >= 0) return reach_;
  const auto last = static_cast<std::uint32_t>(forest_.size() - 1);
  const Cluster& from = s_.clusters[last];
  double most = 0;
  for (std::uint32_t i = 0; i < last; ++i) {
    const Cluster& to = s_.clusters[i];
    const float linkage = to.in_foot && !from.in_foot ? table_.foot_to_kept(to.place)[from.place]
                          : to.in_foot                ? table_.foot_row(from.place)[to.place]
                                                      : kept_of_item(from)[to.place];
    most = std::max(most, static_cast<double>(linkage));
  }
  return reach_ = 1.01 * std::sqrt(most);
}

template <class Real, class Rule>
RAMIFY_INLINE bool run_path_chain(PathChain<Real, Rule>& chain) {
  return chain.run();
}

}  // namespace

template <class Real>
bool PathHac<Real>::merge(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
                          std::span<const Slot> path, bool comes, std::size_t end_of_ids,
                          std::vector<Merge>& merges) {
  if (!table_.seat(forest, trees, path, comes, end_of_ids)) return false;
  return with_rule(metric_, linkage_, [&](auto rule) {
    using Rule = decltype(rule);
    if constexpr (Rule::kMeanOfParts) {
      PathChain<Real, Rule> chain(forest, table_, dim_, scratch_, merges);
      return chosen<run_path_chain<Real, Rule>>()(chain);
    }
    return false;
  });
}

template <class Real>
void PathHac<Real>::wipe() noexcept {
  table_.wipe();
  scratch_.means.wipe();
  for (std::vector<float>* buffer :
       {&scratch_.patched[0], &scratch_.patched[1], &scratch_.run.sums, &scratch_.run.least})
    ramify::wipe(*buffer);
  for (std::vector<double>& row : scratch_.rows) ramify::wipe(row);
}

template class PathHac<float>;
template class PathHac<double>;

}  // namespace ramify
