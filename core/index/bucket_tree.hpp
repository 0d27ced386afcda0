// SPDX-License-Identifier: BSD-3-Clause
// bucket_tree.hpp: a k-d tree that grows and shrinks, for exact searches in low
// dimension (dim < kLanes).
//
// Items (points, or clusters by their mean and a weight) lie in leaves of one
// block of kBlock, column by column, so that a leaf is scanned by a handful of
// vector instructions. A full leaf splits at the median of its widest side.
// Every node keeps a box of all it ever held since it was built; boxes bound the
// rule's score (linkage.hpp) from below, rounding included: a bound is summed in
// the order of the score itself, and every step of it is monotone.
//
// Two inputs would ruin a plain k-d tree. Sorted streams lean to one side: a node
// that has grown by half and has most of it in one child is rebuilt. Equal points
// cannot be split: a leaf of equal items is a chain of blocks, in order of
// arrival, and a search for k neighbours looks at its first k items only.
//
// Invariants: children lie side by side (child, child + 1); an inner node's left
// items have coordinate < split, its right ones >= split; a leaf with more than
// one block has a box of no extent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "math/boxes.hpp"
#include "math/growth.hpp"
#include "math/kernels.hpp"
#include "pulse.hpp"

namespace ramify {

/// A node that a search has yet to look into.
struct PendingNode {
  std::uint32_t node;
  double bound;
};
using PendingNodes = std::vector<PendingNode>;

template <class Real, class Rule>
class BucketTree {
 public:
  using Item = std::uint32_t;

  /// Where a search has yet to look. The caller keeps it between searches.
  using Stack = PendingNodes;

  /// `removable` trees remember where each item is, four bytes an item. If a pulse that
  /// is given to an operation throws, the tree is good for nothing but destruction.
  explicit BucketTree(std::size_t dim, bool removable = false) : dim_(dim), removable_(removable) {
    nodes_.resize(2);  // the root, and a twin that keeps pairs aligned
    boxes_.resize(4 * dim_);
    least_weight_.resize(2, std::numeric_limits<double>::infinity());
    make_leaf_empty(0);
  }

  std::size_t size() const { return size_; }
  /// A stack of this capacity has room for every search.
  std::size_t levels() const { return levels_; }

  /// Add an item. Amortised O(log n * dim) plus rebuilding.
  void insert(Item item, const Real* row, double weight = 0, const Pulse& pulse = {}) {
    ++size_;
    std::uint32_t v = 0, tilted = kNil;
    std::size_t level = 0, tilted_level = 0;
    for (;; ++level) {
      widen(v, row, weight);
      nodes_[v].first = std::min(nodes_[v].first, item);
      Node& node = nodes_[v];
      ++node.count;
      if (node.child == kNil) break;
      v = node.child + (row[node.axis] < node.split ? 0 : 1);
      if (tilted == kNil && is_tilted(node, nodes_[v].count + 1)) {
        tilted = parent_of(v);
        tilted_level = level;
      }
    }
    add_to_leaf(v, level, item, row, weight, pulse);
    if (tilted != kNil) rebuild(tilted, tilted_level, pulse);
  }

  /// Fill an empty tree with items 0, 1, 2, ... at once. O(n log n * dim).
  void load(BigVector<Real> rows, BigVector<double> weights, const Pulse& pulse) {
    BigVector<Item> items(rows.size() / dim_);
    std::iota(items.begin(), items.end(), Item{0});
    load_items(std::move(items), std::move(rows), std::move(weights), pulse);
  }
  /// The same with other items, in ascending order.
  void load_items(BigVector<Item> items, BigVector<Real> rows, BigVector<double> weights,
                  const Pulse& pulse) {
    Load load{std::move(items), std::move(rows), std::move(weights)};
    size_ = load.items.size();
    free_blocks_.push_back(nodes_[0].head);
    reserve(size_);
    build(0, 0, load, pulse);
  }

  /// Forget everything.
  void clear() {
    const bool in_order = in_order_;
    *this = BucketTree(dim_, removable_);
    in_order_ = in_order;
  }

  /// Call use(item) for every item, leaf by leaf, so that neighbours in space are
  /// near each other in time.
  template <class Use>
  void for_each(Use&& use) const {
    for_each_place([&](std::uint32_t at) { use(items_[at]); });
  }

  /// Make room to remove an item, remember from now on where each is, and keep equal ones
  /// in order, so that searches can go on looking at the first of them only.
  void make_removable() {
    make_room(free_blocks_, 1);
    if (removable_) return;
    Item most = 0;
    for_each([&](Item item) { most = std::max(most, item); });
    location_.resize(std::size_t{most} + 1 + most / 2);
    removable_ = in_order_ = true;
    for_each_place([&](std::uint32_t at) { location_[items_[at]] = at; });
  }

  /// Take an item out; boxes stay as they were. Only for removable trees. O(1), or the
  /// number of equal items.
  void remove(Item item) {
    std::uint32_t at = location_[item];
    Node& leaf = nodes_[block_leaf_[at / kBlock]];
    const std::uint32_t last_block = leaf.tail;
    --leaf.count;
    --size_;
    const std::uint32_t last = last_block * kBlock + leaf.count % kBlock;
    if (in_order_ && leaf.tail != leaf.head)
      for (std::uint32_t next = after(at); at != last; at = next, next = after(at))
        place(
            at, items_[next], [&](std::size_t j) { return coordinate(next, j); }, weight_at(next));
    if (last != at) {
      place(at, items_[last], [&](std::size_t j) { return coordinate(last, j); }, weight_at(last));
    }
    if (leaf.count % kBlock == 0 && leaf.tail != leaf.head) {
      leaf.tail = previous_[last_block];
      next_[leaf.tail] = kNil;
      free_blocks_.push_back(last_block);
    }
  }

  /// Every item has another number now, in the same order.
  void renumber(std::span<const Item> new_item) {
    for_each_place([&](std::uint32_t at) { items_[at] = new_item[items_[at]]; });
    for (Node& node : nodes_)
      if (node.first < new_item.size()) node.first = new_item[node.first];
    if (removable_) for_each_place([&](std::uint32_t at) { location_[items_[at]] = at; });
  }

  /// Build the whole tree anew from the items it holds. O(n log n * dim).
  void rebuild(const Pulse& pulse) { rebuild(0, 0, pulse); }

  /// Copy the coordinates of an item of a removable tree.
  void row_of(Item item, Real* out) const {
    for (std::size_t j = 0; j < dim_; ++j) out[j] = coordinate(location_[item], j);
  }

  /// Offer to `best` every item that can matter to it. `best` has
  ///   limit()   scores above it are of no use (equal ones may be, by the order)
  ///   offer(score, item)
  ///   equals()  how many of several equal items, earliest first, it could use
  /// Items from `end` on do not count; with an end, items must have come in
  /// ascending order.
  template <class Best>
  void search(const Real* x, double weight, Best& best, Stack& stack, Item end = kNil) const {
    if (size_ == 0) return;
    stack.clear();
    std::uint32_t v = 0;
    for (;;) {
      while (nodes_[v].child != kNil) {
        std::uint32_t near = nodes_[v].child, far = near + 1;
        auto [near_bound, far_bound] = bounds(near, x, weight);
        if (nodes_[near].first >= end) near_bound = kNever;
        if (nodes_[far].first >= end) far_bound = kNever;
        if (far_bound < near_bound) {
          std::swap(near, far);
          std::swap(near_bound, far_bound);
        }
        if (far_bound <= best.limit() && far_bound < kNever) stack.push_back({far, far_bound});
        if (near_bound > best.limit() || near_bound == kNever) {
          v = kNil;
          break;
        }
        v = near;
      }
      if (v != kNil) scan(nodes_[v], x, weight, best, end);
      do {
        if (stack.empty()) return;
        v = stack.back().node;
        if (stack.back().bound > best.limit()) v = kNil;
        stack.pop_back();
      } while (v == kNil);
    }
  }

 private:
  static constexpr std::uint32_t kNil = 0xFFFFFFFFU;
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kLarge = 4096;  // entries worth a look at the pulse
  static constexpr std::size_t kSample = 65;   // entries whose median splits a node
  static constexpr std::size_t kExact = 512;   // entries that are few enough to look at all
  static constexpr std::size_t kFilled = 28;   // entries a leaf gets, of kBlock

  struct Node {
    std::uint32_t child = kNil;  // of two, side by side; kNil in a leaf
    std::uint32_t parent = kNil;
    std::uint32_t head = kNil;  // first and last block of a leaf
    std::uint32_t tail = kNil;
    std::uint32_t count = 0;  // exact in leaves; above, not lowered by remove()
    std::uint32_t built = 0;  // count when the node was last built
    std::uint32_t axis = 0;
    Item first = kNil;  // of the items below
    Real split{};
  };

  // Items on their way into a newly built subtree.
  struct Load {
    BigVector<Item> items;
    BigVector<Real> rows;       // dim an item
    BigVector<double> weights;  // if the rule has them

    const Real* row(std::size_t i, std::size_t dim) const { return rows.data() + i * dim; }
    void swap(std::size_t a, std::size_t b, std::size_t dim) {
      std::swap(items[a], items[b]);
      for (std::size_t j = 0; j < dim; ++j) std::swap(rows[a * dim + j], rows[b * dim + j]);
      if constexpr (Rule::kWeighted) std::swap(weights[a], weights[b]);
    }
  };

  // --- boxes -------------------------------------------------------------------
  // Two children are always looked at together, so their boxes lie interleaved:
  // for each coordinate both lows, then both highs.
  Real& low(std::uint32_t v, std::size_t j) {
    return boxes_[std::size_t{v / 2} * 4 * dim_ + 4 * j + v % 2];
  }
  Real& high(std::uint32_t v, std::size_t j) { return *(&low(v, j) + 2); }
  Real low(std::uint32_t v, std::size_t j) const {
    return boxes_[std::size_t{v / 2} * 4 * dim_ + 4 * j + v % 2];
  }
  Real high(std::uint32_t v, std::size_t j) const {
    return boxes_[std::size_t{v / 2} * 4 * dim_ + 4 * j + 2 + v % 2];
  }
  void make_point(std::uint32_t v, const Real* row) {
    for (std::size_t j = 0; j < dim_; ++j) low(v, j) = high(v, j) = row[j];
  }
  void stretch(std::uint32_t v, const Real* row) {
    for (std::size_t j = 0; j < dim_; ++j) {
      low(v, j) = std::min(low(v, j), row[j]);
      high(v, j) = std::max(high(v, j), row[j]);
    }
  }

  std::uint32_t parent_of(std::uint32_t v) const { return nodes_[v].parent; }

  void widen(std::uint32_t v, const Real* row, double weight) {
    if (nodes_[v].child == kNil && nodes_[v].count == 0)
      make_point(v, row);
    else
      stretch(v, row);
    least_weight_[v] = std::min(least_weight_[v], weight);
  }

  struct Bounds {
    double left, right;
  };

  /// At most the score of every item below `child` and of every one below child + 1.
  /// Summed in the order of the scores themselves, so that rounding keeps it so.
  Bounds bounds(std::uint32_t child, const Real* x, double weight) const {
    const Real* corners = boxes_.data() + std::size_t{child / 2} * 4 * dim_;
    double gaps[2];
    if constexpr (Rule::kProduct)
      largest_products(x, corners, dim_, gaps);
    else
      smallest_gaps(x, corners, dim_, gaps);
    const double* least = &least_weight_[child];
    return {Rule::bound(gaps[0], weight, Rule::kWeighted ? least[0] : 0),
            Rule::bound(gaps[1], weight, Rule::kWeighted ? least[1] : 0)};
  }

  bool is_flat(std::uint32_t v) const {
    for (std::size_t j = 0; j < dim_; ++j)
      if (low(v, j) != high(v, j)) return false;
    return true;
  }

  bool is_tilted(const Node& node, std::uint32_t child_count) const {
    return node.count > 8 * kBlock && node.count > node.built + node.built / 2 &&
           child_count > node.count - node.count / 4;
  }

  // --- leaves ------------------------------------------------------------------
  /// Call use(place) for every item, leaf by leaf, from left to right. Asks for no memory.
  template <class Use>
  void for_each_place(Use&& use) const {
    std::uint32_t v = 0;
    for (;;) {
      while (nodes_[v].child != kNil) v = nodes_[v].child;
      std::uint32_t left = nodes_[v].count;
      for (std::uint32_t block = nodes_[v].head; left > 0; block = next_[block])
        for (std::uint32_t i = 0; i < kBlock && left > 0; ++i, --left) use(block * kBlock + i);
      while (v != 0 && v % 2 == 1) v = nodes_[v].parent;  // children lie at (even, odd)
      if (v == 0) return;
      ++v;
    }
  }
  /// The place after one, in a leaf of several blocks.
  std::uint32_t after(std::uint32_t at) const {
    return at % kBlock + 1 < kBlock ? at + 1 : next_[at / kBlock] * kBlock;
  }

  Real& coordinate(std::uint32_t at, std::size_t j) {
    return columns_[(at / kBlock * dim_ + j) * kBlock + at % kBlock];
  }
  Real coordinate(std::uint32_t at, std::size_t j) const {
    return columns_[(at / kBlock * dim_ + j) * kBlock + at % kBlock];
  }
  double weight_at(std::uint32_t at) const { return Rule::kWeighted ? weights_[at] : 0; }

  template <class Coordinate>
  void place(std::uint32_t at, Item item, Coordinate&& value, double weight) {
    for (std::size_t j = 0; j < dim_; ++j) coordinate(at, j) = value(j);
    items_[at] = item;
    if constexpr (Rule::kWeighted) weights_[at] = weight;
    if (!removable_) return;
    if (location_.size() <= item) location_.resize(item + 1 + item / 2);
    location_[item] = at;
  }

  std::uint32_t new_block(std::uint32_t leaf, std::uint32_t previous) {
    std::uint32_t block;
    if (free_blocks_.empty()) {
      block = static_cast<std::uint32_t>(next_.size());
      next_.push_back(kNil);
      previous_.push_back(kNil);
      block_leaf_.push_back(kNil);
      columns_.resize(columns_.size() + kBlock * dim_);
      items_.resize(items_.size() + kBlock);
      if constexpr (Rule::kWeighted) weights_.resize(weights_.size() + kBlock);
    } else {
      block = free_blocks_.back();
      free_blocks_.pop_back();
    }
    next_[block] = kNil;
    previous_[block] = previous;
    block_leaf_[block] = leaf;
    return block;
  }

  /// Make room for a tree of so many different items.
  void reserve(std::size_t items) {
    const std::size_t leaves = items / (kFilled - 4) + 1;
    nodes_.reserve(2 * leaves);
    boxes_.reserve(2 * leaves * 2 * dim_);
    least_weight_.reserve(2 * leaves);
    columns_.reserve(leaves * kBlock * dim_);
    items_.reserve(leaves * kBlock);
    if constexpr (Rule::kWeighted) weights_.reserve(leaves * kBlock);
    for (auto* by_block : {&next_, &previous_, &block_leaf_}) by_block->reserve(leaves);
  }

  void make_leaf_empty(std::uint32_t v) {
    nodes_[v].child = kNil;
    nodes_[v].count = nodes_[v].built = 0;
    nodes_[v].first = kNil;
    nodes_[v].head = nodes_[v].tail = new_block(v, kNil);
    least_weight_[v] = std::numeric_limits<double>::infinity();
  }

  /// The leaf's box and count already include the item.
  void add_to_leaf(std::uint32_t v, std::size_t level, Item item, const Real* row, double weight,
                   const Pulse& pulse) {
    const std::uint32_t before = nodes_[v].count - 1;
    // A single block does not mind in which order its items lie, and remove() leaves them
    // in any; a chain of blocks does. Building sorts them.
    const bool becomes_a_chain = in_order_ && before == kBlock;
    if (before >= kBlock && (becomes_a_chain || !is_flat(v))) {
      --nodes_[v].count;
      rebuild(v, level, item, row, weight, pulse);
      return;
    }
    append(v, before, item, row, weight);
  }

  void append(std::uint32_t v, std::uint32_t before, Item item, const Real* row, double weight) {
    if (before > 0 && before % kBlock == 0) {
      const std::uint32_t block = new_block(v, nodes_[v].tail);
      next_[nodes_[v].tail] = block;
      nodes_[v].tail = block;
    }
    place(
        nodes_[v].tail * kBlock + before % kBlock, item, [&](std::size_t j) { return row[j]; },
        weight);
  }

  template <class Best>
  void scan(const Node& leaf, const Real* x, double weight, Best& best, Item end) const {
    std::uint32_t left = leaf.count;
    if (left > kBlock) {
      const std::size_t useful = best.equals();
      if (useful < left) left = static_cast<std::uint32_t>(useful);
    }
    double values[kBlock];
    for (std::uint32_t block = leaf.head; left > 0; block = next_[block]) {
      const Real* columns = columns_.data() + block * dim_ * kBlock;
      if constexpr (Rule::kProduct)
        kernels<Real>().block_dots(x, columns, dim_, values);
      else
        kernels<Real>().block_squared_distances(x, columns, dim_, values);
      const std::uint32_t here = std::min<std::uint32_t>(left, kBlock);
      const std::uint32_t base = block * kBlock;
      for (std::uint32_t i = 0; i < here; ++i) {
        const double score = Rule::score(values[i], weight, weight_at(base + i));
        if (score <= best.limit() && items_[base + i] < end) best.offer(score, items_[base + i]);
      }
      left -= here;
    }
  }

  // --- building ----------------------------------------------------------------
  void rebuild(std::uint32_t v, std::size_t level, const Pulse& pulse) {
    Load load;
    collect(v, load);
    build(v, level, load, pulse);
  }

  void rebuild(std::uint32_t v, std::size_t level, Item item, const Real* row, double weight,
               const Pulse& pulse) {
    Load load;
    collect(v, load);
    load.items.push_back(item);
    load.rows.append(row, row + dim_);
    if constexpr (Rule::kWeighted) load.weights.push_back(weight);
    build(v, level, load, pulse);
  }

  /// Move all items below v into `load`, and free what lies below v.
  void collect(std::uint32_t v, Load& load) {
    std::vector<std::uint32_t> todo{v};
    while (!todo.empty()) {
      const std::uint32_t u = todo.back();
      todo.pop_back();
      if (nodes_[u].child != kNil) {
        todo.push_back(nodes_[u].child);
        todo.push_back(nodes_[u].child + 1);
        free_pairs_.push_back(nodes_[u].child);
        continue;
      }
      std::uint32_t left = nodes_[u].count;
      for (std::uint32_t block = nodes_[u].head; block != kNil; block = next_[block]) {
        const std::uint32_t here = std::min<std::uint32_t>(left, kBlock);
        for (std::uint32_t at = block * kBlock; at < block * kBlock + here; ++at) {
          load.items.push_back(items_[at]);
          for (std::size_t j = 0; j < dim_; ++j) load.rows.push_back(coordinate(at, j));
          if constexpr (Rule::kWeighted) load.weights.push_back(weight_at(at));
        }
        left -= here;
        free_blocks_.push_back(block);
      }
    }
  }

  std::uint32_t new_pair(std::uint32_t parent) {
    std::uint32_t child;
    if (free_pairs_.empty()) {
      child = static_cast<std::uint32_t>(nodes_.size());
      nodes_.resize(child + 2);
      boxes_.resize(nodes_.size() * 2 * dim_);
      least_weight_.resize(nodes_.size());
    } else {
      child = free_pairs_.back();
      free_pairs_.pop_back();
    }
    nodes_[child].parent = nodes_[child + 1].parent = parent;
    return child;
  }

  // A stretch of a load's entries.
  struct Range {
    std::uint32_t node;
    std::size_t begin, end, level;
    std::size_t size() const { return end - begin; }
  };

  void build(std::uint32_t v, std::size_t level, Load& load, const Pulse& pulse) {
    std::vector<Range> todo{{v, 0, load.items.size(), level}};
    while (!todo.empty()) {
      const Range range = todo.back();
      todo.pop_back();
      if (range.size() > kLarge) pulse.check();
      levels_ = std::max(levels_, range.level + 1);
      make_box(range, load);
      const std::uint32_t u = range.node;
      nodes_[u].count = nodes_[u].built = static_cast<std::uint32_t>(range.size());
      if (range.size() <= kBlock || is_flat(u)) {
        fill_leaf(range, load);
        continue;
      }
      const std::size_t middle = split(range, load);
      const std::uint32_t child = new_pair(u);
      nodes_[u].child = child;
      todo.push_back({child, range.begin, middle, range.level + 1});
      todo.push_back({child + 1, middle, range.end, range.level + 1});
    }
  }

  void make_box(const Range& range, const Load& load) {
    const std::uint32_t v = range.node;
    least_weight_[v] = std::numeric_limits<double>::infinity();
    nodes_[v].first = kNil;
    if (range.size() == 0) {
      for (std::size_t j = 0; j < dim_; ++j) low(v, j) = high(v, j) = 0;
      return;
    }
    make_point(v, load.row(range.begin, dim_));
    for (std::size_t i = range.begin; i < range.end; ++i) {
      stretch(v, load.row(i, dim_));
      nodes_[v].first = std::min(nodes_[v].first, load.items[i]);
      if constexpr (Rule::kWeighted) least_weight_[v] = std::min(least_weight_[v], load.weights[i]);
    }
  }

  void fill_leaf(const Range& range, const Load& load) {
    std::vector<std::size_t> order(range.size());
    std::iota(order.begin(), order.end(), range.begin);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return load.items[a] < load.items[b]; });
    const std::uint32_t v = range.node;
    nodes_[v].child = kNil;
    nodes_[v].head = nodes_[v].tail = new_block(v, kNil);
    for (std::uint32_t i = 0; i < order.size(); ++i)
      append(v, i, load.items[order[i]], load.row(order[i], dim_),
             Rule::kWeighted ? load.weights[order[i]] : 0);
  }

  /// How many of so many entries go left, for leaves that are nearly full: room is
  /// left for a few more.
  static std::size_t left_share(std::size_t entries) {
    const std::size_t leaves = (entries + kFilled - 1) / kFilled;
    return entries * ((leaves + 1) / 2) / leaves;
  }

  /// The value of the entry that has `target` entries below it.
  Real exactly(const Range& range, std::size_t target, std::uint32_t axis, const Load& load) {
    Real values[kExact];
    for (std::size_t i = 0; i < range.size(); ++i)
      values[i] = load.rows[(range.begin + i) * dim_ + axis];
    std::nth_element(values, values + target, values + range.size());
    return values[target];
  }

  /// The same for a sample: one pass less, and good enough far above the leaves.
  Real roughly(const Range& range, std::size_t target, std::uint32_t axis, const Load& load) {
    Real sample[kSample];
    for (std::size_t s = 0; s < kSample; ++s)
      sample[s] = load.rows[(range.begin + s * range.size() / kSample) * dim_ + axis];
    Real* const at = sample + target * kSample / range.size();
    std::nth_element(sample, at, sample + kSample);
    return *at;
  }

  /// Split near the median of the widest side, or at the next value up when all
  /// below are equal; both parts get an entry. Returns where the right one begins.
  std::size_t split(const Range& range, Load& load) {
    const std::uint32_t v = range.node;
    std::uint32_t axis = 0;
    double widest = -1;
    for (std::uint32_t j = 0; j < dim_; ++j) {
      const double width = static_cast<double>(high(v, j)) - static_cast<double>(low(v, j));
      if (width > widest) {
        widest = width;
        axis = j;
      }
    }
    const auto value = [&](std::size_t i) { return load.rows[i * dim_ + axis]; };
    const std::size_t target = left_share(range.size());
    Real at = range.size() <= kExact ? exactly(range, target, axis, load)
                                     : roughly(range, target, axis, load);
    if (const Real lowest = low(v, axis); at == lowest) {
      at = high(v, axis);
      for (std::size_t i = range.begin; i < range.end; ++i)
        if (value(i) > lowest) at = std::min(at, value(i));
    }
    nodes_[v].axis = axis;
    nodes_[v].split = at;
    std::size_t left = range.begin, right = range.end;
    for (;;) {
      while (left < right && value(left) < at) ++left;
      while (left < right && !(value(right - 1) < at)) --right;
      if (left == right) return left;
      load.swap(left++, --right, dim_);
    }
  }

  std::size_t dim_;
  bool removable_, in_order_ = false;
  std::size_t size_ = 0;
  std::size_t levels_ = 1;  // that there have ever been since the tree was empty
  BigVector<Node> nodes_;
  BigVector<Real> boxes_;           // of two nodes side by side, interleaved
  BigVector<double> least_weight_;  // by node
  BigVector<Real> columns_;         // kBlock * dim a block, column by column
  BigVector<Item> items_;           // kBlock a block
  BigVector<double> weights_;       // kBlock a block, if the rule has weights
  std::vector<std::uint32_t> next_, previous_, block_leaf_;  // by block
  std::vector<std::uint32_t> free_blocks_, free_pairs_;
  std::vector<std::uint32_t> location_;  // by item, if removable
};

}  // namespace ramify
