// SPDX-License-Identifier: BSD-3-Clause
// product_codes.hpp: an exact search for large inner products among many long rows that looks at
// few of them.
//
// What short_vectors.hpp is for distances: beside rows that somebody else keeps, it keeps their
// byte codes, of whole rows (projection.hpp), which say what a product is at most. There are no
// boxes. Its members are those of ShortVectors, as far as whoever keeps clusters needs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/fitting.hpp"
#include "index/short_vectors.hpp"

namespace ramify {

/// Items are numbered, and the caller knows their rows. Scores are minus products.
template <class Real>
class ProductCodes {
 public:
  using Item = std::uint32_t;
  static constexpr Item kNobody = 0xFFFFFFFFU;
  /// Longer rows may have products of bytes that 32 bits cannot tell from those of rows that are
  /// gone.
  static constexpr std::size_t kMostColumns = 8192;

  explicit ProductCodes(std::size_t dim) : projection_(dim), fitting_(dim) {}

  bool fitted() const { return projection_.fitted(); }
  std::size_t bytes_to_scan() const { return scan_.size() * scan_.width(); }

  /// Is it time to fit, with so many items?
  bool wants_fit(std::size_t items) const {
    return projection_.dim() <= kMostColumns && fitting_.is_due(items, scan_.loose());
  }
  /// Fit to a sample, and take in all items 0 .. items-1 that has(item) says are there.
  template <class Has, class RowOf, class WeightOf>
  void fit(std::size_t items, Has&& has, RowOf&& row, WeightOf&& /*weight*/, Helpers& helpers,
           const Pulse& pulse) {
    const std::vector<Item> there = fitting_.begin(items, has);
    if (there.empty()) return;
    Fitting::to_sample(
        there, row, [&](const auto& of, std::size_t count) { projection_.fit_whole(of, count); });
    projection_.make_room(room_);
    scan_.begin_products(projection_);
    scan_.extend(items);
    add_many(there, row, helpers, pulse);
  }
  // Without a tree there are no two ways to search, and nothing to be made tight again.
  template <class... Any>
  void try_both(Any&&...) {}
  void make_removable() {}
  void rebuild(const Pulse&) {}

  /// There are items up to this one.
  void extend(std::size_t items) { scan_.extend(items); }
  void add(Item item, const Real* row, double /*weight*/, const Pulse& = {}) {
    scan_.extend(item + std::size_t{1});
    projection_.apply_broad(row, room_, shortened_);
    scan_.set(item, shortened_);
  }
  template <class RowOf>
  void add_many(std::span<const Item> items, RowOf&& row, Helpers& helpers, const Pulse& pulse) {
    shorten_each<Shortened::kBroad>(projection_, items, row, helpers, pulse,
                                    [&](std::size_t i, const ShortRow& shortened) {
                                      scan_.extend(items[i] + std::size_t{1});
                                      scan_.set(items[i], shortened);
                                    });
  }
  void remove(Item item) {
    scan_.remove(item);
    room_.wipe();  // perhaps of this very row
    shortened_.wipe();
  }
  /// Items have other numbers now, in the same order; so many are left. Who is gone has the
  /// number of the next who is not.
  void renumber(std::span<const Item> new_item, std::size_t left) {
    scan_.renumber(new_item, left);
  }

  void make_room_to_search(ShortScratch& scratch) const {
    if (!fitted()) return;
    projection_.make_room(scratch.room);
    scratch.query.codes.reserve(projection_.broad());
  }
  /// Have every item below `end` offered whose score may be at most limit().
  template <class Offer, class Limit, class WeightOf>
  void search(const Real* x, double, double, Item end, Offer&& offer, Limit&& limit, WeightOf&&,
              ShortScratch& scratch, Item /*self*/ = kNobody) const {
    turn(x, scratch.room, scratch.query);
    search_codes(0, std::min<std::size_t>(end, scan_.size()), offer, limit, scratch.query);
  }
  /// The same among all items, in parts that may be searched at the same time.
  Item begin_search(const Real* x, Item /*self*/, ShortScratch& scratch) const {
    turn(x, scratch.room, scratch.query);
    return kNobody;
  }
  template <class Offer, class Limit, class WeightOf>
  void search_part(std::size_t part, std::size_t parts, double, double, Item, Offer&& offer,
                   Limit&& limit, WeightOf&&, const ShortScratch& scratch) const {
    search_codes(scan_.begin_of(part, parts), scan_.begin_of(part + 1, parts), offer, limit,
                 scratch.query);
  }
  /// Searches of many rows, each among the items below its end.
  ///   row(q), offer(q, item), limit(q), soon(item)
  template <class RowOf, class Offer, class Limit, class Soon>
  void search_many(const std::vector<std::size_t>& ends, RowOf&& row, Offer&& offer, Limit&& limit,
                   Soon&& soon, const Pulse& pulse) const {
    ProjectionRoom room;
    projection_.make_room(room);
    std::vector<CodeQuery> queries(ends.size());
    for (std::size_t q = 0; q < ends.size(); ++q) turn(row(q), room, queries[q]);
    scan_.search_many(queries, ends, offer, limit, soon, pulse);
  }

 private:
  void turn(const Real* x, ProjectionRoom& room, CodeQuery& query) const {
    query.multiplier = projection_.turn(x, room, query.codes);
    query.sum_up(query.multiplier.doubt);
  }
  template <class Offer, class Limit>
  void search_codes(std::size_t from, std::size_t end, Offer&& offer, Limit&& limit,
                    const CodeQuery& query) const {
    scan_.search(
        query, from, end, [&](std::size_t i, double) { offer(static_cast<Item>(i)); }, limit);
  }

  Projection<Real> projection_;
  CodeScan scan_;
  ProjectionRoom room_;
  ShortRow shortened_;
  Fitting fitting_;
};

}  // namespace ramify
