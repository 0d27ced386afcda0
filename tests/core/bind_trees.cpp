// SPDX-License-Identifier: BSD-3-Clause
// bind_trees.cpp: the live tree, cuts of it, and OHAC's repair of it.
#include "algorithms/ohac.hpp"
#include "parts.hpp"
#include "tree/frontier.hpp"
#include "tree/tree.hpp"

namespace ramify::parts {
namespace {

/// A tree made of another one's stored arrays.
template <class Real>
Tree<Real> stored_and_read(const Tree<Real>& tree) {
  const auto links = tree.link_array();
  const auto ids = tree.ids();
  const auto means = tree.means();
  const auto ssds = tree.ssds();
  const auto arrivals = tree.points().numbers();
  return Tree<Real>::from_arrays(tree.dim(), {tree.points().values(), links, ids, tree.next_id(),
                                              means, ssds, arrivals, tree.points().next_arrival()});
}

template <class Real>
void bind_tree(nb::module_& m) {
  using Self = Tree<Real>;
  using Raw = std::uint32_t;
  nb::class_<Self>(m, with_type<Real>("Tree").c_str())
      .def(nb::init<std::size_t>())
      .def_prop_ro(
          "points", [](const Self& self) -> const RowStore<Real>& { return self.points(); },
          nb::rv_policy::reference_internal)
      .def_prop_ro("slots", &Self::slots)
      .def_prop_ro("kept_means", &Self::kept_means)
      .def("keeps_mean", [](const Self& self, Raw v) { return self.keeps_mean(node(v)); })
      .def_prop_ro("attached", &Self::attached)
      .def_prop_ro("root", [](const Self& self) { return shown(self.root()); })
      .def_prop_ro("is_stale", &Self::is_stale)
      .def_prop_ro("next_id", &Self::next_id)
      .def("parent", [](const Self& self, Raw v) { return shown(self.parent(node(v))); })
      .def("left", [](const Self& self, Raw v) { return shown(self.left(node(v))); })
      .def("right", [](const Self& self, Raw v) { return shown(self.right(node(v))); })
      .def("sibling", [](const Self& self, Raw v) { return shown(self.sibling(node(v))); })
      .def("count", [](const Self& self, Raw v) { return self.count(node(v)); })
      .def("first_leaf", [](const Self& self, Raw v) { return self.first_leaf(node(v)); })
      .def("ssd", [](const Self& self, Raw v) { return self.ssd(node(v)); })
      .def("mean",
           [](const Self& self, Raw v) {
             std::vector<Real> room(self.dim());
             const Real* const mean = self.mean(node(v), room.data());
             return to_numpy(std::vector<Real>(mean, mean + self.dim()));
           })
      .def("id", [](const Self& self, Raw v) { return self.id(node(v).slot()); })
      .def("heights",
           [](const Self& self, Raw v) {
             const Heights& heights = self.heights(node(v));
             return std::pair{heights.own, heights.monotone};
           })
      .def("make_room", &Self::make_room)
      .def("add_leaf",
           [](Self& self, const Row<Real>& row) { return self.add_leaf(row.data()).raw(); })
      .def("truncate", &Self::truncate)
      .def("set_root", [](Self& self, Raw v) { self.set_root(node(v)); })
      .def("attach",
           [](Self& self, Raw leaf, Raw at) { return self.attach(node(leaf), node(at)).raw(); })
      .def(
          "mark_stale", [](Self& self, Node v) { self.mark_stale(v ? node(*v) : kNone); },
          nb::arg().none())
      .def("refresh",
           [](Self& self, const std::string& metric, const std::string& linkage) {
             self.refresh(metric_of(metric), linkage_of_name(linkage));
           })
      .def("make_room_to_erase", &Self::make_room_to_erase, nb::arg("slots") = 1)
      .def("detach", [](Self& self, Raw leaf) { return shown(self.detach(node(leaf))); })
      .def("erase_row", &Self::erase_row)
      .def("compact",
           [](Self& self) {
             std::vector<RowSlot> new_slot;
             self.compact([&](std::span<const RowSlot> moved) {
               new_slot.assign(moved.begin(), moved.end());
             });
             return new_slot;
           })
      .def("swap", [](Self& self, Raw a, Raw b) { self.swap(node(a), node(b)); })
      .def("move",
           [](Self& self, Raw v, Raw beside) { return self.move(node(v), node(beside)).raw(); })
      .def("remake_in_vain", [](Self& self) { const typename Self::Remake remake(self); })
      .def("stored_and_read", &stored_and_read<Real>)
      .def("check", &Self::check);
}

template <class Real>
void bind_frontier(nb::module_& m) {
  using Self = Frontier<Real>;
  nb::class_<Self>(m, with_type<Real>("Frontier").c_str())
      .def(
          "__init__",
          [](Self* self, const Tree<Real>& tree, const std::string& by, double value) {
            const auto how = named<CutBy>(by, std::array{"n_clusters", "height", "max_size"});
            const bool counts = how != CutBy::kHeight;
            new (self)
                Self(tree, {how, counts ? static_cast<std::size_t>(value) : 1, counts ? 0 : value});
          },
          nb::keep_alive<1, 2>())
      .def("clusters",
           [](const Self& self) {
             std::vector<std::uint32_t> out;
             for (const NodeId v : self.clusters()) out.push_back(v.raw());
             return out;
           })
      .def("cluster_of",
           [](const Self& self, std::uint32_t v) { return self.cluster_of(node(v)).raw(); })
      .def("label_of", [](const Self& self, std::uint32_t v) { return self.label_of(node(v)); })
      .def("label_all", [](const Self& self, std::size_t slots) {
        std::vector<std::int64_t> out(slots, -1);
        self.label_all(out.data());
        return out;
      });
}

template <class Real>
void bind_ohac(nb::module_& m) {
  using Self = Ohac<Real>;
  const auto pulse = [](bool stop) {
    return stop ? Pulse([](std::size_t) { return false; }) : Pulse{};
  };
  nb::class_<Self>(m, with_type<Real>("Ohac").c_str())
      .def(
          "__init__",
          [](Self* self, std::size_t dim, const std::string& metric, const std::string& linkage,
             std::size_t path_from, const std::string& asks, bool by_matrix) {
            const auto ways = std::array{"where paid", "always", "never", "in turn"};
            new (self) Self(dim, {metric_of(metric), linkage_of_name(linkage)},
                            {.ways = {path_from, named<PathWays::Asks>(asks, ways), by_matrix}});
          },
          nb::arg("dim"), nb::arg("metric"), nb::arg("linkage"), nb::arg("path_from") = 0,
          nb::arg("asks") = "where paid", nb::arg("by_matrix") = false)
      .def(
          "weigh",
          [](Self& self, Tree<Real>& tree, std::uint32_t leaf, double weight) {
            tree.make_room_to_weigh();
            tree.make_room_to_erase();
            self.weigh(tree, node(leaf), {weight, 0});
          },
          nb::arg("tree"), nb::arg("leaf"), nb::arg("weight"))
      .def(
          "insert",
          [pulse](Self& self, Tree<Real>& tree, std::uint32_t leaf,
                  const std::vector<RowSlot>& rows, bool stop) {
            std::vector<Neighbour> neighbours;
            for (const RowSlot row : rows) neighbours.push_back({0, row});
            return self.insert(tree, node(leaf), neighbours, nullptr, pulse(stop));
          },
          nb::arg("tree"), nb::arg("leaf"), nb::arg("neighbours"), nb::arg("stop") = false)
      .def(
          "erase",
          [](Self& self, Tree<Real>& tree, std::uint32_t leaf) { self.erase(tree, node(leaf)); },
          nb::arg("tree"), nb::arg("leaf"));
}

}  // namespace

void bind_trees(nb::module_& m) {
  bind_tree<float>(m);
  bind_tree<double>(m);
  bind_frontier<float>(m);
  bind_frontier<double>(m);
  bind_ohac<float>(m);
  bind_ohac<double>(m);
}

}  // namespace ramify::parts
