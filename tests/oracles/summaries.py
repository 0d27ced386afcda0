# SPDX-License-Identifier: BSD-3-Clause
"""Summaries, straight from the definition: sets of points, compared from scratch."""

import numpy as np


def wanted(model, levels, texts):
    """What there are summaries of: bags of texts, by the levels that have them.

    Of each level's clusters those with more than one leaf.
    """
    found = set()
    for level in levels:
        for cluster in model.clusters(max_size=level):
            if len(cluster.places) > 1:
                found.add(bag(cluster.members.tolist(), texts))
    return found


def bag(points, texts):
    """Texts, as often as they are there, in no order."""
    return tuple(sorted(texts[point] for point in points))


class AskedFor:
    """All that was ever asked for; what is new at each look is stale."""

    def __init__(self):
        self.ever = set()

    def stale(self, model, levels, texts):
        new = wanted(model, levels, texts) - self.ever
        self.ever |= new
        return new


def nearest_of_all(distance, points, summaries, k):
    """The k nearest of points and summaries: (distance, name) of each."""
    known = {**points, **summaries}
    return sorted((distance(vector), name) for name, vector in known.items())[:k]


def down_the_tree(distance, tops, parts, points, summaries, k):
    """Names of what a walk from the largest summaries down finds: k of each layer, k points."""
    layer, found, seen = list(tops), [], []

    def near(node):
        return min(distance(summaries[one]) for one in (node, *parts(node)) if one in summaries)

    while layer:
        seen += [one for one in layer if one in points]
        inner = [one for one in layer if one in summaries]
        nearest = sorted(inner, key=lambda one: (near(one), one))[:k]
        found += nearest
        layer = [part for one in nearest for part in parts(one)]
    return set(found) | set(sorted(seen, key=lambda one: distance(points[one]))[:k])


def texts_of(parts):
    """The texts below, sorted: a summary that says what it is of."""
    return sorted(
        text
        for part in parts
        for text in ([part.text] if isinstance(part.text, str) else part.text)
    )


class Recorder:
    """Summarizes by :func:`texts_of`, and knows what it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, parts, node):
        found = texts_of(parts)
        self.asked.append(tuple(found))
        assert node.size == sum(part.size for part in parts) <= node.level
        return found

    def news(self):
        asked, self.asked = self.asked, []
        return asked


def rows(seed, n=60):
    """Clumps of points, many of them alike."""
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, 2)) + 6 * rng.normal(size=(5, 2))[rng.integers(5, size=n)])
