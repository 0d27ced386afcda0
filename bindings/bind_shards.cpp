// SPDX-License-Identifier: BSD-3-Clause
// bind_shards.cpp: what a tree needs whose points are in several places.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "forest/summary_tree.hpp"
#include "index/earlier.hpp"
#include "index/part_boxes.hpp"
#include "live_options.hpp"

namespace ramify::bindings {
namespace {

/// Corners of boxes, which are columns, to be changed.
template <class Real>
using Corners = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Real>
RowStore<Real> stored(const Rows<Real>& rows, Metric metric) {
  const std::size_t dim = rows.shape(1);
  if (dim < 1) throw std::invalid_argument("rows need at least one column");
  RowStore<Real> out(dim);
  out.make_room(rows.shape(0));
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    out.append(rows.data() + i * dim);
    Real* const row = out.row(static_cast<RowSlot>(i));
    if (metric == Metric::kCosine) scale_to_unit(row, dim, row);
  }
  return out;
}

/// Places and distances as Live::nearest tells them; -1 where there are fewer than k.
template <class Real>
std::tuple<Out2<std::int64_t>, Out2<double>> nearest_before(const Rows<Real>& rows,
                                                            const std::string& metric_name,
                                                            std::size_t k) {
  if (k < 1) throw std::invalid_argument("k must be at least 1");
  const auto metric = parse<Metric>(metric_name, kMetrics, "metric");
  std::vector<std::int64_t> places(rows.shape(0) * k, -1);
  std::vector<double> distances(rows.shape(0) * k);
  {
    const nb::gil_scoped_release release;
    const auto found = nearest_earlier(stored(rows, metric), metric, k);
    const double share = metric == Metric::kCosine ? 0.5 : 1;
    for (std::size_t i = 0; i < found.size(); ++i) {
      distances[i] = found[i].distance * share;
      if (i % k < i / k) places[i] = found[i].row;
    }
  }
  return {to_numpy(std::move(places), k), to_numpy(std::move(distances), k)};
}

template <class Real>
Out2<double> least_distances(const Rows<Real>& rows, bool product, const Rows<Real>& low,
                             const Rows<Real>& high, const Vector<std::int64_t>& begin,
                             const Vector<double>& enough) {
  const std::size_t dim = rows.shape(1), n = rows.shape(0);
  const std::span first{begin.data(), begin.size()};
  if (first.size() < 2 || first[0] != 0 || !std::ranges::is_sorted(first) ||
      static_cast<std::size_t>(first.back()) != low.shape(1) || low.shape(1) != high.shape(1) ||
      low.shape(0) != dim || high.shape(0) != dim || enough.size() != n)
    throw std::invalid_argument("the arrays of boxes do not fit each other");
  const std::size_t owners = first.size() - 1;
  std::vector<double> least(n * owners);
  {
    const nb::gil_scoped_release release;
    PartBoxes<Real> boxes({low.data(), low.size()}, {high.data(), high.size()}, first, dim);
    for (std::size_t i = 0; i < n; ++i)
      boxes.least_distances(rows.data() + i * dim, product, enough.data()[i],
                            least.data() + i * owners);
  }
  return to_numpy(std::move(least), owners);
}

template <class Real>
void widen_boxes(const Rows<Real>& rows, const Corners<Real>& low, const Corners<Real>& high) {
  const std::size_t dim = rows.shape(1), boxes = low.shape(1);
  if (boxes < 1 || high.shape(1) != boxes || low.shape(0) != dim || high.shape(0) != dim)
    throw std::invalid_argument("the arrays of boxes do not fit each other");
  const nb::gil_scoped_release release;
  widen(rows.data(), rows.shape(0), dim, boxes, low.data(), high.data());
}

template <class Real>
std::tuple<Out2<std::int64_t>, Out1<double>, Out1<double>, Out2<double>> merged(
    const Rows<Real>& means, const Vector<double>& ssds, const Vector<double>& weights,
    const Vector<std::int64_t>& counts, const Vector<std::int64_t>& firsts,
    const std::string& metric, const std::string& linkage) {
  const std::size_t m = means.shape(0), dim = means.shape(1);
  if (m < 1 || dim < 1 || ssds.size() != m || weights.size() != m || counts.size() != m ||
      firsts.size() != m)
    throw std::invalid_argument("the arrays of summaries do not fit each other");
  std::vector<ForestItem<Real>> forest;
  forest.reserve(m);
  for (std::size_t i = 0; i < m; ++i)
    forest.push_back({{weights.data()[i], means.data() + i * dim, ssds.data()[i]},
                      {weights.data()[i], static_cast<std::uint32_t>(counts.data()[i]),
                       static_cast<RowSlot>(firsts.data()[i])}});
  SummaryTree<Real> tree;
  {
    const nb::gil_scoped_release release;
    tree = merge_summaries<Real>(forest, dim, parse<Metric>(metric, kMetrics, "metric"),
                                 parse<Linkage>(linkage, kLinkages, "linkage"));
  }
  std::vector<std::int64_t> children;
  for (const Merge& merge : tree.merges) children.insert(children.end(), {merge.a, merge.b});
  std::vector<double> centres(tree.means.begin(), tree.means.end());
  return {to_numpy(std::move(children), 2), to_numpy(std::move(tree.heights)),
          to_numpy(std::move(tree.ssds)), to_numpy(std::move(centres), dim)};
}

template <class Real>
void bind_shards_of(nb::module_& m) {
  m.def("nearest_before", &nearest_before<Real>, nb::arg("rows").noconvert(), nb::arg("metric"),
        nb::arg("k") = 1,
        "Places and distances of the k nearest of the rows before each row; -1: none.");
  m.def("least_distances", &least_distances<Real>, nb::arg("rows").noconvert(), nb::arg("product"),
        nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("begin").noconvert(),
        nb::arg("enough").noconvert(),
        "For each row and owner of boxes, which are columns, those of an owner together: what no "
        "squared distance, or minus product, of the row to a point in them is below.");
  m.def("widen", &widen_boxes<Real>, nb::arg("rows").noconvert(), nb::arg("low").noconvert(),
        nb::arg("high").noconvert(), "Have boxes, which are columns, take in these rows, too.");
  m.def("merge_summaries", &merged<Real>, nb::arg("means").noconvert(), nb::arg("ssds").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("counts").noconvert(),
        nb::arg("firsts").noconvert(), nb::arg("metric"), nb::arg("linkage"),
        "HAC of clusters by their summaries: children, heights, and the merges' ssds and means. "
        "`firsts` say in which order the clusters' first points came, from 0.");
}

}  // namespace

void bind_shards(nb::module_& m) {
  bind_shards_of<float>(m);
  bind_shards_of<double>(m);
}

}  // namespace ramify::bindings
