# SPDX-License-Identifier: BSD-3-Clause
"""fit.py: `ramify fit`: a tree of the rows of a file."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._choices import Algorithm, Duplicates, Linkage, Metric, Real, ZeroRows, one_of
from ramify.cli._console import WrongCallError, verb

NAME = "fit"
EXAMPLES = (
    "ramify fit flowers.csv -o flowers.ramify --id-column name --label-column species",
    "ramify fit vectors.npy -o tree.ramify --metric cosine --shuffle",
    "tail -f events.jsonl | ramify fit - -o live.ramify --field vector --bad-rows bad.csv "
    "--save-every 5m",
    "ramify fit tickets.csv -o tickets.ramify --max-age 90d --time-column opened",
    "ramify fit scores.csv -o people.ramify --edges --columns left,right,score",
)


_ALGORITHM = "The tree"


@verb(NAME)
def run(
    data: options.Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="TREE", help="File for the tree.")],
    algorithm: Annotated[
        Algorithm,
        typer.Option(
            metavar=one_of(Algorithm),
            help="ohac is the one to start with; hac and naive-hac need all rows in memory.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = Algorithm.ohac,
    metric: Annotated[
        Metric | None,
        typer.Option(
            metavar=one_of(Metric), help="sqeuclidean by default.", rich_help_panel=_ALGORITHM
        ),
    ] = None,
    linkage: Annotated[
        Linkage | None,
        typer.Option(
            metavar=one_of(Linkage), help="average by default.", rich_help_panel=_ALGORITHM
        ),
    ] = None,
    zero_rows: Annotated[
        ZeroRows | None,
        typer.Option(
            metavar=one_of(ZeroRows),
            help="Under cosine, of rows of zeros: refuse them, skip them, or keep them as a group "
            "that is like nothing else. error by default.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = None,
    n_neighbors: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Of ohac: reopen the root paths of this many nearest points.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another option of the algorithm, such as update=nni, start=hac or polishing=auto "
            "of ohac, rule=split or rotate=true of otd, random_state=1 of random-cut, "
            "threshold=0.1 of birch.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = None,
    polish: Annotated[
        bool,
        typer.Option(
            "--polish",
            help="When all rows are in, merge the top of the tree anew if that makes it better: "
            "a tree as good as hac's for a little more time. Of ohac and otd.",
            rich_help_panel=_ALGORITHM,
        ),
    ] = False,
    window: options.Window = None,
    max_age: options.MaxAge = None,
    duplicates: Annotated[
        Duplicates | None,
        typer.Option(
            metavar=one_of(Duplicates),
            help="count: a row that equals a stored one raises the weight of its leaf instead of "
            "adding a leaf. keep by default.",
            rich_help_panel="What stays",
        ),
    ] = None,
    max_leaves: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="LEAVES",
            help="A budget: beyond so many leaves, the two closest that are siblings become one.",
            rich_help_panel="What stays",
        ),
    ] = None,
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
    dtype: Annotated[
        Real | None,
        typer.Option(
            metavar=one_of(Real),
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
    seed: Annotated[
        int,
        typer.Option(min=0, metavar="NUMBER", help="Of --shuffle.", rich_help_panel=_ALGORITHM),
    ] = 0,
    bad_rows: options.BadRows = "stop",
    from_line: options.FromLine = None,
    save_every: options.SaveEvery = None,
    save_on_interrupt: options.SaveOnInterrupt = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Grow a tree over the rows of a file, or of a stream on standard input.

    Rows are inserted in order, batch by batch: files may be larger than memory, but the
    tree keeps every point, unless --window or --max-age lets the oldest leave. If the
    command ends early, by a bad row, a signal or a full disk, what was read is saved, and
    the last words say where and which line to go on from.
    """
    from ramify import Budget
    from ramify.cli import _along, _bad_rows, _every, _labels, _models
    from ramify.cli._growing import Growth
    from ramify.cli._keeping import Keeper
    from ramify.cli._outputs import keep_rows
    from ramify.cli._target import only_writer

    if edges:
        _fit_edges(data, out, algorithm, settings, columns, quiet=quiet, json=json)
        return
    every = _every.parse(save_every)
    if shuffle and from_line is not None:
        raise WrongCallError("give --shuffle or --from-line, one of the two")
    model = _models.new_model(
        algorithm,
        settings,
        metric=metric,
        linkage=linkage,
        zero_rows=zero_rows,
        n_neighbors=n_neighbors,
        window=window,
        max_age=_along.read_age(max_age),
        duplicates=duplicates,
        max_leaves=max_leaves,
    )
    if polish and not hasattr(model, "polish"):
        raise WrongCallError(f"--polish: trees of {algorithm} take no other shape")
    _along.check_columns(model, weights, time_column, at_fit=True)
    draws_together = "duplicates" if getattr(model, "duplicates", "keep") == "count" else None
    if isinstance(getattr(model, "keep", None), Budget):
        draws_together = "max-leaves"
    if label_column is not None and draws_together is not None:
        raise WrongCallError(
            f"give --label-column or --{draws_together}, one of the two: a leaf that stands for "
            f"several rows may have several labels"
        )
    _models.check_tree_path(out)
    keep_rows(out, data)
    _labels.check_place(out, labelled=label_column is not None)
    with _bad_rows.BadRows(bad_rows, (data, "DATA itself"), (out, "the tree itself")) as bad:
        reading = options.read_options(
            columns,
            id_column,
            label_column,
            field,
            member,
            header,
            batch_size,
            dtype,
            bad_rows=bad.handler,
            from_line=from_line,
            weights=weights,
            time_column=time_column,
        )
        with (
            only_writer(out, wait=False, quiet=quiet) as target,
            options.open_data(data, reading, format) as source,
        ):
            rows = source.shuffled(seed) if shuffle else source
            keeper = Keeper(model, target, names=source.feature_names, label_column=label_column)
            Growth(
                NAME,
                rows,
                keeper,
                bad,
                every,
                polish=polish,
                save_on_interrupt=save_on_interrupt,
                quiet=quiet,
            ).run(json=json)


def _fit_edges(
    data: str,
    out: Path,
    algorithm: Algorithm,
    settings: list[str] | None,
    columns: list[str] | None,
    *,
    quiet: bool,
    json: bool,
) -> None:
    """A tree of the edges of a table."""
    from ramify.cli import _edges, _models
    from ramify.cli._keeping import Keeper
    from ramify.cli._outputs import keep_rows
    from ramify.cli._target import only_writer

    if algorithm not in (Algorithm.ohac, Algorithm.live_graph_hac):  # ohac: none was asked for
        raise WrongCallError(f"--edges: trees of {algorithm} take rows; live-graph-hac takes edges")
    names = _edges.wanted(columns)
    model = _models.new_model(Algorithm.live_graph_hac, settings)
    _models.check_tree_path(out)
    keep_rows(out, data)
    with only_writer(out, wait=False, quiet=quiet) as target:
        pairs = _edges.read_pairs(data, names, model)
        model.partial_fit(edges=pairs)
        kept = Keeper(model, target).save()
    _edges.report(kept.place, model, pairs, quiet=quiet, json=json)
