// SPDX-License-Identifier: BSD-3-Clause
// ids.hpp: names of points and nodes.
//
// A point's id is its arrival index, forever. A node is either the leaf of a
// point or an inner node that lives in an arena slot. Both kinds share one
// 32-bit NodeId (even: leaf, odd: inner), so that a link is four bytes and no
// table has to be renumbered when the stream goes on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ramify {

using PointId = std::uint32_t;
using Slot = std::uint32_t;  // index of an inner node in the arena

/// More points than this do not fit a NodeId.
inline constexpr std::size_t kMaxPoints = (std::size_t{1} << 31) - 1;

class NodeId {
 public:
  constexpr NodeId() = default;
  static constexpr NodeId leaf(PointId point) { return NodeId(point << 1); }
  static constexpr NodeId inner(Slot slot) { return NodeId((slot << 1) | 1U); }
  static constexpr NodeId from_raw(std::uint32_t raw) { return NodeId(raw); }

  constexpr bool is_leaf() const { return (raw_ & 1U) == 0; }
  constexpr PointId point() const { return raw_ >> 1; }
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
