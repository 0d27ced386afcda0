# SPDX-License-Identifier: BSD-3-Clause
"""evaluate.py: `ramify evaluate`: how good a tree is."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli import _options as options
from ramify.cli._choices import Similarity, one_of
from ramify.cli._console import WrongCallError, note, verb

NAME = "evaluate"
EXAMPLES = (
    "ramify evaluate tree.ramify",
    "ramify evaluate tree.ramify --labels flowers.csv --column species --json",
    "ramify evaluate tree.ramify --orders 10",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the true class of each point: a column of a table, or an .npy. "
            "By default what ramify fit --label-column kept.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of --labels; by default the one named label, or the only one."
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of --labels with the points' ids. Without, labels come in the order of "
            "the rows.",
        ),
    ] = None,
    header: options.Header = None,
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "-k",
            min=1,
            metavar="NUMBER",
            help="Of the cut; by default one a class.",
        ),
    ] = None,
    similarity: Annotated[
        Similarity, typer.Option(metavar=one_of(Similarity), help="Of revenue and cost.")
    ] = Similarity.rbf,
    gamma: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Of rbf, exp(-gamma |x - y|²); by default one over the mean squared distance of "
            "two points.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="PAIRS",
            help="Pairs to estimate revenue and cost from; by default exact up to 20,000 points, "
            "then 1,000,000 pairs.",
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Look at all pairs, however many.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Of the sample.")] = 0,
    orders: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Also grow so many trees of the same points in random orders, with the options "
            "of this one, and say how much their revenue differs.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Measure a tree: revenue and cost, and with labels purity and the agreement of a cut.

    Revenue is Moseley and Wang's, as a fraction of its maximum: a random tree earns 1/3.
    Cost is Dasgupta's. Numbers after ± are standard errors of estimates.
    """
    from ramify.cli import _models
    from ramify.cli._measures import (
        across_orders,
        agreement,
        check_known,
        classes_of,
        default_sample,
        revenue,
        show,
    )

    if exact and sample is not None:
        raise WrongCallError("give --exact or --sample, one of the two")
    if labels is None and (column is not None or id_column is not None):
        raise WrongCallError("--column and --id-column go with --labels")
    saved = _models.load(tree)
    classes = classes_of(tree, saved.tree, labels, column, id_column, header, quiet=quiet)
    check_known(tree, saved, classes, clusters)
    facts: dict[str, object] = {"tree": str(tree), "points": saved.tree.n_leaves}
    if saved.model is not None:
        pairs = None if exact else sample or default_sample(saved.tree)
        facts |= revenue(saved, similarity.value, gamma, pairs, seed)
        if orders is not None:
            facts |= across_orders(saved, orders, similarity.value, gamma, pairs, seed)
    elif orders is not None:
        raise WrongCallError(f"--orders: {tree} holds a hierarchy without its points")
    if classes is None:
        note("no labels: only revenue and cost", quiet=quiet)
    else:
        facts |= agreement(saved.tree, classes, clusters)
    show(facts, json=json)
