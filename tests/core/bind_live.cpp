// SPDX-License-Identifier: BSD-3-Clause
// bind_live.cpp: a stream's tree whose neighbours are from elsewhere.
#include "live/live.hpp"
#include "parts.hpp"
#include "scanned_rows.hpp"

namespace ramify::parts {
namespace {

template <class Real>
NeighbourSource<Real> scan() {
  return NeighbourSource<Real>(
      [] { return std::make_unique<ScannedRows<Real, CentroidSquared>>(); });
}

template <class Real>
void bind_live_of(nb::module_& m) {
  using Self = Live<Real>;
  nb::class_<Self>(m, with_type<Real>("Live").c_str())
      .def("__init__",
           [](Self* self, std::size_t dim, bool scans) {
             const Options options{{}, OhacOptions{}};
             if (scans)
               new (self) Self(dim, options, scan<Real>());
             else
               new (self) Self(dim, options);
           })
      .def("insert_many",
           [](Self& self, const Rows<Real>& rows) {
             return self.insert_many({rows.data(), rows.shape(0)}, {});
           })
      .def("erase", &Self::erase)
      .def("tree",
           [](Self& self) {
             const Snapshot found = number(self.flat());
             return std::tuple(found.children, found.heights, found.ids);
           })
      .def("check", &Self::check);
}

}  // namespace

void bind_live(nb::module_& m) {
  bind_live_of<float>(m);
  bind_live_of<double>(m);
}

}  // namespace ramify::parts
