# SPDX-License-Identifier: BSD-3-Clause
"""topics.py: `ramify topics`: from texts and their vectors to a page of topics."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._choices import Linkage, Metric, one_of
from ramify.cli._console import WrongCallError, note, print_json, some_bytes, verb

NAME = "topics"
EXAMPLES = (
    "ramify topics texts.ndjson --vectors embeddings.npy -o topics.html",
    "ramify topics texts.ndjson --embed models/all-MiniLM-L6-v2 -o topics.html",
    "ramify topics tickets.parquet --column title --vectors e.npy -o t.html --tree t.ramify",
)

#: Cuts whose clusters get names, as far as there are so many points.
_LEVELS = (8, 40, 200)
_WORDS = 3


@verb(NAME)
def run(
    texts: Annotated[
        Path, typer.Argument(metavar="TEXTS", help="File with a text for each row: a table.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The page: .html, to explore.")
    ],
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Their embeddings, in the same order: as DATA of fit."),
    ] = None,
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Instead of vectors: a model of sentence-transformers or fastembed that is on "
            "this machine, by its folder or name; or module:function.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of TEXTS; by default the one named text, or the only one."
        ),
    ] = None,
    tree: Annotated[
        Path | None, typer.Option(metavar="TREE", help="Save the tree, too, to go on from.")
    ] = None,
    metric: Annotated[
        Metric, typer.Option(metavar=one_of(Metric), help="How rows are compared.")
    ] = Metric.cosine,
    linkage: Annotated[
        Linkage, typer.Option(metavar=one_of(Linkage), help="How clusters are compared.")
    ] = Linkage.ward,
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", min=1, metavar="NUMBER", help="Clusters to begin with."),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Make a page of topics from texts and their embeddings: one file that needs no network.

    Topics are the clusters of a tree, named by the words that tell their texts from the others.
    Walk into them, choose how many, search for a word.
    """
    from ramify.cli._outputs import keep_apart
    from ramify.files import check_writable, read_names, whole_file
    from ramify.plot import explore

    if out.suffix.lower() not in (".html", ".htm"):
        raise WrongCallError(f"{out.name}: the page is .html")
    if (vectors is None) == (embed is None):
        raise WrongCallError("give --vectors, or --embed and a model: one of the two")
    keep_apart(out, (texts, "TEXTS itself"))
    if vectors is not None:
        keep_apart(out, (vectors, "the file of vectors itself"))
    check_writable(out)
    told = [str(one) for one in read_names(texts, column, usual="text").names]
    rows = _embedded(told, str(embed), quiet or json) if vectors is None else _rows(vectors)
    if len(rows) != len(told):
        raise ValueError(
            f"{texts} has {len(told):,} texts, and {vectors} {len(rows):,} vectors; expected one "
            f"for each"
        )
    model = _grown(rows, metric, linkage)
    if tree is not None:
        model.save(tree)
    named = _named(model.hierarchy(), told)
    with whole_file(out) as lent:
        page = explore(named, rows, told, k=clusters, title=texts.stem)
        lent.write_text(page.html, encoding="utf-8")
    size = out.stat().st_size
    if json:
        print_json({"page": str(out), "texts": len(told), "bytes": size})
    else:
        note(f"{out}: {len(told):,} texts, {some_bytes(size)}", quiet=quiet)


def _rows(path: Path) -> Any:
    import numpy as np

    from ramify.files import open_rows

    with open_rows(path) as source:
        return np.concatenate([batch.rows for batch in source])


def _embedded(texts: list[str], model: str, quiet: bool) -> Any:
    import sys

    from ramify.embedding import embedder

    return embedder(model)(texts, progress=not quiet and sys.stderr.isatty())


def _grown(rows: Any, metric: Metric, linkage: Linkage) -> Any:
    from ramify.estimators import OHAC

    return OHAC(metric=metric.value, linkage=linkage.value).fit(rows)


def _named(tree: Any, texts: list[str]) -> Any:
    """The tree with names for the clusters of some cuts; the coarser names come first."""
    names: dict[int, str] = {}
    for k in _LEVELS:
        found = tree.clusters(n_clusters=min(k, tree.n_leaves), texts=texts)
        words = found.keywords(_WORDS, stop_words="english")
        for node, said in zip(found.node_ids.tolist(), words, strict=True):
            if said and node >= 0:
                names.setdefault(node, " ".join(said))
    return tree.with_node_names(names)
