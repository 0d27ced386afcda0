// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/otd_ties.hpp"

#include <algorithm>
#include <array>

#include "math/expansion.hpp"

namespace ramify {
namespace {

constexpr double kLeastWeight = 0x1p-100, kMostWeight = 0x1p100;
constexpr std::size_t kSome = 8;  // columns that are added up together

bool is_within(double value, double least, double most) {
  const double size = std::fabs(value);
  return value == 0 || (size >= least && size <= most);
}

/// The leaves below a node, from left to right, without any memory, as long as `use` goes on.
template <class Real, class Use>
void for_each_leaf(const Tree<Real>& tree, NodeId top, Use&& use) {
  NodeId v = top;
  for (;;) {
    while (!v.is_leaf()) v = tree.left(v);
    if (!use(v)) return;
    while (v != top && tree.right(tree.parent(v)) == v) v = tree.parent(v);
    if (v == top) return;
    v = tree.right(tree.parent(v));
  }
}

/// n, Q, P and |S|^2 of a subtree and a row.
template <class Real>
struct Sums {
  Expansion n, squares, with_x, own;
  bool possible = true;

  Sums(const Tree<Real>& tree, NodeId top, const Real* x) {
    for_each_leaf(tree, top, [&](NodeId leaf) {
      const Standing standing = tree.standing(leaf);
      possible =
          possible && is_within(standing.weight, kLeastWeight, kMostWeight) && standing.ssd == 0;
      n.add(standing.weight);
      return possible;
    });
    for (std::size_t from = 0; possible && from < tree.dim(); from += kSome)
      add_columns(tree, top, x, from, std::min(from + kSome, tree.dim()));
  }
  bool fits() const {
    return possible && n.fits() && squares.fits() && with_x.fits() && own.fits();
  }

 private:
  void add_columns(const Tree<Real>& tree, NodeId top, const Real* x, std::size_t from,
                   std::size_t to) {
    std::array<Expansion, kSome> sums;
    for_each_leaf(tree, top, [&](NodeId leaf) {
      const Real* const row = tree.points().row(leaf.row());
      const double weight = tree.weight(leaf);
      for (std::size_t j = from; j < to; ++j) {
        const auto value = static_cast<double>(row[j]);
        possible = possible && is_within(value, kLeastRow, kMostRow);
        if (weight == 1) {
          sums[j - from].add(value);
          squares.add_product(value, value);
          continue;
        }
        Expansion weighed;
        weighed.add_product(weight, value);
        sums[j - from].add_product(weighed, 1);
        squares.add_product(weighed, value);
      }
      return possible;
    });
    for (std::size_t j = from; j < to; ++j) {
      const auto here = static_cast<double>(x[j]);
      possible = possible && is_within(here, kLeastRow, kMostRow);
      with_x.add_product(sums[j - from], here);
      own.add_product(sums[j - from], sums[j - from]);
    }
  }
};

template <class Real>
Expansion length_of(const Real* x, std::size_t dim) {
  Expansion out;
  for (std::size_t j = 0; j < dim; ++j)
    out.add_product(static_cast<double>(x[j]), static_cast<double>(x[j]));
  return out;
}

}  // namespace

template <class Real>
std::optional<bool> is_nearer_than_within(const Tree<Real>& tree, NodeId t, const Real* x,
                                          Metric metric) {
  const Sums<Real> of(tree, t, x);
  Expansion others = of.n;
  others.add(-1);
  if (!of.fits() || others.sign() <= 0) return {};
  Expansion difference;  // above zero if x is nearer
  if (metric == Metric::kDot) {
    difference = others.times(of.with_x).plus(-1, of.own).plus(1, of.squares);
  } else {
    const Expansion to_x =
        of.squares.plus(-2, of.with_x).plus(1, of.n.times(length_of(x, tree.dim())));
    const Expansion within = of.n.times(of.squares).plus(-1, of.own);
    difference = Expansion().plus(2, within).plus(-1, others.times(to_x));
  }
  if (!difference.fits()) return {};
  return difference.sign() > 0;
}

template <class Real>
std::optional<bool> is_no_nearer(const Tree<Real>& tree, NodeId a, NodeId b, const Real* x,
                                 Metric metric) {
  const Sums<Real> of_a(tree, a, x), of_b(tree, b, x);
  if (!of_a.fits() || !of_b.fits()) return {};
  const auto similarity = [&](const Sums<Real>& of) {  // n times it, |x|^2 aside
    return metric == Metric::kDot ? of.with_x : Expansion().plus(2, of.with_x).plus(-1, of.squares);
  };
  const Expansion difference =
      of_b.n.times(similarity(of_a)).plus(-1, of_a.n.times(similarity(of_b)));
  if (!difference.fits()) return {};
  return difference.sign() <= 0;
}

#define RAMIFY_OF(Real)                                                                      \
  template std::optional<bool> is_nearer_than_within(const Tree<Real>&, NodeId, const Real*, \
                                                     Metric);                                \
  template std::optional<bool> is_no_nearer(const Tree<Real>&, NodeId, NodeId, const Real*, Metric)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
