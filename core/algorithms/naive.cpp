// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/naive.hpp"

#include "algorithms/hac.hpp"

namespace ramify {
namespace {

template <class Real>
void detach(Tree<Real>& tree, NodeId leaf) {
  if (const NodeId beside = tree.detach(leaf); beside != kNone)
    tree.mark_stale(tree.parent(beside));
}

}  // namespace

template <class Real>
bool NaiveHac<Real>::rebuild(Tree<Real>& tree, const Pulse& pulse, Helpers& helpers) {
  return build_hac(tree, rule_.metric, rule_.linkage, pulse, helpers);
}

/// Until the batch ends and the tree is made anew, anywhere will do.
template <class Real>
bool NaiveHac<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> /*nearest*/,
                            const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) {
  hang_beside(tree, leaf, tree.root());
  return true;
}

template <class Real>
void NaiveHac<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  detach(tree, leaf);
}

template <class Real>
bool NaiveNn<Real>::insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
                           const Neighbours<Real>* /*index*/, const Pulse& /*pulse*/) {
  hang_beside(tree, leaf, first_of(nearest));
  return true;
}

template <class Real>
void NaiveNn<Real>::erase(Tree<Real>& tree, NodeId leaf) {
  detach(tree, leaf);
}

template class NaiveHac<float>;
template class NaiveHac<double>;
template class NaiveNn<float>;
template class NaiveNn<double>;

}  // namespace ramify
