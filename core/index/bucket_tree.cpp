// SPDX-License-Identifier: BSD-3-Clause
// Growing, shrinking and building; searches are in the header.
#include "index/bucket_tree.hpp"

#include <numeric>

#include "math/linkage.hpp"

namespace ramify {
namespace {

constexpr std::size_t kLarge = 4096;  // entries worth a look at the pulse
constexpr std::size_t kSample = 65;   // entries whose median splits a node
constexpr std::size_t kExact = 512;   // entries that are few enough to look at all
constexpr std::size_t kFilled = 28;   // entries a leaf gets, of kBlock

/// How many of a node's entries go left, for leaves that are nearly full: room is
/// left for a few more.
std::size_t left_share(std::size_t entries) {
  const std::size_t leaves = (entries + kFilled - 1) / kFilled;
  return entries * ((leaves + 1) / 2) / leaves;
}

}  // namespace

template <class Real, class Rule>
struct BucketTree<Real, Rule>::Load {
  BigVector<Item> items;
  BigVector<Real> rows;       // dim an item
  BigVector<double> weights;  // if the rule has them
  std::size_t dim;

  const Real* row(std::size_t i) const { return rows.data() + i * dim; }
  double weight(std::size_t i) const { return Rule::kWeighted ? weights[i] : 0; }
  void swap(std::size_t a, std::size_t b) {
    std::swap(items[a], items[b]);
    for (std::size_t j = 0; j < dim; ++j) std::swap(rows[a * dim + j], rows[b * dim + j]);
    if constexpr (Rule::kWeighted) std::swap(weights[a], weights[b]);
  }
};

template <class Real, class Rule>
struct BucketTree<Real, Rule>::Range {
  std::uint32_t node;
  std::size_t begin, end, level;

  std::size_t size() const { return end - begin; }
  /// The value of the entry that has `target` entries below it.
  Real exactly(std::size_t target, std::uint32_t axis, const Load& load) const {
    Real values[kExact];
    for (std::size_t i = 0; i < size(); ++i) values[i] = load.row(begin + i)[axis];
    std::nth_element(values, values + target, values + size());
    return values[target];
  }
  /// The same for a sample: one pass less, and good enough far above the leaves.
  Real roughly(std::size_t target, std::uint32_t axis, const Load& load) const {
    Real sample[kSample];
    for (std::size_t s = 0; s < kSample; ++s)
      sample[s] = load.row(begin + s * size() / kSample)[axis];
    Real* const at = sample + target * kSample / size();
    std::nth_element(sample, at, sample + kSample);
    return *at;
  }
};

template <class Real, class Rule>
void BucketTree<Real, Rule>::insert(Item item, const Real* row, double weight, const Pulse& pulse) {
  ++size_;
  std::uint32_t v = 0, tilted = kNil;
  std::size_t level = 0, tilted_level = 0;
  for (;; ++level) {
    Node& node = nodes_[v];
    if (node.child == kNil && node.count == 0) boxes_.make_empty(v);
    boxes_.include(v, row, weight);
    node.first = std::min(node.first, item);
    ++node.count;
    if (node.child == kNil) break;
    const std::uint32_t child = node.child + (row[node.axis] < node.split ? 0 : 1);
    if (tilted == kNil && is_tilted(v, nodes_[child].count + 1)) {
      tilted = v;
      tilted_level = level;
    }
    v = child;
  }
  if (has_room(v))
    append(v, nodes_[v].count - 1, item, row, weight);
  else
    rebuild_with(v, level, item, row, weight, pulse);
  if (tilted != kNil) rebuild(tilted, tilted_level, pulse);
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::load(BigVector<Item> items, BigVector<Real> rows,
                                  BigVector<double> weights, const Pulse& pulse) {
  Load load{std::move(items), std::move(rows), std::move(weights), dim_};
  size_ = load.items.size();
  blocks_.give_back(nodes_[0].head);
  const std::size_t leaves = size_ / (kFilled - 4) + 1;  // if no two items are equal
  nodes_.reserve(2 * leaves);
  boxes_.reserve(2 * leaves);
  blocks_.reserve(leaves);
  build(0, 0, load, pulse);
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::remove(Item item) {
  std::uint32_t at = blocks_.place_of(item);
  Node& leaf = nodes_[blocks_.leaf_at(at)];
  --leaf.count;
  --size_;
  const bool is_chain = leaf.tail != leaf.head;
  const std::uint32_t last = leaf.tail * kBlock + leaf.count % kBlock;
  if (in_order_ && is_chain)
    for (std::uint32_t next = blocks_.after(at); at != last; at = next, next = blocks_.after(at))
      blocks_.copy(next, at);
  if (last != at) blocks_.copy(last, at);
  if (leaf.count % kBlock == 0 && is_chain) leaf.tail = blocks_.give_back_last(leaf.tail);
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::tighten(const Pulse& pulse) {
  std::uint32_t v = 0;
  for (std::size_t leaves = 1;; ++leaves) {
    while (nodes_[v].child != kNil) v = nodes_[v].child;
    tighten_leaf(v);
    while (v % 2 == 1) {  // a right child: its parent has both
      v = nodes_[v].parent;
      tighten_above(v);
    }
    if (v == 0) return;
    ++v;
    if (leaves % (kLarge / kBlock) == 0) pulse.check();
  }
}

/// A leaf without items keeps the box it had: no search looks at it, and insert() begins it anew.
template <class Real, class Rule>
void BucketTree<Real, Rule>::tighten_leaf(std::uint32_t v) {
  Node& leaf = nodes_[v];
  leaf.built = leaf.count;
  leaf.first = kNil;
  if (leaf.count == 0) return;
  boxes_.make_empty(v);
  Real row[kLanes];
  std::uint32_t at = leaf.head * kBlock;
  for (std::uint32_t i = 0; i < leaf.count; ++i, at = blocks_.after(at)) {
    for (std::size_t j = 0; j < dim_; ++j) row[j] = blocks_.coordinate(at, j);
    boxes_.include(v, row, blocks_.weight(at));
    leaf.first = std::min(leaf.first, blocks_.item(at));
  }
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::tighten_above(std::uint32_t v) {
  Node& node = nodes_[v];
  const Node &left = nodes_[node.child], &right = nodes_[node.child + 1];
  node.count = node.built = left.count + right.count;
  node.first = std::min(left.first, right.first);
  if (node.count > 0) boxes_.make_empty(v);
  if (left.count > 0) boxes_.include_box(v, node.child);
  if (right.count > 0) boxes_.include_box(v, node.child + 1);
  if (left.child == kNil && right.child == kNil && node.count <= kFilled) join_leaves(v);
}

/// Two leaves of a block each become one, in the left one's block.
template <class Real, class Rule>
void BucketTree<Real, Rule>::join_leaves(std::uint32_t v) {
  Node& node = nodes_[v];
  const Node &left = nodes_[node.child], &right = nodes_[node.child + 1];
  for (std::uint32_t i = 0; i < right.count; ++i)
    blocks_.copy(right.head * kBlock + i, left.head * kBlock + left.count + i);
  blocks_.give_back(right.head);
  blocks_.hand_over(left.head, v);
  node.head = node.tail = left.head;
  free_pairs_.push_back(node.child);
  node.child = kNil;
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::rebuild(std::uint32_t v, std::size_t level, const Pulse& pulse) {
  Load load{{}, {}, {}, dim_};
  collect(v, load);
  build(v, level, load, pulse);
}

/// A leaf and an item that box and count already include.
template <class Real, class Rule>
void BucketTree<Real, Rule>::rebuild_with(std::uint32_t v, std::size_t level, Item item,
                                          const Real* row, double weight, const Pulse& pulse) {
  --nodes_[v].count;
  Load load{{}, {}, {}, dim_};
  collect(v, load);
  load.items.push_back(item);
  load.rows.append(row, row + dim_);
  if constexpr (Rule::kWeighted) load.weights.push_back(weight);
  build(v, level, load, pulse);
}

/// Move all items below v into `load`, and free what lies below v.
template <class Real, class Rule>
void BucketTree<Real, Rule>::collect(std::uint32_t v, Load& load) {
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
    for (std::uint32_t block = nodes_[u].head; block != kNil; block = blocks_.next(block)) {
      const std::uint32_t here = std::min<std::uint32_t>(left, kBlock);
      for (std::uint32_t at = block * kBlock; at < block * kBlock + here; ++at) {
        load.items.push_back(blocks_.item(at));
        for (std::size_t j = 0; j < dim_; ++j) load.rows.push_back(blocks_.coordinate(at, j));
        if constexpr (Rule::kWeighted) load.weights.push_back(blocks_.weight(at));
      }
      left -= here;
      blocks_.give_back(block);
    }
  }
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::build(std::uint32_t v, std::size_t level, Load& load,
                                   const Pulse& pulse) {
  std::vector<Range> todo{{v, 0, load.items.size(), level}};
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    if (range.size() > kLarge) pulse.check();
    levels_ = std::max(levels_, range.level + 1);
    make_box(range, load);
    const std::uint32_t u = range.node;
    nodes_[u].count = nodes_[u].built = static_cast<std::uint32_t>(range.size());
    if (range.size() <= kBlock || boxes_.is_flat(u)) {
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

template <class Real, class Rule>
void BucketTree<Real, Rule>::make_box(const Range& range, const Load& load) {
  const std::uint32_t v = range.node;
  nodes_[v].first = kNil;
  boxes_.make_empty(v);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    boxes_.include(v, load.row(i), load.weight(i));
    nodes_[v].first = std::min(nodes_[v].first, load.items[i]);
  }
}

template <class Real, class Rule>
void BucketTree<Real, Rule>::fill_leaf(const Range& range, const Load& load) {
  std::vector<std::size_t> order(range.size());
  std::iota(order.begin(), order.end(), range.begin);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return load.items[a] < load.items[b]; });
  make_leaf(range.node);
  for (std::uint32_t i = 0; i < order.size(); ++i)
    append(range.node, i, load.items[order[i]], load.row(order[i]), load.weight(order[i]));
}

/// Split near the median of the widest side, or at the next value up when all
/// below are equal; both parts get an entry. Returns where the right one begins.
template <class Real, class Rule>
std::size_t BucketTree<Real, Rule>::split(const Range& range, Load& load) {
  const std::uint32_t v = range.node;
  const std::uint32_t axis = boxes_.widest_side(v);
  const auto value = [&](std::size_t i) { return load.row(i)[axis]; };
  const std::size_t target = left_share(range.size());
  Real at = range.size() <= kExact ? range.exactly(target, axis, load)
                                   : range.roughly(target, axis, load);
  if (const Real lowest = boxes_.low(v, axis); at == lowest) {
    at = boxes_.high(v, axis);
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
    load.swap(left++, --right);
  }
}

template class BucketTree<float, AverageSquared>;
template class BucketTree<float, CentroidSquared>;
template class BucketTree<float, WardGrowth>;
template class BucketTree<float, MinusDot>;
template class BucketTree<double, AverageSquared>;
template class BucketTree<double, CentroidSquared>;
template class BucketTree<double, WardGrowth>;
template class BucketTree<double, MinusDot>;

}  // namespace ramify
