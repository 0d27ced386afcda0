// SPDX-License-Identifier: BSD-3-Clause
#include "live/change_log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ramify {

void ChangeLog::clear(Arrival known_until) noexcept {
  known_until_ = known_until;
  gone_.clear();
  weighed_.clear();
  left_.clear();
  merged_.clear();
  lost_track_ = false;
}

template <class Real>
Change ChangeLog::take(Tree<Real>& tree, const Now& now) {
  std::vector<Arrival> inserted = this->inserted(tree.points(), now.end), erased;
  for (const auto& [number, weight] : gone_)
    if (number < known_until_) erased.push_back(number);
  Change about_leaves;
  tell_points(about_leaves, now);
  about_leaves.inserted = std::move(inserted);
  tell_weights(about_leaves, tree.points());
  Change change = tree.take_change();
  change.version = now.version;
  change.inserted = std::move(about_leaves.inserted);
  change.weighed = std::move(about_leaves.weighed);
  change.came = std::move(about_leaves.came);
  change.left = std::move(about_leaves.left);
  change.absorbed = std::move(about_leaves.absorbed);
  change.weighed_before = std::move(about_leaves.weighed_before);
  change.erased = std::move(erased);
  change.incomplete = change.incomplete || lost_track_;
  clear(now.next);
  return change;
}

/// Leaves that have come, as far as they are still there.
template <class Real>
std::vector<Arrival> ChangeLog::inserted(const RowStore<Real>& points, std::size_t end) const {
  std::vector<Arrival> out;
  for (; end > 0; --end) {
    const auto row = static_cast<RowSlot>(end - 1);
    if (points.arrival(row) < known_until_) break;
    if (!points.is_hole(row)) out.push_back(points.arrival(row));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// Who came, left, and is in the leaf of another; only if leaves may be of several.
void ChangeLog::tell_points(Change& change, const Now& now) const {
  if (!now.leaves_are_many) return;
  std::vector<Change::Member> merged = merged_;
  std::sort(merged.begin(), merged.end(),
            [](const auto& a, const auto& b) { return a.point < b.point; });
  const auto in = [&](Arrival leaf) {
    for (;;) {
      const auto at = std::lower_bound(merged.begin(), merged.end(), leaf,
                                       [](const auto& a, Arrival b) { return a.point < b; });
      if (at == merged.end() || at->point != leaf) return leaf;
      leaf = at->leaf;
    }
  };
  for (const auto& [point, leaf] : left_)
    if (point < known_until_) change.left.push_back({point, leaf});
  const bool tracked = now.members != nullptr;
  for (const auto& [leaf, into] : merged)
    if (!tracked || leaf < known_until_) change.absorbed.push_back({leaf, in(into)});
  if (!tracked) {
    for (Arrival point = known_until_; point < now.next; ++point) change.came.push_back(point);
    for (const auto& [point, leaf] : left_) std::erase(change.came, point);
    return;
  }
  now.members->for_each_from(known_until_, [&](Arrival point, Arrival leaf) {
    change.came.push_back(point);
    if (leaf != point) change.absorbed.push_back({point, leaf});
  });
}

/// What leaves stand for that came or were weighed.
template <class Real>
void ChangeLog::tell_weights(Change& change, const RowStore<Real>& points) const {
  if (!points.weighted()) return;
  change.weighed_before = weighed_before();
  std::vector<Arrival> leaves;
  leaves.reserve(weighed_.size() + change.inserted.size());
  for (const auto& [leaf, weight] : weighed_) leaves.push_back(leaf);
  leaves.insert(leaves.end(), change.inserted.begin(), change.inserted.end());
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  for (const Arrival leaf : leaves) {
    RowSlot row = 0;
    if (points.find(leaf, row)) change.weighed.push_back({leaf, points.weight(row)});
  }
}

/// What leaves stood for when a caller last asked: the first that was written down of each.
std::vector<Change::Weighed> ChangeLog::weighed_before() const {
  std::vector<Change::Weighed> notes;
  for (const auto* some : {&weighed_, &gone_})
    std::copy_if(some->begin(), some->end(), std::back_inserter(notes),
                 [&](const Change::Weighed& one) { return one.leaf < known_until_; });
  std::vector<std::pair<Arrival, std::size_t>> order(notes.size());
  for (std::size_t i = 0; i < notes.size(); ++i) order[i] = {notes[i].leaf, i};
  std::sort(order.begin(), order.end());
  std::vector<Change::Weighed> out;
  out.reserve(order.size());
  for (const auto& [leaf, i] : order)
    if (out.empty() || out.back().leaf != leaf) out.push_back(notes[i]);
  return out;
}

template Change ChangeLog::take(Tree<float>&, const Now&);
template Change ChangeLog::take(Tree<double>&, const Now&);

}  // namespace ramify
