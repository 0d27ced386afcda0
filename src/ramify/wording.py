# SPDX-License-Identifier: BSD-3-Clause
"""wording.py: the words in payloads: what a search finds, and what tells clusters apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ramify.hierarchy import IntArray, StopWords, keywords


def words_of(payload: Any) -> str:
    """The text in a payload: its values, and not their names.

    Examples
    --------
    >>> words_of({"title": "No sound", "tags": ["audio", 7], "open": True})
    'No sound audio 7'
    """
    return " ".join(_texts(payload))


def _texts(payload: Any) -> Iterable[str]:
    """Its texts and numbers, in order. No recursion."""
    todo = [payload]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            todo.extend(reversed(value.values()))
        elif isinstance(value, list):
            todo.extend(reversed(value))
        elif value is not None and not isinstance(value, bool):
            yield str(value)


def keywords_of(
    payloads: Mapping[int, Any],
    numbers: IntArray,
    labels: IntArray,
    k: int,
    *,
    bigrams: bool = False,
    stop_words: StopWords = (),
) -> list[list[str]]:
    """Words that tell the payloads of each cluster from the others, by label.

    Examples
    --------
    >>> import numpy as np
    >>> texts = {0: "no sound", 1: {"title": "sound is off"}, 2: "a refund"}
    >>> keywords_of(texts, np.arange(3), np.array([0, 0, 1]), 1)
    [['sound'], ['refund']]
    """
    texts = (words_of(payloads.get(number)) for number in numbers.tolist())
    count = int(labels.max(initial=-1)) + 1
    return keywords(texts, labels, count, k, bigrams=bigrams, stop_words=stop_words)
