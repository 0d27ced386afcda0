# SPDX-License-Identifier: BSD-3-Clause
"""cut.py: `ramify cut`: flat clusters of a tree."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._choices import By, one_of
from ramify.cli._console import WrongCallError, note, print_json, verb

NAME = "cut"
EXAMPLES = (
    "ramify cut tree.ramify -k 20 -o labels.csv",
    "ramify cut tree.ramify -k 20 --min-size 50 -o labels.csv",
    "ramify cut tree.ramify -k 20 --by variance -o labels.csv",
    "ramify cut tree.ramify --by modularity -o labels.csv",
    "ramify cut tree.ramify -k 10,50,150 -o levels.csv",
    "ramify cut tree.ramify -k 20 --stable -o topics.csv",
    "ramify cut tree.ramify -k 20 --like yesterday.csv -o today.csv",
    "ramify cut tree.ramify --min-size 50 --noise | sort -t, -k2n | head",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    clusters: Annotated[
        list[str] | None,
        typer.Option(
            "--clusters",
            "-k",
            metavar="NUMBER",
            help="This many clusters. Several at once, as -k 10 -k 50 or -k 10,50, give a column "
            "each, label_10 and label_50.",
        ),
    ] = None,
    height: options.Height = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="POINTS", help="The largest clusters of at most this many points."
        ),
    ] = None,
    min_size: options.MinSize = None,
    noise: Annotated[
        bool,
        typer.Option("--noise", help="With --min-size: what is left gets the label -1 instead."),
    ] = False,
    node_ids: Annotated[
        bool,
        typer.Option(
            "--node-ids",
            help="A further column, node_id: the cluster's node, as `ramify edit` and "
            "`ramify changes` call it. Not with --min-size or several -k.",
        ),
    ] = False,
    stable: Annotated[
        bool,
        typer.Option(
            "--stable",
            help="A further column, stable_id: the cluster's id, which stays while the tree goes "
            "on. Ids that are new are written down in TREE. With one cut, by height.",
        ),
    ] = False,
    by: Annotated[
        By,
        typer.Option(
            metavar=one_of(By),
            help="What decides: the heights of merges; with -k, how tight clusters become "
            "(needs the rows, which a saved model has); with --min-size alone, how long they last; "
            "or, with nothing else, that near neighbours stay together (needs the rows). By the "
            "last two the tree says how many.",
        ),
    ] = By.height,
    resolution: options.Resolution = None,
    layers: Annotated[
        bool,
        typer.Option(
            "--layers",
            help="A column for each of the few levels at which clusters last, with the number of "
            "clusters in its name; nothing else says how many.",
        ),
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With one -k: the labels of an earlier cut, as this command wrote them; hold on "
            "to its clusters.",
        ),
    ] = None,
    stickiness: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="With --like: the price of a point that leaves its cluster, 0.01 unless told. "
            "With --stable and -k: hold on to the cut that was last asked for.",
        ),
    ] = None,
    out: options.Out = None,
    to: options.OutFormat = None,
    quote_formulas: options.QuoteFormulas = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Cut a tree into clusters and write a label for each point: its id or number, a label.

    Choose one of -k, --height, --max-size and --min-size, or --min-size with -k or --height; or
    --by modularity, or --layers.
    Labels count from 0 in the order of the clusters' first points. Points that must be apart
    (`ramify edit`) are, unless --min-size is given.
    """
    from ramify.cli import _models
    from ramify.cli._outputs import keep_tree
    from ramify.files import open_table

    numbers = _numbers(clusters)
    chosen = {
        "n_clusters": numbers[0] if numbers else None,
        "height": height,
        "max_size": max_size,
        "min_size": min_size,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    if by is By.variance and given.keys() not in ({"n_clusters"}, {"n_clusters", "min_size"}):
        raise WrongCallError("--by variance goes with -k, and if wanted with --min-size")
    if by is By.stability and (given.keys() != {"min_size"} or noise):
        raise WrongCallError("--by stability goes with --min-size alone; the rest gets -1 anyway")
    if by is By.modularity and (given or like is not None):
        raise WrongCallError("--by modularity says itself how many clusters there are")
    if resolution is not None and by is not By.modularity:
        raise WrongCallError("--resolution goes with --by modularity")
    if layers and (given or by is not By.height or stable or node_ids or like is not None):
        raise WrongCallError("--layers says itself which cuts there are: leave out the rest")
    itself = layers or by is By.modularity
    alone = given.keys() in ({"max_size", "min_size"}, set()) and not itself
    if len(given) - ("min_size" in given) > 1 or alone:
        raise WrongCallError(
            "give one of -k, --height, --max-size and --min-size, or --min-size with -k or --height"
        )
    if noise and min_size is None:
        raise WrongCallError("--noise goes with --min-size")
    if node_ids and (min_size is not None or len(numbers) > 1):
        raise WrongCallError("--node-ids goes with one cut, and not with --min-size")
    if stable and (len(numbers) > 1 or noise or by is not By.height or like is not None):
        raise WrongCallError("--stable goes with one cut, by height, without --noise and --like")
    if like is not None and (given.keys() != {"n_clusters"} or len(numbers) > 1):
        raise WrongCallError("--like goes with one -k, and with no other size or height")
    if stickiness is not None and like is None and not (stable and given.keys() == {"n_clusters"}):
        raise WrongCallError("--stickiness goes with --like, or with --stable and -k")
    if json and out is None:
        raise WrongCallError("--json needs -o: the labels are on standard output")
    kind = options.out_format(out, to, quote_formulas=quote_formulas)
    keep_tree(out, tree)
    saved = _models.load(tree)
    hierarchy: Any = saved.tree
    more: dict[str, Any] = {"by": by.value}
    if by in (By.variance, By.modularity):
        if saved.model is None:
            raise ValueError(
                f"{tree} holds a hierarchy without its points: --by {by.value} needs them"
            )
        more["X"] = saved.points()
        more |= {} if resolution is None else {"resolution": resolution}
    elif min_size is None and like is None:
        more["apart"] = saved.apart()
    if like is not None:
        if len(saved.apart()) > 0:
            raise ValueError("--like: cuts that keep points apart hold on to no other cut")
        more["like"] = _earlier(like, hierarchy)
        more |= {} if stickiness is None else {"stickiness": stickiness}
    small = "noise" if noise else "join"
    if layers:
        cuts = {f"label_{len(one)}": one.labels for one in hierarchy.layers()}
    elif len(numbers) == 1 or "n_clusters" not in given:
        cuts = {"label": hierarchy.cut(**given, **more, small=small)}
    elif min_size is None and by is By.variance:
        labels = hierarchy.cut_many(numbers, **more)
        cuts = {f"label_{k}": column for k, column in zip(numbers, labels.T, strict=True)}
    else:
        cuts = {
            f"label_{k}": hierarchy.cut(n_clusters=k, min_size=min_size, **more, small=small)
            for k in numbers
        }
    points = saved.points_of_leaves()
    cost = None if like is None else cuts["label"]
    columns = {name: points.spread(labels) for name, labels in cuts.items()}
    if node_ids:
        columns["node_id"] = points.spread(_node_ids(hierarchy, cuts["label"]))
    if stable:
        columns = _stable_columns(tree, saved, given, stickiness or 0.0, quiet=quiet)
    head = ["row" if hierarchy.names is None else "id", *columns]
    with open_table(out, head, format=kind, quote_formulas=quote_formulas) as table:
        table.write(points.names, *columns.values())
    about = [labels for name, labels in columns.items() if name.startswith("label")]
    _report(out, about, cost, quiet=quiet, json=json)


def _earlier(file: Path, tree: Any) -> dict[Any, int]:
    """Labels by what the points are called in the table of an earlier cut."""
    from ramify.files import read_names

    names = tree.names
    found = read_names(file, "label", id_column="row" if names is None else "id")
    called: Any = int if names is None or names.dtype != object else str
    ids, labels = found.ids or [], found.names
    return {called(one): int(label) for one, label in zip(ids, labels, strict=True)}


def _node_ids(tree: Any, labels: Any) -> Any:
    """The id of the node of each leaf's cluster."""
    import numpy as np

    leaves, _ = tree._leaf_ordering()
    # Of each cluster, the first and the last of its leaves from left to right.
    _, first = np.unique(labels[leaves], return_index=True)
    _, last = np.unique(labels[leaves][::-1], return_index=True)
    ends = zip(leaves[first].tolist(), leaves[::-1][last].tolist(), strict=True)
    nodes = np.array([tree.lca(one, other) for one, other in ends])
    return tree._public_ids(nodes)[labels]


def _stable_columns(
    tree: Path, saved: Any, cut: dict[str, Any], stickiness: float, *, quiet: bool
) -> dict[str, Any]:
    """Labels of all points, and ids that stay; new ids are written down in the tree's file."""
    import numpy as np

    from ramify.cli._rewriting import rewrite

    if saved.model is None:
        raise ValueError(f"{tree} holds a hierarchy alone, of which no ids are kept")
    if len(saved.apart()) > 0:
        raise ValueError("--stable: clusters of cuts that keep points apart have no ids that stay")
    found: Any = None

    def name(model: Any) -> bool:
        nonlocal found
        before = model.clusters(**cut).stable_ids
        found = model.stable_labels(**cut, stickiness=stickiness)
        return stickiness > 0 or bool((before < 0).any())

    rewrite(tree, None, name, quiet=quiet)
    _, firsts, which = np.unique(found, return_index=True, return_inverse=True)
    return {"label": np.argsort(np.argsort(firsts))[which], "stable_id": found}


def _numbers(words: Sequence[str] | None) -> list[int]:
    """How many clusters, once or several times."""
    numbers = []
    for word in options.split(words):
        if not word.isdecimal() or int(word) < 1:
            raise WrongCallError(f"-k {word}: expected a number of clusters, or several as 10,50")
        numbers.append(int(word))
    if len(set(numbers)) < len(numbers):
        raise WrongCallError("-k: the same number twice")
    return numbers


def _report(
    out: Path | None, cuts: Sequence[Any], cost: Any = None, *, quiet: bool, json: bool
) -> None:
    import numpy as np

    if out is None:
        return
    sizes = [np.bincount(labels[labels >= 0]) for labels in cuts]
    if json:
        facts: dict[str, Any] = {"table": str(out), "points": len(cuts[0])}
        about = [
            {
                "clusters": len(one),
                "noise": int((labels < 0).sum()),
                "sizes": one.tolist(),
            }
            for labels, one in zip(cuts, sizes, strict=True)
        ]
        if cost is not None:
            facts |= {one: getattr(cost, one) for one in ("price", "moved", "moved_plainly")}
        print_json(facts | (about[0] if len(about) == 1 else {"cuts": about}))
        return
    clusters = ", ".join(f"{len(one):,}" for one in sizes)
    held = ""
    if cost is not None:
        held = (
            f"; {cost.moved:,g} points are not in their cluster of then, instead of "
            f"{cost.moved_plainly:,g}, in a cut that is {cost.price:.2%} worse than the best"
        )
    note(f"{out}: {len(cuts[0]):,} points in {clusters} clusters{held}", quiet=quiet)
