// SPDX-License-Identifier: BSD-3-Clause
// neighbour_tree.hpp: average linkage on the graph of nearest rows, exactly, while rows come and
// go.
//
// Lists of nearest rows (graph/neighbour_lists.hpp) make a graph, whose clusters are kept up to
// date band by band (graph/live_graph.hpp). What an update has merged anew is joined anew in the
// tree. All three follow from the rows that are there: the tree depends on no order, nor on how
// rows are cut into batches. A batch is one update.
//
// An inner node's id is the number of a point, too: the points of every node have an earliest one,
// and a merge is where the later of two such is earliest no longer. So ids follow from the tree.
//
// Where memory runs out within an update, lists and graph are thrown away, and made again from the
// rows when they are needed. The tree is changed afterwards, when nothing can fail.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "graph/live_graph.hpp"
#include "graph/neighbour_lists.hpp"

namespace ramify {

template <class Real>
class NeighbourTree;

struct NeighbourTreeOptions {
  std::size_t k = 15;
  NeighbourWeight weight = NeighbourWeight::kSnn;
  template <class Real>
  using Type = NeighbourTree<Real>;
};

template <class Real>
class NeighbourTree final : public Algorithm<Real> {
 public:
  NeighbourTree(std::size_t dim, const Rule& rule, const NeighbourTreeOptions& options);

  bool weighs() const override { return false; }
  bool takes_batches() const override { return true; }
  bool gives_heights() const override { return true; }
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  bool change(Tree<Real>& tree, RowSlot begin, std::span<const RowSlot> leaving, const Pulse& pulse,
              Helpers& helpers) override;
  void renumber(std::span<const RowSlot> new_slot) override;
  Memory memory(const Tree<Real>& tree) const override;
  void restore(const Tree<Real>& tree, const Memory& memory) override;
  void check(const Tree<Real>& tree) const override;

 private:
  using Item = typename NeighbourLists<Real>::Item;

  /// What is known of the rows in the tree.
  struct State {
    NeighbourLists<Real> lists;
    LiveGraph graph;
    std::vector<Vertex> vertex;  // by item
    std::vector<Item> item;      // by vertex, of points

    State(std::size_t dim, const NeighbourRule& rule) : lists(dim, rule), graph(rule.most()) {}
    void update(std::span<const Vertex> gone, const RowStore<Real>& points,
                std::span<const RowSlot> rows, const Pulse& pulse = {});
  };
  /// A cluster that is to be joined with others at 0.
  struct End {
    std::uint32_t count;
    std::uint64_t key;
    std::uint64_t number;
    Vertex vertex;
    NodeId node;
    friend bool operator>(const End& a, const End& b) {
      return std::tie(a.count, a.key, a.number) > std::tie(b.count, b.key, b.number);
    }
  };
  /// All that a change of the tree needs.
  struct Plan {
    std::vector<RowSlot> coming;  // rows
    std::vector<Vertex> written;  // clusters that are to be joined, lower levels first
    std::vector<Slot> spare;      // slots of merges that are no more
    std::vector<End> ends;
    std::vector<Slot> top;
  };

  static std::vector<RowSlot> living(const RowStore<Real>& points, RowSlot first,
                                     std::span<const RowSlot> leaving, RowSlot end = kNoRow);
  void start(const RowStore<Real>& points, std::span<const RowSlot> rows, const Pulse& pulse,
             Helpers& helpers);
  void resume(const RowStore<Real>& points, std::span<const RowSlot> rows);
  void go_on(const RowStore<Real>& points, const Plan& plan, std::span<const RowSlot> leaving);
  void prepare(Tree<Real>& tree, Plan& plan);
  void write(Tree<Real>& tree, Plan& plan, std::span<const RowSlot> leaving) noexcept;
  NodeId join_ends(Tree<Real>& tree, Plan& plan);
  Slot take_slot(Tree<Real>& tree, Plan& plan);
  void join(Tree<Real>& tree, NodeId a, NodeId b, double height, Slot slot);
  NodeId node(Vertex v) const;

  static constexpr RowSlot kNoRow = 0xFFFFFFFFU;

  std::size_t dim_;
  NeighbourRule rule_;
  std::unique_ptr<State> state_;
  bool is_new_ = false;                      // the tree knows nothing of the state
  std::vector<Slot> top_;                    // merges at 0
  std::vector<std::uint32_t> stored_lists_;  // of a file, until they are needed; by place
};

}  // namespace ramify
