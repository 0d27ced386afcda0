# SPDX-License-Identifier: BSD-3-Clause
"""_models.py: trees in files: making, loading, growing, saving."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ramify
from ramify.cli._console import WrongCallError
from ramify.cli._options import Format, open_data
from ramify.cli._progress import Meter
from ramify.files import Source, Wanted, check_writable


class Algorithm(StrEnum):
    """The estimators, as one types them."""

    ohac = "ohac"
    otd = "otd"
    naive_hac = "naive-hac"
    naive_nn = "naive-nn"
    perch = "perch"
    grinch = "grinch"
    birch = "birch"
    hac = "hac"


CLASSES: dict[Algorithm, Any] = {
    Algorithm.ohac: ramify.OHAC,
    Algorithm.otd: ramify.OTD,
    Algorithm.naive_hac: ramify.NaiveHAC,
    Algorithm.naive_nn: ramify.NaiveNN,
    Algorithm.perch: ramify.PERCH,
    Algorithm.grinch: ramify.GRINCH,
    Algorithm.birch: ramify.BIRCH,
    Algorithm.hac: ramify.HAC,
}

#: Trees that are built from all points at once: these have to be in memory together.
AT_ONCE = (ramify.HAC, ramify.NaiveHAC)


@dataclass
class Grown:
    """What went into a tree."""

    points: int = 0
    labels: list[Any] = field(default_factory=list)
    seconds: float = 0.0


def new_model(algorithm: Algorithm, settings: Sequence[str] | None, **options: Any) -> Any:
    """An estimator without points; options that are None are left at their defaults."""
    kind = CLASSES[algorithm]
    chosen = {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in options.items()
        if value is not None
    }
    chosen |= _settings(settings or ())
    offered = options_of(kind())
    for name in chosen:
        if name not in offered:
            raise WrongCallError(f"{algorithm.value} has no {name}; it has {', '.join(offered)}")
    return kind(**chosen)


def _settings(words: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE as a dict; a value is JSON, or else text."""
    found = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise WrongCallError(f"--set {word}: expected NAME=VALUE")
        try:
            found[name.replace("-", "_")] = json.loads(text)
        except ValueError:
            found[name.replace("-", "_")] = text
    return found


def grow(
    model: Any, source: Source, meter: Meter, grown: Grown, *, first: int | None = None
) -> None:
    """Insert all rows of a source, and keep account in ``grown``, also when interrupted.

    ``first`` is the number of the first row, for points that go by number.
    """
    begun, before = time.monotonic(), len(model)
    try:
        if isinstance(model, AT_ONCE):
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
    insert = model.fit if isinstance(model, ramify.HAC) else model.partial_fit
    with in_batch(source, 0):
        insert(rows, ids=ids, progress=meter.pulse)


def open_fitting(
    data: str, what: Wanted, format: Format | None, names: Sequence[str] | None
) -> Source:
    """The rows of DATA for a tree whose columns have these names."""
    return open_data(data, replace(what, like=names or ()), format)


class Saved(NamedTuple):
    """What was in a file: a model's tree and the model, or a tree without points."""

    tree: ramify.Hierarchy
    model: Any

    def points(self) -> Any:
        """The points, or None."""
        return None if self.model is None else self.model.points()


def load(path: Path) -> Saved:
    """What is in a file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file that ramify fit saved")
    if not path.exists():
        raise FileNotFoundError(f"no file {path}; expected a tree that ramify fit saved")
    found = ramify.load(path)
    if isinstance(found, ramify.Hierarchy):
        return Saved(found, None)
    if len(found) == 0:
        raise ValueError(f"{path} holds a model without points")
    return Saved(found.hierarchy(), found)


def load_model(path: Path) -> Any:
    """The model in a file."""
    model = load(path).model
    if model is None:
        raise ValueError(f"{path} holds a hierarchy without its points; expected a whole model")
    return model


def check_tree_path(path: Path) -> None:
    """Refuse a path that cannot become a tree, before the work begins."""
    check_writable(path)
    if path.exists() and not path.is_file():
        raise ValueError(f"cannot write a tree to {path}: expected a regular file")


def save(model: Any, path: Path, names: Sequence[str] | None) -> int:
    """Save a model with the names of its columns; returns the size of the file."""
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    target = Path(os.path.realpath(path))  # a link stays a link
    model.save(target)
    return target.stat().st_size


def take_names(model: Any) -> list[str] | None:
    """The names of the columns, taken away: rows come as plain arrays, in that order."""
    names = model.__dict__.pop("feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def goes_by_number(ids: Any) -> bool:
    """True if the ids are the numbers from 0, in any order: rows of some file."""
    array = np.asarray(ids)
    return array.dtype.kind in "iu" and np.array_equal(np.sort(array), np.arange(len(array)))


def algorithm_of(model: Any) -> str:
    """The name of a model's algorithm, as one types it."""
    return next(a.value for a, kind in CLASSES.items() if type(model) is kind)


def options_of(model: Any) -> dict[str, Any]:
    """The options that shape a model's tree, all but the cuts."""
    cuts = ("n_clusters", "distance_threshold")
    return {name: value for name, value in model.get_params().items() if name not in cuts}
