// SPDX-License-Identifier: BSD-3-Clause
// change.hpp: what became of a tree between two looks at it, for a caller that keeps a copy.
//
// In public terms only, whose meaning never changes: inner nodes by their ids,
// points by their arrival numbers. It is the net effect: what came and went in between
// is not in it. Of every inner node that is new, or at or below which something has
// happened, it says what it is now: applied to the tree before, that gives the tree after. And it
// says what those were that were there before: applied to the tree after, that gives the tree
// before.
//
// Where leaves may stand for several points, points and leaves are two things, and both are
// told.
#pragma once

#include <cstdint>
#include <vector>

#include "tree/ids.hpp"

namespace ramify {

/// A node's public id: an inner one's id, -1 - the arrival number of a leaf's point.
using PublicId = std::int64_t;

struct Change {
  struct Family {
    PublicId node, left, right;
    double height, monotone;  // of its merge; the largest at or below it
    std::uint32_t count;      // leaves below
    double weight;            // points that they stand for
    Arrival first;            // the earliest of them
  };

  /// An inner node as it was.
  struct Earlier {
    PublicId node, left, right;
    double height;
  };

  /// A leaf and what it stands for; or a point and the leaf that it is in, or was.
  struct Weighed {
    Arrival leaf;
    double weight;
  };
  struct Member {
    Arrival point, leaf;
  };

  std::uint64_t version = 0;              // of the tree after it
  std::vector<Arrival> inserted, erased;  // leaves
  std::vector<Weighed> weighed;  // leaves that are new or stand for something else; none: all for 1
  std::vector<Arrival> came;     // points, if these are not the leaves
  std::vector<Member> left;      // and those that have gone
  /// New points that are in the leaf of another one, and leaves that became part of another.
  std::vector<Member> absorbed;
  std::vector<PublicId> vanished;
  /// New, or something happened at or below them; always with all above them.
  std::vector<Family> families;
  /// Of those that vanished and of families, all that were there before, as they were.
  std::vector<Earlier> earlier;
  /// Leaves that are weighed or erased and were there before, and what they stood for; none: all
  /// for 1.
  std::vector<Weighed> weighed_before;
  /// Memory ran out while this was written down: only a snapshot tells.
  bool incomplete = false;
};

}  // namespace ramify
