// SPDX-License-Identifier: BSD-3-Clause
// tree.cpp: the core as a module for browsers. `make browser` compiles it to WebAssembly.
//
// One class, OHAC over double rows. It refuses what Python refuses at its own door: JavaScript sees
// an exception, and the tree is as it was.
#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "live/live.hpp"
#include "tree/snapshot.hpp"

namespace {

using emscripten::val;

/// A copy that JavaScript owns.
template <class T>
val copy(const std::vector<T>& values, const char* type) {
  const val view(emscripten::typed_memory_view(values.size(), values.data()));
  return val::global(type).new_(view);
}

class Tree {
 public:
  explicit Tree(std::size_t dim) : dim_(require(dim)), live_(dim, options()) {}

  std::size_t size() const { return live_.size(); }

  /// Rows one after another, as in a Float64Array.
  void insert(const val& values) {
    const auto rows = emscripten::convertJSArrayToNumberVector<double>(values);
    if (rows.size() % dim_ != 0) throw std::invalid_argument("a row is not complete");
    for (const double value : rows)
      if (!std::isfinite(value)) throw std::invalid_argument("a number is not finite");
    ramify::Alone alone;
    live_.insert_many({rows.data(), rows.size() / dim_}, {}, alone);
  }

  /// The cluster of each point, in order of arrival, when the tree is cut into so many.
  val labels(std::size_t clusters) {
    if (clusters < 1 || clusters > size()) throw std::invalid_argument("not that many points");
    live_.have_ready(
        {.no_holes = true, .cut = ramify::CutRule{ramify::CutBy::kCount, clusters, 0}});
    std::vector<std::int64_t> found(size());
    live_.frontier().label_all(found.data());
    return copy(std::vector<std::int32_t>(found.begin(), found.end()), "Int32Array");
  }

  /// Children and heights, numbered as SciPy does.
  val hierarchy() {
    val out = val::object();
    if (size() < 2) throw std::invalid_argument("a tree has two points or more");
    const ramify::Snapshot tree = ramify::number(live_.flat());
    const std::vector<std::int32_t> children(tree.children.begin(), tree.children.end());
    out.set("children", copy(children, "Int32Array"));
    out.set("heights", copy(tree.heights, "Float64Array"));
    return out;
  }

 private:
  static std::size_t require(std::size_t dim) {
    if (dim < 1) throw std::invalid_argument("rows need at least one column");
    return dim;
  }
  static ramify::Options options() {
    ramify::Options out{};
    out.rule = {ramify::Metric::kSqeuclidean, ramify::Linkage::kAverage};
    out.algorithm = ramify::OhacOptions{};
    return out;
  }

  std::size_t dim_;
  ramify::Live<double> live_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(ramify) {
  emscripten::class_<Tree>("Tree")
      .constructor<std::size_t>()
      .property("size", &Tree::size)
      .function("insert", &Tree::insert)
      .function("labels", &Tree::labels)
      .function("hierarchy", &Tree::hierarchy);
}
