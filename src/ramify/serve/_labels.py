# SPDX-License-Identifier: BSD-3-Clause
"""_labels.py: the addresses about all points, or some: ids, labels, neighbours, payloads."""

# No postponed annotations here: FastAPI reads them.
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from pydantic import Field
from sklearn.exceptions import NotFittedError
from starlette.concurrency import run_in_threadpool

from ramify.hierarchy.seam import LEAST, MOST
from ramify.serve import _answers, _writing
from ramify.serve._bodies import read_json
from ramify.serve._served import Served
from ramify.serve._settings import Settings
from ramify.serve._shapes import BIGGEST, VECTORS, AnyCut, Cut, Earlier, MinSize, Since, SomePoints

Level = Annotated[int, Field(ge=1, le=10_000)]


def add(api: APIRouter, find: Callable[[str], Served], settings: Settings) -> None:
    """Add these addresses."""

    def begun(name: str) -> Any:
        served = find(name)
        if len(served.tree) == 0:
            raise NotFittedError(f"the tree {served.name!r} has no points yet")
        return served.tree

    @api.get("/trees/{name}/points", summary="Numbers and ids of all points")
    def points(name: str) -> dict[str, Any]:
        tree = begun(name)

        def look() -> tuple[int, Any, Any]:
            return tree.version, tree.point_numbers_, getattr(tree, "ids_", None)

        version, numbers, ids = tree.between(look)
        told = None if ids is None else ids.tolist()
        return {"version": version, "numbers": numbers.tolist(), "ids": told}

    @api.get("/trees/{name}/labels", summary="The cluster of every point")
    def labels(name: str, cut: AnyCut) -> dict[str, Any]:
        tree = begun(name)

        def look() -> tuple[int, Any, Any]:
            return tree.version, tree.point_numbers_, tree.cut(**cut)

        version, numbers, found = tree.between(look)
        return {"version": version, "numbers": numbers.tolist(), "labels": found.tolist()}

    @api.post("/trees/{name}/labels", summary="The same of a cut that holds on to an earlier one")
    def labels_like(name: str, earlier: Earlier, cut: AnyCut) -> dict[str, Any]:
        tree = begun(name)

        def look() -> tuple[int, Any]:
            return tree.version, tree.cut(**cut, like=earlier.like(), stickiness=earlier.stickiness)

        version, found = tree.between(look)
        told = {one: getattr(found, one) for one in ("price", "moved", "moved_plainly")}
        numbers = found.point_numbers.tolist()
        return {"version": version, "numbers": numbers, "labels": found.tolist(), **told}

    @api.post("/trees/{name}/stable_labels", summary="The cluster of every point, by ids that stay")
    def stable_labels(
        name: str,
        cut: Cut,
        stickiness: Annotated[float, Query(ge=0, allow_inf_nan=False)] = 0.0,
        brief: Annotated[bool, Query(description="Give ids, and tell no labels")] = False,
    ) -> dict[str, Any]:
        """Which ids were given is written down, so a token that may only read may not ask."""
        found = begun(name).stable_labels(**cut, stickiness=stickiness)
        return {"clusters": len(np.unique(found))} if brief else {"labels": found.tolist()}

    @api.get("/trees/{name}/levels", summary="Several cuts, and which cluster sits in which")
    def levels(
        name: str,
        n_clusters: Annotated[list[Level], Query(max_length=20, description="Ascending")],
        min_size: MinSize = None,
    ) -> dict[str, Any]:
        tree = begun(name)
        return _answers.levels(tree, lambda: tree.levels(*n_clusters, min_size=min_size))

    @api.get("/trees/{name}/layers", summary="The few levels at which clusters last")
    def layers(
        name: str,
        most: Annotated[int, Query(ge=1, le=20, description="At most so many")] = MOST,
        min_size: Annotated[int, Query(ge=1, le=BIGGEST, description="Of clusters")] = LEAST,
    ) -> dict[str, Any]:
        tree = begun(name)
        return _answers.levels(tree, lambda: tree.layers(most=most, min_size=min_size))

    @api.get("/trees/{name}/keywords", summary="Words that tell the clusters of a cut apart")
    def keywords(
        name: str,
        cut: AnyCut,
        words: Annotated[int, Query(ge=1, le=100, description="Of each cluster")] = 5,
        bigrams: Annotated[bool, Query(description="Pairs of words, too")] = False,
        stop_words: Annotated[
            list[str] | None, Query(max_length=10_000, description="Words, or `english` alone")
        ] = None,
    ) -> dict[str, Any]:
        left_out = "english" if stop_words == ["english"] else stop_words or ()
        tree = begun(name)
        found = tree.keywords(words, **cut, bigrams=bigrams, stop_words=left_out)
        return {"keywords": found}

    @api.post("/trees/{name}/cluster_of", summary="The clusters of some points")
    def cluster_of(name: str, asked: SomePoints, cut: AnyCut) -> dict[str, Any]:
        found = begun(name).cluster_of(asked.points, **cut)
        return {
            "labels": found.labels.tolist(),
            "nodes": found.node_ids.tolist(),
            "stable_ids": _answers.stable(found.stable_ids),
        }

    @api.post("/trees/{name}/nearest", summary="The nearest points", openapi_extra=VECTORS)
    async def nearest(
        request: Request, name: str, k: Annotated[int, Query(ge=1, le=1000)] = 1
    ) -> dict[str, Any]:
        tree = begun(name)
        rows = read_json(await _writing.whole_body(request, settings))
        found, apart = await run_in_threadpool(tree.nearest, rows.vectors, k=k)
        return {"points": found.tolist(), "distances": apart.tolist()}

    @api.post("/trees/{name}/payloads", summary="Some points and their payloads")
    def payloads(name: str, asked: SomePoints) -> dict[str, Any]:
        tree = begun(name)
        numbers = [one if isinstance(one, int) else tree.number_of(one) for one in asked.points]
        known = _answers.describe(tree, numbers)
        return {"points": [known[one] for one in numbers]}

    @api.get("/trees/{name}/dirty", summary="Clusters that are not what they were at a version")
    def dirty(name: str, since: Since, cut: Cut) -> dict[str, Any]:
        found = begun(name).past.dirty(since, **cut)
        return {
            "labels": np.asarray(found.labels).tolist(),
            "nodes": np.asarray(found.node_ids).tolist(),
            "stable_ids": _answers.stable(found.stable_ids),
            "sizes": np.asarray(found.sizes).tolist(),
        }
