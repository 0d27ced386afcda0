// SPDX-License-Identifier: BSD-3-Clause
// inner_nodes.hpp: where a tree's inner nodes and their means lie.
//
// A slot is a record: an Inner, then the mean, whose length is only known at run time. In low
// dimension that is one cache line. Long means are kept apart, in no order, and a record says where
// its own is. A node of two leaves keeps none: such nodes are many, and two rows soon give the
// mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "math/growth.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// The head of an inner node's record; the mean follows, or where it is kept.
struct Inner {
  NodeId parent;
  NodeId left;
  NodeId right;
  std::uint32_t count = 0;  // of leaves
  RowSlot first_leaf = 0;
  std::uint32_t stale = 0;  // bits of Stale
  double ssd = 0;
  std::uint64_t id = 0;  // public, kept while the node keeps most of its points
};

enum Stale : std::uint32_t { kFresh = 0, kHeightStale = 1, kAllStale = 3 };

/// What people have said about an inner node (algorithms/edits.hpp).
enum class Mark : std::uint8_t {
  kPlain,
  kHeld,    // its points stay below it; others may join them
  kLinked,  // its points are as one, at height 0, and nothing comes between them
};

/// Of an inner node, as users see it.
struct Heights {
  double own;       // of its merge
  double monotone;  // the largest at or below it
};

template <class Real>
class InnerNodes {
 public:
  explicit InnerNodes(std::size_t dim)
      : dim_(dim), are_long_(dim * sizeof(Real) >= kLongMean), record_(record_bytes(dim)) {}

  std::size_t slots() const { return slots_; }
  Inner& operator[](std::size_t slot) {
    return *reinterpret_cast<Inner*>(records_.data() + slot * record_);
  }
  const Inner& operator[](std::size_t slot) const {
    return *reinterpret_cast<const Inner*>(records_.data() + slot * record_);
  }
  void make_room(std::size_t more) {
    ramify::make_room(records_, more * record_);
    // A node keeps one mean at most, so there is always room for it.
    if (are_long_) ramify::make_room(means_, (slots_ + more) * dim_ - means_.size());
  }
  /// There is room; the mean is for the caller to write.
  void add(std::uint64_t id) {
    (new (records_.extend(record_)) Inner{})->id = id;
    if (are_long_) kept_at(slots_) = kNotKept;
    ++slots_;
  }

  void clear() {
    slots_ = 0;
    records_.clear();
    means_.clear();
    free_mean_ = kNotKept;
  }

  /// Are means kept apart?
  bool are_long() const { return are_long_; }
  bool keeps_mean(std::size_t slot) const { return !are_long_ || kept_at(slot) != kNotKept; }
  /// How many means take up memory.
  std::size_t kept_means() const { return are_long_ ? means_.size() / dim_ : slots_; }
  /// Of a node that keeps its mean.
  const Real* mean(std::size_t slot) const {
    return are_long_ ? means_.data() + kept_at(slot) * dim_ : short_mean(slot);
  }
  Real* mean(std::size_t slot) {
    return are_long_ ? means_.data() + kept_at(slot) * dim_
                     : reinterpret_cast<Real*>(records_.data() + slot * record_ + sizeof(Inner));
  }
  /// Where means are not long.
  const Real* short_mean(std::size_t slot) const {
    return reinterpret_cast<const Real*>(records_.data() + slot * record_ + sizeof(Inner));
  }
  /// Have a place for the mean of a node, which the caller writes.
  void keep_mean(Slot slot) {
    if (keeps_mean(slot)) return;
    if (free_mean_ == kNotKept) {
      kept_at(slot) = static_cast<std::uint32_t>(means_.size() / dim_);
      means_.extend(dim_);
      return;
    }
    kept_at(slot) = free_mean_;
    std::memcpy(&free_mean_, mean(slot), sizeof(free_mean_));
  }
  /// Overwrite a mean, if there is one: what is forgotten is gone. A long one has no place then.
  void drop_mean(Slot slot) {
    if (!keeps_mean(slot)) return;
    std::fill_n(mean(slot), dim_, Real{0});
    if (!are_long_) return;
    std::memcpy(mean(slot), &free_mean_, sizeof(free_mean_));
    free_mean_ = kept_at(slot);
    kept_at(slot) = kNotKept;
  }

  /// Throws std::logic_error if a long mean is lost, or of two nodes, or missing. O(n).
  void check() const;

 private:
  static constexpr std::size_t kLongMean = 256;  // bytes
  static constexpr std::uint32_t kNotKept = 0xFFFFFFFFU;

  /// Whole cache lines as long as one will do, whole Inners' alignment above.
  std::size_t record_bytes(std::size_t dim) const {
    const std::size_t bytes =
        sizeof(Inner) + (are_long_ ? sizeof(std::uint32_t) : dim * sizeof(Real));
    return bytes <= 64 && !are_long_
               ? 64
               : (bytes + alignof(Inner) - 1) / alignof(Inner) * alignof(Inner);
  }
  std::uint32_t& kept_at(std::size_t slot) {
    return *reinterpret_cast<std::uint32_t*>(records_.data() + slot * record_ + sizeof(Inner));
  }
  std::uint32_t kept_at(std::size_t slot) const {
    return *reinterpret_cast<const std::uint32_t*>(records_.data() + slot * record_ +
                                                   sizeof(Inner));
  }

  std::size_t dim_;
  bool are_long_;
  std::size_t record_;  // bytes of a record
  std::size_t slots_ = 0;
  BigVector<std::byte> records_;        // by slot
  BigVector<Real> means_;               // if they are long
  std::uint32_t free_mean_ = kNotKept;  // the first, which names the next one
};

}  // namespace ramify
