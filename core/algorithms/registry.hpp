// SPDX-License-Identifier: BSD-3-Clause
// registry.hpp: the list of algorithms. A new one is a line here, and a function
// with its options in bindings/bind_options.cpp.
#pragma once

#include <memory>
#include <variant>

#include "algorithms/algorithm.hpp"
#include "algorithms/grinch.hpp"
#include "algorithms/group_tree.hpp"
#include "algorithms/naive.hpp"
#include "algorithms/neighbour_tree.hpp"
#include "algorithms/nni.hpp"
#include "algorithms/ohac.hpp"
#include "algorithms/otd.hpp"
#include "algorithms/perch.hpp"
#include "algorithms/random_cut.hpp"

namespace ramify {

using AlgorithmOptions = std::variant<OhacOptions,      // Algorithm 2
                                      OtdOptions,       // Algorithm 1
                                      NaiveHacOptions,  // Naive_1
                                      NaiveNnOptions,   // Naive_2
                                      NniOptions, PerchOptions, GrinchOptions, RandomCutOptions,
                                      GroupsOptions, NeighbourTreeOptions>;

template <class Real>
std::unique_ptr<Algorithm<Real>> make_algorithm(std::size_t dim, const Rule& rule,
                                                const AlgorithmOptions& options) {
  return std::visit(
      [&](const auto& own) -> std::unique_ptr<Algorithm<Real>> {
        using Type = typename std::decay_t<decltype(own)>::template Type<Real>;
        return std::make_unique<Type>(dim, rule, own);
      },
      options);
}

}  // namespace ramify
