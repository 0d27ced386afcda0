// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "bind.hpp"
#include "math/dispatch.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of Ramify. Not a public interface: use the classes of `ramify`.";
  // A model that a global still holds at exit is no leak worth a report.
  nanobind::set_leak_warnings(false);
  // A lesser set of instructions can be asked for, to test that every set grows
  // the same tree.
  const char* wanted = std::getenv("RAMIFY_INSTRUCTIONS");  // NOLINT(concurrency-mt-unsafe): once
  if (wanted != nullptr && !ramify::select_instructions(wanted))
    throw std::runtime_error(std::string("RAMIFY_INSTRUCTIONS=") + wanted +
                             ": this machine has no such instruction set");
  m.def(
      "instructions", [] { return std::string(ramify::instructions()); },
      "The set of instructions in use: 'avx512', 'avx2' or 'baseline'.");
  ramify::bindings::bind_points(m);
  ramify::bindings::bind_dendrogram(m);
  ramify::bindings::bind_live(m);
  ramify::bindings::bind_measures(m);
  ramify::bindings::bind_shards(m);
}
