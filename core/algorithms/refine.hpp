// SPDX-License-Identifier: BSD-3-Clause
// refine.hpp: local search by interchanges (interchange.hpp) until none gains any more.
//
// A tree at which no interchange gains earns at least (n - 2)/3 of the sum of all
// similarities, whatever they are (Jowhari, arXiv 2405.15983; docs/math.md,
// "Interchanges").
#pragma once

#include <cstdint>

#include "math/linkage.hpp"
#include "pulse.hpp"
#include "tree/tree.hpp"

namespace ramify {

struct Refinement {
  std::size_t sweeps = 0;
  std::uint64_t interchanges = 0;
  bool converged = false;
};

/// Sweep over the tree from the leaves up; later sweeps look only at nodes near which
/// something changed. Gains below `slack` of a distance's size do not count, so that
/// rounding cannot go round in circles. O(n dim) a sweep. The pulse is called with the
/// number of sweeps; when it says stop, or `sweeps` are done, the tree is what it is then.
template <class Real>
Refinement refine(Tree<Real>& tree, Metric metric, std::size_t sweeps, double slack,
                  const Pulse& pulse);

}  // namespace ramify
