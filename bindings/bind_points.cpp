// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <span>
#include <utility>

#include "bind.hpp"
#include "tree/row_store.hpp"

namespace ramify::bindings {
namespace {

template <class Real>
void bind_checks(nb::module_& m) {
  m.def(
      "first_non_finite",
      [](const Rows<Real>& rows) -> std::optional<std::pair<std::size_t, std::size_t>> {
        const std::size_t at = first_non_finite(std::span<const Real>(rows.data(), rows.size()));
        if (at == rows.size()) return std::nullopt;
        return std::pair{at / rows.shape(1), at % rows.shape(1)};
      },
      nb::arg("rows").noconvert(), "Row and column of the first NaN or infinity, if there is one.");
  m.def(
      "first_zero_row",
      [](const Rows<Real>& rows) -> std::optional<std::size_t> {
        const std::size_t at = first_zero_row(rows.data(), rows.shape(0), rows.shape(1));
        if (at == rows.shape(0)) return std::nullopt;
        return at;
      },
      nb::arg("rows").noconvert(), "Index of the first row of zeros, if there is one.");
}

}  // namespace

void bind_points(nb::module_& m) {
  bind_checks<float>(m);
  bind_checks<double>(m);
}

}  // namespace ramify::bindings
