# SPDX-License-Identifier: BSD-3-Clause
"""_app.py: the addresses of the server, and what each of them does."""

# No postponed annotations here: FastAPI reads them.
import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Header, HTTPException, Query, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from sklearn.exceptions import NotFittedError
from starlette.concurrency import run_in_threadpool

from ramify.hierarchy import Polished
from ramify.serve import _answers, _edits, _feed, _labels, _lifecycle, _summaries, _writing
from ramify.serve._assets import PAGE
from ramify.serve._awake import Awake
from ramify.serve._bodies import JSON, read_json
from ramify.serve._describing import describe
from ramify.serve._docs import docs_page
from ramify.serve._door import VERSION, Door
from ramify.serve._figures import FIGURES, metrics
from ramify.serve._hooks import require_hooks
from ramify.serve._lists import Listed
from ramify.serve._managed import Managed
from ramify.serve._mistakes import PROBLEMS, add_mistakes
from ramify.serve._quick import Quick
from ramify.serve._served import Served
from ramify.serve._settings import Settings
from ramify.serve._shapes import (
    BIGGEST,
    POINTS,
    VECTORS,
    AnyCut,
    By,
    Cursor,
    Key,
    Name,
    Node,
    PointId,
    Since,
    SomePoints,
    Sure,
    Version,
)
from ramify.serve._threads import set_limits
from ramify.serve._tokens import STREAM_SECONDS, Tokens


def make_app(settings: Settings) -> Any:
    """The application: trees behind a door."""
    settings = settings.check()
    require_hooks(settings.webhooks, settings.webhook_secret)
    trees, tokens = Managed(settings), Tokens(settings.all_tokens())

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        set_limits(settings)
        opening = threading.Thread(target=trees.open_all, name="ramify-open", daemon=True)
        opening.start()
        yield
        trees.ending.set()
        await run_in_threadpool(opening.join)
        await run_in_threadpool(trees.close)

    app = FastAPI(
        title="Ramify",
        description="Live trees over points: insert, ask, follow.",
        version="1",
        lifespan=life,
        responses=PROBLEMS,
        docs_url=None,
        redoc_url=None,
    )
    app.state.trees = trees
    app.state.large = asyncio.Semaphore(2)  # bodies of JSON that are taken apart
    add_mistakes(app)
    api = APIRouter(prefix=VERSION)
    _lifecycle.add_trees(api, trees, lambda name: _found(trees, name), settings)
    _add_points(api, trees, settings)
    _add_questions(api, trees, settings)
    _labels.add(api, lambda name: _found(trees, name), settings)
    _summaries.add(api, lambda name: _found(trees, name), trees.lists)
    _add_feed(api, trees, settings, tokens)
    _lifecycle.add(api, trees, lambda name: _found(trees, name), settings)
    app.include_router(api)
    describe(app)
    if settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["authorization", "content-type", "idempotency-key"],
        )
    door = Door(Awake(Quick(app, trees, settings), trees), settings, tokens)
    _add_health(app, trees, door)
    door.app = app  # type: ignore[attr-defined]  # for tests and tools that read the description
    return door


def _found(trees: Managed, name: str) -> Served:
    _lifecycle.require_known(trees)
    return trees.get(name)


def _tree_point(served: Served, text: str) -> Any:
    """A point as its address names it: by its id, or by its number where there are no ids."""
    stream = served.tree.stream
    if not stream.begun:
        raise LookupError(f"there is no point {text!r}")
    if stream.id_kind == "str":
        return text
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise LookupError(f"there is no point {text!r}")
    return int(text)


# --- addresses --------------------------------------------------------------------------------


def _add_points(api: APIRouter, trees: Managed, settings: Settings) -> None:
    @api.post("/trees/{name}/points", summary="Insert points", openapi_extra=POINTS)
    async def insert(
        request: Request,
        name: Name,
        key: Key = None,
    ) -> dict[str, Any]:
        return await _writing.insert_body(request, _found(trees, name), trees.readers, settings)

    @api.get("/trees/{name}/points/{point:path}/path", summary="From the root to a point")
    def path(name: Name, point: PointId, by: By = "id") -> dict[str, Any]:
        served = _found(trees, name)
        number = _number(served, point, by)
        nodes, code = served.tree.stream.path(number)
        return {"number": number, "nodes": nodes.tolist(), "code": code}

    @api.get("/trees/{name}/points/{point:path}", summary="A point and its payload")
    def look(name: Name, point: PointId) -> dict[str, Any]:
        served = _found(trees, name)
        number = _number(served, point)
        return _answers.describe(served.tree, [number])[number]

    @api.post("/trees/{name}/forget", summary="Forget points, all or none")
    async def forget_many(
        request: Request, name: Name, asked: SomePoints, key: Key = None
    ) -> dict[str, Any]:
        served = _found(trees, name)
        future = served.tree.submit_forget(asked.points, key=key, block=False)
        told = await _writing.answered(future, settings)
        return _did(request, forgotten=told.forgotten, version=told.version)

    @api.delete("/trees/{name}/points/{point:path}", summary="Forget a point")
    async def forget(
        request: Request,
        name: Name,
        point: PointId,
        key: Key = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        wanted = _tree_point(served, point)
        told = await _writing.answered(
            served.tree.submit_forget(wanted, key=key, block=False), settings
        )
        return _did(request, forgotten=told.forgotten, version=told.version)

    @api.post("/trees/{name}/polish", summary="Merge the top of the tree anew")
    async def polish(
        request: Request, name: Name, m: Annotated[int | None, Query(ge=3, le=100_000)] = None
    ) -> dict[str, Any]:
        served = _found(trees, name)
        future = served.tree.submit_call("polish", {"m": m}, block=False)
        told = await _writing.answered(future, settings)
        found: Polished = told.value
        rounds = [{**each._asdict(), "gain": each.gain} for each in found.rounds]
        about = {"by": found.by, "rounds": rounds}
        return about | _did(request, changed=bool(found), version=told.version)

    @api.post("/trees/{name}/edits", summary="Links, moves and names, by people")
    async def edit(
        request: Request,
        name: Name,
        asked: _edits.Edit,
        key: Key = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        _require_points(served)
        future = served.tree.submit_call(asked.edit, asked.options(), key=key, block=False)
        told = await _writing.answered(future, settings)
        _did(request, edit=asked.edit, version=told.version)
        return {"version": told.version}

    @api.get("/trees/{name}/edits", summary="What people have said about a tree")
    def edits(name: Name) -> dict[str, Any]:
        served = _found(trees, name)
        _require_points(served)
        return _edits.told(served)


def _did(request: Request, **facts: Any) -> dict[str, Any]:
    """What a call has changed, for its answer and for its line in the log."""
    request.state.did = facts
    return facts


def _number(served: Served, point: str, by: str = "id") -> int:
    stream = served.tree.stream
    if by == "number" and point.isascii() and point.isdigit() and len(point) < 20:
        number = int(point) if stream.has(int(point)) else None
    else:
        number = stream.find_meanwhile(_tree_point(served, point))
    if number is None:
        raise LookupError(f"there is no point {point!r}")
    return number


def _add_questions(api: APIRouter, trees: Managed, settings: Settings) -> None:
    @api.post("/trees/{name}/assign", summary="Where vectors belong", openapi_extra=VECTORS)
    async def assign(
        request: Request,
        name: Name,
        cut: AnyCut,
        sure: Sure,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        if _writing.kind_of(request) != JSON:
            raise _writing.UnknownKindError(f"assign reads {JSON}")
        body = await _writing.whole_body(request, settings)
        rows = await _writing.run_if_large(request, run_in_threadpool, read_json, body)
        stream = served.tree.stream
        simple = not sure and not {"min_size", "by"} & cut.keys()
        if stream.quick and simple and len(rows) <= 16:  # microseconds
            return _answers.assigned(served.tree, rows.vectors, cut)
        found: dict[str, Any] = await run_in_threadpool(
            _answers.assigned, served.tree, rows.vectors, cut, sure
        )
        return found

    @api.get("/trees/{name}/clusters", summary="The clusters of a cut, the largest first")
    def clusters(
        name: Name,
        cut: AnyCut,
        representatives: Annotated[int, Query(ge=0, le=20)] = 3,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        _require_points(served)

        def find() -> Listed:
            return _answers.clusters(served.tree, cut, representatives)

        where, found = trees.lists.page(f"{name} clusters", find, cursor, limit)
        return {**where, "clusters": found}

    @api.get("/trees/{name}/nodes/{node}", summary="A node and some of the points below it")
    def node(
        name: Name, node: Node, members: Annotated[int, Query(ge=0, le=1000)] = 20
    ) -> dict[str, Any]:
        return _answers.node(_found(trees, name), node, members)

    @api.get("/trees/{name}/nodes/{node}/members", summary="All points below a node")
    def members(
        name: Name,
        node: Node,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        what = f"{name} {node} members"
        where, found = trees.lists.page(what, lambda: _answers.members(served, node), cursor, limit)
        return {**where, "members": found}

    @api.get("/trees/{name}/outline", summary="What can be seen of a tree, for the page")
    def outline(
        name: Name,
        node: Annotated[int | None, Query(ge=-BIGGEST, le=BIGGEST)] = None,
        blocks: Annotated[int, Query(ge=1, le=5000)] = 600,
        k: Annotated[int, Query(ge=1, le=100_000, description="Clusters to colour")] = 8,
    ) -> dict[str, Any]:
        return _answers.outline(_found(trees, name), node, blocks, k)

    @api.get("/trees/{name}/search", summary="Points by words of their payloads")
    def search(
        name: Name,
        q: Annotated[str, Query(max_length=1000)],
        limit: Annotated[int, Query(ge=1, le=1000)] = 20,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        where, found = trees.lists.page(
            f"{name} search {q}", lambda: _answers.hits(served.tree, q), cursor, limit
        )
        return {**where, "hits": found}

    @api.get("/trees/{name}/export", summary="The whole tree as a file")
    def export(
        name: Name,
        format: Annotated[
            Literal["json", "newick", "linkage", "ramify", "arrow", "graphml"], Query()
        ] = "json",
    ) -> Response:
        tree = _found(trees, name).tree
        version, still = tree.between(lambda: (tree.version, tree.hierarchy()))
        body, kind = _answers.export(version, still, format)
        return Response(body, media_type=kind, headers={"x-ramify-version": str(version)})


def _require_points(served: Served) -> None:
    if len(served.tree) == 0:
        raise NotFittedError(f"the tree {served.name!r} has no points yet")


def _add_feed(api: APIRouter, trees: Managed, settings: Settings, tokens: Tokens) -> None:
    @api.get("/trees/{name}/changes", summary="What became of a tree since a version or a time")
    def changes(name: Name, since: Since, brief: bool = False) -> dict[str, Any]:
        return _feed.changes(_found(trees, name), since, brief)

    @api.get("/trees/{name}/timeline", summary="Births, splits and deaths of clusters")
    def timeline(
        name: Name,
        n_clusters: Annotated[int, Query(ge=1, le=1000, description="Of the cut")] = 8,
        eras: Annotated[int, Query(ge=1, le=100, description="Spans, evenly in time")] = 12,
    ) -> dict[str, Any]:
        """As far back as the tree remembers, which outlives restarts."""
        served = _found(trees, name)
        _require_points(served)
        return _feed.timeline(served, n_clusters, eras)

    @api.get(
        "/trees/{name}/changes/stream",
        summary="Changes as they come (server-sent events)",
        response_class=_feed.Events,
    )
    async def stream(
        name: Name,
        since: Version | None = None,
        brief: bool = False,
        heartbeat: Annotated[float, Query(ge=0.05, le=60)] = 15.0,
        token: Annotated[str | None, Query(description="Of `changes/token`")] = None,
        last: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=BIGGEST)] = None,
    ) -> Response:
        feed = _feed.feed_of(_found(trees, name))
        if len(feed) >= settings.streams:
            raise HTTPException(429, "so many follow this tree already", {"Retry-After": "10"})
        return _feed.Told(feed, since if last is None else last, brief, heartbeat)

    @api.post("/trees/{name}/changes/token", summary="A token to open a stream of changes with")
    def stream_token(request: Request, name: Name) -> dict[str, Any]:
        """For a browser's EventSource, which sends no header: `changes/stream?token=...`."""
        _found(trees, name)
        told = tokens.for_stream(request.state.token, name)
        return {"token": told, "seconds": STREAM_SECONDS}


def _add_health(app: FastAPI, trees: Managed, door: Door) -> None:
    @app.get("/healthz", summary="Whether the server is there")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether all trees are there, replayed and open")
    async def readyz(
        failed: Annotated[
            Literal["ok"] | None, Query(description="ok: ready without those that failed")
        ] = None,
    ) -> Response:
        """How many trees failed; which, and why, is in /v1/trees, which needs a token."""
        states = trees.states()
        missing = states["failed"] + states["in_use"]
        ready = trees.ready.is_set() and (missing == 0 or failed == "ok")
        told = {"ready": ready, "waiting": trees.waiting, "failed": missing}
        told["in_use"] = states["in_use"]  # of those that failed
        return JSONResponse(told, 200 if ready else 503)

    @app.get("/metrics", summary="For Prometheus", response_class=PlainTextResponse)
    def figures() -> Response:
        return PlainTextResponse(metrics(trees, door), media_type=f"{FIGURES}; charset=utf-8")

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return Response(docs_page(app.openapi()), media_type="text/html; charset=utf-8")

    for address, answer in PAGE.items():
        app.add_api_route(address, answer, include_in_schema=False)
