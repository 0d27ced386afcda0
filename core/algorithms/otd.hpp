// SPDX-License-Identifier: BSD-3-Clause
// otd.hpp: online top-down insertion, the paper's Algorithm 1.
//
//   T  the subtree the walk is at     A, B  its left and right child
//   w(T)    mean similarity of T's pairs of points
//   w(T,x)  mean similarity of x to T's points
//
// Stop where |T| = 1 or w(T) >= w(T,x): x becomes T's sibling. Otherwise go to
// B if w(A,x) <= w(B,x), else to A. Similarities are minus the squared distance
// (cosine: the same on unit rows, an affine change that keeps every comparison)
// or the inner product; both means come from the summary in O(dim).
//
// Two variants that are not the paper's. The split rule stops where
// w(A,B) >= max(w(A,x), w(B,x)): where the two children are as alike as x is to either,
// x splits off before they do. Rotating, x goes back up its path with interchanges.
#pragma once

#include <optional>

#include "algorithms/algorithm.hpp"

namespace ramify {

template <class Real>
class Otd;

struct OtdOptions {
  bool certify = false;  // under dot or cosine: keep a certificate
  bool split = false;    // stop by the split rule
  bool rotate = false;   // interchanges on the way back up
  template <class Real>
  using Type = Otd<Real>;
};

template <class Real>
class Otd final : public Algorithm<Real> {
 public:
  Otd(std::size_t dim, const Rule& rule, const OtdOptions& options);

  /// A certificate is of a tree that grew here.
  bool takes_any_shape() const override { return !certificate_; }
  std::size_t stride() const override { return 256; }  // a tenth of a microsecond each
  /// With a certificate, whose w is the inner product of the rows as stored: none with
  /// negative numbers.
  bool takes(std::span<const Real> row) const override;
  /// O(depth * dim), and shuffled data walks two or three steps, however deep the tree is.
  bool insert(Tree<Real>& tree, NodeId leaf, std::span<const Neighbour> nearest,
              const Neighbours<Real>* index, const Pulse& pulse) override;
  /// Takes out a leaf and its parent; what is above is summarised anew. O(depth * dim).
  void erase(Tree<Real>& tree, NodeId leaf) override;
  void weigh(Tree<Real>& tree, NodeId leaf, Standing standing) override;
  bool weighs() const override { return !certificate_; }
  const Certificate* certificate() const override {
    return certificate_ ? &*certificate_ : nullptr;
  }
  Memory memory(const Tree<Real>& tree) const override;
  void restore(const Tree<Real>& tree, const Memory& memory) override;

 private:
  Metric metric_;
  bool split_, rotate_;
  std::optional<Certificate> certificate_;
};

}  // namespace ramify
