// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/long_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "math/dispatch.hpp"
#include "math/kernels.hpp"
#include "math/product_bounds.hpp"

namespace ramify {
namespace {

constexpr std::size_t kSome = 32;       // subtrees in a block
constexpr std::size_t kLeastLanes = 8;  // of them, compared side by side
constexpr double kPad = 1e-12;          // of a distance: many times its rounding
constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

/// The mean of a union, less the origin, and rows that it is compared with.
template <class Real>
struct Comparison {
  const double* mean;
  const double* origin;
  const Real* const* rows;
  const std::uint32_t* which;
  std::size_t count, dim;
  double* out;
};

template <bool kProduct, class Real>
RAMIFY_INLINE double term(const double* mean, const double* origin, const Real* row,
                          std::size_t j) {
  const double here = static_cast<double>(row[j]);
  if constexpr (kProduct) return mean[j] * here;
  const double gap = mean[j] - (here - origin[j]);
  return gap * gap;
}

/// Squared distances, or inner products, of which an origin is no part.
template <bool kProduct, class Real>
RAMIFY_INLINE void compare(const Comparison<Real>& c) {
  for (std::size_t i = 0; i < c.count; ++i) {
    const Real* row = c.rows[c.which[i]];
    double lanes[kLanes] = {};
    std::size_t j = 0;
    for (; j + kLanes <= c.dim; j += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k)
        lanes[k] += term<kProduct>(c.mean, c.origin, row, j + k);
    for (std::size_t k = 0; j < c.dim; ++j, ++k)
      lanes[k] += term<kProduct>(c.mean, c.origin, row, j);
    for (std::size_t width = kLanes / 2; width > 0; width /= 2)
      for (std::size_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
    c.out[i] = lanes[0];
  }
}

/// Lower bounds of the linkages of a union to a block of subtrees; how many are within a limit.
struct BlockBounds {
  const double *from_anchor, *from_last, *norms, *weights;
  double anchor_drift, drift, weight, limit;
  double* out;
};
template <bool kProduct>
RAMIFY_INLINE std::size_t bound_block(const BlockBounds& b) {
  std::int64_t near = 0;
  for (std::size_t k = 0; k < kSome; ++k) {
    const double slope = kProduct ? b.norms[k] : 1.0;
    const double one = b.from_anchor[k] - slope * b.anchor_drift;
    const double other = b.from_last[k] - slope * b.drift;
    double bound = one > other ? one : other;
    if constexpr (!kProduct) {
      bound = bound > 0 ? bound : 0;
      bound = bound * bound + (b.weight + b.weights[k]);
    }
    b.out[k] = bound;
    near += bound <= b.limit ? 1 : 0;
  }
  return static_cast<std::size_t>(near);
}

/// Of squared distances, those that are certainly not larger.
RAMIFY_INLINE void take_roots(const float* values, std::size_t count, double keep, double less,
                              double* out) {
  for (std::size_t k = 0; k < count; ++k)
    out[k] = std::sqrt(static_cast<double>(values[k]) * keep) - less;
}

RAMIFY_INLINE double least_of_block(const double* values) {
  double lanes[kLeastLanes];
  for (std::size_t k = 0; k < kLeastLanes; ++k) lanes[k] = values[k];
  for (std::size_t from = kLeastLanes; from < kSome; from += kLeastLanes)
    for (std::size_t k = 0; k < kLeastLanes; ++k)
      lanes[k] = values[from + k] < lanes[k] ? values[from + k] : lanes[k];
  for (std::size_t width = kLeastLanes / 2; width > 0; width /= 2)
    for (std::size_t k = 0; k < width; ++k)
      lanes[k] = lanes[k + width] < lanes[k] ? lanes[k + width] : lanes[k];
  return lanes[0];
}

struct Nearest {
  std::uint32_t cluster = kNobody, runner_up = kNobody;
  double linkage = kFar;
  double second = kFar;  // the runner-up's

  void offer(double value, std::uint32_t c) {
    if (value < linkage) {
      second = linkage;
      runner_up = cluster;
      linkage = value;
      cluster = c;
    } else if (value < second) {
      second = value;
      runner_up = c;
    }
  }
};

template <class Real, class Rule>
class LongPath {
 public:
  LongPath(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees, bool has_x_last,
           std::size_t dim, const Pulse& pulse, PairMemory& memory, LongPathScratch& scratch,
           std::vector<Merge>& merges)
      : forest_(forest),
        trees_(trees),
        x_(has_x_last ? static_cast<std::uint32_t>(forest.size() - 1) : kNobody),
        m_(static_cast<std::uint32_t>(forest.size())),
        padded_((m_ + kSome - 1) / kSome * kSome),
        dim_(dim),
        pulse_(pulse),
        memory_(memory),
        s_(scratch),
        merges_(merges),
        compare_(chosen<compare<Rule::kProduct, Real>>()),
        bound_rows_(Rule::kProduct ? rows_kernels<Real>().dots
                                   : rows_kernels<Real>().squared_distances),
        compare_gaps_(chosen<compare<false, Real>>()),
        bound_block_(chosen<bound_block<Rule::kProduct>>()),
        least_of_block_(chosen<least_of_block>()),
        roots_(chosen<take_roots>()) {}

  LongPathOutcome run() {
    gather();
    if (!std::isfinite(doubt_)) return LongPathOutcome::kUnsure;
    if (!compare_fresh()) return LongPathOutcome::kStopped;
    const LongPathOutcome outcome = Rule::kReducible ? run_chain() : run_greedy();
    if (outcome == LongPathOutcome::kMerged) compare_reordered();
    if (outcome != LongPathOutcome::kStopped) remember();
    return outcome;
  }

 private:
  // --- subtrees ----------------------------------------------------------------------

  void gather() {
    rows_.resize(m_);
    some_rows_.resize(m_);
    s_.from.resize(dim_);
    s_.floats.resize(m_);
    s_.bounds.resize(m_);
    s_.keys.resize(m_);
    s_.which.resize(m_);
    s_.sizes.resize(m_);
    s_.weights.assign(padded_, 0);
    s_.norms.assign(padded_, 0);
    s_.least.assign(m_, kFar);
    s_.checked.resize(m_);
    s_.fresh.assign(padded_, 0);
    s_.alive.assign(2 * m_ - 1, 0);
    s_.ranks.resize(2 * m_ - 1);
    double heaviest = 0;
    for (std::uint32_t i = 0; i < m_; ++i) {
      const SummaryView<Real>& summary = forest_[i].summary;
      rows_[i] = summary.mean;
      s_.sizes[i] = summary.n;
      s_.weights[i] = Rule::weight(summary.n, summary.variance());
      heaviest = std::max(heaviest, s_.weights[i]);
      s_.ranks[i] = forest_[i].rank;
      s_.alive[i] = 1;
      s_.checked[i] = memory_.checked(trees_[i]);
      if (s_.checked[i] > 0) s_.least[i] = memory_.least(trees_[i]);
      s_.fresh[i] = i == x_ ? 0 : memory_.fresh(trees_[i]);
    }
    living_ = m_;
    live_unions_ = 0;
    const std::uint32_t from = x_ == kNobody ? 0 : x_;
    s_.origin.assign(dim_, 0);
    if constexpr (!Rule::kProduct)
      for (std::size_t j = 0; j < dim_; ++j) s_.origin[j] = static_cast<double>(rows_[from][j]);
    farthest_ = 0;
    for (std::uint32_t i = 0; i < m_; ++i) {
      const std::uint32_t with = Rule::kProduct ? i : from;
      const double value = pair_value<Rule>(rows_[with], rows_[i], dim_);
      farthest_ = std::max(farthest_, value);
      if constexpr (Rule::kProduct) s_.norms[i] = std::sqrt(value) * (1 + kPad);
    }
    gather_blocks();
    // Of a union's mean and variance, a rounding a merge; of a distance, one a coordinate.
    const double terms = static_cast<double>(m_) + static_cast<double>(dim_) + 16;
    doubt_ = 2e-15 * terms * (4 * farthest_ + 2 * heaviest);
    gather_rounding();
    step_pad_ = 1e-14 * std::sqrt(farthest_ * static_cast<double>(dim_));
  }

  void gather_blocks() {
    const std::size_t blocks = padded_ / kSome;
    s_.block_weights.assign(blocks, kFar);
    s_.block_norms.assign(blocks, 0);
    s_.block_fresh.assign(blocks, 0);
    for (std::uint32_t i = 0; i < m_; ++i) {
      const std::size_t block = i / kSome;
      s_.block_weights[block] = std::min(s_.block_weights[block], s_.weights[i]);
      s_.block_norms[block] = std::max(s_.block_norms[block], s_.norms[i]);
      s_.block_fresh[block] = std::max(s_.block_fresh[block], s_.fresh[i]);
    }
  }

  // --- bounds in float ------------------------------------------------------------------

  /// What rounding, of vectors to float and of their sums, can do to a distance, or to a product.
  void gather_rounding() {
    double square = 0;
    for (const double at : s_.origin) square += at * at;
    const double longest = std::sqrt(square) + std::sqrt(farthest_);
    rounding_ = gram_rounding<float>(dim_);
    float_pad_ = Rule::kProduct ? rounding_ * farthest_ + 1e-36 : 2.5e-7 * longest + 1e-18;
    if (longest > 1e18) doubt_ = kFar;
  }

  /// Into s_.bounds: what the linkages of some subtrees, of which there are `count` in s_.which, to
  /// what is in s_.from are at least.
  void find_bounds(std::size_t count, double weight) {
    for (std::size_t i = 0; i < count; ++i) some_rows_[i] = rows_[s_.which[i]];
    bound_rows_(s_.from.data(), some_rows_.data(), count, dim_, s_.floats.data());
    if constexpr (Rule::kProduct) {
      for (std::size_t i = 0; i < count; ++i)
        s_.bounds[i] = -static_cast<double>(s_.floats[i]) - float_pad_;
    } else {
      // (g - p)^2 >= g^2 (1 - e) - p^2 / e
      constexpr double kShare = 1e-5;
      const double keep = 1 - rounding_ - kShare, less = float_pad_ * float_pad_ / kShare;
      for (std::size_t i = 0; i < count; ++i) {
        const double gap = static_cast<double>(s_.floats[i]) * keep - less;
        s_.bounds[i] = Rule::score(gap > 0 ? gap : 0, weight, s_.weights[s_.which[i]]);
      }
    }
  }
  /// Into s_.keys, after find_bounds(): what their distances, or minus their products, are at
  /// least.
  void find_keys(std::size_t count) {
    if constexpr (Rule::kProduct)
      std::copy_n(s_.bounds.data(), count, s_.keys.data());
    else
      roots_(s_.floats.data(), count, 1 - rounding_, float_pad_, s_.keys.data());
  }
  void come_from(std::uint32_t subtree) {
    for (std::size_t j = 0; j < dim_; ++j) s_.from[j] = static_cast<float>(rows_[subtree][j]);
  }
  void come_from(const GrowingCluster& u) {
    for (std::size_t j = 0; j < dim_; ++j)
      s_.from[j] = static_cast<float>(u.mean[j] + s_.origin[j]);
  }

  // --- comparing subtrees ------------------------------------------------------------------

  double linkage(std::uint32_t a, std::uint32_t b) const {
    return Rule::score(pair_value<Rule>(rows_[a], rows_[b], dim_), s_.weights[a], s_.weights[b]);
  }

  /// x hangs below all others.
  bool is_above(std::uint32_t a, std::uint32_t b) const { return a != x_ && (b == x_ || a > b); }

  /// After this, `least` is right for all above each subtree.
  bool compare_fresh() {
    for (std::uint32_t i = 0; i < m_; ++i) {
      if (i % kSome == 0 && !pulse_(0)) return false;
      const std::size_t count = find_fresh(i);
      if (count == 0) continue;
      come_from(i);
      find_bounds(count, s_.weights[i]);
      double least = s_.least[i];
      for (std::size_t k = 0; k < count; ++k) least = std::min(least, s_.bounds[k]);
      s_.least[i] = least;
    }
    return true;
  }
  /// Into s_.which: those above i that it has not been compared with.
  std::size_t find_fresh(std::uint32_t i) {
    const std::uint32_t checked = s_.checked[i];
    const std::uint32_t first = i == x_ ? 0 : i + 1;
    std::size_t count = 0;
    for (std::size_t block = first / kSome; block < padded_ / kSome; ++block) {
      if (s_.block_fresh[block] <= checked) continue;
      const auto from = std::max(first, static_cast<std::uint32_t>(block * kSome));
      const auto to = std::min(m_, static_cast<std::uint32_t>((block + 1) * kSome));
      for (std::uint32_t b = from; b < to; ++b)
        if (s_.fresh[b] > checked) s_.which[count++] = b;
    }
    return count;
  }

  void remember() {
    for (std::uint32_t i = 0; i < m_; ++i) memory_.check(trees_[i], s_.least[i]);
  }

  /// Who hung below another and is above it now, or beside it, is compared from there.
  void compare_reordered() {
    std::vector<std::uint32_t>& merged_at = s_.checked;
    merged_at.assign(m_, kNobody);
    for (std::uint32_t t = 0; t < merges_.size(); ++t)
      for (const std::uint32_t c : {merges_[t].a, merges_[t].b})
        if (c < m_ && c != x_) merged_at[c] = t;
    std::uint32_t highest = 0;
    for (std::uint32_t t = 0; t < merges_.size(); ++t) {
      for (const std::uint32_t c : {merges_[t].a, merges_[t].b})
        if (c < m_ && c != x_) highest = std::max(highest, c);
      for (const std::uint32_t c : {merges_[t].a, merges_[t].b})
        if (c < m_ && c != x_) compare_from_earlier(c, highest, t);
    }
  }
  void compare_from_earlier(std::uint32_t c, std::uint32_t highest, std::uint32_t t) {
    const std::uint32_t* merged_at = s_.checked.data();
    for (std::uint32_t from = c + 1; from <= highest; from += kSome) {
      const std::uint32_t to = std::min<std::uint32_t>(from + kSome, highest + 1);
      std::uint32_t earlier = 0;
      for (std::uint32_t i = from; i < to; ++i) earlier += merged_at[i] <= t ? 1 : 0;
      if (earlier == 0) continue;
      for (std::uint32_t i = from; i < to; ++i)
        if (merged_at[i] <= t) s_.least[i] = std::min(s_.least[i], linkage(i, c));
    }
  }

  // --- searching ---------------------------------------------------------------------

  double sure(double linkage) const { return linkage + 2 * doubt_; }

  Nearest nearest(std::uint32_t c, std::uint32_t before) {
    return c < m_ ? nearest_of_subtree(c, before) : nearest_of_union(union_of(c));
  }

  /// `before` is who found it to be nearest.
  Nearest nearest_of_subtree(std::uint32_t c, std::uint32_t before) {
    Nearest best;
    for (std::size_t u = 0; u < live_unions_; ++u)
      best.offer(linkage_of_union(s_.unions[u], c), s_.unions[u].cluster);
    if (before != kNobody && before < m_) best.offer(linkage(c, before), before);
    if (best.cluster == kNobody || s_.least[c] <= sure(best.linkage)) return look_along_row(c);
    look_below(c, before, best);
    return best;
  }

  /// Offer those below c that may be nearer.
  void look_below(std::uint32_t c, std::uint32_t before, Nearest& best) {
    const auto look_at = [&](std::uint32_t i) {
      if (s_.alive[i] && i != before && s_.least[i] <= sure(best.linkage))
        best.offer(linkage(c, i), i);
    };
    while (lowest_ < m_ && !s_.alive[lowest_]) ++lowest_;
    if (c == x_) return;
    for (std::uint32_t i = lowest_; i < c; ++i) look_at(i);
    if (x_ != kNobody) look_at(x_);
  }

  Nearest look_along_row(std::uint32_t c) {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < m_; ++i)
      if (i != c && (s_.alive[i] || is_above(i, c))) s_.which[count++] = i;
    come_from(c);
    find_bounds(count, s_.weights[c]);
    double least = kFar;
    for (std::size_t k = 0; k < count; ++k) {
      if (is_above(s_.which[k], c)) least = std::min(least, s_.bounds[k]);
      if (!s_.alive[s_.which[k]]) s_.bounds[k] = kFar;
    }
    s_.least[c] = least;
    Nearest best;
    for (std::size_t u = 0; u < live_unions_; ++u)
      best.offer(linkage_of_union(s_.unions[u], c), s_.unions[u].cluster);
    offer_nearest(count, best, [&](std::uint32_t i) { return linkage(c, i); });
    return best;
  }

  /// Of those in s_.which, whose linkages are at least s_.bounds, the nearest and the second.
  template <class LinkageTo>
  void offer_nearest(std::size_t count, Nearest& best, const LinkageTo& linkage_to) const {
    if (count == 0) return;
    std::size_t first = 0;
    for (std::size_t k = 1; k < count; ++k)
      if (s_.bounds[k] < s_.bounds[first]) first = k;
    if (s_.bounds[first] == kFar) return;
    best.offer(linkage_to(s_.which[first]), s_.which[first]);
    for (std::size_t k = 0; k < count; ++k)
      if (s_.bounds[k] <= sure(best.linkage) && k != first)
        best.offer(linkage_to(s_.which[k]), s_.which[k]);
  }

  double linkage_of_union(const GrowingCluster& u, std::uint32_t c) const {
    double value;
    compare_({u.mean.data(), s_.origin.data(), rows_.data(), &c, 1, dim_, &value});
    return Rule::score(value, u.weight, s_.weights[c]);
  }
  double linkage_of_unions(const GrowingCluster& u, const GrowingCluster& v) const {
    return Rule::score(pair_value<Rule>(u.mean.data(), v.mean.data(), dim_), u.weight, v.weight);
  }

  Nearest nearest_of_union(GrowingCluster& u) {
    Nearest best;
    for (std::size_t k = 0; k < live_unions_; ++k)
      if (s_.unions[k].cluster != u.cluster)
        best.offer(linkage_of_unions(u, s_.unions[k]), s_.unions[k].cluster);
    if (!u.has_bounds || u.computed > living_)
      compute_all(u, best);
    else
      compute_some(u, best);
    u.likely = best.runner_up;
    return best;
  }

  /// Smaller than the distance, or than minus the product, that a value stands for.
  double key(double value) const {
    return Rule::kProduct ? -value - kPad * farthest_ : std::sqrt(value) * (1 - kPad);
  }

  void compute_all(GrowingCluster& u, Nearest& best) {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < m_; ++i)
      if (s_.alive[i]) s_.which[count++] = i;
    come_from(u);
    find_bounds(count, u.weight);
    u.anchor = u.mean;
    u.from_anchor.assign(padded_, kFar);
    u.from_last.assign(padded_, kFar);
    u.block_from_anchor.resize(padded_ / kSome);
    u.block_from_last.resize(padded_ / kSome);
    u.drift = 0;
    u.computed = 0;
    u.has_bounds = true;
    find_keys(count);
    for (std::size_t k = 0; k < count; ++k) {
      u.from_anchor[s_.which[k]] = s_.keys[k];
      u.from_last[s_.which[k]] = -kFar;
    }
    for (std::size_t block = 0; block < padded_ / kSome; ++block) tighten(u, block);
    offer_nearest(count, best, [&](std::uint32_t i) { return linkage_of_union(u, i); });
  }

  double block_bound(const GrowingCluster& u, std::size_t block, double anchor_drift) const {
    const double slope = Rule::kProduct ? s_.block_norms[block] : 1.0;
    const double bound = std::max(u.block_from_anchor[block] - slope * anchor_drift,
                                  u.block_from_last[block] - slope * u.drift);
    if constexpr (Rule::kProduct) return bound;
    const double near = std::max(bound, 0.0);
    return near * near + (u.weight + s_.block_weights[block]);
  }

  void compute_some(GrowingCluster& u, Nearest& best) {
    const double moved =
        std::sqrt(squared_distance(u.mean.data(), u.anchor.data(), dim_)) * (1 + kPad) + step_pad_;
    const std::uint32_t likely = likely_nearest(u, moved);
    if (likely == kNobody) return;
    compute(u, likely, best);
    come_from(u);
    for (std::size_t block = 0; block < padded_ / kSome; ++block)
      if (block_bound(u, block, moved) <= sure(best.linkage))
        open_block(u, block, moved, likely, best);
    tighten(u, likely / kSome);
  }

  /// Last time's second, or any in the block that is nearest.
  std::uint32_t likely_nearest(const GrowingCluster& u, double moved) const {
    if (u.likely < m_ && s_.alive[u.likely]) return u.likely;
    std::size_t first = 0;
    double least = kFar;
    for (std::size_t block = 0; block < padded_ / kSome; ++block) {
      const double bound = block_bound(u, block, moved);
      if (bound >= least) continue;
      least = bound;
      first = block;
    }
    if (least == kFar) return kNobody;
    const double* from = u.from_anchor.data() + first * kSome;
    return static_cast<std::uint32_t>(
        first * kSome + static_cast<std::size_t>(std::min_element(from, from + kSome) - from));
  }

  void open_block(GrowingCluster& u, std::size_t block, double moved, std::uint32_t but,
                  Nearest& best) {
    const std::size_t from = block * kSome;
    double bounds[kSome];
    const std::size_t near = bound_block_({u.from_anchor.data() + from, u.from_last.data() + from,
                                           s_.norms.data() + from, s_.weights.data() + from, moved,
                                           u.drift, u.weight, sure(best.linkage), bounds});
    if (near == 0) return;
    std::size_t count = 0;
    for (std::size_t k = 0; k < kSome; ++k)
      if (bounds[k] <= sure(best.linkage) && from + k != but)
        s_.which[count++] = static_cast<std::uint32_t>(from + k);
    find_bounds(count, u.weight);
    find_keys(count);
    u.computed += count;
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t c = s_.which[k];
      if (s_.bounds[k] <= sure(best.linkage))
        compute(u, c, best);
      else
        u.from_last[c] = s_.keys[k] + slope(c) * u.drift * (1 - kPad);
    }
    tighten(u, block);
  }

  double slope(std::uint32_t c) const { return Rule::kProduct ? s_.norms[c] : 1.0; }

  void compute(GrowingCluster& u, std::uint32_t c, Nearest& best) {
    double value;
    compare_({u.mean.data(), s_.origin.data(), rows_.data(), &c, 1, dim_, &value});
    best.offer(Rule::score(value, u.weight, s_.weights[c]), c);
    u.from_last[c] = key(value) + slope(c) * u.drift * (1 - kPad);
    ++u.computed;
  }

  void tighten(GrowingCluster& u, std::size_t block) const {
    u.block_from_anchor[block] = least_of_block_(u.from_anchor.data() + block * kSome);
    u.block_from_last[block] = least_of_block_(u.from_last.data() + block * kSome);
  }

  // --- merging -----------------------------------------------------------------------

  GrowingCluster& union_of(std::uint32_t c) {
    std::size_t u = 0;
    while (s_.unions[u].cluster != c) ++u;
    return s_.unions[u];
  }

  std::uint32_t merge(std::uint32_t a, std::uint32_t b) {
    if (s_.ranks[b].first_leaf < s_.ranks[a].first_leaf) std::swap(a, b);
    const auto c = m_ + static_cast<std::uint32_t>(merges_.size());
    merges_.push_back({a, b});
    s_.ranks[c] = merged(s_.ranks[a], s_.ranks[b]);
    const bool a_heavier = size_of(a) >= size_of(b);
    unite(a_heavier ? a : b, a_heavier ? b : a, c);
    for (const std::uint32_t gone : {a, b}) {
      s_.alive[gone] = 0;
      if (gone < m_) close(gone);
    }
    s_.alive[c] = 1;
    return c;
  }

  double size_of(std::uint32_t c) { return c < m_ ? s_.sizes[c] : union_of(c).n; }

  void close(std::uint32_t gone) {
    --living_;
    for (std::size_t k = 0; k < live_unions_; ++k) {
      GrowingCluster& u = s_.unions[k];
      if (!u.has_bounds) continue;
      u.from_anchor[gone] = u.from_last[gone] = kFar;
      tighten(u, gone / kSome);
    }
  }

  /// Of the two, the heavier one's bounds go on.
  void unite(std::uint32_t heavy, std::uint32_t light, std::uint32_t c) {
    if (heavy >= m_ && light >= m_) return unite_unions(heavy, light, c);
    if (heavy < m_ && light < m_) begin_union(light);
    const bool heavy_grows = heavy >= m_;
    GrowingCluster& u = heavy_grows   ? union_of(heavy)
                        : light >= m_ ? union_of(light)
                                      : s_.unions[live_unions_ - 1];
    const std::uint32_t other = heavy_grows ? light : heavy;
    const SummaryView<Real>& with = forest_[other].summary;
    double gap;
    compare_gaps_({u.mean.data(), s_.origin.data(), rows_.data(), &other, 1, dim_, &gap});
    const double n = u.n + with.n;
    const double share = (heavy_grows ? with.n : u.n) / n;
    for (std::size_t j = 0; j < dim_; ++j) {
      const double there = static_cast<double>(with.mean[j]) - s_.origin[j];
      u.mean[j] = heavy_grows ? u.mean[j] + share * (there - u.mean[j])
                              : there + share * (u.mean[j] - there);
    }
    if (!heavy_grows) u.has_bounds = false;
    finish_union(u, c, n, merged_ssd(u.n, u.ssd, with.n, with.ssd, gap), share, gap);
  }

  void unite_unions(std::uint32_t heavy, std::uint32_t light, std::uint32_t c) {
    GrowingCluster &u = union_of(heavy), &v = union_of(light);
    const double gap = squared_distance(u.mean.data(), v.mean.data(), dim_);
    const double n = u.n + v.n, share = v.n / n;
    for (std::size_t j = 0; j < dim_; ++j) u.mean[j] += share * (v.mean[j] - u.mean[j]);
    finish_union(u, c, n, merged_ssd(u.n, u.ssd, v.n, v.ssd, gap), share, gap);
    std::swap(v, s_.unions[live_unions_ - 1]);
    --live_unions_;
  }

  void finish_union(GrowingCluster& u, std::uint32_t c, double n, double ssd, double share,
                    double gap) const {
    u.cluster = c;
    u.n = n;
    u.ssd = ssd;
    u.weight = Rule::weight(n, ssd / n);
    u.drift += share * std::sqrt(gap) * (1 + kPad) + step_pad_;
  }

  /// A union of one subtree, for another to join.
  void begin_union(std::uint32_t of) {
    if (live_unions_ == s_.unions.size()) s_.unions.emplace_back();
    GrowingCluster& u = s_.unions[live_unions_++];
    u.cluster = kNobody;
    u.n = s_.sizes[of];
    u.ssd = forest_[of].summary.ssd;
    u.mean.resize(dim_);
    for (std::size_t j = 0; j < dim_; ++j)
      u.mean[j] = static_cast<double>(rows_[of][j]) - s_.origin[j];
  }

  // --- two ways to go on -------------------------------------------------------------

  bool goes_on() { return merges_.size() % kSome != 0 || pulse_(merges_.size()); }

  /// In forest_hac's order: new nodes get their ids in it.
  LongPathOutcome run_chain() {
    std::vector<std::uint32_t>& chain = s_.chain;
    chain.clear();
    std::uint32_t start = 0;
    while (merges_.size() + 1 < m_) {
      if (!goes_on()) return LongPathOutcome::kStopped;
      while (!chain.empty() && !s_.alive[chain.back()]) chain.pop_back();
      if (chain.empty()) chain.push_back(start);
      const std::uint32_t c = chain.back();
      const std::uint32_t before = chain.size() > 1 ? chain[chain.size() - 2] : kNobody;
      const Nearest found = nearest(c, before);
      if (found.second <= found.linkage + doubt_) return LongPathOutcome::kUnsure;
      if (found.cluster == before) {
        chain.resize(chain.size() - 2);
        start = merge(c, before);
      } else {
        chain.push_back(found.cluster);
      }
    }
    return LongPathOutcome::kMerged;
  }

  /// Of a cluster, its least linkage or less; at most what is not yet known of it.
  struct Entry {
    double linkage, second;
    std::uint32_t cluster, nearest;  // kNobody: to be looked for
    friend bool operator<(const Entry& a, const Entry& b) { return b.linkage < a.linkage; }
  };

  LongPathOutcome run_greedy() {
    heap_.clear();
    for (std::uint32_t i = 0; i < m_; ++i) heap_.push_back({s_.least[i], kFar, i, kNobody});
    std::make_heap(heap_.begin(), heap_.end());
    while (merges_.size() + 1 < m_) {
      if (!goes_on()) return LongPathOutcome::kStopped;
      const Entry top = take_known();
      if (top.second <= top.linkage + doubt_ || !is_alone(top)) return LongPathOutcome::kUnsure;
      const std::uint32_t c = merge(top.cluster, top.nearest);
      if (merges_.size() + 1 < m_) push(c);
    }
    return LongPathOutcome::kMerged;
  }

  Entry take() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry top = heap_.back();
    heap_.pop_back();
    return top;
  }
  void push(std::uint32_t c) {
    const Nearest found = c < m_ ? look_along_row(c) : nearest_of_union(union_of(c));
    heap_.push_back({found.linkage, found.second, c, found.cluster});
    std::push_heap(heap_.begin(), heap_.end());
  }
  bool is_known(const Entry& e) const { return e.nearest != kNobody && s_.alive[e.nearest]; }

  /// The least entry, once it is that of two clusters that are there.
  Entry take_known() {
    for (;;) {
      const Entry top = take();
      if (!s_.alive[top.cluster]) continue;
      if (is_known(top)) return top;
      push(top.cluster);
    }
  }

  /// Is no other pair almost as near? Entries that say so for lack of knowledge are looked into.
  bool is_alone(const Entry& top) {
    while (!heap_.empty() && heap_.front().linkage <= sure(top.linkage)) {
      const Entry next = take();
      if (!s_.alive[next.cluster]) continue;
      if (!is_known(next)) {
        push(next.cluster);
        continue;
      }
      const bool same = next.cluster == top.nearest && next.nearest == top.cluster;
      if (!same || next.second <= top.linkage + doubt_) return false;
    }
    return true;
  }

  std::span<const ForestItem<Real>> forest_;
  std::span<const NodeId> trees_;
  std::uint32_t x_;  // which of them is the new leaf, or kNobody
  std::uint32_t m_;
  std::size_t padded_, dim_;
  const Pulse& pulse_;
  PairMemory& memory_;
  LongPathScratch& s_;
  std::vector<Merge>& merges_;
  void (*compare_)(const Comparison<Real>&);
  typename RowsKernels<Real>::Compare bound_rows_;
  void (*compare_gaps_)(const Comparison<Real>&);
  std::size_t (*bound_block_)(const BlockBounds&);
  double (*least_of_block_)(const double*);
  void (*roots_)(const float*, std::size_t, double, double, double*);

  std::vector<const Real*> rows_, some_rows_;
  std::vector<Entry> heap_;
  std::size_t living_ = 0;  // subtrees
  std::size_t live_unions_ = 0;
  std::uint32_t lowest_ = 0;  // no living one is below it
  double farthest_ = 0;       // the largest value of a subtree with the origin, or with itself
  double doubt_ = 0;          // what a computed linkage may be off by
  double step_pad_ = 0;       // what a mean may be off by, after a merge
  double rounding_ = 0, float_pad_ = 0;  // of values in float, relative; of keys
};

}  // namespace

bool fits_long_path(Metric metric, Linkage linkage) {
  return metric == Metric::kDot || linkage != Linkage::kWard;
}

template <class Real>
LongPathOutcome merge_long_path(std::span<const ForestItem<Real>> forest,
                                std::span<const NodeId> trees, bool has_x_last, std::size_t dim,
                                Metric metric, Linkage linkage, const Pulse& pulse,
                                PairMemory& memory, LongPathScratch& scratch,
                                std::vector<Merge>& merges) {
  merges.clear();
  merges.reserve(forest.size());
  return with_rule(metric, linkage, [&](auto rule) {
    return LongPath<Real, decltype(rule)>(forest, trees, has_x_last, dim, pulse, memory, scratch,
                                          merges)
        .run();
  });
}

template LongPathOutcome merge_long_path(std::span<const ForestItem<float>>,
                                         std::span<const NodeId>, bool, std::size_t, Metric,
                                         Linkage, const Pulse&, PairMemory&, LongPathScratch&,
                                         std::vector<Merge>&);
template LongPathOutcome merge_long_path(std::span<const ForestItem<double>>,
                                         std::span<const NodeId>, bool, std::size_t, Metric,
                                         Linkage, const Pulse&, PairMemory&, LongPathScratch&,
                                         std::vector<Merge>&);

}  // namespace ramify
