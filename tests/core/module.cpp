// SPDX-License-Identifier: BSD-3-Clause
// module.cpp: the module `ramify_core_parts`.
#include "math/dispatch.hpp"
#include "parts.hpp"
#include "portable/trees.hpp"

NB_MODULE(ramify_core_parts, m) {
  m.doc() = "The core's own classes, one by one, for tests.";
  nanobind::set_leak_warnings(false);
  m.def("select_instructions",
        [](const std::string& name) { return ramify::select_instructions(name); });
  m.def("instructions", [] { return std::string(ramify::instructions()); });
  m.def("portable_lines", &ramify::portable::lines);
  ramify::parts::bind_rows(m);
  ramify::parts::bind_cells(m);
  ramify::parts::bind_trees(m);
  ramify::parts::bind_forests(m);
  ramify::parts::bind_threads(m);
  ramify::parts::bind_live(m);
}
