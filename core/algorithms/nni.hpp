// SPDX-License-Identifier: BSD-3-Clause
// nni.hpp: OHAC with a cheaper repair: interchanges up the path instead of HAC of it.
//
// A new point becomes the sibling of its nearest leaf. On the way from there to the root
// every node that is passed makes the interchange (interchange.hpp) that gains the most,
// and so does its sibling. A point that leaves, or gets another weight, does the same from
// its place up. Linkage plays no part: what is compared are mean similarities.
#pragma once

#include "algorithms/algorithm.hpp"

namespace ramify {

template <class Real>
class Nni;

struct NniOptions {
  template <class Real>
  using Type = Nni<Real>;
};

template <class Real>
class Nni final : public Algorithm<Real> {
 public:
  Nni(std::size_t /*dim*/, const Rule& rule, const NniOptions& /*options*/)
      : metric_(rule.metric) {}

  std::size_t neighbours() const override { return 1; }
  bool takes_near_neighbours() const override { return true; }
  bool takes_any_shape() const override { return true; }
  /// O(path * dim), and so are the other two.
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  void erase(Tree<Real>& tree, NodeId leaf) override;
  void weigh(Tree<Real>& tree, NodeId leaf, Standing standing) override;

 private:
  Metric metric_;
};

}  // namespace ramify
