# SPDX-License-Identifier: BSD-3-Clause
"""plot.py: `ramify plot`: pictures of a tree."""

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._choices import one_of
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb

if TYPE_CHECKING:  # slow to load, and help does not need it
    from ramify.cli._models import Saved

NAME = "plot"
EXAMPLES = (
    "ramify plot tree.ramify -o tree.png",
    "ramify plot tree.ramify -o clusters.svg --kind scatter -k 12",
    "ramify plot tree.ramify -o tree.html --names flowers.csv --column name --color-by species",
)

_PICTURES = (".png", ".svg", ".pdf", ".jpg")
_NAMES = "Names"


class Kind(StrEnum):
    """Of pictures."""

    dendrogram = "dendrogram"
    icicle = "icicle"
    scatter = "scatter"
    explore = "explore"


@verb(NAME)
def run(
    tree: options.TreeFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Picture: .png, .svg, .pdf or .jpg; .html to explore.",
        ),
    ],
    kind: Annotated[
        Kind | None,
        typer.Option(metavar=one_of(Kind), help="By default a dendrogram, or explore for .html."),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", min=1, metavar="NUMBER", help="Clusters to colour."),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a name for each point, to be shown instead of its id or number: a "
            "column of a table, or an .npy.",
            rich_help_panel=_NAMES,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of --names; by default the one named name, or the only one.",
            rich_help_panel=_NAMES,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of --names with the points' ids. Without, names come in the order of the "
            "rows.",
            rich_help_panel=_NAMES,
        ),
    ] = None,
    color_by: Annotated[
        list[str] | None,
        typer.Option(
            "--color-by",
            metavar="NAMES",
            help="Columns of --names that the page can colour the tree by; repeat it, or use "
            "commas.",
            rich_help_panel=_NAMES,
        ),
    ] = None,
    header: options.Header = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Above the picture.")] = None,
    dpi: Annotated[
        int, typer.Option(min=10, metavar="NUMBER", help="Dots an inch of .png and .jpg.")
    ] = 150,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Draw a tree: its top as a dendrogram or an icicle, its points, or a page to explore.

    The page is one file that needs no network: walk into the tree, choose the number of
    clusters, search for a point.
    """
    from ramify.cli import _models
    from ramify.cli._outputs import keep_tree
    from ramify.cli._per_point import per_point
    from ramify.files import check_writable, whole_file

    if names is None and (column is not None or id_column is not None or color_by):
        raise WrongCallError("--column, --id-column and --color-by go with --names")
    page = out.suffix.lower() in (".html", ".htm")
    chosen = kind or (Kind.explore if page else Kind.dendrogram)
    if page != (chosen is Kind.explore):
        raise WrongCallError(
            f"{chosen} is not drawn to {out.name}; explore is .html, the others pictures"
        )
    if not page and out.suffix.lower() not in _PICTURES:
        raise WrongCallError(f"{out.name}: expected one of {', '.join(_PICTURES)} or .html")
    if not page and find_spec("matplotlib") is None:
        raise ImportError(
            'drawing needs matplotlib, which is not installed: pip install "ramify[plot]"'
        )
    if color_by and not page:
        raise WrongCallError("--color-by goes with the page, .html")
    check_writable(out)
    keep_tree(out, tree)
    saved = _models.load(tree)
    if chosen is Kind.scatter and saved.model is None:
        raise ValueError(
            f"{tree} holds a hierarchy without its points: there is nothing to scatter"
        )
    shown = _names(saved.named().names)
    if names is not None:
        shown = per_point(saved.tree, names, column, id_column, header, what="name")
    columns = {
        name: _values(per_point(saved.tree, names, name, id_column, header, what="value"))
        for name in options.split(color_by)
        if names is not None
    }
    with whole_file(out) as lent:
        if page:
            _explore(saved, lent, clusters, shown, columns, title or tree.name)
        else:
            _draw(saved, lent, chosen, clusters, shown, title, dpi)
    size = out.stat().st_size
    if json:
        print_json({"picture": str(out), "kind": chosen.value, "bytes": size})
    else:
        note(f"{out}: {some_bytes(size)}", quiet=quiet)


def _values(texts: list[str]) -> list[Any]:
    """Numbers if all of them are, else the texts; a gap is no number."""
    try:
        return [float(text) if text else float("nan") for text in texts]
    except ValueError:
        return list(texts)


def _explore(
    saved: "Saved",
    path: Path,
    clusters: int | None,
    names: list[str] | None,
    columns: dict[str, list[Any]],
    title: str,
) -> None:
    from ramify.plot import explore

    page = explore(
        saved.tree, saved.points(), names, k=clusters, columns=columns or None, title=title
    )
    path.write_text(page.html, encoding="utf-8")


def _draw(
    saved: "Saved",
    path: Path,
    kind: Kind,
    clusters: int | None,
    names: list[str] | None,
    title: str | None,
    dpi: int,
) -> None:
    import matplotlib as mpl

    mpl.use("Agg")  # a file, never a window
    from matplotlib import pyplot as plt

    from ramify.plot import dendrogram, icicle, scatter

    if kind is Kind.scatter:
        ax = scatter(saved.tree, saved.points(), clusters)
    else:
        draw = dendrogram if kind is Kind.dendrogram else icicle
        ax = draw(saved.tree, k=clusters, names=names)
    if title is not None:
        ax.set_title(title)
    figure: Any = ax.figure
    try:
        figure.savefig(path, dpi=dpi, bbox_inches="tight")
    finally:
        plt.close(figure)


def _names(names: Any) -> list[str] | None:
    """Names that nobody takes for counts: those of rows are numbers."""
    from ramify.cli import _models

    if names is None or not _models.goes_by_number(names):
        return None  # the tree's own
    return [f"row {number}" for number in names.tolist()]
