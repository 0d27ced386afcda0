// SPDX-License-Identifier: BSD-3-Clause
// bucket_blocks.hpp: the items of a bucket tree, in blocks of kBlock.
//
// A place is a number, too: place p is in block p / kBlock. A leaf is a chain of blocks,
// all full but the last, and of one block unless its items are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "math/growth.hpp"
#include "math/kernels.hpp"

namespace ramify {

template <class Real, class Rule>
class BucketBlocks {
 public:
  using Item = std::uint32_t;
  static constexpr std::uint32_t kNil = 0xFFFFFFFFU;

  /// `remembers` where each item is, four bytes an item.
  BucketBlocks(std::size_t dim, bool remembers) : dim_(dim), remembers_(remembers) {}

  Item item(std::uint32_t at) const { return items_[at]; }
  double weight(std::uint32_t at) const { return Rule::kWeighted ? weights_[at] : 0; }
  Real coordinate(std::uint32_t at, std::size_t j) const { return columns_[number(at, j)]; }
  /// Coordinates of a block, column by column.
  const Real* columns(std::uint32_t block) const {
    return columns_.data() + std::size_t{block} * dim_ * kBlock;
  }
  std::uint32_t next(std::uint32_t block) const { return next_[block]; }
  std::uint32_t leaf_at(std::uint32_t at) const { return leaf_[at / kBlock]; }
  /// The place after one, in a leaf of several blocks.
  std::uint32_t after(std::uint32_t at) const {
    return at % kBlock + 1 < kBlock ? at + 1 : next_[at / kBlock] * kBlock;
  }

  bool remembers() const { return remembers_; }
  std::uint32_t place_of(Item item) const { return places_[item]; }
  void remember(std::uint32_t at) {
    const Item item = items_[at];
    if (places_.size() <= item) places_.resize(item + 1 + item / 2);
    places_[item] = at;
  }
  /// From now on; the caller goes on to remember() every place. Items are at most `most`.
  void begin_to_remember(Item most) {
    places_.resize(std::size_t{most} + 1 + most / 2);
    remembers_ = true;
  }
  void renumber(std::uint32_t at, Item item) {
    items_[at] = item;
    if (remembers_) remember(at);
  }

  void put(std::uint32_t at, Item item, const Real* row, double weight) {
    for (std::size_t j = 0; j < dim_; ++j) columns_[number(at, j)] = row[j];
    if constexpr (Rule::kWeighted) weights_[at] = weight;
    renumber(at, item);
  }
  void copy(std::uint32_t from, std::uint32_t to) {
    for (std::size_t j = 0; j < dim_; ++j) columns_[number(to, j)] = columns_[number(from, j)];
    if constexpr (Rule::kWeighted) weights_[to] = weights_[from];
    renumber(to, items_[from]);
  }

  /// A block for a leaf, after its last one so far (kNil: the first).
  std::uint32_t take(std::uint32_t leaf, std::uint32_t last) {
    std::uint32_t block;
    if (free_.empty()) {
      block = static_cast<std::uint32_t>(next_.size());
      for (auto* by_block : {&next_, &previous_, &leaf_}) by_block->push_back(kNil);
      columns_.resize(columns_.size() + kBlock * dim_);
      items_.resize(items_.size() + kBlock);
      if constexpr (Rule::kWeighted) weights_.resize(weights_.size() + kBlock);
    } else {
      block = free_.back();
      free_.pop_back();
    }
    next_[block] = kNil;
    previous_[block] = last;
    leaf_[block] = leaf;
    if (last != kNil) next_[last] = block;
    return block;
  }
  /// Its content, and what came after it, can still be read until take() is called.
  void give_back(std::uint32_t block) { free_.push_back(block); }
  /// The same for the last block of a chain; the one that is last now.
  std::uint32_t give_back_last(std::uint32_t block) {
    const std::uint32_t last = previous_[block];
    next_[last] = kNil;
    give_back(block);
    return last;
  }
  /// From now on the only block of another leaf.
  void hand_over(std::uint32_t block, std::uint32_t leaf) { leaf_[block] = leaf; }
  void make_room_to_give_back() { make_room(free_, 1); }
  void reserve(std::size_t blocks) {
    columns_.reserve(blocks * kBlock * dim_);
    items_.reserve(blocks * kBlock);
    if constexpr (Rule::kWeighted) weights_.reserve(blocks * kBlock);
    for (auto* by_block : {&next_, &previous_, &leaf_}) by_block->reserve(blocks);
  }

 private:
  std::size_t number(std::uint32_t at, std::size_t j) const {
    return (at / kBlock * dim_ + j) * kBlock + at % kBlock;
  }

  std::size_t dim_;
  bool remembers_;
  BigVector<Real> columns_;                            // kBlock * dim a block, column by column
  BigVector<Item> items_;                              // kBlock a block
  BigVector<double> weights_;                          // kBlock a block, if the rule has weights
  std::vector<std::uint32_t> next_, previous_, leaf_;  // by block
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> places_;  // by item, if it remembers
};

}  // namespace ramify
