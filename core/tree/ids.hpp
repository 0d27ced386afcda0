// SPDX-License-Identifier: BSD-3-Clause
// ids.hpp: what points and nodes are called.
//
//   Arrival  a point's public number: 0 for the first that ever came, never reused
//   RowSlot  where its row lies now (row_store.hpp)
//   Slot     where an inner node lies now, in the tree's arena; reused
//   NodeId   a node as a link: the leaf of a row slot (even) or an inner slot (odd)
//   id       an inner node's public id (tree.hpp)
#pragma once

#include <cstddef>
#include <cstdint>

namespace ramify {

using Arrival = std::uint64_t;
using RowSlot = std::uint32_t;
using Slot = std::uint32_t;  // index of an inner node in the arena

/// More points than this do not fit a NodeId.
inline constexpr std::size_t kMaxPoints = (std::size_t{1} << 31) - 1;

class NodeId {
 public:
  constexpr NodeId() = default;
  static constexpr NodeId leaf(RowSlot row) { return NodeId(row << 1); }
  static constexpr NodeId inner(Slot slot) { return NodeId((slot << 1) | 1U); }
  static constexpr NodeId from_raw(std::uint32_t raw) { return NodeId(raw); }

  constexpr bool is_leaf() const { return (raw_ & 1U) == 0; }
  constexpr RowSlot row() const { return raw_ >> 1; }
  constexpr Slot slot() const { return raw_ >> 1; }
  constexpr std::uint32_t raw() const { return raw_; }
  friend constexpr bool operator==(NodeId, NodeId) = default;

 private:
  explicit constexpr NodeId(std::uint32_t raw) : raw_(raw) {}
  std::uint32_t raw_ = 0xFFFFFFFFU;
};

/// "No node": the parent of a root, the root of an empty tree.
inline constexpr NodeId kNone{};

}  // namespace ramify
