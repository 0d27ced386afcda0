# SPDX-License-Identifier: BSD-3-Clause
"""_keywords.py: the words that tell a group of texts from all the others.

    p   share of a word among the words of a group
    q   its share among the words of all texts

A word that is more frequent here than elsewhere scores p log(p / q)². With the plain
logarithm the scores would be the terms of a divergence, and "to" and "the" among the
first; the square lets what is common everywhere drop out without a list of stop words.

A pair of words is two that stand side by side, with nothing but blanks between them. A pair is
scored as a word is.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from math import log
from typing import Literal, TypeAlias

from ramify.checks import whole_number
from ramify.hierarchy._values import IntArray

_WORD = re.compile(r"\w\w+")


#: Words that are never told: these, or scikit-learn's list of English ones.
StopWords: TypeAlias = Collection[str] | Literal["english"]


def keywords(
    texts: Iterable[str],
    labels: IntArray,
    n_groups: int,
    k: int,
    *,
    bigrams: bool = False,
    stop_words: StopWords = (),
) -> list[list[str]]:
    """At most k words for each group, the most telling first; label -1 is in no group.

    Of equal scores the more frequent word comes first, then by alphabet. With ``bigrams`` pairs of
    words count as words do.

    Examples
    --------
    >>> import numpy as np
    >>> texts = ["a red apple", "a red pear", "fast train", "a train home"]
    >>> labels = np.array([0, 0, 1, 1])
    >>> keywords(texts, labels, 2, 2)
    [['red', 'apple'], ['train', 'fast']]
    >>> keywords(texts, labels, 2, 2, bigrams=True, stop_words=["red", "train"])
    [['apple', 'pear'], ['fast', 'home']]
    """
    wanted, left_out = whole_number("k", k), _left_out(stop_words)
    groups: list[Counter[str]] = [Counter() for _ in range(n_groups)]
    everywhere: Counter[str] = Counter()
    for text, label in zip(texts, labels.tolist(), strict=True):
        words = list(_words(text.lower(), bigrams, left_out))
        everywhere.update(words)
        if label >= 0:
            groups[label].update(words)
    total = everywhere.total()
    return [_telling(group, everywhere, total)[:wanted] for group in groups]


def analyzer(bigrams: bool = False, stop_words: StopWords = ()) -> Callable[[str], Iterable[str]]:
    """What makes words of a text, as :func:`keywords` does.

    Examples
    --------
    >>> list(analyzer(bigrams=True, stop_words=["the"])("The red apple"))
    ['red', 'apple', 'red apple']
    """
    left_out = _left_out(stop_words)
    return lambda text: _words(text.lower(), bigrams, left_out)


def _words(text: str, bigrams: bool, left_out: Collection[str]) -> Iterator[str]:
    before = None
    for found in _WORD.finditer(text):
        word = found[0]
        if word in left_out:
            before = None
            continue
        yield word
        if bigrams and before is not None and text[before.end() : found.start()].isspace():
            yield f"{before[0]} {word}"
        before = found


def _left_out(stop_words: StopWords) -> frozenset[str]:
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if isinstance(stop_words, str):
        raise ValueError(f'stop_words: expected a list of words or "english", got {stop_words!r}')
    return frozenset(word.lower() for word in stop_words)


def _telling(group: Counter[str], everywhere: Counter[str], total: int) -> list[str]:
    here = group.total()

    def score(word: str) -> float:
        p = group[word] / here
        ratio = log(p * total / everywhere[word])
        return p * ratio * abs(ratio)  # below 0 for what is rarer here

    return sorted(group, key=lambda word: (-score(word), -group[word], word))
