// SPDX-License-Identifier: BSD-3-Clause
// hac.hpp: offline HAC of all points, the tree the online ones are judged by.
#pragma once

#include "helpers.hpp"
#include "math/linkage.hpp"
#include "pulse.hpp"
#include "tree/tree.hpp"

namespace ramify {

/// Replace whatever inner nodes the tree has by the HAC tree of its points; all
/// leaves must be stored. O(n) memory. The pulse is called with the number of
/// merges made; false when it said stop: then the tree is as it was. Helpers share searches
/// that take long; the tree is the same.
template <class Real>
bool build_hac(Tree<Real>& tree, Metric metric, Linkage linkage, const Pulse& pulse,
               Helpers& helpers);

}  // namespace ramify
