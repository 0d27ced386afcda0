// SPDX-License-Identifier: BSD-3-Clause
// naive.hpp: the paper's two naive algorithms.
//
//   Naive_1  offline HAC of everything, at the end of every batch
//   Naive_2  a point becomes the sibling of its nearest leaf, and nothing else moves
#pragma once

#include "algorithms/algorithm.hpp"

namespace ramify {

template <class Real>
class NaiveHac;
template <class Real>
class NaiveNn;

struct NaiveHacOptions {
  template <class Real>
  using Type = NaiveHac<Real>;
};
struct NaiveNnOptions {
  template <class Real>
  using Type = NaiveNn<Real>;
};

template <class Real>
class NaiveHac final : public Algorithm<Real> {
 public:
  NaiveHac(std::size_t /*dim*/, const Rule& rule, const NaiveHacOptions& /*options*/)
      : rule_(rule) {}

  bool rebuilds() const override { return true; }
  /// The caller has the tree made anew afterwards.
  void erase(Tree<Real>& tree, NodeId leaf) override;
  bool rebuild(Tree<Real>& tree, const Pulse& pulse, Helpers& helpers) override;
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;

 private:
  Rule rule_;
};

template <class Real>
class NaiveNn final : public Algorithm<Real> {
 public:
  NaiveNn(std::size_t /*dim*/, const Rule& /*rule*/, const NaiveNnOptions& /*options*/) {}

  std::size_t neighbours() const override { return 1; }
  bool takes_any_shape() const override { return true; }
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  void erase(Tree<Real>& tree, NodeId leaf) override;
};

}  // namespace ramify
