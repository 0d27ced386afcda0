// SPDX-License-Identifier: BSD-3-Clause
// bind_graph.cpp: trees of weighted graphs.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "graph/bit_neighbours.hpp"
#include "graph/graph.hpp"
#include "graph/graph_hac.hpp"
#include "graph/neighbour_lists.hpp"
#include "math/linkage.hpp"
#include "python_pulse.hpp"
#include "threads.hpp"
#include "tree/ids.hpp"
#include "tree/row_store.hpp"

namespace ramify::bindings {
namespace {

template <class T>
std::span<const T> span_of(const Vector<T>& values) {
  return {values.data(), values.size()};
}

void check_edges(std::size_t n, const Vector<Vertex>& a, const Vector<Vertex>& b,
                 const Vector<Weight>& weight) {
  if (a.size() != b.size() || a.size() != weight.size())
    throw std::invalid_argument("the arrays of edges do not fit each other");
  for (const auto& ends : {span_of(a), span_of(b)})
    if (std::any_of(ends.begin(), ends.end(), [n](Vertex v) { return v >= n; }))
      throw std::invalid_argument("an edge has an end that is no point");
}

void check_ranks(std::size_t n, const Vector<std::uint32_t>& ranks) {
  std::vector<bool> seen(n, false);
  if (ranks.size() != n) throw std::invalid_argument("every point has a rank");
  for (const std::uint32_t rank : span_of(ranks)) {
    if (rank >= n || seen[rank]) throw std::invalid_argument("ranks are 0 to n - 1, each once");
    seen[rank] = true;
  }
}

GraphLinkage linkage_of(const std::string& name) {
  if (name == "average") return GraphLinkage::kAverage;
  if (name == "single") return GraphLinkage::kSingle;
  throw std::invalid_argument("no linkage of graphs: " + name);
}

std::tuple<Out2<std::int64_t>, Out1<double>> tree_of_graph(
    std::size_t n, const Vector<Vertex>& a, const Vector<Vertex>& b, const Vector<Weight>& weight,
    const std::string& linkage_name, const Vector<std::uint32_t>& ranks, nb::object report) {
  if (n < 1 || n > kMaxPoints) throw std::invalid_argument("expected 1 to 2^31 - 1 points");
  check_edges(n, a, b, weight);
  check_ranks(n, ranks);
  const GraphLinkage linkage = linkage_of(linkage_name);
  GraphTree tree = with_pulse(std::move(report), [&](const Pulse& pulse) {
    return graph_hac(graph_of(n, span_of(a), span_of(b), span_of(weight)), linkage, span_of(ranks),
                     pulse);
  });
  return {to_numpy(std::move(tree.children), 2), to_numpy(std::move(tree.weights))};
}

std::tuple<Out2<std::int64_t>, Out1<double>> tree_of_clusters(const Vector<Vertex>& a,
                                                              const Vector<Vertex>& b,
                                                              const Vector<Weight>& weight,
                                                              const Vector<std::uint32_t>& sizes) {
  const std::size_t n = sizes.size();
  if (n < 1 || n > kMaxPoints) throw std::invalid_argument("expected 1 to 2^31 - 1 clusters");
  const auto all = span_of(sizes);
  if (std::find(all.begin(), all.end(), 0U) != all.end() ||
      std::accumulate(all.begin(), all.end(), std::uint64_t{0}) > kMaxPoints)
    throw std::invalid_argument("clusters have 1 to 2^31 - 1 points in all, and at least one each");
  check_edges(n, a, b, weight);
  std::vector<std::uint32_t> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0U);
  GraphTree tree = with_pulse(nb::none(), [&](const Pulse& pulse) {
    return average_of_clusters(graph_of(n, span_of(a), span_of(b), span_of(weight)), ranks, all,
                               pulse);
  });
  return {to_numpy(std::move(tree.children), 2), to_numpy(std::move(tree.weights))};
}

std::span<const Vertex> checked_lists(const Rows<Vertex>& lists) {
  const std::size_t n = lists.shape(0);
  const std::span<const Vertex> all(lists.data(), n * lists.shape(1));
  if (std::any_of(all.begin(), all.end(), [n](Vertex v) { return v >= n && v != kNoVertex; }))
    throw std::invalid_argument("a list names a point that there is not");
  return all;
}

std::tuple<Out1<std::uint32_t>, Out1<std::uint32_t>> shared(const Rows<Vertex>& lists) {
  const std::span<const Vertex> all = checked_lists(lists);
  SharedNeighbours found;
  {
    const nb::gil_scoped_release release;
    found = shared_neighbours(all, lists.shape(1));
  }
  return {to_numpy(std::move(found.common)), to_numpy(std::move(found.united))};
}

Out1<double> ranked(const Rows<Vertex>& lists) {
  const std::span<const Vertex> all = checked_lists(lists);
  std::vector<double> found;
  {
    const nb::gil_scoped_release release;
    found = ranked_neighbours(all, lists.shape(1));
  }
  return to_numpy(std::move(found));
}

std::tuple<Out2<Vertex>, Out2<double>> nearest_bits(const Rows<std::uint64_t>& rows,
                                                    std::uint32_t columns,
                                                    const std::string& metric, std::size_t k,
                                                    std::size_t first, std::size_t last,
                                                    const Vector<std::uint32_t>& ranks) {
  const std::size_t n = rows.shape(0), words = rows.shape(1);
  if (k < 1 || words != (std::size_t{columns} + 63) / 64 || first > last || last > n)
    throw std::invalid_argument("the rows of bits do not fit what is asked of them");
  if (metric != "hamming" && metric != "jaccard")
    throw std::invalid_argument("no metric of bits: " + metric);
  check_ranks(n, ranks);
  BitLists found;
  {
    const nb::gil_scoped_release release;
    found = bit_neighbours({{rows.data(), n * words}, words, columns},
                           metric == "jaccard" ? BitMetric::kJaccard : BitMetric::kHamming, k,
                           first, last, span_of(ranks));
  }
  return {to_numpy(std::move(found.points), k), to_numpy(std::move(found.distances), k)};
}

/// The lists of a live tree of the same rows, to the bit: by place, squared distances, keys.
template <class Real>
std::tuple<Out2<Vertex>, Out2<double>, Out1<std::uint64_t>> nearest_rows(const Rows<Real>& rows,
                                                                         std::size_t k, bool unit,
                                                                         std::size_t threads,
                                                                         nb::object report) {
  const std::size_t n = rows.shape(0), dim = rows.shape(1);
  if (n < 1 || n > kMaxPoints || dim < 1) throw std::invalid_argument("expected rows of numbers");
  if (k < 1) throw std::invalid_argument("a list names somebody");
  std::vector<Vertex> to(n * k, kNoVertex);
  std::vector<double> apart(n * k, 0);
  std::vector<std::uint64_t> keys(n);
  with_pulse(std::move(report), [&](const Pulse& pulse) {
    RowStore<Real> points(dim);
    points.make_room(n);
    std::vector<RowSlot> slots(n);
    for (std::size_t i = 0; i < n; ++i) {
      points.append(rows.data() + i * dim);
      slots[i] = static_cast<RowSlot>(i);
      if (unit) scale_to_unit(points.row(slots[i]), dim, points.row(slots[i]));
    }
    NeighbourLists<Real> lists(dim, {k, NeighbourWeight::kSnn, unit});
    Threads helpers(threads);
    lists.begin(points, slots, pulse, helpers);
    for (const RowSlot i : slots) {
      const auto named = lists.list(i);
      std::copy(named.begin(), named.end(), to.begin() + static_cast<std::ptrdiff_t>(i * k));
      const auto far = lists.distances(i);
      std::copy(far.begin(), far.end(), apart.begin() + static_cast<std::ptrdiff_t>(i * k));
      keys[i] = lists.key(i);
    }
  });
  return {to_numpy(std::move(to), k), to_numpy(std::move(apart), k), to_numpy(std::move(keys))};
}

template <class Real>
void bind_nearest_rows(nb::module_& m) {
  m.def("nearest_rows", &nearest_rows<Real>, nb::arg("rows").noconvert(), nb::arg("k"),
        nb::arg("unit"), nb::arg("threads"), nb::arg("report") = nb::none(),
        "The k nearest others of each row, squared distances, and a key of each row: as a live "
        "tree of these rows has them. Of rows equally far the smaller key, then the earlier row. "
        "2^32 - 1 is no row.");
}

}  // namespace

void bind_graph(nb::module_& m) {
  m.def("graph_hac", &tree_of_graph, nb::arg("n"), nb::arg("a").noconvert(),
        nb::arg("b").noconvert(), nb::arg("weight").noconvert(), nb::arg("linkage"),
        nb::arg("ranks").noconvert(), nb::arg("report") = nb::none(),
        "HAC of a graph: children, and what was between them in the weights' unit. A pair's "
        "largest weight counts; `ranks` break ties.");
  m.def("graph_hac_of_clusters", &tree_of_clusters, nb::arg("a").noconvert(),
        nb::arg("b").noconvert(), nb::arg("weight").noconvert(), nb::arg("sizes").noconvert(),
        "HAC by average linkage of clusters of these sizes, with the sums of weights between them; "
        "ties go by their numbers.");
  m.def("shared_neighbours", &shared, nb::arg("lists").noconvert(),
        "For each entry of lists of nearest points: how many points both lists have, and how "
        "many one of them has. 2^32 - 1 is no point.");
  m.def("ranked_neighbours", &ranked, nb::arg("lists").noconvert(),
        "The same as one share from 0 to 1, where what comes early in the lists counts more.");
  bind_nearest_rows<float>(m);
  bind_nearest_rows<double>(m);
  m.def("bit_neighbours", &nearest_bits, nb::arg("rows").noconvert(), nb::arg("columns"),
        nb::arg("metric"), nb::arg("k"), nb::arg("first"), nb::arg("last"),
        nb::arg("ranks").noconvert(),
        "The k nearest others of rows first to last, of rows of bits in words of 64, and how far "
        "they are; of equal distances the smaller rank. 2^32 - 1 is no point.");
}

}  // namespace ramify::bindings
