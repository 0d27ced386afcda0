# SPDX-License-Identifier: BSD-3-Clause
"""choosing.py: does `ramify.recommend` choose well? The table of docs/choosing.md.

    python -m benchmarks.choosing                  # what is shipped, made, or in scikit-learn
    python -m benchmarks.choosing --data FOLDER    # MNIST, news and others from a folder, too

The rule was chosen on the sets "looked at", and changed once after those "kept back" were
seen. The "last" ones were measured only when it stood. Writes docs/pictures/choosing.inc.
"""

import argparse
import csv
import gzip
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets as theirs
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ramify
from ramify import datasets
from ramify.hierarchy import Hierarchy
from ramify.metric import unit

PAGE = Path(__file__).parent.parent / "docs" / "pictures" / "choosing.inc"
ROWS, SAMPLES = 1_200, 3
PARTS = ("looked at", "kept back", "last")
HEAD = ["set", "groups", "recommends", "Rand", "mutual", "√(n/2), ward"]
HEAD += ["told k", "average", "ward"]

Labelled = tuple[Any, npt.NDArray[Any]]


class Case(NamedTuple):
    """Rows and their true groups, when they are asked for."""

    part: str
    name: str
    load: Callable[[], Labelled]


def topics(
    seed: int, groups: int, power: float, words: int = 1500, length: int = 30, common: float = 0.5
) -> Labelled:
    """Made documents as tf-idf; the larger ``power``, the more unequal are the topics."""
    rng = np.random.default_rng(seed)
    topic = _sizes(rng, groups, power)
    base = 1 / np.arange(1, words + 1)
    base /= base.sum()
    own = rng.dirichlet(np.full(words, 0.02), size=groups)
    share = common * base + (1 - common) * own
    lengths = rng.poisson(length, size=len(topic)) + 5
    counts = [rng.multinomial(n, share[t]) for n, t in zip(lengths, topic, strict=True)]
    X = np.array(counts, dtype=float)
    return unit(np.log1p(X) * (np.log(len(X) / (1 + (X > 0).sum(axis=0))) + 1)), topic


def blobs(seed: int, groups: int, d: int, power: float, spread: float) -> Labelled:
    """Gaussian groups of unequal width and, the larger ``power``, of unequal size."""
    rng = np.random.default_rng(seed)
    group = _sizes(rng, groups, power)
    centers, widths = rng.normal(size=(groups, d)), rng.uniform(0.5, 1.5, size=groups) * spread
    return centers[group] + rng.normal(size=(len(group), d)) * widths[group][:, None], group


def _sizes(rng: np.random.Generator, groups: int, power: float) -> npt.NDArray[Any]:
    share = 1 / np.arange(1, groups + 1) ** power
    return rng.choice(groups, size=6_000, p=share / share.sum())


def cases(data: str | None) -> Iterator[Case]:
    """All sets."""
    queries, cities = datasets.intents(), datasets.cities()
    words = TfidfVectorizer(min_df=2).fit_transform(queries.texts)
    early, held, last = PARTS
    yield Case(early, "iris", lambda: _of(datasets.iris()))
    yield Case(early, "glass", lambda: _of(datasets.glass()))
    yield Case(early, "wine, scaled", lambda: _scaled(theirs.load_wine()))
    yield Case(early, "digits", lambda: theirs.load_digits(return_X_y=True))
    yield Case(early, "queries, intents", lambda: (queries.points, queries.intent))
    yield Case(early, "queries, domains", lambda: (queries.points, queries.domain))
    yield Case(early, "cities, countries", lambda: (cities.points, cities.country))
    yield Case(early, "topics, 20 equal", lambda: topics(1, 20, 0))
    yield Case(early, "topics, 40 unequal", lambda: topics(2, 40, 1.5))
    yield Case(early, "blobs in 10 d, equal", lambda: blobs(3, 12, 10, 0, 0.7))
    yield Case(early, "blobs in 10 d, unequal", lambda: blobs(4, 12, 10, 1.5, 0.7))
    yield Case(early, "gmm-8", lambda: _of(datasets.gmm_8()))
    yield Case(held, "breast cancer, scaled", lambda: _scaled(theirs.load_breast_cancer()))
    yield Case(held, "cities, continents", lambda: (cities.points, cities.continent))
    yield Case(held, "topics, 60 equal", lambda: topics(11, 60, 0, words=2500, length=20))
    yield Case(held, "topics, 65 unequal", lambda: topics(12, 65, 2, 2500, 50, 0.6))
    yield Case(held, "topics, 8 unequal", lambda: topics(13, 8, 1, length=15))
    yield Case(held, "blobs in 3 d, unequal", lambda: blobs(14, 30, 3, 1.5, 0.25))
    yield Case(held, "blobs in 50 d, unequal", lambda: blobs(15, 25, 50, 2, 1.2))
    yield Case(held, "blobs in 50 d, equal", lambda: blobs(16, 25, 50, 0, 1.5))
    yield Case(last, "words of queries, intents", lambda: (words, queries.intent))
    yield Case(last, "words of queries, domains", lambda: (words, queries.domain))
    yield Case(last, "topics, 30 unequal", lambda: topics(21, 30, 1.2, 2000, 25, 0.55))
    yield Case(last, "topics, 100 unequal", lambda: topics(22, 100, 1, 3000, 40, 0.5))
    yield Case(last, "blobs in 5 d, unequal", lambda: blobs(23, 15, 5, 1.2, 0.4))
    yield Case(last, "blobs in 20 d, equal", lambda: blobs(24, 40, 20, 0, 0.9))
    yield Case(last, "moons", lambda: theirs.make_moons(3_000, noise=0.08, random_state=25))
    if data is None:
        return
    folder = Path(data)
    yield Case(held, "MNIST", lambda: _mnist(folder / "mnist"))
    clinc = folder / "clinc150"
    yield Case(held, "CLINC150, intents", lambda: _clinc(clinc, "intent"))
    yield Case(held, "CLINC150, domains", lambda: _clinc(clinc, "domain"))
    yield Case(held, "news, 60 stories", lambda: _news(folder / "wcep", "story", 60))
    yield Case(held, "covertype, scaled", lambda: _covertype(folder / "covtype"))
    yield Case(last, "news, 10 categories", lambda: _news(folder / "wcep", "category", 10))


def _of(known: Any) -> Labelled:
    return known.points, known.labels


def _scaled(bunch: Any) -> Labelled:
    return StandardScaler().fit_transform(bunch.data), bunch.target


def _table(path: Path, column: str) -> npt.NDArray[Any]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return np.array([row[column] for row in csv.DictReader(file, delimiter="\t")])


def _clinc(folder: Path, level: str) -> Labelled:
    rows = np.load(folder / "clinc150_minilm.f16.npy").astype(np.float32)
    return rows, _table(folder / "clinc150.meta.tsv.gz", level)


def _news(folder: Path, column: str, groups: int) -> Labelled:
    """The largest groups."""
    rows = np.load(folder / "wcep_story_minilm.f16.npy").astype(np.float32)
    labels = _table(folder / "wcep_story.meta.tsv.gz", column)
    names, counts = np.unique(labels[labels != ""], return_counts=True)
    kept = np.isin(labels, names[np.argsort(-counts, kind="stable")[:groups]])
    return rows[kept], labels[kept]


def _covertype(folder: Path) -> Labelled:
    with np.load(folder / "covtype.npz") as file:
        rows, labels = file["X"][:, :10].astype(float), file["y"]
    return StandardScaler().fit_transform(rows), labels


def _mnist(folder: Path) -> Labelled:
    def unpacked(name: str, offset: int) -> npt.NDArray[np.uint8]:
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=offset)

    rows = unpacked("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784) / 255
    return rows, unpacked("t10k-labels-idx1-ubyte.gz", 8)


class Found(NamedTuple):
    """Of one sample."""

    groups: int
    told: str  #: linkage and number of clusters
    scores: list[float]  #: the last six columns


def measure(case: Case, seed: int) -> Found:
    """What is recommended for a sample of the rows, and how it fares."""
    rows, labels = case.load()
    some = np.random.default_rng(seed).permutation(rows.shape[0])[:ROWS]
    rows, labels = rows[some], labels[some]
    advice = ramify.recommend(rows)
    if advice.scale:
        rows = StandardScaler().fit_transform(rows)
    n, k = rows.shape[0], len(np.unique(labels))
    linkages: tuple[Literal["average", "ward"], ...] = ("average", "ward")
    trees: dict[str, Hierarchy] = {
        linkage: ramify.HAC(metric=advice.metric, linkage=linkage, zero_rows=advice.zero_rows)
        .fit(rows)
        .hierarchy()
        for linkage in linkages
    }
    found = trees[advice.linkage].cut(**advice.cut)
    usual = trees["ward"].cut(n_clusters=round((n / 2) ** 0.5))
    even = {
        name: adjusted_rand_score(labels, tree.cut(n_clusters=k)) for name, tree in trees.items()
    }
    scores = [adjusted_rand_score(labels, found), adjusted_mutual_info_score(labels, found)]
    scores += [adjusted_rand_score(labels, usual), even[advice.linkage]]
    return Found(k, f"{advice.linkage} {found.max() + 1}", [*scores, even["average"], even["ward"]])


def line(case: Case) -> tuple[list[str], npt.NDArray[np.float64]]:
    """A line of the table, and its figures: means over the samples."""
    found = [measure(case, seed) for seed in range(SAMPLES)]
    figures = np.mean([one.scores for one in found], axis=0)
    told = ", ".join(one.told for one in found)
    return [case.name, str(found[0].groups), told, *(f"{one:.2f}" for one in figures)], figures


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", help="MNIST and others are looked for here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    every = list(cases(options.data))
    text = []
    for part in PARTS:
        text += ["", f"*{part.capitalize()}:*", "", "| " + " | ".join(HEAD) + " |"]
        text.append("|---|---:|---|" + "---:|" * (len(HEAD) - 3))
        figures = []
        for case in every:
            if case.part == part:
                cells, numbers = line(case)
                figures.append(numbers)
                text.append("| " + " | ".join(cells) + " |")
                print(text[-1], flush=True)
        means = [f"{one:.3f}" for one in np.mean(figures, axis=0)]
        text.append("| " + " | ".join(["**mean**", "", "", *means]) + " |")
        print(text[-1], flush=True)
    PAGE.write_text("\n".join(text).strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
