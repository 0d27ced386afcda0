// SPDX-License-Identifier: BSD-3-Clause
// cell_epochs.cpp: when cells are made anew, and how far the next searches look (cell_rows.hpp).
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "helpers.hpp"
#include "index/cell_rows.hpp"

namespace ramify {

/// Begin an epoch with the row of this number; all before it are in the index.
template <class Real>
void CellRows<Real>::advance(const RowStore<Real>& points, Arrival number, const Pulse& pulse) {
  CellPlan<Real> fresh = plan();
  fresh.begun = number;
  measure(points, number, fresh, pulse);
  CellLists lists;
  const std::size_t n = equal_.size();
  const bool anew = wants_shape(n, number);
  if (anew) make_shape(points, number, fresh, lists, pulse);
  const std::size_t wait =
      fresh.cells() > 1
          ? n + std::max(options().epoch, n / kShare)
          : std::min(fresh.shape ? kRefit * fresh.made : options().fit, options().first);
  fresh.next = number + std::max<std::size_t>(wait > n ? wait - n : 0, kQueries);
  plans_.advance(std::move(fresh));
  if (anew) std::swap(lists_, lists);
}

template <class Real>
bool CellRows<Real>::wants_shape(std::size_t n, Arrival number) const {
  if (n < std::max<std::size_t>(options().fit, 2)) return false;
  if (!shape()) return true;
  const std::size_t made = plan().made, since = number - plan().made_at;
  if (shape()->cells() == 1)
    return n >= kRefit * made || n >= options().first || since >= kRefit * made;
  return n >= 2 * made || 2 * n <= made || since >= 2 * made;
}

template <class Real>
void CellRows<Real>::make_shape(const RowStore<Real>& points, Arrival number, CellPlan<Real>& fresh,
                                CellLists& lists, const Pulse& pulse) const {
  const std::vector<RowSlot> rows = first_rows(0);
  const std::size_t n = rows.size();
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  const std::size_t count =
      n < options().first ? 1 : std::max<std::size_t>(std::min(kCells * root, n / 4), 1);
  // Rows that have moved a centroid are nearer to it than others will be: leave some out.
  // The latest quarter of the rows is most like those to come.
  std::vector<RowSlot> others, some;
  const std::size_t from = n - n / 4, apart = (n / 4) / CellPlan<Real>::kRemembered + 1;
  for (std::size_t i = 0; i < n; ++i)
    (count > 1 && i >= from && (i - from) % apart == 0 ? some : others).push_back(rows[i]);
  const auto shape = std::make_shared<const CellShape<Real>>(
      dim_, [&](std::size_t i) { return points.row(others[i]); }, others.size(), count, pulse);
  lists.begin(shape->projection(), count);
  Alone alone;
  put_into_cells(points, rows, *shape, lists, alone, pulse);
  fresh.shape = shape;
  fresh.made = n;
  fresh.made_at = number;
  fresh.slack = 0;
  fresh.needed.clear();
  if (count > 1) fresh.learn(needed(points, {*shape, lists, 0}, some, pulse), options().recall);
}

/// How many of the epoch that ends have found their nearest, and what would have.
template <class Real>
void CellRows<Real>::measure(const RowStore<Real>& points, Arrival number, CellPlan<Real>& fresh,
                             const Pulse& pulse) const {
  const auto came = static_cast<double>(number - plan().begun);
  fresh.rows += came;
  fresh.hits += came;
  if (plan().cells() == 1) return;
  std::size_t living = 0;
  auto begin = static_cast<RowSlot>(end_);
  for (; begin > 0 && points.arrival(begin - 1) >= plan().begun; --begin)
    living += points.is_hole(begin - 1) ? 0 : 1;
  const std::vector<RowSlot> rows = first_rows(begin);  // others are found by hash
  const std::vector<std::int32_t> slacks =
      needed(points, cells(), spread(std::span(rows), kChecked), pulse);
  if (slacks.empty()) return;
  const auto missed = std::count_if(slacks.begin(), slacks.end(),
                                    [&](std::int32_t one) { return one > plan().slack; });
  fresh.hits -= came * static_cast<double>(rows.size()) / static_cast<double>(living) *
                static_cast<double>(missed) / static_cast<double>(slacks.size());
  fresh.learn(slacks, options().recall);
}

/// The slack with which each of these rows would have found its nearest, if there is one.
template <class Real>
std::vector<std::int32_t> CellRows<Real>::needed(const RowStore<Real>& points, const Cells& cells,
                                                 const std::vector<RowSlot>& rows,
                                                 const Pulse& pulse) const {
  std::vector<CodeQuery> coded;
  std::vector<Neighbour> found(rows.size());
  std::vector<Search> all;
  SearchScratch scratch;
  scratch.candidates.make_room(kCandidates);
  ShortRow shortened;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells.shape.projection().apply_broad(points.row(rows[i]), scratch.room, shortened);
    coded.push_back(cells.shape.query(shortened));
    all.push_back({rows[i], Nearest(1, &found[i])});
  }
  // Less is left to look at then.
  search_cells_of_many(points, cells, all, coded, scratch, pulse);
  sweep(points, cells, all, coded, pulse);
  std::vector<std::int32_t> out, values(cells.shape.padded());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (found[i].row == Nearest::kNone.row) continue;
    cells.shape.value(coded[i], values.data());
    const std::uint32_t there = cells.lists.cell_of(equal_.place_of(found[i].row));
    out.push_back(values[cells.shape.home(values.data())] - values[there]);
  }
  return out;
}

/// Rows from `begin` on that are the first of their equals, in order of arrival.
template <class Real>
std::vector<RowSlot> CellRows<Real>::first_rows(RowSlot begin) const {
  std::vector<RowSlot> out;
  for (RowSlot row = begin; row < end_; ++row)
    if (equal_.is_first(row)) out.push_back(row);
  return out;
}

/// At most `most` of them, evenly.
template <class Real>
std::vector<RowSlot> CellRows<Real>::spread(std::span<const RowSlot> rows, std::size_t most) {
  const std::size_t count = std::min(rows.size(), most);
  std::vector<RowSlot> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = rows[i * rows.size() / count];
  return out;
}

template void CellRows<float>::advance(const RowStore<float>&, Arrival, const Pulse&);
template void CellRows<double>::advance(const RowStore<double>&, Arrival, const Pulse&);

}  // namespace ramify
