# SPDX-License-Identifier: BSD-3-Clause
"""_options.py: options that several verbs share, and what becomes of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ramify.cli._choices import Format, Real, TableFormat
from ramify.cli._console import WrongCallError
from ramify.files import ReadOptions, Source, open_rows, table_format

_COLUMNS = "What to read"

TreeFile = Annotated[Path, typer.Argument(metavar="TREE", help="A tree that ramify fit saved.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Rows: .npy, .npz, .csv, .tsv, .jsonl (text may be gzipped), .parquet, .feather, "
        ".arrow; or - for standard input, csv or jsonl, read as it comes.",
    ),
]
InputFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="Of DATA; by default told from its name or first bytes.",
        rich_help_panel=_COLUMNS,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Features: names or positions from 0 such as a,b or 0:3; repeat it, or use commas. "
        "By default all columns of numbers but ids and labels.",
        rich_help_panel=_COLUMNS,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(help="Column that names the points, no two alike.", rich_help_panel=_COLUMNS),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of true classes: never seen by the tree, kept beside it for ramify evaluate.",
        rich_help_panel=_COLUMNS,
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        help="Column (of jsonl, parquet, arrow) whose cells are arrays: the rows themselves.",
        rich_help_panel=_COLUMNS,
    ),
]
Member = Annotated[
    str | None,
    typer.Option(help="Array of an .npz that holds the rows.", rich_help_panel=_COLUMNS),
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
        help="Rows read at a time; by default some 8 MB of them. The tree does not depend on it.",
        rich_help_panel=_COLUMNS,
    ),
]
Clusters = Annotated[
    int | None, typer.Option("--clusters", "-k", min=1, help="This many clusters.")
]
Height = Annotated[
    float | None, typer.Option(help="Clusters that merge strictly below this height.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="File to write, whole or not at all; else standard output."),
]
OutFormat = Annotated[
    TableFormat | None,
    typer.Option("--to", help="Format of the table; by default told from the file's name, or csv."),
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
) -> ReadOptions:
    """The options of reading, put together."""
    real: np.dtype[Any] | None = None if dtype is None else np.dtype(dtype.value)
    names = split(columns)
    return ReadOptions(names, id_column, label_column, field, member, header, real, batch_size)


def out_format(out: Path | None, to: TableFormat | None, *, quote_formulas: bool) -> str:
    """The format of a table to be written."""
    kind = table_format(out, to)
    if quote_formulas and kind not in ("csv", "tsv"):
        raise WrongCallError(f"--quote-formulas goes with csv and tsv; {kind} runs nothing")
    return kind


def open_data(data: str, reading: ReadOptions, format: Format | None) -> Source:
    """The rows of DATA."""
    return open_rows(data, reading, format=None if format is None else format.value)
