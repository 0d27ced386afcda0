"""Modularity in plain slow Python: of every cut of a small tree, by its very definition.

Numbers are exact: edges and resolutions are whole numbers or fractions.
"""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.sticky import cuts, points_below


def modularity(clusters, edges, resolution) -> Fraction:
    """Newman's, of sets of points on a graph of (point, point, weight)."""
    total = sum((Fraction(w) for _, _, w in edges), Fraction(0))
    if total == 0:
        return Fraction(0)
    degree: dict[int, Fraction] = {}
    for a, b, w in edges:
        for end in (a, b):
            degree[end] = degree.get(end, Fraction(0)) + Fraction(w)
    found = Fraction(0)
    for points in clusters:
        inside = sum((Fraction(w) for a, b, w in edges if a in points and b in points), Fraction(0))
        ends = sum((degree.get(p, Fraction(0)) for p in points), Fraction(0))
        found += inside / total - Fraction(resolution) * (ends / (2 * total)) ** 2
    return found


def of_all_cuts(children, edges, resolution) -> dict[frozenset[int], Fraction]:
    """The modularity of each cut, which is a set of nodes."""
    points = points_below(children)
    return {cut: modularity([points[v] for v in cut], edges, resolution) for cut in cuts(children)}
