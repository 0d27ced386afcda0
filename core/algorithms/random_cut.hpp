// SPDX-License-Identifier: BSD-3-Clause
// random_cut.hpp: the robust random cut tree (Guha, Mishra, Roy and Schrijvers, 2016).
//
// Its distribution: the points' bounding box is cut in two, along a coordinate that is
// drawn in proportion to the length of its side, at a place drawn evenly from that side;
// and so on in both halves. Points at or below the cut are the left child.
//
//   box  of a node: the least and the greatest value of each coordinate of its points
//   cut  of an inner node: a coordinate, and a place on it
//
// A new point x draws a cut of a node's box with x in it. If that parts x from the box, it
// becomes the node's parent, with x on the other side; otherwise the node keeps its own
// cut, and x goes on to the side that it is on. A point that leaves takes its parent with
// it. Both leave a tree of the same distribution as one made of all points at once, and
// so the tree's distribution does not depend on the order of arrival.
//
// Equal points cannot be parted: they make subtrees whose boxes are points, as balanced as
// may be, since a point goes to the lighter child there.
#pragma once

#include "algorithms/algorithm.hpp"
#include "math/chance.hpp"

namespace ramify {

template <class Real>
class RandomCut;

struct RandomCutOptions {
  std::uint64_t seed = 0;
  template <class Real>
  using Type = RandomCut<Real>;
};

template <class Real>
class RandomCut final : public Algorithm<Real> {
 public:
  RandomCut(std::size_t dim, const Rule& /*rule*/, const RandomCutOptions& options)
      : dim_(dim), chance_(options.seed), wide_(2 * dim) {}

  std::size_t stride() const override { return 64; }
  /// O(depth * dim), and so is erase().
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  void erase(Tree<Real>& tree, NodeId leaf) override;
  Memory memory(const Tree<Real>& tree) const override;
  void restore(const Tree<Real>& tree, const Memory& memory) override;
  void check(const Tree<Real>& tree) const override;

 private:
  struct Cut {
    double place = 0;
    std::uint32_t coordinate = 0;
  };
  // Where a new point goes: above `at`, with this cut.
  struct Place {
    NodeId at;
    Cut cut;
    bool left = false;
  };
  std::size_t box_at(std::size_t slot) const { return slot * 2 * dim_; }
  const Real* low(const Tree<Real>& tree, NodeId v) const {
    return v.is_leaf() ? tree.points().row(v.row()) : boxes_.data() + box_at(v.slot());
  }
  const Real* high(const Tree<Real>& tree, NodeId v) const {
    return low(tree, v) + (v.is_leaf() ? 0 : dim_);
  }
  bool draw_cut(const Tree<Real>& tree, NodeId v, const Real* x, Chance& chance, Cut& out);
  Place find_place(const Tree<Real>& tree, const Real* x, Chance& chance);
  void make_box(const Tree<Real>& tree, NodeId v);
  bool is_parted(const Tree<Real>& tree, NodeId v) const;

  std::size_t dim_;
  Chance chance_;
  std::vector<Real> boxes_;   // by slot: the least of each coordinate, then the greatest
  std::vector<Cut> cuts_;     // by slot
  std::vector<double> wide_;  // a box with a new point in it
};

}  // namespace ramify
