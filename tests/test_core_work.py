# SPDX-License-Identifier: BSD-3-Clause
"""A ceiling for what an insert, an erasure or another weight costs: O(m²) in the m subtrees opened.

The test extension counts every linkage that is computed, read or copied to merge a forest
(core/forest/tally.hpp). Streams are those on which that was m³ and more, and others that open long
paths or are full of ties. Nothing is timed.
"""

import numpy as np
import pytest

from tests.core_parts import part, parts

RULES = [
    ("sqeuclidean", "average"),
    ("sqeuclidean", "centroid"),
    ("sqeuclidean", "ward"),
    ("dot", "average"),
]


def one_hot(rng, n):
    """Equally far from each other."""
    return np.eye(n)


def shrinking(rng, n, width=20):
    """Ever closer to one point: each insert opens nearly the whole tree."""
    return rng.standard_normal((n, width)) * np.exp(-np.arange(n) / n * 100)[:, np.newaxis]


def shrinking_3_columns(rng, n):
    return shrinking(rng, n, 3)


def doubling(rng, n):
    """Of one column, as far apart as all before."""
    return 1.2 ** np.arange(n)[:, np.newaxis]


def zeros_and_ones(rng, n):
    return rng.integers(0, 2, size=(n, 32)).astype(float)


def lattice(rng, n):
    return rng.integers(-2, 3, size=(n, 5)).astype(float)


def without_structure(rng, n):
    return rng.standard_normal((n, 64))


def equal_rows(rng, n):
    return np.ones((n, 24))


STREAMS = [
    one_hot,
    shrinking,
    shrinking_3_columns,
    doubling,
    zeros_and_ones,
    lattice,
    without_structure,
    equal_rows,
]
#: Linkages over the square of the subtrees that are opened. Found are up to 46, at a dozen: a table
#: for 16 times as many compares what is new with all, and puts its places in order.
MOST = 64


class Counted:
    """A tree, and for each change of it the subtrees it opened and the linkages it took."""

    def __init__(self, rows, rule, **way):
        self.tree = part("Tree", np.float64)(rows.shape[1])
        self.ohac = part("Ohac", np.float64)(rows.shape[1], *rule, **way)
        self.rows, self.product = rows, rule[0] == "dot"
        self.found = []

    def opened(self, leaf):
        """How many subtrees hang off a leaf's root path, the leaf and another one included."""
        count, v = 2, leaf
        while (v := self.tree.parent(v)) is not None:
            count += 1
        return count

    def nearest(self, row):
        before, x = self.rows[:row], self.rows[row]
        return int(np.argmin(-(before @ x) if self.product else ((before - x) ** 2).sum(axis=1)))

    def do(self, leaf, change):
        opened = 1 if leaf is None else self.opened(leaf)
        parts.work()
        change()
        self.found.append((opened, parts.work()))

    def insert(self, row):
        self.tree.make_room(1)
        leaf = self.tree.add_leaf(self.rows[row])
        beside = [self.nearest(row)] if row else []
        at = 2 * beside[0] if beside else None
        self.do(at, lambda: self.ohac.insert(self.tree, leaf, beside))

    def erase(self, row):
        self.tree.make_room_to_erase()
        self.do(2 * row, lambda: self.ohac.erase(self.tree, 2 * row))
        self.tree.erase_row(row)

    def weigh(self, row, weight):
        self.do(2 * row, lambda: self.ohac.weigh(self.tree, 2 * row, weight))

    def most(self):
        """Linkages over the square of the subtrees; the least forests cost what they cost."""
        return max(work / max(opened, 8) ** 2 for opened, work in self.found)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("rule", RULES)
def test_no_change_takes_more_than_the_square_of_what_it_opens(rule, stream):
    rng = np.random.default_rng(0)
    counted = Counted(stream(rng, 500), rule)
    for row in range(500):
        counted.insert(row)
    for row in range(0, 500, 9):
        counted.weigh(row, 2.0)
    for row in range(0, 500, 7):
        counted.erase(row)
    assert max(opened for opened, _ in counted.found) > 8
    assert 0 < counted.most() <= MOST
