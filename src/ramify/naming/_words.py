# SPDX-License-Identifier: BSD-3-Clause
"""_words.py: the words of a tree's clusters, counted as its points come and go, in any home."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ramify.checks import whole_number
from ramify.estimators.seam import OnlineClusterer
from ramify.estimators.stream import Stream
from ramify.hierarchy import IntArray, StopWords
from ramify.hierarchy.seam import analyzer
from ramify.summaries.seam import Contents, Texts
from ramify.word_counts import WordCounts
from ramify.wording import words_of


class Groups(NamedTuple):
    """Clusters of a tree's points at one moment."""

    version: int
    numbers: IntArray
    labels: IntArray  #: dense, from 0

    @property
    def how_many(self) -> int:
        """How many there are."""
        return int(self.labels.max(initial=-1)) + 1


class Words:
    """Words that tell the clusters of a growing tree apart, kept up to date and not recounted.

    An answer is that of ``clusters(texts=...).keywords(k)``. A cut that was asked about before
    costs one look at the labels of all points, the texts that came, went or moved, and the distinct
    words of its clusters. Any thread may ask.

    Parameters
    ----------
    tree : estimator, folder, shards or client's tree
    texts : mapping, list or callable, optional
        A list has the text of each point at the place of its number. A mapping has texts by ids
        (by numbers if points have no ids), and a function turns a list of these into a list of
        texts. By default the payloads, where the tree keeps any.
    vectorizer : object, optional
        What makes words of a text: scikit-learn's ``CountVectorizer(...)`` or another with
        ``build_analyzer``, or a function from a text to words. By default words of two letters
        and more, as ``keywords`` of clusters has them.
    bigrams, stop_words : optional
        Of the default: pairs of words, too, and words that are left out (``"english"``).

    Examples
    --------
    >>> import ramify
    >>> from ramify.naming import Words
    >>> texts = ["a red apple", "a red pear", "fast train", "a train home", "old train"]
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [8.0], [9.0]])
    >>> words = Words(model, texts=texts)
    >>> words.keywords(1, n_clusters=2)
    [['red'], ['train']]
    >>> model = model.partial_fit([[8.5]])
    >>> words.keywords(2, n_clusters=2)
    [['red', 'apple'], ['train', 'fast']]
    """

    def __init__(
        self,
        tree: Any,
        *,
        texts: Texts | None = None,
        vectorizer: Any = None,
        bigrams: bool = False,
        stop_words: StopWords = (),
    ) -> None:
        self.tree = tree
        self._analyze = _read_vectorizer(vectorizer, bigrams, stop_words)
        self._given, self._contents = texts is not None, Contents(texts, tree)
        self._lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        self._counts = WordCounts(self._analyze)
        self._stream = first_version(self.tree)

    def __repr__(self) -> str:
        return f"<Words of {len(self._counts):,} texts, {self.nbytes:,} bytes>"

    @property
    def nbytes(self) -> int:
        """Memory of the counts, the words themselves not counted."""
        return self._counts.nbytes

    def keywords(
        self,
        k: int = 5,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
    ) -> list[list[str]]:
        """At most k words of each cluster of a cut, by label, the most telling first.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Words
        >>> model = ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        >>> said = {"a": "no sound", "b": "sound is off", "c": "a refund"}
        >>> Words(model, texts=said).keywords(1)
        [['sound'], ['refund']]
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut["min_size"] = min_size
        groups = groups_of(self.tree, lambda: self.tree.cut(**cut))
        return self.of(tuple(cut.values()), groups, whole_number("k", k))

    def of(self, name: Hashable, groups: Groups, k: int) -> list[list[str]]:
        """The same of any clusters; ``name`` says which these are whenever they are asked about.

        Examples
        --------
        >>> import numpy as np
        >>> import ramify
        >>> from ramify.naming._words import Groups, Words
        >>> model = ramify.OHAC().fit([[0.0], [1.0]])
        >>> words = Words(model, texts=["red", "green"])
        >>> words.of("mine", Groups(2, np.arange(2), np.array([0, 1])), 1)
        [['red'], ['green']]
        """
        with self._lock:
            if self._stream != first_version(self.tree):
                self._begin()
            self._counts.follow(groups.numbers, self._texts)
            return self._counts.telling(name, groups.labels, groups.how_many, k)

    def examples(self, members: IntArray, said: list[str], most: int) -> list[Any]:
        """Texts of some of these points: those that say most of these words, the shortest first.

        Examples
        --------
        >>> import numpy as np
        >>> import ramify
        >>> from ramify.naming import Words
        >>> words = Words(ramify.OHAC().fit([[0.0], [9.0]]), texts=["big red apple", "red apple"])
        >>> words.keywords(1, n_clusters=1), words.examples(np.arange(2), ["apple", "red"], 1)
        ([['apple']], ['red apple'])
        """
        with self._lock:
            found = self._counts.saying(members, said, most)
        return self._contents.texts(found.tolist(), self._names(found))

    def _texts(self, numbers: IntArray) -> list[str]:
        told = self._contents.texts(numbers.tolist(), self._names(numbers))
        return [words_of(one) for one in told]

    def _names(self, numbers: IntArray) -> list[Any]:
        """What texts are asked by: ids, if points have any."""
        names: list[Any] = numbers.tolist()
        if not self._given:
            return names
        while True:
            version = self.tree.version
            try:
                there, ids = self.tree.point_numbers_, self.tree.ids_
            except AttributeError:
                return names
            if self.tree.version == version:
                break
        at = np.minimum(np.searchsorted(there, numbers), len(there) - 1)
        if not np.array_equal(there[at], numbers):
            raise RuntimeError("points have left while their texts were asked for; ask again")
        found: list[Any] = ids[at].tolist()
        return found


def groups_of(tree: Any, label: Callable[[], Any]) -> Groups:
    """The points of a tree, and labels of them, of one moment."""
    for _ in range(1000):
        version = tree.version
        numbers, found = tree.point_numbers_, label()
        if tree.version == version:
            return Groups(version, numbers, np.asarray(found))
    raise RuntimeError("the tree changes faster than it can be read; pause its writer once")


def first_version(tree: Any) -> int:
    """At which version the stream of an estimator began; numbers of another stream are others."""
    return Stream(tree).first_version if isinstance(tree, OnlineClusterer) else 0


def _read_vectorizer(
    vectorizer: Any, bigrams: bool, stop_words: StopWords
) -> Callable[[str], Iterable[str]]:
    if vectorizer is None:
        return analyzer(bigrams, stop_words)
    if bigrams or stop_words:
        raise ValueError("bigrams and stop_words are options of the vectorizer, if one is given")
    if not hasattr(vectorizer, "build_analyzer"):
        if not callable(vectorizer):
            raise TypeError(
                f"vectorizer={vectorizer!r}: expected a CountVectorizer, or a function from a text "
                f"to words"
            )
        told: Callable[[str], Iterable[str]] = vectorizer
        return told
    for name, plain in (("min_df", 1), ("max_df", 1.0), ("max_features", None)):
        if (found := getattr(vectorizer, name, plain)) != plain:
            raise ValueError(
                f"vectorizer: {name}={found!r} is about all texts, which come and go; leave it "
                f"out, or name the words by vocabulary="
            )
    analyze: Callable[[str], Iterable[str]] = vectorizer.build_analyzer()
    known = getattr(vectorizer, "vocabulary", None)
    if known is None:
        return analyze
    allowed = frozenset(known)
    return lambda text: (word for word in analyze(text) if word in allowed)
