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
//   floor   of a vertex: with fewer points than this it is not that vertex any more. Waking is
//             reckoned with floors, so that it holds whatever comes and goes above them.
//   front   of a vertex that came, is gone or has changed with the update under way: its
//             neighbours at the level where the update is, or in the tree as it was
//
// A mean never exceeds its largest term, so the merges of a band never leave a component, and
// what happens in one has no bearing on another. An update goes from level to level: it knows
// which vertices are gone and came there, which others have changed, as they have other points
// than before, and between which vertices weights have changed; it merges the components anew
// that hold a change; and it sees what is gone, came and has changed at the next level. A
// cluster that gains or loses a few of its points stays the vertex that it was: so lists that
// name it stay as they are, but for the sums that are others. Which vertex a cluster is has no
// bearing on the tree. Where nothing changes any more it ends. docs/math.md, "Trees of graphs".
//
// Invariants, which check() tests: (1) a list is sorted, names vertices that are there at the
// level of its birth, once each, with the sum of the weights between their points; (2) members
// of a vertex were all there at the level before, and it is their next; (3) who has no next is
// there at the last level; (4) nobody may be merged before it wakes, or has less than its floor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/bands.hpp"
#include "graph/contraction.hpp"
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
  /// What vertices and their lists take between updates, without what is kept for the next one.
  std::size_t bytes() const;

 private:
  using Level = std::uint16_t;
  static constexpr Level kNever = 0xFFFF;

  /// A weight in two halves: so an entry takes 12 bytes.
  class Halves {
   public:
    Halves(Weight sum = 0)  // NOLINT(google-explicit-constructor): it stands for it
        : low_(static_cast<std::uint32_t>(sum)), high_(static_cast<std::uint32_t>(sum >> 32)) {}
    operator Weight() const {  // NOLINT(google-explicit-constructor)
      return Weight{high_} << 32 | low_;
    }
    Halves& operator+=(Weight more) { return *this = Weight{*this} + more; }

   private:
    std::uint32_t low_;
    std::uint32_t high_;
  };
  struct Entry {
    Vertex to;
    Halves sum;
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
    std::uint32_t floor = 0;  // with fewer points it is another vertex
  };

  struct VertexData {
    std::uint64_t key = 0;  // of the point that ranks lowest
    std::uint64_t number = 0;
    List list;
    std::vector<Vertex> members;  // none: a point
    std::vector<Merge> merges;
  };

  /// What a vertex was before the update under way; between updates, what it is.
  struct Was {
    Vertex next = kNoVertex;
    std::uint32_t count = 0;
    Level death = kNever;
  };

  /// What an update knows of a vertex that it touches.
  struct Past {
    Vertex vertex;
    Vertex heir_of;  // of one that came: who is gone and had most of its points
    bool is_taken;   // of a group: it is one again
    bool has_front;
    bool is_before;    // its front is of the tree before
    Level asleep;      // nothing merges it before this band, now
    Level was_asleep;  // the same in the tree before, by its front
    List undo;         // what has changed in its list, and was so before
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
    std::vector<Vertex> changed;
    std::vector<EdgeChange> edges;
    bool empty() const { return gone.empty() && came.empty() && changed.empty() && edges.empty(); }
    void clear() {
      gone.clear();
      came.clear();
      changed.clear();
      edges.clear();
    }
  };

  enum Mark : std::uint8_t { kStays, kGone, kCame, kChanged };
  // Besides, while a change goes to the next level.
  enum Way : std::uint8_t { kMoves = 1, kGoes = 2, kComes = 4 };

  // live_graph.cpp: an update
  void begin(std::span<const Vertex> gone, std::span<const Vertex> came,
             std::span<const Edge> edges, Change& change);
  void step(Level l, const Change& change, Change& out, const Pulse& pulse);
  void finish();

  // live_graph_step.cpp: its parts
  void apply(Level l, const Change& change);
  enum class Of { kNow, kBefore };
  Past& bring_front(Level l, Vertex v, Of tree, std::size_t& first_new);
  void seed_front(Level l, Past& known);
  void seed_changed(Level l, Vertex v);
  void find_components(Level l, const Change& change);
  void explore(Level l, Vertex from);
  bool is_one_component(Level l, Vertex a, Vertex b);
  struct Group {
    std::span<const Vertex> members;
    std::span<const Merge> merges;
  };
  void merge_component(Level l, std::size_t component, const Pulse& pulse);
  void merge_two(std::size_t first);
  void part_groups(std::size_t k, std::span<const Vertex> members);
  void stay_single(Level l, Vertex v, Change& out);
  Vertex number_of(Level l, const Group& group);
  Vertex before(Vertex v) const;
  void make_group(Level l, const Group& group, Change& out);
  void list_groups(Level l, const Change& out);
  void carry_edges(Level l, const Change& change, Change& out);
  void carry_moves(Level l, Change& out);
  void settle_edges(Level l, Change& out);

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
  Past& remember(Vertex v) {
    return past_of_[v] != kNoVertex ? past_[past_of_[v]] : remember_anew(v);
  }
  Past& remember_anew(Vertex v);
  void wake(Vertex v, Vertex to, Weight sum) {
    const double pairs = static_cast<double>(links_[v].floor) * links_[to].floor;
    const double mean = static_cast<double>(sum) / pairs;
    if (bands_.comes_before(links_[v].waking, mean))
      links_[v].waking = static_cast<Level>(bands_.first(mean));
  }
  /// Nothing merges it before this band, now.
  Level waking(Vertex v) const {
    const Past* known = past(v);
    return known != nullptr ? std::max(known->asleep, links_[v].waking) : links_[v].waking;
  }
  void fall_asleep(Vertex v, const List& neighbours);
  const Past* past(Vertex v) const {
    return past_of_[v] == kNoVertex ? nullptr : &past_[past_of_[v]];
  }
  Level old_death(Vertex v) const { return was_[v].death; }
  Vertex old_next(Vertex v) const { return was_[v].next; }
  std::uint32_t old_count(Vertex v) const { return was_[v].count; }
  bool held(Level l, Vertex a, Vertex b, Weight sum) const {
    return bands_.holds(l, sum, std::uint64_t{old_count(a)} * old_count(b));
  }
  /// Its vertex one level up, now and before.
  Vertex up(Level l, Vertex v) const { return links_[v].death == l ? links_[v].next : v; }
  Vertex old_up(Level l, Vertex v) const { return old_death(v) == l ? old_next(v) : v; }
  void neighbours(Vertex v, Level l, List& found) const;
  void old_neighbours(Vertex v, Level l, List& found) const;
  /// Another entry of a list in which nobody is to be twice, until all are gathered.
  void gather(List& found, Vertex to, Weight sum) const {
    if (place_[to] == kNoVertex) {
      place_[to] = static_cast<Vertex>(found.size());
      found.push_back({to, 0});
    }
    found[place_[to]].sum += sum;
  }
  void end_gathering(const List& found, std::size_t first = 0) const {
    for (std::size_t i = first; i < found.size(); ++i) place_[found[i].to] = kNoVertex;
  }
  static Weight put(List& list, Vertex to, Weight sum);
  void learn(Vertex v, Vertex to, Weight sum);

  Bands bands_;
  std::vector<Link> links_;
  std::vector<Was> was_;
  std::vector<VertexData> vertices_;
  std::vector<Vertex> free_;
  std::size_t points_ = 0;
  std::size_t updates_ = 0;
  std::size_t merged_anew_ = 0;
  std::vector<Vertex> ends_;  // ascending
  std::vector<Vertex> written_;
  std::vector<std::uint32_t> released_;

  // Of the update under way, or of its level.
  std::vector<Past> past_;  // more than that: lists keep their memory
  std::size_t past_used_ = 0;
  std::vector<Vertex> past_of_;  // where in past_
  Change now_, next_;
  std::vector<Vertex> dead_;  // to be nobody when it ends
  std::vector<Vertex> old_groups_;
  std::vector<Mark> marks_;  // between updates: of who was announced
  std::vector<Vertex> seeds_;
  std::vector<std::size_t> components_;  // where each begins in dirty_, and the end
  std::vector<Vertex> component_of_;
  std::vector<Vertex> dirty_;      // in the order of components
  std::vector<List> dirty_lists_;  // at this level, of dirty_; more of them than that
  std::vector<News> news_;
  List scratch_;
  std::vector<Vertex> dirty_at_;  // where in dirty_
  // What a component is merged to: parts of each group, one group after the other.
  Contraction contraction_;
  std::vector<std::uint32_t> order_, ranks_, counts_, node_, done_, group_, at_;
  std::vector<Merge> merges_;
  std::vector<Vertex> group_members_;
  std::vector<Merge> group_merges_;
  std::vector<std::uint32_t> member_end_, merge_end_;  // of each group
  std::vector<std::uint8_t> ways_;                     // bits of Way
  std::vector<Vertex> moved_;
  mutable std::vector<Vertex> place_;  // of sums that are being added up
};

}  // namespace ramify
