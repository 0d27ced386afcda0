# SPDX-License-Identifier: BSD-3-Clause
"""datasets.py: `ramify datasets`: data to try things on, listed or written to a file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ramify import datasets
from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_json, print_rows, some_bytes, verb
from ramify.datasets import Cities, Dataset, Intents
from ramify.files import check_writable, open_table, table_format, whole_file

NAME = "datasets"
EXAMPLES = (
    "ramify datasets",
    "ramify datasets iris -o iris.csv",
    "ramify datasets gmm-100 --points 100000 --seed 7 -o gmm.npz",
)

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


@verb(NAME)
def run(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of the list; without, the list.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .csv, .tsv, .jsonl, .parquet, .feather, .npz, or .npy for the "
            "points alone.",
        ),
    ] = None,
    points: Annotated[
        int | None, typer.Option(min=1, help="Only so many points; of generated data and mnist.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of generated data.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with MNIST's files; by default RAMIFY_DATA.")
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """List data sets with their size, source and licence, or write one to a file."""
    if name is None:
        if out is not None:
            raise WrongCallError("give the NAME of a data set to write")
        _list(json=json)
        return
    entry = next((entry for entry in CATALOGUE if entry.name == name), None)
    if entry is None:
        raise ValueError(f"no data set {name}; there are {', '.join(e.name for e in CATALOGUE)}")
    chosen = {"n": points, "seed": seed, "data_home": data}
    given = {what: value for what, value in chosen.items() if value is not None}
    for what in given:
        if what not in entry.takes:
            option = {"n": "--points", "seed": "--seed", "data_home": "--data"}[what]
            raise WrongCallError(f"{name} takes no {option}")
    if out is None:
        _describe(entry, given, json=json)
        return
    if out.suffix.lower() not in (".npy", ".npz"):
        table_format(out)
    check_writable(out)
    dataset = entry.make(**given)
    write(dataset, out)
    n, width = dataset.points.shape
    if json:
        print_json({"file": str(out), "points": n, "width": width, "bytes": out.stat().st_size})
    else:
        note(f"{out}: {n:,} points, {some_bytes(out.stat().st_size)}", quiet=quiet)


def _list(*, json: bool) -> None:
    if json:
        names = ("name", "points", "width", "source", "licence")
        print_json({"datasets": [{key: getattr(e, key) for key in names} for e in CATALOGUE]})
        return
    rows = [[e.name, f"{e.points:,}", f"{e.width}", e.source, e.licence] for e in CATALOGUE]
    print_rows(["name", "points", "features", "source", "licence"], rows, right=(1, 2))


def _describe(entry: Entry, given: dict[str, Any], *, json: bool) -> None:
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
