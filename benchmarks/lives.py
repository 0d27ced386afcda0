# SPDX-License-Identifier: BSD-3-Clause
"""lives.py: small streams that much happens to, for the digests of golden.py.

Points leave, weigh, repeat, are linked and moved, and share leaves; rows have no structure, or
many equal distances; trees are chains of thousands of points. The digest is of the tree and of
the means and sums of squares that are stored for its nodes. Rows that go through a matrix
product are left out, as in golden.py.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import ramify
from benchmarks import streams

Rows = npt.NDArray[np.floating]
Model = Any

_N = 300


# --- rows -----------------------------------------------------------------------------


def _one_hot(n: int, width: int) -> Rows:
    return np.eye(width)[np.random.default_rng(width).integers(width, size=n)]


def _integers(n: int, width: int) -> Rows:
    return np.random.default_rng(width).integers(0, 3, (n, width)).astype(np.float64)


def _repeats(n: int, width: int) -> Rows:
    few = streams.gaussian(n // 3, width)
    return few[np.random.default_rng(width).integers(len(few), size=n)]


def _shrinking(n: int, width: int) -> Rows:
    """Ever closer to zero: the tree is a chain, and a new point comes in at its foot."""
    scale = 0.75 ** np.arange(n)
    return streams.doubles(n, width) * scale[:, np.newaxis]


def _apart(n: int, width: int) -> Rows:
    """The corners of a simplex: each of all points is as far from each other."""
    return np.eye(n, width)


def _far(n: int, width: int) -> Rows:
    return streams.doubles(n, width) + np.where(np.arange(n) % 2, 1e6, 0.0)[:, np.newaxis]


ROWS: dict[str, Callable[[], Rows]] = {
    "mixture x 3": lambda: streams.mixture(_N, 3),
    "integers x 3": lambda: _integers(_N, 3),
    "Gaussian x 8": lambda: streams.gaussian(_N, 8),
    "integers x 10": lambda: _integers(_N, 10),
    "Gaussian x 16": lambda: streams.gaussian(_N, 16),
    "Gaussian x 20": lambda: streams.gaussian(_N, 20),
    "Gaussian x 64": lambda: streams.gaussian(_N, 64),
    "Gaussian x 200": lambda: streams.gaussian(200, 200),
    "1,000 Gaussian x 32": lambda: streams.gaussian(1_000, 32),
    "doubles x 20": lambda: streams.doubles(_N, 20),
    "doubles x 48": lambda: streams.doubles(_N, 48),
    "doubles x 200": lambda: streams.doubles(200, 200),
    "mixture x 20": lambda: streams.mixture(800, 20),
    "words x 32": lambda: streams.words(_N, 32),
    "words x 128": lambda: streams.words(_N, 128),
    "words x 200": lambda: streams.words(200, 200),
    "one-hot x 16": lambda: _one_hot(_N, 16),
    "one-hot x 40": lambda: _one_hot(_N, 40),
    "integers x 17": lambda: _integers(_N, 17),
    "repeats x 20": lambda: _repeats(_N, 20),
    "shrinking x 20": lambda: _shrinking(200, 20),
    "shrinking x 3": lambda: _shrinking(200, 3),
    "apart x 150": lambda: _apart(150, 150),
    "positive x 24": lambda: streams.positive(_N, 24),
    "far x 20": lambda: _far(_N, 20),
}
#: Of 16 columns and more: those that grow under every model.
_WIDE = tuple(name for name in ROWS if int(name.split()[-1]) >= 16)

MODELS: dict[str, dict[str, Any]] = {
    "average": {},
    "ward": {"linkage": "ward"},
    "centroid": {"linkage": "centroid"},
    "cosine": {"metric": "cosine"},
    "cosine centroid": {"metric": "cosine", "linkage": "centroid"},
    "dot": {"metric": "dot"},
}


# --- what happens ---------------------------------------------------------------------


def _in_batches(model: Model, rows: Rows) -> None:
    cut = len(rows) - 20
    for batch in (rows[: cut // 10], rows[cut // 10 : cut]):
        model.partial_fit(batch)
    for row in rows[cut:]:
        model.insert(row)


def _grows(model: Model, rows: Rows) -> Model:
    _in_batches(model, rows)
    return model


def _leaves(model: Model, rows: Rows) -> Model:
    """After each batch some of the points leave, one, several, and nearly all."""
    rng = np.random.default_rng(0)
    for batch in np.array_split(rows, 6):
        model.partial_fit(batch)
        here = model.point_numbers_
        model.forget(rng.choice(here, size=len(batch) // 3, replace=False))
        model.forget(model.point_numbers_[:1])
    model.forget(model.point_numbers_[20:])
    model.partial_fit(rows[::-1][:60])
    return model


def _is_weighed(model: Model, rows: Rows) -> Model:
    weights = np.random.default_rng(0).random(len(rows)) * 5 + 0.1
    model.partial_fit(rows[:40], sample_weight=weights[:40])
    model.partial_fit(rows[40:-10], sample_weight=weights[40:-10])
    for row, weight in zip(rows[-10:], np.arange(1.0, 11.0), strict=True):
        model.insert(row, sample_weight=weight)
    model.forget(model.point_numbers_[::3])
    model.partial_fit(rows[:30])
    return model


def _size(cluster: Any) -> int:
    return int(cluster.size)


def _is_edited(model: Model, rows: Rows) -> Model:
    """Links, moves, and what comes below held nodes."""
    half = len(rows) // 2
    model.partial_fit(rows[:half])
    for a, b in ((0, 5), (5, 9), (1, half - 1), (20, 21)):
        model.edit.must_link(a, b)
    model.edit.cannot_link(2, 3)
    widest = model.clusters(n_clusters=8)
    model.edit.move(-1 - 7, under=max(widest, key=_size))
    model.partial_fit(rows[half:-30])
    model.edit.unlink(1, half - 1)
    model.edit.move(-1 - 30, under=max(model.clusters(n_clusters=5), key=_size))
    for row in rows[-30:-10]:
        model.insert(row)
    model.edit.release(model.edit.list().held[0])
    model.forget([0, 3, half])
    model.partial_fit(rows[-10:])
    return model


def _is_polished(model: Model, rows: Rows) -> Model:
    model.partial_fit(rows[:-40])
    model.polish(20)
    model.partial_fit(rows[-40:])
    return model


#: What happens, under which options.
LIVES: dict[str, tuple[Callable[[Model, Rows], Model], dict[str, Any]]] = {
    "grows": (_grows, {}),
    "leaves": (_leaves, {}),
    "has a window": (_grows, {"keep": ramify.Last(70)}),
    "is weighed": (_is_weighed, {}),
    "is edited": (_is_edited, {}),
    "is polished": (_is_polished, {}),
    "has a budget": (_grows, {"keep": ramify.Budget(60)}),
    "counts repeats": (_leaves, {"duplicates": "count"}),
    "asks three": (_grows, {"n_neighbors": 3}),
    "asks three and leaves": (_leaves, {"n_neighbors": 3}),
    "begins with HAC": (_grows, {"start": "hac"}),
    "interchanges": (_grows, {"update": "nni"}),
}
_LIVED = ("integers x 3", "integers x 10", "Gaussian x 20", "doubles x 48", "words x 32")
_OTHERS = {
    "OTD": ("leaves", "has a window", "is weighed", "counts repeats"),
    "PERCH": ("leaves", "has a window", "is weighed"),
}


def _chain(n: int, width: int, linkage: str) -> Model:
    """A chain that is made at once; then points come to its foot, and a few leave."""
    rows = streams.doubles(n + 5, width) * (0.97 ** np.arange(n + 5))[:, np.newaxis]
    inner = np.arange(n, 2 * n - 2)
    children = np.column_stack((np.append(n - 1, inner), np.arange(n - 2, -1, -1)))
    model = ramify.OHAC.from_hierarchy(children, rows[:n], options={"linkage": linkage})
    for row in rows[n:-2]:
        model.insert(row)
    model.forget([n - 1])
    model.partial_fit(rows[-2:])
    return model


# --- digests --------------------------------------------------------------------------


def digest(model: Model) -> str:
    """Of the tree, and of what is stored for its nodes, by their ids."""
    tree = model.hierarchy()
    arrays = model._live.state()["arrays"]
    order = np.argsort(arrays["names"])
    stored = (arrays[name].take(order, axis=0) for name in ("mean", "ssd"))
    shape = _hash(tree.children, tree.heights, tree.node_ids)
    return f"{shape} {_hash(*stored)}"


def _hash(*arrays: npt.NDArray[Any]) -> str:
    found = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
    return found.hexdigest()[:12]


def lives() -> Iterator[tuple[str, str, Callable[[], Model]]]:
    """Name of a stream, of a model, and the model when all has happened."""
    for rows in _WIDE:
        for model, options in MODELS.items():
            yield f"{rows} grows", model, _life(rows, "OHAC", options, "grows")
    for life in (life for life in LIVES if life != "grows"):
        for rows in _LIVED:
            for model in ("average", "centroid"):
                options = MODELS[model]
                yield f"{rows} {life}", model, _life(rows, "OHAC", options, life)
    for algorithm, some in _OTHERS.items():
        for life in some:
            for rows in ("integers x 3", "Gaussian x 20"):
                yield f"{rows} {life}", algorithm, _life(rows, algorithm, {}, life)
    for n, width in ((600, 3), (600, 20), (1_500, 20), (2_200, 20)):
        for linkage in ("average", "centroid"):
            yield f"chain of {n} x {width}", linkage, partial(_chain, n, width, linkage)


def _life(rows: str, algorithm: str, options: dict[str, Any], life: str) -> Callable[[], Model]:
    happens, more = LIVES[life]

    def live() -> Model:
        points = ROWS[rows]()
        if options.get("metric") == "cosine" and not points.any(axis=1).all():
            points = points + 1
        return happens(getattr(ramify, algorithm)(**options, **more), points)

    return live
