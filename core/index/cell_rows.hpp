// SPDX-License-Identifier: BSD-3-Clause
// cell_rows.hpp: near neighbours, most of them the nearest: rows in cells, of which a search
// looks into few (cell_plan.hpp). Within those it is exact, so that the answer is
//
//   the nearest of the rows in the cells whose value is at most `slack` below the largest
//
// and in further cells, by value, if there are too few rows in these. Equal rows are found
// by hash in any case.
//
// At the end of an epoch some of its rows are searched for exactly as well: what slack
// would have found all of them? The wanted quantile of that is the slack of the next
// epoch. The cells are made anew when there are twice as many rows, or half as many, or
// when as many have come as there were then, since rows may have come and gone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "index/cell_lists.hpp"
#include "index/cell_plan.hpp"
#include "index/equal_rows.hpp"
#include "index/neighbours.hpp"

namespace ramify {

template <class Real>
class CellRows final : public Neighbours<Real> {
 public:
  explicit CellRows(CellPlans<Real>& plans)
      : dim_(plans.dim()), plans_(plans), equal_(plans.dim()) {
    if (shape()) lists_.begin(shape()->projection(), shape()->cells());
  }

  void add(const RowStore<Real>& points, RowSlot row) override {
    if (row == end_) extend(row + std::size_t{1});
    if (!points.is_hole(row)) take_in(points, row);
  }
  void remove(const RowStore<Real>& points, RowSlot row) override {
    equal_.make_room_to_remove();
    lists_.make_room_to_remove();
    std::uint32_t place = 0;
    if (equal_.remove(points, row, place) && shape()) lists_.remove(place);
    room_.wipe();  // perhaps of this very row
  }
  void renumber(std::span<const RowSlot> new_slot, std::size_t living) override {
    equal_.renumber(new_slot, living);
    end_ = equal_.end();
  }
  void load(const RowStore<Real>& points, std::size_t end, Helpers& helpers,
            const Pulse& pulse) override {
    const auto begin = static_cast<RowSlot>(end_);
    extend(end);
    std::vector<RowSlot> fresh;
    for (RowSlot row = begin; row < end; ++row) {
      if (row % kBlock == 0) pulse.check();
      if (!points.is_hole(row) && equal_.take_in(points, row)) fresh.push_back(row);
    }
    if (shape()) put_into_cells(points, fresh, *shape(), lists_, helpers, pulse);
  }
  bool gains_by_loading(std::size_t count) const override { return count >= kQueries; }

  void nearest(const RowStore<Real>& points, std::span<const Query<Real>> queries, std::size_t k,
               Neighbour* out, SearchScratch& scratch, const Pulse& pulse) const override {
    make_room_to_search(scratch);
    std::vector<Search> rest;  // of rows that are in the index, and not settled by equal ones
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const Query<Real>& query = queries[q];
      Nearest best(k, out + q * k, query.ruled_out);
      const bool inside = query.self != Query<Real>::kOutside;
      if (query.ruled_out == nullptr) {
        const RowSlot first =
            inside ? equal_.first_at(equal_.place_of(query.self)) : equal_.find(points, query.row);
        const auto before = static_cast<RowSlot>(std::min<std::size_t>(query.end, end_));
        if (equal_.find_equal(points, first, k, before, best)) continue;
      }
      if (inside)
        rest.push_back({query.self, best});
      else
        search(points, query.row, query.end, scratch, best);
    }
    search_many(points, rest, scratch, pulse);
  }
  void make_room_to_search(SearchScratch& scratch) const override {
    if (!shape()) return;
    shape()->projection().make_room(scratch.room);
    shape()->projection().make_room(scratch.mine);
    scratch.query.codes.reserve(shape()->projection().broad());
    scratch.values.resize(shape()->padded());
    scratch.chosen.reserve(shape()->cells());
    scratch.candidates.make_room(kCandidates);
  }
  BigVector<RowSlot> by_place(std::size_t begin) const override {
    BigVector<RowSlot> out;
    if (plan().cells() == 1) return out;
    out.reserve(end_ - begin);
    for (std::uint32_t cell = 0; cell < shape()->cells(); ++cell)
      lists_.for_each_block(cell, [&](std::size_t from, std::size_t to) {
        for (; from < to; ++from)
          equal_.for_each_from(lists_.item_at(from), begin,
                               [&](RowSlot row) { out.push_back(row); });
      });
    return out;
  }

  std::size_t expect(const RowStore<Real>& points, std::size_t end, Arrival number,
                     const Pulse& pulse) override {
    Alone alone;
    if (end_ < end) load(points, end, alone, pulse);
    if (number >= plan().next) advance(points, number, pulse);
    return static_cast<std::size_t>(plan().next - number);
  }

  /// The cell that a row is in, which has come before; for tests.
  std::uint32_t cell_of(RowSlot row) const { return lists_.cell_of(equal_.place_of(row)); }

 private:
  using Neighbours<Real>::end_;
  static constexpr std::size_t kCells = 8;     // times the root of the number of rows
  static constexpr std::size_t kChecked = 64;  // rows of an epoch that are searched for exactly
  static constexpr std::size_t kShare = 16;    // an epoch's, of all rows
  static constexpr std::size_t kCandidates = 4096;
  static constexpr std::size_t kRefit = 8;  // times as many rows: codes are fitted again

  const CellPlan<Real>& plan() const { return plans_.now(); }
  const CellShape<Real>* shape() const { return plan().shape.get(); }

  /// A row that is in the index, and its nearest so far.
  struct Search {
    RowSlot self;
    Nearest best;
  };

  // --- what is kept -----------------------------------------------------------------

  void extend(std::size_t end) {
    equal_.extend(end);
    end_ = end;
  }
  /// The row has an entry among the equal ones.
  void take_in(const RowStore<Real>& points, RowSlot row) {
    if (!equal_.take_in(points, row) || !shape()) return;
    ShortRow shortened;
    shape()->projection().apply_broad(points.row(row), room_, shortened);
    std::uint32_t cell = 0;
    if (shape()->cells() > 1) {
      values_.resize(shape()->padded());
      shape()->value(shape()->query(shortened), values_.data());
      cell = shape()->home(values_.data());
    }
    lists_.add(equal_.place_of(row), cell, shortened);
  }

  /// The same for many rows, which are no one's equals, and other lists.
  void put_into_cells(const RowStore<Real>& points, std::span<const RowSlot> rows,
                      const CellShape<Real>& shape, CellLists& lists, Helpers& helpers,
                      const Pulse& pulse) const {
    std::vector<ShortRow> shortened(kPrepared);
    std::vector<std::uint32_t> homes(kPrepared);
    prepare_and_use(
        rows.size(), helpers, pulse,
        [&](std::size_t first, std::size_t last) {
          for (std::size_t i = first; i < last; i += kQueries)
            find_cells(points, rows.subspan(i, std::min(kQueries, last - i)), shape,
                       &shortened[i % kPrepared], &homes[i % kPrepared]);
        },
        [&](std::size_t i) {
          lists.add(equal_.place_of(rows[i]), homes[i % kPrepared], shortened[i % kPrepared]);
        });
  }
  /// Short vectors of at most kQueries rows, and the cell that each belongs to.
  void find_cells(const RowStore<Real>& points, std::span<const RowSlot> rows,
                  const CellShape<Real>& shape, ShortRow* shortened, std::uint32_t* homes) const {
    CodeQuery queries[kQueries];
    std::vector<std::int32_t> values(kQueries * shape.padded());
    shape.projection().apply_broad_to_each([&](std::size_t q) { return points.row(rows[q]); },
                                           rows.size(), shortened);
    for (std::size_t q = 0; q < rows.size(); ++q) queries[q].set(shortened[q]);
    if (shape.cells() > 1) shape.values(queries, rows.size(), values.data());
    for (std::size_t q = 0; q < rows.size(); ++q)
      homes[q] = shape.cells() > 1 ? shape.home(values.data() + q * shape.padded()) : 0;
  }

  // --- searches ---------------------------------------------------------------------

  auto considering(const RowStore<Real>& points, const Real* x, RowSlot end, Nearest& best) const {
    return [this, &points, x, end, &best](std::uint32_t item) {
      const RowSlot row = equal_.first_at(item);
      if (row >= end) return;  // also if no row is there
      const double distance = squared_distance(x, points.row(row), dim_);
      if (distance <= best.limit()) equal_.offer(best, distance, row, end);
    };
  }

  /// Cells to look into: those of the index, or some that it may have next.
  struct Cells {
    const CellShape<Real>& shape;
    const CellLists& lists;
    std::int32_t slack;
  };
  Cells cells() const { return {*shape(), lists_, plan().slack}; }
  /// To be told of who will be considered soon.
  auto coming(const RowStore<Real>& points, const Cells& cells) const {
    return [this, &points, &cells](std::size_t at) {
      const RowSlot row = equal_.first_at(cells.lists.item_at(at));
      if (row < points.slots()) points.prefetch(row);
    };
  }

  void search(const RowStore<Real>& points, const Real* x, RowSlot end, SearchScratch& scratch,
              Nearest& best) const {
    const auto consider = considering(points, x, end, best);
    if (!shape()) {
      for (std::uint32_t place = 0; place < equal_.places(); ++place) consider(place);
      return;
    }
    shape()->projection().apply_broad(x, scratch.room, scratch.mine);
    scratch.query.set(scratch.mine);
    shape()->value(scratch.query, scratch.values.data());
    search_cells(points, cells(), scratch.query, scratch.values.data(), consider, best, scratch);
  }

  /// Look into the cells that have large enough values, and into others until there are as
  /// many rows as are wanted.
  template <class Consider>
  void search_cells(const RowStore<Real>& points, const Cells& cells, const CodeQuery& query,
                    const std::int32_t* values, const Consider& consider, const Nearest& best,
                    SearchScratch& scratch) const {
    const std::int32_t least = values[cells.shape.home(values)] - cells.slack;
    const std::size_t count = cells.shape.cells();
    const auto offer = [&](std::size_t at) { consider(cells.lists.item_at(at)); };
    const auto limit = [&] { return best.limit(); };
    CodeCandidates& candidates = scratch.candidates;
    candidates.clear();
    choose(values, count, scratch.chosen, [&](std::int32_t value) { return value >= least; });
    for (const auto& [value, cell] : scratch.chosen)
      cells.lists.for_each_block(cell, [&](std::size_t from, std::size_t to) {
        cells.lists.scan().collect(query, from, to, candidates, offer, limit);
      });
    cells.lists.scan().settle(query, candidates, offer, limit, coming(points, cells));
    if (std::isfinite(best.limit())) return;
    choose(values, count, scratch.chosen, [&](std::int32_t value) { return value < least; });
    for (const auto& [value, cell] : scratch.chosen) {
      cells.lists.for_each_block(cell, [&](std::size_t from, std::size_t to) {
        for (; from < to; ++from) offer(from);
      });
      if (std::isfinite(best.limit())) return;
    }
  }
  /// Cells whose value is accepted, the nearest first.
  template <class Accept>
  static void choose(const std::int32_t* values, std::size_t count,
                     std::vector<std::pair<std::int32_t, std::uint32_t>>& chosen,
                     const Accept& accept) {
    chosen.clear();
    for (std::uint32_t cell = 0; cell < count; ++cell)
      if (accept(values[cell])) chosen.emplace_back(-values[cell], cell);
    std::sort(chosen.begin(), chosen.end());
  }

  /// Searches of rows that are in the index, each among those before it.
  void search_many(const RowStore<Real>& points, std::span<Search> all, SearchScratch& scratch,
                   const Pulse& pulse) const {
    if (!shape()) {
      for (Search& one : all) {
        pulse.check();
        search(points, points.row(one.self), one.self, scratch, one.best);
      }
      return;
    }
    std::vector<CodeQuery> coded;
    coded.reserve(all.size());
    for (const Search& one : all) coded.push_back(code_of(points, one.self, scratch));
    if (shape()->cells() == 1) return sweep(points, cells(), all, coded, pulse);
    search_cells_of_many(points, cells(), all, coded, scratch, pulse);
  }
  void search_cells_of_many(const RowStore<Real>& points, const Cells& cells, std::span<Search> all,
                            const std::vector<CodeQuery>& coded, SearchScratch& scratch,
                            const Pulse& pulse) const {
    const std::size_t padded = cells.shape.padded();
    std::vector<std::int32_t> values(kQueries * padded);
    for (std::size_t i = 0; i < all.size(); i += kQueries) {
      pulse.check();
      const std::size_t count = std::min(kQueries, all.size() - i);
      cells.shape.values(coded.data() + i, count, values.data());
      for (std::size_t q = 0; q < count; ++q) {
        Search& one = all[i + q];
        search_cells(points, cells, coded[i + q], values.data() + q * padded,
                     considering(points, points.row(one.self), one.self, one.best), one.best,
                     scratch);
      }
    }
  }
  /// The codes of a row that is in the index.
  CodeQuery code_of(const RowStore<Real>& points, RowSlot row, SearchScratch& scratch) const {
    const std::size_t at = lists_.place_of(equal_.place_of(row));
    CodeQuery query;
    if (!lists_.scan().is_loose(at)) {
      lists_.scan().query_at(at, query);
      return query;
    }
    ShortRow shortened;
    shape()->projection().apply_broad(points.row(row), scratch.room, shortened);
    return shape()->query(shortened);
  }
  /// Exact searches of many rows, each among those before it: all codes are swept.
  void sweep(const RowStore<Real>& points, const Cells& cells, std::span<Search> all,
             const std::vector<CodeQuery>& coded, const Pulse& pulse) const {
    if (all.empty()) return;
    const std::vector<std::size_t> ends(all.size(), cells.lists.scan().size());
    cells.lists.scan().search_many(
        coded, ends,
        [&](std::size_t q, std::size_t at) {
          Search& one = all[q];
          considering(points, points.row(one.self), one.self, one.best)(cells.lists.item_at(at));
        },
        [&](std::size_t q) { return all[q].best.limit(); }, coming(points, cells), pulse);
  }

  // --- epochs: cell_epochs.cpp -------------------------------------------------------

  const CellOptions& options() const { return plans_.options(); }
  /// Begin an epoch with the row of this number; all before it are in the index.
  void advance(const RowStore<Real>& points, Arrival number, const Pulse& pulse);
  bool wants_shape(std::size_t n, Arrival number) const;
  void make_shape(const RowStore<Real>& points, Arrival number, CellPlan<Real>& fresh,
                  CellLists& lists, const Pulse& pulse) const;
  /// How many of the epoch that ends have found their nearest, and what would have.
  void measure(const RowStore<Real>& points, Arrival number, CellPlan<Real>& fresh,
               const Pulse& pulse) const;
  /// The slack with which each of these rows would have found its nearest, if there is one.
  std::vector<std::int32_t> needed(const RowStore<Real>& points, const Cells& cells,
                                   const std::vector<RowSlot>& rows, const Pulse& pulse) const;
  /// Rows from `begin` on that are the first of their equals, in order of arrival.
  std::vector<RowSlot> first_rows(RowSlot begin) const;
  /// At most `most` of them, evenly.
  static std::vector<RowSlot> spread(std::span<const RowSlot> rows, std::size_t most);

  std::size_t dim_;
  CellPlans<Real>& plans_;
  EqualRows<Real> equal_;
  CellLists lists_;  // of places, once there is a shape
  ProjectionRoom room_;
  std::vector<std::int32_t> values_;
};

}  // namespace ramify
