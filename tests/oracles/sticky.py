"""Sticky cuts in plain slow Python: every cut of a small tree, and the best of them.

A cut is a set of nodes that hold every leaf once. Numbers are exact.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product


def points_below(children) -> list[frozenset[int]]:
    """Of every node."""
    n = len(children) + 1
    found = [frozenset([leaf]) for leaf in range(n)]
    for a, b in children:
        found.append(found[int(a)] | found[int(b)])
    return found


def cuts(children) -> list[frozenset[int]]:
    """All there are."""
    n = len(children) + 1
    below: list[list[frozenset[int]]] = [[frozenset([leaf])] for leaf in range(n)]
    for row, (a, b) in enumerate(children):
        parts = [x | y for x, y in product(below[int(a)], below[int(b)])]
        below.append([frozenset([n + row]), *parts])
    return below[-1]


def undone(children, cut) -> list[int]:
    """Rows of the merges above a cut."""
    n, points = len(children) + 1, points_below(children)
    return [row for row in range(n - 1) if not any(points[n + row] <= points[v] for v in cut)]


def best(children, gains, prizes, weight, k) -> tuple:
    """(value, prizes, sum of 1 + row over undone merges) of the best cut into k."""
    return max(
        worth(children, gains, prizes, weight, cut) for cut in cuts(children) if len(cut) == k
    )


def worth(children, gains, prizes, weight, cut) -> tuple:
    rows, prize = undone(children, cut), sum(prizes[v] for v in cut)
    return sum(gains[row] for row in rows) + weight * prize, prize, sum(row + 1 for row in rows)


def kept(children, then: dict[int, int], weights) -> list[Fraction]:
    """For each node the weight of the cluster of then that it goes on with, or 0.

    ``then`` has the cluster of each leaf that was in one.
    """

    def weigh(points) -> Fraction:
        return sum((Fraction(weights[p]) for p in points), Fraction(0))

    clusters = {c: {p for p in then if then[p] == c} for c in then.values()}
    found = []
    for below in points_below(children):
        there = weigh(below & set(then))
        shared = [
            weigh(below & members)
            for members in clusters.values()
            if 2 * weigh(below & members) > max(there, weigh(members))
        ]
        assert len(shared) <= 1
        found.append(shared[0] if shared else Fraction(0))
    return found


def loss(children, heights, cut) -> Fraction:
    """Sum of the heights of the merges that a cut keeps."""
    gone = set(undone(children, cut))
    return sum((Fraction(h) for row, h in enumerate(heights) if row not in gone), Fraction(0))
