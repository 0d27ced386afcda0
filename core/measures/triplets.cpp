// SPDX-License-Identifier: BSD-3-Clause
#include "measures/triplets.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "measures/heavy_paths.hpp"

namespace ramify {
namespace {

using Count = std::uint64_t;

Count pairs(Count n) { return n < 2 ? 0 : n * (n - 1) / 2; }

// What a stretch of a heavy path of the second tree, read from the top down,
// knows of the painted leaves below. Element i of the stretch is the light
// subtree that hangs from node i (or the leaf at the very bottom), with r_i red
// and b_i blue leaves.
struct Stretch {
  std::uint32_t red = 0;    // sum of r_i
  std::uint32_t blue = 0;   // sum of b_i
  Count red_pairs = 0;      // sum of r_i (r_i - 1) / 2: red pairs in one element
  Count blue_pairs = 0;     // the same, blue
  Count blue_over_red = 0;  // sum of b_i r_j, i above j
  Count red_over_blue = 0;  // sum of r_i b_j, i above j
  Count agreements = 0;     // two-coloured triples whose pair of one colour joins first

  bool is_clear() const { return red + blue == 0; }
};

/// A stretch put on top of another. The triples that lie in both: a pair in one
/// element above and the third below; the pair below and the third above; or the
/// third highest, one of the pair under it, the other below.
Stretch over(const Stretch& x, const Stretch& y) {
  const Count red_y = y.red, blue_y = y.blue;
  return {x.red + y.red,
          x.blue + y.blue,
          x.red_pairs + y.red_pairs,
          x.blue_pairs + y.blue_pairs,
          x.blue_over_red + y.blue_over_red + x.blue * red_y,
          x.red_over_blue + y.red_over_blue + x.red * blue_y,
          x.agreements + y.agreements +                        //
              x.red_pairs * blue_y + x.blue_pairs * red_y +    //
              pairs(red_y) * x.blue + pairs(blue_y) * x.red +  //
              x.blue_over_red * red_y + x.red_over_blue * blue_y};
}

/// A whole path as one element of the path it hangs from.
Stretch as_element(const Stretch& path) {
  return {path.red, path.blue, pairs(path.red), pairs(path.blue), 0, 0, path.agreements};
}

// The tree of sums. Its leaves are those of the second tree; every heavy path is
// a binary tree over its elements, split where the leaves below are halved, and
// hangs as one element in the tree of the path above. Halving by leaves, not by
// elements, makes all of it O(log n) deep, chains included.
//
// Node numbers: leaves 0..n-1; inner nodes n..2n-2, parents before children.
class TreeOfSums {
 public:
  explicit TreeOfSums(Children tree);

  void paint_red(std::size_t leaf) { repaint(leaf, {1, 0}); }
  void paint_blue(std::size_t leaf) { repaint(leaf, {0, 1}); }
  /// Bring all sums up to date and return the agreements. Each node above a
  /// repainted leaf is computed once.
  Count agreements();
  /// Unpaint a leaf and forget the sums above it; all painted leaves must go.
  void clear(std::size_t leaf);

 private:
  struct Node {
    std::uint32_t above = 0;             // parent
    std::array<std::uint32_t, 2> below;  // upper and lower part
    bool closes_path = false;            // the whole of a path that hangs from another
    bool waits = false;                  // to be computed
    std::uint8_t level = 0;              // leaves 0; more than both children
  };

  void repaint(std::size_t leaf, const Stretch& colour) {
    sums_[leaf] = colour;
    wait_for(nodes_[leaf].above);
  }
  void wait_for(std::uint32_t v) {
    Node& node = nodes_[v];
    if (node.waits) return;
    node.waits = true;
    waiting_[node.level].push_back(v);
  }
  void plant(const HeavyPaths& paths);
  void set_levels();

  std::size_t root_ = 0;
  std::vector<Node> nodes_;
  std::vector<Stretch> sums_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // by level
};

TreeOfSums::TreeOfSums(Children tree) {
  const std::size_t n = leaf_count(tree);
  nodes_.resize(2 * n - 1);
  sums_.resize(2 * n - 1);
  plant(HeavyPaths(tree));
  set_levels();
}

// The elements of a path from the bottom up. Their leaves are consecutive
// stretches of positions (heavy_paths.hpp).
struct Element {
  std::size_t begin;  // its first position
  std::size_t node;   // its root in the second tree
};

void list_elements(const HeavyPaths& paths, std::size_t top, std::vector<Element>& out) {
  const std::size_t bottom = paths.start(top);
  std::size_t v = paths.leaf_at(bottom);
  out.assign(1, {bottom, v});
  for (; v != top; v = paths.parent(v)) {
    const std::size_t begin = bottom + paths.size(v);
    std::size_t light = paths.leaf_at(begin);  // climb to v's sibling
    while (paths.is_heavy(light)) light = paths.parent(light);
    out.push_back({begin, light});
  }
}

/// Where to split elements lo .. hi-1, whose positions end at `end`: nearest to
/// the middle of their leaves, with something on both sides.
std::size_t split_point(const std::vector<Element>& elements, std::size_t lo, std::size_t hi,
                        std::size_t end) {
  const std::size_t middle = elements[lo].begin + (end - elements[lo].begin) / 2;
  const auto at = [&](std::size_t i) { return elements.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto found = std::partition_point(
      at(lo + 1), at(hi - 1), [&](const Element& element) { return element.begin < middle; });
  return static_cast<std::size_t>(found - elements.begin());
}

void TreeOfSums::plant(const HeavyPaths& paths) {
  struct Place {
    std::uint32_t parent;  // in the tree of sums
    std::uint8_t side;
  };
  struct Path {
    std::size_t top;
    Place place;
  };
  struct Run {
    std::size_t lo, hi;  // elements lo .. hi-1 of the path at hand
    Place place;
  };
  const std::size_t n = paths.leaves();
  auto next = static_cast<std::uint32_t>(n);
  root_ = n > 1 ? n : 0;
  const auto hang = [&](std::uint32_t v, Place place) {
    nodes_[v].above = v == root_ ? v : place.parent;
    if (v != root_) nodes_[place.parent].below[place.side] = v;
  };
  std::vector<Path> todo{{2 * n - 2, {0, 0}}};
  std::vector<Element> elements;
  std::vector<Run> runs;
  while (!todo.empty()) {
    const Path path = todo.back();
    todo.pop_back();
    list_elements(paths, path.top, elements);
    if (elements.size() == 1) {
      hang(static_cast<std::uint32_t>(path.top), path.place);
      continue;
    }
    runs.assign(1, {0, elements.size(), path.place});
    nodes_[next].closes_path = next != root_;
    while (!runs.empty()) {
      const auto [lo, hi, place] = runs.back();
      runs.pop_back();
      if (hi - lo == 1) {
        todo.push_back({elements[lo].node, place});
        continue;
      }
      const std::uint32_t v = next++;
      hang(v, place);
      const std::size_t path_end = paths.start(path.top) + paths.size(path.top);
      const std::size_t end = hi < elements.size() ? elements[hi].begin : path_end;
      const std::size_t cut = split_point(elements, lo, hi, end);
      runs.push_back({cut, hi, {v, 0}});  // later elements are higher up
      runs.push_back({lo, cut, {v, 1}});
    }
  }
}

void TreeOfSums::set_levels() {
  const std::size_t n = (nodes_.size() + 1) / 2;
  std::uint8_t deepest = 0;
  for (std::size_t v = nodes_.size(); v-- > n;) {
    const auto& [upper, lower] = nodes_[v].below;
    nodes_[v].level =
        static_cast<std::uint8_t>(1 + std::max(nodes_[upper].level, nodes_[lower].level));
    deepest = std::max(deepest, nodes_[v].level);
  }
  waiting_.resize(deepest + std::size_t{1});
}

Count TreeOfSums::agreements() {
  for (std::vector<std::uint32_t>& level : waiting_) {
    for (const std::uint32_t v : level) {
      Node& node = nodes_[v];
      node.waits = false;
      const Stretch sum = over(sums_[node.below[0]], sums_[node.below[1]]);
      sums_[v] = node.closes_path ? as_element(sum) : sum;
      if (v != root_) wait_for(node.above);
    }
    level.clear();
  }
  return sums_[root_].agreements;
}

void TreeOfSums::clear(std::size_t leaf) {
  for (std::size_t v = leaf; !sums_[v].is_clear(); v = nodes_[v].above) sums_[v] = {};
}

}  // namespace

std::uint64_t agreeing_triplets(Children first, Children second, const Pulse& pulse) {
  const HeavyPaths paths(first);
  const std::size_t n = paths.leaves();
  if (n < 3) return 0;
  TreeOfSums sums(second);
  Count agreements = 0;
  ClimbNews news(paths, pulse);
  for (std::size_t bottom = 0; bottom < n; ++bottom) {
    std::size_t v = paths.leaf_at(bottom);
    if (!paths.is_heavy(v)) continue;
    const std::size_t above = paths.parent(v);
    if (paths.size(above) == 2 && paths.is_top(above)) continue;  // two leaves, no triple
    std::size_t blue_from = bottom;  // what is not blue yet and has to be
    for (; paths.is_heavy(v); v = paths.parent(v)) {
      const std::size_t from = bottom + paths.size(v);
      const std::size_t to = bottom + paths.size(paths.parent(v));
      for (std::size_t i = blue_from; i < from; ++i) sums.paint_blue(paths.leaf_at(i));
      for (std::size_t i = from; i < to; ++i) sums.paint_red(paths.leaf_at(i));
      agreements += sums.agreements();
      blue_from = from;
      news.more(to - from);
    }
    for (std::size_t i = bottom; i < bottom + paths.size(v); ++i) sums.clear(paths.leaf_at(i));
  }
  return agreements;
}

}  // namespace ramify
