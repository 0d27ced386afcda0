// SPDX-License-Identifier: BSD-3-Clause
// short_vectors.hpp: an exact search among many long rows that looks at few of them.
//
// Beside rows that are stored elsewhere, it keeps their short vectors (projection.hpp):
// leading ones in a bucket tree, byte codes of broad ones in a scan. Both only rule out;
// the caller computes true values for what is left. Where rows have few directions, as
// most tables do, the tree leaves few of them to look at, whatever the number of columns;
// where they have many, the scan is quicker. Which it is cannot be seen from outside: a
// few searches are made both ways whenever the number of rows has doubled.
// For inner products there are codes alone, of whole rows: they say what a product is at most.
// Nothing is ruled out before there are enough rows to fit the projection to (fitting.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "index/bucket_tree.hpp"
#include "index/code_scan.hpp"
#include "index/fitting.hpp"
#include "index/shorten_each.hpp"
#include "math/linkage.hpp"
#include "math/search_costs.hpp"

namespace ramify {

/// What one search at a time needs; each thread has its own.
struct ShortScratch {
  PendingNodes pending;
  ProjectionRoom room;
  ShortRow mine;
  CodeQuery query;
  std::vector<std::int32_t> values;                            // of cells (cell_rows.hpp)
  std::vector<std::pair<std::int32_t, std::uint32_t>> chosen;  // and those that are looked into
  CodeCandidates candidates;

  /// Nothing of a row is left.
  void wipe() noexcept {
    room.wipe();
    mine.wipe();
    ramify::wipe(query.codes);
  }
};

enum class SearchBy { kMeasured, kTree, kScan };  // the last two for tests

/// Items are numbered, and the caller knows their rows. Scores are Rule's.
template <class Real, class Rule>
class ShortVectors {
 public:
  using Item = std::uint32_t;
  explicit ShortVectors(std::size_t dim, SearchBy by = SearchBy::kMeasured)
      : by_(by), projection_(dim), fitting_(dim) {}

  bool fitted() const { return projection_.fitted(); }
  /// Are single searches, or those of many rows, quicker by the tree?
  bool one_by_tree() const { return one_by_tree_; }
  bool many_by_tree() const { return many_by_tree_; }

  /// Is it time to fit, with this many items?
  bool wants_fit(std::size_t items) const {
    return (kHasTree || projection_.dim() <= kMostColumns) && fitting_.is_due(items, scan_.loose());
  }
  /// Fit to a sample, and take in all items 0 .. items-1 that has(item) says are there.
  template <class Has, class RowOf, class WeightOf>
  void fit(std::size_t items, Has&& has, RowOf&& row, WeightOf&& weight, Helpers& helpers,
           const Pulse& pulse) {
    const std::vector<Item> there = fitting_.begin(items, has);
    if (there.empty()) return;
    Fitting::to_sample(there, row, [&](const auto& of, std::size_t count) {
      kHasTree ? projection_.fit(of, count, pulse) : projection_.fit_whole(of, count);
    });
    projection_.make_room(room_);
    scan_.begin(projection_, Rule::kProduct);
    next_trial_ = 0;
    worst_doubt_ = 0;
    load(there, items, row, weight, helpers, pulse);
  }

  void add(Item item, const Real* row, double weight, const Pulse& pulse = {}) {
    kHasTree ? projection_.apply(row, room_, shortened_)
             : projection_.apply_broad(row, room_, shortened_);
    add(item, shortened_, weight, pulse);
  }
  /// Items in ascending order, the last of all.
  template <class RowOf, class WeightOf>
  void add_many(std::span<const Item> items, RowOf&& row, WeightOf&& weight, Helpers& helpers,
                const Pulse& pulse) {
    shorten_each<kWhat>(projection_, items, row, helpers, pulse,
                        [&](std::size_t i, const ShortRow& shortened) {
                          add(items[i], shortened, weight(items[i]), pulse);
                        });
  }
  void make_removable() {
    if (tree_) tree_->make_removable();
  }
  void remove(Item item) {
    scan_.remove(item);
    if (tree_) tree_->remove(item);
    room_.wipe();  // perhaps of this very row
    shortened_.wipe();
  }
  /// Items have other numbers now, in the same order; `left` of them. A removed item has the
  /// number of the next surviving one.
  void renumber(std::span<const Item> new_item, std::size_t left) {
    if (tree_) tree_->renumber(new_item);
    scan_.renumber(new_item, left);
  }
  static constexpr Item kNobody = 0xFFFFFFFFU;

  /// Make boxes tight again.
  void rebuild(const Pulse& pulse) {
    if (tree_) tree_->rebuild(pulse);
  }

  template <class Use>
  void for_each_by_place(Use&& use) const {
    tree().for_each(use);
  }

  void make_room_to_search(ShortScratch& scratch) const {
    if (!fitted()) return;
    if (tree_) scratch.pending.reserve(tree_->levels());
    projection_.make_room(scratch.room);
    projection_.make_room(scratch.mine);
    scratch.query.codes.reserve(projection_.broad());
  }

  /// Have every item below `end` offered that can matter to x: those whose score may be at
  /// most limit(), and perhaps more. Items must have come in ascending order, if there is
  /// an end. If x is an item itself, its short vectors are there.
  template <class Offer, class Limit, class WeightOf>
  void search(const Real* x, double weight, double least_weight, Item end, Offer&& offer,
              Limit&& limit, WeightOf&& weight_of, ShortScratch& scratch,
              Item self = kNobody) const {
    if (one_by_tree_) {
      projection_.apply_leading(x, scratch.room, scratch.mine);
      return search_tree(scratch.mine, weight, end, offer, limit, scratch.pending);
    }
    shorten(x, self, scratch, scratch.query);
    search_codes(weight, least_weight, end, offer, limit, weight_of, scratch);
  }

  /// What a scan passes; nothing if single searches are quicker by the tree.
  std::size_t bytes_to_scan() const { return one_by_tree_ ? 0 : scan_.size() * scan_.width(); }
  /// The same by the scan among all items, in parts: first the one to look at before all others, if
  /// there is any, and then each part, at the same time if need be.
  Item begin_search(const Real* x, Item self, ShortScratch& scratch) const {
    shorten(x, self, scratch, scratch.query);
    return nearest_at_home(scratch.mine, kNobody);
  }
  template <class Offer, class Limit, class WeightOf>
  void search_part(std::size_t part, std::size_t parts, double weight, double least_weight,
                   Item first, Offer&& offer, Limit&& limit, WeightOf&& weight_of,
                   const ShortScratch& scratch) const {
    search_codes(weight, least_weight, scan_.begin_of(part, parts), scan_.begin_of(part + 1, parts),
                 first, offer, limit, weight_of, scratch.query);
  }

  /// Searches of many rows, by the scan, each among the items below its end.
  ///   row(q)         the q-th of them
  ///   item(q)        which item it is, or kNobody
  ///   offer(q, item)
  ///   soon(item)     it will probably be offered
  template <class RowOf, class ItemOf, class Offer, class Limit, class Soon>
  void search_many(std::size_t count, RowOf&& row, ItemOf&& item,
                   const std::vector<std::size_t>& ends, Offer&& offer, Limit&& limit, Soon&& soon,
                   ShortScratch& scratch, const Pulse& pulse) const {
    std::vector<CodeQuery> queries(count);
    std::vector<Item> homes(count);
    for (std::size_t q = 0; q < count; ++q) {
      shorten(row(q), item(q), scratch, queries[q]);
      homes[q] = nearest_at_home(scratch.mine, static_cast<Item>(ends[q]));
      if (homes[q] != kNobody) offer(q, homes[q]);
    }
    scan_.search_many(
        queries, ends,
        [&](std::size_t q, std::size_t i) {
          if (i != homes[q]) offer(q, i);
        },
        limit, soon, pulse);
  }

 private:
  static constexpr bool kHasTree = !Rule::kProduct;
  static constexpr Shortened kWhat = kHasTree ? Shortened::kWhole : Shortened::kBroad;
  // 32 bits cannot tell products of longer rows from those of rows that are gone.
  static constexpr std::size_t kMostColumns = 8192;
  // The tree's scores are lower bounds of Rule's, times scale^2.
  static constexpr bool kWard = std::is_same_v<Rule, WardGrowth>;
  using TreeRule = std::conditional_t<kWard, WardGrowth, AverageSquared>;
  using Tree = BucketTree<float, TreeRule>;
  static constexpr std::size_t kTried = 16;

  Tree& tree() { return *tree_; }
  const Tree& tree() const { return *tree_; }

  double square_scale() const { return projection_.scale() * projection_.scale(); }
  double tree_weight(double weight, double doubt) const {
    if constexpr (kWard) return weight;
    return weight * square_scale() - leading_slack(doubt);
  }
  /// Ward's score multiplies a gap, and what rounding added to it, by less than n.
  double tree_limit(double limit, double weight, double doubt) const {
    const double scaled = limit * square_scale();
    if constexpr (kWard)
      return scaled + weight * (leading_slack(doubt) + leading_slack(worst_doubt_));
    return scaled;
  }

  /// What the tree looks at: scores on its own scale.
  template <class Offer, class Limit>
  struct Looker {
    const ShortVectors& self;
    Offer& use;
    Limit& most;
    double weight, doubt;

    double limit() const { return self.tree_limit(most(), weight, doubt); }
    std::size_t equals() const { return std::numeric_limits<std::size_t>::max(); }
    void offer(double, Item item) { use(item); }
  };

  template <class Offer, class Limit>
  void search_tree(const ShortRow& mine, double weight, Item end, Offer&& offer, Limit&& limit,
                   PendingNodes& pending) const {
    Looker<std::remove_reference_t<Offer>, std::remove_reference_t<Limit>> looker{
        *this, offer, limit, weight, mine.leading_doubt};
    tree().search(mine.leading, tree_weight(weight, mine.leading_doubt), looker, pending, end);
  }

  void add(Item item, const ShortRow& shortened, double weight, const Pulse& pulse) {
    scan_.extend(item + std::size_t{1});
    scan_.set(item, shortened);
    if (!tree_) return;
    worst_doubt_ = std::max(worst_doubt_, shortened.leading_doubt);
    tree().insert(item, shortened.leading, tree_weight(weight, shortened.leading_doubt), pulse);
  }
  /// Leading entries into scratch.mine, and the codes of x.
  void shorten(const Real* x, Item self, ShortScratch& scratch, CodeQuery& query) const {
    if constexpr (Rule::kProduct) {
      query.multiplier = projection_.turn(x, scratch.room, query.codes);
      return query.sum_up(query.multiplier.doubt);
    }
    if (self == kNobody || scan_.is_loose(self)) {
      projection_.apply(x, scratch.room, scratch.mine);
      return query.set(scratch.mine);
    }
    if (tree().is_removable())
      tree().row_of(self, scratch.mine.leading);
    else
      projection_.apply_leading(x, scratch.room, scratch.mine);
    scan_.query_at(self, query);
  }

  /// For the row whose leading entries are in scratch.mine, and whose codes in scratch.query.
  template <class Offer, class Limit, class WeightOf>
  void search_codes(double weight, double least_weight, Item end, Offer&& offer, Limit&& limit,
                    WeightOf&& weight_of, ShortScratch& scratch) const {
    const Item home = nearest_at_home(scratch.mine, end);
    if (home != kNobody) offer(home);
    search_codes(weight, least_weight, 0, std::min<std::size_t>(end, scan_.size()), home, offer,
                 limit, weight_of, scratch.query);
  }
  /// From one item, at which a block begins, to another, and without one that has been looked at.
  template <class Offer, class Limit, class WeightOf>
  void search_codes(double weight, double least_weight, std::size_t from, std::size_t end, Item but,
                    Offer&& offer, Limit&& limit, WeightOf&& weight_of,
                    const CodeQuery& query) const {
    scan_.search(
        query, from, end,
        [&](std::size_t i, double gap) {
          const auto item = static_cast<Item>(i);
          if (Rule::kProduct ||
              (item != but && Rule::bound(gap, weight, weight_of(item)) <= limit()))
            offer(item);
        },
        [&] { return Rule::kProduct ? limit() : Rule::most_gap(limit(), weight, least_weight); });
  }

  /// The nearest by leading vectors in the leaf where x belongs.
  struct AtHome {
    double least = std::numeric_limits<double>::infinity();
    Item item = kNobody;

    double limit() const { return least; }
    std::size_t equals() const { return 1; }
    void offer(double score, Item other) {
      if (score < least || item == kNobody) item = other;
      least = std::min(least, score);
    }
  };
  Item nearest_at_home(const ShortRow& mine, Item end) const {
    AtHome home;
    if (tree_) tree_->search_home(mine.leading, 1, home, end);
    return home.item;
  }

  template <class RowOf, class WeightOf>
  void load(const std::vector<Item>& there, std::size_t items, RowOf&& row, WeightOf&& weight,
            Helpers& helpers, const Pulse& pulse) {
    scan_.extend(items);
    if (!kHasTree) return add_many(there, row, weight, helpers, pulse);
    const std::size_t width = projection_.leading();
    const bool removable = tree_ && tree().is_removable();
    tree_ = std::make_unique<Tree>(width, removable);
    BigVector<Item> numbers(there.data(), there.data() + there.size());
    BigVector<float> rows(there.size() * width);
    BigVector<double> weights(there.size());
    shorten_each<Shortened::kWhole>(
        projection_, std::span(there), row, helpers, pulse,
        [&](std::size_t i, const ShortRow& shortened) {
          scan_.set(there[i], shortened);
          worst_doubt_ = std::max(worst_doubt_, shortened.leading_doubt);
          std::copy_n(shortened.leading, width,
                      rows.begin() + static_cast<std::ptrdiff_t>(i * width));
          weights[i] = tree_weight(weight(there[i]), shortened.leading_doubt);
        });
    tree().load(std::move(numbers), std::move(rows), std::move(weights), pulse);
  }

 public:
  bool wants_trial(std::size_t items) const { return tree_ && items >= next_trial_; }
  /// Search for some items both ways, and remember which was less work.
  ///   score(a, b)  of two items
  template <class Has, class RowOf, class WeightOf, class Score>
  void try_both(std::size_t items, double least_weight, Has&& has, RowOf&& row, WeightOf&& weight,
                Score&& score, const Pulse& pulse) {
    if (!tree_) return;
    next_trial_ = 2 * items;
    if (by_ != SearchBy::kMeasured) {
      one_by_tree_ = many_by_tree_ = by_ == SearchBy::kTree;
      return;
    }
    ShortScratch scratch;
    make_room_to_search(scratch);
    Item self = 0;
    std::size_t tried = 0, looks = 0, seen = 0;
    double best = 0;
    const auto offer = [&](Item other) {
      ++looks;
      if (other != self) best = std::min(best, score(self, other));
    };
    const auto search_each = [&](auto&& search_for) {
      tried = looks = 0;
      for (std::size_t t = 0; t < kTried; ++t) {
        pulse.check();
        self = static_cast<Item>(t * items / kTried);
        if (!has(self)) continue;
        ++tried;
        best = std::numeric_limits<double>::infinity();
        projection_.apply(row(self), scratch.room, scratch.mine);
        scratch.query.set(scratch.mine);
        search_for();
      }
    };
    search_each([&] {
      search_codes(
          weight(self), least_weight, static_cast<Item>(items), offer, [&] { return best; }, weight,
          scratch);
    });
    const double look = cost_of_a_look(projection_.dim());
    const double scanned = static_cast<double>(items * tried);
    const double looked = look * static_cast<double>(looks);
    const double one = scanned * cost_of_scanning(scan_.width()) + looked;
    const double many = scanned * cost_of_sweeping(scan_.width()) + looked;
    const auto by_tree = [&] {
      return kTreeItemCost * static_cast<double>(seen) + look * static_cast<double>(looks);
    };
    // Once the tree has cost more than either, it has lost, and nothing else matters.
    search_each([&] {
      const auto limit = [&] {
        ++seen;
        return by_tree() < std::max(one, many) ? best : -std::numeric_limits<double>::infinity();
      };
      search_tree(scratch.mine, weight(self), kNobody, offer, limit, scratch.pending);
    });
    one_by_tree_ = by_tree() < one;
    many_by_tree_ = by_tree() < many;
  }

 private:
  SearchBy by_;
  Projection<Real> projection_;
  CodeScan scan_;
  std::unique_ptr<Tree> tree_;  // once there is a projection
  ProjectionRoom room_;
  ShortRow shortened_;
  Fitting fitting_;
  std::size_t next_trial_ = 0;
  double worst_doubt_ = 0;
  bool one_by_tree_ = false, many_by_tree_ = false;
};

}  // namespace ramify
