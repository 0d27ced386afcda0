# SPDX-License-Identifier: BSD-3-Clause
"""linkages.py: which metric and linkage for which kind of data, for "Choosing an algorithm".

    python tools/linkages.py
    python tools/linkages.py --queries clinc150.tsv.gz embeddings.npy    # all of them, too

Prints the table and writes docs/pictures/linkages.inc. Each figure is the median of
five shuffled streams: how a cut into as many clusters as there are true groups agrees
with them (adjusted Rand index: 1 is equality, 0 is chance), and the share of the points
in the largest of these clusters. Beside ours: MiniBatchKMeans of scikit-learn, which
gives one flat clustering and no tree.
"""

import argparse
import re
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from make_intents import read
from sklearn import datasets as theirs
from sklearn.cluster import MiniBatchKMeans
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ramify
from ramify import datasets
from ramify.metric import unit
from ramify.paper.machine import machine

TARGET = Path(__file__).parent.parent / "docs" / "pictures" / "linkages.inc"
STREAMS = 5
LINKAGES = ("average", "ward")

LINES = """\
Accepted password for {user} from {address} port {number}
Failed password for {user} from {address} port {number}
Connection closed by {address} port {number}
session opened for user {user} by uid {number}
GET /api/users {number} 200 in {number} ms
GET /static {hash}.js 304 in {number} ms
POST /api/orders 201 in {number} ms
job {hash} finished in {number} ms
job {hash} failed after {number} retries: timeout
cache miss for key {hash}
block {hash} of size {number} received from {address}
block {hash} replicated to {address}
disk {hash} is {number} percent full
certificate of {address} expires in {number} days
mail to {user} queued as {hash}
out of memory: killed process {number} of {user}
""".splitlines()


class Case(NamedTuple):
    kind: str
    name: str
    rows: np.ndarray
    labels: np.ndarray


def log_lines(*, masked: bool, n: int = 5_000) -> tuple[np.ndarray, np.ndarray]:
    """Lines of a made-up log, some messages far more often than others, as counts of words.

    Masked: words with a digit in them are all the same word.
    """
    rng = np.random.default_rng(0)
    often = 1 / np.arange(1, len(LINES) + 1)
    message = rng.choice(len(LINES), size=n, p=often / often.sum())
    made: dict[str, Callable[[], str]] = {
        "user": lambda: str(rng.choice(["root", "ada", "grace", "alan", "deploy", "backup"])),
        "address": lambda: ".".join(map(str, rng.integers(1, 255, size=4))),
        "number": lambda: str(rng.integers(1, 99_999)),
        "hash": lambda: f"{rng.integers(2**40):010x}",
    }
    fill = [re.sub(r"{(\w+)}", lambda slot: made[slot[1]](), LINES[which]) for which in message]
    if masked:
        fill = [re.sub(r"\S*\d\S*", "0", line) for line in fill]
    words = HashingVectorizer(
        token_pattern=r"\S+", n_features=512, alternate_sign=False, ngram_range=(1, 2)
    )
    return words.transform(fill).toarray(), message


def cases() -> list[Case]:
    queries, cities = datasets.intents(), datasets.cities()
    some = np.random.default_rng(0).permutation(len(cities))[:20_000]
    found = [
        Case("embeddings", "intents of 4,500 queries", queries.points, queries.intent),
        Case("embeddings", "domains of 4,500 queries", queries.points, queries.domain),
    ]
    for name, load in (("wine", theirs.load_wine), ("breast cancer", theirs.load_breast_cancer)):
        bunch = load()
        found.append(Case("tables", f"{name}, scaled", *_scaled(bunch.data, bunch.target)))
    digits = theirs.load_digits()
    found.append(Case("tables", "digits", digits.data, digits.target))
    found.append(Case("places", "continents of 20,000 cities", *_of(cities, "continent", some)))
    found.append(Case("places", "countries of 20,000 cities", *_of(cities, "country", some)))
    found.append(Case("logs", "16 messages, 5,000 lines", *log_lines(masked=False)))
    found.append(Case("logs", "the same, numbers masked", *log_lines(masked=True)))
    separated = datasets.gmm_8()
    found.append(Case("separated", "gmm-8, eight groups", separated.points, separated.labels))
    return found


def _scaled(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return StandardScaler().fit_transform(rows), labels


def _of(cities: datasets.Cities, level: str, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return cities.points[some], getattr(cities, level)[some]


def all_queries(table: Path, embeddings: Path) -> Case:
    """The training queries of CLINC150 in the 384 dimensions of their encoder."""
    rows = read(table)
    train = np.flatnonzero([row["split"] == "train" for row in rows])
    intents = np.array([rows[i]["intent"] for i in train])
    name = f"intents of {len(train):,} queries"
    return Case("embeddings", name, np.load(embeddings)[train].astype(np.float32), intents)


def measure(case: Case) -> list[str]:
    """A line of the table."""
    k = len(np.unique(case.labels))
    metric = ramify.recommend(case.rows).metric
    ours: dict[str, list[list[float]]] = {linkage: [] for linkage in LINKAGES}
    means: list[float] = []
    for seed in range(STREAMS):
        order = np.random.default_rng(seed).permutation(len(case.rows))
        rows, labels = np.ascontiguousarray(case.rows[order]), case.labels[order]
        for linkage in LINKAGES:
            start = time.perf_counter()
            tree = ramify.OHAC(metric=metric, linkage=linkage).fit(rows).hierarchy()
            cut = tree.cut(n_clusters=k)
            seconds = time.perf_counter() - start
            largest = np.bincount(cut).max() / len(cut)
            ours[linkage].append([adjusted_rand_score(labels, cut), largest, seconds])
        flat = MiniBatchKMeans(k, n_init=3, random_state=seed)
        compared = unit(rows) if metric == "cosine" else rows
        means.append(adjusted_rand_score(labels, flat.fit_predict(compared)))
    line = [case.kind, case.name, str(k), metric]
    for linkage in LINKAGES:
        rand, largest, _ = np.median(ours[linkage], axis=0)
        line += [f"{rand:.3f}", f"{largest:.0%}"]
    line += [f"{np.median(means):.3f}", f"{np.median(ours['ward'], axis=0)[2]:.2f}"]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--queries", nargs=2, type=Path, metavar=("TABLE", "EMBEDDINGS"))
    queries = parser.parse_args().queries
    warnings.simplefilter("ignore")  # of MiniBatchKMeans, about threads and few rows
    head = ["kind", "groups", "k", "metric", "average", "largest", "ward", "largest", "k-means"]
    lines = [f"| {' | '.join([*head, 'seconds'])} |", "|---|---|---:|---|" + "---:|" * 6]
    more = [] if queries is None else [all_queries(*queries)]
    for case in more + cases():
        lines.append(f"| {' | '.join(measure(case))} |")
        print(lines[-1], flush=True)
    host = re.sub(r"Linux .*", "Linux", machine())
    lines += ["", f"Measured on {datetime.now(UTC).date()}, {host}. Seconds are of OHAC with ward."]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
