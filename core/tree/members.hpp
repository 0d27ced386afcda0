// SPDX-License-Identifier: BSD-3-Clause
// members.hpp: which points have been drawn into which leaf.
//
// Kept only where leaves may stand for several points. Points come in order of arrival,
// so a list that is sorted by nature is all there is to it. A leaf has the number of the
// point that it began with, and keeps it when that point leaves before the others: that is
// its id and its place among the leaves. It stands for the earliest point that is still in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "math/growth.hpp"
#include "tree/ids.hpp"

namespace ramify {

class Members {
 public:
  struct Member {
    Arrival point;
    Arrival leaf;
    double weight;
    std::uint32_t count;    // of the points in the leaf that it began, also if that was merged
    bool here;              // it has not left
    Arrival first = point;  // the earliest point in its leaf, if the leaf has this number
  };
  static constexpr Arrival kNobody = ~Arrival{0};

  /// The memory that more points need: begin() and join() cannot fail then.
  void make_room(std::size_t points) { ramify::make_room(all_, points); }
  /// Points that are here.
  std::size_t size() const { return here_; }
  /// A point, later than all others, with a leaf of its own; or in one that is there.
  void begin(Arrival point, double weight) { add({point, point, weight, 1, true}); }
  void join(Arrival point, double weight, Arrival leaf) {
    ++find(leaf)->count;
    add({point, leaf, weight, 0, true});
  }
  /// The leaf that a point is in; kNobody if it is not here.
  Arrival leaf_of(Arrival point) const {
    const Member* const found = find(point);
    return found != nullptr && found->here ? root(found->leaf) : kNobody;
  }
  double weight_of(Arrival point) const { return find(point)->weight; }
  /// The earliest point that is in a leaf, one that has not become part of another.
  Arrival first_in(Arrival leaf) const { return find(leaf)->first; }
  /// How many points are in a leaf.
  std::uint32_t count(Arrival leaf) const { return find(leaf)->count; }
  /// A leaf becomes part of an earlier one.
  void merge(Arrival leaf, Arrival into) {
    Member* const member = find(leaf);
    member->leaf = into;
    Member* const other = find(into);
    other->count += member->count;
    other->first = std::min(other->first, member->first);
  }
  /// A point that is here leaves; no other leaf was merged into its own. The next one in
  /// the leaf is looked for among all that came later: O(n) at worst.
  void leave(Arrival point) {
    Member* const member = find(point);
    member->here = false;
    Member* leaf = member;
    if (leaf->count > 0) --leaf->count;
    while (leaf->leaf != leaf->point) {
      leaf = find(leaf->leaf);
      --leaf->count;
    }
    if (leaf->count > 0 && leaf->first == point) leaf->first = next_in(*leaf, member);
    if (--here_ < all_.size() / 2) forget_the_gone();
  }
  template <class Use>
  void for_each(Use&& use) const {
    for (const Member& member : all_)
      if (member.here) use(member.point, root(member.leaf));
  }
  template <class Use>
  void for_each_weight(Use&& use) const {
    for (const Member& member : all_)
      if (member.here) use(member.weight);
  }
  /// Who is in which leaf, of points from a number on.
  template <class Use>
  void for_each_from(Arrival first, Use&& use) const {
    const auto from = std::lower_bound(
        all_.begin(), all_.end(), first,
        [](const Member& member, Arrival number) { return member.point < number; });
    for (auto member = from; member != all_.end(); ++member)
      if (member->here) use(member->point, root(member->leaf));
  }
  /// The earliest point in each leaf, in order of the leaves.
  std::vector<Arrival> firsts() const {
    std::vector<Arrival> out;
    for (const Member& member : all_)
      if (member.leaf == member.point && member.count > 0) out.push_back(member.first);
    return out;
  }
  /// Are these leaves, ascending, all that points are in?
  bool have_leaves(std::span<const Arrival> leaves) const {
    std::size_t found = 0;
    for (const Member& member : all_) {
      if (member.leaf != member.point || member.count == 0) continue;
      if (found == leaves.size() || leaves[found] != member.point) return false;
      ++found;
    }
    return found == leaves.size();
  }
  /// Of all that are here and of the leaves they are in, for storage.
  std::vector<Member> stored() const {
    std::vector<Member> out;
    for (const Member& member : all_)
      if (member.here || member.count > 0) out.push_back(member);
    return out;
  }
  /// The inverse, counts aside; std::invalid_argument if they do not fit each other.
  void restore(std::vector<Member> members) {
    all_ = std::move(members);
    here_ = 0;
    // Files once had leaves that were merged and left by all, after what they were merged into.
    for (Member& member : all_)
      if (!member.here && find(member.leaf) == nullptr) member.leaf = kNobody;
    std::erase_if(all_, [](const Member& member) { return member.leaf == kNobody; });
    const auto later = [](const Member& a, const Member& b) { return a.point >= b.point; };
    bool fits = std::adjacent_find(all_.begin(), all_.end(), later) == all_.end();
    for (Member& member : all_) {
      member.count = 0;
      fits = fits && member.leaf <= member.point && find(member.leaf) != nullptr;
    }
    if (!fits) throw std::invalid_argument("the points of a stored tree do not fit its leaves");
    // From the last one on: who is in a leaf that was merged counts there, and above.
    for (auto member = all_.rbegin(); member != all_.rend(); ++member) {
      if (!member->here) continue;
      ++here_;
      Member* leaf = &*member;
      if (leaf->count > 0 || leaf->leaf == leaf->point) ++leaf->count;
      while (leaf->leaf != leaf->point) {
        leaf = find(leaf->leaf);
        ++leaf->count;
      }
      leaf->first = member->point;
    }
  }

 private:
  /// The leaf that a leaf has become part of, or the leaf itself.
  Arrival root(Arrival leaf) const {
    for (;;) {
      const Arrival above = find(leaf)->leaf;
      if (above == leaf) return leaf;
      leaf = above;
    }
  }
  /// Who is in a leaf and came after one who was the first of it: another is in it.
  Arrival next_in(const Member& leaf, const Member* after) const {
    const Member* const end = all_.data() + all_.size();
    const auto joined = [&](const Member& one) { return one.here && one.leaf == leaf.point; };
    const auto is_in = [&](const Member& one) { return one.here && root(one.leaf) == leaf.point; };
    const Member* next = std::find_if(after, end, joined);
    return next != end ? next->point : std::find_if(after, end, is_in)->point;
  }
  const Member* find(Arrival point) const {
    const auto at = std::lower_bound(
        all_.begin(), all_.end(), point,
        [](const Member& member, Arrival number) { return member.point < number; });
    return at != all_.end() && at->point == point ? &*at : nullptr;
  }
  Member* find(Arrival point) {
    return const_cast<Member*>(static_cast<const Members*>(this)->find(point));
  }
  void add(const Member& member) {
    all_.push_back(member);
    ++here_;
  }
  /// Leaves whose first point has left stay known as long as they have others.
  void forget_the_gone() {
    std::erase_if(all_, [](const Member& member) { return !member.here && member.count == 0; });
  }

  std::vector<Member> all_;  // by point
  std::size_t here_ = 0;
};

}  // namespace ramify
