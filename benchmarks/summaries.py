# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of news, brought up to date: ``python -m benchmarks.summaries --data FOLDER``.

    stale      summaries that are not of what they were made of, when stories have come or gone.
               Those that hold a story of the batch must be made anew by whatever grows the tree.
               Of HAC and k-means those whose points are no cluster of the tree before. Levels are
               10, 100 and 1,000; k-means has one, of 200 clusters, and begins by itself (cold) or
               where it ended before (warm).
    update     milliseconds from an insert into 100,000 chunks (generated, of the width of news)
               to summaries that are up to date, without those in the callable
    recall     questions whose story is among what is retrieved. A question is a story that is not
               in the tree, its answers are the others about the same thing. Summaries quote
               three stories; what counts is what is quoted, or found itself.

``--only stale update recall`` says which; together they take less than ten minutes.
"""

import argparse
import copy
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from benchmarks.streams import Rows, news, news_standin, news_stories
from ramify import HAC, OHAC, datasets
from ramify.summaries import SummaryTree

LEVELS = (10, 100, 1000)
BASE = 20_000
BATCHES = {1: 200, 10: 20, 100: 5, 1000: 2}  # stories in a batch, and batches that are measured

#: Stale summaries, as per cent of all, by name and size of a batch: what was printed.
FOUND: dict[str, dict[int, float]] = {}


def nothing(parts: Any, node: Any) -> str:
    """A summary that costs nothing."""
    return ""


def noting(asked: list[int], parts: Any, node: Any) -> str:
    """The same, noting for which nodes."""
    asked.append(node.node_id)
    return ""


def holds_news(summaries: SummaryTree, node: int, start: int) -> bool:
    """Whether there is a point of this number or a later one below a node."""
    return any(-1 - leaf >= start for leaf in summaries._state.mirror.leaves(node))


# --- stale summaries ------------------------------------------------------------------------


def stale(data: str) -> None:
    """How many summaries are made anew."""
    X = news(data, BASE + max(size * count for size, count in BATCHES.items()))
    model = OHAC(metric="cosine", history=1000).partial_fit(X[:BASE])
    print(f"\n{BASE:,} stories; stale summaries a batch, and a story of it", flush=True)
    for name, lazy in (("live", 0.0), ("live, lazy=0.1", 0.1)):
        for size, count in BATCHES.items():
            tree = copy.deepcopy(model)
            asked: list[int] = []
            note = partial(noting, asked)
            summaries = SummaryTree(tree, summarize=note, levels=LEVELS, lazy=lazy)
            total = summaries.update().made
            made = bound = 0
            for start in range(BASE, BASE + size * count, size):
                tree.partial_fit(X[start : start + size])
                asked.clear()
                made += summaries.update().made
                bound += sum(holds_news(summaries, node, start) for node in asked)
            told(name, size, made / count, total)
            if not lazy:
                print(
                    f"{'':18} of these {bound / count:,.1f} hold a story of the batch", flush=True
                )
    _deletions(model)
    _offline(X)
    _kmeans(X)


def _deletions(model: Any) -> None:
    tree = copy.deepcopy(model)
    summaries = SummaryTree(tree, summarize=nothing, levels=LEVELS)
    total = summaries.update().made
    gone = np.random.default_rng(0).choice(BASE, 200, replace=False).tolist()
    made = sum(summaries.forget(one).made for one in gone)
    told("live, a deletion", 1, made / len(gone), total)


def _offline(X: Rows) -> None:
    """Each tree beside the one before the batch; what both have is in the store."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder, "before")
        total = _made(X[:BASE], before)
        for size in BATCHES:
            store = shutil.copy(before, Path(folder, f"{size}"))
            told("HAC rebuilt", size, _made(X[: BASE + size], Path(store)), total)


def _made(X: Rows, store: Path) -> int:
    model = HAC(metric="cosine").fit(X, ids=[f"{i}" for i in range(len(X))])
    with SummaryTree(model, summarize=nothing, levels=LEVELS, store=store) as summaries:
        return summaries.update().made


def _kmeans(X: Rows, k: int = 200) -> None:
    def fit(n: int, init: Any = "k-means++") -> Any:
        return KMeans(k, init=init, n_init=1, random_state=0, max_iter=100).fit(X[:n])

    def bags(labels: npt.NDArray[Any]) -> set[bytes]:
        return {np.flatnonzero(labels == one).tobytes() for one in range(k)}

    before = fit(BASE)
    was = bags(before.labels_)
    for name in ("k-means, cold", "k-means, warm"):
        for size in BATCHES:
            init = before.cluster_centers_ if "warm" in name else "k-means++"
            told(name, size, len(bags(fit(BASE + size, init).labels_) - was), k)


def told(name: str, size: int, made: float, total: int) -> None:
    """One line."""
    FOUND.setdefault(name, {})[size] = 100 * made / total
    print(
        f"{name:18} batch {size:5,}{made:10.1f} of {total:6,}{made / size:10.2f} a story",
        flush=True,
    )


def picture(found: dict[str, dict[int, float]], path: str) -> None:
    """Which part of the summaries a batch makes stale."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    for name, at in found.items():
        if len(at) > 1:
            ax.loglog(list(at), list(at.values()), marker="o", label=name)
    ax.set_xlabel("stories in a batch")
    ax.set_ylabel("stale summaries, % of all")
    ax.set_xticks(list(BATCHES), [f"{size:,}" for size in BATCHES])
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130, bbox_inches="tight")


# --- the time of an update ------------------------------------------------------------------


def update(data: str, n: int = 100_000, inserts: int = 300) -> None:
    """How long an insert keeps summaries waiting."""
    X = news_standin(n + inserts)
    model = OHAC(metric="cosine", history=1000).partial_fit(X[:n])
    inside = 0.0

    def summarize(parts: Any, node: Any) -> str:
        nonlocal inside
        begun = time.process_time()
        text = " ".join(str(part.point) for part in parts[:3])
        inside += time.process_time() - begun
        return text

    seconds = np.empty((2, inserts))  # by the clock, and of the processor
    with (
        tempfile.TemporaryDirectory() as folder,
        SummaryTree(
            model, summarize=summarize, texts=str_each, store=f"{folder}/kept"
        ) as summaries,
    ):
        begun = time.perf_counter()
        first = summaries.update()
        print(f"\n{n:,} chunks: {first.made:,} summaries in {time.perf_counter() - begun:.1f} s")
        for i in range(inserts):
            model.insert(X[n + i])
            inside, clocks = 0.0, np.array([time.perf_counter(), time.process_time()])
            summaries.update()
            seconds[:, i] = np.array([time.perf_counter(), time.process_time()]) - clocks - inside
    for clock, some in zip(("by the clock", "of the processor"), 1000 * seconds, strict=True):
        low, median, high = np.quantile(some, (0.1, 0.5, 0.9))
        print(f"update after an insert, {clock}: {median:.1f} ms (80 % in {low:.1f} to {high:.1f})")


def str_each(names: list[Any]) -> list[str]:
    """A text for each chunk."""
    return [f"chunk {name}" for name in names]


# --- retrieval ------------------------------------------------------------------------------


def recall(data: str, questions: int = 1000) -> None:
    """What is found in a live tree and in one that is built anew, before and after deletions."""
    intents = datasets.intents()
    codes = np.unique(intents.intent, return_inverse=True)[1]
    print(f"\nrecall, k=10{'':17}collapsed      tree")
    for name, X, group in (
        ("news", news(data), news_stories(data)),
        ("intents", intents.points, codes),
    ):
        rng = np.random.default_rng(1)
        common = np.flatnonzero(np.bincount(group)[group] >= 5)
        asked = rng.choice(common, min(questions, len(X) // 9), replace=False)
        _recall(name, X, group, asked, rng)


def _recall(name: str, X: Rows, group: Any, asked: Any, rng: np.random.Generator) -> None:
    kept = np.setdiff1d(np.arange(len(X)), asked)
    live = OHAC(metric="cosine", history=1000)
    summaries = _quoting(live, X)
    for batch in np.array_split(kept, 10):  # kept up to date on the way
        live.partial_fit(X[batch], ids=batch)
        summaries.update()
    _found(f"{name}, live", summaries, X, group, asked)
    _found(f"{name}, rebuilt", _quoting(_hac(X, kept), X), X, group, asked)
    gone = rng.choice(kept, len(kept) // 5, replace=False)
    live.forget(gone.tolist())
    _found(f"{name}, a fifth deleted, live", summaries, X, group, asked)
    kept = np.setdiff1d(kept, gone)
    _found(f"{name}, a fifth deleted, rebuilt", _quoting(_hac(X, kept), X), X, group, asked)


def _hac(X: Rows, kept: Any) -> Any:
    return HAC(metric="cosine").fit(X[kept], ids=kept)


def _quoting(model: Any, X: Rows) -> SummaryTree:
    """Summaries that quote the three points nearest to the mean of what their parts quote."""

    def quote(parts: Any, node: Any) -> list[int]:
        said = [part.text if isinstance(part.text, list) else [part.point] for part in parts]
        points = np.array([int(one) for some in said for one in some])
        apart = ((X[points] - X[points].mean(axis=0)) ** 2).sum(axis=1)
        return [int(one) for one in points[np.argsort(apart, kind="stable")[:3]]]

    return SummaryTree(model, summarize=quote, levels=LEVELS)


def _found(name: str, summaries: SummaryTree, X: Rows, group: Any, asked: Any) -> None:
    summaries.update()
    shares = []
    for mode in ("collapsed", "tree"):
        right = 0
        for one in asked.tolist():
            hits = summaries.retrieve(X[one], 10, mode=mode)
            said = [hit.text if hit.point is None else [hit.point] for hit in hits]
            right += any(group[point] == group[one] for some in said for point in some)
        shares.append(right / len(asked))
    print(f"{name:32}{shares[0]:6.3f}{shares[1]:10.3f}", flush=True)


def main() -> None:
    """Read the options and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summaries", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", required=True, metavar="FOLDER", help="where wcep/ is")
    parts = {"stale": stale, "update": update, "recall": recall}
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--picture", metavar="FILE", help="draw the stale summaries")
    options = parser.parse_args()
    for part in options.only:
        begun = time.perf_counter()
        parts[part](options.data)
        print(f"({time.perf_counter() - begun:.0f} s)", flush=True)
    if options.picture:
        picture(FOUND, options.picture)


if __name__ == "__main__":
    main()
