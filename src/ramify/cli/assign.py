# SPDX-License-Identifier: BSD-3-Clause
"""assign.py: `ramify assign`: where new rows belong, without changing the tree."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ramify.cli import _models
from ramify.cli import _options as options
from ramify.cli._codes import PathCodes
from ramify.cli._console import WrongCallError, note, print_json, verb
from ramify.cli._growing import in_batch
from ramify.cli._outputs import keep_apart, keep_tree
from ramify.cli._progress import meter
from ramify.files import Batch, open_table

NAME = "assign"
EXAMPLES = (
    "ramify assign tree.ramify new.csv -k 20 -o clusters.csv",
    "ramify assign tree.ramify - --height 0.5 --to jsonl < new.jsonl",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    data: options.Data,
    out: options.Out = None,
    to: options.OutFormat = None,
    quote_formulas: options.QuoteFormulas = False,
    clusters: options.Clusters = None,
    height: options.Height = None,
    path_depth: Annotated[
        int, typer.Option(min=0, help="Turns of the path to write at most; 0 for no path.")
    ] = 32,
    columns: options.Columns = None,
    id_column: options.IdColumn = None,
    field: options.Field = None,
    member: options.Member = None,
    format: options.InputFormat = None,
    header: options.Header = None,
    batch_size: options.BatchSize = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write for each row the nearest point of a tree, and where in the tree that is.

    A line holds the row's number or id; the nearest point's number, and its id if it has
    one; the distance, in the tree's metric; the cluster, with -k or --height; the depth of
    the nearest point, and the way there from the root: 0 for a first child, 1 for a second.
    """
    if clusters is not None and height is not None:
        raise WrongCallError("give -k or --height, one of the two")
    if json and out is None:
        raise WrongCallError("--json needs -o: the table is on standard output")
    kind = options.out_format(out, to, quote_formulas=quote_formulas)
    keep_tree(out, tree)
    keep_apart(out, (data, "DATA itself"))
    model = _models.load_model(tree)
    names = _models.take_names(model)
    places = _Places(model, clusters, height, path_depth)
    reading = options.read_options(columns, id_column, None, field, member, header, batch_size)
    rows = 0
    with (
        _models.open_fitting(data, reading, format, names) as source,
        meter(source, quiet=quiet or out is None) as watch,
        open_table(
            out,
            [*places.names("row" if id_column is None else "id")],
            format=kind,
            quote_formulas=quote_formulas,
        ) as table,
    ):
        for batch in source:
            first = range(rows, rows + len(batch)) if batch.ids is None else batch.ids
            with in_batch(source, rows):
                table.write(list(first), *places.of(batch))
            rows += len(batch)
            watch.pulse(rows, rows)
    _report(out, rows, places.n_clusters, quiet=quiet, json=json)


def _report(
    out: Path | None, rows: int, n_clusters: int | None, *, quiet: bool, json: bool
) -> None:
    if json:
        print_json({"table": str(out), "rows": rows, "clusters": n_clusters})
    elif out is not None:
        note(f"{out}: {rows:,} rows", quiet=quiet)


class _Cut(NamedTuple):
    """Clusters of all points."""

    labels: Any
    n_clusters: int


class _Places:
    """Where a tree puts rows."""

    def __init__(
        self, model: Any, clusters: int | None, height: float | None, path_depth: int
    ) -> None:
        tree = model.hierarchy()
        self._model = model
        self._ids = tree.names
        self._depths = tree.depths()
        longest = max(int(self._depths.max()), 1)  # no code is longer, whatever is asked for
        self._codes = PathCodes(tree, min(path_depth, longest)) if path_depth > 0 else None
        self._cut = None
        if clusters is not None or height is not None:
            labels = tree.cut(n_clusters=clusters, height=height)
            self._cut = _Cut(labels, int(labels.max()) + 1)

    @property
    def n_clusters(self) -> int | None:
        return None if self._cut is None else self._cut.n_clusters

    def names(self, first: str) -> Iterator[str]:
        """Names of the columns."""
        yield first
        yield "nearest"
        if self._ids is not None:
            yield "nearest_id"
        yield "distance"
        if self._cut is not None:
            yield "cluster"
        yield "depth"
        if self._codes is not None:
            yield "path"

    def of(self, batch: Batch) -> Iterator[Any]:
        """All columns but the first."""
        nearest, distance = self._model.nearest(batch.rows)
        yield nearest
        if self._ids is not None:
            yield self._ids[nearest]
        yield distance
        if self._cut is not None:
            yield self._cut.labels[nearest]
        yield self._depths[nearest]
        if self._codes is not None:
            yield self._codes.of(nearest)
