# SPDX-License-Identifier: BSD-3-Clause
"""_growing.py: what `ramify fit` and `ramify update` share: rows go in, a file comes out."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ramify.cli import _labels, _models
from ramify.cli._console import INTERRUPTED, complain, note, print_json, some_bytes
from ramify.cli._progress import Meter, meter
from ramify.cli._target import Target
from ramify.estimators._registry import BY_CLASS
from ramify.files import Source


@dataclass
class Grown:
    """What went into a tree."""

    points: int = 0
    labels: list[Any] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False


def grow(
    name: str,
    model: Any,
    source: Source,
    *,
    first: int | None = None,
    save: bool,
    where: Path,
    quiet: bool,
) -> Grown:
    """Insert all rows of a source, and say what went in. Ctrl-C ends the command, unless
    there is something to ``save``.

    ``first`` is the number of the first row, for points that go by number.
    """
    _tell_columns(source, quiet=quiet)
    grown = Grown()
    with meter(source, quiet=quiet) as watch:
        try:
            _grow(model, source, watch, grown, first)
        except KeyboardInterrupt:
            grown.interrupted = True
    if grown.interrupted:
        _note_interrupt(name, grown.points, save=save, where=where)
        if not (save and grown.points):
            raise typer.Exit(INTERRUPTED)
    return grown


def _grow(model: Any, source: Source, meter: Meter, grown: Grown, first: int | None) -> None:
    """Insert all rows of a source, and keep account in ``grown``, also when interrupted."""
    begun, before = time.monotonic(), len(model)
    try:
        if BY_CLASS[type(model)].at_once:
            _grow_at_once(model, source, meter, grown, first)
        else:
            _grow_in_batches(model, source, meter, grown, first)
    finally:
        grown.seconds = time.monotonic() - begun
        grown.points = len(model) - before
    if grown.points == 0:
        raise ValueError(f"{source.name} holds no rows")


def _grow_in_batches(
    model: Any, source: Source, meter: Meter, grown: Grown, first: int | None
) -> None:
    done = 0
    for batch in source:
        ids: Any = batch.ids
        if first is not None:
            ids = range(first + done, first + done + len(batch))
        grown.labels += batch.labels or []
        with in_batch(source, done):
            model.partial_fit(batch.rows, ids=ids, progress=meter.pulse)
        done += len(batch)
        meter.batch_done(len(batch), model)


@contextmanager
def in_batch(source: Source, done: int) -> Iterator[None]:
    """Say where a batch began, if something is wrong with one of its rows or ids."""
    try:
        yield
    except (ValueError, TypeError) as error:
        # A wrong type is that of an id or of --set, and as much the user's as a wrong value.
        where = f"{source.name}, in the batch after {done:,} rows: " if done else ""
        raise ValueError(f"{where}{error}") from error


def _grow_at_once(
    model: Any, source: Source, meter: Meter, grown: Grown, first: int | None
) -> None:
    batches = list(source)
    if not batches:
        return
    rows = np.concatenate([batch.rows for batch in batches])
    ids: Any = [name for batch in batches for name in batch.ids or []] or None
    grown.labels += [label for batch in batches for label in batch.labels or []]
    del batches
    if first is not None:
        ids = range(first, first + len(rows))
    insert = model.partial_fit if BY_CLASS[type(model)].online else model.fit
    with in_batch(source, 0):
        insert(rows, ids=ids, progress=meter.pulse)


def _tell_columns(source: Source, *, quiet: bool) -> None:
    """Say which columns are points, where somebody might be surprised."""
    if source.left_out:
        names = ", ".join(source.left_out)
        note(f"{source.name}: left out, not numbers: {names}", quiet=quiet)


def _note_interrupt(name: str, n: int, *, save: bool, where: Path) -> None:
    """Say what Ctrl-C meant."""
    points = f"{n:,} points were in"
    if save and n:
        complain(name, f"interrupted when {points}; saving them to {where}")
    else:
        complain(name, f"interrupted when {points}; nothing was written")


def finish(
    model: Any,
    target: Target,
    names: Sequence[str] | None,
    labels: Sequence[Any],
    label_column: str | None,
) -> Path:
    """Save the tree, and its labels beside it; labels of an older tree of that name go."""
    known = labels[: len(model)]
    if label_column is not None:
        _labels.check_text(model.hierarchy().names, known)
    place = target.place()
    _models.save(model, place, names)
    if label_column is None:
        _labels.remove(place)
    else:
        _labels.keep(place, model, known, label_column)
    return place


def leave(name: str, out: Path, place: Path, grown: Grown) -> None:
    """End with the code of what happened."""
    if place != out:
        complain(
            name,
            f"{out} was written by another program meanwhile and stays as that left it; "
            f"this tree is in {place}",
        )
        raise typer.Exit(1)
    if grown.interrupted:
        raise typer.Exit(INTERRUPTED)


def report(model: Any, out: Path, grown: Grown, *, quiet: bool, json: bool) -> None:
    """Say what is in the file now."""
    if quiet and not json:
        return
    facts = {
        "tree": str(out),
        "points": len(model),
        "width": model.n_features_in_,
        "algorithm": BY_CLASS[type(model)].name,
        "depth": int(model.hierarchy().depths().max()),
        "inserted": grown.points,
        "seconds": round(grown.seconds, 6),
        "bytes": out.stat().st_size,
    }
    if json:
        print_json(facts)
        return
    speed = grown.points / max(grown.seconds, 1e-9)
    note(
        f"{out}: {len(model):,} points, depth {facts['depth']:,}, "
        f"{some_bytes(out.stat().st_size)}; {grown.points:,} inserted in "
        f"{grown.seconds:,.1f} s ({speed:,.0f} points/s)"
    )
