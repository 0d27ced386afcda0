// SPDX-License-Identifier: BSD-3-Clause
// edits.hpp: what people say about a tree, and how an algorithm keeps to it.
//
//   held    a node whose points stay below it. To whatever happens below, it is the root:
//           an insert or an erasure there is repaired there, and of the nodes above only
//           the summaries change.
//   linked  a node whose points are as one. It is never opened: a path that begins at
//           one of its leaves begins at the topmost linked node above.
//
// Both are marks on nodes (tree.hpp), so that a tree without any pays for nothing.
// docs/decisions/0018-edits.md says why it is this and not more.
#pragma once

#include "tree/tree.hpp"

namespace ramify {

/// The topmost linked node that holds v; v itself if it is not linked with anybody.
template <class Real>
NodeId whole_of(const Tree<Real>& tree, NodeId v) {
  if (!tree.marked()) return v;
  while (tree.mark(tree.parent(v)) == Mark::kLinked) v = tree.parent(v);
  return v;
}

/// The lowest held node above v; kNone if there is none.
template <class Real>
NodeId holder_of(const Tree<Real>& tree, NodeId v) {
  if (!tree.marked()) return kNone;
  do v = tree.parent(v);
  while (v != kNone && tree.mark(v) != Mark::kHeld);
  return v;
}

/// Compute the summaries of v and all above it. O(depth dim).
template <class Real>
void summarise_up(Tree<Real>& tree, NodeId v) {
  for (; v != kNone; v = tree.parent(v)) {
    tree.freshen(tree.left(v));
    tree.freshen(tree.right(v));
    tree.summarise(v.slot());
  }
}

/// A leaf has gone from below a held node, whose place its child `left` took: that is
/// the held cluster from now on, under its id, if it is one.
template <class Real>
void hand_over(Tree<Real>& tree, std::uint64_t id, NodeId left);

/// Throw std::invalid_argument if two leaves cannot be as one, or if move_under(tree, v, under)
/// makes no sense or tears linked points apart. O(depth).
template <class Real>
void require_linkable(const Tree<Real>& tree, NodeId one, NodeId other);
template <class Real>
void require_movable(const Tree<Real>& tree, NodeId v, NodeId under);

/// Take v from its place, which its sibling fills, and put it below `under`, which is
/// held from now on and keeps its id: its children are v and, under a new id, all that it
/// had before. Of a leaf `under` this makes a node over both. There is room to mark.
/// Throws what require_movable does.
template <class Real>
void move_under(Tree<Real>& tree, NodeId v, NodeId under);

/// A node is held no more.
template <class Real>
void release(Tree<Real>& tree, NodeId v);

/// The points of a topmost linked node are points like others again.
template <class Real>
void unlink(Tree<Real>& tree, NodeId v);

}  // namespace ramify
