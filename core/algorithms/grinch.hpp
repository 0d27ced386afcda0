// SPDX-License-Identifier: BSD-3-Clause
// grinch.hpp: GRINCH (Monath, Kobren, Krishnamurthy, Glass, McCallum 2019) with
// average linkage, as the authors' Scala code has it.
//
//   g       the new leaf                  L(a, b)  average linkage, small is close
//   z, s    siblings                      S(v)     L of v's two children
//
//   rotate       from g's nearest leaf upwards while L(g, v) > S(parent of v); g
//                becomes the sibling of the v reached. c is their parent.
//   graft        n is the leaf closest to c outside of c (and not its sibling).
//                While c and n are apart: if L(c, n) is less than the S of both
//                parents, n moves beside c; else n, or else c, goes up to the
//                parent that would lose it. At their common ancestor: no graft.
//   restructure  after a graft, z, whom c has left, may exchange its new sibling
//                for the sibling of one of its ancestors that is closer.
//
// The authors' code has quirks. What we do about each:
//   1  It grafts once an insert: a counter that should allow more never counts.
//      Graft::kOnce does so. Graft::kFull goes on from the node reached, grafted
//      or not, up to the root, each time with all leaves below the parent of c
//      ruled out as n.
//   2  Restructuring asks for what is close to z, at z only, and looks all the way
//      to the root, not to the common ancestor. Reproduced.
//   3  The exchange leaves counts, means and S of the nodes above as they were,
//      until an insert passes by. Reproduced, and so is what is computed when:
//      summaries here are made on first use after a change below (`stale`), so
//      one that had been used before an exchange stays wrong after it, and one
//      that had not does not. Hence summaries of our own, apart from the tree's,
//      which are made anew at each snapshot and are right.
//   4  The Python port, which differs, is not followed.
// L comes from summaries in O(dim) instead of from all pairs; equally close leaves:
// the one that arrived first. Collapsing (max_num_leaves) is not offered.
//
// A rotation or graft is O(depth + dim * steps); n is found in the index, asked for
// more and more neighbours of c's mean, or by a scan if c is large.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace ramify {

enum class Graft { kOnce, kFull, kNone };

template <class Real>
class Grinch;

struct GrinchOptions {
  static constexpr std::size_t kNoCap = std::numeric_limits<std::size_t>::max();
  Graft graft = Graft::kOnce;
  bool restructure = true;
  std::size_t rotate_cap = kNoCap;       // go up only to nodes of at most this many points
  std::size_t graft_cap = kNoCap;        // graft only with fewer points
  std::size_t restructure_cap = kNoCap;  // look only below ancestors of fewer points
  template <class Real>
  using Type = Grinch<Real>;
};

/// Invariants, tested by check():
///   1  every slot has its summary
///   2  the parent of a stale node is stale
template <class Real>
class Grinch final : public Algorithm<Real> {
 public:
  Grinch(std::size_t dim, const Rule& rule, const GrinchOptions& options)
      : dim_(dim), metric_(rule.metric), options_(options) {}

  std::size_t neighbours() const override { return 1; }
  bool searches() const override { return true; }
  bool weighs() const override { return false; }
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  /// Everything remembered: two marks and 3 + dim numbers a slot.
  Memory memory(const Tree<Real>& tree) const override;
  void restore(const Tree<Real>& tree, const Memory& memory) override;
  /// O(n).
  void check(const Tree<Real>& tree) const override;

 private:
  struct Note {
    std::uint32_t count = 0;  // points below, as last told
    bool stale = true;        // the summary waits for its first use
    bool scored = false;      // score is known
    double n = 0;             // points in the summary
    double ssd = 0;
    double score = 0;  // S
  };

  /// All the memory that an insert into a tree of `points` points can ask for.
  void make_room(std::size_t points);
  std::uint32_t count(NodeId v) const { return v.is_leaf() ? 1 : notes_[v.slot()].count; }
  SummaryView<Real> view(const Tree<Real>& tree, NodeId v) const;
  void refresh(const Tree<Real>& tree, NodeId v);
  double linkage(const Tree<Real>& tree, NodeId a, NodeId b);
  double score(const Tree<Real>& tree, NodeId v);
  void tell_upwards(const Tree<Real>& tree, NodeId v);

  NodeId rotate(const Tree<Real>& tree, NodeId leaf, NodeId nearest);
  void graft(Tree<Real>& tree, NodeId c, const Neighbours<Real>& index);
  enum class Outcome { kGrafted, kMet, kCapped };
  Outcome try_graft(Tree<Real>& tree, NodeId& c, NodeId n);
  void move_beside(Tree<Real>& tree, NodeId c, NodeId n);
  void restructure(Tree<Real>& tree, NodeId z);

  NodeId common_ancestor(const Tree<Real>& tree, NodeId a, NodeId b);
  void rule_out(const Tree<Real>& tree, NodeId v);
  NodeId closest_allowed(const Tree<Real>& tree, NodeId c, const Neighbours<Real>& index);

  std::size_t dim_;
  Metric metric_;
  GrinchOptions options_;
  std::vector<Note> notes_;  // by slot
  std::vector<Real> means_;  // by slot, dim each
  // Of the insert at hand.
  std::vector<std::uint8_t> ruled_out_;  // by point; all zero between inserts
  std::vector<RowSlot> ruled_out_list_;
  std::vector<std::uint8_t> above_;  // by slot; all zero between calls
  std::vector<NodeId> stack_;
  SearchScratch search_;
};

}  // namespace ramify
