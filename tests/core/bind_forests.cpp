// SPDX-License-Identifier: BSD-3-Clause
// bind_forests.cpp: HAC of given summaries and of paths, the stable part of a path, and their work.
#include "forest/forest_hac.hpp"
#include "forest/path_hac.hpp"
#include "forest/stable_path.hpp"
#include "forest/tally.hpp"
#include "parts.hpp"

namespace ramify::parts {
namespace {

using Merges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Clusters from arrays; these must outlive it.
template <class Real>
std::vector<ForestItem<Real>> forest_of(const Rows<Real>& means, const Vector<double>& ssds,
                                        const Vector<std::uint32_t>& sizes,
                                        const Vector<std::uint32_t>& first_leaves) {
  std::vector<ForestItem<Real>> out;
  for (std::size_t i = 0; i < means.shape(0); ++i) {
    const std::uint32_t size = sizes.data()[i];
    out.push_back({{static_cast<double>(size), means.data() + i * means.shape(1), ssds.data()[i]},
                   {static_cast<double>(size), size, first_leaves.data()[i]}});
  }
  return out;
}

/// Merges and, on a matrix, their linkages; none if the pulse said stop after so many calls.
template <class Real>
std::optional<std::pair<Merges, std::vector<double>>> merge_forest(
    const Rows<Real>& means, const Vector<double>& ssds, const Vector<std::uint32_t>& sizes,
    const Vector<std::uint32_t>& first_leaves, const std::string& metric,
    const std::string& linkage, const std::string& space, std::optional<std::size_t> pulses,
    std::size_t searches) {
  const auto forest = forest_of(means, ssds, sizes, first_leaves);
  const auto where = named<ForestSpace>(space, std::array{"by size", "matrix", "buckets", "scan"});
  if (where == ForestSpace::kBuckets && means.shape(1) >= kLanes)
    throw std::invalid_argument("too wide for buckets");
  const Pulse pulse = pulses ? Pulse([&](std::size_t) { return (*pulses)-- > 0; }) : Pulse{};
  ForestScratch scratch;
  scratch.searches_each = searches;
  std::vector<Merge> merges;
  if (!forest_hac<Real>(forest, means.shape(1), metric_of(metric), linkage_of_name(linkage), pulse,
                        scratch, merges, where))
    return std::nullopt;
  Merges out;
  for (const auto [a, b] : merges) out.emplace_back(a, b);
  return std::pair{std::move(out), std::move(scratch.linkages)};
}

template <class Real>
void bind_stable_path(nb::module_& m) {
  using Self = StablePath<Real>;
  nb::class_<Self>(m, with_type<Real>("StablePath").c_str())
      .def(nb::init<std::size_t>())
      .def("unstable_level",
           [](Self& self, const Rows<Real>& means, const Vector<double>& ssds,
              const Vector<std::uint32_t>& sizes, const Vector<std::uint32_t>& first_leaves) {
             return self.unstable_level(forest_of(means, ssds, sizes, first_leaves));
           })
      .def("merge_foot",
           [](Self& self, std::size_t level, const Rows<Real>& means, const Vector<double>& ssds,
              const Vector<std::uint32_t>& sizes, const Vector<std::uint32_t>& first_leaves) {
             const auto forest = forest_of(means, ssds, sizes, first_leaves);
             self.unstable_level(forest);
             FewClusters few = self.foot(level);
             for (std::size_t i = 0; i <= level; ++i) few.ranks[i] = forest[i].rank;
             few.ranks[level + 1] = forest.back().rank;
             std::vector<Merge> merges;
             std::vector<double> linkages;
             const bool done = merge_few(few, merges, linkages);
             Merges out;
             for (const auto [a, b] : merges) out.emplace_back(a, b);
             return done ? std::optional(std::pair{std::move(out), std::move(linkages)})
                         : std::nullopt;
           })
      .def("unstable_after", [](Self& self, std::size_t level, const Merges& merges,
                                const std::vector<double>& linkages) {
        std::vector<Merge> plain;
        for (const auto [a, b] : merges) plain.push_back({a, b});
        return self.unstable_after(level, plain, linkages);
      });
}

template <class Real>
void bind_path_hac(nb::module_& m) {
  using Self = PathHac<Real>;
  nb::class_<Self>(m, with_type<Real>("PathHac").c_str())
      .def("__init__",
           [](Self* self, std::size_t dim, const std::string& metric, const std::string& linkage) {
             new (self) Self(dim, metric_of(metric), linkage_of_name(linkage));
           })
      .def("release",
           [](Self& self, std::uint32_t leaf) { self.table().release(NodeId::leaf(leaf)); })
      .def("forget", [](Self& self) { self.table().forget(); })
      .def("wipe", &Self::wipe)
      // Subtrees are called leaves here; what they are made of does not matter.
      .def("merge",
           [](Self& self, const Rows<Real>& means, const Vector<double>& ssds,
              const Vector<std::uint32_t>& sizes, const Vector<std::uint32_t>& first_leaves,
              const std::vector<std::uint32_t>& leaves, const std::vector<Slot>& path,
              bool comes) -> std::optional<Merges> {
             std::vector<NodeId> trees;
             std::size_t end = 0;
             for (const std::uint32_t leaf : leaves) {
               trees.push_back(NodeId::leaf(leaf));
               end = std::max<std::size_t>(end, trees.back().raw() + 1);
             }
             std::vector<Merge> merges;
             if (!self.merge(forest_of(means, ssds, sizes, first_leaves), trees, path, comes, end,
                             merges))
               return std::nullopt;
             Merges out;
             for (const auto [a, b] : merges) out.emplace_back(a, b);
             return out;
           });
}

template <class Real>
void bind_forest_hac(nb::module_& m) {
  m.def("forest_hac", &merge_forest<Real>, nb::arg("means").noconvert(), nb::arg("ssds"),
        nb::arg("sizes"), nb::arg("first_leaves"), nb::arg("metric"), nb::arg("linkage"),
        nb::arg("space"), nb::arg("pulses") = nb::none(), nb::arg("searches") = 16);
}

}  // namespace

void bind_forests(nb::module_& m) {
  m.def("work", [] { return std::exchange(work, 0); });  // linkages since the last call
  bind_forest_hac<float>(m);
  bind_forest_hac<double>(m);
  bind_stable_path<float>(m);
  bind_stable_path<double>(m);
  bind_path_hac<float>(m);
  bind_path_hac<double>(m);
}

}  // namespace ramify::parts
