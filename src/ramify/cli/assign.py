# SPDX-License-Identifier: BSD-3-Clause
"""assign.py: `ramify assign`: where new rows belong, without changing the tree."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._choices import By
from ramify.cli._console import WrongCallError, note, print_json, verb

NAME = "assign"
_SURE = "Sure, unsure, new"
EXAMPLES = (
    "ramify assign tree.ramify new.csv -k 20 -o clusters.csv",
    "ramify assign tree.ramify new.csv -k 20 --confidence --new 0.05",
    "ramify assign tree.ramify - --height 0.5 --to jsonl --bad-rows skip < new.jsonl",
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
    min_size: options.MinSize = None,
    by: options.By = By.height,
    resolution: options.Resolution = None,
    stable: Annotated[
        bool,
        typer.Option(
            "--stable",
            help="A further column, stable_id: what `ramify cut --stable` last called the cluster; "
            "empty if it is new since then.",
        ),
    ] = False,
    path_depth: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="Turns of the path to write at most; 0 for no path."
        ),
    ] = 32,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Say how sure each cluster is, from 0 to 1.", rich_help_panel=_SURE
        ),
    ] = False,
    confidence_at: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Or at cuts into so many clusters, ascending: one option for each.",
            rich_help_panel=_SURE,
        ),
    ] = None,
    new: Annotated[
        float | None,
        typer.Option(
            metavar="ALPHA",
            help="Say which rows are something new, with this share of false alarms, such as 0.05.",
            rich_help_panel=_SURE,
        ),
    ] = None,
    columns: options.Columns = None,
    id_column: options.IdColumn = None,
    field: options.Field = None,
    member: options.Member = None,
    format: options.InputFormat = None,
    header: options.Header = None,
    batch_size: options.BatchSize = None,
    bad_rows: options.BadRows = "stop",
    from_line: options.FromLine = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write for each row the nearest point of a tree, and where in the tree that is.

    A line holds the row's number or id; the nearest point's number, and its id if it has
    one; the distance, in the tree's metric; the cluster, with -k, --height or --min-size; the
    depth of the nearest point, and the way there from the root: 0 for a first child, 1 for a
    second. With --confidence how sure the cluster is, and with --new whether the row is something
    that the tree has not seen; both are judged by the tree's own points.

    Rows of a pipe are answered as they come, so that a program can ask row by row. With
    --bad-rows skip or FILE every row has its answer, a bad one with empty cells; the last
    column says what is wrong with it.
    """
    from ramify.cli import _models
    from ramify.cli._answers import Answers, Places
    from ramify.cli._bad_rows import BadRows
    from ramify.cli._outputs import keep_apart, keep_tree
    from ramify.cli._progress import meter
    from ramify.files import open_table

    if clusters is not None and height is not None:
        raise WrongCallError("give -k or --height, one of the two")
    cut = options.cut_of(clusters, height, min_size, by, resolution)
    if confidence and confidence_at:
        raise WrongCallError("give --confidence or --confidence-at, one of the two")
    asked = {"confidence": confidence_at or confidence or None, "new": new}
    sure = {name: value for name, value in asked.items() if value is not None}
    if sure and not cut:
        raise WrongCallError("--confidence and --new are about a cut: give -k or --height")
    if stable and not cut:
        raise WrongCallError("--stable is about a cut: give -k, --height or --min-size")
    if json and out is None:
        raise WrongCallError("--json needs -o: the table is on standard output")
    kind = options.out_format(out, to, quote_formulas=quote_formulas)
    keep_tree(out, tree)
    keep_apart(out, (data, "DATA itself"))
    model = _models.load_model(tree)
    names = _models.take_names(model)
    places = Places(model, cut, path_depth, sure, stable=stable)
    others = ((data, "DATA itself"), (tree, "the tree itself"))
    answers = Answers(places, named=id_column is not None, of_bad_rows=bad_rows != "stop")
    with BadRows(bad_rows, *others, also=answers.add_bad) as bad:
        reading = options.read_options(
            columns,
            id_column,
            None,
            field,
            member,
            header,
            batch_size,
            bad_rows=bad.handler,
            from_line=from_line,
        )
        with (
            _models.open_fitting(data, reading, format, names) as source,
            meter(source, quiet=quiet or out is None) as watch,
            open_table(out, answers.head(), format=kind, quote_formulas=quote_formulas) as table,
        ):
            bad.of(source)
            for batch in source:
                answers.answer(batch, source, bad)
                answers.write(table, at_once=source.endless and out is None)
                watch.pulse(answers.rows, answers.rows)
            answers.write_rest(table)
        bad.tell(quiet=quiet)
        _report(out, answers.rows, bad.count, places.n_clusters, quiet=quiet, json=json)


def _report(
    out: Path | None, rows: int, bad: int, n_clusters: int | None, *, quiet: bool, json: bool
) -> None:
    if json:
        print_json({"table": str(out), "rows": rows, "bad_rows": bad, "clusters": n_clusters})
    elif out is not None:
        note(f"{out}: {rows:,} rows", quiet=quiet)
