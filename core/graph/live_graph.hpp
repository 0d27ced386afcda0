// SPDX-License-Identifier: BSD-3-Clause
// live_graph.hpp: average linkage on a graph that changes; the tree is that of graph_hac,
// to the bit, after every update, whatever came before.
//
//   level l   the clusters that there are after all merges of bands 0 .. l - 1 (bands.hpp); at
//             level 0 these are the points
//   vertex    a cluster that is there at some level: born at the first level where it is, and
//             merged in the band of the last, into the next vertex
//   list      of a vertex: its neighbours at the level of its birth, and the sum of weights to
//             each. At later levels neighbours have become what following `next` says; so a
//             vertex has one list, however many levels it is there at.
//   component of level l: what is connected by edges that band l may merge
//   waking  of a vertex: a band before which nothing merges it, by its list. A mean between two
//             clusters is never above the larger of their parts', so what happens to neighbours
//             at later levels does not have it wake up earlier.
//   front   of a vertex that came or is gone with the update under way: its neighbours at the
//             level where the update is, or in the tree as it was
//
// A mean never exceeds its largest term, so the merges of a band never leave a component, and
// what happens in one has no bearing on another. An update goes from level to level: it knows
// which vertices are gone and came there, and between which of the others weights have changed;
// it merges the components anew that hold a change; and it sees which vertices of the next level
// are gone and came. Where nothing changes any more it ends. docs/math.md, "Trees of graphs".
//
// Invariants, which check() tests: (1) a list is sorted, names vertices that are there at the
// level of its birth, once each, with the sum of the weights between their points; (2) members
// of a vertex were all there at the level before, and it is their next; (3) who has no next is
// there at the last level; (4) nobody may be merged before it wakes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "graph/bands.hpp"
#include "graph/graph.hpp"
#include "graph/graph_hac.hpp"
#include "pulse.hpp"

namespace ramify {

class LiveGraph {
 public:
  /// No edge will ever weigh more than `most`, which is at most 2^30.
  explicit LiveGraph(Weight most) : bands_(most) {}

  /// A point that is to come with an update; until then it is none. Of points with equal keys, the
  /// one with the smaller number ranks lower; no two have both equal.
  Vertex announce(std::uint64_t key, std::uint64_t number);

  /// What changes at once: points that go (and their edges with them), points that were announced,
  /// and edges with their new weights, 0 for none. No pair is named twice, and no point that goes.
  /// Throws Stopped if the pulse says so; the object is good for nothing then.
  void update(std::span<const Vertex> gone, std::span<const Vertex> came,
              std::span<const Edge> edges, const Pulse& pulse = {});

  std::size_t size() const { return points_; }
  bool is_announced(Vertex v) const { return v < marks_.size() && marks_[v] == kCame; }
  bool is_point(Vertex v) const {
    return v < vertices_.size() && vertices_[v].members.empty() && links_[v].count == 1;
  }
  /// The weight between two points, 0 if there is no edge.
  Weight weight(Vertex a, Vertex b) const;
  /// All edges, each once.
  std::vector<Edge> edges() const;

  /// The points by number, and the tree: leaf i is points[i].
  struct Snapshot {
    std::vector<Vertex> points;
    GraphTree tree;
  };
  Snapshot snapshot() const;

  /// Throws std::logic_error naming a broken invariant. O(levels * edges).
  void check() const;

  // --- for a tree that is kept beside the graph -------------------------------------

  /// What a merge is called by whoever keeps a tree; nothing, until somebody says so.
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFFU;
  /// Of the parts of a vertex, members first and then earlier merges, which two were merged.
  struct Merge {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t node = kNoNode;
    double weight;
  };
  std::span<const Vertex> members(Vertex v) const { return vertices_[v].members; }
  std::span<Merge> merges(Vertex v) { return vertices_[v].merges; }
  std::span<const Merge> merges(Vertex v) const { return vertices_[v].merges; }
  std::uint32_t count(Vertex v) const { return links_[v].count; }
  /// Of the point that ranks lowest.
  std::uint64_t key(Vertex v) const { return vertices_[v].key; }
  std::uint64_t number(Vertex v) const { return vertices_[v].number; }
  /// All clusters of several points, lower levels first.
  std::vector<Vertex> clusters() const;
  /// Does one come before the other among equals?
  bool ranks_before(Vertex a, Vertex b) const;
  /// The clusters that the last update has merged anew, lower levels first: some with the members
  /// that they had, whose merges go by the names that they had.
  std::span<const Vertex> written() const { return written_; }
  /// What merges were called that are no more since the last update.
  std::span<const std::uint32_t> released() const { return released_; }
  /// The clusters that no edge leaves, in no special order.
  std::span<const Vertex> ends() const { return ends_; }

  /// How many updates there have been.
  std::size_t updates() const { return updates_; }
  /// How many vertices have been merged anew so far, and how many entries of lists there are.
  std::size_t merged_anew() const { return merged_anew_; }
  std::size_t entries() const;

 private:
  using Level = std::uint16_t;
  static constexpr Level kNever = 0xFFFF;

  struct Entry {
    Vertex to;
    Weight sum;
    friend bool operator<(const Entry& a, const Entry& b) { return a.to < b.to; }
  };
  using List = std::vector<Entry>;

  /// What walks over levels read of a vertex, close together.
  struct Link {
    Vertex next = kNoVertex;
    Level death = kNever;  // the band in which it is merged
    Level birth = 0;
    Level waking = kNever;
    std::uint32_t count = 0;  // of points; 0: nobody
  };

  struct VertexData {
    std::uint64_t key = 0;  // of the point that ranks lowest
    std::uint64_t number = 0;
    List list;
    std::vector<Vertex> members;  // none: a point
    std::vector<Merge> merges;
  };

  /// What a vertex was before the update under way.
  struct Past {
    Vertex vertex;
    Level death;
    Vertex next;
    bool has_front;
    Level waking;  // by its front
    Level moving;  // of a front in the tree before: the band that first merges somebody in it
    List undo;     // what has changed in its list, and was so before
    List front;
  };

  /// What a list learns.
  struct News {
    Vertex of;
    Vertex to;
    Weight sum;
  };

  struct EdgeChange {
    Vertex a;
    Vertex b;
    Weight before;
    Weight after;
  };

  /// What an update changes at one level.
  struct Change {
    std::vector<Vertex> gone;
    std::vector<Vertex> came;
    std::vector<EdgeChange> edges;
    bool empty() const { return gone.empty() && came.empty() && edges.empty(); }
  };

  enum Mark : std::uint8_t { kStays, kGone, kCame };

  // live_graph.cpp: an update
  Change begin(std::span<const Vertex> gone, std::span<const Vertex> came,
               std::span<const Edge> edges);
  Change step(Level l, const Change& change, const Pulse& pulse);
  void finish();

  // live_graph_step.cpp: its parts
  void apply(Level l, const Change& change);
  enum class Of { kNow, kBefore };
  Past& bring_front(Level l, Vertex v, Of tree, bool& is_new);
  void find_components(Level l, const Change& change);
  void explore(Level l, Vertex from);
  bool is_one_component(Level l, Vertex a, Vertex b);
  struct Group {
    std::vector<Vertex> members;
    std::vector<Merge> merges;
  };
  std::vector<Group> groups_of(Level l, std::size_t component, const Pulse& pulse);
  void stay_single(Level l, Vertex v, Change& out);
  void make_group(Level l, Group group, Change& out);
  void list_groups(Level l, const Change& out);
  void carry_edges(Level l, const Change& change, Change& out);

  void settle_ends(const Change& change);

  Vertex new_vertex();
  bool holds(Level l, Vertex a, Vertex b, Weight sum) const {
    return bands_.holds(l, sum, std::uint64_t{links_[a].count} * links_[b].count);
  }

  // A vertex at a level, now and before the update.
  template <class Require>
  void check_lists(const Require& require) const;
  Vertex at_level(Vertex v, Level l) const {
    while (links_[v].death < l) v = links_[v].next;
    return v;
  }
  Past& remember(Vertex v);
  void wake(Vertex v, Vertex to, Weight sum) {
    links_[v].waking = std::min(links_[v].waking, first_band(v, to, sum));
  }
  Level first_band(Vertex v, Vertex to, Weight sum) const {
    const double pairs = static_cast<double>(links_[v].count) * links_[to].count;
    return static_cast<Level>(bands_.first(static_cast<double>(sum) / pairs));
  }
  const Past* past(Vertex v) const {
    return past_of_[v] == kNoVertex ? nullptr : &past_[past_of_[v]];
  }
  Level old_death(Vertex v) const {
    const Past* known = past(v);
    return known != nullptr ? known->death : links_[v].death;
  }
  Vertex old_next(Vertex v) const {
    const Past* known = past(v);
    return known != nullptr ? known->next : links_[v].next;
  }
  void neighbours(Vertex v, Level l, List& found) const;
  void old_neighbours(Vertex v, Level l, List& found) const;
  static Weight put(List& list, Vertex to, Weight sum);
  void learn(Vertex v, Vertex to, Weight sum);

  Bands bands_;
  std::vector<Link> links_;
  std::vector<VertexData> vertices_;
  std::vector<Vertex> free_;
  std::size_t points_ = 0;
  std::size_t updates_ = 0;
  std::size_t merged_anew_ = 0;
  std::vector<Vertex> ends_;  // ascending
  std::vector<Vertex> written_;
  std::vector<std::uint32_t> released_;

  // Of the update under way, or of its level.
  std::deque<Past> past_;  // more than that: lists keep their memory
  std::size_t past_used_ = 0;
  std::vector<Vertex> past_of_;  // where in past_
  std::vector<Vertex> dead_;     // to be nobody when it ends
  std::vector<Mark> marks_;      // between updates: of who was announced
  std::vector<Vertex> seeds_;
  std::vector<std::size_t> components_;  // where each begins in dirty_, and the end
  std::vector<Vertex> component_of_;
  std::vector<Vertex> dirty_;      // in the order of components
  std::vector<List> dirty_lists_;  // at this level, of dirty_; more of them than that
  std::vector<News> news_;
  List scratch_;
  std::vector<Vertex> dirty_at_;       // where in dirty_
  std::vector<Vertex> kept_;           // groups of old that are groups again
  mutable std::vector<Vertex> place_;  // of sums that are being added up
};

}  // namespace ramify
