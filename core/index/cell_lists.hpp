// SPDX-License-Identifier: BSD-3-Clause
// cell_lists.hpp: the rows of each cell, as byte codes in blocks.
//
// All codes lie in one scan (code_scan.hpp). A cell has whole blocks of it, of which only
// the last has gaps: a row that goes is replaced by the last of the cell. In which order
// rows lie depends on who has come and gone; what is found does not.
#pragma once

#include <cstdint>
#include <vector>

#include "index/code_scan.hpp"
#include "math/growth.hpp"

namespace ramify {

class CellLists {
 public:
  using Item = std::uint32_t;
  using Cell = std::uint32_t;

  const CodeScan& scan() const { return scan_; }

  template <class Real>
  void begin(const Projection<Real>& projection, std::size_t cells) {
    scan_.begin(projection);
    cells_.assign(cells, {});
    items_.clear();
    at_.clear();
    cell_of_.clear();
    free_.clear();
  }

  void add(Item item, Cell cell, const ShortRow& row) {
    List& list = cells_[cell];
    if (list.count == list.blocks.size() * kBlock) add_block(list, cell);
    if (at_.size() <= item) at_.resize(item + std::size_t{1}, 0);
    const std::size_t place = place_of(list, list.count++);
    scan_.set(place, row);
    items_[place] = item;
    at_[item] = static_cast<std::uint32_t>(place);
  }
  /// The memory that remove() needs.
  void make_room_to_remove() { make_room(free_, 1); }
  void remove(Item item) {
    List& list = cells_[cell_of(item)];
    const std::size_t place = at_[item], last = place_of(list, --list.count);
    scan_.remove(place);
    if (last != place) {
      scan_.move(last, place);
      items_[place] = items_[last];
      at_[items_[place]] = static_cast<std::uint32_t>(place);
    }
    if (list.count % kBlock != 0) return;
    free_.push_back(list.blocks.back());
    list.blocks.pop_back();
  }

  std::size_t place_of(Item item) const { return at_[item]; }
  Item item_at(std::size_t place) const { return items_[place]; }
  Cell cell_of(Item item) const { return cell_of_[at_[item] / kBlock]; }
  std::size_t count(Cell cell) const { return cells_[cell].count; }

  /// Call use(from, to) for the places of each block of a cell.
  template <class Use>
  void for_each_block(Cell cell, Use&& use) const {
    const List& list = cells_[cell];
    for (std::size_t b = 0; b < list.blocks.size(); ++b) {
      const std::size_t from = list.blocks[b] * kBlock;
      use(from, from + std::min(kBlock, list.count - b * kBlock));
    }
  }

 private:
  struct List {
    std::size_t count = 0;
    std::vector<std::uint32_t> blocks;
  };

  static std::size_t place_of(const List& list, std::size_t i) {
    return list.blocks[i / kBlock] * kBlock + i % kBlock;
  }
  void add_block(List& list, Cell cell) {
    make_room(list.blocks, 1);
    if (!free_.empty()) {
      list.blocks.push_back(free_.back());
      free_.pop_back();
    } else {
      const auto block = static_cast<std::uint32_t>(cell_of_.size());
      scan_.extend((block + std::size_t{1}) * kBlock);
      items_.resize(scan_.size(), 0);
      cell_of_.push_back(cell);
      list.blocks.push_back(block);
    }
    cell_of_[list.blocks.back()] = cell;
  }

  CodeScan scan_;
  std::vector<List> cells_;
  BigVector<Item> items_;            // by place
  BigVector<std::uint32_t> at_;      // by item: its place
  BigVector<Cell> cell_of_;          // by block
  std::vector<std::uint32_t> free_;  // blocks
};

}  // namespace ramify
