# SPDX-License-Identifier: BSD-3-Clause
"""datasets.py: `ramify datasets`: data to try things on, listed or written to a file."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb

NAME = "datasets"
EXAMPLES = (
    "ramify datasets",
    "ramify datasets iris -o iris.csv",
    "ramify datasets gmm-100 --points 100000 --seed 7 -o gmm.npz",
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
            metavar="FILE",
            help="File to write: .csv, .tsv, .jsonl, .parquet, .feather, .npz, or .npy for the "
            "points alone.",
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Only so many points; of generated data and mnist."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="NUMBER", help="Of generated data.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder with MNIST's files; by default RAMIFY_DATA."),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """List data sets with their size, source and licence, or write one to a file."""
    from ramify.cli._catalogue import CATALOGUE, describe, show, write
    from ramify.files import check_writable, table_format

    if name is None:
        if out is not None:
            raise WrongCallError("give the NAME of a data set to write")
        show(json=json)
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
        describe(entry, given, json=json)
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
