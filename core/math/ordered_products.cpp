// SPDX-License-Identifier: BSD-3-Clause
#include "math/ordered_products.hpp"

#include "math/direction_products.hpp"

namespace ramify {
namespace {

template <Level kLevel>
constexpr DirectionKernels kOrdered{compiled<project_on_directions<false>, kLevel>,
                                    compiled<add_direction_products<false>, kLevel>};

}  // namespace

const DirectionKernels& ordered_directions() {
  return with_level([](auto set) -> const auto& { return kOrdered<set.value>; });
}

}  // namespace ramify
