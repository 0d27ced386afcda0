// SPDX-License-Identifier: BSD-3-Clause
// pair_memory.hpp: what earlier repairs have learnt about linkages between subtrees that hang
// off one path.
//
// Most of what hangs off a long path has not changed since the path was last opened, and
// neither have the linkages between those parts. For a subtree S that hangs off a path,
//
//   least    is at most the linkage of S to every subtree T that hangs off the path above S,
//            as long as fresh(T) <= checked(S)
//   checked  when S last hung off a path that was opened, all above it being compared
//   fresh    when T last changed, or came to hang above others than before
//
// So whoever opens a path compares S only with what is fresh. Times are counts of repairs. A
// memory that is lost costs work, never an answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "algorithms/forest_hac.hpp"
#include "tree/ids.hpp"

namespace ramify {

class PairMemory {
 public:
  struct Known {
    double least = 0;
    std::uint32_t checked = 0;
    std::uint32_t fresh = 0;
  };

  bool in_use() const { return !known_.empty(); }
  /// Memory for nodes whose raw ids are below `end`, and for noting what becomes of so many
  /// trees.
  void make_room(std::size_t end, std::size_t trees) {
    if (known_.size() < end) known_.resize(end + end / 2);
    highest_.reserve(2 * trees);
  }
  /// From now on nothing is known.
  void forget() {
    tick();
    since_ = now_;
  }
  /// The repair is over.
  void tick() {
    if (++now_ < std::numeric_limits<std::uint32_t>::max()) return;
    known_.assign(known_.size(), {});
    now_ = since_ = 1;
  }

  double least(NodeId v) const { return known_[v.raw()].least; }
  /// 0 if nothing is known of it.
  std::uint32_t checked(NodeId v) const {
    const std::uint32_t time = known_[v.raw()].checked;
    return time < since_ ? 0 : time;
  }
  /// Always above 0.
  std::uint32_t fresh(NodeId v) const { return known_[v.raw()].fresh + 1; }

  /// All above v in the path that is open have been compared with it.
  void check(NodeId v, double least) {
    known_[v.raw()].least = least;
    known_[v.raw()].checked = now_;
  }
  /// v has other points from now on.
  void renew(NodeId v) { known_[v.raw()] = {0, 0, now_}; }

  /// The open path has been merged again: `trees` are those that hung off it, lowest
  /// first, with the new one at the end if there is one, and then what each merge made.
  /// `compared`: each of `trees` has been compared with all that are above it now.
  void note_merges(std::span<const NodeId> trees, bool has_x_last, std::span<const Merge> merges,
                   bool compared) {
    const std::size_t m = trees.size() - merges.size();
    // Of each cluster, the highest place in it. Whatever hung below that, and is above now,
    // has not been compared from there, or at least not with what is inside.
    highest_.resize(trees.size());
    for (std::size_t i = 0; i < m; ++i)
      highest_[i] = compared && trees[i].is_leaf() ? -1 : static_cast<std::int64_t>(i);
    if (has_x_last) {
      highest_[m - 1] = -1;
      if (known_[trees[m - 1].raw()].checked < now_) renew(trees[m - 1]);
      freshen(trees[m - 1]);
    }
    for (std::size_t t = 0; t < merges.size(); ++t) {
      const auto [a, b] = merges[t];
      if (a < m && highest_[b] > static_cast<std::int64_t>(a)) freshen(trees[a]);
      if (b < m && highest_[a] > static_cast<std::int64_t>(b)) freshen(trees[b]);
      renew(trees[m + t]);
      highest_[m + t] = std::max(highest_[a], highest_[b]);
    }
  }

 private:
  /// v hangs elsewhere.
  void freshen(NodeId v) { known_[v.raw()].fresh = now_; }

  std::vector<Known> known_;  // by raw id
  std::vector<std::int64_t> highest_;
  std::uint32_t now_ = 1, since_ = 1;
};

}  // namespace ramify
