# SPDX-License-Identifier: BSD-3-Clause
"""_lazy.py: which old summary is still good enough for a node, when some of it has changed.

An old summary is as far from a node as leaves came or went, as a share of those that were in it.
What was in it when it was *made* counts, so that small changes add up; and what was in its parts,
which may have been old as well. So no text is further from its node than the share that is allowed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from ramify.summaries._store import Members

#: Old summaries that share the most with a node, and are looked at closely.
_CLOSELY = 4


def change(was: Members, now: Members) -> float:
    """How much of a summary has changed since it was made, as a share of what was in it.

    Examples
    --------
    >>> was, now = (np.array(one, np.uint64) for one in ([1, 2, 3, 4], [2, 3, 4, 5]))
    >>> change(was, now)
    0.5
    """
    return len(np.setxor1d(was, now)) / len(was)


class Donors:
    """Old summaries, found by who was in them.

    Examples
    --------
    >>> old = {7: np.array([1, 2, 3], np.uint64), 8: np.array([4, 5], np.uint64)}
    >>> Donors(old, old.get).nearest(np.array([1, 2, 4], np.uint64), most=0.7)
    7
    """

    def __init__(self, contents: Iterable[int], members: Callable[[int], Members]) -> None:
        self._members = {content: members(content) for content in dict.fromkeys(contents)}
        self._of: defaultdict[int, list[int]] = defaultdict(list)
        for content, found in self._members.items():
            for one in found.tolist():
                self._of[one].append(content)

    def nearest(self, now: Members, most: float) -> int | None:
        """The summary that has changed least into this, if by no more than a share."""
        shared = Counter(content for one in now.tolist() for content in self._of.get(one, ()))
        tried = [content for content, _ in shared.most_common(_CLOSELY)]
        found = min(tried, key=lambda one: change(self._members[one], now), default=None)
        if found is None or change(self._members[found], now) > most:
            return None
        return found
