// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bind.hpp"
#include "breath.hpp"
#include "helpers.hpp"
#include "live.hpp"

namespace ramify::bindings {
namespace {

/// Arrays by name.
using State = nb::typed<nb::dict, nb::str, nb::object>;
/// An algorithm's own options by name: strings, whole numbers, None.
using More = nb::typed<nb::dict, nb::str, nb::object>;

template <class Enum, std::size_t N>
Enum parse(const std::string& name, const std::array<const char*, N>& names, const char* what) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  throw std::invalid_argument(std::string("unknown ") + what + ": " + name);
}

// In the order of the enums.
constexpr std::array kAlgorithms{"otd",   "ohac",   "naive_hac", "naive_nn",
                                 "perch", "grinch", "nested"};
constexpr std::array kMetrics{"sqeuclidean", "cosine", "dot"};
constexpr std::array kLinkages{"average", "centroid", "ward"};

constexpr std::array kBounds{"reference", "sound"};
constexpr std::array kBalances{"reference", "python", "none"};
constexpr std::array kGrafts{"reference", "full", "none"};

/// Option `name` of an algorithm: one of `names`, where None is called "none".
template <class Enum, std::size_t N>
Enum choice(const More& more, const char* name, const std::array<const char*, N>& names) {
  const nb::object found = more[name];
  return parse<Enum>(found.is_none() ? "none" : nb::cast<std::string>(found), names, name);
}

/// Option `name` of an algorithm: a whole number, or what None stands for.
std::size_t number(const More& more, const char* name, std::size_t none = 0) {
  const nb::object found = more[name];
  return found.is_none() ? none : nb::cast<std::size_t>(found);
}

Options options_of(const std::string& algorithm, const std::string& metric,
                   const std::string& linkage, std::size_t n_neighbors, const More& more) {
  if (n_neighbors < 1) throw std::invalid_argument("n_neighbors must be at least 1");
  Options options{parse<Algorithm>(algorithm, kAlgorithms, "algorithm"),
                  parse<Metric>(metric, kMetrics, "metric"),
                  parse<Linkage>(linkage, kLinkages, "linkage"), n_neighbors};
  if (options.algorithm == Algorithm::kOtd && more.contains("certify"))
    options.certify = nb::cast<bool>(more["certify"]);
  if (options.certify && options.metric == Metric::kSqeuclidean)
    throw std::invalid_argument("certificates are for OTD under dot or cosine only");
  if (options.algorithm == Algorithm::kPerch)
    options.perch = {choice<Bounds>(more, "bounds", kBounds),
                     choice<Balance>(more, "balance", kBalances),
                     number(more, "exact_distance_threshold"), number(more, "max_leaves")};
  if (options.algorithm == Algorithm::kGrinch)
    options.grinch = {choice<Graft>(more, "graft", kGrafts), number(more, "restructure") != 0,
                      number(more, "rotate_cap", GrinchOptions::kNoCap),
                      number(more, "graft_cap", GrinchOptions::kNoCap),
                      number(more, "restructure_cap", GrinchOptions::kNoCap)};
  return options;
}

std::size_t width_of(std::size_t dim) {
  if (dim < 1) throw std::invalid_argument("rows need at least one column");
  return dim;
}

template <class Real>
class PyLive {
 public:
  PyLive(const std::string& algorithm, std::size_t dim, const std::string& metric,
         const std::string& linkage, std::size_t n_neighbors, const More& more)
      : dim_(width_of(dim)),
        live_(dim, options_of(algorithm, metric, linkage, n_neighbors, more)) {}

  PyLive(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
         const Memory& memory)
      : dim_(width_of(dim)), live_(dim, options, arrays, memory) {}

  std::size_t size() const { return live_.size(); }
  std::size_t dim() const { return dim_; }

  std::size_t insert_many(const Rows<Real>& rows, nb::object pulse, std::size_t threads) {
    require_width(rows.shape(1));
    Breath breath(std::move(pulse));
    std::size_t done = 0;
    {
      const nb::gil_scoped_release release;
      Threads helpers(threads);
      done = live_.insert_many(rows.data(), rows.shape(0), std::ref(breath), helpers);
    }
    breath.rethrow();
    return done;
  }

  std::size_t insert_one(const Row<Real>& row) {
    require_width(row.shape(0));
    live_.insert_many(row.data(), 1, {});
    return live_.size() - 1;
  }

  std::size_t insert_beside(const Row<Real>& row, const Vector<std::uint32_t>& nearest) {
    require_width(row.shape(0));
    live_.insert_beside(row.data(), {nearest.data(), nearest.size()});
    return live_.size() - 1;
  }

  std::tuple<Out2<std::int64_t>, Out2<double>> nearest(const Rows<Real>& rows, std::size_t k) {
    require_width(rows.shape(1));
    if (k < 1 || k > live_.size())
      throw std::invalid_argument("k must be between 1 and the number of points");
    std::vector<std::int64_t> ids;
    std::vector<double> distances;
    Breath breath{nb::none()};
    {
      const nb::gil_scoped_release release;
      ids.reserve(rows.shape(0) * k);
      distances.reserve(rows.shape(0) * k);
      std::vector<Neighbour> found;
      for (std::size_t i = 0; i < rows.shape(0) && breath(i); ++i) {
        live_.nearest(rows.data() + i * dim_, k, found);
        for (const Neighbour& neighbour : found) {
          ids.push_back(neighbour.point);
          distances.push_back(neighbour.distance);
        }
      }
    }
    breath.rethrow();
    return {to_numpy(std::move(ids), k), to_numpy(std::move(distances), k)};
  }

  std::tuple<Out2<std::int64_t>, Out1<double>, Out1<std::int64_t>> snapshot() {
    Snapshot snapshot = take_snapshot();
    return {to_numpy(std::move(snapshot.children), 2), to_numpy(std::move(snapshot.heights)),
            to_numpy(std::move(snapshot.names))};
  }

  Out2<Real> points(std::size_t first) const {
    if (first > live_.size()) throw std::invalid_argument("there are not that many points");
    const auto values = live_.points().values().subspan(first * dim_);
    return to_numpy(std::vector<Real>(values.begin(), values.end()), dim_);
  }

  std::tuple<Out1<std::int64_t>, Out2<Real>, Out1<double>> summaries() {
    const Snapshot snapshot = take_snapshot();
    const Tree<Real>& tree = live_.tree();
    std::vector<std::int64_t> sizes;
    std::vector<Real> means;
    std::vector<double> ssds;
    for (const NodeId v : snapshot.nodes) {
      sizes.push_back(tree.size(v));
      means.insert(means.end(), tree.mean(v), tree.mean(v) + dim_);
      ssds.push_back(tree.ssd(v));
    }
    return {to_numpy(std::move(sizes)), to_numpy(std::move(means), dim_),
            to_numpy(std::move(ssds))};
  }

  std::tuple<double, double, double, double> certificate() const {
    if (!live_.certificate()) throw std::invalid_argument("this tree keeps no certificate");
    const Certificate& kept = *live_.certificate();
    return {kept.beta, kept.guaranteed.get(), kept.achieved.get(), kept.maximum.get()};
  }

  void regroup(const Vector<std::uint32_t>& group_of, const Vector<std::uint32_t>& above) {
    const nb::gil_scoped_release release;
    live_.regroup({group_of.data(), group_of.size()}, {above.data(), above.size()});
  }

  void check() {
    const nb::gil_scoped_release release;
    live_.check();
  }

  State state() {
    const Tree<Real>& tree = live_.tree();
    const auto copy = []<class T>(std::span<const T> values) {
      return std::vector<T>(values.begin(), values.end());
    };
    State out;
    out["points"] = to_numpy(copy(tree.points().values()), dim_);
    out["links"] = to_numpy(tree.link_array(), 3);
    out["names"] = to_numpy(tree.names());
    out["next_name"] = to_numpy(std::vector<std::uint64_t>{tree.next_name()});
    out["mean"] = to_numpy(tree.means(), dim_);
    out["ssd"] = to_numpy(tree.ssds());
    Memory memory = live_.memory();
    out["marks"] = to_numpy(std::move(memory.marks));
    out["numbers"] = to_numpy(std::move(memory.numbers));
    return out;
  }

 private:
  void require_width(std::size_t width) const {
    if (width != dim_)
      throw std::invalid_argument("expected rows of " + std::to_string(dim_) + " numbers, got " +
                                  std::to_string(width));
  }

  Snapshot take_snapshot() {
    if (live_.size() == 0) throw std::invalid_argument("an empty tree has no snapshot");
    const nb::gil_scoped_release release;
    return live_.snapshot();
  }

  std::size_t dim_;
  Live<Real> live_;
};

template <class Array>
std::span<const typename Array::Scalar> span_of(const Array& array) {
  return {array.data(), array.size()};
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
  const auto marks = nb::cast<Vector<std::uint32_t>>(state["marks"], false);
  const auto numbers = nb::cast<Vector<double>>(state["numbers"], false);
  if (points.shape(1) != width_of(dim) || next_name.size() != 1)
    throw std::invalid_argument("the arrays of a stored tree do not fit each other");
  return new PyLive<Real>(dim, options_of(algorithm, metric, linkage, n_neighbors, more),
                          {span_of(points), span_of(links), span_of(names), next_name.data()[0],
                           span_of(mean), span_of(ssd)},
                          {{marks.data(), marks.data() + marks.size()},
                           {numbers.data(), numbers.data() + numbers.size()}});
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
           "Insert finite rows in order; returns how many. Calls pulse(done) now and then.")
      .def("insert_one", &Self::insert_one, nb::arg("row").noconvert(),
           "Insert one row; returns its id.")
      .def("insert_beside", &Self::insert_beside, nb::arg("row").noconvert(),
           nb::arg("nearest").noconvert(),
           "Insert one row under OHAC as if its nearest points were these; returns its id.")
      .def("nearest", &Self::nearest, nb::arg("rows").noconvert(), nb::arg("k") = 1,
           "Ids and distances of the k nearest points of each row, exact, nearest first.")
      .def("snapshot", &Self::snapshot,
           "Children, heights and stable ids of the inner nodes, in canonical numbering.")
      .def("points", &Self::points, nb::arg("first") = 0,
           "The rows as stored (unit length under cosine), from this one on.")
      .def("summaries", &Self::summaries,
           "Size, mean and sum of squared deviations of every node, as stored.")
      .def("certificate", &Self::certificate,
           "Beta, and the revenue guaranteed, achieved and conceivable.")
      .def("regroup", &Self::regroup, nb::arg("group_of").noconvert(), nb::arg("above").noconvert(),
           "Make a 'nested' tree anew: the group of each point, the group above each group.")
      .def("check", &Self::check, "Test every invariant; raises RuntimeError.")
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
