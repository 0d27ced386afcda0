// SPDX-License-Identifier: BSD-3-Clause
#include "tree/pruning.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace ramify {
namespace {

constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;

// Blocks of merges, each known by its topmost one, the head.
class Blocks {
 public:
  Blocks(std::span<const std::int64_t> children, std::span<const double> gains)
      : head_(gains.size()),
        parent_(gains.size(), kNoRow),
        next_(gains.size(), kNoRow),
        last_(gains.size()),
        gain_(gains.begin(), gains.end()),
        count_(gains.size(), 1),
        undone_(gains.size()) {
    const std::size_t leaves = gains.size() + 1;
    for (std::uint32_t row = 0; row < gains.size(); ++row) {
      head_[row] = last_[row] = row;
      for (const std::int64_t child : children.subspan(std::size_t{2} * row, 2))
        if (static_cast<std::size_t>(child) >= leaves)
          parent_[static_cast<std::size_t>(child) - leaves] = row;
    }
  }

  double price(std::uint32_t head) const { return gain_[head] / count_[head]; }
  std::uint32_t count(std::uint32_t head) const { return count_[head]; }
  bool is_head(std::uint32_t row) const { return head_[row] == row; }

  /// The block above a head, if that has not been undone; else kNoRow.
  std::uint32_t above(std::uint32_t head) {
    if (parent_[head] == kNoRow) return kNoRow;
    const std::uint32_t found = head_of(parent_[head]);
    return undone_[found] ? kNoRow : found;
  }

  /// A block comes right after the one above it.
  void append(std::uint32_t above, std::uint32_t head) {
    head_[head] = above;
    next_[last_[above]] = head;
    last_[above] = last_[head];
    gain_[above] += gain_[head];
    count_[above] += count_[head];
  }

  void undo(std::uint32_t head, double price, SplitOrder& out) {
    undone_[head] = true;
    for (std::uint32_t row = head; row != kNoRow; row = next_[row]) {
      out.rows.push_back(row);
      out.prices.push_back(price);
    }
  }

 private:
  std::uint32_t head_of(std::uint32_t row) {
    while (head_[row] != row) {
      head_[row] = head_[head_[row]];
      row = head_[row];
    }
    return row;
  }

  std::vector<std::uint32_t> head_;    // a way to the block's head
  std::vector<std::uint32_t> parent_;  // the merge above
  std::vector<std::uint32_t> next_;    // in the order of the block
  std::vector<std::uint32_t> last_;    // of the block; by head, as what follows
  std::vector<double> gain_;
  std::vector<std::uint32_t> count_;
  std::vector<bool> undone_;
};

}  // namespace

SplitOrder split_order(std::span<const std::int64_t> children, std::span<const double> gains) {
  struct Entry {
    double price;
    std::uint32_t head;
    std::uint32_t count;  // of merges in it then: a block that has grown has another entry
    bool operator<(const Entry& other) const {
      return std::tie(price, head) < std::tie(other.price, other.head);
    }
  };
  Blocks blocks(children, gains);
  std::vector<Entry> all;
  all.reserve(gains.size());
  for (std::uint32_t row = 0; row < gains.size(); ++row) all.push_back({gains[row], row, 1});
  std::priority_queue<Entry> highest(std::less<Entry>(), std::move(all));
  SplitOrder out;
  out.rows.reserve(gains.size());
  out.prices.reserve(gains.size());
  while (!highest.empty()) {
    const Entry top = highest.top();
    highest.pop();
    if (!blocks.is_head(top.head) || blocks.count(top.head) != top.count) continue;
    const std::uint32_t above = blocks.above(top.head);
    if (above == kNoRow) {
      blocks.undo(top.head, top.price, out);
      continue;
    }
    blocks.append(above, top.head);
    // A mean is never above both of its parts; rounding must not make it so.
    highest.push({std::min(blocks.price(above), top.price), above, blocks.count(above)});
  }
  return out;
}

}  // namespace ramify
