// SPDX-License-Identifier: BSD-3-Clause
// bind_cells.cpp: rows in cells, and the plans that they follow.
#include "index/cell_rows.hpp"
#include "searches.hpp"

namespace ramify::parts {
namespace {

/// Rows in cells, and the plans that they follow.
template <class Real>
class Cells final : public Searches<Real> {
 public:
  using Store = RowStore<Real>;

  Cells(std::size_t dim, double recall, std::size_t fit, std::size_t first, std::size_t epoch)
      : plans_(dim, {recall, fit, first, epoch}), index_(make()) {}

  CellRows<Real>& index() override { return *index_; }
  CellPlans<Real>& plans() { return plans_; }
  /// Throw the index away, and make it again from the stored plan.
  void make_again(const Store& points, std::size_t end) {
    plans_.restore(CellPlan<Real>::restored(plans_.dim(), plans_.now().stored()));
    index_ = make();
    Alone alone;
    index_->load(points, end, alone, {});
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
};

template <class Real>
void bind_cells_of(nb::module_& m) {
  using Self = Cells<Real>;
  using Store = RowStore<Real>;
  nb::class_<Self, Searches<Real>>(m, with_type<Real>("Cells").c_str())
      .def(nb::init<std::size_t, double, std::size_t, std::size_t, std::size_t>(), nb::arg("dim"),
           nb::arg("recall"), nb::arg("fit"), nb::arg("first"), nb::arg("epoch"))
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
      .def("cell_of", [](Self& self, RowSlot row) { return self.index().cell_of(row); })
      .def("code", &Self::code, nb::arg("x").noconvert());
}

}  // namespace

void bind_cells(nb::module_& m) {
  bind_cells_of<float>(m);
  bind_cells_of<double>(m);
}

}  // namespace ramify::parts
