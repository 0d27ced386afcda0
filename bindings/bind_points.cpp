// SPDX-License-Identifier: BSD-3-Clause
// bind_points.cpp: checks of rows, and the means that a file leaves out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "tree/implied_means.hpp"
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

template <class Real>
StoredLinks<Real> stored(const Rows<Real>& points, const Rows<std::uint32_t>& links,
                         const std::optional<Rows<double>>& standings) {
  StoredLinks<Real> tree{
      points.shape(1), {points.data(), points.size()}, {links.data(), links.size()}, {}};
  if (standings) tree.standings = {standings->data(), standings->size()};
  return tree;
}

template <class Real>
void bind_means(nb::module_& m) {
  m.def(
      "listed_means",
      [](const Rows<Real>& points, const Rows<std::uint32_t>& links,
         const std::optional<Rows<double>>& standings, const Rows<Real>& mean) {
        std::vector<std::uint32_t> found;
        {
          const nb::gil_scoped_release release;
          found = listed_means<Real>(stored(points, links, standings), {mean.data(), mean.size()});
        }
        return to_numpy(std::move(found));
      },
      nb::arg("points").noconvert(), nb::arg("links").noconvert(),
      nb::arg("standings").noconvert().none(), nb::arg("mean").noconvert(),
      "Places of the nodes of a stored tree whose means the rest of the tree would not give.");
  m.def(
      "all_means",
      [](const Rows<Real>& points, const Rows<std::uint32_t>& links,
         const std::optional<Rows<double>>& standings, const Vector<std::uint32_t>& places,
         const Rows<Real>& listed) -> nb::object {
        std::vector<Real> found;
        {
          const nb::gil_scoped_release release;
          found = all_means<Real>(stored(points, links, standings), {places.data(), places.size()},
                                  {listed.data(), listed.size()});
        }
        return nb::cast(to_numpy(std::move(found), points.shape(1)));
      },
      nb::arg("points").noconvert(), nb::arg("links").noconvert(),
      nb::arg("standings").noconvert().none(), nb::arg("places").noconvert(),
      nb::arg("listed").noconvert(), "All means of a stored tree, given those of these nodes.");
}

}  // namespace

void bind_points(nb::module_& m) {
  bind_checks<float>(m);
  bind_checks<double>(m);
  bind_means<float>(m);
  bind_means<double>(m);
}

}  // namespace ramify::bindings
