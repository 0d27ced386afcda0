# SPDX-License-Identifier: BSD-3-Clause
"""_keywords.py: the words that tell a group of texts from all the others.

    p   share of a word among the words of a group
    q   its share among the words of all texts

A word that is more frequent here than elsewhere scores p log(p / q)². With the plain
logarithm the scores would be the terms of a divergence, and "to" and "the" among the
first; the square lets what is common everywhere drop out without a list of stop words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from ramify.checks import whole_number
from ramify.hierarchy._values import IntArray

_WORD = re.compile(r"\w\w+")


def keywords(texts: Sequence[str], labels: IntArray, n_groups: int, k: int) -> list[list[str]]:
    """At most k words for each group, the most telling first; label -1 is in no group.

    Of equal scores the more frequent word comes first, then by alphabet.

    Examples
    --------
    >>> import numpy as np
    >>> texts = ["a red apple", "a red pear", "fast train", "a train home"]
    >>> keywords(texts, np.array([0, 0, 1, 1]), 2, 2)
    [['red', 'apple'], ['train', 'fast']]
    """
    wanted = whole_number("k", k)
    groups: list[Counter[str]] = [Counter() for _ in range(n_groups)]
    everywhere: Counter[str] = Counter()
    for text, label in zip(texts, labels.tolist(), strict=True):
        words = _WORD.findall(text.lower())
        everywhere.update(words)
        if label >= 0:
            groups[label].update(words)
    total = everywhere.total()
    return [_telling(group, everywhere, total)[:wanted] for group in groups]


def _telling(group: Counter[str], everywhere: Counter[str], total: int) -> list[str]:
    here = group.total()

    def score(word: str) -> float:
        p = group[word] / here
        ratio = log(p * total / everywhere[word])
        return p * ratio * abs(ratio)  # below 0 for what is rarer here

    return sorted(group, key=lambda word: (-score(word), -group[word], word))
