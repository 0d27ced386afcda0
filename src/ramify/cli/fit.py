# SPDX-License-Identifier: BSD-3-Clause
"""fit.py: `ramify fit`: a tree of the rows of a file."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _labels, _models
from ramify.cli import _options as options
from ramify.cli._choices import OHAC, Algorithm, Linkage, Metric, Real
from ramify.cli._console import verb
from ramify.cli._growing import finish, grow, leave, report
from ramify.cli._outputs import keep_rows
from ramify.cli._target import only_writer

NAME = "fit"
EXAMPLES = (
    "ramify fit flowers.csv -o flowers.ramify --id-column name --label-column species",
    "ramify fit vectors.npy -o tree.ramify --metric cosine --shuffle",
    "tail -f events.jsonl | ramify fit - -o live.ramify --field vector --save-on-interrupt",
)


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
    ] = OHAC,
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
        Real | None,
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
    _check_places(out, data, labelled=label_column is not None)
    reading = options.read_options(
        columns, id_column, label_column, field, member, header, batch_size, dtype
    )
    with (
        only_writer(out, wait=False, quiet=quiet) as target,
        options.open_data(data, reading, format) as source,
    ):
        rows = source.shuffled(seed) if shuffle else source
        grown = grow(NAME, model, rows, save=save_on_interrupt, where=out, quiet=quiet)
        place = finish(model, target, source.feature_names, grown.labels, label_column)
    report(model, place, grown, quiet=quiet, json=json)
    leave(NAME, out, place, grown)


def _check_places(out: Path, data: str, *, labelled: bool) -> None:
    """Refuse to write where no tree can be, or over what is somebody's."""
    _models.check_tree_path(out)
    keep_rows(out, data)
    _labels.check_place(out, labelled=labelled)
