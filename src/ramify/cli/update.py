# SPDX-License-Identifier: BSD-3-Clause
"""update.py: `ramify update`: more rows for a saved tree."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _labels, _models
from ramify.cli import _options as options
from ramify.cli._console import INTERRUPTED, verb
from ramify.cli._progress import meter
from ramify.cli.fit import note_interrupt, report, tell_columns

NAME = "update"
EXAMPLES = (
    "ramify update tree.ramify more.csv",
    "ramify update monday.ramify tuesday.parquet -o tuesday.ramify --id-column name",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    data: options.Data,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File for the new tree; by default the old one's."),
    ] = None,
    columns: options.Columns = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    field: options.Field = None,
    member: options.Member = None,
    format: options.InputFormat = None,
    header: options.Header = None,
    batch_size: options.BatchSize = None,
    save_on_interrupt: Annotated[
        bool, typer.Option("--save-on-interrupt", help="On Ctrl-C save the tree so far.")
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Insert more rows into a saved tree, which continues as if it had never stopped.

    Columns are found by the names that the tree remembers. The old file is replaced only
    when the new tree is complete.
    """
    target = tree if out is None else out
    _models.check_tree_path(target)
    model = _models.load_model(tree)
    if not hasattr(model, "partial_fit"):
        raise ValueError(
            f"{tree} holds a tree of offline hac, which takes no more points; "
            f"fit all rows anew, or use another algorithm"
        )
    n = len(model)
    labels = _labels.kept(tree, n) if label_column is not None else []
    names = _models.take_names(model)
    what = options.wanted(columns, id_column, label_column, field, member, header, batch_size)
    with _models.open_fitting(data, what, format, names) as source:
        tell_columns(source, quiet=quiet)
        grown = _models.Grown()
        interrupted = False
        with meter(source, quiet=quiet) as watch:
            try:
                _models.grow(model, source, watch, grown, first=_first(model, id_column))
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        note_interrupt(NAME, grown.points, save=save_on_interrupt, where=target)
    if interrupted and not (save_on_interrupt and grown.points):
        raise typer.Exit(INTERRUPTED)
    _models.save(model, target, names)
    if label_column is not None:
        _labels.keep(target, model, [*labels, *grown.labels][: len(model)])
    report(model, target, grown, quiet=quiet, json=json)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _first(model: Any, id_column: str | None) -> int | None:
    """The number of the next point, in a tree whose points go by number."""
    ids = model.hierarchy().names
    if ids is None or id_column is not None:
        return None
    if _models.goes_by_number(ids):
        return len(ids)
    raise ValueError("the points of this tree have ids; name the column of ids with --id-column")
