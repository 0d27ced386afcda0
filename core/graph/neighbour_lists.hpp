// SPDX-License-Identifier: BSD-3-Clause
// neighbour_lists.hpp: the k nearest rows of every row, exactly, while rows come and go.
//
//   item    a row that is there, under a number of its own: rows move to other slots
//   list    of an item: the k nearest other items, nearest first, or all there are
//   radius  of an item: how far the last of its list is; without end while the list is not full
//   key     of an item: a hash of its row
//
// Of rows at equal distances the one with the smaller key comes first, then the earlier one: so
// lists follow from the rows that there are, and not from the order in which they came.
//
// A row that comes is compared with all others that it may be near to: with those within the
// distance of its own k-th nearest so far, and with those within whose radius it may be. Both are
// one sweep over byte codes (short_vectors.hpp), or over all rows where these are short. For a row
// that goes, all whose lists it was in search again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "helpers.hpp"
#include "index/neighbours.hpp"
#include "index/short_vectors.hpp"
#include "math/linkage.hpp"
#include "pulse.hpp"
#include "tree/row_store.hpp"

namespace ramify {

/// What makes an edge heavy, which is there if one of two rows is in the list of the other.
///   snn         how many rows are in both lists
///   jaccard     the same, of how many are in either
///   similarity  1 / (1 + distance), or of rows at unit length 1 - distance, if that is above 0
enum class NeighbourWeight { kSnn, kJaccard, kSimilarity };

struct NeighbourRule {
  std::size_t k = 15;
  NeighbourWeight weight = NeighbourWeight::kSnn;
  bool unit_rows = false;  // distances are half of squared ones

  static constexpr int kBits = 30;
  /// The largest weight that there can be.
  Weight most() const { return weight == NeighbourWeight::kSnn ? k : Weight{1} << kBits; }
  /// The height of a merge at this mean weight.
  double height(double mean) const {
    return 1.0 - mean * (1.0 / static_cast<double>(weight == NeighbourWeight::kSnn ? k : most()));
  }
};

template <class Real>
class NeighbourLists {
 public:
  using Item = std::uint32_t;
  static constexpr Item kNobody = 0xFFFFFFFFU;

  NeighbourLists(std::size_t dim, const NeighbourRule& rule);

  /// Begin with these rows, whose lists are searched for; or with these lists, by place among the
  /// rows. Rows are living ones, ascending. If this throws, the object is good for nothing.
  void begin(const RowStore<Real>& points, std::span<const RowSlot> rows, const Pulse& pulse,
             Helpers& helpers);
  void begin(const RowStore<Real>& points, std::span<const RowSlot> rows,
             std::span<const std::uint32_t> lists);
  /// Items go, and rows come, ascending. If this throws, the object is good for nothing.
  void change(const RowStore<Real>& points, std::span<const Item> gone,
              std::span<const RowSlot> came);
  /// All pairs whose weights have changed since the last time, each once, and what they are now;
  /// pairs with one that is gone are not among them.
  std::vector<Edge> take_edges();

  std::size_t size() const { return size_; }
  /// One more than the largest number of an item.
  std::size_t end() const { return row_.size(); }
  bool is_there(Item item) const { return row_[item] != kGone; }
  RowSlot row(Item item) const { return row_[item]; }
  Item item_at(RowSlot row) const { return row < item_.size() ? item_[row] : kNobody; }
  std::uint64_t key(Item item) const { return key_[item]; }
  std::span<const Item> list(Item item) const { return {to_.data() + item * k_, length_[item]}; }
  std::span<const double> distances(Item item) const {
    return {apart_.data() + item * k_, length_[item]};
  }
  /// Rows have other slots now (RowStore::compact).
  void renumber(std::span<const RowSlot> new_slot);
  /// Throws std::logic_error if a list is not that of a plain scan, of some thousand lists, spread
  /// evenly; or if any list is out of order.
  void check(const RowStore<Real>& points) const;

 private:
  static constexpr RowSlot kGone = 0xFFFFFFFFU;
  static constexpr std::size_t kScanned = 4096;  // lists that a check compares with all rows
  using Rule = AverageSquared;
  using Short = ShortVectors<Real, Rule>;

  Item new_item(const RowStore<Real>& points, RowSlot row);
  void free_item(Item item);
  bool comes_first(double apart, Item item, double other_apart, Item other) const;
  double radius(Item item) const;
  std::size_t place_in(Item owner, double apart, Item item) const;
  void offer(Item owner, Item item, double apart);
  void drop(Item owner, Item item);
  void set_changed(Item item);
  template <class Use>
  void sweep(const RowStore<Real>& points, Item item, bool lists_of_others, Use&& use);
  void search(const RowStore<Real>& points, Item item);
  void reach_farther(Item item);
  void look_for_farthest();
  void look_after(const RowStore<Real>& points);
  void list_equal_rows(const RowStore<Real>& points, std::vector<std::uint8_t>& done);
  void search_all(const RowStore<Real>& points, const std::vector<std::uint8_t>& done,
                  const Pulse& pulse, Helpers& helpers);
  void reverse_all();
  Weight weight_from(Item marked, Item other) const;
  Weight similarity(double apart) const;
  static Weight whole(double share);

  std::size_t dim_, k_;
  NeighbourRule rule_;
  std::size_t size_ = 0;
  std::vector<RowSlot> row_;        // by item
  std::vector<Item> item_;          // by row slot
  std::vector<std::uint64_t> key_;  // by item, and so the rest
  std::vector<Arrival> number_;
  std::vector<std::uint32_t> length_;
  std::vector<Item> to_;  // k of them each
  std::vector<double> apart_;
  std::vector<std::vector<Item>> named_by_;  // in whose lists it is
  std::vector<Item> free_;
  double farthest_ = 0;         // no radius is larger
  std::size_t reached_ = 0;     // how often it may have become larger since it was looked at
  std::optional<Short> short_;  // of long rows
  ShortScratch scratch_;

  // Since edges were taken.
  bool all_changed_ = false;
  std::vector<Item> changed_;
  std::vector<std::uint8_t> is_changed_;          // by item
  std::vector<std::pair<Item, Item>> old_pairs_;  // of lists as they were
  std::vector<std::uint8_t> searches_;            // by item: its list lacks somebody
  std::vector<std::uint8_t> is_marked_;           // by item: it is in the list in question
};

}  // namespace ramify
