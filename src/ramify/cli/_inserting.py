# SPDX-License-Identifier: BSD-3-Clause
"""_inserting.py: batches into a tree, and account of what went in, row by row.

A tree refuses a batch as a whole, before anything changes, if one of its rows or ids is
of no use: an id that is known, a row of zeros under cosine. Which one it was is found by
halves, and all the others go in.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ramify.cli._bad_rows import BadRows
from ramify.estimators._registry import BY_CLASS, BY_NAME
from ramify.files import BadRow, Batch, Source


@dataclass
class Grown:
    """What went into a tree."""

    points: int = 0
    labels: list[Any] = field(default_factory=list)
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
        by_number: bool,
    ) -> None:
        self._model = model
        self._source = source
        self._grown = grown
        self._bad = bad
        self._pulse = pulse
        self._by_number = by_number  # points are called by their numbers

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
        model, grown, before = self._model, self._grown, len(self._model)
        ids: Any = range(before, before + len(batch)) if self._by_number else batch.ids
        try:
            model.partial_fit(batch.rows, ids=ids, progress=self._pulse)
        finally:
            done = len(model) - before
            grown.points += done
            grown.labels += (batch.labels or [])[:done]
            if done:
                after = batch.places[-1] + 1
                grown.place = after if done == len(batch) else batch.places[done]

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
        model, grown, before = self._model, self._grown, len(self._model)
        rows = np.concatenate([batch.rows for batch in batches])
        ids: Any = [name for batch in batches for name in batch.ids or []] or None
        if self._by_number:
            ids = range(before, before + len(rows))
        insert = model.partial_fit if BY_CLASS[type(model)].online else model.fit
        insert(rows, ids=ids, progress=self._pulse)
        grown.points += len(rows)
        grown.labels += [label for batch in batches for label in batch.labels or []]
        grown.place = batches[-1].places[-1] + 1

    def _sift(self, batches: list[Batch], good: list[Batch]) -> None:
        """Find the rows that an online tree of the same metric takes: this one has no halves."""
        model, door = self._model, BY_NAME["ohac"].estimator(metric=self._model.metric)
        if len(model):
            door.fit(model.points(), ids=model.hierarchy().names)
        other = Inserter(
            door, self._source, Grown(), self._bad, self._pulse, by_number=self._by_number
        )
        for batch in batches:
            for row in range(len(batch)):
                one = batch.part(row, row + 1)
                before = len(door)
                other.insert(one)
                good += [one] if len(door) > before else []
