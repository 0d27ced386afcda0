// SPDX-License-Identifier: BSD-3-Clause
// bind_live_writes.cpp: what changes a live tree, and what people say about it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "live_object.hpp"
#include "python_pulse.hpp"
#include "threads.hpp"

namespace ramify::bindings {
namespace {

/// Of each round of polishing: subtrees, what the old top and the new one are worth, is it kept?
using Round = std::tuple<std::size_t, double, double, bool>;

template <class Real>
Batch<Real> batch_of(const Rows<Real>& rows, const std::optional<Vector<double>>& weights,
                     const std::optional<Vector<std::uint64_t>>& leaving,
                     const std::optional<Vector<std::uint64_t>>& before) {
  const bool fits = (!weights || weights->size() == rows.shape(0)) &&
                    leaving.has_value() == before.has_value() &&
                    (!leaving || leaving->size() == before->size());
  if (!fits) throw std::invalid_argument("the arrays of a batch do not fit each other");
  Batch<Real> out{rows.data(), rows.shape(0)};
  if (weights) out.weights = weights->data();
  if (leaving) {
    out.leaving = {leaving->data(), leaving->size()};
    out.before = {before->data(), before->size()};
  }
  return out;
}

/// work(pulse) without the GIL; raises what Python raised meanwhile, when the work has
/// left the tree as it should be.
template <class Work>
auto pulsed(nb::object pulse, const Work& work) {
  PythonPulse python(std::move(pulse));
  auto done = [&] {
    const nb::gil_scoped_release release;
    return work(Pulse(std::ref(python)));
  }();
  python.rethrow();
  return done;
}

template <class Real>
std::size_t insert_many(LiveObject<Real>& self, const Rows<Real>& rows, nb::object pulse,
                        std::size_t threads, const std::optional<Vector<double>>& weights,
                        const std::optional<Vector<std::uint64_t>>& leaving,
                        const std::optional<Vector<std::uint64_t>>& before) {
  self.require_width(rows.shape(1));
  const Batch<Real> batch = batch_of(rows, weights, leaving, before);
  PythonPulse python(std::move(pulse));
  std::size_t done = 0;
  {
    const WritingTurn turn(self);
    const nb::gil_scoped_release release;
    Threads helpers(threads);
    // Often enough for readers, and not so often that they take all the time.
    auto since = std::chrono::steady_clock::now();
    const auto let_readers_in = [&] {
      if (std::chrono::steady_clock::now() - since < std::chrono::milliseconds(1)) return;
      turn.let_readers_in();
      since = std::chrono::steady_clock::now();
    };
    done = turn->insert_many(batch, Pulse(std::ref(python), let_readers_in), helpers);
  }
  python.rethrow();
  return done;
}

template <class Real>
std::uint64_t insert_one(LiveObject<Real>& self, const Row<Real>& row) {
  self.require_width(row.shape(0));
  const WritingTurn turn(self);
  turn->insert_many({row.data(), 1}, {});
  return turn->points().next_arrival() - 1;
}

template <class Real>
void insert_beside(LiveObject<Real>& self, const Rows<Real>& rows,
                   const Rows<std::uint64_t>& nearest,
                   const std::optional<Vector<std::uint64_t>>& numbers,
                   const std::optional<Vector<double>>& weights) {
  self.require_width(rows.shape(1));
  const Batch<Real> batch = batch_of(rows, weights, std::nullopt, std::nullopt);
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  turn->insert_beside(batch, {nearest.data(), nearest.size()}, nearest.shape(1),
                      numbers ? std::span<const Arrival>(numbers->data(), numbers->size())
                              : std::span<const Arrival>());
}

template <class Real>
std::size_t begin_with_hac(LiveObject<Real>& self, const Rows<Real>& rows, nb::object pulse,
                           const std::optional<Vector<double>>& weights, std::size_t threads) {
  self.require_width(rows.shape(1));
  const Batch<Real> batch = batch_of(rows, weights, std::nullopt, std::nullopt);
  const WritingTurn turn(self);
  return pulsed(std::move(pulse), [&](const Pulse& own) {
    Threads helpers(threads);
    return turn->begin_with_hac(batch, own, helpers);
  });
}

template <class Real>
void adopt(LiveObject<Real>& self, const Rows<Real>& rows, const Pairs& children,
           const std::optional<Vector<double>>& weights, bool as_stored) {
  self.require_width(rows.shape(1));
  Batch<Real> batch = batch_of(rows, weights, std::nullopt, std::nullopt);
  batch.as_stored = as_stored;
  const Children tree = tree_of(children);
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  turn->adopt(batch, tree);
}

template <class Real>
std::vector<Round> polish(LiveObject<Real>& self, std::optional<std::size_t> m, nb::object pulse) {
  const WritingTurn turn(self);
  const std::vector<PolishRound> rounds =
      pulsed(std::move(pulse), [&](const Pulse& own) { return turn->polish(m, own); });
  std::vector<Round> told;
  told.reserve(rounds.size());
  for (const auto& [subtrees, before, after, is_better] : rounds)
    told.emplace_back(subtrees, before, after, is_better);
  return told;
}

template <class Real>
std::tuple<std::size_t, std::uint64_t, bool> refine(LiveObject<Real>& self, std::size_t sweeps,
                                                    double slack, nb::object pulse) {
  const WritingTurn turn(self);
  const Refinement done =
      pulsed(std::move(pulse), [&](const Pulse& own) { return turn->refine(sweeps, slack, own); });
  return {done.sweeps, done.interchanges, done.converged};
}

template <class Real>
bool erase(LiveObject<Real>& self, std::uint64_t number) {
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  return turn->erase(number);
}

template <class Real>
std::size_t erase_many(LiveObject<Real>& self, const Vector<std::uint64_t>& numbers) {
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  return turn->erase_many({numbers.data(), numbers.size()});
}

template <class Real>
void check_erase(LiveObject<Real>& self, const Vector<std::uint64_t>& numbers) {
  const ReadingTurn turn(self);
  turn->check_erase({numbers.data(), numbers.size()});
}

template <class Real>
bool weigh(LiveObject<Real>& self, std::uint64_t number, double weight) {
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  return turn->weigh(number, weight);
}

template <class Real>
void set_max_leaves(LiveObject<Real>& self, std::size_t most) {
  const WritingTurn turn(self);
  turn->set_max_leaves(most);
}

template <class Real>
void link(LiveObject<Real>& self, std::uint64_t one, std::uint64_t other) {
  const WritingTurn turn(self);
  turn->link(one, other);
}

template <class Real>
void unlink(LiveObject<Real>& self, std::uint64_t number) {
  const WritingTurn turn(self);
  turn->unlink(number);
}

template <class Real>
void move(LiveObject<Real>& self, std::int64_t node, std::int64_t under) {
  const WritingTurn turn(self);
  turn->move(node, under);
}

template <class Real>
void check_link(LiveObject<Real>& self, std::uint64_t one, std::uint64_t other) {
  const ReadingTurn turn(self);
  turn->check_link(one, other);
}

template <class Real>
void check_move(LiveObject<Real>& self, std::int64_t node, std::int64_t under) {
  const WritingTurn turn(self);
  turn->check_move(node, under);
}

template <class Real>
void release(LiveObject<Real>& self, std::int64_t node) {
  const WritingTurn turn(self);
  turn->release(node);
}

template <class Real>
Out1<std::int64_t> held(LiveObject<Real>& self) {
  const ReadingTurn turn(self);
  return to_numpy(turn->held());
}

/// For each point the first of those that it is linked with, itself included.
template <class Real>
Out1<std::int64_t> wholes(LiveObject<Real>& self, const Vector<std::int64_t>& numbers) {
  const WritingTurn turn(self);
  std::vector<std::int64_t> out;
  out.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out.push_back(
        static_cast<std::int64_t>(turn->whole(static_cast<std::uint64_t>(numbers.data()[i]))));
  return to_numpy(std::move(out));
}

template <class Real>
std::vector<std::uint64_t> together(LiveObject<Real>& self, std::uint64_t number) {
  const ReadingTurn turn(self);
  return turn->together(number);
}

template <class Real>
bool has_node(LiveObject<Real>& self, std::int64_t id) {
  const WritingTurn turn(self);
  return turn->has_node(id);
}

template <class Real>
bool is_held(LiveObject<Real>& self, std::int64_t id) {
  const WritingTurn turn(self);
  return turn->is_held(id);
}

template <class Real>
void record(LiveObject<Real>& self, bool on, bool all) {
  const WritingTurn turn(self);
  turn->record(on, all);
}

/// What became of the tree since the last call (core/tree/change.hpp).
template <class Real>
State take_change(LiveObject<Real>& self) {
  const WritingTurn turn(self);
  Change change;
  {
    const nb::gil_scoped_release release;
    change = turn->take_change();
  }
  std::vector<std::int64_t> families;
  std::vector<double> values;
  for (const Change::Family& family : change.families) {
    families.insert(families.end(), {family.node, family.left, family.right});
    values.insert(values.end(), {family.height, family.monotone, static_cast<double>(family.count),
                                 family.weight, static_cast<double>(family.first)});
  }
  const auto numbers = [](const std::vector<Arrival>& of) {
    return to_numpy(std::vector<std::int64_t>(of.begin(), of.end()));
  };
  State out;
  out["version"] = change.version;
  out["inserted"] = numbers(change.inserted);
  out["erased"] = numbers(change.erased);
  out["vanished"] = to_numpy(std::move(change.vanished));
  out["families"] = to_numpy(std::move(families), 3);
  out["values"] = to_numpy(std::move(values), 5);
  std::vector<std::int64_t> earlier;
  std::vector<double> heights;
  for (const Change::Earlier& one : change.earlier) {
    earlier.insert(earlier.end(), {one.node, one.left, one.right});
    heights.push_back(one.height);
  }
  out["earlier"] = to_numpy(std::move(earlier), 3);
  out["heights_before"] = to_numpy(std::move(heights));
  const auto tell_weights = [&](const char* leaves_name, const char* weights_name,
                                const std::vector<Change::Weighed>& of) {
    std::vector<std::int64_t> leaves;
    std::vector<double> weights;
    for (const auto& [leaf, weight] : of) {
      leaves.push_back(static_cast<std::int64_t>(leaf));
      weights.push_back(weight);
    }
    out[leaves_name] = to_numpy(std::move(leaves));
    out[weights_name] = to_numpy(std::move(weights));
  };
  const auto members = [](const std::vector<Change::Member>& of) {
    std::vector<std::int64_t> pairs;
    for (const auto& [point, leaf] : of)
      pairs.insert(pairs.end(),
                   {static_cast<std::int64_t>(point), static_cast<std::int64_t>(leaf)});
    return to_numpy(std::move(pairs), 2);
  };
  out["weighted"] = turn->points().weighted();
  tell_weights("weighed", "weights", change.weighed);
  tell_weights("weighed_before", "weights_before", change.weighed_before);
  out["several"] = turn->leaves_are_many();
  out["came"] = numbers(change.came);
  out["left"] = members(change.left);
  out["absorbed"] = members(change.absorbed);
  out["incomplete"] = change.incomplete;
  return out;
}

template <class Real>
void regroup(LiveObject<Real>& self, const Vector<std::uint32_t>& group_of,
             const Vector<std::uint32_t>& above) {
  const WritingTurn turn(self);
  const nb::gil_scoped_release release;
  turn->regroup({group_of.data(), group_of.size()}, {above.data(), above.size()});
}

}  // namespace

template <class Real>
void bind_live_writes(nb::class_<LiveObject<Real>>& object) {
  object
      .def("insert_many", &insert_many<Real>, nb::arg("rows").noconvert(),
           nb::arg("pulse") = nb::none(), nb::arg("threads") = 1,
           nb::arg("weights").noconvert() = nb::none(), nb::arg("leaving").noconvert() = nb::none(),
           nb::arg("before").noconvert() = nb::none(),
           "Insert finite rows in order; returns how many. Calls pulse(done) now and then. Point "
           "leaving[i] is erased before row before[i] comes.")
      .def("insert_one", &insert_one<Real>, nb::arg("row").noconvert(),
           "Insert one row; returns its id.")
      .def("insert_beside", &insert_beside<Real>, nb::arg("rows").noconvert(),
           nb::arg("nearest").noconvert(), nb::arg("numbers").noconvert() = nb::none(),
           nb::arg("weights").noconvert() = nb::none(),
           "Insert rows as if each one's nearest points were these; 2^64 - 1 is none. With numbers "
           "of the caller's, ascending and new.")
      .def("begin_with_hac", &begin_with_hac<Real>, nb::arg("rows").noconvert(),
           nb::arg("pulse") = nb::none(), nb::arg("weights").noconvert() = nb::none(),
           nb::arg("threads") = 1,
           "Begin with these rows, merged as offline HAC does; returns how many.")
      .def("adopt", &adopt<Real>, nb::arg("rows").noconvert(), nb::arg("children"),
           nb::arg("weights").noconvert() = nb::none(), nb::arg("as_stored") = false,
           "Begin with these rows in a tree of this shape; as_stored: scaled already, if they "
           "have to be.")
      .def("polish", &polish<Real>, nb::arg("m").none(), nb::arg("pulse") = nb::none(),
           "Merge the m subtrees at the top anew; without m, in rounds. Of each round: how many "
           "subtrees, what the old top and the new one are worth, and whether it is kept.")
      .def("refine", &refine<Real>, nb::arg("sweeps"), nb::arg("slack"),
           nb::arg("pulse") = nb::none(),
           "Local search by interchanges; returns sweeps, interchanges, and whether none is left.")
      .def("erase", &erase<Real>, nb::arg("number"),
           "Take a leaf out again; False if there is no such leaf.")
      .def("erase_many", &erase_many<Real>, nb::arg("numbers").noconvert(),
           "Take leaves out again; returns how many of them there were.")
      .def("check_erase", &check_erase<Real>, nb::arg("numbers").noconvert(),
           "Refuse leaves that cannot be taken out; nothing changes.")
      .def("weigh", &weigh<Real>, nb::arg("number"), nb::arg("weight"),
           "Have a leaf stand for this many equal points; False if it is not there.")
      .def("set_max_leaves", &set_max_leaves<Real>, nb::arg("most"),
           "Keep to another budget from the next row on.")
      .def("link", &link<Real>, nb::arg("one"), nb::arg("other"), "Have two points as one.")
      .def("unlink", &unlink<Real>, nb::arg("number"),
           "A point and all that it is linked with are points like others again.")
      .def("move", &move<Real>, nb::arg("node"), nb::arg("under"),
           "Put a node below another, which is held from now on.")
      .def("check_link", &check_link<Real>, nb::arg("one"), nb::arg("other"),
           "Refuse what link would refuse; nothing changes.")
      .def("check_move", &check_move<Real>, nb::arg("node"), nb::arg("under"),
           "Refuse what move would refuse; nothing changes.")
      .def("release", &release<Real>, nb::arg("node"), "A node is held no more.")
      .def("held", &held<Real>, "Ids of the held nodes.")
      .def("wholes", &wholes<Real>, nb::arg("numbers"),
           "For each point the earliest leaf that it is linked with; its own if with none.")
      .def("together", &together<Real>, nb::arg("number"),
           "All points that are in one leaf with a point, or linked with it.")
      .def("has_node", &has_node<Real>, nb::arg("id"), "Is there a node with this id?")
      .def("is_held", &is_held<Real>, nb::arg("id"), "Is there this node, and is it held?")
      .def("record", &record<Real>, nb::arg("on"), nb::arg("all") = true,
           "Write down what happens from now on; the first change tells all, or that alone.")
      .def("take_change", &take_change<Real>, "What became of the tree since the last call.")
      .def("regroup", &regroup<Real>, nb::arg("group_of").noconvert(), nb::arg("above").noconvert(),
           "Make a 'nested' tree anew: the group of each point, the group above each group.");
}

template void bind_live_writes(nb::class_<LiveObject<float>>&);
template void bind_live_writes(nb::class_<LiveObject<double>>&);

}  // namespace ramify::bindings
