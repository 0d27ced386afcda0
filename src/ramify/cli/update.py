# SPDX-License-Identifier: BSD-3-Clause
"""update.py: `ramify update`: more rows for a saved tree."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ramify.cli import _options as options
from ramify.cli._choices import Format
from ramify.cli._console import WrongCallError, note, verb

if TYPE_CHECKING:  # slow to load, and help does not need it
    from ramify.files import ReadOptions, Source

NAME = "update"
EXAMPLES = (
    "ramify update tree.ramify more.csv",
    "ramify update monday.ramify tuesday.parquet -o tuesday.ramify --id-column name",
    "ramify update tickets.ramify today.csv --time-column opened --max-age 30d",
    "ramify update people.ramify today.csv --edges",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    data: options.Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="TREE", help="File for the new tree; by default the old one's."
        ),
    ] = None,
    window: options.Window = None,
    max_age: options.MaxAge = None,
    max_leaves: Annotated[
        int | None,
        typer.Option(min=2, metavar="LEAVES", help="Another budget, of a tree that has one."),
    ] = None,
    no_window: Annotated[
        bool, typer.Option("--no-window", help="Points leave by number no more.")
    ] = False,
    no_max_age: Annotated[
        bool, typer.Option("--no-max-age", help="Points leave by age no more.")
    ] = False,
    edges: options.Edges = False,
    columns: options.Columns = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    weights: options.Weights = None,
    time_column: options.TimeColumn = None,
    field: options.Field = None,
    member: options.Member = None,
    format: options.InputFormat = None,
    header: options.Header = None,
    batch_size: options.BatchSize = None,
    drop_labels: Annotated[
        bool,
        typer.Option(
            "--drop-labels",
            help="Give up the labels that are kept beside the tree: the new rows have none.",
        ),
    ] = False,
    bad_rows: options.BadRows = "stop",
    from_line: options.FromLine = None,
    save_every: options.SaveEvery = None,
    save_on_interrupt: options.SaveOnInterrupt = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Insert more rows into a saved tree, which continues as if it had never stopped.

    Columns are found by the names that the tree remembers, also the column of labels if
    labels are kept beside it. The old file is replaced only when the new tree is complete;
    if the command ends early, what was read is saved, and the last words say where and
    which line to go on from. A tree with a window or a max age keeps it, unless another one
    is given: the next row that comes finds the new limit. While another command writes the
    tree, this one waits.
    """
    from ramify.cli import _along, _bad_rows, _every, _labels, _models, _outputs
    from ramify.cli._growing import Growth
    from ramify.cli._keeping import Keeper
    from ramify.cli._target import only_writer

    if edges:
        _update_edges(tree, data, out, columns, quiet=quiet, json=json)
        return
    if (no_window and window is not None) or (no_max_age and max_age is not None):
        raise WrongCallError("a limit cannot be set and lifted at once")
    if drop_labels and label_column is not None:
        raise WrongCallError("give --label-column or --drop-labels, one of the two")
    every, age = _every.parse(save_every), _along.read_age(max_age)
    target = tree if out is None else out
    in_place = _outputs.is_in_place(tree, target)
    _models.check_tree_path(target)
    _outputs.keep_rows(target, data)
    _outputs.keep_old_tree(tree, target)
    others = ((data, "DATA itself"), (tree, "the tree itself"), (target, "the tree itself"))
    with (
        _bad_rows.BadRows(bad_rows, *others) as bad,
        only_writer(target, wait=in_place, quiet=quiet) as lent,
    ):
        model = _load_online(tree)
        _models.set_limits(model, window=window, max_age=age, max_leaves=max_leaves)
        off = {"window": no_window, "max_age": no_max_age}
        _models.lift_limits(model, *(name for name, is_off in off.items() if is_off))
        _along.check_columns(model, weights, time_column, at_fit=False)
        labels = _old_labels(tree, len(model), label_column, drop=drop_labels)
        if not in_place:
            _labels.check_place(target, labelled=labels.column is not None)
        names = _models.take_names(model)
        reading = options.read_options(
            columns,
            id_column,
            labels.column,
            field,
            member,
            header,
            batch_size,
            bad_rows=bad.handler,
            from_line=from_line,
            weights=weights,
            time_column=time_column,
        )
        keeper = Keeper(
            model,
            lent,
            names=names,
            labels=labels.known,
            label_column=labels.column,
            grows_target=in_place,
        )
        number = _next_number(model, id_column, quiet=quiet)
        with _open(tree, data, reading, format, names, given=label_column) as source:
            Growth(
                NAME,
                source,
                keeper,
                bad,
                every,
                number=number,
                save_on_interrupt=save_on_interrupt,
                quiet=quiet,
            ).run(json=json)


def _update_edges(
    tree: Path, data: str, out: Path | None, columns: list[str] | None, *, quiet: bool, json: bool
) -> None:
    """More edges for a tree of edges."""
    from ramify.cli import _edges
    from ramify.cli._rewriting import rewrite

    names = _edges.wanted(columns)
    pairs: Any = None

    def join(model: Any) -> bool:
        nonlocal pairs
        if not hasattr(model, "edges"):
            raise ValueError(f"{tree}: trees of {type(model).__name__} take rows, and no edges")
        pairs = _edges.read_pairs(data, names, model)
        model.partial_fit(edges=pairs)
        return True

    target, model = rewrite(tree, out, join, quiet=quiet)
    _edges.report(target, model, pairs, quiet=quiet, json=json)


def _load_online(tree: Path) -> Any:
    from ramify.cli import _models
    from ramify.estimators.seam import BY_CLASS, OnlineClusterer
    from ramify.estimators.stream import Stream

    model = _models.load_model(tree)
    if isinstance(model, OnlineClusterer) and Stream(model).of_edges:
        raise ValueError(f"{tree} holds a tree of edges, which takes edges: add --edges")
    if not BY_CLASS[type(model)].online:
        raise ValueError(
            f"{tree} holds a tree of offline hac, which takes no more points; "
            f"fit all rows anew, or use another algorithm"
        )
    return model


class _Labels(NamedTuple):
    """Those of the points that a tree has, and the column of those to come; None for no labels."""

    known: list[Any]
    column: str | None


def _old_labels(tree: Path, n: int, label_column: str | None, *, drop: bool) -> _Labels:
    """Labels are for all points or for none: those of a tree that has some must go on."""
    from ramify.cli import _labels

    if label_column is not None:
        return _Labels(_labels.kept(tree, n), label_column)
    found = _labels.look(tree)
    if found is not None and found.is_ours and not drop:
        return _Labels(_labels.kept(tree, n), found.column)
    if found is None or found.is_ours or not _labels.belongs(found, tree, n):
        return _Labels([], None)
    if drop:
        raise ValueError(
            f"{found.path} has no mark that ramify wrote it, so it is not removed; "
            f"move it away, and --drop-labels is not needed"
        )
    raise ValueError(
        f"{tree} has labels, in {found.path}; name the column of labels in DATA with "
        f"--label-column, or move that file away"
    )


def _open(
    tree: Path,
    data: str,
    reading: "ReadOptions",
    format: Format | None,
    names: Sequence[str] | None,
    *,
    given: str | None,
) -> "Source":
    """The new rows; says why a column of labels is needed that nobody has asked for."""
    from ramify.cli import _models
    from ramify.files import NoColumnError

    try:
        return _models.open_fitting(data, reading, format, names)
    except NoColumnError as error:
        if given is not None or error.column != reading.label_column:
            raise
        raise ValueError(
            f"{error}; the labels of {tree} came from a column of that name: name another with "
            f"--label-column, or give them up with --drop-labels"
        ) from None


def _next_number(model: Any, id_column: str | None, *, quiet: bool) -> int | None:
    """What the next point is called, if points are called by their numbers."""
    from ramify.cli import _models

    ids = model.hierarchy().names
    if ids is None or id_column is not None:
        return None
    if _models.goes_by_number(ids):
        return _models.arrivals(model)
    if ids.dtype.kind == "i" and _models.have_left(model) and ids.min() >= 0:
        number = max(_models.arrivals(model), int(ids.max()) + 1)
        note(f"no --id-column: new points are called {number} and so on", quiet=quiet)
        return number
    raise ValueError("the points of this tree have ids; name the column of ids with --id-column")
