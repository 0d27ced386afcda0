# SPDX-License-Identifier: BSD-3-Clause
"""_cf_tree.py: scikit-learn's CF tree behind the interface of the core's trees.

scikit-learn's ``Birch`` keeps subclusters and forgets points. So the rows go to
two places: into its CF tree, in order of arrival, and into a core tree, which
keeps them. When someone looks, every row walks down the CF tree to the closest
centroid at each node, as it did when it came; the CF nodes and subclusters are
then groups within groups of points, and the core makes those binary.

The CF tree depends on the rows and their order only, so it need not be kept: it
is fed late (single inserts cost nothing until someone looks), thrown away when an
interrupt catches it half way, and not stored in pickles.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import Birch

from ramify.hierarchy import IntArray
from ramify.points import Rows
from ramify.progress import Pulse

_GroupIds = npt.NDArray[np.uint32]

#: Feed the CF tree at least this many rows at a time: each time costs it O(n).
_FEED = 1000
#: Larger subclusters are halved first, so that no step is quadratic in the points.
_CROWD = 1000


class CFTree:
    """Rows, the CF tree of the first ``_fed`` of them, and a binary tree of all.

    Invariant: the binary tree is that of the CF tree if ``_grouped`` is the number
    of rows; otherwise it is made anew before anyone sees it.
    """

    def __init__(
        self, store: Any, threshold: float, branching_factor: int, grouped: int = 0
    ) -> None:
        self._store = store
        self._threshold = threshold
        self._branching_factor = branching_factor
        self._birch: Any = None
        self._fed = 0
        self._grouped = grouped

    def __len__(self) -> int:
        return len(self._store)

    def insert_one(self, row: Rows) -> int:
        """Keep a row; the CF tree sees it when someone looks."""
        point: int = self._store.insert_one(row)
        return point

    def insert_many(self, rows: Rows, pulse: Pulse | None = None, threads: int = 1) -> int:
        """Keep rows, and feed the CF tree when enough of them have come together."""
        done = 0
        while done < len(rows):
            step = max(_FEED, len(self) // 16)
            done += self._store.insert_many(rows[done : done + step])
            if len(self) - self._fed >= step:
                self._feed()
            if pulse is not None:
                pulse(done)
        return done

    def nearest(self, rows: Rows, k: int) -> tuple[Any, Any]:
        """Numbers and distances of the k nearest points."""
        points, distances = self._store.nearest(rows, k)
        return points, distances

    def snapshot(self) -> tuple[Any, Any, IntArray]:
        """Children, heights and ids. The tree is new each time, so ids are plain numbers."""
        self._regroup()
        children, heights, _ = self._store.snapshot()
        n = len(self)
        return children, heights, np.arange(n, 2 * n - 1)

    def points(self) -> Any:
        """The rows as stored (unit length under cosine)."""
        return self._store.points()

    def summaries(self) -> Any:
        """Size, mean and sum of squared deviations of every node."""
        self._regroup()
        return self._store.summaries()

    def check(self) -> None:
        """Raise RuntimeError when the tree breaks an invariant or the CF tree lost a row."""
        self._regroup()
        self._store.check()
        if self._birch is not None:
            held = sum(part.n_samples_ for part in self._birch.root_.subclusters_)
            if held != self._fed:
                raise RuntimeError(f"the CF tree holds {held} rows of {self._fed}")

    def state(self) -> dict[str, Any]:
        """Everything needed to continue, as plain arrays."""
        return {**self._store.state(), "grouped": np.array([self._grouped])}

    def _feed(self) -> None:
        rows = self._store.points()
        n = len(rows)
        room = self._room(n)
        if self._birch is not None and self._birch.branching_factor != room:
            self._birch, self._fed = None, 0  # outgrown: begin again
        if self._birch is None:
            self._birch = Birch(
                threshold=self._threshold,
                branching_factor=room,
                n_clusters=None,
                compute_labels=False,
            )
        try:
            if self._fed < n:
                # Rows are finite; some BLAS compute with what lies behind them, and say so.
                with np.errstate(invalid="ignore"):
                    self._birch.partial_fit(rows[self._fed :])
            self._fed = n  # no call after the last one: Ctrl-C comes with it or not at all
        except BaseException:
            self._birch, self._fed = None, 0  # it may be caught half way: begin again
            raise

    def _room(self, n: int) -> int:
        """The branching factor, or as much of it as n rows could fill.

        scikit-learn sets all of it aside for each node at once. A node that is larger
        than there are rows never splits, so the tree is the same.
        """
        return min(self._branching_factor, max(1 << n.bit_length(), 2))

    def _regroup(self) -> None:
        if self._grouped == len(self):
            return
        self._feed()
        self._store.regroup(*_groups(self._birch.root_, self._store.points()))
        self._grouped = len(self)


def _groups(root: Any, rows: Rows) -> tuple[_GroupIds, _GroupIds]:
    """The group of each row and the group above each group, the last one outermost."""
    group_of = np.empty(len(rows), dtype=np.int64)
    above = [0]  # numbered downwards from the root here; turned over at the end
    todo = [(root, np.arange(len(rows)), 0)]
    while todo:
        node, members, group = todo.pop()
        for part, inside in _by_closest(rows, members, node.centroids_):
            if len(inside) == 1:
                group_of[inside] = group
                continue
            above.append(group)
            child = node.subclusters_[part].child_
            if child is not None:
                todo.append((child, inside, len(above) - 1))
            else:
                _halve(rows, inside, group_of, above)
    last = len(above) - 1
    return (last - group_of).astype(np.uint32), (last - np.array(above[::-1])).astype(np.uint32)


def _by_closest(rows: Rows, members: IntArray, centroids: Rows) -> list[tuple[int, IntArray]]:
    """The members of each centroid that has any, in order of arrival."""
    origin = centroids[0]  # far from zero, differences of squares would lose their digits
    shifted = centroids - origin
    distances = (shifted * shifted).sum(axis=1) - 2 * ((rows[members] - origin) @ shifted.T)
    closest = distances.argmin(axis=1)
    order = np.argsort(closest, kind="stable")
    parts, starts = np.unique(closest[order], return_index=True)
    return list(zip(parts.tolist(), np.split(members[order], starts[1:]), strict=True))


def _halve(rows: Rows, members: IntArray, group_of: IntArray, above: list[int]) -> None:
    """Make the members the newest group; a crowd becomes halves of halves of its widest side."""
    todo = [(members, len(above) - 1)]
    while todo:
        inside, group = todo.pop()
        if len(inside) <= _CROWD:
            group_of[inside] = group
            continue
        crowd = rows[inside]
        widest = int((crowd.max(axis=0) - crowd.min(axis=0)).argmax())
        order = np.argsort(crowd[:, widest], kind="stable")
        for half in np.split(inside[order], [len(inside) // 2]):
            above.append(group)
            todo.append((np.sort(half), len(above) - 1))
