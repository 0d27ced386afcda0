// SPDX-License-Identifier: BSD-3-Clause
#include "graph/neighbour_lists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "index/row_hash.hpp"

namespace ramify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kSeldom = 16;  // of the rows that there are, one in so many

}  // namespace

template <class Real>
NeighbourLists<Real>::NeighbourLists(std::size_t dim, const NeighbourRule& rule)
    : dim_(dim), k_(rule.k), rule_(rule) {
  if (dim >= kLanes) short_.emplace(dim, SearchBy::kScan);
}

// --- items ------------------------------------------------------------------------------

template <class Real>
typename NeighbourLists<Real>::Item NeighbourLists<Real>::new_item(const RowStore<Real>& points,
                                                                   RowSlot row) {
  Item item = static_cast<Item>(row_.size());
  if (!free_.empty()) {
    item = free_.back();
    free_.pop_back();
  } else {
    row_.push_back(kGone);
    key_.push_back(0);
    number_.push_back(0);
    length_.push_back(0);
    to_.resize(to_.size() + k_, kNobody);
    apart_.resize(apart_.size() + k_, kInfinity);
    named_by_.emplace_back();
    is_changed_.push_back(0);
    searches_.push_back(0);
    is_marked_.push_back(0);
  }
  if (item_.size() < points.slots()) item_.resize(points.slots(), kNobody);
  row_[item] = row;
  item_[row] = item;
  key_[item] = hash_of(points.row(row), dim_);
  number_[item] = points.arrival(row);
  ++size_;
  return item;
}

template <class Real>
void NeighbourLists<Real>::free_item(Item item) {
  item_[row_[item]] = kNobody;
  row_[item] = kGone;
  key_[item] = 0;
  length_[item] = 0;
  named_by_[item].clear();
  free_.push_back(item);
  --size_;
}

template <class Real>
void NeighbourLists<Real>::renumber(std::span<const RowSlot> new_slot) {
  std::fill(item_.begin(), item_.end(), kNobody);
  for (Item item = 0; item < row_.size(); ++item) {
    if (row_[item] == kGone) continue;
    row_[item] = new_slot[row_[item]];
    item_[row_[item]] = item;
  }
}

// --- lists ------------------------------------------------------------------------------

template <class Real>
bool NeighbourLists<Real>::comes_first(double apart, Item item, double other_apart,
                                       Item other) const {
  if (apart != other_apart) return apart < other_apart;
  if (key_[item] != key_[other]) return key_[item] < key_[other];
  return number_[item] < number_[other];
}

template <class Real>
double NeighbourLists<Real>::radius(Item item) const {
  return length_[item] == k_ ? apart_[item * k_ + k_ - 1] : kInfinity;
}

/// What the list was is remembered, and that it is no more.
template <class Real>
void NeighbourLists<Real>::set_changed(Item item) {
  if (all_changed_ || is_changed_[item] != 0) return;
  for (const Item other : list(item)) old_pairs_.emplace_back(item, other);
  changed_.push_back(item);
  is_changed_[item] = 1;
}

/// Have an item in a list, if it is near enough.
template <class Real>
void NeighbourLists<Real>::offer(Item owner, Item item, double apart) {
  Item* const to = to_.data() + owner * k_;
  double* const far = apart_.data() + owner * k_;
  std::uint32_t& length = length_[owner];
  if (length == k_ && !comes_first(apart, item, far[k_ - 1], to[k_ - 1])) return;
  set_changed(owner);
  if (length == k_) {
    std::erase(named_by_[to[k_ - 1]], owner);
    --length;
  }
  std::size_t i = length++;
  for (; i > 0 && comes_first(apart, item, far[i - 1], to[i - 1]); --i) {
    to[i] = to[i - 1];
    far[i] = far[i - 1];
  }
  to[i] = item;
  far[i] = apart;
  named_by_[item].push_back(owner);
}

/// Take an item that goes out of a list, which lacks somebody then.
template <class Real>
void NeighbourLists<Real>::drop(Item owner, Item item) {
  set_changed(owner);
  Item* const to = to_.data() + owner * k_;
  double* const far = apart_.data() + owner * k_;
  const std::size_t at = static_cast<std::size_t>(std::find(to, to + k_, item) - to);
  std::copy(to + at + 1, to + length_[owner], to + at);
  std::copy(far + at + 1, far + length_[owner], far + at);
  --length_[owner];
  searches_[owner] = 1;
}

// --- searches ---------------------------------------------------------------------------

/// use(other, squared distance), for all that may come into the list of an item, or if asked for
/// into whose list it may come.
template <class Real>
template <class Use>
void NeighbourLists<Real>::sweep(const RowStore<Real>& points, Item item, bool lists_of_others,
                                 Use&& use) {
  const Real* const x = points.row(row_[item]);
  const auto look = [&](Item other) {
    if (other == item || row_[other] == kGone) return;
    use(other, squared_distance(x, points.row(row_[other]), dim_));
  };
  if (!short_ || !short_->fitted()) {
    for (Item other = 0; other < row_.size(); ++other) look(other);
    return;
  }
  // A bound of a distance counts if it is within the farther of both limits: so the limit is the
  // weight of the other item, taken off.
  const double farthest = lists_of_others ? farthest_ : 0;
  const auto reach = [&](Item other) {
    return lists_of_others ? std::max(radius(other), radius(item)) : radius(item);
  };
  short_->make_room_to_search(scratch_);
  // The hair's breadths are for rounding. The radius of the item shrinks on the way.
  short_->search(
      x, 0, 0, kNobody, look, [&] { return (1 + 1e-9) * std::max(farthest, radius(item)); },
      [&](Item other) {
        const double within = reach(other);
        const double all = (1 + 1e-9) * std::max(farthest, radius(item));
        return all == kInfinity ? 0 : std::max(0.0, all - within - 1e-12 * all);
      },
      scratch_, item);
}

/// Make a list that lacks somebody whole again.
template <class Real>
void NeighbourLists<Real>::search(const RowStore<Real>& points, Item item) {
  set_changed(item);
  for (const Item other : list(item)) std::erase(named_by_[other], item);
  length_[item] = 0;
  sweep(points, item, false, [&](Item other, double apart) { offer(item, other, apart); });
  reach_farther(item);
}

/// A list was made anew. Others only get nearer; now and then all are looked at.
template <class Real>
void NeighbourLists<Real>::reach_farther(Item item) {
  farthest_ = std::max(farthest_, radius(item));
  if (++reached_ * kSeldom >= size_) look_for_farthest();
}

template <class Real>
void NeighbourLists<Real>::look_for_farthest() {
  reached_ = 0;
  farthest_ = 0;
  for (Item other = 0; other < row_.size(); ++other)
    if (row_[other] != kGone) farthest_ = std::max(farthest_, radius(other));
}

template <class Real>
void NeighbourLists<Real>::look_after(const RowStore<Real>& points) {
  if (!short_ || !short_->wants_fit(size_)) return;
  Alone alone;
  short_->fit(
      row_.size(), [&](Item item) { return row_[item] != kGone; },
      [&](Item item) { return points.row(row_[item]); }, [](Item) { return 0.0; }, alone, {});
  short_->make_removable();
}

template <class Real>
void NeighbourLists<Real>::change(const RowStore<Real>& points, std::span<const Item> gone,
                                  std::span<const RowSlot> came) {
  for (const Item item : gone) {
    for (const Item owner : std::vector<Item>(named_by_[item])) drop(owner, item);
    for (const Item other : list(item)) std::erase(named_by_[other], item);
    if (short_ && short_->fitted()) short_->remove(item);
    is_changed_[item] = 1;  // it is nobody's affair any more
    length_[item] = 0;
  }
  std::vector<Item> wanting;  // who has no radius until it has searched
  for (const Item item : changed_)
    if (std::exchange(searches_[item], 0) != 0) wanting.push_back(item);
  for (const Item item : gone) free_item(item);
  const std::vector<Item> left(gone.begin(), gone.end());
  std::erase_if(changed_, [&](Item item) { return row_[item] == kGone; });
  std::erase_if(wanting, [&](Item item) { return row_[item] == kGone; });
  std::erase_if(old_pairs_, [&](const auto& pair) {
    return row_[pair.first] == kGone || row_[pair.second] == kGone;
  });
  for (const Item item : left) is_changed_[item] = 0;
  for (const RowSlot row : came) {
    const Item item = new_item(points, row);
    set_changed(item);
    if (short_ && short_->fitted()) short_->add(item, points.row(row), 0);
    sweep(points, item, true, [&](Item other, double apart) {
      offer(item, other, apart);
      offer(other, item, apart);
    });
    reach_farther(item);
    look_after(points);
  }
  for (const Item item : wanting) search(points, item);
}

template <class Real>
Weight NeighbourLists<Real>::weight_from(Item marked, Item other) const {
  const auto named = list(marked), back = list(other);
  const auto there = std::find(named.begin(), named.end(), other);
  const auto here = std::find(back.begin(), back.end(), marked);
  if (there == named.end() && here == back.end()) return 0;
  if (rule_.weight == NeighbourWeight::kSimilarity)
    return similarity(there != named.end()
                          ? distances(marked)[static_cast<std::size_t>(there - named.begin())]
                          : distances(other)[static_cast<std::size_t>(here - back.begin())]);
  Weight common = 0;
  for (const Item one : back) common += is_marked_[one];
  if (rule_.weight == NeighbourWeight::kSnn) return common;
  const double united = static_cast<double>(named.size() + back.size() - common);
  return whole(static_cast<double>(common) / united);
}

template <class Real>
Weight NeighbourLists<Real>::similarity(double apart) const {
  return rule_.unit_rows ? whole(std::max(1.0 - apart / 2, 0.0)) : whole(1.0 / (1.0 + apart));
}

/// A share as a whole number of 2^30ths; what is above 0 stays so.
template <class Real>
Weight NeighbourLists<Real>::whole(double share) {
  if (!(share > 0)) return 0;
  const double parts = std::nearbyint(std::ldexp(share, NeighbourRule::kBits));
  return std::max<Weight>(1, static_cast<Weight>(parts));
}

template <class Real>
std::vector<Edge> NeighbourLists<Real>::take_edges() {
  std::vector<std::pair<Item, Item>> pairs = std::move(old_pairs_);
  old_pairs_.clear();
  const auto listed = [&](Item item) {
    for (const Item other : list(item)) pairs.emplace_back(item, other);
  };
  if (all_changed_) {
    for (Item item = 0; item < row_.size(); ++item) listed(item);
  } else {
    for (const Item item : changed_) {
      listed(item);
      for (const Item other : named_by_[item]) pairs.emplace_back(item, other);
      is_changed_[item] = 0;
    }
  }
  all_changed_ = false;
  changed_.clear();
  for (auto& [a, b] : pairs)
    if (b < a) std::swap(a, b);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<Edge> edges;
  edges.reserve(pairs.size());
  for (std::size_t from = 0, to = 0; from < pairs.size(); from = to) {
    const Item marked = pairs[from].first;
    for (const Item other : list(marked)) is_marked_[other] = 1;
    for (; to < pairs.size() && pairs[to].first == marked; ++to)
      edges.push_back({marked, pairs[to].second, weight_from(marked, pairs[to].second)});
    for (const Item other : list(marked)) is_marked_[other] = 0;
  }
  return edges;
}

template class NeighbourLists<float>;
template class NeighbourLists<double>;

}  // namespace ramify
