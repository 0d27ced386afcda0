# SPDX-License-Identifier: BSD-3-Clause
"""_reads.py: the questions of ramify.tree.TreeReads, asked of a server, once for both clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.client import _calls
from ramify.client._answers import hierarchy_of, integers, listed_ids
from ramify.client._calls import Call, Dialogue
from ramify.ids import Id, as_array
from ramify.tree import lowest_common


class TreeQuestions:
    """What any tree can be asked, as :class:`ramify.OHAC` answers it."""

    name: str
    _say: Callable[[Dialogue], Any]

    def _get(self, more: str, **params: Any) -> Call:
        return Call("GET", f"/trees/{self.name}{more}", params=params)

    def _post(self, more: str, body: Any, **params: Any) -> Call:
        headers = {"content-type": "application/json"}
        path = f"/trees/{self.name}{more}"
        return Call("POST", path, json.dumps(body).encode(), headers, _calls.given(params))

    def _told(self, call: Call, read: Callable[[Any], Any]) -> Any:
        return self._say(_calls.one(call, read=read))

    @property
    def version(self) -> Any:
        """Number of changes so far; one that can be asked about later."""
        return self._told(self._get(""), lambda told: told["version"])

    @property
    def n_points_(self) -> Any:
        """Number of points."""
        return self._told(self._get(""), lambda told: told["points"])

    @property
    def point_numbers_(self) -> Any:
        """Arrival numbers of the points that are there, in order."""
        return self._told(self._get("/points"), lambda told: integers(told["numbers"]))

    @property
    def ids_(self) -> Any:
        """Ids of the points, in that order; AttributeError if they have none."""

        def read(told: Any) -> Any:
            if told["ids"] is None:
                raise AttributeError("the points of this tree have no ids")
            return as_array(told["ids"])

        return self._told(self._get("/points"), read)

    @property
    def labels_(self) -> Any:
        """Cluster of every point in the tree's own cut, in that order."""
        return self.cut()

    def cut(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Any:
        """Cluster of every point in a cut, in the order of ``point_numbers_``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.cut(height=0.1), tree.labels_, tree.ids_)
        [0 1 2] [0 0 1] ['a' 'b' 'c']
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        call = self._get("/labels", **_calls.given(cut))
        return self._told(call, lambda told: integers(told["labels"]))

    def stable_labels(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Any:
        """Ids of the clusters of all points that stay while the tree goes on.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.stable_labels(n_clusters=2))
        [0 0 1]
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        call = self._post("/stable_labels", None, **cut)
        return self._told(call, lambda told: integers(told["labels"]))

    def dirty(
        self,
        since: int,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Any:
        """Labels and node ids of the clusters that were no cluster of the cut at a version.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     before = tree.version
        ...     print(tree.partial_fit([[9.5]], ids=["d"]).dirty(before, n_clusters=2)[0])
        [1]
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        call = self._get("/dirty", since=since, **_calls.given(cut))
        return self._told(call, _labels_and_nodes)

    def cluster_of(
        self,
        points: Any,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
    ) -> Any:
        """Label and node id of the clusters of some points.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.cluster_of(["b", "c"], n_clusters=2))
        (array([0, 1]), array([ 0, -3]))
        """
        cut = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        call = self._post("/cluster_of", {"points": listed_ids(points)}, **cut)
        return self._told(call, _labels_and_nodes)

    def nearest(self, X: npt.ArrayLike, *, k: int | None = None) -> Any:
        """Numbers and distances of the stored points nearest to each row.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.nearest([[8.0]]), tree.nearest([[8.0]], k=2)[0])
        (array([2]), array([1.])) [[2 1]]
        """
        rows = _calls.rows_of(X)

        def read(told: Any) -> Any:
            points, distances = integers(told["points"]), np.array(told["distances"])
            return (points, distances) if k is not None else (points[:, 0], distances[:, 0])

        return self._told(self._post("/nearest", {"vectors": rows.tolist()}, k=k), read)

    def predict(self, X: npt.ArrayLike) -> Any:
        """Label, in the tree's own cut, of the stored point nearest to each row.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.predict([[8.0]]))
        [1]
        """
        call = _calls.assigning(self.name, X, {})
        return self._told(call, lambda told: integers(told["labels"]))

    def number_of(self, id: Id) -> Any:
        """The arrival number of the point with this id; KeyError if there is none.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.number_of("c"))
        2
        """
        call = Call("GET", _calls.point_path(self.name, id))
        return self._told(call, lambda told: told["number"])

    def _path(self, point: Id, read: Callable[[Any], Any]) -> Any:
        return self._told(self._path_call(point), read)

    def _path_call(self, point: Id) -> Call:
        call = Call("GET", _calls.point_path(self.name, point, "/path"))
        if not isinstance(point, str):
            call.params["by"] = "number"
        return call

    def path(self, point: Id) -> Any:
        """Node ids from the root to a point.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.path("c"))
        [ 1 -3]
        """
        return self._path(point, lambda told: integers(told["nodes"]))

    def path_code(self, point: Id) -> Any:
        """The path to a point as turns: 0 to the child with the earlier first point.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.path_code("b"))
        01
        """
        return self._path(point, lambda told: told["code"])

    def depth(self, point: Id) -> Any:
        """Number of merges above a point.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.depth("b"))
        2
        """
        return self._path(point, lambda told: len(told["code"]))

    def lca(self, i: Id, j: Id) -> Any:
        """Node id of the lowest common ancestor of two points.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.lca("a", "c"))
        1
        """
        return self._say(self._lca(i, j))

    def _lca(self, i: Id, j: Id) -> Dialogue:
        paths = []
        for point in (i, j):
            told = yield self._path_call(point)
            paths.append(told["nodes"])
        return lowest_common(*paths)

    def statistics(self) -> Any:
        """Figures about the journal: operations, rows, commits, bytes, ...

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     print(client.create("a").partial_fit([[0.0], [1.0]]).statistics()["rows"])
        2
        """
        return self._told(self._get(""), lambda told: told["journal"])

    def payloads(self, points: Sequence[Id] | npt.NDArray[Any]) -> Any:
        """The payloads of points that have one, by what they were asked by.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     _ = tree.add([[3.0]], ids=["d"], payloads=["a text"])
        ...     print(tree.payloads(["d", "a"]), tree.payloads([3]))
        {'d': 'a text'} {3: 'a text'}
        """
        asked = listed_ids(points)

        def read(told: Any) -> Any:
            pairs = zip(asked, (one["payload"] for one in told["points"]), strict=True)
            return {one: payload for one, payload in pairs if payload is not None}

        return self._told(self._post("/payloads", {"points": asked}), read)

    def hierarchy(self) -> Any:
        """The whole tree, frozen, in this process.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("a", n_clusters=2, history=9)
        ...     tree = tree.partial_fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        ...     print(tree.hierarchy())
        <Hierarchy: 3 points, root height 72.5, split 2 | 1>
        """
        call = self._get("/export", format="ramify")
        call.as_bytes = True
        return self._told(call, hierarchy_of)


def _labels_and_nodes(told: Any) -> Any:
    return integers(told["labels"]), integers(told["nodes"])
