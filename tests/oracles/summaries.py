# SPDX-License-Identifier: BSD-3-Clause
"""Summaries, straight from the definition: sets of points, compared from scratch."""


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
