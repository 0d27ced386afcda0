// SPDX-License-Identifier: BSD-3-Clause
// bind_options.cpp: what a tree is to be like, one function for each algorithm
// (core/algorithms/registry.hpp) with the options that it has.
//
// An option that an algorithm lacks, a missing one and one of another type are refused by the call;
// mypy finds them before, from the stub.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <random>
#include <string>

#include "live_options.hpp"

namespace ramify::bindings {
namespace {

using Name = std::optional<std::string>;  // None is called "none"
using Number = std::optional<std::size_t>;

// In the order of the enums.
constexpr std::array kUpdates{"hac", "nni"};
constexpr std::array kOtdRules{"paper", "split"};
constexpr std::array kBounds{"reference", "sound"};
constexpr std::array kBalances{"reference", "python", "none"};
constexpr std::array kNeighbourWeights{"snn", "jaccard", "similarity"};
constexpr std::array kGrafts{"reference", "full", "none"};

Options with(const std::string& metric, const std::string& linkage, AlgorithmOptions own,
             bool count_repeats = false) {
  const Rule rule{parse<Metric>(metric, kMetrics, "metric"),
                  parse<Linkage>(linkage, kLinkages, "linkage")};
  return {rule, own, count_repeats};
}

std::size_t at_least_one(std::size_t n_neighbors) {
  if (n_neighbors < 1) throw std::invalid_argument("n_neighbors must be at least 1");
  return n_neighbors;
}

/// Of near neighbours. `from` is for tests: rows from which on there are cells.
CellOptions cells_of(double recall, Number from) {
  if (!(recall > 0 && recall < 1)) throw std::invalid_argument("recall must be between 0 and 1");
  CellOptions out;
  out.recall = recall;
  if (from) out.first = out.epoch = *from;
  out.fit = std::min(out.fit, out.first);
  return out;
}

Options ohac(const std::string& metric, const std::string& linkage, std::size_t n_neighbors,
             const std::string& update, std::optional<double> recall, Number cells_from,
             Number max_leaves, bool track_members, bool polish, bool count_repeats) {
  const std::size_t k = at_least_one(n_neighbors);
  const bool swaps = parse<std::size_t>(update, kUpdates, "update") == 1;
  Options out = with(metric, linkage,
                     swaps ? AlgorithmOptions(NniOptions{}) : AlgorithmOptions(OhacOptions{k}),
                     count_repeats);
  if (recall) out.cells = cells_of(*recall, cells_from);
  out.max_leaves = max_leaves.value_or(0);
  out.track_members = track_members;
  out.polish = polish;
  return out;
}

Options otd(const std::string& metric, const std::string& linkage, bool certify,
            const std::string& rule, bool rotate, bool count_repeats) {
  const bool splits = parse<std::size_t>(rule, kOtdRules, "rule") == 1;
  return with(metric, linkage, OtdOptions{certify, splits, rotate}, count_repeats);
}

/// Of an algorithm without options.
template <class Own>
Options plain(const std::string& metric, const std::string& linkage, bool count_repeats) {
  return with(metric, linkage, Own{}, count_repeats);
}

Options random_cut(const std::string& metric, const std::string& linkage,
                   std::optional<std::uint64_t> random_state, bool count_repeats) {
  const std::uint64_t seed = random_state ? *random_state : std::uint64_t{std::random_device{}()};
  return with(metric, linkage, RandomCutOptions{seed}, count_repeats);
}

Options neighbour_tree(const std::string& metric, const std::string& linkage,
                       std::size_t n_neighbors, const std::string& weight) {
  const auto kind = parse<NeighbourWeight>(weight, kNeighbourWeights, "weight");
  return with(metric, linkage, NeighbourTreeOptions{at_least_one(n_neighbors), kind});
}

Options perch(const std::string& metric, const std::string& linkage, const std::string& bounds,
              const Name& balance, std::size_t exact_distance_threshold, Number max_leaves,
              bool count_repeats) {
  return with(metric, linkage,
              PerchOptions{parse<Bounds>(bounds, kBounds, "bounds"),
                           parse<Balance>(balance.value_or("none"), kBalances, "balance"),
                           exact_distance_threshold, max_leaves.value_or(0)},
              count_repeats);
}

Options grinch(const std::string& metric, const std::string& linkage, const Name& graft,
               bool restructure, Number rotate_cap, Number graft_cap, Number restructure_cap) {
  constexpr std::size_t kNoCap = GrinchOptions::kNoCap;
  return with(metric, linkage,
              GrinchOptions{parse<Graft>(graft.value_or("none"), kGrafts, "graft"), restructure,
                            rotate_cap.value_or(kNoCap), graft_cap.value_or(kNoCap),
                            restructure_cap.value_or(kNoCap)});
}

}  // namespace

void bind_options(nb::module_& m) {
  const auto metric = nb::arg("metric");
  const auto linkage = nb::arg("linkage");
  const auto count_repeats = nb::arg("count_repeats") = false;
  nb::class_<Options>(m, "Options", "What a tree is to be like: its algorithm, with its options.")
      .def_static("ohac", &ohac, metric, linkage, nb::kw_only(), nb::arg("n_neighbors") = 1,
                  nb::arg("update") = "hac", nb::arg("recall") = nb::none(),
                  nb::arg("cells_from") = nb::none(), nb::arg("max_leaves") = nb::none(),
                  nb::arg("track_members") = true, nb::arg("polish") = false, count_repeats,
                  "With a recall, neighbours are near ones, out of cells.")
      .def_static("otd", &otd, metric, linkage, nb::kw_only(), nb::arg("certify") = false,
                  nb::arg("rule") = "paper", nb::arg("rotate") = false, count_repeats)
      .def_static("naive_hac", &plain<NaiveHacOptions>, metric, linkage, nb::kw_only(),
                  count_repeats)
      .def_static("naive_nn", &plain<NaiveNnOptions>, metric, linkage, nb::kw_only(), count_repeats)
      .def_static("nested", &plain<GroupsOptions>, metric, linkage, nb::kw_only(), count_repeats)
      .def_static("random_cut", &random_cut, metric, linkage, nb::kw_only(),
                  nb::arg("random_state").none(), count_repeats)
      .def_static("neighbour_tree", &neighbour_tree, metric, linkage, nb::kw_only(),
                  nb::arg("n_neighbors"), nb::arg("weight"))
      .def_static("perch", &perch, metric, linkage, nb::kw_only(), nb::arg("bounds") = "reference",
                  nb::arg("balance").none() = "reference", nb::arg("exact_distance_threshold") = 10,
                  nb::arg("max_leaves") = nb::none(), count_repeats)
      .def_static("grinch", &grinch, metric, linkage, nb::kw_only(),
                  nb::arg("graft").none() = "reference", nb::arg("restructure") = true,
                  nb::arg("rotate_cap") = nb::none(), nb::arg("graft_cap") = nb::none(),
                  nb::arg("restructure_cap") = nb::none());
}

}  // namespace ramify::bindings
