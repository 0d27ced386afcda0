# SPDX-License-Identifier: BSD-3-Clause
"""wording.py: the words in payloads: what a search finds, and what tells clusters apart."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ramify.checks import whole_number
from ramify.hierarchy import IntArray, StopWords
from ramify.hierarchy.seam import analyzer
from ramify.word_counts import WordCounts

#: Ways of making words of texts that are kept.
_WAYS = 2


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


class LiveKeywords:
    """Words that tell the payloads of each cluster from the others, counted as points come and go.

    One for each way of making words of texts, and two ways at most.

    Examples
    --------
    >>> import numpy as np
    >>> texts = {0: "no sound", 1: {"title": "sound is off"}, 2: "a refund"}
    >>> LiveKeywords().of("a cut", np.arange(3), np.array([0, 0, 1]), lambda some: texts, 1)
    [['sound'], ['refund']]
    """

    def __init__(self) -> None:
        self._ways: OrderedDict[Any, WordCounts] = OrderedDict()
        self._lock = threading.Lock()

    def of(
        self,
        cut: Any,
        numbers: IntArray,
        labels: IntArray,
        payloads: Callable[[list[int]], Mapping[int, Any]],
        k: int,
        *,
        bigrams: bool = False,
        stop_words: StopWords = (),
    ) -> list[list[str]]:
        """At most k words of each cluster, by label; ``payloads`` is asked about new points."""
        words = analyzer(bigrams, stop_words)
        said = stop_words if isinstance(stop_words, str) else frozenset(stop_words)

        def texts(some: IntArray) -> list[str]:
            known = payloads(some.tolist())
            return [words_of(known.get(number)) for number in some.tolist()]

        with self._lock:
            counts = self._ways.pop((bigrams, said), None) or WordCounts(words)
            counts.follow(numbers, texts)
            self._ways[bigrams, said] = counts
            while len(self._ways) > _WAYS:
                self._ways.popitem(last=False)
            count = int(labels.max(initial=-1)) + 1
            return counts.telling(cut, labels, count, whole_number("k", k))
