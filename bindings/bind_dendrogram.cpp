// SPDX-License-Identifier: BSD-3-Clause
// bind_dendrogram.cpp: questions about frozen trees.
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "bind.hpp"
#include "tree/best_frontier.hpp"
#include "tree/modularity.hpp"
#include "tree/pruning.hpp"

namespace ramify::bindings {

Children tree_of(const Pairs& children) {
  const Children tree(children.data(), children.size());
  const std::string wrong = what_is_wrong(tree);
  if (!wrong.empty()) throw std::invalid_argument("children is not a tree: " + wrong);
  return tree;
}

void bind_dendrogram(nb::module_& m) {
  m.def(
      "parents", [](const Pairs& children) { return to_numpy(parents_of(tree_of(children))); },
      nb::arg("children"), "Parent of every node; -1 for the root.");
  m.def(
      "sizes", [](const Pairs& children) { return to_numpy(sizes_of(tree_of(children))); },
      nb::arg("children"), "Number of leaves below every node.");
  m.def(
      "depths", [](const Pairs& children) { return to_numpy(depths_of(tree_of(children))); },
      nb::arg("children"), "Steps from the root to every node.");
  m.def(
      "monotone",
      [](const Pairs& children, const Vector<double>& heights) {
        if (heights.size() != children.shape(0))
          throw std::invalid_argument("heights must have one entry a pair of children");
        return to_numpy(monotone_heights(tree_of(children), {heights.data(), heights.size()}));
      },
      nb::arg("children"), nb::arg("heights"), "Largest height at or below every inner node.");
  m.def(
      "displacements",
      [](const Pairs& children, const Vector<double>& weights) {
        const Children tree = tree_of(children);
        if (weights.size() != 2 * leaf_count(tree) - 1)
          throw std::invalid_argument("weights must have one entry a node");
        return to_numpy(displacements(tree, {weights.data(), weights.size()}));
      },
      nb::arg("children"), nb::arg("weights"),
      "For every leaf the largest ratio of weight beside to weight, on its root path.");
  m.def(
      "leaf_layout",
      [](const Pairs& children) {
        LeafLayout layout = lay_out_leaves(tree_of(children));
        return std::tuple(to_numpy(std::move(layout.order)), to_numpy(std::move(layout.start)));
      },
      nb::arg("children"),
      "Leaves from left to right, and where in that order each node's leaves begin.");
  m.def(
      "cut_labels",
      [](const Pairs& children, std::size_t n_clusters) {
        const Children tree = tree_of(children);
        if (n_clusters < 1 || n_clusters > leaf_count(tree))
          throw std::invalid_argument("n_clusters must be between 1 and the number of leaves");
        return to_numpy(cut_labels(tree, n_clusters));
      },
      nb::arg("children"), nb::arg("n_clusters"),
      "Labels of the leaves without the last n_clusters - 1 merges, dense, by first leaf.");
  m.def(
      "split_order",
      [](const Pairs& children, const Vector<double>& gains) {
        if (gains.size() != children.shape(0))
          throw std::invalid_argument("gains must have one entry a pair of children");
        SplitOrder order = split_order(tree_of(children), {gains.data(), gains.size()});
        return std::tuple(to_numpy(std::vector<std::int64_t>(order.rows.begin(), order.rows.end())),
                          to_numpy(std::move(order.prices)));
      },
      nb::arg("children"), nb::arg("gains"),
      "Merges in the order in which pruning undoes them, and the price of each.");
  m.def(
      "best_frontier",
      [](const Pairs& children, const Vector<double>& gains, const Vector<double>& prizes,
         double weight, std::size_t n_clusters) {
        const Children tree = tree_of(children);
        if (gains.size() != children.shape(0) || prizes.size() != 2 * gains.size() + 1)
          throw std::invalid_argument("gains must have one entry a merge, prizes one a node");
        if (n_clusters < 1 || n_clusters > leaf_count(tree))
          throw std::invalid_argument("n_clusters must be between 1 and the number of leaves");
        return to_numpy(best_frontier(tree, {gains.data(), gains.size()},
                                      {prizes.data(), prizes.size()}, weight, n_clusters));
      },
      nb::arg("children"), nb::arg("gains"), nb::arg("prizes"), nb::arg("weight"),
      nb::arg("n_clusters"),
      "Of all cuts into this many clusters the best: gains of what is undone, prizes of clusters.");
  m.def(
      "best_by_modularity",
      [](const Pairs& children, const Pairs& ends, const Vector<double>& weights,
         double resolution) {
        const Children tree = tree_of(children);
        const std::span<const std::int64_t> of_edges(ends.data(), ends.size());
        if (weights.size() != ends.shape(0))
          throw std::invalid_argument("weights must have one entry a pair of ends");
        const auto leaves = static_cast<std::int64_t>(leaf_count(tree));
        for (const std::int64_t end : of_edges)
          if (end < 0 || end >= leaves)
            throw std::invalid_argument("the ends of edges must be leaves");
        BestCut cut =
            best_by_modularity(tree, of_edges, {weights.data(), weights.size()}, resolution);
        return std::tuple(to_numpy(std::move(cut.nodes)), cut.modularity);
      },
      nb::arg("children"), nb::arg("ends"), nb::arg("weights"), nb::arg("resolution"),
      "Of all cuts the best by modularity on a graph of the leaves: its nodes, and how good it "
      "is.");
}

}  // namespace ramify::bindings
