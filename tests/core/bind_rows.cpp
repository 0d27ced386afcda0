// SPDX-License-Identifier: BSD-3-Clause
// bind_rows.cpp: rows, the indexes over them, and whole batches looked up ahead.
#include <memory>

#include "index/lookahead.hpp"
#include "index/neighbours.hpp"
#include "math/rotation.hpp"
#include "parts.hpp"
#include "threads.hpp"
#include "tree/row_store.hpp"

namespace ramify::parts {
namespace {

using Numbers = std::vector<RowSlot>;

template <class T>
std::span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

template <class Real>
void bind_row_store(nb::module_& m) {
  using Store = RowStore<Real>;
  nb::class_<Store>(m, with_type<Real>("RowStore").c_str())
      .def(nb::init<std::size_t>())
      .def_prop_ro("dim", &Store::dim)
      .def_prop_ro("slots", &Store::slots)
      .def_prop_ro("holes", &Store::holes)
      .def_prop_ro("living", &Store::living)
      .def_prop_ro("next_arrival", &Store::next_arrival)
      .def("is_hole", &Store::is_hole)
      .def("arrival", &Store::arrival)
      .def("values",
           [](const Store& self) {
             const auto values = self.values();
             return to_numpy(std::vector<Real>(values.begin(), values.end()), self.dim());
           })
      .def("find",
           [](const Store& self, Arrival number) -> std::optional<RowSlot> {
             RowSlot slot = 0;
             if (!self.find(number, slot)) return std::nullopt;
             return slot;
           })
      .def("make_room", &Store::make_room)
      .def("append", [](Store& self, const Row<Real>& row) { self.append(row.data()); })
      .def("truncate", &Store::truncate)
      .def("make_room_to_erase", &Store::make_room_to_erase)
      .def("erase", &Store::erase)
      .def("compact", [](Store& self, const Numbers& new_slot) { self.compact(span_of(new_slot)); })
      .def("number", [](Store& self, const std::vector<Arrival>& arrivals, Arrival next) {
        self.number(span_of(arrivals), next);
      });
}

/// An index, and what its searches keep between them.
template <class Real>
class Index {
 public:
  using Store = RowStore<Real>;

  Index(std::size_t dim, const std::string& metric, const std::string& kind)
      : index_(make_neighbours<Real>(
            dim, metric_of(metric),
            named<IndexKind>(kind, std::array{"by dimension", "scan", "short", "short by tree",
                                              "short by scan", "buckets", "measured"}))) {
    if ((kind == "buckets" || kind == "measured") && dim >= kLanes)
      throw std::invalid_argument("too wide for buckets");
    if ((kind.starts_with("short") || kind == "measured") && metric == "dot")
      throw std::invalid_argument("an inner product has no short vectors");
  }

  Neighbours<Real>& index() { return *index_; }

  Found nearest(const Store& points, const Row<Real>& x, std::size_t k, std::size_t end) {
    std::vector<Neighbour> found;
    index_->nearest(points, x.data(), k, end, scratch_, found);
    return rows_and_distances(found);
  }
  std::vector<Found> nearest_to_each(const Store& points, const Rows<Real>& rows, std::size_t k,
                                     std::size_t end) {
    std::vector<std::vector<Neighbour>> found;
    index_->nearest_to_each(points, rows.data(), rows.shape(0), k, end, scratch_, found);
    std::vector<Found> out;
    for (const std::vector<Neighbour>& one : found) out.push_back(rows_and_distances(one));
    return out;
  }
  std::optional<std::pair<RowSlot, double>> nearest_allowed(const Store& points, const Row<Real>& x,
                                                            std::size_t end,
                                                            const Vector<std::uint8_t>& ruled_out) {
    Neighbour found{};
    index_->make_room_to_search(scratch_);
    if (!index_->nearest_allowed(points, x.data(), end, ruled_out.data(), scratch_, found))
      return std::nullopt;
    return std::pair{found.row, found.distance};
  }
  /// k a query; what is not filled is 2^32 - 1.
  auto nearest_before(const Store& points, const Numbers& queries, std::size_t k) {
    Numbers out(queries.size() * k, ~RowSlot{0});
    index_->nearest_before(points, span_of(queries), k, out.data(), {});
    return to_numpy(std::move(out), k);
  }

 private:
  std::unique_ptr<Neighbours<Real>> index_;
  SearchScratch scratch_;
};

/// Look up a batch as Live does: neighbours of each row, slice by slice. No threads: the
/// caller alone. Ends early, as if interrupted, after so many looks at the pulse.
template <class Real>
std::vector<Numbers> look_ahead(Index<Real>& index, RowStore<Real>& points, const Rows<Real>& rows,
                                std::size_t k, std::size_t threads,
                                std::optional<std::size_t> pulses) {
  const nb::gil_scoped_release release;
  const std::size_t begin = points.slots(), end = begin + rows.shape(0);
  points.make_room(rows.shape(0));
  const auto fetch = [&](std::size_t to) {
    for (std::size_t i = points.slots(); i < to; ++i)
      points.append(rows.data() + (i - begin) * points.dim());
  };
  const Pulse pulse = [&](std::size_t) { return !pulses || (*pulses)-- > 0; };
  Alone alone;
  std::optional<bindings::Threads> others;
  if (threads > 0) others.emplace(threads);
  Helpers& helpers = others ? static_cast<Helpers&>(*others) : alone;
  std::vector<Numbers> out;
  try {
    Lookahead<Real> ahead(index.index(), points, fetch, begin, end, k, helpers);
    while (begin + out.size() < end) {
      ahead.advance(pulse);
      for (std::size_t i = ahead.slice_begin(); i < ahead.slice_end(); ++i) {
        const auto found = ahead.neighbours(i);
        out.emplace_back(found.begin(), found.end());
      }
    }
  } catch (const Stopped&) {
  }
  return out;
}

template <class Real>
void bind_index(nb::module_& m) {
  using Self = Index<Real>;
  using Store = RowStore<Real>;
  nb::class_<Self>(m, with_type<Real>("Index").c_str())
      .def(nb::init<std::size_t, const std::string&, const std::string&>(), nb::arg("dim"),
           nb::arg("metric"), nb::arg("kind"))
      .def_prop_ro("end", [](Self& self) { return self.index().end(); })
      .def("add", [](Self& self, const Store& points) { self.index().add(points); })
      .def("make_room_to_remove", [](Self& self) { self.index().make_room_to_remove(); })
      .def("remove",
           [](Self& self, const Store& points, RowSlot row) { self.index().remove(points, row); })
      .def("renumber", [](Self& self, const Numbers& new_slot,
                          std::size_t living) { self.index().renumber(span_of(new_slot), living); })
      .def("load", [](Self& self, const Store& points,
                      std::size_t end) { self.index().load(points, end, {}); })
      .def("by_place",
           [](Self& self, std::size_t begin) {
             const auto rows = self.index().by_place(begin);
             return Numbers(rows.begin(), rows.end());
           })
      .def("nearest", &Self::nearest, nb::arg("points"), nb::arg("x").noconvert(), nb::arg("k"),
           nb::arg("end"))
      .def("nearest_to_each", &Self::nearest_to_each, nb::arg("points"),
           nb::arg("rows").noconvert(), nb::arg("k"), nb::arg("end"))
      .def("nearest_allowed", &Self::nearest_allowed, nb::arg("points"), nb::arg("x").noconvert(),
           nb::arg("end"), nb::arg("ruled_out").noconvert())
      .def("nearest_before", &Self::nearest_before);
  m.def("look_ahead", &look_ahead<Real>, nb::arg("index"), nb::arg("points"),
        nb::arg("rows").noconvert(), nb::arg("k"), nb::arg("threads") = 0,
        nb::arg("pulses") = nb::none());
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("turned", [](const Row<float>& row) {
    std::vector<float> out(row.data(), row.data() + row.size());
    const Rotation rotation(out.size());
    rotation.apply(out.data());
    return std::pair(std::move(out), rotation.rounding());
  });
  bind_row_store<float>(m);
  bind_row_store<double>(m);
  bind_index<float>(m);
  bind_index<double>(m);
}

}  // namespace ramify::parts
