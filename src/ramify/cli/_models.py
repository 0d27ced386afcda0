# SPDX-License-Identifier: BSD-3-Clause
"""_models.py: trees in files: making, loading, saving."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ramify
from ramify.cli._choices import Format
from ramify.cli._console import WrongCallError
from ramify.cli._options import check_file, open_data
from ramify.estimators.seam import BY_CLASS, BY_NAME, CUT, flat_options, from_flat, set_flat
from ramify.estimators.stream import Stream
from ramify.files import ReadOptions, Source, check_writable


def new_model(algorithm: str, settings: Sequence[str] | None, **options: Any) -> Any:
    """An estimator without points; options that are None are left at their defaults."""
    kind = BY_NAME[algorithm].estimator
    chosen = {
        name: str(value) if isinstance(value, StrEnum) else value
        for name, value in options.items()
        if value is not None
    }
    chosen |= _settings(settings or ())
    offered = options_of(kind())
    for name in chosen:
        if name not in offered:
            raise WrongCallError(f"{algorithm} has no {name}; it has {', '.join(offered)}")
    return from_flat(kind, chosen)


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


def open_fitting(
    data: str, reading: ReadOptions, format: Format | None, names: Sequence[str] | None
) -> Source:
    """The rows of DATA for a tree whose columns have these names."""
    return open_data(data, replace(reading, like=names or ()), format)


class Points(NamedTuple):
    """All points of a tree, of which a leaf may stand for several."""

    names: Any  #: their ids, or else their numbers
    leaves: Any  #: the leaf of each; None if it is a point's own

    def spread(self, labels: Any) -> Any:
        """What is known of each leaf, for each point."""
        return labels if self.leaves is None else labels[self.leaves]


class Saved(NamedTuple):
    """What was in a file: a model's tree and the model, or a tree without points."""

    tree: ramify.Hierarchy
    model: Any

    def points(self) -> Any:
        """The points, or None."""
        return None if self.model is None else self.model.points()

    def compared(self) -> Any:
        """The points as the tree compares them, or None."""
        return None if self.model is None else Stream(self.model).compared_rows()

    def apart(self) -> Any:
        """Pairs of points that must be apart (`ramify edit`), by the leaves that they are in."""
        kept = self.model is not None and not Stream(self.model).of_edges
        pairs = self.model.edit.list().apart if kept else np.empty((0, 2), np.int64)
        if len(pairs) == 0:
            return pairs
        return Stream(self.model).leaf_of(pairs.ravel(), by_first=True).reshape(pairs.shape)

    def named(self) -> ramify.Hierarchy:
        """The tree; where points have left, numbers are no places, and stand in for names."""
        tree = self.tree
        left = int(tree.point_numbers.max()) >= tree.n_leaves
        return tree.with_names(tree.point_numbers) if left and tree.names is None else tree

    def points_of_leaves(self) -> Points:
        """The points of all leaves, in order of arrival."""
        tree, model = self.tree, self.model
        if model is None or not Stream(model).options.tracks_members:
            return Points(tree.point_numbers if tree.names is None else tree.names, None)
        stream = Stream(model)
        numbers, names = stream.numbers, stream.ids
        leaves = np.searchsorted(tree.leaf_numbers, stream.leaf_of(numbers))
        return Points(numbers if names is None else names, leaves)


def load(path: Path) -> Saved:
    """What is in a file."""
    check_file(path)
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


def set_limits(model: Any, **limits: Any) -> None:
    """Change how much a model keeps; limits that are None stay as they are."""
    for name, value in limits.items():
        if value is None:
            continue
        if name not in options_of(model):
            raise WrongCallError(f"{BY_CLASS[type(model)].name} has no {name}")
        set_flat(model, {name: value})


def lift_limits(model: Any, *names: str) -> None:
    """Have a model keep all points that come, as far as these limits go."""
    for name in names:
        if name not in options_of(model):
            raise WrongCallError(f"{BY_CLASS[type(model)].name} has no {name}")
        set_flat(model, {name: None})


def have_left(model: Any) -> bool:
    """Whether a model has had more points than it has."""
    return len(point_numbers(model)) < arrivals(model)


def arrivals(model: Any) -> int:
    """How many points a model has ever had, which is the number of the next one."""
    return Stream(model).next_number


def n_points(model: Any) -> int:
    """How many points a model has, of which a leaf may stand for several."""
    return Stream(model).n_points


def point_numbers(model: Any) -> list[int]:
    """Numbers of the points that a model has, in order."""
    found: list[int] = Stream(model).numbers.tolist()
    return found


def ids(model: Any) -> Any:
    """Ids of the points that a model has, in order; None if they have none."""
    return Stream(model).ids


def options_of(model: Any) -> dict[str, Any]:
    """The options that shape a model's tree, all but the cuts."""
    return {name: value for name, value in flat_options(model).items() if name not in CUT}
