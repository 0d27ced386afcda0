// SPDX-License-Identifier: BSD-3-Clause
// bind.hpp: what the binding files share: array shapes, handing arrays out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tree/dendrogram.hpp"

namespace ramify::bindings {

namespace nb = nanobind;

/// Rows that are only read: C order, CPU, any writability.
template <class Real>
using Rows = nb::ndarray<const Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Real>
using Row = nb::ndarray<const Real, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Pairs = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Out1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

template <class T>
nb::capsule keep(std::vector<T>&& values, T** data) {
  auto* owned = new std::vector<T>(std::move(values));
  *data = owned->data();
  return nb::capsule(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}

/// Hand a vector to NumPy without copying it.
template <class T>
Out1<T> to_numpy(std::vector<T> values) {
  const std::size_t size = values.size();
  T* data = nullptr;
  nb::capsule owner = keep(std::move(values), &data);
  return Out1<T>(data, {size}, owner);
}

template <class T>
Out2<T> to_numpy(std::vector<T> values, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  T* data = nullptr;
  nb::capsule owner = keep(std::move(values), &data);
  return Out2<T>(data, {rows, columns}, owner);
}

/// The pairs as a tree; refuses arrays that are not one, so that nothing below
/// can be led outside of its arrays.
Children tree_of(const Pairs& children);

void bind_points(nb::module_& m);
void bind_dendrogram(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_live(nb::module_& m);
void bind_live_graph(nb::module_& m);
void bind_measures(nb::module_& m);
void bind_options(nb::module_& m);
void bind_shards(nb::module_& m);

}  // namespace ramify::bindings
