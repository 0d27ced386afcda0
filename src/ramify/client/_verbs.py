# SPDX-License-Identifier: BSD-3-Clause
"""_verbs.py: the table of calls: what a tree of a server can be asked, and told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from ramify.client import _answers as answers
from ramify.client._answers import integers
from ramify.client._calls import (
    Call,
    Dialogue,
    Listed,
    adding,
    pages,
    plain_points,
    rows_of,
)
from ramify.client._pushing import pushing
from ramify.client._table import Along, AnyCut, address, entry, fact, verb
from ramify.estimators.seam import Levels
from ramify.hierarchy import FloatArray, Hierarchy, IntArray, StopWords
from ramify.hierarchy.seam import LEAST, MOST, STICKINESS, Like
from ramify.ids import Id
from ramify.tree import Keeps, Receipt, TreeReads, lowest_common

_WAY = "GET /points/{point}/path"


def _rows(X: npt.ArrayLike) -> Any:
    return {"vectors": rows_of(X).tolist()}


def _points(points: Any) -> Any:
    return {"points": plain_points(points)}


def _labels(told: Any) -> IntArray:
    return integers(told["labels"])


class TreeVerbs:
    """What a tree of a server can be asked, and told: the verbs of any tree, and some more."""

    _say: Callable[[Dialogue[Any]], Any]
    name: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    # --- as of every tree ---------------------------------------------------------------------

    version = fact("version", "GET /", lambda told: int(told["version"]))
    n_points_ = fact("n_points_", "GET /", lambda told: int(told["points"]))
    point_numbers_ = fact("point_numbers_", "GET /points", lambda told: integers(told["numbers"]))
    ids_ = fact("ids_", "GET /points", answers.ids_of)
    labels_ = fact("labels_", "GET /labels", _labels)
    number_of = entry(TreeReads.number_of, "GET /points/{id}", lambda told: int(told["number"]))
    stable_labels = entry(TreeReads.stable_labels, "POST /stable_labels", _labels)
    cluster_of = entry(TreeReads.cluster_of, "POST /cluster_of", answers.located_of, points=_points)
    path = entry(TreeReads.path, _WAY, lambda told: integers(told["nodes"]))
    path_code = entry(TreeReads.path_code, _WAY, lambda told: str(told["code"]))
    compact = entry(Keeps.compact, "POST /compact", lambda told: int(told["bytes"]))
    statistics = entry(Keeps.statistics, "GET /", lambda told: dict(told["journal"]))

    @verb
    def cut(
        self, *, like: Like | None = None, stickiness: float = STICKINESS, **cut: Unpack[AnyCut]
    ) -> Dialogue[IntArray]:
        if like is None:
            return _labels((yield address(self, "GET /labels", **cut)))
        body = {**answers.plain_labels(like), "stickiness": stickiness}
        return answers.sticky_of((yield address(self, "POST /labels", body, **cut)))

    @verb
    def predict(self, X: npt.ArrayLike, *, stable: bool = False) -> Dialogue[IntArray]:
        told = yield address(self, "POST /assign", _rows(X))
        return answers.stable_of(told) if stable else _labels(told)

    @verb
    def lca(self, i: Id, j: Id) -> Dialogue[int]:
        one, other = (yield address(self, _WAY, point=i)), (yield address(self, _WAY, point=j))
        return lowest_common(one["nodes"], other["nodes"])

    @verb
    def nearest(
        self, X: npt.ArrayLike, *, k: int | None = None
    ) -> Dialogue[tuple[IntArray, FloatArray]]:
        told = yield address(self, "POST /nearest", _rows(X), k=k)
        found = integers(told["points"]), np.array(told["distances"])
        return found if k is not None else (found[0][:, 0], found[1][:, 0])

    @verb
    def payloads(self, points: Sequence[Id] | npt.NDArray[Any]) -> Dialogue[dict[Any, Any]]:
        asked = plain_points(points)
        told = yield address(self, "POST /payloads", _points(asked))
        pairs = zip(asked, (one["payload"] for one in told["points"]), strict=True)
        return {one: payload for one, payload in pairs if payload is not None}

    @verb
    def levels(
        self, *n_clusters: int, min_size: int | None = None
    ) -> Dialogue[list[list[answers.RemoteCluster]]]:
        wanted = list(n_clusters)
        told = yield address(self, "GET /levels", n_clusters=wanted, min_size=min_size)
        return [list(map(answers.cluster_of, level)) for level in told["levels"]]

    @verb
    def layers(self, *, most: int = MOST, min_size: int = LEAST) -> Dialogue[answers.RemoteLayers]:
        told = yield address(self, "GET /layers", most=most, min_size=min_size)
        return answers.layers_of(told)

    @verb
    def keywords(
        self,
        k: int = 5,
        *,
        bigrams: bool = False,
        stop_words: StopWords = (),
        **cut: Unpack[AnyCut],
    ) -> Dialogue[list[list[str]]]:
        left_out = [stop_words] if isinstance(stop_words, str) else list(stop_words)
        asked = {"words": k, "bigrams": bigrams, "stop_words": left_out}
        return list((yield address(self, "GET /keywords", **asked, **cut))["keywords"])

    @verb
    def hierarchy(self) -> Dialogue[Hierarchy]:
        return answers.hierarchy_of((yield self._file("ramify")))

    # --- with more than others have -----------------------------------------------------------

    @verb
    def assign(
        self,
        X: npt.ArrayLike,
        *,
        confidence: Levels = False,
        new: float | None = None,
        frame: bool = False,
        **cut: Unpack[AnyCut],
    ) -> Dialogue[answers.RemoteAssignment]:
        """Where rows belong, without inserting them; ``frame`` makes it a frame of pandas."""
        sure = answers.plain_sure(confidence, new)
        told = yield address(self, "POST /assign", _rows(X), **sure, **cut)
        found = answers.assignment_of(told)
        return answers.frame_of_assignment(found) if frame else found

    @verb
    def clusters(
        self,
        *,
        representatives: int = 3,
        limit: int | None = None,
        frame: bool = False,
        **cut: Unpack[AnyCut],
    ) -> Dialogue[Listed[answers.RemoteCluster]]:
        """The clusters of a cut, by their labels, with points that show what they are.

        Parameters
        ----------
        n_clusters, height, max_size, min_size, by, resolution : optional
            The cut; none for the tree's own.
        representatives : int
            Points of each cluster, at most.
        limit : int, optional
            So many of the largest, the largest first; by default all, and all of one version.
        frame : bool
            A frame of pandas instead of a list.

        Returns
        -------
        Listed
            ``about`` has the ``total``, and the ``version`` of the tree.
        """
        call = address(self, "GET /clusters", representatives=representatives, **cut)
        found = yield from pages(call, "clusters", limit, answers.cluster_of)
        if limit is None:
            found.sort(key=lambda one: one.label)
        return answers.frame_of(list(map(asdict, found))) if frame else found

    @verb
    def search(self, text: str, *, limit: int | None = 20) -> Dialogue[Listed[answers.RemoteHit]]:
        """Points by words of their payloads, the best first, with the path to each.

        At most ``limit`` of them, or all if that is None; ``about["total"]`` of the answer says how
        many there are.
        """
        call = address(self, "GET /search", q=text)
        return (yield from pages(call, "hits", limit, lambda told: answers.RemoteHit(**told)))

    # --- summaries that another program keeps beside it ----------------------------------------

    @verb
    def summaries(
        self, level: float | None = None, *, stale: bool = False, limit: int | None = None
    ) -> Dialogue[Listed[answers.RemoteSummary]]:
        """The summaries of a level, or of all, in order of their first points.

        With ``stale`` only those that are to be made anew. ``about["levels"]`` says how many each
        level has, and how many of these are stale.
        """
        call = address(self, "GET /summaries", level=level, stale=stale)
        return (yield from pages(call, "summaries", limit, answers.summary_of))

    @verb
    def summary(self, node: int) -> Dialogue[answers.RemoteSummary]:
        """The summary of a node, with what it is made of."""
        return answers.summary_of((yield address(self, "GET /summaries/{node}", node=node)))

    @verb
    def retrieve(
        self, vector: npt.ArrayLike, k: int = 10, *, mode: str = "collapsed"
    ) -> Dialogue[list[answers.RemoteRetrieved]]:
        """The summaries and points nearest to a vector, as ``SummaryTree.retrieve`` has them."""
        asked = {"vector": np.asarray(vector, np.float64).tolist(), "k": k, "mode": mode}
        return answers.retrieved_of((yield address(self, "POST /retrieve", asked)))

    # --- which only a server has --------------------------------------------------------------

    @verb
    def info(self) -> Dialogue[dict[str, Any]]:
        """Figures: points, version, options, the journal's."""
        return dict((yield address(self, "GET /")))

    @verb
    def point(self, point: Id) -> Dialogue[dict[str, Any]]:
        """A point: number, id, payload."""
        return dict((yield address(self, "GET /points/{id}", id=point)))

    @verb
    def node(self, node: int, *, members: int = 20) -> Dialogue[dict[str, Any]]:
        """A node: size, height, children, and some of the points below it."""
        return dict((yield address(self, "GET /nodes/{node}", node=node, members=members)))

    @verb
    def members(self, node: int, *, limit: int | None = None) -> Dialogue[Listed[dict[str, Any]]]:
        """All points below a node, or so many, from left to right: number, id, payload.

        ``about["total"]`` of the answer says how many there are.
        """
        call = address(self, "GET /nodes/{node}/members", node=node)
        return (yield from pages(call, "members", limit))

    @verb
    def export(self, format: str = "json") -> Dialogue[Any]:
        """The whole tree: JSON as a dict, other formats as bytes."""
        return (yield self._file(format))

    def _file(self, format: str) -> Call:
        call = address(self, "GET /export", format=format)
        call.as_bytes = format != "json"
        return call

    # --- what changes it ----------------------------------------------------------------------

    def _adding(self, X: npt.ArrayLike | None, **along: Unpack[Along]) -> Call:
        return adding(address(self, "POST /points"), X, dict(along))

    @verb
    def add(self, X: npt.ArrayLike | None = None, **along: Unpack[Along]) -> Dialogue[Receipt]:
        return answers.receipt_of((yield self._adding(X, **along)))

    @verb
    def push(self, X: npt.ArrayLike, **along: Unpack[Along]) -> Dialogue[Receipt]:
        """As :meth:`add`, of very many rows: in large bodies, of which each piece is a commit.

        After an error what came before it is in the tree. With ids, or with the ``key`` of the
        first try, all of it can be pushed again: what is there is left out.
        """
        return (yield from pushing(self, X, dict(along)))

    @verb
    def partial_fit(self, X: npt.ArrayLike | None = None, **along: Unpack[Along]) -> Dialogue[Any]:
        yield self._adding(X, **along)
        return self

    @verb
    def insert(
        self,
        x: npt.ArrayLike,
        *,
        id: Id | None = None,
        sample_weight: float | None = None,
        payload: Any = None,
    ) -> Dialogue[int]:
        given = {"ids": id, "sample_weight": sample_weight, "payloads": payload}
        along: Any = {name: [one] for name, one in given.items() if one is not None}
        told = yield self._adding(np.asarray(x)[np.newaxis], **along)
        return answers.receipt_of(told).numbers[0]

    @verb
    def forget(self, points: Id | Sequence[Id], *, key: str | None = None) -> Dialogue[int]:
        if not (named := plain_points(points)):
            return 0
        told = yield address(self, "POST /forget", {"points": named}).once(key)
        return int(told["forgotten"])
