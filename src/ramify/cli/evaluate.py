# SPDX-License-Identifier: BSD-3-Clause
"""evaluate.py: `ramify evaluate`: how good a tree is."""

from pathlib import Path
from typing import Annotated, Any
from warnings import catch_warnings, simplefilter

import typer

from ramify import metrics
from ramify.cli import _labels, _models
from ramify.cli import _options as options
from ramify.cli._choices import RBF, Similarity
from ramify.cli._console import WrongCallError, note, print_facts, print_json, verb
from ramify.files import read_names
from ramify.hierarchy import Hierarchy

NAME = "evaluate"
EXAMPLES = (
    "ramify evaluate tree.ramify",
    "ramify evaluate tree.ramify --labels flowers.csv --column species --json",
)

_EXACT_UP_TO = 20_000  # points; beyond, n² pairs take a while
_PAIRS = 1_000_000


@verb(NAME)
def run(
    tree: options.TreeFile,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="File with the true class of each point: a column of a table, or an .npy. "
            "By default what ramify fit --label-column kept."
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="Of --labels; by default the one named label, or the only one."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column of --labels with the points' ids. Without, labels come in the order of "
            "the rows."
        ),
    ] = None,
    header: options.Header = None,
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", min=1, help="Of the cut; by default one a class."),
    ] = None,
    similarity: Annotated[Similarity, typer.Option(help="Of revenue and cost.")] = RBF,
    gamma: Annotated[
        float | None,
        typer.Option(
            help="Of rbf, exp(-gamma |x - y|²); by default one over the mean squared distance of "
            "two points."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=2,
            help=f"Pairs to estimate revenue and cost from; by default exact up to "
            f"{_EXACT_UP_TO:,} points, then {_PAIRS:,} pairs.",
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Look at all pairs, however many.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample.")] = 0,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Measure a tree: revenue and cost, and with labels purity and the agreement of a cut.

    Revenue is Moseley and Wang's, as a fraction of its maximum: a random tree earns 1/3.
    Cost is Dasgupta's. Numbers after ± are standard errors of estimates.
    """
    if exact and sample is not None:
        raise WrongCallError("give --exact or --sample, one of the two")
    if labels is None and (column is not None or id_column is not None):
        raise WrongCallError("--column and --id-column go with --labels")
    saved = _models.load(tree)
    classes = _classes(tree, saved.tree, labels, column, id_column, header, quiet=quiet)
    _check_known(tree, saved, classes, clusters)
    facts: dict[str, Any] = {"tree": str(tree), "points": saved.tree.n_leaves}
    if saved.model is not None:
        pairs = None if exact else sample or _default_sample(saved.tree)
        facts |= _revenue(saved, similarity.value, gamma, pairs, seed)
    if classes is None:
        note("no labels: only revenue and cost", quiet=quiet)
    else:
        facts |= _agreement(saved.tree, classes, clusters)
    _print(facts, json=json)


def _check_known(
    path: Path, saved: _models.Saved, classes: list[str] | None, clusters: int | None
) -> None:
    """Refuse to measure what nothing is known of."""
    if classes is not None:
        return
    if clusters is not None:
        raise WrongCallError("-k goes with labels, and there are none: give --labels")
    if saved.model is None:
        raise ValueError(f"{path} holds a hierarchy without its points: give --labels")


def _default_sample(tree: Hierarchy) -> int | None:
    """How many pairs to look at; None for all of them."""
    return _PAIRS if tree.n_leaves > _EXACT_UP_TO else None


def _revenue(
    saved: _models.Saved, similarity: str, gamma: float | None, sample: int | None, seed: int
) -> dict[str, Any]:
    tree, points = saved.tree, saved.points()
    how: dict[str, Any] = {
        "similarity": similarity,
        "gamma": gamma,
        "sample": sample,
        "random_state": seed,
    }
    with catch_warnings(record=True) as seen:
        simplefilter("always")
        fraction = metrics.revenue_fraction(tree, points, **how)
        cost = metrics.dasgupta_cost(tree, points, **how)
    for text in dict.fromkeys(str(warning.message) for warning in seen):
        note(f"ramify {NAME}: {text}")
    facts: dict[str, Any] = {"similarity": similarity}
    if fraction.gamma is not None:
        facts["gamma"] = fraction.gamma
    if sample is not None:
        facts["sampled_pairs"] = sample
    return facts | {"revenue_fraction": fraction, "dasgupta_cost": cost}


def _agreement(tree: Hierarchy, classes: list[Any], clusters: int | None) -> dict[str, Any]:
    count = len(set(classes))
    scores = metrics.cut_scores(tree, classes, n_clusters=clusters or count)
    return {
        "classes": count,
        "dendrogram_purity": metrics.dendrogram_purity(tree, classes),
        "clusters": scores.n_clusters,
        "adjusted_rand": scores.adjusted_rand,
        "homogeneity": scores.homogeneity,
        "completeness": scores.completeness,
    }


def _classes(
    path: Path,
    tree: Hierarchy,
    labels: Path | None,
    column: str | None,
    id_column: str | None,
    header: bool | None,
    *,
    quiet: bool,
) -> list[str] | None:
    """The class of each point in order of arrival, as text; None if nobody knows them."""
    n = tree.n_leaves
    if labels is None:
        return _kept_classes(path, n, quiet=quiet)
    found = read_names(labels, column, id_column=id_column, header=header)
    if found.ids is not None:
        return _by_id(tree, found.ids, found.names, labels)
    if len(found.names) != n:
        raise ValueError(f"{labels} holds {len(found.names):,} labels, and the tree {n:,} points")
    if tree.names is None or not _models.goes_by_number(tree.names):
        return [str(name) for name in found.names]
    return [str(found.names[row]) for row in tree.names]


def _kept_classes(path: Path, n: int, *, quiet: bool) -> list[str] | None:
    found = _labels.look(path)
    if found is not None and not (found.is_ours or found.is_old):
        text = f"{found.path}: not labels that ramify keeps; --labels reads labels of any file"
        note(text, quiet=quiet)
        found = None
    return None if found is None else [str(label) for label in _labels.kept(path, n)]


def _by_id(tree: Hierarchy, ids: list[Any], names: list[Any], labels: Path) -> list[str]:
    label_of = dict(zip(map(str, ids), map(str, names), strict=True))
    known = range(tree.n_leaves) if tree.names is None else tree.names.tolist()
    points = [str(name) for name in known]
    missing = next((point for point in points if point not in label_of), None)
    if missing is not None:
        raise ValueError(f"{labels} has no label for point {missing!r}")
    return [label_of[point] for point in points]


def _print(facts: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json({name: _plain(value) for name, value in facts.items()})
    else:
        print_facts((name.replace("_", " "), _shown(value)) for name, value in facts.items())


def _plain(value: Any) -> Any:
    if isinstance(value, metrics.Measure):
        return {"value": float(value), "stderr": value.stderr, "exact": value.exact}
    return value


def _shown(value: Any) -> str:
    if isinstance(value, metrics.Measure) and not value.exact:
        return f"{float(value):.6g} ± {value.stderr:.2g}"
    if isinstance(value, float):
        return f"{float(value):.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
