// SPDX-License-Identifier: BSD-3-Clause
// bind_rows.cpp: rows, the indexes over them, and whole batches looked up ahead.
#include <memory>

#include "index/bucket_rows.hpp"
#include "index/long_rows.hpp"
#include "index/lookahead.hpp"
#include "index/measured_rows.hpp"
#include "math/projection.hpp"
#include "math/rotation.hpp"
#include "scanned_rows.hpp"
#include "searches.hpp"
#include "threads.hpp"

namespace ramify::parts {
namespace {

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

template <class Real>
class Index final : public Searches<Real> {
 public:
  Index(std::size_t dim, const std::string& metric, const std::string& kind) {
    if ((kind == "buckets" || kind == "measured") && dim >= kLanes)
      throw std::invalid_argument("too wide for buckets");
    if (kind == "by dimension")
      index_ = make_neighbours<Real>(dim, metric_of(metric));
    else if (metric_of(metric) == Metric::kDot)
      index_ = made<MinusDot>(dim, kind);
    else
      index_ = kind == "measured" ? std::make_unique<MeasuredRows<Real>>(dim)
                                  : made<CentroidSquared>(dim, kind);
  }

  Neighbours<Real>& index() override { return *index_; }

 private:
  template <class Rule>
  static std::unique_ptr<Neighbours<Real>> made(std::size_t dim, const std::string& kind) {
    if (kind == "scan") return std::make_unique<ScannedRows<Real, Rule>>();
    if (kind == "buckets") return std::make_unique<BucketRows<Real, Rule>>(dim);
    if (kind == "long") return std::make_unique<LongRows<Real, Rule>>(dim);
    if (kind == "long by tree") return std::make_unique<LongRows<Real, Rule>>(dim, SearchBy::kTree);
    if (kind == "long by scan") return std::make_unique<LongRows<Real, Rule>>(dim, SearchBy::kScan);
    throw std::invalid_argument("no such index");
  }

  std::unique_ptr<Neighbours<Real>> index_;
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
void bind_searches(nb::module_& m) {
  using Self = Searches<Real>;
  using Store = RowStore<Real>;
  nb::class_<Self>(m, with_type<Real>("Searches").c_str())
      .def_prop_ro("end", [](Self& self) { return self.index().end(); })
      .def("add",
           [](Self& self, const Store& points) {
             self.index().add(points, static_cast<RowSlot>(self.index().end()));
           })
      .def("remove",
           [](Self& self, const Store& points, RowSlot row) { self.index().remove(points, row); })
      .def("renumber", [](Self& self, const Numbers& new_slot,
                          std::size_t living) { self.index().renumber(span_of(new_slot), living); })
      .def("load",
           [](Self& self, const Store& points, std::size_t end) {
             Alone alone;
             self.index().load(points, end, alone, {});
           })
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
}

template <class Real>
void bind_index(nb::module_& m) {
  nb::class_<Index<Real>, Searches<Real>>(m, with_type<Real>("Index").c_str())
      .def(nb::init<std::size_t, const std::string&, const std::string&>(), nb::arg("dim"),
           nb::arg("metric"), nb::arg("kind"));
  m.def("look_ahead", &look_ahead<Real>, nb::arg("index"), nb::arg("points"),
        nb::arg("rows").noconvert(), nb::arg("k"), nb::arg("threads") = 0,
        nb::arg("pulses") = nb::none());
}

/// The bytes of all rows, one after the other.
std::vector<std::int8_t> encoded(const Projection<double>& projection, const Rows<double>& rows,
                                 std::vector<double>& doubts) {
  std::vector<std::int8_t> codes;
  ProjectionRoom room;
  ShortRow one;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    projection.apply_broad(rows.data() + i * rows.shape(1), room, one);
    codes.insert(codes.end(), one.broad.begin(), one.broad.end());
    doubts.push_back(one.broad_doubt);
  }
  return codes;
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("shortened", [](const Rows<double>& rows) {
    const std::size_t dim = rows.shape(1), count = rows.shape(0);
    Projection<double> projection(dim);
    const auto row = [&](std::size_t i) { return rows.data() + i * dim; };
    projection.fit(row, count, {});
    std::vector<double> doubts;
    auto codes = encoded(projection, rows, doubts);
    return std::tuple(to_numpy(std::move(codes), projection.broad()), std::move(doubts),
                      projection.scale() / projection.step());
  });
  m.def("multiplied", [](const Rows<double>& rows, const Row<double>& with) {
    const std::size_t dim = rows.shape(1), count = rows.shape(0);
    Projection<double> projection(dim);
    const auto row = [&](std::size_t i) { return rows.data() + i * dim; };
    projection.fit_whole(row, count);
    std::vector<double> doubts;
    auto codes = encoded(projection, rows, doubts);
    std::vector<std::int8_t> of_one;
    ProjectionRoom room;
    projection.make_room(room);
    const Multiplier by = projection.turn(with.data(), room, of_one);
    return std::tuple(to_numpy(std::move(codes), projection.broad()), std::move(doubts),
                      std::vector<int>(of_one.begin(), of_one.end()),
                      std::tuple(by.unit, by.shift, by.slack, by.doubt));
  });
  m.def("turned", [](const Row<float>& row) {
    std::vector<float> out(row.data(), row.data() + row.size());
    const Rotation rotation(out.size());
    rotation.apply(out.data());
    return std::pair(std::move(out), rotation.rounding());
  });
  bind_row_store<float>(m);
  bind_row_store<double>(m);
  bind_searches<float>(m);
  bind_searches<double>(m);
  bind_index<float>(m);
  bind_index<double>(m);
}

}  // namespace ramify::parts
