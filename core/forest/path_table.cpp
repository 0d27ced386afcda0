// SPDX-License-Identifier: BSD-3-Clause
#include "forest/path_table.hpp"

#include <algorithm>
#include <numeric>

#include "forest/tally.hpp"
#include "math/growth.hpp"
#include "math/product_bounds.hpp"
#include "math/scales.hpp"

namespace ramify {

template <class Real>
void PathTable<Real>::forget() {
  for (NodeId& v : node_at_) v = kNone;
  last_path_.clear();
}

template <class Real>
void PathTable<Real>::wipe() noexcept {
  for (std::vector<float>* buffer : {&spare_, &foot_weights_, &foot_near_, &foot_far_})
    ramify::wipe(*buffer);
  for (std::vector<Real>* buffer : {&spare_blocks_, &foot_blocks_}) ramify::wipe(*buffer);
  if (node_at_.empty()) {  // nothing was seated, or memory ran out on the way
    table_.clear();
    blocks_.clear();
    weights_.clear();
    least_.clear();
    lengths_.clear();
  }
  for (std::vector<float>* buffer : {&table_, &weights_, &least_}) wipe_behind(*buffer);
  wipe_behind(blocks_);
  wipe_behind(lengths_);
  for (std::size_t place = 0; place < node_at_.size(); ++place) wipe_row(place);
}

/// What a place has of empty ones, and all that an empty one has.
template <class Real>
void PathTable<Real>::wipe_row(std::size_t place) noexcept {
  const std::size_t places = node_at_.size();
  float* row = own_row(place);
  if (node_at_[place] != kNone) {
    for (std::size_t i = 0; i < places; ++i) row[i] = node_at_[i] == kNone ? 0 : row[i];
    return;
  }
  std::fill_n(row, places, 0.0F);
  weights_[place] = 0;
  if (of_means_) least_[place] = 0;
  if (of_products_) lengths_[place] = 0;
  for (std::size_t j = 0; !are_long() && j < dim_; ++j)
    blocks_[(place / kWidth * dim_ + j) * kWidth + place % kWidth] = 0;
}

template <class Real>
bool PathTable<Real>::seat(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
                           std::span<const Slot> path, bool comes, std::size_t end) {
  try {
    if (seat_all(forest, trees, path, comes, end)) return true;
  } catch (...) {  // some have a place, and nothing is known of them
    node_at_.clear();
    last_path_.clear();
    throw;
  }
  forget();
  std::fill(blocks_.begin(), blocks_.end(), Real{0});
  return false;
}

template <class Real>
bool PathTable<Real>::seat_all(std::span<const ForestItem<Real>> forest,
                               std::span<const NodeId> trees, std::span<const Slot> path,
                               bool comes, std::size_t end) {
  if (place_of_.size() < end) place_of_.resize(end + end / 2);
  above_ = forest.size() - (comes ? 1 : 0);
  lowest_ = choose_foot(trees.first(above_), std::min(shared_from(path), above_));
  foot_ = lowest_ + (comes ? 1 : 0);
  places_.resize(forest.size());
  make_room(above_ - lowest_);
  ++paths_;
  vacate(trees.subspan(lowest_, above_ - lowest_));
  // That takes the square of all places.
  const bool is_wide = node_at_.size() > 4 * (above_ - lowest_);
  if (paths_ % kPathsToAnOrder == 0 && !is_wide)
    put_in_order(trees.subspan(lowest_, above_ - lowest_));
  seat_kept(forest, trees);
  seat_foot(forest, trees, comes);
  last_path_.assign(path.rbegin(), path.rend());
  longest_ = 0;
  for (std::size_t i = 0; of_products_ && i < forest.size(); ++i)
    longest_ = std::max(longest_, is_foot(i) ? squared_length(forest[i]) : lengths_[places_[i]]);
  const double rounding = (are_long() ? tile_rounding(dim_) : block_rounding(dim_)) + kSumRounding;
  relative_ = of_products_ ? 0 : rounding;
  absolute_ = (of_products_ ? rounding * longest_ : 0) + 1e-37 * static_cast<double>(dim_ + kWidth);
  return are_long() ? compare_kept_pairs(forest) && compare_foot_pairs(forest)
                    : compare_kept(forest) && compare_foot(forest);
}

/// How many subtrees lie below the first node, from the root down, that was not on the last path.
template <class Real>
std::size_t PathTable<Real>::shared_from(std::span<const Slot> path) const {
  std::size_t shared = 0;
  while (shared < std::min(path.size(), last_path_.size()) &&
         path[path.size() - 1 - shared] == last_path_[shared])
    ++shared;
  return path.size() - shared + 2;
}

/// Choose how many of the lowest subtrees to treat as one-off. To keep a new subtree costs twice
/// what a one-off comparison does; it pays if the subtree was one-off on the last path, too.
template <class Real>
std::size_t PathTable<Real>::choose_foot(std::span<const NodeId> trees, std::size_t most) const {
  constexpr std::size_t kToKeep = 2;
  std::size_t cost = trees.size(), best_cost = cost, best = trees.size();  // of all as the foot
  bool any = false;
  for (std::size_t k = trees.size(); k > 0; --k) {
    if (k <= most && (!any || cost < best_cost)) {
      best = k;
      best_cost = cost;
      any = true;
    }
    if (!knows(trees[k - 1]) && !was_in_foot(trees[k - 1])) cost += kToKeep;
    cost -= 1;
  }
  return any && best_cost <= cost ? best : 0;
}

/// Places for `kept` subtrees, and for some that are not on the path; a larger table begins empty.
template <class Real>
void PathTable<Real>::make_room(std::size_t kept) {
  if (kept + kept / 8 <= node_at_.size()) return;
  const std::size_t more = kept / (kept < kLarge ? 2 : 4);
  const std::size_t places = whole(kept + more + kWidth, kWidth);
  node_at_.clear();
  free_.clear();
  std::vector<float>().swap(table_);  // there need not be room for both
  table_.assign(places * places, 0);
  count_work(places * places);
  row_of_.resize(places);
  std::iota(row_of_.begin(), row_of_.end(), std::size_t{0});
  blocks_.assign(are_long() ? 0 : places * dim_, 0);
  weights_.assign(places, 0);
  lengths_.assign(of_products_ ? places : 0, 0);
  least_.assign(of_means_ ? places : 0, 0);
  last_seen_.assign(places, 0);
  idle_.reserve(places);
  free_.reserve(places);
  fresh_.reserve(kMostItems);
  node_at_.assign(places, kNone);
}

/// Have empty places for the subtrees of a path that have none: those that have not been on a path
/// for the longest time leave.
template <class Real>
void PathTable<Real>::vacate(std::span<const NodeId> trees) {
  std::size_t needed = 0;
  newcomers_.clear();
  newcomers_.reserve(trees.size());
  for (std::uint32_t i = 0; i < trees.size(); ++i) {
    const bool known = knows(trees[i]);
    std::uint64_t never = 0, &seen = known ? last_seen_[place_of_[trees[i].raw()]] : never;
    if (seen + 1 != paths_) newcomers_.push_back(static_cast<std::uint32_t>(lowest_) + i);
    seen = paths_;
    needed += known ? 0 : 1;
  }
  find_free_places();
  if (needed <= free_.size()) return;
  needed -= free_.size();
  find_idle_places();
  std::nth_element(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(needed - 1),
                   idle_.end());
  for (std::size_t i = 0; i < needed; ++i) {
    node_at_[idle_[i].second] = kNone;
    free_.push_back(idle_[i].second);
  }
  std::sort(free_.begin(), free_.end());
}
template <class Real>
void PathTable<Real>::find_free_places() {
  free_.clear();
  for (std::uint32_t place = 0; place < node_at_.size(); ++place)
    if (node_at_[place] == kNone) free_.push_back(place);
}
/// Of subtrees that do not hang off this path.
template <class Real>
void PathTable<Real>::find_idle_places() {
  idle_.clear();
  for (std::uint32_t place = 0; place < node_at_.size(); ++place)
    if (node_at_[place] != kNone && last_seen_[place] != paths_)
      idle_.emplace_back(last_seen_[place], place);
}

/// Repack places in the order of the path, the lowest subtree first, at the high end; leave every
/// eighth place free, so that a new subtree lands beside its neighbours. Subtrees that do not hang
/// off this path keep a place at the low end, as far as there are any left.
template <class Real>
void PathTable<Real>::put_in_order(std::span<const NodeId> trees) {
  const std::size_t places = node_at_.size();
  std::vector<std::uint32_t> path;
  path.reserve(trees.size());
  for (const NodeId v : trees)
    if (knows(v)) path.push_back(place_of_[v.raw()]);
  const std::size_t gaps = std::min(path.size() / kItemsToAGap, places - path.size());
  const std::size_t first = places - path.size() - gaps;
  find_idle_places();
  std::sort(idle_.begin(), idle_.end());  // the one that was on a path last is at the end
  const std::size_t staying = std::min(idle_.size(), first);
  std::vector<Move> moves;
  moves.reserve(places);
  for (std::size_t i = 0; i < staying; ++i)
    moves.push_back({idle_[idle_.size() - staying + i].second,
                     static_cast<std::uint32_t>(first - staying + i)});
  for (std::size_t i = 0; i < path.size(); ++i)
    moves.push_back({path[i], static_cast<std::uint32_t>(first + i + i * gaps / path.size())});
  move_all(moves);
}

template <class Real>
void PathTable<Real>::move_all(std::span<const Move> moves) {
  const std::size_t places = node_at_.size();
  count_work(moves.size() * places);
  const std::vector<float> weights = weights_;
  const std::vector<double> lengths = lengths_;
  const std::vector<NodeId> nodes = node_at_;
  const std::vector<std::uint64_t> seen = last_seen_;
  std::vector<std::size_t> rows = row_of_;
  spare_.resize(places);
  spare_blocks_.resize(blocks_.size());  // from here on nothing may fail
  for (const Move& row : moves) {
    float* own = own_row(row.from);
    for (const Move& one : moves) spare_[one.to] = own[one.from];
    std::copy_n(spare_.data(), places, own);
  }
  blocks_.swap(spare_blocks_);
  std::fill(node_at_.begin(), node_at_.end(), kNone);
  const auto column = [&](std::vector<Real>& blocks, std::size_t place, std::size_t j) -> Real& {
    return blocks[(place / kWidth * dim_ + j) * kWidth + place % kWidth];
  };
  for (const auto [from, to] : moves) {
    if (!are_long())
      for (std::size_t j = 0; j < dim_; ++j)
        column(blocks_, to, j) = column(spare_blocks_, from, j);
    weights_[to] = weights[from];
    if (of_products_) lengths_[to] = lengths[from];
    last_seen_[to] = seen[from];
    node_at_[to] = nodes[from];
    place_of_[node_at_[to].raw()] = to;
    row_of_[to] = rows[from];
    rows[from] = places;
  }
  // Rows without a subtree are for places without one.
  auto left = std::remove(rows.begin(), rows.end(), places) - rows.begin();
  for (std::size_t place = 0; place < places; ++place)
    if (node_at_[place] == kNone) row_of_[place] = rows[static_cast<std::size_t>(--left)];
  for (const Move& one : moves)
    if (of_means_) find_least(one.to);
  find_free_places();
}

template <class Real>
void PathTable<Real>::find_least(std::size_t place) {
  const float* row = kept_row(place);
  float least = kClosed;
  for (std::size_t i = place + 1; i < node_at_.size(); ++i)
    least = node_at_[i] != kNone && row[i] < least ? row[i] : least;
  least_[place] = least;
}

template <class Real>
void PathTable<Real>::put_in_block(const ForestItem<Real>& item, std::size_t place,
                                   std::vector<Real>& blocks, std::vector<float>& weights) {
  weights[place] = weight_of(item);
  if (are_long()) return;
  Real* column = &blocks[place / kWidth * kWidth * dim_ + place % kWidth];
  for (std::size_t j = 0; j < dim_; ++j) column[j * kWidth] = item.summary.mean[j];
}

/// The free place that is nearest to another.
template <class Real>
std::uint32_t PathTable<Real>::take_free_place(std::uint32_t near) {
  auto at = std::lower_bound(free_.begin(), free_.end(), near);
  if (at == free_.end() || (at != free_.begin() && near - *(at - 1) <= *at - near)) --at;
  const std::uint32_t place = *at;
  free_.erase(at);
  return place;
}

template <class Real>
void PathTable<Real>::seat_kept(std::span<const ForestItem<Real>> forest,
                                std::span<const NodeId> trees) {
  fresh_.clear();
  begin_ = node_at_.size();
  end_ = 0;
  auto near = static_cast<std::uint32_t>(node_at_.size());
  for (auto i = static_cast<std::uint32_t>(above_); i-- > lowest_;) {
    const NodeId v = trees[i];
    if (!knows(v)) {
      const std::uint32_t place = take_free_place(near);
      node_at_[place] = v;
      place_of_[v.raw()] = place;
      last_seen_[place] = paths_;
      fresh_.push_back({i, place});
      if (of_products_) lengths_[place] = squared_length(forest[i]);
      if (of_means_) least_[place] = kClosed;
      put_in_block(forest[i], place, blocks_, weights_);
    }
    places_[i] = near = place_of_[v.raw()];
    begin_ = std::min<std::size_t>(begin_, places_[i]);
    end_ = std::max<std::size_t>(end_, places_[i] + 1);
  }
  begin_ = std::min(begin_, end_) / kWidth * kWidth;
  end_ = whole(end_, kWidth);
}

template <class Real>
void PathTable<Real>::seat_foot(std::span<const ForestItem<Real>> forest,
                                std::span<const NodeId> trees, bool comes) {
  foot_width_ = whole(foot_, kWidth);
  foot_blocks_.resize(are_long() ? 0 : foot_width_ * dim_);
  foot_weights_.assign(foot_width_, 0);
  foot_near_.resize(foot_ * foot_width_);
  foot_far_.resize(foot_ * node_at_.size());
  for (std::uint32_t i = 0; i < lowest_; ++i) places_[i] = i;
  for (std::uint32_t i = 0; i < lowest_; ++i)
    if (!knows(trees[i])) place_of_[trees[i].raw()] = foot_of(paths_);
  if (comes) places_[above_] = static_cast<std::uint32_t>(lowest_);
  for (std::size_t i = 0; i < lowest_; ++i) put_in_block(forest[i], i, foot_blocks_, foot_weights_);
  if (comes) put_in_block(forest[above_], lowest_, foot_blocks_, foot_weights_);
}

template class PathTable<float>;
template class PathTable<double>;

}  // namespace ramify
