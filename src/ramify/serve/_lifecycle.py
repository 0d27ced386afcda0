# SPDX-License-Identifier: BSD-3-Clause
"""_lifecycle.py: trees that are copied, come back, and go: calls for operators."""

# No postponed annotations here: FastAPI reads them.
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from ramify.journal import DurableTree
from ramify.journal.seam import moment_of
from ramify.serve import _writing
from ramify.serve._managed import Managed
from ramify.serve._served import Served
from ramify.serve._settings import Settings
from ramify.serve._shapes import BIGGEST, Name, NewName, NewTree
from ramify.serve._threads import run_for_writers

TAR = "application/x-tar"
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Archive(StreamingResponse):
    """A backup."""

    media_type = TAR


def add_trees(
    api: APIRouter, trees: Managed, find: Callable[[str], Served], settings: Settings
) -> None:
    """The addresses that come first in the description."""

    @api.get("/trees", summary="All trees")
    def list_trees(request: Request) -> dict[str, Any]:
        """Those that the token is for; ``states`` counts all."""
        knows = request.state.token.knows
        return {
            "trees": [one for one in trees.facts() if knows(one["name"])],
            "failed": {name: why for name, why in trees.failed().items() if knows(name)},
            "states": trees.states(),
        }

    @api.put("/trees/{name}", summary="Begin a tree", status_code=201, responses={200: {}})
    async def create(name: Name, asked: NewTree) -> Response:
        require_known(trees)
        served, new = await run_for_writers(trees.create, name, asked.model_dump())
        return JSONResponse(await run_for_writers(served.facts), 201 if new else 200)

    @api.get("/trees/{name}", summary="A tree's figures")
    def show(name: Name) -> dict[str, Any]:
        return find(name).facts()

    @api.post("/trees/{name}/compact", summary="Erase from the disk what was forgotten")
    async def compact(name: Name) -> dict[str, Any]:
        served = find(name)
        left = await _writing.answered(served.tree.submit_compact(), settings)
        await run_for_writers(served.summaries.compact)
        return {"bytes": left}


def add(api: APIRouter, trees: Managed, find: Callable[[str], Served], settings: Settings) -> None:
    """Give the addresses to an application."""

    @api.delete("/trees/{name}", summary="Delete a tree and its folder")
    async def delete(name: Name) -> dict[str, Any]:
        require_known(trees)
        return {"deleted": name, "points": await run_for_writers(trees.delete, name)}

    @api.post("/trees/{name}/rename", summary="Have a tree go by another name")
    async def rename(request: Request, name: Name, asked: NewName) -> dict[str, Any]:
        """Its points, versions and history stay. The token must be for both names."""
        require_known(trees)
        find(name)
        if not request.state.token.knows(asked.to):
            raise HTTPException(403, f"this token is not for the tree {asked.to!r}")
        request.state.did = {"to": asked.to}
        served = await run_for_writers(trees.rename, name, asked.to)
        return await run_for_writers(served.facts)

    @api.post("/trees/{name}/snapshot", summary="Write a snapshot now")
    async def snapshot(name: Name) -> dict[str, Any]:
        taken = _whole(find(name), "writes its snapshots by itself").submit_snapshot()
        return {"operation": await _writing.answered(taken, settings)}

    @api.get(
        "/trees/{name}/backup", summary="The tree's folder as one file", response_class=Archive
    )
    async def backup(name: Name) -> Response:
        """A tar of one moment, while others read and write. Needs the token of writers."""
        tree, open_now = find(name).tree, ExitStack()
        whole = isinstance(tree, DurableTree)
        copied = moment_of(tree.folder, settings.folder) if whole else tree.moment()
        moment = await run_for_writers(open_now.enter_context, copied)

        def pieces() -> Iterator[bytes]:
            with open_now:
                yield from moment.pieces()

        headers = {
            "content-length": str(moment.facts.bytes),
            "content-disposition": f'attachment; filename="{name}.tar"',
            "x-ramify-operations": str(moment.facts.operations),
        }
        return Archive(pieces(), headers=headers)

    @api.put(
        "/trees/{name}/backup",
        summary="Begin a tree with a backup",
        status_code=201,
        openapi_extra=_BODY,
    )
    async def restore(
        request: Request,
        name: Name,
        version: Annotated[
            int | None, Query(ge=0, le=BIGGEST, description="As it was at this version")
        ] = None,
    ) -> Response:
        """The tree is there when all of the file was read and its journal was replayed."""
        require_known(trees)
        async with _writing.body_file(request, settings) as path:
            served = await run_for_writers(trees.restore, name, path, version)
        return JSONResponse(await run_for_writers(served.facts), 201)


def require_known(trees: Managed) -> None:
    """Refuse calls until it is known which trees there are: a moment."""
    if not trees.known.is_set():
        raise HTTPException(503, "the server is about to look for trees", {"Retry-After": "1"})


def _whole(served: Served, what: str) -> DurableTree:
    if not isinstance(served.tree, DurableTree):
        raise ValueError(f"a tree in shards {what}")
    return served.tree
