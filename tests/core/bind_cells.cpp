// SPDX-License-Identifier: BSD-3-Clause
#include "index/cell_rows.hpp"
#include "parts.hpp"

namespace ramify::parts {
namespace {

using Numbers = std::vector<RowSlot>;

template <class T>
std::span<const T> span_of(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

/// Rows in cells, and the plans that they follow.
template <class Real>
class Cells {
 public:
  using Store = RowStore<Real>;

  Cells(std::size_t dim, double recall, std::size_t fit, std::size_t first, std::size_t epoch)
      : plans_(dim, {recall, fit, first, epoch}), index_(make()) {}

  CellRows<Real>& index() { return *index_; }
  CellPlans<Real>& plans() { return plans_; }
  /// Throw the index away, and make it again from the stored plan.
  void make_again(const Store& points, std::size_t end) {
    plans_.restore(CellPlan<Real>::restored(plans_.dim(), plans_.now().stored()));
    index_ = make();
    index_->load(points, end, {});
  }

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
  /// The byte codes of a row; none if there is no projection yet.
  std::vector<int> code(const Row<Real>& x) const {
    const auto* shape = plans_.now().shape.get();
    std::vector<int> out;
    if (shape == nullptr) return out;
    ProjectionRoom room;
    ShortRow row;
    shape->projection().apply_broad(x.data(), room, row);
    for (std::size_t j = 0; j < shape->projection().broad(); ++j) out.push_back(row.broad[j]);
    return out;
  }

 private:
  std::unique_ptr<CellRows<Real>> make() { return std::make_unique<CellRows<Real>>(plans_); }

  CellPlans<Real> plans_;
  std::unique_ptr<CellRows<Real>> index_;
  SearchScratch scratch_;
};

template <class Real>
void bind_cells_of(nb::module_& m) {
  using Self = Cells<Real>;
  using Store = RowStore<Real>;
  nb::class_<Self>(m, with_type<Real>("Cells").c_str())
      .def(nb::init<std::size_t, double, std::size_t, std::size_t, std::size_t>(), nb::arg("dim"),
           nb::arg("recall"), nb::arg("fit"), nb::arg("first"), nb::arg("epoch"))
      .def_prop_ro("end", [](Self& self) { return self.index().end(); })
      .def_prop_ro("cells", [](Self& self) { return self.plans().now().cells(); })
      .def_prop_ro("recall", [](Self& self) { return self.plans().now().recall(); })
      .def_prop_ro("next", [](Self& self) { return self.plans().now().next; })
      .def("stored", [](Self& self) { return to_numpy(self.plans().now().stored()); })
      .def("restore",
           [](Self& self, const Vector<double>& numbers) {
             self.plans().restore(
                 CellPlan<Real>::restored(self.plans().dim(), {numbers.data(), numbers.size()}));
           })
      .def("take_back", [](Self& self, Arrival next) { return self.plans().take_back(next); })
      .def("make_again", &Self::make_again)
      .def("expect", [](Self& self, const Store& points, std::size_t end,
                        Arrival number) { return self.index().expect(points, end, number, {}); })
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
      .def("cell_of", [](Self& self, RowSlot row) { return self.index().cell_of(row); })
      .def("code", &Self::code, nb::arg("x").noconvert())
      .def("nearest", &Self::nearest, nb::arg("points"), nb::arg("x").noconvert(), nb::arg("k"),
           nb::arg("end"))
      .def("nearest_to_each", &Self::nearest_to_each, nb::arg("points"),
           nb::arg("rows").noconvert(), nb::arg("k"), nb::arg("end"))
      .def("nearest_allowed", &Self::nearest_allowed, nb::arg("points"), nb::arg("x").noconvert(),
           nb::arg("end"), nb::arg("ruled_out").noconvert())
      .def("nearest_before", &Self::nearest_before);
}

}  // namespace

void bind_cells(nb::module_& m) {
  bind_cells_of<float>(m);
  bind_cells_of<double>(m);
}

}  // namespace ramify::parts
