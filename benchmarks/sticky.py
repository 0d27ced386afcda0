# SPDX-License-Identifier: BSD-3-Clause
"""How many clusters last while news come and go: ``python -m benchmarks.sticky --data FOLDER``.

A window of 4,000 rows of news in order of time; some leave, as many come, and all are clustered
again, 12 times; and so from four places of the stream.

    survival  of the clusters that have three rows or more in the next window, too, the share
              of which a cluster of then has more than half of the rows of both, of those in both
              windows
    Rand      adjusted Rand index of the clusters with the stories, over the rows of stories
              that have three rows or more in the window

Both are means over all passes. Online and offline trees are ward's, and a sticky cut is like
the one before. The default stickiness is the largest of those tried at which Rand stays within
.005 of the plain cut's everywhere.
What is carried on is no cut: rows keep the clusters of the first tree, new rows join their nearest
row's, and `ramify.settle` moves rows once. k-means is scikit-learn's, begun anew or at the centres
of before. EVoC, if it is installed, is told the number of clusters, and to leave no noise; it takes
long, and is measured from the first place alone.

Writes docs/pictures/sticky.inc.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.streams import Rows, news, news_stories
from ramify import HAC, OHAC, Last, settle
from ramify.hierarchy import Hierarchy

PAGE = Path(__file__).parent.parent / "docs" / "pictures" / "sticky.inc"
WINDOW, PASSES, LEAST = 4_000, 12, 3
TURNOVERS = (0.01, 0.036, 0.10)
COUNTS = (10, 60, 200)
STARTS = (5_000, 13_000, 20_000, 28_000)
STICKINESS = (0.003, 0.01, 0.03, 0.1, 1.0)

Labels: TypeAlias = npt.NDArray[np.int64]
#: For each window the labels of its rows, one array for each of COUNTS.
Passes: TypeAlias = Iterator[list[Labels]]


def windows(X: Rows, step: int) -> Iterator[Rows]:
    """All windows."""
    for start in range(0, (PASSES + 1) * step, step):
        yield X[start : start + WINDOW]


def online(X: Rows, step: int) -> Iterator[Hierarchy]:
    """The tree that lives: rows leave it and rows come."""
    model = OHAC(metric="cosine", linkage="ward", keep=Last(WINDOW)).fit(X[:WINDOW])
    yield model.hierarchy()
    for start in range(WINDOW, WINDOW + PASSES * step, step):
        yield model.partial_fit(X[start : start + step]).hierarchy()


def offline(X: Rows, step: int) -> Iterator[Hierarchy]:
    """A tree for each window."""
    for rows in windows(X, step):
        yield HAC(metric="cosine", linkage="ward").fit(rows).hierarchy()


def plain(trees: list[Hierarchy], step: int) -> Passes:
    """Plain cuts."""
    return (list(tree.cut_many(COUNTS).T) for tree in trees)


def sticky(stickiness: float, trees: list[Hierarchy], step: int) -> Passes:
    """Cuts that hold on to those before."""
    last = [np.empty(0, np.int64) for _ in COUNTS]
    for tree in trees:
        like = [np.append(labels[step:], np.full(step, -1)) for labels in last if len(labels)]
        last = [
            np.asarray(tree.cut(n_clusters=k, like=one, stickiness=stickiness))
            for k, one in zip(COUNTS, like or last, strict=True)
        ]
        yield last


def kmeans(warm: bool, X: Rows, step: int) -> Passes:
    """scikit-learn's; warm: begun at the centres of the window before."""
    begins: list[Any] = ["k-means++" for _ in COUNTS]
    for rows in windows(X, step):
        found = [
            KMeans(k, init=begin, n_init=1, random_state=0).fit(rows)
            for k, begin in zip(COUNTS, begins, strict=True)
        ]
        yield [one.labels_.astype(np.int64) for one in found]
        if warm:
            begins = [one.cluster_centers_ for one in found]


def carried(X: Rows, step: int) -> Passes:
    """No cut of a tree but the first: rows keep their clusters, and new ones join their nearest
    row's; then each row may move once to the nearest mean."""
    last: list[Labels] = []
    for rows in windows(X, step):
        if not last:
            tree = HAC(metric="cosine", linkage="ward").fit(rows).hierarchy()
            last = list(tree.cut_many(COUNTS).T)
        else:
            nearest = step + (rows[-step:] @ rows[:-step].T).argmax(axis=1)
            kept = [np.append(one[step:], one[nearest]) for one in last]
            kept = [np.unique(one, return_inverse=True)[1] for one in kept]  # some may be empty
            last = [settle(one, rows, by="means", rounds=1).labels for one in kept]
        yield last


def evoc(X: Rows, step: int) -> Passes:
    """EVoC, each window anew. A row of noise is a cluster of its own."""
    from evoc import EVoC

    for rows in windows(X, step):
        made = []
        for k in COUNTS:
            model = EVoC(approx_n_clusters=k, noise_level=0.0, random_state=0)
            labels = np.asarray(model.fit_predict(rows), dtype=np.int64)
            noise = np.flatnonzero(labels < 0)
            labels[noise] = labels.max() + 1 + np.arange(len(noise))
            made.append(labels)
        yield made


def survival(then: Labels, now: Labels) -> float:
    """Of the clusters of then with enough rows in both windows the share that goes on.

    Examples
    --------
    >>> survival(np.array([0, 0, 0, 1, 1, 1]), np.array([5, 5, 5, 6, 7, 8]))
    0.5
    """
    sizes = [np.unique(one, return_inverse=True, return_counts=True)[1:] for one in (then, now)]
    (old, of_then), (new, of_now) = sizes
    pairs, shared = np.unique(np.column_stack([old, new]), axis=0, return_counts=True)
    lives = (2 * shared > of_then[pairs[:, 0]]) & (2 * shared > of_now[pairs[:, 1]])
    return float(np.isin(np.flatnonzero(of_then >= LEAST), pairs[lives, 0]).mean())


def measure(passes: Passes, stories: Labels, step: int) -> list[float]:
    """Survival for each of COUNTS, and then Rand."""
    lived: list[list[float]] = []
    right: list[list[float]] = []
    last: list[Labels] = []
    for i, labels in enumerate(passes):
        truth = stories[i * step : i * step + WINDOW]
        known = np.isin(truth, np.flatnonzero(np.bincount(truth) >= LEAST))
        right.append([adjusted_rand_score(truth[known], one[known]) for one in labels])
        both = zip(last, labels, strict=True) if last else ()
        lived += [[survival(a[step:], b[: WINDOW - step]) for a, b in both]] if last else []
        last = labels
    return [*np.mean(lived, axis=0).tolist(), *np.mean(right, axis=0).tolist()]


def ways(X: Rows, step: int, first: bool) -> Iterator[tuple[str, Callable[[], Passes]]]:
    """Each with its name."""
    live, anew = list(online(X, step)), list(offline(X, step))
    yield "OHAC, plain cut", partial(plain, live, step)
    for stickiness in STICKINESS:
        yield f"OHAC, stickiness {stickiness:g}", partial(sticky, stickiness, live, step)
    yield "HAC anew, plain cut", partial(plain, anew, step)
    for stickiness in (0.01, 0.1):
        yield f"HAC anew, stickiness {stickiness:g}", partial(sticky, stickiness, anew, step)
    yield "carried on, settled", partial(carried, X, step)
    yield "k-means anew", partial(kmeans, False, X, step)
    yield "k-means, warm", partial(kmeans, True, X, step)
    if first and find_spec("evoc") is not None:
        yield "EVoC anew, first place", partial(evoc, X, step)


def table(X: Rows, stories: Labels) -> Iterator[str]:
    """Line by line."""
    heads = [f"{what}, {k}" for what in ("survival", "Rand") for k in COUNTS]
    yield f"| turnover | clusters by | {' | '.join(heads)} |"
    yield "|---:|---|" + "---:|" * len(heads)
    for turnover in TURNOVERS:
        step = round(turnover * WINDOW)
        found: dict[str, list[list[float]]] = {}
        for start in STARTS:
            for name, passes in ways(X[start:], step, start == STARTS[0]):
                found.setdefault(name, []).append(measure(passes(), stories[start:], step))
        for name, figures in found.items():
            cells = [f"{one:.3f}" for one in np.mean(figures, axis=0)]
            yield f"| {turnover:.1%} | {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table, and write it for the docs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", default=os.environ.get("RAMIFY_DATA"), help="has wcep/")
    options = parser.parse_args()
    X, stories = news(options.data), news_stories(options.data)
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    with threadpool_limits(1):  # threads of k-means wait for each other on a machine that is busy
        lines = []
        for line in table(X, stories):
            print(line, flush=True)
            lines.append(line)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
