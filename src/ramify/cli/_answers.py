# SPDX-License-Identifier: BSD-3-Clause
"""_answers.py: where a tree puts rows, and the table that says so, a line for each row."""

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ramify.cli._bad_rows import BadRows
from ramify.cli._codes import PathCodes
from ramify.files import BadRow, Batch, Source, Table
from ramify.hierarchy.seam import order_of, place_in


class _Cut(NamedTuple):
    """Clusters of all points."""

    labels: Any
    n_clusters: int
    stable_ids: Any  #: by label, if they are wanted


class Places:
    """Where a tree puts rows."""

    def __init__(
        self,
        model: Any,
        cut: Mapping[str, Any],
        path_depth: int,
        sure: Mapping[str, Any] | None = None,
        *,
        stable: bool = False,
    ) -> None:
        tree = model.hierarchy()
        self._model = model
        self._numbers, self._order = tree.point_numbers, order_of(tree.point_numbers)
        self._ids = tree.names
        self._depths = tree.depths()
        longest = max(int(self._depths.max()), 1)  # no code is longer, whatever is asked for
        self._codes = PathCodes(tree, min(path_depth, longest)) if path_depth > 0 else None
        self._cut = None
        if cut:
            labels = tree.cut(**cut, **({"X": model.points()} if "by" in cut else {}))
            ids = model.clusters(**cut).stable_ids if stable else None
            self._cut = _Cut(labels, int(labels.max()) + 1, ids)
        self._asked = {**cut, **(sure or {})} if sure else None

    @property
    def n_clusters(self) -> int | None:
        return None if self._cut is None else self._cut.n_clusters

    def names(self, first: str) -> Iterator[str]:
        """Names of the columns."""
        yield first
        yield "nearest"
        if self._ids is not None:
            yield "nearest_id"
        yield "distance"
        if self._cut is not None:
            yield "cluster"
            if self._cut.stable_ids is not None:
                yield "stable_id"
        if self._asked is not None:
            levels = self._asked.get("confidence", False)
            if levels is True:
                yield "confidence"
            elif levels:
                yield from (f"confidence_{k}" for k in levels)
            if self._asked.get("new") is not None:
                yield "new"
        yield "depth"
        if self._codes is not None:
            yield "path"

    def of(self, batch: Batch) -> Iterator[Any]:
        """All columns but the first."""
        points, distance = self._model.nearest(batch.rows)
        yield points
        nowhere = points < 0  # rows of zeros, in a tree that skips them
        nearest = place_in(self._numbers, np.where(nowhere, self._numbers[0], points), self._order)
        if self._ids is not None:
            yield (
                np.where(nowhere, None, self._ids[nearest]) if nowhere.any() else self._ids[nearest]
            )
        yield distance
        if self._cut is not None:
            labels = np.where(nowhere, -1, self._cut.labels[nearest])
            yield labels
            if self._cut.stable_ids is not None:
                ids = np.where(nowhere, -1, self._cut.stable_ids[labels]).tolist()
                yield [None if one < 0 else one for one in ids]
        if self._asked is not None:
            found = self._model.assign(batch.rows, **self._asked)
            if found.confidence is not None:
                yield from found.confidence.reshape(len(points), -1).T
            if found.new is not None:
                yield found.new
        yield np.where(nowhere, -1, self._depths[nearest])
        if self._codes is not None:
            codes = self._codes.of(nearest)
            yield ["" if none else code for none, code in zip(nowhere, codes, strict=True)]


class _Line(NamedTuple):
    """The answer to one row."""

    place: int
    cells: tuple[Any, ...] | None  # all but the number; None for a bad row
    error: str | None = None


class Answers:
    """Lines for rows in the order of the file, also for bad ones if these are answered."""

    def __init__(self, places: Places, *, named: bool, of_bad_rows: bool) -> None:
        self.rows = 0  # that have been answered
        self._places = places
        self._named = named
        self._of_bad_rows = of_bad_rows
        self._names = [*places.names("id" if named else "row")]
        self._good: list[tuple[Batch, list[Any]]] = []
        self._bad: list[BadRow] = []

    def head(self) -> list[str]:
        """Names of the columns."""
        return [*self._names, "error"] if self._of_bad_rows else self._names

    def add_bad(self, bad: BadRow) -> None:
        """A row that cannot be used, to be answered in its turn."""
        self._bad.append(bad)

    def answer(self, batch: Batch, source: Source, bad: BadRows) -> None:
        """Look where the rows of a batch belong; which one is of no use is found by halves."""
        if len(batch) == 0:
            return
        try:
            self._good.append((batch, [*self._places.of(batch)]))
        except ValueError as error:
            if len(batch) > 1:
                half = len(batch) // 2
                self.answer(batch.part(0, half), source, bad)
                self.answer(batch.part(half, len(batch)), source, bad)
                return
            place = batch.places[0]
            reason = re.sub(r"\brow 0\b", f"{source.counted} {place}", str(error))
            if bad.stops:
                raise ValueError(f"{source.name}: {reason}") from error
            bad.take(BadRow(place, reason, batch.texts[0] if batch.texts else ""))

    def write(self, table: Table, *, at_once: bool) -> None:
        """Write what there is; ``at_once`` also if nothing tells the types of the columns yet."""
        if not (self._good or (at_once and self._bad)):
            return
        if self._bad or self._of_bad_rows:
            self._write_lines(table)
        else:
            for batch, columns in self._good:
                table.write(self._first(batch), *columns)
                self.rows += len(batch)
        self._good, self._bad = [], []
        if at_once:
            sys.stdout.flush()

    def write_rest(self, table: Table) -> None:
        """Write answers that nobody has waited for."""
        if self._bad:
            self._write_lines(table)
            self._bad = []

    def _first(self, batch: Batch) -> list[Any]:
        return list(range(self.rows, self.rows + len(batch))) if batch.ids is None else batch.ids

    def _write_lines(self, table: Table) -> None:
        """All answers in the order of their rows; bad ones have no cells but an error."""
        lines = [_Line(bad.place, None, bad.reason) for bad in self._bad]
        for batch, columns in self._good:
            cells = zip(*(_listed(column) for column in columns), strict=True)
            ids = batch.ids if self._named else None
            for row, rest in enumerate(cells):
                first = () if ids is None else (ids[row],)
                lines.append(_Line(batch.places[row], (*first, *rest)))
        width = len(self._names) - (0 if self._named else 1)
        lines.sort(key=lambda line: line.place)
        cells_of = [line.cells or (None,) * width for line in lines]
        numbers = [] if self._named else [range(self.rows, self.rows + len(lines))]
        table.write(
            *chain(numbers, map(list, zip(*cells_of, strict=True))), [line.error for line in lines]
        )
        self.rows += len(lines)


def _listed(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)
