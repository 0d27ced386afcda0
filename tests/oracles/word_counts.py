"""The words of clusters, counted from scratch with Counters. Scores are those of the docs."""

from __future__ import annotations

from collections import Counter
from math import log


def telling(texts, labels, n_groups, k):
    """At most k words of each cluster: p log(p / q) |log(p / q)|, then counts, then alphabet."""
    everywhere = Counter(word for text in texts for word in text.split())
    total = everywhere.total()
    found = []
    for group in range(n_groups):
        mine = [text for text, label in zip(texts, labels, strict=True) if label == group]
        here = Counter(word for text in mine for word in text.split())

        def key(word, here=here):
            p = here[word] / here.total()
            ratio = log(p * total / everywhere[word])
            return -p * ratio * abs(ratio), -here[word], word

        found.append(sorted(here, key=key)[:k])
    return found
