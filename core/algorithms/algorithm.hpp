// SPDX-License-Identifier: BSD-3-Clause
// algorithm.hpp: what every algorithm can be asked to do to a tree.
//
// An algorithm says where a leaf goes that comes, and what becomes of the tree when one
// goes. The rows, the index of neighbours and the tree are its caller's (live/live.hpp);
// its own are only the notes that it keeps beside the tree.
//
// Nothing is lost when memory runs out or a caller wants to stop: an algorithm may only
// throw, or return false, before it has changed anything.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "algorithms/certificate.hpp"
#include "helpers.hpp"
#include "index/neighbours.hpp"
#include "math/linkage.hpp"
#include "pulse.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// What an algorithm remembers beside the tree, flat, for storage.
struct Memory {
  std::vector<std::uint32_t> marks;
  std::vector<double> numbers;
};

/// What all algorithms are told: which rows are near each other, and which clusters.
struct Rule {
  Metric metric = Metric::kSqeuclidean;
  Linkage linkage = Linkage::kAverage;
};

template <class Real>
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// How many of a row's nearest points insert() wants to be told; 0: none.
  virtual std::size_t neighbours() const { return 0; }
  /// Does insert() look for others in the index itself?
  virtual bool searches() const { return false; }
  /// Is it enough to tell insert() points that are near, though perhaps not the nearest?
  virtual bool takes_near_neighbours() const { return false; }
  /// Does it go on with a tree of any shape, however that came about?
  virtual bool takes_any_shape() const { return false; }
  /// Inserts between two looks at the pulse.
  virtual std::size_t stride() const { return 1; }
  /// Can it hold this row, which is finite?
  virtual bool takes(std::span<const Real> /*row*/) const { return true; }

  /// Insert an unattached leaf into a tree with room for a slot. `nearest` are its
  /// neighbours() nearest points, or all there are, and `index`, if there are any to be
  /// told, holds all earlier points, if not more. False when the pulse said stop.
  virtual bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                      const Neighbours<Real>* index, const Pulse& pulse) = 0;
  /// Take a leaf out of a tree with room to erase. Throws std::invalid_argument if this
  /// algorithm cannot.
  virtual void erase(Tree<Real>& /*tree*/, NodeId /*leaf*/) {
    throw std::invalid_argument("this algorithm cannot take points out again");
  }
  /// Overwrite what buffers hold of rows that have been in this tree, and are not any more.
  virtual void wipe(const Tree<Real>& /*tree*/) noexcept {}
  /// Does it look at weights? If so, leaves that come may stand for several points.
  virtual bool weighs() const { return true; }
  /// Have a leaf stand for something else; there is room to weigh.
  virtual void weigh(Tree<Real>& tree, NodeId leaf, Standing standing) {
    tree.weigh(leaf, standing);
    tree.mark_stale(tree.parent(leaf));
  }
  /// Does it keep to what people have said about nodes (edits.hpp)?
  virtual bool keeps_marks() const { return false; }
  /// Have two leaves as one from now on; there is room to mark.
  virtual void link(Tree<Real>& /*tree*/, NodeId /*one*/, NodeId /*other*/) {
    throw std::invalid_argument("this algorithm cannot keep points together");
  }
  /// Rows have other slots now (RowStore::compact).
  virtual void renumber(std::span<const RowSlot> /*new_slot*/) {}

  /// Does it take batches at once, by change(), instead of inserting and erasing?
  virtual bool takes_batches() const { return false; }
  /// Leaves from row `begin` on come, all of them, and these go, which may be among them: all at
  /// once. False when the pulse said stop.
  virtual bool change(Tree<Real>& /*tree*/, RowSlot /*begin*/, std::span<const RowSlot> /*leaving*/,
                      const Pulse& /*pulse*/, Helpers& /*helpers*/) {
    throw std::invalid_argument("this algorithm takes no batches");
  }
  /// Does it say how high merges are, instead of a linkage? Its memory's numbers are the heights.
  virtual bool gives_heights() const { return false; }

  /// Does it make the whole tree anew after every batch, instead of inserting?
  virtual bool rebuilds() const { return false; }
  /// Make the tree anew, over all rows stored. The pulse is called with the number of
  /// merges made; false when it said stop: then the tree is as it was.
  virtual bool rebuild(Tree<Real>& /*tree*/, const Pulse& /*pulse*/, Helpers& /*helpers*/) {
    return false;
  }
  /// Make the tree anew from groups within groups (group_tree.hpp).
  virtual void regroup(Tree<Real>& /*tree*/, std::span<const std::uint32_t> /*group_of*/,
                       std::span<const std::uint32_t> /*above*/) {
    throw std::invalid_argument("only a nested tree can be regrouped");
  }

  /// What is guaranteed for this stream, if it keeps a certificate.
  virtual const Certificate* certificate() const { return nullptr; }
  virtual Memory memory(const Tree<Real>& /*tree*/) const { return {}; }
  /// Begin with a stored tree. Throws std::invalid_argument when they do not fit.
  virtual void restore(const Tree<Real>& /*tree*/, const Memory& /*memory*/) {}
  /// Throws std::logic_error naming a broken invariant.
  virtual void check(const Tree<Real>& /*tree*/) const {}
};

/// Make a leaf the sibling of a node, or the root of an empty tree; summaries above
/// are stale then.
template <class Real>
void hang_beside(Tree<Real>& tree, NodeId leaf, NodeId at) {
  if (at == kNone)
    tree.set_root(leaf);
  else
    tree.mark_stale(tree.attach(leaf, at));
}

/// The nearest of some neighbours as a node; kNone if there is none.
inline NodeId first_of(std::span<const Neighbour> nearest) {
  return nearest.empty() ? kNone : NodeId::leaf(nearest.front().row);
}

}  // namespace ramify
