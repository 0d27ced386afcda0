# SPDX-License-Identifier: BSD-3-Clause
"""fit.py: `ramify fit`: a tree of the rows of a file."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _labels, _models
from ramify.cli import _options as options
from ramify.cli._console import INTERRUPTED, complain, note, print_json, some_bytes, verb
from ramify.cli._models import Algorithm
from ramify.cli._outputs import keep_rows
from ramify.cli._progress import meter
from ramify.cli._target import Target, only_writer
from ramify.files import Source

NAME = "fit"
EXAMPLES = (
    "ramify fit flowers.csv -o flowers.ramify --id-column name --label-column species",
    "ramify fit vectors.npy -o tree.ramify --metric cosine --shuffle",
    "tail -f events.jsonl | ramify fit - -o live.ramify --field vector --save-on-interrupt",
)


class Metric(StrEnum):
    sqeuclidean = "sqeuclidean"
    cosine = "cosine"
    dot = "dot"


class Linkage(StrEnum):
    average = "average"
    centroid = "centroid"
    ward = "ward"


_ALGORITHM = "The tree"


@verb(NAME)
def run(
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the tree.")],
    algorithm: Annotated[
        Algorithm,
        typer.Option(
            help="ohac is the one to start with; hac and naive-hac need all rows in memory.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = Algorithm.ohac,
    metric: Annotated[
        Metric | None, typer.Option(help="sqeuclidean by default.", rich_help_panel=_ALGORITHM)
    ] = None,
    linkage: Annotated[
        Linkage | None, typer.Option(help="average by default.", rich_help_panel=_ALGORITHM)
    ] = None,
    n_neighbors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of ohac: reopen the root paths of this many nearest points.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another option of the algorithm, such as threshold=0.1 of birch.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = None,
    columns: options.Columns = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    field: options.Field = None,
    member: options.Member = None,
    format: options.InputFormat = None,
    header: options.Header = None,
    batch_size: options.BatchSize = None,
    dtype: Annotated[
        options.Real | None,
        typer.Option(
            help="By default float32 where the file has it, else float64.",
            rich_help_panel="What to read",
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Insert the rows in random order. An .npy is read in that order; of other files "
            "the chosen columns are held in memory. Without --id-column, the points are then "
            "named by their row numbers.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of --shuffle.", rich_help_panel=_ALGORITHM)] = 0,
    save_on_interrupt: Annotated[
        bool, typer.Option("--save-on-interrupt", help="On Ctrl-C save the tree so far.")
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Grow a tree over the rows of a file, or of a stream on standard input.

    Rows are inserted in order, batch by batch: files may be larger than memory, but the
    tree keeps every point. On Ctrl-C nothing is written, unless --save-on-interrupt.
    """
    model = _models.new_model(
        algorithm, settings, metric=metric, linkage=linkage, n_neighbors=n_neighbors
    )
    _models.check_tree_path(out)
    keep_rows(out, data)
    _labels.check_place(out, labelled=label_column is not None)
    what = options.wanted(
        columns, id_column, label_column, field, member, header, batch_size, dtype
    )
    with (
        only_writer(out, wait=False, quiet=quiet) as target,
        options.open_data(data, what, format) as source,
    ):
        rows = source.shuffled(seed) if shuffle else source
        tell_columns(rows, quiet=quiet)
        grown = _models.Grown()
        interrupted = False
        with meter(rows, quiet=quiet) as watch:
            try:
                _models.grow(model, rows, watch, grown)
            except KeyboardInterrupt:
                interrupted = True
        if interrupted:
            note_interrupt(NAME, len(model), save=save_on_interrupt, where=out)
        if interrupted and not (save_on_interrupt and len(model)):
            raise typer.Exit(INTERRUPTED)
        place = finish(model, target, source.feature_names, grown.labels, label_column)
    report(model, place, grown, quiet=quiet, json=json)
    leave(NAME, out, place, interrupted=interrupted)


def tell_columns(source: Source, *, quiet: bool) -> None:
    """Say which columns are points, where somebody might be surprised."""
    if source.left_out:
        names = ", ".join(source.left_out)
        note(f"{source.name}: left out, not numbers: {names}", quiet=quiet)


def note_interrupt(name: str, n: int, *, save: bool, where: Path) -> None:
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


def leave(name: str, out: Path, place: Path, *, interrupted: bool) -> None:
    """End with the code of what happened."""
    if place != out:
        complain(
            name,
            f"{out} was written by another program meanwhile and stays as that left it; "
            f"this tree is in {place}",
        )
        raise typer.Exit(1)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def report(model: Any, out: Path, grown: _models.Grown, *, quiet: bool, json: bool) -> None:
    """Say what is in the file now."""
    if quiet and not json:
        return
    facts = {
        "tree": str(out),
        "points": len(model),
        "width": model.n_features_in_,
        "algorithm": _models.algorithm_of(model),
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
