// SPDX-License-Identifier: BSD-3-Clause
// path_table.hpp: about how far apart the subtrees are that hang off a path, kept from one path
// to the next.
//
//   foot   the lowest subtrees of the path, and the leaf that comes: most of them are seldom met
//          again, and what is found out about them is for this path alone
//   kept   those above. They hang off the next path, too, and the one after it. Each has a place,
//          and what is known of two of them holds as long as both are what they were
//
// Linkages are in single precision, each off by no more than doubt() says. So they decide
// nothing by themselves: path_hac.hpp asks again, exactly, where two are that close.
//
// Short rows are compared with all that are kept at once, column by column, whether or not they
// are on this path. Long rows are compared in pairs, and only those that are: what is not known
// of two kept ones is found out when both of them are on a path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forest/forest_hac.hpp"
#include "tree/ids.hpp"

namespace ramify {

template <class Real>
class PathTable {
 public:
  static constexpr std::size_t kWidth = kLanes;  // places come in whole blocks
  static constexpr std::size_t kMostItems = kMostPairs;
  static constexpr float kClosed = 1e38F;    // of a subtree to itself
  static constexpr float kMostSeen = 1e36F;  // larger linkages are left to others

  PathTable(std::size_t dim, Metric metric, Linkage linkage)
      : dim_(dim),
        of_products_(metric == Metric::kDot),
        of_means_(!of_products_ && linkage == Linkage::kCentroid) {}

  /// Has anything ever been seated?
  bool in_use() const { return !node_at_.empty(); }
  /// Is a path of this many items long enough for a table that longer ones have made wide? New
  /// subtrees are compared with all places.
  bool suits(std::size_t items) const { return node_at_.size() <= kWidest * items; }
  /// From now on nothing is known.
  void forget();
  /// v has other points from now on, or is gone.
  void release(NodeId v) {
    if (knows(v)) node_at_[place_of_[v.raw()]] = kNone;
  }
  /// Overwrite what is left of subtrees that it knows nothing of any more.
  void wipe() noexcept;

  /// A place for everything that hangs off a path of these nodes, lowest first, and if `comes` for
  /// the leaf that is last in the forest. Nodes have raw ids below `end`. False if numbers are too
  /// large. O(dim) for a new one and a place. If memory runs out, nothing is known any more.
  bool seat(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
            std::span<const Slot> path, bool comes, std::size_t end);

  /// How many of the forest are the foot: the first ones, and the leaf that comes.
  std::size_t foot() const { return foot_; }
  bool is_foot(std::size_t item) const { return item < lowest_ || item >= above_; }
  /// Of an item: where it is in the foot, or among the kept.
  std::uint32_t place(std::size_t item) const { return places_[item]; }
  /// The kept ones of this path are from begin() on, before end(). Multiples of kWidth.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  std::size_t foot_width() const { return foot_width_; }
  std::size_t kept_width() const { return node_at_.size(); }

  /// Linkages of a kept place to kept ones; of empty places they mean nothing.
  const float* kept_row(std::size_t place) const {
    return table_.data() + row_of_[place] * node_at_.size();
  }
  /// Linkages of one of the foot to the foot, and to kept ones.
  const float* foot_row(std::size_t place) const { return foot_near_.data() + place * foot_width_; }
  const float* foot_to_kept(std::size_t place) const {
    return foot_far_.data() + place * node_at_.size();
  }

  /// Of a kept place: at most its linkage to any that is behind it, if linkages are distances of
  /// means. Who is higher on the path is behind, mostly.
  float least(std::size_t place) const { return least_[place]; }

  /// What a linkage, or a mean of some, may be off by.
  double doubt(double linkage) const { return relative_ * linkage + absolute_; }
  /// The largest squared length of a mean, if linkages are inner products.
  double longest() const { return longest_; }

 private:
  bool knows(NodeId v) const {
    if (v == kNone || v.raw() >= place_of_.size()) return false;
    const std::uint32_t place = place_of_[v.raw()];
    return place < node_at_.size() && node_at_[place] == v;
  }
  /// Was it in the foot of the last path?
  bool was_in_foot(NodeId v) const { return place_of_[v.raw()] == foot_of(paths_); }
  static std::uint32_t foot_of(std::uint64_t path) {
    return static_cast<std::uint32_t>(path) | 0x8000'0000U;  // which is no place
  }
  bool seat_all(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
                std::span<const Slot> path, bool comes, std::size_t end);
  std::size_t shared_from(std::span<const Slot> path) const;
  std::size_t choose_foot(std::span<const NodeId> trees, std::size_t most) const;
  void make_room(std::size_t kept);
  void vacate(std::span<const NodeId> trees);
  void find_free_places();
  void find_idle_places();
  void put_in_order(std::span<const NodeId> trees);
  struct Move {
    std::uint32_t from, to;  // places
  };
  void move_all(std::span<const Move> moves);
  std::uint32_t take_free_place(std::uint32_t near);
  void put_in_block(const ForestItem<Real>& item, std::size_t place, std::vector<Real>& blocks,
                    std::vector<float>& weights);
  void seat_kept(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees);
  void seat_foot(std::span<const ForestItem<Real>> forest, std::span<const NodeId> trees,
                 bool comes);
  bool compare_kept(std::span<const ForestItem<Real>> forest);
  bool compare_foot(std::span<const ForestItem<Real>> forest);
  bool compare_kept_pairs(std::span<const ForestItem<Real>> forest);
  bool compare_foot_pairs(std::span<const ForestItem<Real>> forest);
  float* own_row(std::size_t place) { return table_.data() + row_of_[place] * node_at_.size(); }
  void find_least(std::size_t place);
  void note_least(std::size_t place, std::size_t other, float linkage) {
    if (!of_means_) return;
    float& least = least_[std::min(place, other)];
    least = std::min(least, linkage);
  }
  bool are_long() const { return dim_ >= kLong; }
  template <class Use>
  bool compare_pairs(std::span<const ForestItem<Real>> forest, std::span<const std::uint32_t> items,
                     std::span<const std::uint32_t> others, Use&& use) const;
  double squared_length(const ForestItem<Real>& item) const {
    return dot(item.summary.mean, item.summary.mean, dim_);
  }
  float weight_of(const ForestItem<Real>& item) const {
    return of_products_ || of_means_ ? 0.0F : static_cast<float>(item.summary.variance());
  }
  template <class RowOf, class OutOf>
  void compare(std::size_t count, RowOf&& item, OutOf&& out, const std::vector<Real>& blocks,
               const std::vector<float>& weights, std::size_t first, std::size_t last);

  void wipe_row(std::size_t place) noexcept;

  static constexpr std::size_t kWidest = 16;  // places for each item
  static constexpr std::uint64_t kPathsToAnOrder = 64;
  static constexpr std::size_t kItemsToAGap = 8;
  static constexpr std::size_t kLarge = 512;  // of such tables less is left empty
  static constexpr std::size_t kLong = 192;   // rows that are compared in pairs
  static constexpr float kUnknown = 3e38F;    // not computed yet; larger than any real linkage

  std::size_t dim_;
  bool of_products_;
  bool of_means_;  // that is, of their distances alone
  double relative_ = 0, absolute_ = 0, longest_ = 0;

  // This path.
  std::size_t foot_ = 0, foot_width_ = 0, begin_ = 0, end_ = 0;
  std::size_t lowest_ = 0, above_ = 0;  // items lowest_ .. above_-1 are kept
  std::vector<std::uint32_t> places_;   // by item
  std::vector<Real> foot_blocks_;       // means, those of kWidth places together
  std::vector<float> foot_weights_, foot_near_, foot_far_;

  // All paths.
  std::vector<Slot> last_path_;  // topmost first
  std::vector<float> table_;
  std::vector<std::size_t> row_of_;  // by place: which row of the table is its own
  std::vector<float> spare_;         // a row
  std::vector<NodeId> node_at_;      // by place; kNone if it is empty
  std::vector<Real> blocks_, spare_blocks_;
  std::vector<float> weights_;
  std::vector<float> least_;              // see least()
  std::vector<double> lengths_;           // of means, squared, if linkages are inner products
  std::vector<std::uint32_t> place_of_;   // by raw id; right if node_at_ says so. Or foot_of()
  std::vector<std::uint32_t> free_;       // places, ascending
  std::vector<std::uint64_t> last_seen_;  // by place: the last path
  std::vector<std::pair<std::uint64_t, std::uint32_t>> idle_;  // the same, and the place
  struct Fresh {
    std::uint32_t item, place;
  };
  std::vector<Fresh> fresh_;
  std::uint64_t paths_ = 1;               // who was never on one was not on the last one either
  std::vector<std::uint32_t> newcomers_;  // items that are kept, and were not on the last path
  std::vector<std::uint32_t> unknown_;
};

}  // namespace ramify
