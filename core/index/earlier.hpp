// SPDX-License-Identifier: BSD-3-Clause
// earlier.hpp: for each row of a batch, the nearest of the rows before it.
//
// A caller that keeps the earlier points somewhere else, as several machines do, still has to
// compare the rows of a batch among themselves. The answers are those of one index that
// held everything: the same distances, ties to the earliest.
#pragma once

#include <cstddef>
#include <vector>

#include "index/neighbours.hpp"
#include "math/linkage.hpp"
#include "math/order.hpp"
#include "tree/row_store.hpp"

namespace ramify {

/// The k nearest of the rows before each row, nearest first, at out[i * k]; where there
/// are fewer, the rest is infinitely far. Distances are those of Neighbours::nearest.
template <class Real>
std::vector<Neighbour> nearest_earlier(const RowStore<Real>& rows, Metric metric, std::size_t k);

}  // namespace ramify
