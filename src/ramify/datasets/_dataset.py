# SPDX-License-Identifier: BSD-3-Clause
"""_dataset.py: what every data set is, and how packaged files are read."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Points and what is known about them; row i of every array is the same point.

    The arrays are yours: each call makes new ones, and other libraries may write into them.

    Attributes
    ----------
    name : str
        As the paper writes it, where it has one.
    points : (n, d) float32 or float64 array
        In the order in which the paper's protocol inserts them.
    labels : (n,) array or None
        True group of each point, if there is one. Never shown to a clusterer.
    description : str
        What it is, how it was made or where it comes from, and its licence.

    Examples
    --------
    >>> from ramify import datasets
    >>> iris = datasets.iris()
    >>> iris
    <Dataset iris: 150 points, 4 features, 3 groups>
    >>> len(iris), iris.labels.shape
    (150, (150,))
    """

    name: str
    points: NDArray[Any]
    labels: NDArray[Any] | None
    description: str

    def __post_init__(self) -> None:
        for name in ("points", "labels"):
            array = getattr(self, name)
            if array is not None and not array.flags.writeable:  # the bytes of a file
                object.__setattr__(self, name, array.copy())

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        n, d = self.points.shape
        return f"<Dataset {self.name}: {n:,} points, {d} features, {self._groups()}>"

    def _groups(self) -> str:
        if self.labels is None:
            return "no labels"
        k = len(np.unique(self.labels))
        return f"{k:,} group{'' if k == 1 else 's'}"


def packaged_arrays(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of a packaged .npz; never unpickles."""
    with (
        as_file(files("ramify") / "data" / name) as path,
        np.load(path, allow_pickle=False) as archive,
    ):
        return dict(archive)


def packaged_text(name: str) -> str:
    """A packaged text file."""
    return (files("ramify") / "data" / name).read_text(encoding="utf-8")


def packed_lines(text: NDArray[Any]) -> list[str]:
    """Texts that were stored as the bytes of lines."""
    return text.tobytes().decode().split("\n")
