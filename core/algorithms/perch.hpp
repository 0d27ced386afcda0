// SPDX-License-Identifier: BSD-3-Clause
// perch.hpp: PERCH, "purity enhancing rotations for cluster hierarchies"
// (Kobren, Monath, Krishnamurthy, McCallum 2017), as the authors' code has it.
//
//   x      the new point          v  a node, s its sibling, a its aunt (the
//   box    least and greatest        sibling of its parent p), g its grandparent
//          coordinates below v    T  exact_up_to
//
//   1  x becomes the sibling of its nearest leaf.
//   2  Masking pass, upwards from that sibling: where v lies nearer to a than to
//      s, v is rotated: s and a change places. Ends at the first inner node that
//      stays.
//   3  Balance pass, upwards to the root: where the smaller of v and s (then the
//      other) would leave a more balanced tree and no clear harm, it is rotated.
//
// "Nearer" is HI(v, a) < LO(v, s), bounds on distances between boxes. Nodes of at
// most T points use their points instead of their box. The authors' bounds look
// at two corners of each box only and are no bounds in two or more dimensions;
// Bounds::kSound are, and both are offered because trees differ.
//
// With max_leaves the tree seen by the three steps has at most that many leaves:
// after an insert beyond it, of all nodes whose children are both leaves the one
// with the smallest HI(children) collapses: it is a leaf from then on, and new
// points become its sibling. What lies below it stays in the tree, untouched, so
// that every point is a leaf of the hierarchy. A collapsed leaf is as near as its
// box (its points, up to T). Equally near leaves: the one with the earliest
// point; equally small HI: likewise. The authors break ties at random.
//
// Without max_leaves the nearest leaf is the nearest point, whatever the tree:
// the caller asks the index of neighbours and no search of boxes is made. Only
// sizes and boxes are kept up to date; means and ssd are made at a snapshot.
//
// Distances are compared squared. All of this is O(depth) plus O(dim) for a few
// nodes, and the search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace ramify {

enum class Bounds { kReference, kSound };
enum class Balance { kReference, kPython, kNone };  // the authors' Scala code, their Python code

template <class Real>
class Perch;

struct PerchOptions {
  Bounds bounds = Bounds::kReference;
  Balance balance = Balance::kReference;
  std::size_t exact_up_to = 10;
  std::size_t max_leaves = 0;  // 0: no limit
  template <class Real>
  using Type = Perch<Real>;
};

/// Invariants, tested by check():
///   1  the box of a slot is the box of the points below it
///   2  sizes and first leaves in the tree are right, without a summarise()
///   3  at most max_leaves leaves are seen, if there is a limit
///   4  then every node that may collapse is in the heap under its HI
template <class Real>
class Perch final : public Algorithm<Real> {
 public:
  Perch(std::size_t dim, const Rule& /*rule*/, const PerchOptions& options)
      : dim_(dim), options_(options) {}

  /// With max_leaves it looks for the nearest leaf itself, which may be a collapsed node.
  std::size_t neighbours() const override { return collapses() ? 0 : 1; }
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  /// Takes out a leaf and its parent; boxes and sizes above are made anew. O(depth * dim).
  void erase(Tree<Real>& tree, NodeId leaf) override;
  void renumber(std::span<const RowSlot> new_slot) override;
  /// Which nodes have collapsed, those below other collapsed ones included.
  Memory memory(const Tree<Real>& tree) const override;
  void restore(const Tree<Real>& tree, const Memory& memory) override;
  /// O(n dim).
  void check(const Tree<Real>& tree) const override;

 private:
  // What bounds look at: a box, and the points in it if they are few.
  struct View {
    const Real* low;
    const Real* high;
    std::span<const RowSlot> points;  // empty: too many
    bool is_point() const { return low == high; }
  };
  // A node of the A* search. Nearer first; inner nodes before leaves, so that
  // among equally near leaves the first point decides.
  struct Candidate {
    double distance;
    NodeId node;
    bool is_leaf;
    RowSlot first;
    bool operator>(const Candidate& other) const;
  };
  struct Collapsible {
    double spread;  // HI of its children, squared
    RowSlot first;
    Slot slot;
    bool operator>(const Collapsible& other) const;
  };

  bool collapses() const { return options_.max_leaves > 0; }
  NodeId nearest(const Tree<Real>& tree, const Real* x);
  std::vector<std::uint32_t> collapsed() const;
  void begin_with(const Tree<Real>& tree, std::span<const std::uint32_t> collapsed);
  bool is_leaf(NodeId v) const { return v.is_leaf() || (collapses() && collapsed_[v.slot()] != 0); }
  const Real* low(const Tree<Real>& tree, NodeId v) const;
  const Real* high(const Tree<Real>& tree, NodeId v) const;
  void gather(const Tree<Real>& tree, NodeId v, std::vector<RowSlot>& out) const;
  View view(const Tree<Real>& tree, NodeId v, std::vector<RowSlot>& points) const;
  double least(const Tree<Real>& tree, const Real* x, const View& v) const;
  double most(const Tree<Real>& tree, const Real* x, const View& v) const;
  double lower_bound(const Tree<Real>& tree, const View& a, const View& b) const;
  double upper_bound(const Tree<Real>& tree, const View& a, const View& b) const;
  double spread(const Tree<Real>& tree, NodeId v) const;

  void make_room(const Tree<Real>& tree, NodeId at);
  void forget(Slot slot);
  void make_box(const Tree<Real>& tree, NodeId v);
  void tell_ancestors(Tree<Real>& tree, NodeId v, const Real* x);
  bool is_masked(const Tree<Real>& tree, NodeId v) const;
  bool can_balance(const Tree<Real>& tree, NodeId v) const;
  void rotate(Tree<Real>& tree, NodeId v);
  void unmask(Tree<Real>& tree, NodeId start);
  void balance(Tree<Real>& tree, NodeId start);
  bool may_collapse(const Tree<Real>& tree, NodeId v) const;
  void offer(const Tree<Real>& tree, NodeId v);
  void collapse_one(const Tree<Real>& tree);

  std::size_t dim_;
  PerchOptions options_;
  std::vector<Real> boxes_;              // by slot: dim least, dim greatest coordinates
  std::vector<std::uint8_t> collapsed_;  // by slot, if max_leaves
  std::vector<Collapsible> heap_;        // if max_leaves; may hold entries that no longer hold
  // Scratch.
  std::vector<Candidate> frontier_;
  mutable std::vector<RowSlot> points_a_, points_b_, points_c_;
  mutable std::vector<NodeId> stack_;
};

}  // namespace ramify
