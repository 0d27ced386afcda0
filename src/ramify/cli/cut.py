# SPDX-License-Identifier: BSD-3-Clause
"""cut.py: `ramify cut`: flat clusters of a tree."""

from typing import Annotated, Any

import numpy as np
import typer

from ramify.cli import _models
from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_json, verb
from ramify.cli._outputs import keep_tree
from ramify.files import open_table

NAME = "cut"
EXAMPLES = (
    "ramify cut tree.ramify -k 20 -o labels.csv",
    "ramify cut tree.ramify -k 20 --min-size 50 -o labels.csv",
    "ramify cut tree.ramify --min-size 50 --noise | sort -t, -k2n | head",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    clusters: options.Clusters = None,
    height: options.Height = None,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="The largest clusters of at most this many points.")
    ] = None,
    min_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The smallest clusters of at least this many points; with -k, exactly so many, "
            "with --height, split no lower. What is left joins them.",
        ),
    ] = None,
    noise: Annotated[
        bool,
        typer.Option("--noise", help="With --min-size: what is left gets the label -1 instead."),
    ] = False,
    out: options.Out = None,
    to: options.OutFormat = None,
    quote_formulas: options.QuoteFormulas = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Cut a tree into clusters and write a label for each point: its id or number, a label.

    Choose one of -k, --height, --max-size and --min-size, or --min-size with -k or --height.
    Labels count from 0 in the order of the clusters' first points.
    """
    chosen = {
        "n_clusters": clusters,
        "height": height,
        "max_size": max_size,
        "min_size": min_size,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    if len(given) - ("min_size" in given) > 1 or given.keys() in ({"max_size", "min_size"}, set()):
        raise WrongCallError(
            "give one of -k, --height, --max-size and --min-size, or --min-size with -k or --height"
        )
    if noise and min_size is None:
        raise WrongCallError("--noise goes with --min-size")
    if json and out is None:
        raise WrongCallError("--json needs -o: the labels are on standard output")
    kind = options.out_format(out, to, quote_formulas=quote_formulas)
    keep_tree(out, tree)
    hierarchy: Any = _models.load(tree).tree
    more = {"small": "noise"} if noise else {}
    labels = hierarchy.cut(**given, **more)
    ids = hierarchy.names
    head = ["row" if ids is None else "id", "label"]
    with open_table(out, head, format=kind, quote_formulas=quote_formulas) as table:
        table.write(np.arange(len(labels)) if ids is None else ids, labels)
    sizes = np.bincount(labels[labels >= 0])
    if json:
        facts = {"table": str(out), "points": len(labels), "clusters": len(sizes)}
        print_json(facts | {"noise": int((labels < 0).sum()), "sizes": sizes.tolist()})
    elif out is not None:
        note(f"{out}: {len(labels):,} points in {len(sizes):,} clusters", quiet=quiet)
