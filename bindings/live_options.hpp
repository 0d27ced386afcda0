// SPDX-License-Identifier: BSD-3-Clause
// live_options.hpp: names of metrics, linkages and cuts, as the core's own types.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "bind.hpp"
#include "live/options.hpp"
#include "tree/frontier.hpp"

namespace ramify::bindings {

template <class Enum, std::size_t N>
Enum parse(const std::string& name, const std::array<const char*, N>& names, const char* what) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::invalid_argument(std::string("unknown ") + what + ": " + name);
}

// In the order of the enums.
constexpr std::array kMetrics{"sqeuclidean", "cosine", "dot"};
constexpr std::array kLinkages{"average", "centroid", "ward"};

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
