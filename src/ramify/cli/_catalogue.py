# SPDX-License-Identifier: BSD-3-Clause
"""_catalogue.py: the data sets that `ramify datasets` knows, and how one becomes a file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ramify import datasets
from ramify.cli._console import print_json, print_rows
from ramify.datasets import Cities, Dataset, Intents
from ramify.files import open_table, whole_file

_ROWS = 10_000  # written at a time


@dataclass(frozen=True)
class Entry:
    """A line of the list."""

    name: str
    points: int
    width: int
    source: str
    licence: str
    make: Callable[..., Dataset]  # takes the options below, by name
    takes: tuple[str, ...] = ()  # of n, seed, data_home


_GENERATED = ("generated from a seed", "none needed")

CATALOGUE = (
    Entry("cities", 171_075, 3, "GeoNames; shipped", "CC BY 4.0", datasets.cities),
    Entry("iris", 150, 4, "UCI, R. A. Fisher; scikit-learn's", "CC BY 4.0", datasets.iris),
    Entry("glass", 214, 9, "UCI, B. German; shipped", "CC BY 4.0", datasets.glass),
    Entry("intents", 4_500, 64, "CLINC150, Larson et al.; shipped", "CC BY 3.0", datasets.intents),
    Entry(
        "mnist",
        55_000,
        784,
        "Y. LeCun et al.; your files or OpenML",
        "CC BY-SA 3.0",
        datasets.mnist,
        ("n", "data_home"),
    ),
    Entry("gmm-1", 1_000, 2, *_GENERATED, datasets.gmm_1, ("n", "seed")),
    Entry("gmm-8", 800, 3, *_GENERATED, datasets.gmm_8, ("n", "seed")),
    Entry("gmm-100", 1_000_000, 3, *_GENERATED, datasets.gmm_100, ("n", "seed")),
    Entry("uniform-square", 10_000, 2, *_GENERATED, datasets.uniform_square, ("n", "seed")),
    Entry("ilsvrc12-standin", 1_281_167, 10, *_GENERATED, datasets.ilsvrc12_standin, ("n", "seed")),
)


def show(*, json: bool) -> None:
    """List all of them."""
    if json:
        names = ("name", "points", "width", "source", "licence")
        print_json({"datasets": [{key: getattr(e, key) for key in names} for e in CATALOGUE]})
        return
    rows = [[e.name, f"{e.points:,}", f"{e.width}", e.source, e.licence] for e in CATALOGUE]
    print_rows(["name", "points", "features", "source", "licence"], rows, right=(1, 2))


def describe(entry: Entry, given: dict[str, Any], *, json: bool) -> None:
    """Print what one of them is."""
    if "n" in entry.takes:  # a description needs no million points
        given = {"n": min(given.get("n", 1_000), entry.points), **given}
    dataset = entry.make(**given)
    if json:
        print_json({"name": entry.name, "description": dataset.description})
    else:
        print(dataset.description.strip())


def write(dataset: Dataset, path: Path) -> None:
    """Write a data set, whole or not at all."""
    suffix = path.suffix.lower()
    if suffix in (".npy", ".npz"):
        with whole_file(path) as lent, lent.open("wb") as file:
            if suffix == ".npy":
                np.save(file, dataset.points)
            elif dataset.labels is None:
                np.savez(file, points=dataset.points)
            else:
                np.savez(file, points=dataset.points, labels=dataset.labels)
        return
    width = dataset.points.shape[1]
    features = list("xyz"[:width]) if width <= 3 else [f"x{j}" for j in range(width)]
    beside = _beside(dataset)
    with open_table(path, [*features, *beside]) as table:
        for start in range(0, len(dataset), _ROWS):
            part = slice(start, start + _ROWS)
            table.write(*dataset.points[part].T, *(column[part] for column in beside.values()))


def _beside(dataset: Dataset) -> dict[str, Any]:
    """Columns that are not numbers to cluster by."""
    columns: dict[str, Any] = {}
    if isinstance(dataset, Cities):
        columns = {"name": list(dataset.names), "continent": dataset.continent}
    if isinstance(dataset, Intents):
        columns = {"text": list(dataset.texts), "domain": dataset.domain}
    if dataset.labels is not None:
        columns["label"] = dataset.labels
    return columns
