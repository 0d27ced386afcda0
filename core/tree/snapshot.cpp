// SPDX-License-Identifier: BSD-3-Clause
#include "tree/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace ramify {

template <class Real>
FlatTree flatten(const Tree<Real>& tree) {
  FlatTree out;
  out.slots = tree.slots();
  out.entries.reserve(tree.attached() - 1);
  for (Slot slot = 0; slot < tree.slots(); ++slot) {
    if (tree.is_free(slot)) continue;
    const NodeId v = NodeId::inner(slot);
    out.entries.push_back({tree.heights(v), tree.count(v), tree.first_leaf(v), tree.left(v),
                           tree.right(v), slot, tree.id(slot)});
  }
  return out;
}

namespace {

/// Bits of a number that order as the numbers do; 0 and -0 are one.
std::uint64_t sortable(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return bits >> 63 != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

/// Entries in canonical order. By monotone height digit after digit, which is several
/// times as quick as by comparisons; then equal ones by leaves and first leaf.
std::vector<std::uint32_t> canonical_order(const std::vector<FlatTree::Entry>& entries) {
  struct Keyed {
    std::uint64_t key;
    std::uint32_t entry;
  };
  constexpr std::size_t kBits = 11, kDigits = std::size_t{1} << kBits;
  std::vector<Keyed> now, next(entries.size());
  now.reserve(entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i)
    now.push_back({sortable(entries[i].heights.monotone), i});
  std::vector<std::size_t> place(kDigits);
  for (std::size_t shift = 0; shift < 64; shift += kBits) {
    std::fill(place.begin(), place.end(), 0);
    for (const Keyed& one : now) ++place[(one.key >> shift) % kDigits];
    std::size_t before = 0;
    for (std::size_t& count : place) before += std::exchange(count, before);
    for (const Keyed& one : now) next[place[(one.key >> shift) % kDigits]++] = one;
    now.swap(next);
  }
  std::vector<std::uint32_t> order;
  order.reserve(now.size());
  for (const Keyed& one : now) order.push_back(one.entry);
  for (std::size_t from = 0, to = 0; from < now.size(); from = to) {
    while (to < now.size() && now[to].key == now[from].key) ++to;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(from),
              order.begin() + static_cast<std::ptrdiff_t>(to),
              [&](std::uint32_t a, std::uint32_t b) {
                return entries[a].count != entries[b].count
                           ? entries[a].count < entries[b].count
                           : entries[a].first_leaf < entries[b].first_leaf;
              });
  }
  return order;
}

}  // namespace

Snapshot number(const FlatTree& tree) {
  const std::size_t n = tree.entries.size() + 1;
  const std::vector<std::uint32_t> order = canonical_order(tree.entries);
  Snapshot out;
  out.nodes.reserve(2 * n - 1);
  for (std::size_t i = 0; i < n; ++i) out.nodes.push_back(NodeId::leaf(static_cast<RowSlot>(i)));
  struct Numbered {
    std::int64_t number;
    RowSlot first;
  };
  std::vector<Numbered> numbered(tree.slots);
  for (const std::uint32_t at : order) {
    const FlatTree::Entry& entry = tree.entries[at];
    numbered[entry.slot] = {static_cast<std::int64_t>(out.nodes.size()), entry.first_leaf};
    out.nodes.push_back(NodeId::inner(entry.slot));
  }
  const auto look = [&](NodeId v) {
    return v.is_leaf() ? Numbered{v.row(), v.row()} : numbered[v.slot()];
  };
  out.children.reserve(2 * (n - 1));
  out.heights.reserve(n - 1);
  out.ids.reserve(n - 1);
  for (const std::uint32_t at : order) {
    const FlatTree::Entry& entry = tree.entries[at];
    Numbered a = look(entry.left), b = look(entry.right);
    if (b.first < a.first) std::swap(a, b);
    out.children.push_back(a.number);
    out.children.push_back(b.number);
    out.heights.push_back(entry.heights.own);
    out.ids.push_back(static_cast<std::int64_t>(entry.id));
  }
  return out;
}

template FlatTree flatten(const Tree<float>&);
template FlatTree flatten(const Tree<double>&);

}  // namespace ramify
