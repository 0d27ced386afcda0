# SPDX-License-Identifier: BSD-3-Clause
"""_measures.py: the figures of `ramify evaluate`."""

from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from ramify import metrics
from ramify.cli import _labels, _models
from ramify.cli._console import WrongCallError, note, print_facts, print_json
from ramify.cli._per_point import per_point
from ramify.hierarchy import Hierarchy

_EXACT_UP_TO = 20_000  # points; beyond, n² pairs take a while
_PAIRS = 1_000_000


def check_known(
    path: Path, saved: _models.Saved, classes: list[str] | None, clusters: int | None
) -> None:
    """Refuse to measure what nothing is known of."""
    if classes is not None:
        return
    if clusters is not None:
        raise WrongCallError("-k goes with labels, and there are none: give --labels")
    if saved.model is None:
        raise ValueError(f"{path} holds a hierarchy without its points: give --labels")


def default_sample(tree: Hierarchy) -> int | None:
    """How many pairs to look at; None for all of them."""
    return _PAIRS if tree.n_leaves > _EXACT_UP_TO else None


def revenue(
    saved: _models.Saved, similarity: str, gamma: float | None, sample: int | None, seed: int
) -> dict[str, Any]:
    tree, points = saved.tree, saved.compared()
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
        note(f"ramify evaluate: {text}")
    facts: dict[str, Any] = {"similarity": similarity}
    if fraction.gamma is not None:
        facts["gamma"] = fraction.gamma
    if sample is not None:
        facts["sampled_pairs"] = sample
    return facts | {"revenue_fraction": fraction, "dasgupta_cost": cost}


def across_orders(
    saved: _models.Saved,
    orders: int,
    similarity: str,
    gamma: float | None,
    sample: int | None,
    seed: int,
) -> dict[str, Any]:
    """How much revenue depends on the order of the points."""

    def fraction(tree: Hierarchy, rows: Any) -> float:
        return metrics.revenue_fraction(
            tree, rows, similarity=similarity, gamma=gamma, sample=sample, random_state=seed
        )

    found = metrics.order_sensitivity(
        saved.model, saved.points(), orders, measure=fraction, random_state=seed
    )
    return {
        "orders": orders,
        "orders_mean": found.mean,
        "orders_sd": found.sd,
        "orders_best": found.best,
        "orders_worst": found.worst,
    }


def agreement(tree: Hierarchy, classes: list[Any], clusters: int | None) -> dict[str, Any]:
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


def classes_of(
    path: Path,
    tree: Hierarchy,
    labels: Path | None,
    column: str | None,
    id_column: str | None,
    header: bool | None,
    *,
    quiet: bool,
) -> list[str] | None:
    """The class of each point in order of arrival, as text; None if they are not known."""
    if labels is None:
        return _kept_classes(path, tree.n_leaves, quiet=quiet)
    return per_point(tree, labels, column, id_column, header, what="label")


def _kept_classes(path: Path, n: int, *, quiet: bool) -> list[str] | None:
    found = _labels.look(path)
    if found is not None and not (found.is_ours or found.is_old):
        text = f"{found.path}: not labels that ramify keeps; --labels reads labels of any file"
        note(text, quiet=quiet)
        found = None
    return None if found is None else [str(label) for label in _labels.kept(path, n)]


def show(facts: dict[str, Any], *, json: bool) -> None:
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
