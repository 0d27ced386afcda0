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

/// The same in doubles, and how large the terms are: rounding is beside that. Squared distances are
/// counted from x. Most comparisons that summaries cannot settle are not as close as that, and the
/// exact sums of a few hundred leaves take a millisecond.
template <class Real>
struct RoughSums {
  double n = 0, squares = 0, with_x = 0, own = 0, sizes = 0;  // sizes: of the terms of with_x
  double doubt = 0;  // rounding moves no sum by more than this share of its terms
  bool possible = true;

  RoughSums(const Tree<Real>& tree, NodeId top, const Real* x, Metric metric) {
    for (std::size_t from = 0; possible && from < tree.dim(); from += kMany)
      add_columns(tree, top, x, metric, from, std::min(from + kMany, tree.dim()));
    constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
    doubt =
        16 * kUnit * (static_cast<double>(tree.count(top)) * static_cast<double>(tree.dim()) + 16);
  }

 private:
  static constexpr std::size_t kMany = 32;  // columns that are added up together

  void add_columns(const Tree<Real>& tree, NodeId top, const Real* x, Metric metric,
                   std::size_t from, std::size_t to) {
    std::array<double, kMany> sums{};
    double points = 0;
    for_each_leaf(tree, top, [&](NodeId leaf) {
      const Standing standing = tree.standing(leaf);
      possible =
          possible && is_within(standing.weight, kLeastWeight, kMostWeight) && standing.ssd == 0;
      points += standing.weight;
      const Real* const row = tree.points().row(leaf.row());
      for (std::size_t j = from; j < to; ++j) {
        const auto value = static_cast<double>(row[j]), here = static_cast<double>(x[j]);
        possible = possible && is_within(value, kLeastRow, kMostRow) &&
                   is_within(here, kLeastRow, kMostRow);
        const double term = metric == Metric::kDot ? value : value - here;
        sums[j - from] += standing.weight * term;
        squares += standing.weight * (term * term);
        with_x += standing.weight * (value * here);
        sizes += standing.weight * std::fabs(value * here);
      }
      return possible;
    });
    n = points;
    for (std::size_t j = 0; j < to - from; ++j) own += sums[j] * sums[j];
  }
};

/// Is this difference above zero? Nothing if it may have been moved there.
std::optional<bool> is_surely_positive(double difference, double doubt) {
  if (!(std::fabs(difference) > doubt)) return {};
  return difference > 0;
}

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
  const RoughSums<Real> rough(tree, t, x, metric);
  if (!rough.possible) return {};
  if (const double n = rough.n, others = n - 1; others > 0.5) {
    const bool of_products = metric == Metric::kDot;
    const double gain = of_products ? others * rough.with_x - rough.own + rough.squares
                                    : 2 * (n * rough.squares - rough.own) - others * rough.squares;
    const double terms = n * rough.squares + (of_products ? n * rough.sizes : 0);
    if (const auto sure = is_surely_positive(gain, rough.doubt * terms)) return sure;
  }
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
  const RoughSums<Real> rough_a(tree, a, x, metric), rough_b(tree, b, x, metric);
  if (!rough_a.possible || !rough_b.possible) return {};
  const bool of_products = metric == Metric::kDot;
  const auto larger = [&](const RoughSums<Real>& of) {
    return of_products ? of.with_x : -of.squares;
  };
  const auto terms = [&](const RoughSums<Real>& of) { return of_products ? of.sizes : of.squares; };
  const double over = rough_a.n * larger(rough_b) - rough_b.n * larger(rough_a);
  const double doubt =
      (rough_a.doubt + rough_b.doubt) * (rough_a.n * terms(rough_b) + rough_b.n * terms(rough_a));
  if (const auto sure = is_surely_positive(over, doubt)) return sure;
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
