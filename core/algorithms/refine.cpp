// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/refine.hpp"

#include <vector>

#include "algorithms/interchange.hpp"

namespace ramify {
namespace {

/// Nodes whose interchanges have to be looked at again.
class Open {
 public:
  explicit Open(std::size_t slots) : open_(slots, 1) {}

  bool take(Slot slot) {
    const bool was = open_[slot] != 0;
    open_[slot] = 0;
    return was;
  }
  void add(NodeId v) {
    if (!v.is_leaf()) open_[v.slot()] = 1;
  }
  /// Of an inner node, whatever depends on which its children are, or on its points.
  template <class Real>
  void add_around(const Tree<Real>& tree, NodeId v) {
    add(v);
    add(tree.left(v));
    add(tree.right(v));
  }

 private:
  std::vector<std::uint8_t> open_;
};

}  // namespace

template <class Real>
Refinement refine(Tree<Real>& tree, Metric metric, std::size_t sweeps, double slack,
                  const Pulse& pulse) {
  Refinement done;
  Open open(tree.slots());
  while (done.sweeps < sweeps && !done.converged && pulse(done.sweeps)) {
    const std::uint64_t before = done.interchanges;
    for (const Slot slot : tree.bottom_up()) {
      const NodeId v = NodeId::inner(slot);
      if (v == tree.root() || !open.take(slot)) continue;
      if (!interchange_if_better(tree, metric, v, slack)) continue;
      ++done.interchanges;
      open.add_around(tree, v);
      open.add_around(tree, tree.parent(v));
    }
    ++done.sweeps;
    done.converged = done.interchanges == before;
  }
  for (const Slot slot : tree.bottom_up()) tree.summarise(slot);
  return done;
}

template Refinement refine(Tree<float>&, Metric, std::size_t, double, const Pulse&);
template Refinement refine(Tree<double>&, Metric, std::size_t, double, const Pulse&);

}  // namespace ramify
