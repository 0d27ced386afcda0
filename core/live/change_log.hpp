// SPDX-License-Identifier: BSD-3-Clause
// change_log.hpp: what became of a stream's points and leaves since they were last asked for.
//
// Of inner nodes the tree keeps such notes itself. Together they are a Change (tree/change.hpp):
// the net effect, so that what came and went in between is not in it. Nothing is written down
// before a caller wants it, and where memory runs out the next change is incomplete: the tree
// comes first.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "math/growth.hpp"
#include "tree/change.hpp"
#include "tree/members.hpp"
#include "tree/tree.hpp"

namespace ramify {

class ChangeLog {
 public:
  /// Where the stream is when a change is taken.
  struct Now {
    std::size_t end;         // rows in slots below are in the tree, or holes
    Arrival next;            // how many points have come
    std::uint64_t version;   // of the tree
    bool leaves_are_many;    // may a leaf be of several points?
    const Members* members;  // and which are in which, if that is known
  };

  /// Write down from now on, or no more. The first change tells of the points from `known_until`
  /// on.
  void record(bool on, Arrival known_until) {
    on_ = on;
    clear(known_until);
  }

  /// A leaf has gone, which stood for so much.
  void gone(Arrival leaf, double weight) noexcept { note(gone_, Change::Weighed{leaf, weight}); }
  /// A leaf stands for something else than this.
  void weighed(Arrival leaf, double before) noexcept {
    note(weighed_, Change::Weighed{leaf, before});
  }
  /// A point is no more in its leaf.
  void left(Arrival point, Arrival leaf) noexcept { note(left_, Change::Member{point, leaf}); }
  /// A leaf is part of another.
  void merged(Arrival leaf, Arrival into) noexcept { note(merged_, Change::Member{leaf, into}); }

  /// What has become of the tree since this was last asked for, which has heights up to date.
  /// O(what changed). If this throws, it can be asked for again.
  template <class Real>
  Change take(Tree<Real>& tree, const Now& now);

 private:
  template <class Note>
  void note(std::vector<Note>& notes, const Note& one) noexcept {
    if (!on_) return;
    try {
      ramify::make_room(notes, 1);
      notes.push_back(one);
    } catch (const std::bad_alloc&) {
      lost_track_ = true;  // the tree comes first
    }
  }
  template <class Real>
  std::vector<Arrival> inserted(const RowStore<Real>& points, std::size_t end) const;
  void tell_points(Change& change, const Now& now) const;
  template <class Real>
  void tell_weights(Change& change, const RowStore<Real>& points) const;
  std::vector<Change::Weighed> weighed_before() const;
  void clear(Arrival known_until) noexcept;

  bool on_ = false;
  Arrival known_until_ = 0;  // later points were inserted since the last change was taken
  std::vector<Change::Weighed> gone_, weighed_;
  std::vector<Change::Member> left_, merged_;
  bool lost_track_ = false;  // there was no memory for one of them
};

}  // namespace ramify
