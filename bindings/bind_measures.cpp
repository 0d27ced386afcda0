// SPDX-License-Identifier: BSD-3-Clause
// bind_measures.cpp: measures of frozen trees.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bind.hpp"
#include "measures/measures.hpp"
#include "measures/rbf_sums.hpp"
#include "measures/spread.hpp"
#include "measures/triplets.hpp"
#include "python_pulse.hpp"
#include "threads.hpp"

namespace ramify::bindings {
namespace {

using Sums = std::tuple<double, double, double>;

template <class Real>
Children tree_over(const Pairs& children, const Rows<Real>& rows) {
  const Children tree = tree_of(children);
  if (rows.shape(0) != leaf_count(tree))
    throw std::invalid_argument("rows must have one entry a leaf");
  return tree;
}

MomentSimilarity similarity_of(const std::string& name) {
  if (name == "sqeuclidean") return MomentSimilarity::kSqeuclidean;
  if (name == "cosine") return MomentSimilarity::kCosine;
  if (name == "dot") return MomentSimilarity::kDot;
  throw std::invalid_argument("unknown similarity: " + name);
}

Sums as_tuple(const PairSums& sums) { return {sums.total, sums.revenue, sums.cost}; }

template <class Real>
void bind_sums_of(nb::module_& m) {
  m.def(
      "moment_sums",
      [](const Pairs& children, const Rows<Real>& rows, const std::string& similarity,
         nb::object pulse) -> Sums {
        const Children tree = tree_over(children, rows);
        const MomentSimilarity chosen = similarity_of(similarity);
        return with_pulse(std::move(pulse), [&](const Pulse& own) {
          return as_tuple(moment_sums(tree, rows.data(), rows.shape(1), chosen, own));
        });
      },
      nb::arg("children"), nb::arg("rows").noconvert(), nb::arg("similarity"),
      nb::arg("pulse") = nb::none(),
      "Sum of similarities, revenue and cost, from node summaries; rows by leaf.");
  m.def(
      "moment_across",
      [](const Pairs& children, const Rows<Real>& rows, const std::string& similarity) {
        const Children tree = tree_over(children, rows);
        std::vector<double> across(leaf_count(tree) - 1);
        moment_sums(tree, rows.data(), rows.shape(1), similarity_of(similarity), {}, across);
        return to_numpy(std::move(across));
      },
      nb::arg("children"), nb::arg("rows").noconvert(), nb::arg("similarity"),
      "Sum of similarities between the two children of every merge; rows by leaf.");
  m.def(
      "rbf_sums",
      [](const Pairs& children, const Rows<Real>& rows, double gamma, std::size_t threads,
         nb::object pulse) -> Sums {
        const Children tree = tree_over(children, rows);
        return with_pulse(std::move(pulse), [&](const Pulse& own) {
          const RbfSums<Real> sums(tree, rows.data(), rows.shape(1), gamma);
          std::vector<PairSums> blocks(sums.blocks());
          std::atomic<std::size_t> done = 0;
          Threads helpers(threads);
          helpers.begin(blocks.size(), [&](std::size_t block, const Pulse& within) {
            blocks[block] = sums.block(block, within);
            ++done;
          });
          helpers.finish([&](std::size_t) { return own(sums.rows_before(done)); });
          return as_tuple(add_up(blocks));
        });
      },
      nb::arg("children"), nb::arg("rows").noconvert(), nb::arg("gamma"), nb::arg("threads"),
      nb::arg("pulse") = nb::none(),
      "Sum of exp(-gamma |x - y|^2), revenue and cost over all pairs; rows by leaf.");
  m.def(
      "split_gains",
      [](const Pairs& children, const Rows<Real>& rows,
         const std::optional<Vector<double>>& weights) {
        const Children tree = tree_over(children, rows);
        std::span<const double> of_leaves;
        if (weights) of_leaves = {weights->data(), weights->size()};
        if (weights && of_leaves.size() != leaf_count(tree))
          throw std::invalid_argument("weights must have one entry a leaf");
        return to_numpy(split_gains(tree, rows.data(), rows.shape(1), of_leaves, {}));
      },
      nb::arg("children"), nb::arg("rows").noconvert(), nb::arg("weights").noconvert() = nb::none(),
      "By how much splitting each merge lowers the sum of squares; rows by leaf.");
}

}  // namespace

void bind_measures(nb::module_& m) {
  bind_sums_of<float>(m);
  bind_sums_of<double>(m);
  m.def(
      "dendrogram_purity",
      [](const Pairs& children, const Vector<std::int64_t>& classes, nb::object pulse) {
        const Children tree = tree_of(children);
        const std::span<const std::int64_t> of_leaves(classes.data(), classes.size());
        if (of_leaves.size() != leaf_count(tree))
          throw std::invalid_argument("classes must have one entry a leaf");
        const auto [low, high] = std::minmax_element(of_leaves.begin(), of_leaves.end());
        if (*low < 0 || *high >= static_cast<std::int64_t>(of_leaves.size()))
          throw std::invalid_argument("classes must be numbers from 0 to the number of leaves - 1");
        const auto count = static_cast<std::size_t>(*high) + 1;
        return with_pulse(std::move(pulse), [&](const Pulse& own) {
          return dendrogram_purity(tree, of_leaves, count, own);
        });
      },
      nb::arg("children"), nb::arg("classes"), nb::arg("pulse") = nb::none(),
      "Mean purity of the lowest common ancestors of all pairs of one class.");
  m.def(
      "agreeing_triplets",
      [](const Pairs& first, const Pairs& second, nb::object pulse) {
        const Children one = tree_of(first), other = tree_of(second);
        if (leaf_count(one) != leaf_count(other))
          throw std::invalid_argument("the trees must have the same number of leaves");
        if (leaf_count(one) > kMaxTripletLeaves)
          throw std::invalid_argument("too many leaves: triples could not be counted in 64 bits");
        return with_pulse(std::move(pulse),
                          [&](const Pulse& own) { return agreeing_triplets(one, other, own); });
      },
      nb::arg("first"), nb::arg("second"), nb::arg("pulse") = nb::none(),
      "Number of triples of leaves that two trees resolve alike.");
  m.attr("max_triplet_leaves") = kMaxTripletLeaves;
}

}  // namespace ramify::bindings
