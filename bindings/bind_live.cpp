// SPDX-License-Identifier: BSD-3-Clause
// bind_live.cpp: the class of live trees, and what is read of one without waiting.
#include <nanobind/stl/string.h>

#include "live_object.hpp"

namespace ramify::bindings {
namespace {

template <class Real>
void bind_live_of(nb::module_& m, const char* name, const char* doc) {
  using Self = LiveObject<Real>;
  nb::class_<Self> object(m, name, doc);
  object.def(nb::init<std::size_t, const Options&>(), nb::arg("dim"), nb::arg("options"))
      .def("__len__", &Self::size)
      .def_prop_ro("dim", &Self::dim, "Width of the rows.")
      .def_prop_ro("n_points", &Self::n_points, "Points, of which a leaf may stand for several.")
      .def_prop_ro("next_arrival", &Self::next_arrival, "The number of the next point.")
      .def_prop_ro("version", &Self::version, "Grows with every change.")
      .def_prop_ro("busy", &Self::busy, "Whether a question may have to wait.");
  bind_live_writes(object);
  bind_live_reads(object);
  bind_live_state(object);
}

}  // namespace

void bind_live(nb::module_& m) {
  bind_live_of<float>(m, "LiveF32", "A growing tree over float32 rows.");
  bind_live_of<double>(m, "LiveF64", "A growing tree over float64 rows.");
}

}  // namespace ramify::bindings
