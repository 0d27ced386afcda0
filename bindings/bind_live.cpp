// SPDX-License-Identifier: BSD-3-Clause
// bind_live.cpp: the live tree: options by name, inserts, reads, its state as arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "live/live.hpp"
#include "live_options.hpp"
#include "python_pulse.hpp"
#include "threads.hpp"
#include "turn_lock.hpp"

namespace ramify::bindings {
namespace {

/// Arrays by name.
using State = nb::typed<nb::dict, nb::str, nb::object>;
std::size_t width_of(std::size_t dim) {
  if (dim < 1) throw std::invalid_argument("rows need at least one column");
  return dim;
}

/// A live tree that several Python threads may use: one changes it, or some read it.
template <class Real>
class PyLive {
 public:
  PyLive(const std::string& algorithm, std::size_t dim, const std::string& metric,
         const std::string& linkage, std::size_t n_neighbors, const More& more)
      : dim_(width_of(dim)),
        live_(dim, options_of(algorithm, metric, linkage, n_neighbors, more)) {}

  PyLive(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
         const Memory& memory, std::vector<Members::Member> members)
      : dim_(width_of(dim)), live_(dim, options, arrays, memory, std::move(members)) {
    publish();
  }

  // As they were when somebody last had the turn: nobody waits for these.
  std::size_t size() const { return size_; }
  std::uint64_t version() const { return version_; }
  std::size_t n_points() const { return n_points_; }
  std::uint64_t next_arrival() const { return next_arrival_; }
  std::size_t dim() const { return dim_; }

  // --- changing -----------------------------------------------------------------
  std::size_t insert_many(const Rows<Real>& rows, nb::object pulse, std::size_t threads,
                          const std::optional<Vector<double>>& weights,
                          const std::optional<Vector<std::uint64_t>>& leaving,
                          const std::optional<Vector<std::uint64_t>>& before) {
    require_width(rows.shape(1));
    const Batch<Real> batch = batch_of(rows, weights, leaving, before);
    PythonPulse python(std::move(pulse));
    std::size_t done = 0;
    {
      const WritingTurn turn(*this);
      const nb::gil_scoped_release release;
      Threads helpers(threads);
      // Often enough for readers, and not so often that they take all the time.
      auto since = std::chrono::steady_clock::now();
      const auto let_readers_in = [&] {
        if (std::chrono::steady_clock::now() - since < std::chrono::milliseconds(1)) return;
        publish();
        turn_.pass_on();
        since = std::chrono::steady_clock::now();
      };
      done = live_.insert_many(batch, Pulse(std::ref(python), let_readers_in), helpers);
    }
    python.rethrow();
    return done;
  }

  std::uint64_t insert_one(const Row<Real>& row) {
    require_width(row.shape(0));
    const WritingTurn turn(*this);
    live_.insert_many({row.data(), 1}, {});
    return live_.points().next_arrival() - 1;
  }

  void insert_beside(const Rows<Real>& rows, const Rows<std::uint64_t>& nearest,
                     const std::optional<Vector<std::uint64_t>>& numbers,
                     const std::optional<Vector<double>>& weights) {
    require_width(rows.shape(1));
    const Batch<Real> batch = batch_of(rows, weights, std::nullopt, std::nullopt);
    const WritingTurn turn(*this);
    const nb::gil_scoped_release release;
    live_.insert_beside(batch, {nearest.data(), nearest.size()}, nearest.shape(1),
                        numbers ? std::span<const Arrival>(numbers->data(), numbers->size())
                                : std::span<const Arrival>());
  }

  std::size_t begin_with_hac(const Rows<Real>& rows, nb::object pulse,
                             const std::optional<Vector<double>>& weights, std::size_t threads) {
    require_width(rows.shape(1));
    const Batch<Real> batch = batch_of(rows, weights, std::nullopt, std::nullopt);
    const WritingTurn turn(*this);
    return pulsed(std::move(pulse), [&](const Pulse& own) {
      Threads helpers(threads);
      return live_.begin_with_hac(batch, own, helpers);
    });
  }

  void adopt(const Rows<Real>& rows, const Pairs& children,
             const std::optional<Vector<double>>& weights, bool as_stored) {
    require_width(rows.shape(1));
    Batch<Real> batch = batch_of(rows, weights, std::nullopt, std::nullopt);
    batch.as_stored = as_stored;
    const Children tree = tree_of(children);
    const WritingTurn turn(*this);
    const nb::gil_scoped_release release;
    live_.adopt(batch, tree);
  }

  using Round = std::tuple<std::size_t, double, double, bool>;
  std::vector<Round> polish(std::optional<std::size_t> m, nb::object pulse) {
    const WritingTurn turn(*this);
    const std::vector<PolishRound> rounds =
        pulsed(std::move(pulse), [&](const Pulse& own) { return live_.polish(m, own); });
    std::vector<Round> told;
    told.reserve(rounds.size());
    for (const auto& [subtrees, before, after, is_better] : rounds)
      told.emplace_back(subtrees, before, after, is_better);
    return told;
  }

  std::tuple<std::size_t, std::uint64_t, bool> refine(std::size_t sweeps, double slack,
                                                      nb::object pulse) {
    const WritingTurn turn(*this);
    const Refinement done = pulsed(
        std::move(pulse), [&](const Pulse& own) { return live_.refine(sweeps, slack, own); });
    return {done.sweeps, done.interchanges, done.converged};
  }

  bool erase(std::uint64_t number) {
    const WritingTurn turn(*this);
    const nb::gil_scoped_release release;
    return live_.erase(number);
  }

  std::size_t erase_many(const Vector<std::uint64_t>& numbers) {
    const WritingTurn turn(*this);
    const nb::gil_scoped_release release;
    return live_.erase_many({numbers.data(), numbers.size()});
  }

  bool weigh(std::uint64_t number, double weight) {
    const WritingTurn turn(*this);
    const nb::gil_scoped_release release;
    return live_.weigh(number, weight);
  }

  void set_max_leaves(std::size_t most) {
    const WritingTurn turn(*this);
    live_.set_max_leaves(most);
  }

  // What people say about the tree (core/algorithms/edits.hpp).
  void link(std::uint64_t one, std::uint64_t other) {
    const WritingTurn turn(*this);
    live_.link(one, other);
  }
  void unlink(std::uint64_t number) {
    const WritingTurn turn(*this);
    live_.unlink(number);
  }
  void move(std::int64_t node, std::int64_t under) {
    const WritingTurn turn(*this);
    live_.move(node, under);
  }
  void release(std::int64_t node) {
    const WritingTurn turn(*this);
    live_.release(node);
  }
  Out1<std::int64_t> held() const {
    const Turn turn(*this);
    return to_numpy(live_.held());
  }
  /// For each point the first of those that it is linked with, itself included.
  Out1<std::int64_t> wholes(const Vector<std::int64_t>& numbers) {
    const WritingTurn turn(*this);
    std::vector<std::int64_t> out;
    out.reserve(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      out.push_back(
          static_cast<std::int64_t>(live_.whole(static_cast<std::uint64_t>(numbers.data()[i]))));
    return to_numpy(std::move(out));
  }
  std::vector<std::uint64_t> together(std::uint64_t number) const {
    const Turn turn(*this);
    return live_.together(number);
  }
  bool has_node(std::int64_t id) {
    const WritingTurn turn(*this);
    return live_.has_node(id);
  }
  bool is_held(std::int64_t id) {
    const WritingTurn turn(*this);
    return live_.is_held(id);
  }

  void record(bool on) {
    const WritingTurn turn(*this);
    live_.record(on);
  }

  /// What became of the tree since the last call (core/tree/change.hpp).
  State take_change() {
    const WritingTurn turn(*this);
    Change change;
    {
      const nb::gil_scoped_release release;
      change = live_.take_change();
    }
    std::vector<std::int64_t> families;
    std::vector<double> values;
    for (const Change::Family& family : change.families) {
      families.insert(families.end(), {family.node, family.left, family.right});
      values.insert(values.end(),
                    {family.height, family.monotone, static_cast<double>(family.count),
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
    std::vector<std::int64_t> weighed;
    std::vector<double> weights;
    for (const auto& [leaf, weight] : change.weighed) {
      weighed.push_back(static_cast<std::int64_t>(leaf));
      weights.push_back(weight);
    }
    const auto members = [](const std::vector<Change::Member>& of) {
      std::vector<std::int64_t> pairs;
      for (const auto& [point, leaf] : of)
        pairs.insert(pairs.end(),
                     {static_cast<std::int64_t>(point), static_cast<std::int64_t>(leaf)});
      return to_numpy(std::move(pairs), 2);
    };
    out["weighted"] = live_.points().weighted();
    out["weighed"] = to_numpy(std::move(weighed));
    out["weights"] = to_numpy(std::move(weights));
    out["several"] = live_.leaves_are_many();
    out["came"] = numbers(change.came);
    out["left"] = members(change.left);
    out["absorbed"] = members(change.absorbed);
    out["incomplete"] = change.incomplete;
    return out;
  }

  void regroup(const Vector<std::uint32_t>& group_of, const Vector<std::uint32_t>& above) {
    const WritingTurn turn(*this);
    const nb::gil_scoped_release release;
    live_.regroup({group_of.data(), group_of.size()}, {above.data(), above.size()});
  }

  // --- reading ------------------------------------------------------------------
  std::tuple<Out2<std::int64_t>, Out2<double>> nearest(const Rows<Real>& rows, std::size_t k,
                                                       std::size_t threads) {
    require_width(rows.shape(1));
    std::vector<std::int64_t> ids(rows.shape(0) * k);
    std::vector<double> distances(rows.shape(0) * k);
    for_each_row(
        rows.shape(0), threads, [&] { require_points(k); }, rows.data(), k,
        [&](std::size_t i, std::span<const Neighbour> found) {
          for (std::size_t j = 0; j < k; ++j) {
            ids[i * k + j] = arrival(found[j].row);
            distances[i * k + j] = found[j].distance;
          }
        });
    return {to_numpy(std::move(ids), k), to_numpy(std::move(distances), k)};
  }

  using Assigned = std::tuple<Out1<std::int64_t>, Out1<std::int64_t>, Out1<std::int64_t>,
                              Out1<double>, std::vector<std::string>>;

  /// Of each row: label and node id of the cluster of its nearest point, that point, how
  /// far it is, and if wanted the path code of the cluster.
  Assigned assign(const Rows<Real>& rows, const std::string& by, double value, std::size_t threads,
                  bool with_codes) {
    require_width(rows.shape(1));
    const std::size_t n = rows.shape(0);
    std::vector<std::int64_t> labels(n), nodes(n), points(n);
    std::vector<double> distances(n);
    std::vector<std::string> codes(with_codes ? n : 0);
    const Frontier<Real>* frontier = nullptr;
    for_each_row(
        n, threads,
        [&] {
          require_points(1);
          frontier = &live_.frontier(rule_of(by, value, live_.size()));
        },
        rows.data(), 1,
        [&](std::size_t i, std::span<const Neighbour> found) {
          const NodeId cluster = frontier->cluster_of(NodeId::leaf(found.front().row));
          labels[i] = static_cast<std::int64_t>(frontier->label_of(cluster));
          nodes[i] = public_id(cluster);
          points[i] = arrival(found.front().row);
          distances[i] = found.front().distance;
          if (with_codes) codes[i] = code_of(cluster);
        });
    return {to_numpy(std::move(labels)), to_numpy(std::move(nodes)), to_numpy(std::move(points)),
            to_numpy(std::move(distances)), std::move(codes)};
  }

  /// Label and node id of the cluster of each of these points, and if wanted its path code.
  std::tuple<Out1<std::int64_t>, Out1<std::int64_t>, std::vector<std::string>> cluster_of(
      const Vector<std::int64_t>& numbers, const std::string& by, double value, bool with_codes) {
    const Turn turn(*this);
    require_points(1);
    std::vector<std::int64_t> labels, nodes;
    std::vector<std::string> codes;
    {
      const nb::gil_scoped_release release;
      const Frontier<Real>& frontier = live_.frontier(rule_of(by, value, live_.size()));
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const NodeId cluster = frontier.cluster_of(leaf_of(numbers.data()[i]));
        labels.push_back(static_cast<std::int64_t>(frontier.label_of(cluster)));
        nodes.push_back(public_id(cluster));
        if (with_codes) codes.push_back(code_of(cluster));
      }
    }
    return {to_numpy(std::move(labels)), to_numpy(std::move(nodes)), std::move(codes)};
  }

  /// Labels of all points, in order of arrival.
  Out1<std::int64_t> labels(const std::string& by, double value) {
    const Turn turn(*this);
    require_points(1);
    std::vector<std::int64_t> out(live_.size());
    {
      const nb::gil_scoped_release release;
      live_.tree();
      live_.frontier(rule_of(by, value, live_.size())).label_all(out.data());
      if (live_.members() != nullptr) out = of_points(out);
    }
    return to_numpy(std::move(out));
  }

  /// Of each cluster of a cut: node id, size, mean, height, first point.
  std::tuple<Out1<std::int64_t>, Out1<double>, Out2<Real>, Out1<double>, Out1<std::int64_t>>
  clusters(const std::string& by, double value) {
    const Turn turn(*this);
    require_points(1);
    std::vector<std::int64_t> nodes, firsts;
    std::vector<Real> means;
    std::vector<double> heights, sizes;
    {
      const nb::gil_scoped_release release;
      for (const NodeId v : live_.frontier(rule_of(by, value, live_.size())).clusters()) {
        const Tree<Real>& tree = live_.frozen();
        nodes.push_back(public_id(v));
        sizes.push_back(tree.weight(v));
        firsts.push_back(arrival(tree.first_leaf(v)));
        heights.push_back(v.is_leaf() ? 0 : tree.heights(v).monotone);
        append_mean(tree, v, means);
      }
    }
    return {to_numpy(std::move(nodes)), to_numpy(std::move(sizes)),
            to_numpy(std::move(means), dim_), to_numpy(std::move(heights)),
            to_numpy(std::move(firsts))};
  }

  /// The tree opened for a tree above it: how many nodes are its frontier; of each node its
  /// id, where the first of its two children is or -1, points, leaves, ssd, own and monotone
  /// height, first point, mean.
  using OutlineArrays =
      std::tuple<std::size_t, Out1<std::int64_t>, Out1<std::int64_t>, Out1<double>,
                 Out1<std::int64_t>, Out1<double>, Out2<double>, Out1<std::int64_t>, Out2<Real>>;
  OutlineArrays outline(std::size_t m, const std::string& by, double value) {
    const Turn turn(*this);
    require_points(1);
    std::vector<std::int64_t> ids, children, counts, firsts;
    std::vector<double> weights, ssds, heights;
    std::vector<Real> means;
    std::size_t frontier = 0;
    {
      const nb::gil_scoped_release release;
      const Outline<Real> found = live_.outline(m, rule_of(by, value, kMaxPoints));
      const Tree<Real>& tree = live_.frozen();
      frontier = found.frontier_size();
      children.assign(found.children().begin(), found.children().end());
      for (const NodeId v : found.nodes()) {
        const Heights own = v.is_leaf() ? Heights{0, 0} : tree.heights(v);
        ids.push_back(public_id(v));
        weights.push_back(tree.weight(v));
        counts.push_back(tree.count(v));
        ssds.push_back(tree.ssd(v));
        heights.insert(heights.end(), {own.own, own.monotone});
        firsts.push_back(arrival(tree.first_leaf(v)));
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
            to_numpy(std::move(means), dim_)};
  }

  /// Where in such an outline the units of points are; of all, in order of arrival, if none
  /// are named.
  Out1<std::int64_t> units(const std::optional<Vector<std::int64_t>>& numbers, std::size_t m,
                           const std::string& by, double value) {
    const Turn turn(*this);
    require_points(1);
    std::vector<std::int64_t> out;
    {
      const nb::gil_scoped_release release;
      if (!numbers) live_.tree();  // closes holes: rows are in order of arrival then
      const Outline<Real> found = live_.outline(m, rule_of(by, value, kMaxPoints));
      if (numbers) {
        for (std::size_t i = 0; i < numbers->size(); ++i)
          out.push_back(static_cast<std::int64_t>(found.unit_of(leaf_of(numbers->data()[i]))));
      } else {
        out.resize(live_.size());
        found.units_of_all(out.data());
      }
    }
    return to_numpy(std::move(out));
  }

  /// Node ids from the root down to a point, and its turns, 0 to the child with the
  /// earlier first point.
  std::tuple<Out1<std::int64_t>, std::string> path(std::int64_t number) {
    const Turn turn(*this);
    require_points(1);
    live_.have_ready();
    std::vector<std::int64_t> nodes;
    const NodeId leaf = leaf_of(number);
    for (NodeId v = leaf; v != kNone; v = live_.frozen().parent(v)) nodes.push_back(public_id(v));
    std::reverse(nodes.begin(), nodes.end());
    return {to_numpy(std::move(nodes)), code_of(leaf)};
  }

  std::int64_t lca(std::int64_t one, std::int64_t other) {
    const Turn turn(*this);
    require_points(1);
    live_.have_ready();
    const Tree<Real>& tree = live_.frozen();
    NodeId a = leaf_of(one), b = leaf_of(other);
    std::size_t depth_a = depth_of(a), depth_b = depth_of(b);
    for (; depth_a > depth_b; --depth_a) a = tree.parent(a);
    for (; depth_b > depth_a; --depth_b) b = tree.parent(b);
    for (; a != b; a = tree.parent(a), b = tree.parent(b)) {
    }
    return public_id(a);
  }

  std::size_t depth(std::int64_t number) {
    const Turn turn(*this);
    require_points(1);
    return depth_of(leaf_of(number));
  }

  using Arrays = std::tuple<Out2<std::int64_t>, Out1<double>, Out1<std::int64_t>>;
  Arrays snapshot() { return std::get<6>(versioned_snapshot(false)); }
  /// The version, the numbers of its leaves (none: 0, 1, 2, ...), their weights (none: 1), the
  /// earliest point in each (none: that of its number); if wanted each point and the leaf that it
  /// is in (none: itself), and the rows; its arrays.
  std::tuple<std::uint64_t, Out1<std::uint64_t>, Out1<double>, Out1<std::uint64_t>,
             Out2<std::int64_t>, Out2<Real>, Arrays>
  versioned_snapshot(bool with_points) {
    auto [snapshot, version, numbers, weights, firsts, members, rows] = take_snapshot(with_points);
    return {version,
            to_numpy(std::move(numbers)),
            to_numpy(std::move(weights)),
            to_numpy(std::move(firsts)),
            to_numpy(std::move(members), 2),
            to_numpy(std::move(rows), dim_),
            Arrays{to_numpy(std::move(snapshot.children), 2), to_numpy(std::move(snapshot.heights)),
                   to_numpy(std::move(snapshot.ids))}};
  }

  Out2<Real> points(std::size_t first) {
    const Turn turn(*this);
    if (first > live_.size()) throw std::invalid_argument("there are not that many points");
    if (live_.size() > 0) live_.tree();
    const auto values = live_.points().values().first(live_.end() * dim_).subspan(first * dim_);
    return to_numpy(std::vector<Real>(values.begin(), values.end()), dim_);
  }

  /// Arrival numbers of the points, in order.
  Out1<std::int64_t> numbers() {
    const Turn turn(*this);
    std::vector<std::int64_t> out;
    if (live_.members() != nullptr)
      live_.members()->for_each(
          [&](Arrival point, Arrival) { out.push_back(static_cast<std::int64_t>(point)); });
    else
      for (RowSlot row = 0; row < live_.end(); ++row)
        if (!live_.points().is_hole(row)) out.push_back(arrival(row));
    return to_numpy(std::move(out));
  }

  Out1<double> weights() const {
    const Turn turn(*this);
    return to_numpy(live_.weights());
  }

  bool has(std::uint64_t number) const {
    const Turn turn(*this);
    RowSlot row = 0;
    return live_.find(number, row);
  }

  /// The numbers of the leaves that points are in, or of the earliest point in each.
  Out1<std::int64_t> leaf_numbers(const Vector<std::int64_t>& numbers, bool by_first) const {
    const Turn turn(*this);
    std::vector<std::int64_t> out(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      out[i] = by_first ? arrival(leaf_of(numbers.data()[i]).row())
                        : -1 - public_id(leaf_of(numbers.data()[i]));
    return to_numpy(std::move(out));
  }

  std::tuple<Out1<double>, Out2<Real>, Out1<double>> summaries() {
    const Turn turn(*this);  // one for both, so that nodes of the snapshot are still there
    if (live_.size() == 0) throw std::invalid_argument("an empty tree has no snapshot");
    const Snapshot snapshot = number(live_.flat());
    const Tree<Real>& tree = live_.tree();
    std::vector<double> sizes;
    std::vector<Real> means;
    std::vector<double> ssds;
    for (const NodeId v : snapshot.nodes) {
      sizes.push_back(tree.weight(v));
      append_mean(tree, v, means);
      ssds.push_back(tree.ssd(v));
    }
    return {to_numpy(std::move(sizes)), to_numpy(std::move(means), dim_),
            to_numpy(std::move(ssds))};
  }

  std::tuple<double, double, double, double> certificate() const {
    const Turn turn(*this);
    if (live_.certificate() == nullptr)
      throw std::invalid_argument("this tree keeps no certificate");
    const Certificate& kept = *live_.certificate();
    return {kept.beta, kept.guaranteed.get(), kept.achieved.get(), kept.maximum.get()};
  }

  double recall() const {
    const Turn turn(*this);
    return live_.recall();
  }

  void check() {
    const Turn turn(*this);
    const nb::gil_scoped_release release;
    live_.check();
  }

  /// Nobody may change the tree meanwhile, and readers go on.
  State state() {
    const Held writing(writing_);
    Copies found = without_gil([&] { return copies(); });
    State out;
    out["points"] = to_numpy(std::move(found.points), dim_);
    out["links"] = to_numpy(std::move(found.links), 3);
    out["names"] = to_numpy(std::move(found.names));
    out["next_name"] = to_numpy(std::vector<std::uint64_t>{live_.tree().next_id()});
    out["mean"] = to_numpy(std::move(found.means), dim_);
    out["ssd"] = to_numpy(std::move(found.ssds));
    out["arrivals"] = to_numpy(std::move(found.arrivals));
    out["next_arrival"] = to_numpy(std::vector<std::uint64_t>{live_.points().next_arrival()});
    out["standings"] = to_numpy(std::move(found.standings), 2);
    out["members"] = to_numpy(std::move(found.members), 3);
    out["shares"] = to_numpy(std::move(found.shares));
    out["marks"] = to_numpy(std::move(found.memory.marks));
    out["numbers"] = to_numpy(std::move(found.memory.numbers));
    return out;
  }

  /// Whether somebody has the turn: a question may have to wait for it.
  bool busy() const { return turn_.in_line() > 0; }

 private:
  /// The arrays of a state. Large trees take a while to copy, and other threads go on.
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

  Copies copies() {
    Copies out;
    {  // what was put off, and might be done by a reader; what searches may change
      const std::lock_guard turn(turn_);
      live_.tree();
      out.memory = live_.memory();
    }
    const Tree<Real>& tree = live_.frozen();
    const auto values = tree.points().values();
    out.points.assign(values.begin(), values.end());
    out.links = tree.link_array();
    out.names = tree.ids();
    out.means = tree.means();
    out.ssds = tree.ssds();
    out.arrivals = tree.points().numbers();
    for (const Standing& standing : tree.points().standings())
      out.standings.insert(out.standings.end(), {standing.weight, standing.ssd});
    if (live_.members() != nullptr)
      for (const Members::Member& member : live_.members()->stored()) {
        out.members.insert(out.members.end(), {member.point, member.leaf, member.here ? 1U : 0U});
        out.shares.push_back(member.weight);
      }
    return out;
  }

  template <class Work>
  static auto without_gil(const Work& work) {
    const nb::gil_scoped_release release;
    return work();
  }

  /// work(pulse) without the GIL; raises what Python raised meanwhile, when the work has
  /// left the tree as it should be.
  template <class Work>
  static auto pulsed(nb::object pulse, const Work& work) {
    PythonPulse python(std::move(pulse));
    auto done = [&] {
      const nb::gil_scoped_release release;
      return work(Pulse(std::ref(python)));
    }();
    python.rethrow();
    return done;
  }

  /// Holds a lock; who has to wait for it waits without the GIL.
  class Held {
   public:
    explicit Held(TurnLock& lock) : lock_(lock) {
      if (lock_.try_lock()) return;
      const nb::gil_scoped_release release;
      lock_.lock();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { lock_.unlock(); }

   private:
    TurnLock& lock_;
  };

  /// The turn, and at its end the figures that are read without one.
  class Turn {
   public:
    explicit Turn(const PyLive& live) : live_(live), held_(live.turn_) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { live_.publish(); }

   private:
    const PyLive& live_;
    const Held held_;
  };

  /// The turn of one who changes the tree, and no other does before it is over: a long batch
  /// passes its turn on to readers.
  struct WritingTurn {
    explicit WritingTurn(const PyLive& live) : writing(live.writing_), turn(live) {}
    const Held writing;
    const Turn turn;
  };

  void publish() const {
    size_ = live_.size();
    n_points_ = live_.n_points();
    next_arrival_ = live_.points().next_arrival() - (live_.points().slots() - live_.end());
    version_ = live_.version();
  }

  /// Call use(i, found) with the k nearest points of every row, in blocks of a few
  /// milliseconds, each of one version of the tree, so that a batch under way is never held
  /// up for long.
  template <class Begin, class Use>
  void for_each_row(std::size_t rows, std::size_t threads, const Begin& begin, const Real* values,
                    std::size_t k, const Use& use) {
    PythonPulse python{nb::none()};
    {
      const nb::gil_scoped_release release;
      Threads helpers(threads);
      std::size_t block = kFirstBlock;
      for (std::size_t from = 0, to = 0; from == 0 || from < rows; from = to) {
        {
          const std::lock_guard turn(turn_);
          const auto since = std::chrono::steady_clock::now();
          begin();
          live_.have_ready();
          to = std::min(from + block, rows);
          const std::size_t size =
              std::clamp(block / std::max(threads, std::size_t{1}), kLeastPiece, kPiece);
          const auto piece = [&](std::size_t number, const Pulse&) {
            typename Live<Real>::Reading reading;
            std::vector<Neighbour> found;
            const std::size_t first = from + number * size, last = std::min(first + size, to);
            live_.nearest(values + first * dim_, last - first, k, reading, found);
            for (std::size_t i = first; i < last; ++i)
              use(i, std::span<const Neighbour>(found.data() + (i - first) * k, k));
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

  static Batch<Real> batch_of(const Rows<Real>& rows, const std::optional<Vector<double>>& weights,
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

  void require_width(std::size_t width) const {
    if (width != dim_)
      throw std::invalid_argument("expected rows of " + std::to_string(dim_) + " numbers, got " +
                                  std::to_string(width));
  }
  void require_points(std::size_t k) const {
    if (k < 1 || k > live_.size())
      throw std::invalid_argument("k must be between 1 and the number of points");
  }

  /// What is known of every leaf, by slot, as known of every point.
  std::vector<std::int64_t> of_points(const std::vector<std::int64_t>& of_leaves) const {
    std::vector<std::int64_t> out;
    out.reserve(live_.n_points());
    live_.members()->for_each([&](Arrival, Arrival leaf) {
      RowSlot row = 0;
      live_.points().find(leaf, row);
      out.push_back(of_leaves[row]);
    });
    return out;
  }

  static void append_mean(const Tree<Real>& tree, NodeId v, std::vector<Real>& out) {
    const std::size_t before = out.size();
    out.resize(before + tree.dim());
    const Real* const mean = tree.mean(v, &out[before]);
    if (mean != &out[before]) std::copy_n(mean, tree.dim(), &out[before]);
  }
  /// The number of the earliest point in a leaf.
  std::int64_t arrival(RowSlot row) const {
    const Arrival leaf = live_.points().arrival(row);
    const Members* const members = live_.members();
    return static_cast<std::int64_t>(members == nullptr ? leaf : members->first_in(leaf));
  }
  std::int64_t public_id(NodeId v) const { return live_.frozen().public_id(v); }
  NodeId leaf_of(std::int64_t number) const {
    RowSlot row = 0;
    if (number < 0 || !live_.find(static_cast<Arrival>(number), row))
      throw std::out_of_range("there is no point " + std::to_string(number));
    return NodeId::leaf(row);
  }
  /// The turns from the root to a node: 0 to the child with the earlier first point.
  std::string code_of(NodeId v) const {
    const Tree<Real>& tree = live_.frozen();
    std::string turns;
    for (; v != tree.root(); v = tree.parent(v))
      turns += tree.first_leaf(v) < tree.first_leaf(tree.sibling(v)) ? '0' : '1';
    std::reverse(turns.begin(), turns.end());
    return turns;
  }
  std::size_t depth_of(NodeId v) const {
    std::size_t depth = 0;
    while ((v = live_.frozen().parent(v)) != kNone) ++depth;
    return depth;
  }

  struct Taken {
    Snapshot snapshot;
    std::uint64_t version = 0;
    std::vector<Arrival> numbers;
    std::vector<double> weights;
    std::vector<Arrival> firsts;
    std::vector<std::int64_t> members;
    std::vector<Real> rows;
  };
  /// The arrays are copied in our turn, and put in order when it has passed.
  Taken take_snapshot(bool with_points) {
    FlatTree flat;
    Taken taken;
    {
      const Turn turn(*this);
      if (live_.size() == 0) throw std::invalid_argument("an empty tree has no snapshot");
      const nb::gil_scoped_release release;
      flat = live_.flat();
      taken.version = live_.version();
      taken.numbers = live_.points().numbers();
      taken.numbers.resize(std::min(taken.numbers.size(), live_.end()));
      for (const Standing& standing : live_.points().standings().first(
               std::min(live_.points().standings().size(), live_.end())))
        taken.weights.push_back(standing.weight);
      if (live_.members() != nullptr) taken.firsts = live_.members()->firsts();
      if (live_.members() != nullptr && with_points)
        live_.members()->for_each([&](Arrival point, Arrival leaf) {
          for (const Arrival one : {point, leaf})
            taken.members.push_back(static_cast<std::int64_t>(one));
        });
      const auto values = live_.points().values().first(with_points ? live_.end() * dim_ : 0);
      taken.rows.assign(values.begin(), values.end());
    }
    const nb::gil_scoped_release release;
    taken.snapshot = number(flat);
    return taken;
  }

  // Rows that readers look up in one go, and those of a thread among them.
  static constexpr std::size_t kFirstBlock = 64, kMostRows = 512, kPiece = 64, kLeastPiece = 16;

  std::size_t dim_;
  Live<Real> live_;
  mutable TurnLock writing_;  // taken before turn_
  mutable TurnLock turn_;
  mutable std::atomic<std::size_t> size_ = 0;
  mutable std::atomic<std::size_t> n_points_ = 0;
  mutable std::atomic<std::uint64_t> next_arrival_ = 0;
  mutable std::atomic<std::uint64_t> version_ = 0;
};

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
PyLive<Real>* from_state(const std::string& algorithm, std::size_t dim, const std::string& metric,
                         const std::string& linkage, std::size_t n_neighbors, const More& more,
                         const State& state) {
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
  return new PyLive<Real>(
      dim, options_of(algorithm, metric, linkage, n_neighbors, more),
      {span_of(points), span_of(links), span_of(names), next_name.data()[0], span_of(mean),
       span_of(ssd), span_of(arrivals), next_arrival.data()[0], span_of(standings)},
      {{marks.data(), marks.data() + marks.size()},
       {numbers.data(), numbers.data() + numbers.size()}},
      members_of(members, shares));
}

template <class Real>
void bind_live_of(nb::module_& m, const char* name, const char* doc) {
  using Self = PyLive<Real>;
  nb::class_<Self>(m, name, doc)
      .def(nb::init<const std::string&, std::size_t, const std::string&, const std::string&,
                    std::size_t, const More&>(),
           nb::arg("algorithm"), nb::arg("dim"), nb::arg("metric"), nb::arg("linkage"),
           nb::arg("n_neighbors"), nb::arg("more") = nb::dict())
      .def("__len__", &Self::size)
      .def_prop_ro("dim", &Self::dim, "Width of the rows.")
      .def("insert_many", &Self::insert_many, nb::arg("rows").noconvert(),
           nb::arg("pulse") = nb::none(), nb::arg("threads") = 1,
           nb::arg("weights").noconvert() = nb::none(), nb::arg("leaving").noconvert() = nb::none(),
           nb::arg("before").noconvert() = nb::none(),
           "Insert finite rows in order; returns how many. Calls pulse(done) now and then. Point "
           "leaving[i] is erased before row before[i] comes.")
      .def("insert_one", &Self::insert_one, nb::arg("row").noconvert(),
           "Insert one row; returns its id.")
      .def("insert_beside", &Self::insert_beside, nb::arg("rows").noconvert(),
           nb::arg("nearest").noconvert(), nb::arg("numbers").noconvert() = nb::none(),
           nb::arg("weights").noconvert() = nb::none(),
           "Insert rows as if each one's nearest points were these; 2^64 - 1 is none. With numbers "
           "of the caller's, ascending and new.")
      .def("begin_with_hac", &Self::begin_with_hac, nb::arg("rows").noconvert(),
           nb::arg("pulse") = nb::none(), nb::arg("weights").noconvert() = nb::none(),
           nb::arg("threads") = 1,
           "Begin with these rows, merged as offline HAC does; returns how many.")
      .def("adopt", &Self::adopt, nb::arg("rows").noconvert(), nb::arg("children"),
           nb::arg("weights").noconvert() = nb::none(), nb::arg("as_stored") = false,
           "Begin with these rows in a tree of this shape; as_stored: scaled already, if they "
           "have to be.")
      .def("polish", &Self::polish, nb::arg("m").none(), nb::arg("pulse") = nb::none(),
           "Merge the m subtrees at the top anew; without m, in rounds. Of each round: how many "
           "subtrees, what the old top and the new one are worth, and whether it is kept.")
      .def("refine", &Self::refine, nb::arg("sweeps"), nb::arg("slack"),
           nb::arg("pulse") = nb::none(),
           "Local search by interchanges; returns sweeps, interchanges, and whether none is left.")
      .def("erase", &Self::erase, nb::arg("number"),
           "Take a leaf out again; False if there is no such leaf.")
      .def("erase_many", &Self::erase_many, nb::arg("numbers").noconvert(),
           "Take leaves out again; returns how many of them there were.")
      .def("weigh", &Self::weigh, nb::arg("number"), nb::arg("weight"),
           "Have a leaf stand for so many equal points; False if there is no such leaf.")
      .def("set_max_leaves", &Self::set_max_leaves, nb::arg("most"),
           "Keep to another budget from the next row on.")
      .def("link", &Self::link, nb::arg("one"), nb::arg("other"), "Have two points as one.")
      .def("unlink", &Self::unlink, nb::arg("number"),
           "A point and all that it is linked with are points like others again.")
      .def("move", &Self::move, nb::arg("node"), nb::arg("under"),
           "Put a node below another, which is held from now on.")
      .def("release", &Self::release, nb::arg("node"), "A node is held no more.")
      .def("held", &Self::held, "Ids of the held nodes.")
      .def("wholes", &Self::wholes, nb::arg("numbers"),
           "For each point the earliest leaf that it is linked with; its own if with none.")
      .def("together", &Self::together, nb::arg("number"),
           "All points that are in one leaf with a point, or linked with it.")
      .def("has_node", &Self::has_node, nb::arg("id"), "Is there a node with this id?")
      .def("is_held", &Self::is_held, nb::arg("id"), "Is there such a node, and is it held?")
      .def_prop_ro("n_points", &Self::n_points, "Points, of which a leaf may stand for several.")
      .def_prop_ro("next_arrival", &Self::next_arrival, "The number of the next point.")
      .def("has", &Self::has, nb::arg("number"), "Whether there is such a point.")
      .def("leaf_of", &Self::leaf_numbers, nb::arg("numbers").noconvert(),
           nb::arg("by_first") = false,
           "The numbers of the leaves that these points are in, or of the earliest point in each.")
      .def("record", &Self::record, nb::arg("on"),
           "Write down what happens from now on; the first change tells all.")
      .def("take_change", &Self::take_change, "What became of the tree since the last call.")
      .def_prop_ro("version", &Self::version, "Grows with every change.")
      .def("nearest", &Self::nearest, nb::arg("rows").noconvert(), nb::arg("k") = 1,
           nb::arg("threads") = 1,
           "Numbers and distances of the k nearest points of each row, nearest first.")
      .def("assign", &Self::assign, nb::arg("rows").noconvert(), nb::arg("by"), nb::arg("value"),
           nb::arg("threads") = 1, nb::arg("with_codes") = false,
           "Label and node id of the cluster of each row's nearest point; that point, its "
           "distance, and if wanted the cluster's path code.")
      .def("cluster_of", &Self::cluster_of, nb::arg("numbers").noconvert(), nb::arg("by"),
           nb::arg("value"), nb::arg("with_codes") = false,
           "Label, node id and if wanted path code of the cluster of each of these points.")
      .def("labels", &Self::labels, nb::arg("by"), nb::arg("value"),
           "Labels of all points, in order of arrival.")
      .def("clusters", &Self::clusters, nb::arg("by"), nb::arg("value"),
           "Node id, size, mean, height and first point of each cluster of a cut.")
      .def("outline", &Self::outline, nb::arg("m"), nb::arg("by"), nb::arg("value"),
           "The tree opened into its m widest parts, and below as a cut of a larger tree may: how "
           "many nodes are the m; each one's id, first child, points, leaves, ssd, heights, first "
           "point, mean.")
      .def("units", &Self::units, nb::arg("numbers").noconvert().none(), nb::arg("m"),
           nb::arg("by"), nb::arg("value"),
           "Where in such an outline the nodes that points are below, and that it does not open, "
           "are.")
      .def("path", &Self::path, nb::arg("number"),
           "Node ids from the root down to a point, and the turns on the way.")
      .def("lca", &Self::lca, nb::arg("one"), nb::arg("other"),
           "Node id of the lowest common ancestor of two points.")
      .def("depth", &Self::depth, nb::arg("number"), "Number of merges above a point.")
      .def("numbers", &Self::numbers, "Arrival numbers of the points, in order.")
      .def("weights", &Self::weights, "How much each point counts, in order of arrival.")
      .def("snapshot", &Self::snapshot,
           "Children, heights and stable ids of the inner nodes, in canonical numbering.")
      .def("versioned_snapshot", &Self::versioned_snapshot, nb::arg("with_points") = false,
           "The version, the leaves' numbers (none: 0, 1, 2, ...), weights (none: 1) and earliest "
           "points (none: of their numbers); if wanted points and the leaves they are in (none: "
           "themselves), and rows; its snapshot.")
      .def("points", &Self::points, nb::arg("first") = 0,
           "The rows as stored (unit length under cosine), from this one on.")
      .def("summaries", &Self::summaries,
           "Size, mean and sum of squared deviations of every node, as stored.")
      .def("certificate", &Self::certificate,
           "Beta, and the revenue guaranteed, achieved and conceivable.")
      .def_prop_ro("recall", &Self::recall,
                   "Share of the rows so far that were told their nearest neighbour.")
      .def("regroup", &Self::regroup, nb::arg("group_of").noconvert(), nb::arg("above").noconvert(),
           "Make a 'nested' tree anew: the group of each point, the group above each group.")
      .def("check", &Self::check, "Test every invariant; raises RuntimeError.")
      .def_prop_ro("busy", &Self::busy, "Whether a question may have to wait.")
      .def("state", &Self::state, "Everything needed to continue, as plain arrays.")
      .def_static("from_state", &from_state<Real>, nb::rv_policy::take_ownership,
                  nb::arg("algorithm"), nb::arg("dim"), nb::arg("metric"), nb::arg("linkage"),
                  nb::arg("n_neighbors"), nb::arg("more"), nb::arg("state"),
                  "The inverse of state().");
}

}  // namespace

void bind_live(nb::module_& m) {
  bind_live_of<float>(m, "LiveF32", "A growing tree over float32 rows.");
  bind_live_of<double>(m, "LiveF64", "A growing tree over float64 rows.");
}

}  // namespace ramify::bindings
