# SPDX-License-Identifier: BSD-3-Clause
"""_keeping.py: a growing tree and the file that it becomes, also when it is cut short.

A tree that was cut short takes the target's name where nothing is lost by that: where
there was no such file, or where the rows came by a pipe into the tree that the file
holds. Otherwise the file stays as it was, and the tree goes beside it. A tree that cannot
be written there at all, as on a full disk, goes where there is room.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.cli import _labels, _models
from ramify.cli._console import sentence
from ramify.cli._models import point_numbers
from ramify.cli._target import Target, free_name


class Kept(NamedTuple):
    """Where a tree was written, and why not where it should be, if so."""

    place: Path
    why: str | None = None


class Keeper:
    """Saves a tree and the labels of its points."""

    def __init__(
        self,
        model: Any,
        target: Target,
        *,
        names: Sequence[str] | None = None,
        labels: Sequence[Any] = (),  # of the points that there are
        label_column: str | None = None,
        grows_target: bool = False,
    ) -> None:
        self.model = model
        # By the numbers of points, of which some may leave.
        self.labels = dict(zip(point_numbers(model), labels, strict=False))
        self.names = names  # of the columns
        self._target = target
        self._label_column = label_column
        self._grows_target = grows_target  # the tree has all points that the target has
        self._saved_before = False

    def save(self) -> Kept:
        """Save the whole tree, at its place if that is possible."""
        place = self._target.place()
        why = None
        if place != self._target.path:
            why = f"{self._target.path} was written by another program meanwhile and stays"
        try:
            return Kept(self._write(place), why)
        except OSError as error:
            return self._write_elsewhere(sentence(error))

    def save_some(self) -> Path:
        """Save the tree so far, at its place; it goes on growing."""
        return self._write(self._target.place())

    def rescue(self, *, by_pipe: bool, wanted: bool) -> Kept:
        """Save a tree that was cut short. ``wanted`` if somebody has asked for that."""
        new = not self._target.existed or self._saved_before
        if new or wanted or (by_pipe and self._grows_target):
            return self.save()
        try:
            return Kept(
                self._write(free_name(self._target.path)), f"{self._target.path} stays as it was"
            )
        except OSError as error:
            return self._write_elsewhere(sentence(error))

    def _write_elsewhere(self, why: str) -> Kept:
        """Write the tree to the first folder that has room for it."""
        for folder in _folders(self._target.path):
            try:
                return Kept(self._write(free_name(folder / self._target.path.name)), why)
            except OSError:
                continue
        raise OSError(f"{why}; and no other folder has room for the tree")

    def _write(self, place: Path) -> Path:
        """Save the tree, and its labels beside it; labels of an older tree of that name go."""
        known: list[Any] = []
        if self._label_column is not None:
            known = [self.labels[number] for number in point_numbers(self.model)]
            _labels.check_text(self.model.hierarchy().names, known)
        _models.save(self.model, place, self.names)
        if self._label_column is None:
            _labels.remove(place)
        else:
            _labels.keep(place, self.model, known, self._label_column)
        if place == self._target.path:
            self._target.written()
            self._saved_before = True
        return place


def _folders(target: Path) -> Iterator[Path]:
    """Where else a tree may go: beside its place, here, or where temporary files are."""
    yield target.parent
    yield Path.cwd()
    yield Path(tempfile.gettempdir())
