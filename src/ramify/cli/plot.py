# SPDX-License-Identifier: BSD-3-Clause
"""plot.py: `ramify plot`: pictures of a tree."""

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _models
from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb
from ramify.cli._outputs import keep_tree
from ramify.files import check_writable, whole_file

NAME = "plot"
EXAMPLES = (
    "ramify plot tree.ramify -o tree.png",
    "ramify plot tree.ramify -o clusters.svg --kind scatter -k 12",
    "ramify plot tree.ramify -o tree.html",
)

_PICTURES = (".png", ".svg", ".pdf", ".jpg")


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
        typer.Option("--out", "-o", help="Picture: .png, .svg, .pdf or .jpg; .html to explore."),
    ],
    kind: Annotated[
        Kind | None,
        typer.Option(help="By default a dendrogram, or explore for .html."),
    ] = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", "-k", min=1, help="Clusters to colour.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Above the picture.")] = None,
    dpi: Annotated[int, typer.Option(min=10, help="Dots an inch of .png and .jpg.")] = 150,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Draw a tree: its top as a dendrogram or an icicle, its points, or a page to explore.

    The page is one file that needs no network: walk into the tree, choose the number of
    clusters, search for a point.
    """
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
    check_writable(out)
    keep_tree(out, tree)
    saved = _models.load(tree)
    if chosen is Kind.scatter and saved.model is None:
        raise ValueError(
            f"{tree} holds a hierarchy without its points: there is nothing to scatter"
        )
    with whole_file(out) as lent:
        if page:
            _explore(saved, lent, clusters, title or tree.name)
        else:
            _draw(saved, lent, chosen, clusters, title, dpi)
    size = out.stat().st_size
    if json:
        print_json({"picture": str(out), "kind": chosen.value, "bytes": size})
    else:
        note(f"{out}: {some_bytes(size)}", quiet=quiet)


def _explore(saved: _models.Saved, path: Path, clusters: int | None, title: str) -> None:
    from ramify.plot import explore

    page = explore(saved.tree, saved.points(), k=clusters, title=title)
    path.write_text(page.html, encoding="utf-8")


def _draw(
    saved: _models.Saved,
    path: Path,
    kind: Kind,
    clusters: int | None,
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
        ax = draw(saved.tree, k=clusters, names=_names(saved.tree.names))
    if title is not None:
        ax.set_title(title)
    figure: Any = ax.figure
    try:
        figure.savefig(path, dpi=dpi, bbox_inches="tight")
    finally:
        plt.close(figure)


def _names(names: Any) -> list[str] | None:
    """Names that nobody takes for counts: those of rows are numbers."""
    if names is None or not _models.goes_by_number(names):
        return None  # the tree's own
    return [f"row {number}" for number in names.tolist()]
