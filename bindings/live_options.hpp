// SPDX-License-Identifier: BSD-3-Clause
// live_options.hpp: what Python says a tree should be like, or how to cut it, as the
// core's own types.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "bind.hpp"
#include "live/options.hpp"
#include "tree/frontier.hpp"

namespace ramify::bindings {

/// An algorithm's own options by name: strings, whole numbers, None.
using More = nb::typed<nb::dict, nb::str, nb::object>;

template <class Enum, std::size_t N>
Enum parse(const std::string& name, const std::array<const char*, N>& names, const char* what) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::invalid_argument(std::string("unknown ") + what + ": " + name);
}

// In the order of the enums.
constexpr std::array kMetrics{"sqeuclidean", "cosine", "dot"};
constexpr std::array kLinkages{"average", "centroid", "ward"};

constexpr std::array kBounds{"reference", "sound"};
constexpr std::array kBalances{"reference", "python", "none"};
constexpr std::array kNeighbourWeights{"snn", "jaccard", "similarity"};
constexpr std::array kGrafts{"reference", "full", "none"};

/// Option `name` of an algorithm: one of `names`, where None is called "none".
template <class Enum, std::size_t N>
Enum choice(const More& more, const char* name, const std::array<const char*, N>& names) {
  const nb::object found = more[name];
  return parse<Enum>(found.is_none() ? "none" : nb::cast<std::string>(found), names, name);
}

/// Option `name` of an algorithm: a whole number, or what None stands for.
inline std::size_t number_option(const More& more, const char* name, std::size_t none = 0) {
  const nb::object found = more[name];
  return found.is_none() ? none : nb::cast<std::size_t>(found);
}

/// Option `name` of an algorithm, if it is there: yes or no.
inline bool flag(const More& more, const char* name) {
  return more.contains(name) && nb::cast<bool>(more[name]);
}

/// The algorithms (core/algorithms/registry.hpp) by name, with what Python says of each.
inline AlgorithmOptions algorithm_of(const std::string& name, std::size_t n_neighbors,
                                     const More& more) {
  if (name == "ohac" && more.contains("update") && nb::cast<std::string>(more["update"]) == "nni")
    return NniOptions{};
  if (name == "ohac") return OhacOptions{n_neighbors};
  if (name == "otd")
    return OtdOptions{flag(more, "certify"),
                      more.contains("rule") && nb::cast<std::string>(more["rule"]) == "split",
                      flag(more, "rotate")};
  if (name == "naive_hac") return NaiveHacOptions{};
  if (name == "naive_nn") return NaiveNnOptions{};
  if (name == "nested") return GroupsOptions{};
  if (name == "random_cut") {
    const nb::object seed = more["random_state"];
    return RandomCutOptions{seed.is_none() ? std::uint64_t{std::random_device{}()}
                                           : nb::cast<std::uint64_t>(seed)};
  }
  if (name == "neighbour_tree")
    return NeighbourTreeOptions{n_neighbors,
                                choice<NeighbourWeight>(more, "weight", kNeighbourWeights)};
  if (name == "perch")
    return PerchOptions{
        choice<Bounds>(more, "bounds", kBounds), choice<Balance>(more, "balance", kBalances),
        number_option(more, "exact_distance_threshold"), number_option(more, "max_leaves")};
  if (name == "grinch")
    return GrinchOptions{choice<Graft>(more, "graft", kGrafts),
                         number_option(more, "restructure") != 0,
                         number_option(more, "rotate_cap", GrinchOptions::kNoCap),
                         number_option(more, "graft_cap", GrinchOptions::kNoCap),
                         number_option(more, "restructure_cap", GrinchOptions::kNoCap)};
  throw std::invalid_argument("unknown algorithm: " + name);
}

/// How near neighbours are searched for, if not the nearest. `cells_from` is for tests:
/// rows from which on there are cells.
inline std::optional<CellOptions> cells_of(const More& more) {
  if (!more.contains("neighbors") || nb::cast<std::string>(more["neighbors"]) != "cells")
    return std::nullopt;
  CellOptions out;
  out.recall = nb::cast<double>(more["recall"]);
  if (!(out.recall > 0 && out.recall < 1))
    throw std::invalid_argument("recall must be between 0 and 1");
  if (more.contains("cells_from")) out.first = out.epoch = number_option(more, "cells_from");
  out.fit = std::min(out.fit, out.first);
  return out;
}

inline Options options_of(const std::string& algorithm, const std::string& metric,
                          const std::string& linkage, std::size_t n_neighbors, const More& more) {
  if (n_neighbors < 1) throw std::invalid_argument("n_neighbors must be at least 1");
  const Rule rule{parse<Metric>(metric, kMetrics, "metric"),
                  parse<Linkage>(linkage, kLinkages, "linkage")};
  Options out{rule, algorithm_of(algorithm, n_neighbors, more), flag(more, "count_repeats")};
  out.polish = more.contains("polishing") && !more["polishing"].is_none();
  out.cells = cells_of(more);
  if (algorithm == "ohac" && more.contains("max_leaves")) {
    out.max_leaves = number_option(more, "max_leaves");
    out.track_members = flag(more, "track_members");
  }
  return out;
}

/// A cut, by the name of its option in Python.
inline CutRule rule_of(const std::string& by, double value, std::size_t points) {
  if (by == "height") return {CutBy::kHeight, 0, value};
  if (by != "n_clusters" && by != "max_size" && by != "variance")
    throw std::invalid_argument("unknown cut: " + by);
  if (!(value >= 1)) throw std::invalid_argument(by + " must be at least 1");
  const auto number = static_cast<std::size_t>(std::min(value, 1e18));
  if (by == "max_size") return {CutBy::kMaxSize, number, 0};
  if (number > points) throw std::invalid_argument("n_clusters is more than there are points");
  return {by == "variance" ? CutBy::kVariance : CutBy::kCount, number, 0};
}

}  // namespace ramify::bindings
