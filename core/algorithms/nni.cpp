// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/nni.hpp"

#include "algorithms/interchange.hpp"

namespace ramify {

template <class Real>
bool Nni<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                       const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) {
  const NodeId y = first_of(nearest);
  if (y == kNone)
    tree.set_root(leaf);
  else
    interchange_upwards(tree, metric_, tree.attach(leaf, y), true);
  return true;
}

template <class Real>
void Nni<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  if (const NodeId beside = tree.detach(leaf); beside != kNone)
    interchange_upwards(tree, metric_, beside, true);
}

template <class Real>
void Nni<Real>::weigh(Tree<Real>& tree, NodeId leaf, Standing standing) {
  tree.weigh(leaf, standing);
  interchange_upwards(tree, metric_, leaf, true);
}

template class Nni<float>;
template class Nni<double>;

}  // namespace ramify
