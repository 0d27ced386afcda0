# SPDX-License-Identifier: BSD-3-Clause
"""word_counts.py: which words each cluster of a growing tree says how often, as points come and go.

    token   a word as a number; the tokens of all texts lie in one array, text after text
    cut     what clusters were asked about: its labels then, and the counts of each cluster

A cut that is asked about again is not counted again. Its clusters are matched with those of then,
each with the one that it shares most points with, and only what came, went or moved is counted. So
an answer costs one look at the labels of all points, the texts that moved, and the distinct words
of the clusters that are shown. Counts are whole numbers: they are those of a count from scratch,
whatever came before, and so are the words.

Memory: 4 bytes a word of a text and 16 bytes a text, and for each of the eight cuts that were asked
about last 16 bytes a point and 12 bytes for each distinct word of each cluster.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.hierarchy import IntArray

#: From a text to its words.
Analyzer = Callable[[str], Iterable[str]]

#: Cuts whose counts are kept.
_CUTS = 8
#: Pairs of clusters whose shared points are counted in a table.
_TABLE = 1 << 20
#: Scores of words that differ by less are compared exactly.
_CLOSE = 1e-9

Tokens = npt.NDArray[np.int32]
_NONE = np.empty(0, np.int64)


@dataclass
class _Cut:
    """The clusters of a cut, as they were when they were last asked about."""

    numbers: IntArray  # of the points, ascending
    labels: IntArray  # of the points; -1: in no cluster
    words: list[Tokens]  # of each cluster, ascending
    counts: list[IntArray]  # of these words


class WordCounts:
    """The words of texts that come and go, and of clusters of them.

    Invariants, which :meth:`check` tests: ``_everywhere`` counts the tokens of the texts that are
    there, and each kept cut those of each of its clusters.

    Examples
    --------
    >>> texts = {0: "a red apple", 1: "a red pear", 2: "fast train", 3: "a train home"}
    >>> counts = WordCounts(str.split)
    >>> told = lambda numbers: [texts[number] for number in numbers.tolist()]
    >>> counts.follow(np.arange(4), told)
    >>> counts.telling("in two", np.array([0, 0, 1, 1]), 2, 1)
    [['red'], ['train']]
    >>> counts.follow(np.array([1, 2, 3]), told)
    >>> counts.telling("in two", np.array([0, 1, 1]), 2, 2)
    [['pear', 'red'], ['train', 'fast']]
    """

    def __init__(self, analyze: Analyzer) -> None:
        self._analyze = analyze
        self._word_of: list[str] = []
        self._token_of: dict[str, int] = {}
        self._everywhere = np.zeros(16, np.int64)
        self._tokens = np.empty(64, np.int32)  # of the texts, of which some may have gone
        self._used = 0
        self._numbers, self._starts, self._lengths = _NONE, _NONE, _NONE
        self._cuts: OrderedDict[Hashable, _Cut] = OrderedDict()

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        own: list[Any] = [
            self._everywhere,
            self._tokens,
            self._numbers,
            self._starts,
            self._lengths,
        ]
        for cut in self._cuts.values():
            own += [cut.numbers, cut.labels, *cut.words, *cut.counts]
        return sum(one.nbytes for one in own)

    # --- texts --------------------------------------------------------------------------------

    def follow(self, numbers: IntArray, texts_of: Callable[[IntArray], Sequence[str]]) -> None:
        """Take the texts of points that are new, and let go those of points that are no more."""
        n = len(self._numbers)
        if np.array_equal(self._numbers, numbers[:n]):
            if len(numbers) > n:
                self._take(numbers[n:], [self._read(one) for one in texts_of(numbers[n:])])
            return
        stays = _found(numbers, self._numbers) >= 0
        new = numbers[_found(self._numbers, numbers) < 0]
        tokens = [self._read(text) for text in texts_of(new)] if len(new) else []
        self._let_go(stays)
        self._take(new, tokens)
        if self._used > 64 and 2 * int(self._lengths.sum()) < self._used:
            self._compact()

    def _take(self, numbers: IntArray, tokens: list[list[int]]) -> None:
        lengths = np.array([len(some) for some in tokens], np.int64)
        flat = np.array([token for some in tokens for token in some], np.int32)
        while self._used + len(flat) > len(self._tokens):
            self._tokens = np.concatenate([self._tokens, np.empty_like(self._tokens)])
        self._tokens[self._used : self._used + len(flat)] = flat
        starts = self._used + np.cumsum(lengths) - lengths
        self._used += len(flat)
        self._make_room()
        np.add.at(self._everywhere, flat, 1)
        in_order = np.argsort(np.concatenate([self._numbers, numbers]), kind="stable")
        for name, more in (("_numbers", numbers), ("_starts", starts), ("_lengths", lengths)):
            setattr(self, name, np.concatenate([getattr(self, name), more])[in_order])

    def _make_room(self) -> None:
        while len(self._everywhere) < len(self._word_of):
            self._everywhere = np.concatenate([self._everywhere, np.zeros_like(self._everywhere)])

    def _read(self, text: str) -> list[int]:
        known, words = self._token_of, self._word_of
        found = []
        for word in self._analyze(text):
            token = known.get(word)
            if token is None:
                token = known[word] = len(words)
                words.append(word)
            found.append(token)
        return found

    def _let_go(self, stays: npt.NDArray[np.bool_]) -> None:
        gone = self._numbers[~stays]
        if not len(gone):
            return
        for cut in self._cuts.values():
            at = _found(cut.numbers, gone)
            known = at >= 0
            self._shift(cut, _NONE, _NONE, gone[known], cut.labels[at[known]])
            keep = np.ones(len(cut.numbers), bool)
            keep[at[known]] = False
            cut.numbers, cut.labels = cut.numbers[keep], cut.labels[keep]
        np.subtract.at(self._everywhere, self._tokens_of(gone)[0], 1)
        self._numbers, self._starts = self._numbers[stays], self._starts[stays]
        self._lengths = self._lengths[stays]

    def _compact(self) -> None:
        """Forget the words of texts that have gone, and close the gaps."""
        self._make_room()
        said = self._everywhere[: len(self._word_of)] > 0
        new = (np.cumsum(said) - 1).astype(np.int32)
        tokens, _ = self._tokens_of(self._numbers)
        self._tokens, self._used = new[tokens], len(tokens)
        if not self._used:
            self._tokens = np.empty(64, np.int32)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._everywhere = np.append(self._everywhere[: len(said)][said], np.zeros(16, np.int64))
        self._word_of = [word for word, is_said in zip(self._word_of, said, strict=True) if is_said]
        self._token_of = {word: token for token, word in enumerate(self._word_of)}
        for cut in self._cuts.values():
            cut.words = [new[words] for words in cut.words]

    def _tokens_of(self, numbers: IntArray) -> tuple[Tokens, IntArray]:
        """The tokens of some texts, and which of these texts each is in."""
        at = np.searchsorted(self._numbers, numbers)
        lengths = self._lengths[at]
        begins = np.cumsum(lengths) - lengths
        places = np.repeat(self._starts[at] - begins, lengths) + np.arange(lengths.sum())
        return self._tokens[places], np.repeat(np.arange(len(numbers)), lengths)

    # --- clusters -----------------------------------------------------------------------------

    def telling(self, name: Hashable, labels: IntArray, n_groups: int, k: int) -> list[list[str]]:
        """At most k words for each cluster, the most telling first: as ``keywords`` would say.

        ``name`` says which cut this is, whenever it is asked about; labels are of the points that
        were followed last, in order.
        """
        cut = self._counted(name, labels, n_groups)
        total = int(self._everywhere.sum())
        sizes = np.array([len(words) for words in cut.words], np.int64)
        if not sizes.sum():
            return [[] for _ in range(n_groups)]
        words, counts = np.concatenate(cut.words), np.concatenate(cut.counts)
        ends = np.cumsum(sizes)
        here = np.array([int(some.sum()) for some in cut.counts])
        p = counts / np.repeat(here, sizes)
        ratio = np.log(p * total / self._everywhere[words])
        scores = p * ratio * np.abs(ratio)
        found = []
        for end, size, said in zip(ends.tolist(), sizes.tolist(), here.tolist(), strict=True):
            mine = slice(end - size, end)
            some = _best(scores[mine], k)
            found.append(self._ranked(words[mine][some], counts[mine][some], said, total)[:k])
        return found

    def saying(self, numbers: IntArray, words: Sequence[str], most: int) -> IntArray:
        """Of some points those whose texts say most of these words; then shorter, then earlier.

        Examples
        --------
        >>> counts = WordCounts(str.split)
        >>> counts.follow(np.arange(3), lambda some: ["a red apple", "red apple", "a train"])
        >>> counts.saying(np.arange(3), ["red", "apple"], 2)
        array([1, 0])
        """
        tokens, owner = self._tokens_of(numbers)
        wanted = [self._token_of[word] for word in words if word in self._token_of]
        pairs = np.unique(np.stack([owner, tokens])[:, np.isin(tokens, wanted)], axis=1)
        said = np.bincount(pairs[0].astype(np.int64), minlength=len(numbers))
        lengths = np.bincount(owner, minlength=len(numbers))
        return numbers[np.lexsort((numbers, lengths, -said))[:most]]

    def _ranked(self, words: Tokens, counts: IntArray, here: int, total: int) -> list[str]:
        """Words by exact scores, then by counts, then by alphabet."""

        def key(pair: tuple[int, int]) -> tuple[float, int, str]:
            token, count = pair
            p = count / here
            ratio = log(p * total / int(self._everywhere[token]))
            return -(p * ratio * abs(ratio)), -count, self._word_of[token]

        pairs = sorted(zip(words.tolist(), counts.tolist(), strict=True), key=key)
        return [self._word_of[token] for token, _ in pairs]

    def _counted(self, name: Hashable, labels: IntArray, n_groups: int) -> _Cut:
        cut = self._cuts.pop(name, None)
        if cut is None or not len(cut.numbers):
            cut = _Cut(_NONE, _NONE, [], [])
        self._rearrange(cut, labels, n_groups)
        self._cuts[name] = cut
        while len(self._cuts) > _CUTS:
            self._cuts.popitem(last=False)
        return cut

    def _rearrange(self, cut: _Cut, labels: IntArray, n_groups: int) -> None:
        """Bring a cut to these labels: clusters go on from those that they share most with."""
        numbers = self._numbers
        at = _found(numbers, cut.numbers)  # where the points of then are now: none has gone
        before = np.full(len(numbers), -1)
        before[at] = cut.labels
        if len(cut.words) == n_groups and np.array_equal(before, labels):
            cut.numbers, cut.labels = numbers, labels
            return
        seed = _seeds(before, labels, len(cut.words), n_groups)
        empty: tuple[Tokens, IntArray] = np.empty(0, np.int32), _NONE
        kept = [empty if old < 0 else (cut.words[old], cut.counts[old]) for old in seed.tolist()]
        goes_on = np.append(np.full(len(cut.words), -1), -1)  # the last for label -1
        goes_on[seed[seed >= 0]] = np.flatnonzero(seed >= 0)
        now = goes_on[before]
        moved = now != labels
        cut.words, cut.counts = [words for words, _ in kept], [counts for _, counts in kept]
        some, to, away = numbers[moved], labels[moved], now[moved]
        self._shift(cut, some[to >= 0], to[to >= 0], some[away >= 0], away[away >= 0])
        cut.numbers, cut.labels = numbers, labels

    def _shift(
        self, cut: _Cut, come: IntArray, to: IntArray, gone: IntArray, away: IntArray
    ) -> None:
        """Count texts in at clusters ``to``, and others out of clusters ``away``."""
        of_come, of_gone = self._tokens_of(come), self._tokens_of(gone)
        groups = np.concatenate([to[of_come[1]], away[of_gone[1]]])
        tokens = np.concatenate([of_come[0], of_gone[0]])
        signs = np.repeat([1, -1], [len(of_come[0]), len(of_gone[0])])
        keep = groups >= 0
        order = np.argsort(groups[keep], kind="stable")
        groups, tokens, signs = (one[keep][order] for one in (groups, tokens, signs))
        touched, begins = np.unique(groups, return_index=True)
        ends = np.append(begins, len(groups))[1:]
        for group, begin, end in zip(
            *(one.tolist() for one in (touched, begins, ends)), strict=True
        ):
            mine = slice(begin, end)
            cut.words[group], cut.counts[group] = _summed(
                cut.words[group], cut.counts[group], tokens[mine], signs[mine]
            )

    def check(self) -> None:
        """Raise AssertionError where a count is not that from scratch."""
        tokens, _ = self._tokens_of(self._numbers)
        wanted = np.bincount(tokens, minlength=len(self._everywhere))
        assert np.array_equal(self._everywhere, wanted)
        assert len(self._word_of) == len(self._token_of) <= len(self._everywhere)
        for cut in self._cuts.values():
            for group, (words, counts) in enumerate(zip(cut.words, cut.counts, strict=True)):
                mine, _ = self._tokens_of(cut.numbers[cut.labels == group])
                found, often = np.unique(mine, return_counts=True)
                assert np.array_equal(words, found)
                assert np.array_equal(counts, often)


def _found(there: IntArray, wanted: IntArray) -> IntArray:
    """Where some numbers are among others, both ascending; -1: nowhere."""
    if not len(there):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
    return np.where(there[at] == wanted, at, -1)


def _seeds(before: IntArray, now: IntArray, n_before: int, n_now: int) -> IntArray:
    """For each cluster the one of before that it goes on from; -1: none. Each goes on once."""
    seed = np.full(n_now, -1)
    both = (before >= 0) & (now >= 0)
    pairs, wide = before[both] * n_now + now[both], n_before * n_now
    if wide <= _TABLE:
        shared = np.bincount(pairs, minlength=wide)
        told = np.flatnonzero(shared)
        shared = shared[told]
    else:
        told, shared = np.unique(pairs, return_counts=True)
    taken = np.zeros(n_before, bool)
    for pair in told[np.argsort(-shared, kind="stable")].tolist():
        old, new = divmod(pair, n_now)
        if seed[new] < 0 and not taken[old]:
            seed[new], taken[old] = old, True
    return seed


def _summed(
    words: Tokens, counts: IntArray, tokens: Tokens, signs: IntArray
) -> tuple[Tokens, IntArray]:
    """Counts of words with others, of which some are taken away."""
    more, place = np.unique(tokens, return_inverse=True)
    change = np.bincount(place, signs, minlength=len(more)).astype(np.int64)
    at = _found(words.astype(np.int64), more.astype(np.int64))
    known = at >= 0
    counts = counts.copy()
    counts[at[known]] += change[known]
    into = np.searchsorted(words, more[~known])
    words, counts = np.insert(words, into, more[~known]), np.insert(counts, into, change[~known])
    said = counts != 0
    return (words, counts) if said.all() else (words[said], counts[said])


def _best(scores: Any, k: int) -> Any:
    """Places of the k best scores, and of all that are as good as the last of these."""
    if len(scores) <= k:
        return slice(None)
    last = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.flatnonzero(scores >= last - _CLOSE * (1 + abs(last)))
