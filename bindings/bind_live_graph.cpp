// SPDX-License-Identifier: BSD-3-Clause
// bind_live_graph.cpp: a graph that changes, and its tree.
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "graph/live_graph.hpp"

namespace ramify::bindings {
namespace {

template <class T>
std::span<const T> span_of(const Vector<T>& values) {
  return {values.data(), values.size()};
}

/// Points that come: with keys and numbers. What they are called is announced first, so that
/// edges can name them.
Out1<Vertex> announce(LiveGraph& graph, const Vector<std::uint64_t>& keys,
                      const Vector<std::uint64_t>& numbers) {
  if (keys.size() != numbers.size()) throw std::invalid_argument("a key for each number");
  std::vector<Vertex> vertices;
  vertices.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    vertices.push_back(graph.announce(keys.data()[i], numbers.data()[i]));
  return to_numpy(std::move(vertices));
}

void update(LiveGraph& graph, const Vector<Vertex>& gone, const Vector<Vertex>& came,
            const Vector<Vertex>& a, const Vector<Vertex>& b, const Vector<Weight>& weight) {
  if (a.size() != b.size() || a.size() != weight.size())
    throw std::invalid_argument("the arrays of edges do not fit each other");
  const auto is_there = [&](Vertex v) { return graph.is_point(v) || graph.is_announced(v); };
  for (const Vertex v : span_of(gone))
    if (!graph.is_point(v)) throw std::invalid_argument("there is no such point");
  for (const Vertex v : span_of(came))
    if (!graph.is_announced(v)) throw std::invalid_argument("a point was not announced");
  for (const auto& some : {a, b})
    for (const Vertex v : span_of(some))
      if (!is_there(v)) throw std::invalid_argument("there is no such point");
  const std::unordered_set<Vertex> leaving(gone.data(), gone.data() + gone.size());
  std::vector<Edge> edges;
  edges.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a.data()[i] == b.data()[i]) throw std::invalid_argument("an edge has one end");
    if (leaving.contains(a.data()[i]) || leaving.contains(b.data()[i]))
      throw std::invalid_argument("an edge has an end that goes");
    edges.push_back({a.data()[i], b.data()[i], weight.data()[i]});
  }
  const nb::gil_scoped_release release;
  graph.update(span_of(gone), span_of(came), edges);
}

std::tuple<Out1<Vertex>, Out2<std::int64_t>, Out1<double>> snapshot(const LiveGraph& graph) {
  LiveGraph::Snapshot found;
  {
    const nb::gil_scoped_release release;
    found = graph.snapshot();
  }
  return {to_numpy(std::move(found.points)), to_numpy(std::move(found.tree.children), 2),
          to_numpy(std::move(found.tree.weights))};
}

std::tuple<Out1<Vertex>, Out1<Vertex>, Out1<Weight>> edges(const LiveGraph& graph) {
  std::vector<Vertex> a, b;
  std::vector<Weight> weight;
  for (const Edge& edge : graph.edges()) {
    a.push_back(edge.a);
    b.push_back(edge.b);
    weight.push_back(edge.weight);
  }
  return {to_numpy(std::move(a)), to_numpy(std::move(b)), to_numpy(std::move(weight))};
}

}  // namespace

void bind_live_graph(nb::module_& m) {
  nb::class_<LiveGraph>(m, "LiveGraph", "A graph that changes, and its tree under average linkage.")
      .def(
          "__init__",
          [](LiveGraph* self, Weight most) {
            if (most < 1 || most > Weight{1} << 30)
              throw std::invalid_argument("the largest weight is from 1 to 2^30");
            new (self) LiveGraph(most);
          },
          nb::arg("most"))
      .def("announce", &announce, nb::arg("keys").noconvert(), nb::arg("numbers").noconvert(),
           "What points will be called that come with the next update.")
      .def("update", &update, nb::arg("gone").noconvert(), nb::arg("came").noconvert(),
           nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("weight").noconvert(),
           "Points that go, points that were announced, and new weights of edges.")
      .def("snapshot", &snapshot, "Points in order of number, children, mean weights.")
      .def("edges", &edges, "Both ends and the weight of every edge.")
      .def("weight", &LiveGraph::weight, nb::arg("a"), nb::arg("b"))
      .def("check", &LiveGraph::check, "Raise RuntimeError naming a broken invariant.")
      .def_prop_ro("updates", &LiveGraph::updates)
      .def_prop_ro("merged_anew", &LiveGraph::merged_anew)
      .def_prop_ro("entries", &LiveGraph::entries)
      .def_prop_ro("bytes", &LiveGraph::bytes)
      .def("__len__", &LiveGraph::size);
}

}  // namespace ramify::bindings
