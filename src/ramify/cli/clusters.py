# SPDX-License-Identifier: BSD-3-Clause
"""clusters.py: `ramify clusters`: what the clusters of a cut are."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._choices import By
from ramify.cli._console import WrongCallError, note, print_json, verb

NAME = "clusters"
EXAMPLES = (
    "ramify clusters tree.ramify -k 20",
    "ramify clusters tree.ramify -k 20 --min-size 50 --texts tickets.csv --column subject",
)
_TEXTS = "Texts"


@verb(NAME)
def run(
    tree: options.TreeFile,
    clusters: options.Clusters = None,
    height: options.Height = None,
    min_size: options.MinSize = None,
    by: options.By = By.height,
    resolution: options.Resolution = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a text for each point: a column of a table, or an .npy. Then there is "
            "a column of words that tell the clusters apart.",
            rich_help_panel=_TEXTS,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of --texts; by default the one named text, or the only one.",
            rich_help_panel=_TEXTS,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of --texts with the points' ids. Without, texts come in the order of the "
            "rows.",
            rich_help_panel=_TEXTS,
        ),
    ] = None,
    words: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="So many for each.", rich_help_panel=_TEXTS)
    ] = 5,
    bigrams: Annotated[
        bool, typer.Option("--bigrams", help="Pairs of words, too.", rich_help_panel=_TEXTS)
    ] = False,
    english: Annotated[
        bool,
        typer.Option("--english", help="Without its stop words.", rich_help_panel=_TEXTS),
    ] = False,
    header: options.Header = None,
    out: options.Out = None,
    to: options.OutFormat = None,
    quote_formulas: options.QuoteFormulas = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write a line for each cluster of a cut: label, ids, name, size, height, and words.

    Ids: node_id is the cluster's node, as `ramify edit` and `ramify changes` call it; stable_id
    what `stable_labels` last called it, if that was ever asked of the tree.
    """
    from ramify.cli import _models
    from ramify.cli._outputs import keep_apart, keep_tree
    from ramify.cli._per_point import per_point
    from ramify.files import open_table

    cut = options.cut_of(clusters, height, min_size, by, resolution)
    if not cut:
        raise WrongCallError("give -k, --height, --min-size or --by modularity")
    if texts is None and (column is not None or id_column is not None or bigrams or english):
        raise WrongCallError("--column, --id-column, --bigrams and --english go with --texts")
    if json and out is None:
        raise WrongCallError("--json needs -o: the table is on standard output")
    kind = options.out_format(out, to, quote_formulas=quote_formulas)
    keep_tree(out, tree)
    if texts is not None:
        keep_apart(out, (str(texts), "the file of --texts"))
    saved = _models.load(tree)
    model: Any = saved.tree if saved.model is None else saved.model
    along = {}
    if texts is not None:
        along["texts"] = per_point(saved.tree, texts, column, id_column, header, what="text")
    found = model.clusters(**cut, **along)
    columns: dict[str, Any] = {
        "label": range(len(found)),
        "node_id": found.node_ids.tolist(),
        "stable_id": [one.stable_id for one in found],
        "name": [one.name for one in found],
        "size": found.sizes.tolist(),
        "height": found.heights.tolist(),
    }
    if texts is not None:
        more: Any = {"bigrams": bigrams, "stop_words": "english" if english else ()}
        columns["keywords"] = [" ".join(some) for some in found.keywords(words, **more)]
    with open_table(out, list(columns), format=kind, quote_formulas=quote_formulas) as table:
        table.write(*columns.values())
    if json:
        print_json({"table": str(out), "clusters": len(found)})
    elif out is not None:
        note(f"{out}: {len(found):,} clusters", quiet=quiet)
