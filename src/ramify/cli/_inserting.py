# SPDX-License-Identifier: BSD-3-Clause
"""_inserting.py: batches into a tree, and account of what went in, row by row.

A tree refuses a batch as a whole, before anything changes, if one of its rows or ids is
of no use: an id that is known, a row of zeros under cosine. Which one it was is found by
halves, and all the others go in.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ramify.cli._along import along
from ramify.cli._bad_rows import BadRows
from ramify.cli._models import arrivals, point_numbers
from ramify.estimators.seam import BY_CLASS, BY_NAME
from ramify.estimators.stream import Stream
from ramify.files import BadRow, Batch, Source


@dataclass
class Grown:
    """What went into a tree."""

    points: int = 0
    late: int = 0  #: rows that came too late for --max-age
    skipped: int = 0  #: rows of weight 0, or of zeros with --zero-rows skip
    labels: dict[int, Any] = field(default_factory=dict)  #: by the numbers of points
    seconds: float = 0.0
    place: int | None = None  #: the line or row to go on from; None before the first


class Inserter:
    """Inserts rows of a source, and keeps account in ``grown``, also when interrupted."""

    def __init__(
        self,
        model: Any,
        source: Source,
        grown: Grown,
        bad: BadRows,
        pulse: Callable[[int, int], Any],
        *,
        number: int | None,
    ) -> None:
        self._model = model
        self._source = source
        self._grown = grown
        self._bad = bad
        self._pulse = pulse
        self._number = number  # of the next row, where points are called by their numbers
        self._late_before = Stream(model).n_late

    def insert(self, batch: Batch) -> None:
        """Insert the rows that the tree takes."""
        if len(batch) == 0:
            return
        try:
            self._insert_all(batch)
        except (ValueError, TypeError) as error:
            # A wrong type is that of an id or of --set, and as much the user's as a wrong value.
            if len(self._model) and self._model.n_features_in_ != batch.rows.shape[1]:
                raise ValueError(f"{self._source.name}: {error}") from error  # as all others
            self._insert_by_halves(batch, error)

    def _insert_by_halves(self, batch: Batch, error: Exception) -> None:
        if len(batch) == 1:
            self._refuse(batch, error)
            return
        half = len(batch) // 2
        for part in (batch.part(0, half), batch.part(half, len(batch))):
            try:
                self._insert_all(part)
            except (ValueError, TypeError) as trouble:
                self._insert_by_halves(part, trouble)

    def _insert_all(self, batch: Batch) -> None:
        model, before = self._model, arrivals(self._model)
        ids = self._ids_of(batch.ids, len(batch))
        try:
            model.partial_fit(batch.rows, ids=ids, progress=self._pulse, **along(batch, model))
        except BaseException:
            if arrivals(model) > before:
                self._account(batch, before)
            raise
        self._account(batch, before)

    def _ids_of(self, ids: Any, rows: int) -> Any:
        return ids if self._number is None else range(self._number, self._number + rows)

    def _account(self, batch: Batch, before: int) -> None:
        """Write down what went in of a batch: all of it, or some of its first rows."""
        model, grown = self._model, self._grown
        came = arrivals(model) - before
        skipped = Stream(model).skipped
        kept = np.arange(len(batch)) if skipped is None else np.flatnonzero(~skipped)
        done = len(batch) if came == len(kept) else int(kept[came])
        late = self._late()
        grown.points += came
        grown.late += late
        grown.skipped += done - came - late
        grown.place = batch.places[-1] + 1 if done == len(batch) else batch.places[done]
        if self._number is not None:
            self._number += done
        if batch.labels is not None:
            self._keep_labels(before, [batch.labels[row] for row in kept[:came]])

    def _late(self) -> int:
        """How many rows of the latest batch were too late."""
        before, self._late_before = self._late_before, Stream(self._model).n_late
        return int(self._late_before - before)

    def _keep_labels(self, before: int, labels: Sequence[Any]) -> None:
        """Those of points that have left go when they have become the most."""
        known = self._grown.labels
        known.update(enumerate(labels, before))
        if len(known) > 2 * len(self._model) + 1_000:
            there = {number: known[number] for number in point_numbers(self._model)}
            known.clear()
            known.update(there)

    def _refuse(self, batch: Batch, error: Exception) -> None:
        """Do without a row; the tree calls it row 0, being the only one."""
        source, place = self._source, batch.places[0]
        reason = re.sub(r"\brow 0\b", f"{source.counted} {place}", str(error))
        if self._bad.stops:
            raise ValueError(f"{source.name}: {reason}") from error
        self._bad.take(BadRow(place, reason, batch.texts[0] if batch.texts else ""))

    def insert_at_once(self, batches: list[Batch]) -> None:
        """Make a tree of all rows, by an algorithm that wants all of them."""
        batches = [batch for batch in batches if len(batch)]
        if not batches:
            return
        try:
            self._fit(batches)
        except (ValueError, TypeError):
            good: list[Batch] = []
            try:
                self._sift(batches, good)
            finally:
                if good:
                    self._fit(good)

    def _fit(self, batches: list[Batch]) -> None:
        model, before = self._model, arrivals(self._model)
        whole = joined(batches)
        ids = self._ids_of(whole.ids, len(whole))
        insert = model.partial_fit if BY_CLASS[type(model)].online else model.fit
        insert(whole.rows, ids=ids, progress=self._pulse, **along(whole, model))
        self._account(whole, before)

    def _sift(self, batches: list[Batch], good: list[Batch]) -> None:
        """Find the rows that an online tree of the same metric takes: this one has no halves."""
        model = self._model
        settings = model._settings()
        zero_rows = settings.options.zero_rows
        door = BY_NAME["ohac"].estimator(metric=settings.metric.core, zero_rows=zero_rows)
        if len(model):
            door.fit(model.points(), ids=model.hierarchy().names)
        other = Inserter(door, self._source, Grown(), self._bad, self._pulse, number=self._number)
        for batch in batches:
            for row in range(len(batch)):
                one = batch.part(row, row + 1)
                before = len(door)
                other.insert(one)
                good += [one] if len(door) > before else []


def joined(batches: Sequence[Batch]) -> Batch:
    """Batches of one file as one."""

    def column(name: str) -> list[Any] | None:
        parts = [getattr(batch, name) for batch in batches]
        return None if parts[0] is None else [cell for part in parts for cell in part]

    return Batch(
        np.concatenate([batch.rows for batch in batches]),
        column("ids"),
        column("labels"),
        [place for batch in batches for place in batch.places],
        weights=column("weights"),
        times=column("times"),
    )
