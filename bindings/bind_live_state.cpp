// SPDX-License-Identifier: BSD-3-Clause
// bind_live_state.cpp: all there is in a live tree: snapshots, rows, summaries, stored arrays.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "live_nodes.hpp"
#include "live_object.hpp"
#include "tree/snapshot.hpp"

namespace ramify::bindings {
namespace {

using Arrays = std::tuple<Out2<std::int64_t>, Out1<double>, Out1<std::int64_t>>;

/// A snapshot, and whose version, numbers, weights, earliest points, members and rows it is of.
template <class Real>
struct Taken {
  Snapshot snapshot;
  std::uint64_t version = 0;
  std::vector<Arrival> numbers;
  std::vector<double> weights;
  std::vector<Arrival> firsts;
  std::vector<std::int64_t> members;
  std::vector<Real> rows;
};

/// The arrays of a state. Large trees take a while to copy, and other threads go on.
template <class Real>
struct Copies {
  std::vector<Real> points;
  std::vector<std::uint32_t> links;
  std::vector<std::uint64_t> names;
  std::vector<Real> means;
  std::vector<double> ssds;
  std::vector<Arrival> arrivals;
  std::vector<double> standings;
  std::vector<std::uint64_t> members;
  std::vector<double> shares;
  Memory memory;
};

/// Rows are in order of arrival.
template <class Real>
Needs needs_rows(const Live<Real>&) {
  return {.no_holes = true};
}

/// The arrays are copied in our turn, and put in order when it has passed.
template <class Real>
Taken<Real> take_snapshot(LiveObject<Real>& self, bool with_points) {
  FlatTree flat;
  Taken<Real> taken;
  {
    const nb::gil_scoped_release release;
    const ReadingTurn<Real, HasNoGil> turn(self, needs_rows<Real>);
    if (turn->size() == 0) throw std::invalid_argument("an empty tree has no snapshot");
    flat = flatten(turn->frozen());
    taken.version = turn->version();
    taken.numbers = turn->points().numbers();
    taken.numbers.resize(std::min(taken.numbers.size(), turn->end()));
    for (const Standing& standing :
         turn->points().standings().first(std::min(turn->points().standings().size(), turn->end())))
      taken.weights.push_back(standing.weight);
    if (turn->members() != nullptr) taken.firsts = turn->members()->firsts();
    if (turn->members() != nullptr && with_points)
      turn->members()->for_each([&](Arrival point, Arrival leaf) {
        for (const Arrival one : {point, leaf})
          taken.members.push_back(static_cast<std::int64_t>(one));
      });
    const auto values = turn->points().values().first(with_points ? turn->end() * self.dim() : 0);
    taken.rows.assign(values.begin(), values.end());
  }
  const nb::gil_scoped_release release;
  taken.snapshot = number(flat);
  return taken;
}

template <class Real>
Copies<Real> copies(LiveObject<Real>& self, const QuietTime<Real>& quiet) {
  Copies<Real> out;
  {  // what was put off, and might be done by a reader; what searches may change
    const ReadingTurn<Real, HasNoGil> turn(self, needs_rows<Real>);
    out.memory = turn->memory();
  }
  const Tree<Real>& tree = quiet->frozen();
  const auto values = tree.points().values();
  out.points.assign(values.begin(), values.end());
  out.links = tree.link_array();
  out.names = tree.ids();
  out.means = tree.means();
  out.ssds = tree.ssds();
  out.arrivals = tree.points().numbers();
  for (const Standing& standing : tree.points().standings())
    out.standings.insert(out.standings.end(), {standing.weight, standing.ssd});
  if (quiet->members() != nullptr)
    for (const Members::Member& member : quiet->members()->stored()) {
      out.members.insert(out.members.end(), {member.point, member.leaf, member.here ? 1U : 0U});
      out.shares.push_back(member.weight);
    }
  return out;
}

template <class Real>
bool has(LiveObject<Real>& self, std::uint64_t number) {
  const ReadingTurn turn(self);
  RowSlot row = 0;
  return turn->find(number, row);
}

/// The numbers of the leaves that points are in, or of the earliest point in each.
template <class Real>
Out1<std::int64_t> leaf_numbers(LiveObject<Real>& self, const Vector<std::int64_t>& numbers,
                                bool by_first) {
  const ReadingTurn turn(self);
  std::vector<std::int64_t> out(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out[i] = by_first ? arrival_of(*turn, leaf_of(*turn, numbers.data()[i]).row())
                      : -1 - public_id(*turn, leaf_of(*turn, numbers.data()[i]));
  return to_numpy(std::move(out));
}

/// Arrival numbers of the points, in order.
template <class Real>
Out1<std::int64_t> numbers(LiveObject<Real>& self) {
  const ReadingTurn turn(self);
  std::vector<std::int64_t> out;
  if (turn->members() != nullptr)
    turn->members()->for_each(
        [&](Arrival point, Arrival) { out.push_back(static_cast<std::int64_t>(point)); });
  else
    for (RowSlot row = 0; row < turn->end(); ++row)
      if (!turn->points().is_hole(row)) out.push_back(arrival_of(*turn, row));
  return to_numpy(std::move(out));
}

template <class Real>
Out1<double> weights(LiveObject<Real>& self) {
  const ReadingTurn turn(self);
  return to_numpy(turn->weights());
}

/// The version, the numbers of its leaves (none: 0, 1, 2, ...), their weights (none: 1), the
/// earliest point in each (none: that of its number); if wanted each point and the leaf that it
/// is in (none: itself), and the rows; its arrays.
template <class Real>
std::tuple<std::uint64_t, Out1<std::uint64_t>, Out1<double>, Out1<std::uint64_t>,
           Out2<std::int64_t>, Out2<Real>, Arrays>
versioned_snapshot(LiveObject<Real>& self, bool with_points) {
  auto [snapshot, version, numbers, weights, firsts, members, rows] =
      take_snapshot(self, with_points);
  return {version,
          to_numpy(std::move(numbers)),
          to_numpy(std::move(weights)),
          to_numpy(std::move(firsts)),
          to_numpy(std::move(members), 2),
          to_numpy(std::move(rows), self.dim()),
          Arrays{to_numpy(std::move(snapshot.children), 2), to_numpy(std::move(snapshot.heights)),
                 to_numpy(std::move(snapshot.ids))}};
}

template <class Real>
Arrays snapshot(LiveObject<Real>& self) {
  return std::get<6>(versioned_snapshot(self, false));
}

template <class Real>
Out2<Real> points(LiveObject<Real>& self, std::size_t first) {
  const ReadingTurn turn(self, needs_rows<Real>);
  if (first > turn->size()) throw std::invalid_argument("there are not that many points");
  const auto values =
      turn->points().values().first(turn->end() * self.dim()).subspan(first * self.dim());
  return to_numpy(std::vector<Real>(values.begin(), values.end()), self.dim());
}

template <class Real>
std::tuple<Out1<double>, Out2<Real>, Out1<double>> summaries(LiveObject<Real>& self) {
  // One for both, so that nodes of the snapshot are still there.
  const ReadingTurn turn(self, needs_rows<Real>);
  if (turn->size() == 0) throw std::invalid_argument("an empty tree has no snapshot");
  const Tree<Real>& tree = turn->frozen();
  const Snapshot snapshot = number(flatten(tree));
  std::vector<double> sizes;
  std::vector<Real> means;
  std::vector<double> ssds;
  for (const NodeId v : snapshot.nodes) {
    sizes.push_back(tree.weight(v));
    append_mean(tree, v, means);
    ssds.push_back(tree.ssd(v));
  }
  return {to_numpy(std::move(sizes)), to_numpy(std::move(means), self.dim()),
          to_numpy(std::move(ssds))};
}

template <class Real>
std::tuple<double, double, double, double> certificate(LiveObject<Real>& self) {
  const ReadingTurn turn(self);
  if (turn->certificate() == nullptr) throw std::invalid_argument("this tree keeps no certificate");
  const Certificate& kept = *turn->certificate();
  return {kept.beta, kept.guaranteed.get(), kept.achieved.get(), kept.maximum.get()};
}

template <class Real>
double recall(LiveObject<Real>& self) {
  const ReadingTurn turn(self);
  return turn->recall();
}

template <class Real>
void check(LiveObject<Real>& self) {
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  turn->check();
}

/// No thread may change the tree meanwhile, and readers go on.
template <class Real>
State state(LiveObject<Real>& self) {
  const QuietTime quiet(self);
  Copies<Real> found = [&] {
    const nb::gil_scoped_release release;
    return copies(self, quiet);
  }();
  State out;
  out["points"] = to_numpy(std::move(found.points), self.dim());
  out["links"] = to_numpy(std::move(found.links), 3);
  out["names"] = to_numpy(std::move(found.names));
  out["next_name"] = to_numpy(std::vector<std::uint64_t>{quiet->frozen().next_id()});
  out["mean"] = to_numpy(std::move(found.means), self.dim());
  out["ssd"] = to_numpy(std::move(found.ssds));
  out["arrivals"] = to_numpy(std::move(found.arrivals));
  out["next_arrival"] = to_numpy(std::vector<std::uint64_t>{quiet->points().next_arrival()});
  out["standings"] = to_numpy(std::move(found.standings), 2);
  out["members"] = to_numpy(std::move(found.members), 3);
  out["shares"] = to_numpy(std::move(found.shares));
  out["marks"] = to_numpy(std::move(found.memory.marks));
  out["numbers"] = to_numpy(std::move(found.memory.numbers));
  return out;
}

template <class Array>
std::span<const typename Array::Scalar> span_of(const Array& array) {
  return {array.data(), array.size()};
}

/// The points in leaves that stand for several; what they say of each other is believed,
/// and was looked at in Python.
std::vector<Members::Member> members_of(const Rows<std::uint64_t>& members,
                                        const Vector<double>& shares) {
  if (members.shape(0) != shares.size() || members.shape(1) != 3)
    throw std::invalid_argument("the arrays of a stored tree do not fit each other");
  std::vector<Members::Member> out;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::uint64_t* const one = members.data() + 3 * i;
    out.push_back({one[0], one[1], shares.data()[i], 0, one[2] != 0});
  }
  return out;
}

template <class Real>
LiveObject<Real>* from_state(std::size_t dim, const Options& options, const State& state) {
  const auto points = nb::cast<Rows<Real>>(state["points"], false);
  const auto links = nb::cast<Rows<std::uint32_t>>(state["links"], false);
  const auto names = nb::cast<Vector<std::uint64_t>>(state["names"], false);
  const auto next_name = nb::cast<Vector<std::uint64_t>>(state["next_name"], false);
  const auto mean = nb::cast<Rows<Real>>(state["mean"], false);
  const auto ssd = nb::cast<Vector<double>>(state["ssd"], false);
  const auto arrivals = nb::cast<Vector<std::uint64_t>>(state["arrivals"], false);
  const auto next_arrival = nb::cast<Vector<std::uint64_t>>(state["next_arrival"], false);
  const auto marks = nb::cast<Vector<std::uint32_t>>(state["marks"], false);
  const auto numbers = nb::cast<Vector<double>>(state["numbers"], false);
  const auto standings = nb::cast<Rows<double>>(state["standings"], false);
  const auto members = nb::cast<Rows<std::uint64_t>>(state["members"], false);
  const auto shares = nb::cast<Vector<double>>(state["shares"], false);
  if (points.shape(1) != width_of(dim) || next_name.size() != 1 || next_arrival.size() != 1)
    throw std::invalid_argument("the arrays of a stored tree do not fit each other");
  return new LiveObject<Real>(
      dim, options,
      {span_of(points), span_of(links), span_of(names), next_name.data()[0], span_of(mean),
       span_of(ssd), span_of(arrivals), next_arrival.data()[0], span_of(standings)},
      {{marks.data(), marks.data() + marks.size()},
       {numbers.data(), numbers.data() + numbers.size()}},
      members_of(members, shares));
}

}  // namespace

template <class Real>
void bind_live_state(nb::class_<LiveObject<Real>>& object) {
  object.def("has", &has<Real>, nb::arg("number"), "Whether there is such a point.")
      .def("leaf_of", &leaf_numbers<Real>, nb::arg("numbers").noconvert(),
           nb::arg("by_first") = false,
           "The numbers of the leaves that these points are in, or of the earliest point in each.")
      .def("numbers", &numbers<Real>, "Arrival numbers of the points, in order.")
      .def("weights", &weights<Real>, "How much each point counts, in order of arrival.")
      .def("snapshot", &snapshot<Real>,
           "Children, heights and stable ids of the inner nodes, in canonical numbering.")
      .def("versioned_snapshot", &versioned_snapshot<Real>, nb::arg("with_points") = false,
           "The version, the leaves' numbers (none: 0, 1, 2, ...), weights (none: 1) and earliest "
           "points (none: of their numbers); if wanted points and the leaves they are in (none: "
           "themselves), and rows; its snapshot.")
      .def("points", &points<Real>, nb::arg("first") = 0,
           "The rows as stored (unit length under cosine), from this one on.")
      .def("summaries", &summaries<Real>,
           "Size, mean and sum of squared deviations of every node, as stored.")
      .def("certificate", &certificate<Real>,
           "Beta, and the revenue guaranteed, achieved and conceivable.")
      .def_prop_ro("recall", &recall<Real>,
                   "Share of the rows so far that were told their nearest neighbour.")
      .def("check", &check<Real>, "Test every invariant; raises RuntimeError.")
      .def("state", &state<Real>, "Everything needed to continue, as plain arrays.")
      .def_static("from_state", &from_state<Real>, nb::rv_policy::take_ownership, nb::arg("dim"),
                  nb::arg("options"), nb::arg("state"), "The inverse of state().");
}

template void bind_live_state(nb::class_<LiveObject<float>>&);
template void bind_live_state(nb::class_<LiveObject<double>>&);

}  // namespace ramify::bindings
