# SPDX-License-Identifier: BSD-3-Clause
"""_options.py: options that several verbs share, and what becomes of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.cli import _choices
from ramify.cli._choices import Format, Real, TableFormat, one_of
from ramify.cli._console import WrongCallError

if TYPE_CHECKING:  # slow to load, and help does not need it
    from ramify.files import BadRow, ReadOptions, Source

_COLUMNS = "What to read"
_STAYING = "What stays"

TreeFile = Annotated[Path, typer.Argument(metavar="TREE", help="A tree that ramify fit saved.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Rows: .npy, .npz, .csv, .tsv, .jsonl (text may be packed by gzip or zstd), .parquet, "
        ".feather, .arrow; or - for standard input, any of these, text read as it comes.",
    ),
]
InputFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar=one_of(Format),
        help="Of DATA; by default told from its name or first bytes.",
        rich_help_panel=_COLUMNS,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Features: names or positions from 0 such as a,b or 0:3; repeat it, or use commas. "
        "By default all columns of numbers but ids, labels, weights and times.",
        rich_help_panel=_COLUMNS,
    ),
]
Edges = Annotated[
    bool,
    typer.Option(
        "--edges",
        help="DATA has no rows but edges: an id, another id, and a weight from 0 to the option "
        "max_weight, 0 for none; a tree of live-graph-hac. With --columns ID,ID,WEIGHT if there "
        "are more columns.",
        rich_help_panel=_COLUMNS,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column that names the points, no two alike.",
        rich_help_panel=_COLUMNS,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of true classes: never seen by the tree, kept beside it for ramify evaluate.",
        rich_help_panel=_COLUMNS,
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column (of jsonl, parquet, arrow) whose cells are arrays: the rows themselves.",
        rich_help_panel=_COLUMNS,
    ),
]
Member = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Array of an .npz that holds the rows.", rich_help_panel=_COLUMNS
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file names the columns; by default it does if it "
        "holds anything but numbers.",
        rich_help_panel=_COLUMNS,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="ROWS",
        help="Rows read at a time; by default some 8 MB of them. The tree does not depend on it.",
        rich_help_panel=_COLUMNS,
    ),
]
BadRows = Annotated[
    str,
    typer.Option(
        metavar="stop|skip|FILE",
        help="What becomes of rows that cannot be used, such as broken lines, gaps and ids that "
        "are known: stop there; leave them out and count them; or write them to a csv FILE "
        "as well, with line and reason. Unless they stop it, each line is a row of its own.",
        rich_help_panel=_COLUMNS,
    ),
]
FromLine = Annotated[
    int | None,
    typer.Option(
        "--from-line",
        min=0,
        metavar="NUMBER",
        help="Leave out the rows before this line, counted from 1 (before this row, from 0, of "
        "files without lines); a first line with names is read. A command that was cut short "
        "says the line to go on from.",
        rich_help_panel=_COLUMNS,
    ),
]
SaveEvery = Annotated[
    str | None,
    typer.Option(
        "--save-every",
        metavar="ROWS|TIME",
        help="Save the tree while it grows, each time so many rows have come, such as 10000, or so "
        "much time has passed, such as 30s, 5m or 1h. The file is written anew each time.",
    ),
]
SaveOnInterrupt = Annotated[
    bool,
    typer.Option(
        "--save-on-interrupt",
        help="On Ctrl-C save the tree so far, also if DATA is a file that can be read again. "
        "Rows from a pipe are always saved.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column that says how many points each row stands for: numbers above 0.",
        rich_help_panel=_COLUMNS,
    ),
]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column that says when each row happened, for --max-age: numbers, or dates such as "
        "2026-01-31T12:00:00 (UTC unless they say otherwise).",
        rich_help_panel=_COLUMNS,
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="POINTS",
        help="Keep the last so many points: the oldest leaves just before a new one comes. Kept "
        "with the tree.",
        rich_help_panel=_STAYING,
    ),
]
MaxAge = Annotated[
    str | None,
    typer.Option(
        metavar="AGE",
        help="Keep points at most so much older than the latest, by --time-column: a number, or a "
        "span such as 90d, 12h or 30m where the column has dates. Rows that are too old when they "
        "come are left out and counted. Kept with the tree.",
        rich_help_panel=_STAYING,
    ),
]
Clusters = Annotated[
    int | None,
    typer.Option("--clusters", "-k", min=1, metavar="NUMBER", help="This many clusters."),
]
Height = Annotated[
    float | None,
    typer.Option(metavar="HEIGHT", help="Clusters that merge strictly below this height."),
]
MinSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="POINTS",
        help="The smallest clusters of at least this many points; with -k, exactly so many, "
        "with --height, split no lower. What is left joins them.",
    ),
]
By = Annotated[
    _choices.By,
    typer.Option(
        metavar="height|variance|modularity",
        help="What decides: the heights of merges; with -k, how tight clusters become; or, with "
        "nothing else, that near neighbours stay together. By default height.",
        show_default=False,
    ),
]
Resolution = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="With --by modularity: the larger, the more clusters; the steadiest unless told.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="File to write, whole or not at all; else standard output.",
    ),
]
OutFormat = Annotated[
    TableFormat | None,
    typer.Option(
        "--to",
        metavar=one_of(TableFormat),
        help="Format of the table; by default told from the file's name, or csv.",
    ),
]
QuoteFormulas = Annotated[
    bool,
    typer.Option(
        "--quote-formulas",
        help="In csv and tsv, write ' before text that a spreadsheet would run: what begins with "
        "= + - @, or with a tab or line end. Numbers stay.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing that is not a mistake.")]
Json = Annotated[bool, typer.Option("--json", help="Print a summary for machines.")]


def split(names: Sequence[str] | None) -> list[str]:
    """Names given one by one, or several with commas between them.

    Examples
    --------
    >>> split(["a, b", "c"])
    ['a', 'b', 'c']
    """
    return [part.strip() for name in names or () for part in name.split(",") if part.strip()]


def read_options(
    columns: Sequence[str] | None,
    id_column: str | None,
    label_column: str | None,
    field: str | None,
    member: str | None,
    header: bool | None,
    batch_size: int | None,
    dtype: Real | None = None,
    *,
    bad_rows: "Callable[[BadRow], None] | None" = None,
    from_line: int | None = None,
    weights: str | None = None,
    time_column: str | None = None,
) -> "ReadOptions":
    """The options of reading, put together."""
    import numpy as np

    from ramify.files import ReadOptions

    real: np.dtype[Any] | None = None if dtype is None else np.dtype(dtype.value)
    return ReadOptions(
        split(columns),
        id_column,
        label_column,
        field,
        member,
        header,
        real,
        batch_size,
        bad_rows=bad_rows,
        start=from_line or 0,
        weight_column=weights,
        time_column=time_column,
    )


def check_file(path: Path) -> None:
    """Refuse what is no file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file that ramify fit saved")
    if not path.exists():
        raise FileNotFoundError(f"no file {path}; expected a tree that ramify fit saved")


def out_format(out: Path | None, to: TableFormat | None, *, quote_formulas: bool) -> str:
    """The format of a table to be written."""
    from ramify.files import table_format

    kind = table_format(out, to)
    if quote_formulas and kind not in ("csv", "tsv"):
        raise WrongCallError(f"--quote-formulas goes with csv and tsv; {kind} runs nothing")
    return kind


def open_data(data: str, reading: "ReadOptions", format: Format | None) -> "Source":
    """The rows of DATA."""
    from ramify.files import open_rows

    return open_rows(data, reading, format=None if format is None else format.value)


def cut_of(
    clusters: int | None,
    height: float | None,
    min_size: int | None,
    by: _choices.By,
    resolution: float | None,
) -> dict[str, Any]:
    """The options of a cut that were given; none for no cut.

    Examples
    --------
    >>> cut_of(3, None, None, _choices.By.height, None)
    {'n_clusters': 3}
    """
    asked: dict[str, Any] = {"n_clusters": clusters, "height": height, "min_size": min_size}
    asked |= {"by": None if by is _choices.By.height else by.value, "resolution": resolution}
    return {name: value for name, value in asked.items() if value is not None}
