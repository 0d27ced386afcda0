// SPDX-License-Identifier: BSD-3-Clause
// members.hpp: which points have been drawn into which leaf.
//
// Kept only where leaves may stand for several points. Points come in order of arrival,
// so a list that is sorted by nature is all there is to it. A leaf has the number of the
// point that it began with, and keeps it when that point leaves before the others.
#pragma once

#include <algorithm>
#include <cstdint>
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
    std::uint32_t count;  // of the points in its leaf, if the leaf has this point's number
    bool here;            // it has not left
  };
  static constexpr Arrival kNobody = ~Arrival{0};

  /// The memory that so many more points need; they cannot fail to come in then.
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
    return found != nullptr && found->here ? found->leaf : kNobody;
  }
  double weight_of(Arrival point) const { return find(point)->weight; }
  /// How many points are in a leaf.
  std::uint32_t count(Arrival leaf) const { return find(leaf)->count; }
  /// A point that is here leaves.
  void leave(Arrival point) {
    Member* const member = find(point);
    member->here = false;
    --find(member->leaf)->count;
    if (--here_ < all_.size() / 2) forget_the_gone();
  }
  template <class Use>
  void for_each(Use&& use) const {
    for (const Member& member : all_)
      if (member.here) use(member);
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
    const auto later = [](const Member& a, const Member& b) { return a.point >= b.point; };
    bool fits = std::adjacent_find(all_.begin(), all_.end(), later) == all_.end();
    for (Member& member : all_) member.count = 0;
    for (const Member& member : all_) {
      Member* const leaf = fits ? find(member.leaf) : nullptr;
      fits = fits && leaf != nullptr && leaf->leaf == leaf->point;
      if (!fits) throw std::invalid_argument("the points of a stored tree do not fit its leaves");
      if (!member.here) continue;
      ++leaf->count;
      ++here_;
    }
  }

 private:
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
