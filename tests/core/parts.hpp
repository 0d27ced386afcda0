// SPDX-License-Identifier: BSD-3-Clause
// parts.hpp: what the files of the test extension share.
//
// The extension `ramify_core_parts` shows the core's own classes to Python, so that each
// is tested alone. It is thin: arguments go through as they are, and a test that breaks
// a precondition breaks the process. No wheel contains it.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bind.hpp"
#include "math/linkage.hpp"
#include "tree/ids.hpp"

namespace ramify::parts {

namespace nb = nanobind;
using bindings::Row;
using bindings::Rows;
using bindings::to_numpy;
using bindings::Vector;

template <class Enum, std::size_t N>
Enum named(const std::string& name, const std::array<const char*, N>& names) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::invalid_argument("unknown name: " + name);
}
inline Metric metric_of(const std::string& name) {
  return named<Metric>(name, std::array{"sqeuclidean", "cosine", "dot"});
}
inline Linkage linkage_of_name(const std::string& name) {
  return named<Linkage>(name, std::array{"average", "centroid", "ward"});
}

/// A node in Python: its raw number, None for no node.
using Node = std::optional<std::uint32_t>;
inline Node shown(NodeId v) { return v == kNone ? Node{} : Node{v.raw()}; }
inline NodeId node(std::uint32_t raw) { return NodeId::from_raw(raw); }

/// A class for float and one for double rows, by the names that Python calls them.
template <class Real>
std::string with_type(const char* name) {
  return std::string(name) + (sizeof(Real) == sizeof(float) ? "F32" : "F64");
}

void bind_rows(nb::module_& m);     // RowStore, Index, Lookahead
void bind_cells(nb::module_& m);    // CellRows and its plans
void bind_trees(nb::module_& m);    // Tree, Frontier, Ohac
void bind_forests(nb::module_& m);  // forest_hac, StablePath, PathHac
void bind_threads(nb::module_& m);  // Threads, TurnLock
void bind_live(nb::module_& m);     // Live, with neighbours from elsewhere

}  // namespace ramify::parts
