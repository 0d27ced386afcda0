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

    def __getattr__(self, name: str) -> Any:
        """Whatever is asked of the tree: it is made anew first, if rows have come."""
        if name.startswith("_"):  # not there yet, as while being unpickled
            raise AttributeError(name)
        self._regroup()
        return getattr(self._store, name)

    # The tree is new each time, so ids of its nodes are plain numbers: a snapshot's.

    def versioned_snapshot(self, with_points: bool = False) -> tuple[Any, ...]:
        """As the core's, with ids of nodes that are plain numbers."""
        self._regroup()
        *facts, (children, heights, ids) = self._store.versioned_snapshot(with_points)
        return *facts, (children, heights, self._numbers(ids))

    def snapshot(self) -> tuple[Any, Any, Any]:
        """Children, heights and ids."""
        found: tuple[Any, Any, Any] = self.versioned_snapshot()[-1]
        return found

    def assign(self, *query: Any) -> tuple[Any, ...]:
        """As the core's."""
        self._regroup()
        labels, nodes, *rest = self._store.assign(*query)
        return labels, self._numbers(nodes), *rest

    def cluster_of(self, *query: Any) -> tuple[Any, ...]:
        """As the core's."""
        self._regroup()
        labels, nodes, codes = self._store.cluster_of(*query)
        return labels, self._numbers(nodes), codes

    def clusters(self, by: str, value: float) -> tuple[Any, ...]:
        """As the core's."""
        self._regroup()
        nodes, *rest = self._store.clusters(by, value)
        return self._numbers(nodes), *rest

    def path(self, number: int) -> tuple[Any, str]:
        """As the core's."""
        self._regroup()
        nodes, code = self._store.path(number)
        return self._numbers(nodes), code

    def lca(self, one: int, other: int) -> int:
        """As the core's."""
        self._regroup()
        return int(self._numbers(np.array([self._store.lca(one, other)]))[0])

    def _numbers(self, nodes: IntArray) -> IntArray:
        """A snapshot's numbers of inner nodes in place of the core's ids. O(n log n)."""
        names = self._store.snapshot()[2]
        if len(names) == 0:
            return nodes
        order = np.argsort(names)
        place = np.searchsorted(names, nodes, sorter=order).clip(max=len(names) - 1)
        return np.where(nodes < 0, nodes, len(self) + order[place])

    def nearest(self, rows: Rows, k: int, threads: int = 1) -> tuple[Any, Any]:
        """Ids and distances of the k nearest rows, whatever the tree."""
        found: tuple[Any, Any] = self._store.nearest(rows, k, threads)
        return found

    def points(self) -> Any:
        """The rows as stored (unit length under cosine)."""
        return self._store.points()

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
