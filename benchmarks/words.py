# SPDX-License-Identifier: BSD-3-Clause
"""Words of topics, kept up to date: ``python -m benchmarks.words [--data FOLDER]``.

Texts are the shipped questions, with words left out of each so that there are 10,000 different
ones; with ``--data`` the sentences of 10,000 news stories. Milliseconds, medians of 200 inserts:

    live      ``Words.keywords`` of 100 clusters after one insert, labels included
    anew      ``clusters(texts=...).keywords``, which counts all texts
    change    the same as live after a batch of 100, and after 100 points were forgotten

and bytes that the counts take, a text.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.streams import Rows, news, news_texts
from ramify import OHAC, datasets
from ramify.naming import Words

TEXTS, CLUSTERS, INSERTS, BATCH = 10_000, 100, 200, 100


def shipped() -> tuple[Rows, list[str]]:
    """Questions, each several times with other words left out, and vectors near its own."""
    rng = np.random.default_rng(0)
    queries = datasets.intents()
    n = TEXTS + INSERTS + 10 * BATCH
    which = rng.integers(len(queries.texts), size=n)
    texts = []
    for at in which.tolist():
        words = np.array(queries.texts[at].split())
        texts.append(" ".join(words[rng.random(len(words)) < 0.8]))
    rows = queries.points[which]
    return rows + 0.02 * rng.normal(size=rows.shape).astype(rows.dtype), texts


def milliseconds(work: Callable[[], Any]) -> float:
    """How long it takes, once."""
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)


def measured(rows: Rows, texts: list[str]) -> Iterator[str]:
    """Line by line."""
    model = OHAC(metric="cosine", linkage="ward").partial_fit(rows[:TEXTS])
    words = Words(model, texts=texts, stop_words="english")
    first = milliseconds(lambda: words.keywords(n_clusters=CLUSTERS))
    at, found = TEXTS, []
    labelled = []
    for _ in range(INSERTS):
        model.insert(rows[at])
        at += 1
        labelled.append(milliseconds(lambda: model.cut(n_clusters=CLUSTERS)))
        found.append(milliseconds(lambda: words.keywords(n_clusters=CLUSTERS)))
    told = model.clusters(n_clusters=CLUSTERS, texts=texts[:at])
    anew = milliseconds(lambda: told.keywords(stop_words="english"))
    assert told.keywords(stop_words="english") == words.keywords(n_clusters=CLUSTERS)
    kinds = len({word for text in texts[:at] for word in text.split()})
    said = sum(len(text.split()) for text in texts[:at])
    yield f"{at:,} texts of {said / at:.1f} words, {kinds:,} different ones, {CLUSTERS} clusters"
    yield f"first time              {first:8.2f} ms"
    yield (
        f"live, after an insert   {np.median(found):8.2f} ms (best {min(found):.2f}), of which a "
        f"look at the labels {np.median(labelled):.2f}"
    )
    yield f"anew                    {anew:8.2f} ms, {anew / np.median(found):.0f} times as long"
    for name in ("inserted", "forgotten"):
        some = []
        for _ in range(5):
            if name == "inserted":
                model.partial_fit(rows[at : at + BATCH])
                at += BATCH
            else:
                model.forget(model.point_numbers_[:: len(model) // BATCH][:BATCH].tolist())
            some.append(milliseconds(lambda: words.keywords(n_clusters=CLUSTERS)))
        yield f"live, after {BATCH} {name:10s} {np.median(some):6.2f} ms"
    yield f"memory                  {words.nbytes / len(model):8.0f} bytes a text"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", help="the news are looked for here")
    folder = parser.parse_args().data
    print("\n".join(measured(*shipped())), flush=True)
    if folder is not None:
        n = TEXTS + INSERTS + 10 * BATCH
        print("\nnews", *measured(news(folder, n), news_texts(folder)[:n]), sep="\n")


if __name__ == "__main__":
    main()
