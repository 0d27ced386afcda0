// SPDX-License-Identifier: BSD-3-Clause
// module.cpp: the module `ramify._core`.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "bind.hpp"
#include "forest/tally.hpp"
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
#ifdef RAMIFY_TALLY
  m.def(
      "tallies",
      [] {
        std::vector<std::array<std::uint64_t, 4>> out;
        for (ramify::Tally& one : ramify::tallies) {
          out.push_back({one.forests, one.merges, one.given_up, one.largest});
          one = {};
        }
        return out;
      },
      "Of each engine since the last call: forests, merges, how often it gave up, largest forest.");
#endif
  ramify::bindings::bind_points(m);
  ramify::bindings::bind_dendrogram(m);
  ramify::bindings::bind_graph(m);
  ramify::bindings::bind_options(m);
  ramify::bindings::bind_live(m);
  ramify::bindings::bind_live_graph(m);
  ramify::bindings::bind_measures(m);
  ramify::bindings::bind_shards(m);
}
