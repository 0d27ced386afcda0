// SPDX-License-Identifier: BSD-3-Clause
// bind_live_reads.cpp: questions to a live tree: neighbours, clusters of a cut, paths.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "live_nodes.hpp"
#include "live_object.hpp"
#include "python_pulse.hpp"
#include "threads.hpp"

namespace ramify::bindings {
namespace {

// Rows that readers look up in one go, and those of a thread among them.
constexpr std::size_t kFirstBlock = 64, kMostRows = 512, kPiece = 64, kLeastPiece = 16;

using Assigned = std::tuple<Out1<std::int64_t>, Out1<std::int64_t>, Out1<std::int64_t>,
                            Out1<double>, std::vector<std::string>>;
/// Of a tree opened for a tree above it: how many nodes are its frontier; of each node its
/// id, where the first of its two children is or -1, points, leaves, ssd, own and monotone
/// height, first point, mean.
template <class Real>
using OutlineArrays =
    std::tuple<std::size_t, Out1<std::int64_t>, Out1<std::int64_t>, Out1<double>,
               Out1<std::int64_t>, Out1<double>, Out2<double>, Out1<std::int64_t>, Out2<Real>>;

/// Call use(live, i, found) with the k nearest points of every row, in blocks of a few
/// milliseconds, each of one version of the tree, so that a batch under way is never held
/// up for long.
template <class Real, class NeedsOf, class Use>
void for_each_row(LiveObject<Real>& self, std::size_t rows, std::size_t threads,
                  const NeedsOf& needs, const Real* values, std::size_t k, const Use& use) {
  PythonPulse python{nb::none()};
  {
    const nb::gil_scoped_release release;
    Threads helpers(threads);
    std::size_t block = kFirstBlock;
    for (std::size_t from = 0, to = 0; from == 0 || from < rows; from = to) {
      {
        const ReadingTurn<Real, HasNoGil> turn(self, needs);
        const auto since = std::chrono::steady_clock::now();
        to = std::min(from + block, rows);
        const std::size_t size =
            std::clamp(block / std::max(threads, std::size_t{1}), kLeastPiece, kPiece);
        const auto piece = [&](std::size_t number, const Pulse&) {
          typename Live<Real>::Reading reading;
          std::vector<Neighbour> found;
          const std::size_t first = from + number * size, last = std::min(first + size, to);
          turn->nearest(values + first * self.dim(), last - first, k, reading, found);
          for (std::size_t i = first; i < last; ++i)
            use(*turn, i, std::span<const Neighbour>(found.data() + (i - first) * k, k));
        };
        helpers.begin((to - from + size - 1) / size, piece);
        helpers.finish({});
        const auto took = std::chrono::steady_clock::now() - since;
        if (took < std::chrono::milliseconds(1)) block = std::min(2 * block, kMostRows);
        if (took > std::chrono::milliseconds(4)) block = std::max(block / 2, kLeastPiece);
      }
      if (to == 0 || !python(to)) break;
    }
  }
  python.rethrow();
}

/// The clusters of a cut, and what else the reader needs.
template <class Real>
auto needs_cut(const std::string& by, double value, const Needs& others = {}) {
  return [&by, value, others](const Live<Real>& live) {
    require_points(live, 1);
    Needs needs = others;
    needs.cut = rule_of(by, value, live.size());
    return needs;
  };
}

/// Of questions to a tree with points in it.
template <class Real>
Needs needs_points(const Live<Real>& live) {
  require_points(live, 1);
  return {};
}

/// What is known of every leaf, by slot, as known of every point.
template <class Real>
std::vector<std::int64_t> of_points(const Live<Real>& live,
                                    const std::vector<std::int64_t>& of_leaves) {
  std::vector<std::int64_t> out;
  out.reserve(live.n_points());
  live.members()->for_each([&](Arrival, Arrival leaf) {
    RowSlot row = 0;
    live.points().find(leaf, row);
    out.push_back(of_leaves[row]);
  });
  return out;
}

template <class Real>
std::tuple<Out2<std::int64_t>, Out2<double>> nearest(LiveObject<Real>& self, const Rows<Real>& rows,
                                                     std::size_t k, std::size_t threads) {
  self.require_width(rows.shape(1));
  std::vector<std::int64_t> ids(rows.shape(0) * k);
  std::vector<double> distances(rows.shape(0) * k);
  for_each_row(
      self, rows.shape(0), threads,
      [&](const Live<Real>& live) {
        require_points(live, k);
        return Needs{.index = true};
      },
      rows.data(), k,
      [&](const Live<Real>& live, std::size_t i, std::span<const Neighbour> found) {
        for (std::size_t j = 0; j < k; ++j) {
          ids[i * k + j] = arrival_of(live, found[j].row);
          distances[i * k + j] = found[j].distance;
        }
      });
  return {to_numpy(std::move(ids), k), to_numpy(std::move(distances), k)};
}

/// Of each row: label and node id of the cluster of its nearest point, that point, how
/// far it is, and if wanted the path code of the cluster.
template <class Real>
Assigned assign(LiveObject<Real>& self, const Rows<Real>& rows, const std::string& by, double value,
                std::size_t threads, bool with_codes) {
  self.require_width(rows.shape(1));
  const std::size_t n = rows.shape(0);
  std::vector<std::int64_t> labels(n), nodes(n), points(n);
  std::vector<double> distances(n);
  std::vector<std::string> codes(with_codes ? n : 0);
  for_each_row(self, n, threads, needs_cut<Real>(by, value, {.index = true}), rows.data(), 1,
               [&](const Live<Real>& live, std::size_t i, std::span<const Neighbour> found) {
                 const NodeId cluster = live.frontier().cluster_of(NodeId::leaf(found.front().row));
                 labels[i] = static_cast<std::int64_t>(live.frontier().label_of(cluster));
                 nodes[i] = public_id(live, cluster);
                 points[i] = arrival_of(live, found.front().row);
                 distances[i] = found.front().distance;
                 if (with_codes) codes[i] = code_of(live, cluster);
               });
  return {to_numpy(std::move(labels)), to_numpy(std::move(nodes)), to_numpy(std::move(points)),
          to_numpy(std::move(distances)), std::move(codes)};
}

/// Label and node id of the cluster of each of these points, and if wanted its path code.
template <class Real>
std::tuple<Out1<std::int64_t>, Out1<std::int64_t>, std::vector<std::string>> cluster_of(
    LiveObject<Real>& self, const Vector<std::int64_t>& numbers, const std::string& by,
    double value, bool with_codes) {
  std::vector<std::int64_t> labels, nodes;
  std::vector<std::string> codes;
  {
    const nb::gil_scoped_release release;
    const ReadingTurn<Real, HasNoGil> turn(self, needs_cut<Real>(by, value));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const NodeId cluster = turn->frontier().cluster_of(leaf_of(*turn, numbers.data()[i]));
      labels.push_back(static_cast<std::int64_t>(turn->frontier().label_of(cluster)));
      nodes.push_back(public_id(*turn, cluster));
      if (with_codes) codes.push_back(code_of(*turn, cluster));
    }
  }
  return {to_numpy(std::move(labels)), to_numpy(std::move(nodes)), std::move(codes)};
}

/// Labels of all points, in order of arrival.
template <class Real>
Out1<std::int64_t> labels(LiveObject<Real>& self, const std::string& by, double value) {
  std::vector<std::int64_t> out;
  {
    const nb::gil_scoped_release release;
    const ReadingTurn<Real, HasNoGil> turn(self, needs_cut<Real>(by, value, {.no_holes = true}));
    out.resize(turn->size());
    turn->frontier().label_all(out.data());
    if (turn->members() != nullptr) out = of_points(*turn, out);
  }
  return to_numpy(std::move(out));
}

/// Of each cluster of a cut: node id, size, mean, height, first point.
template <class Real>
std::tuple<Out1<std::int64_t>, Out1<double>, Out2<Real>, Out1<double>, Out1<std::int64_t>> clusters(
    LiveObject<Real>& self, const std::string& by, double value) {
  std::vector<std::int64_t> nodes, firsts;
  std::vector<Real> means;
  std::vector<double> heights, sizes;
  {
    const nb::gil_scoped_release release;
    const ReadingTurn<Real, HasNoGil> turn(self, needs_cut<Real>(by, value));
    for (const NodeId v : turn->frontier().clusters()) {
      const Tree<Real>& tree = turn->frozen();
      nodes.push_back(public_id(*turn, v));
      sizes.push_back(tree.weight(v));
      firsts.push_back(arrival_of(*turn, tree.first_leaf(v)));
      heights.push_back(v.is_leaf() ? 0 : tree.heights(v).monotone);
      append_mean(tree, v, means);
    }
  }
  return {to_numpy(std::move(nodes)), to_numpy(std::move(sizes)),
          to_numpy(std::move(means), self.dim()), to_numpy(std::move(heights)),
          to_numpy(std::move(firsts))};
}

template <class Real>
OutlineArrays<Real> outline(LiveObject<Real>& self, std::size_t m, const std::string& by,
                            double value) {
  std::vector<std::int64_t> ids, children, counts, firsts;
  std::vector<double> weights, ssds, heights;
  std::vector<Real> means;
  std::size_t frontier = 0;
  {
    const nb::gil_scoped_release release;
    const ReadingTurn<Real, HasNoGil> turn(self, needs_points<Real>);
    const Outline<Real> found = turn->outline(m, rule_of(by, value, kMaxPoints));
    const Tree<Real>& tree = turn->frozen();
    frontier = found.frontier_size();
    children.assign(found.children().begin(), found.children().end());
    for (const NodeId v : found.nodes()) {
      const Heights own = v.is_leaf() ? Heights{0, 0} : tree.heights(v);
      ids.push_back(public_id(*turn, v));
      weights.push_back(tree.weight(v));
      counts.push_back(tree.count(v));
      ssds.push_back(tree.ssd(v));
      heights.insert(heights.end(), {own.own, own.monotone});
      firsts.push_back(arrival_of(*turn, tree.first_leaf(v)));
      append_mean(tree, v, means);
    }
  }
  return {frontier,
          to_numpy(std::move(ids)),
          to_numpy(std::move(children)),
          to_numpy(std::move(weights)),
          to_numpy(std::move(counts)),
          to_numpy(std::move(ssds)),
          to_numpy(std::move(heights), 2),
          to_numpy(std::move(firsts)),
          to_numpy(std::move(means), self.dim())};
}

/// Where in such an outline the units of points are; of all, in order of arrival, if none
/// are named.
template <class Real>
Out1<std::int64_t> units(LiveObject<Real>& self, const std::optional<Vector<std::int64_t>>& numbers,
                         std::size_t m, const std::string& by, double value) {
  std::vector<std::int64_t> out;
  {
    const nb::gil_scoped_release release;
    const ReadingTurn<Real, HasNoGil> turn(self, [&](const Live<Real>& live) {
      require_points(live, 1);
      return Needs{.no_holes = !numbers};
    });
    const Outline<Real> found = turn->outline(m, rule_of(by, value, kMaxPoints));
    if (numbers) {
      for (std::size_t i = 0; i < numbers->size(); ++i)
        out.push_back(static_cast<std::int64_t>(found.unit_of(leaf_of(*turn, numbers->data()[i]))));
    } else {
      out.resize(turn->size());
      found.units_of_all(out.data());
    }
  }
  return to_numpy(std::move(out));
}

/// Node ids from the root down to a point, and its turns, 0 to the child with the
/// earlier first point.
template <class Real>
std::tuple<Out1<std::int64_t>, std::string> path(LiveObject<Real>& self, std::int64_t number) {
  const ReadingTurn turn(self, needs_points<Real>);
  std::vector<std::int64_t> nodes;
  const NodeId leaf = leaf_of(*turn, number);
  for (NodeId v = leaf; v != kNone; v = turn->frozen().parent(v))
    nodes.push_back(public_id(*turn, v));
  std::reverse(nodes.begin(), nodes.end());
  return {to_numpy(std::move(nodes)), code_of(*turn, leaf)};
}

template <class Real>
std::int64_t lca(LiveObject<Real>& self, std::int64_t one, std::int64_t other) {
  const ReadingTurn turn(self, needs_points<Real>);
  const Tree<Real>& tree = turn->frozen();
  NodeId a = leaf_of(*turn, one), b = leaf_of(*turn, other);
  std::size_t depth_a = depth_of(*turn, a), depth_b = depth_of(*turn, b);
  for (; depth_a > depth_b; --depth_a) a = tree.parent(a);
  for (; depth_b > depth_a; --depth_b) b = tree.parent(b);
  for (; a != b; a = tree.parent(a), b = tree.parent(b)) {
  }
  return public_id(*turn, a);
}

template <class Real>
std::size_t depth(LiveObject<Real>& self, std::int64_t number) {
  const ReadingTurn turn(self);
  require_points(*turn, 1);
  return depth_of(*turn, leaf_of(*turn, number));
}

}  // namespace

template <class Real>
void bind_live_reads(nb::class_<LiveObject<Real>>& object) {
  object
      .def("nearest", &nearest<Real>, nb::arg("rows").noconvert(), nb::arg("k") = 1,
           nb::arg("threads") = 1,
           "Numbers and distances of the k nearest points of each row, nearest first.")
      .def("assign", &assign<Real>, nb::arg("rows").noconvert(), nb::arg("by"), nb::arg("value"),
           nb::arg("threads") = 1, nb::arg("with_codes") = false,
           "Label and node id of the cluster of each row's nearest point; that point, its "
           "distance, and if wanted the cluster's path code.")
      .def("cluster_of", &cluster_of<Real>, nb::arg("numbers").noconvert(), nb::arg("by"),
           nb::arg("value"), nb::arg("with_codes") = false,
           "Label, node id and if wanted path code of the cluster of each of these points.")
      .def("labels", &labels<Real>, nb::arg("by"), nb::arg("value"),
           "Labels of all points, in order of arrival.")
      .def("clusters", &clusters<Real>, nb::arg("by"), nb::arg("value"),
           "Node id, size, mean, height and first point of each cluster of a cut.")
      .def("outline", &outline<Real>, nb::arg("m"), nb::arg("by"), nb::arg("value"),
           "The tree opened into its m widest parts, and below as a cut of a larger tree may: how "
           "many nodes are the m; each one's id, first child, points, leaves, ssd, heights, first "
           "point, mean.")
      .def("units", &units<Real>, nb::arg("numbers").noconvert().none(), nb::arg("m"),
           nb::arg("by"), nb::arg("value"),
           "Where in such an outline the nodes that points are below, and that it does not open, "
           "are.")
      .def("path", &path<Real>, nb::arg("number"),
           "Node ids from the root down to a point, and the turns on the way.")
      .def("lca", &lca<Real>, nb::arg("one"), nb::arg("other"),
           "Node id of the lowest common ancestor of two points.")
      .def("depth", &depth<Real>, nb::arg("number"), "Number of merges above a point.");
}

template void bind_live_reads(nb::class_<LiveObject<float>>&);
template void bind_live_reads(nb::class_<LiveObject<double>>&);

}  // namespace ramify::bindings
