# SPDX-License-Identifier: BSD-3-Clause
"""_app.py: the addresses of the server, and what each of them does."""

# No postponed annotations here: FastAPI reads them.
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from sklearn.exceptions import NotFittedError
from starlette.concurrency import run_in_threadpool

from ramify.journal import BusyError, JournalError, NotWrittenError
from ramify.serve import _answers, _edits, _feed, _writing
from ramify.serve._bodies import JSON, KINDS, BodyError, read_json
from ramify.serve._docs import docs_page
from ramify.serve._door import Door, TooLargeError
from ramify.serve._figures import metrics
from ramify.serve._quick import Quick
from ramify.serve._settings import Settings
from ramify.serve._trees import NoSuchTreeError, Served, Trees

_BIGGEST = 2**53  # beyond, JSON's readers differ

Name = Annotated[str, Path(description="Name of a tree", pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
PointId = Annotated[str, Path(description="Id of a point, or its number", min_length=1)]
K = Annotated[int | None, Query(ge=1, le=100_000, description="Number of clusters")]
Height = Annotated[float | None, Query(allow_inf_nan=False, description="Cut at this height")]
MaxSize = Annotated[int | None, Query(ge=1, le=_BIGGEST, description="Largest cluster")]


class NewTree(BaseModel):
    """How to begin a tree."""

    model_config = ConfigDict(extra="forbid", strict=True)

    algorithm: str = "ohac"
    dimension: Annotated[int, Field(ge=1, le=65_536)] | None = None
    metric: Literal["sqeuclidean", "cosine", "dot"] | None = None
    linkage: Literal["average", "centroid", "ward"] | None = None
    n_neighbors: Annotated[int, Field(ge=1, le=100)] | None = None
    n_clusters: Annotated[int, Field(ge=1, le=_BIGGEST)] | None = None
    distance_threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    window: Annotated[int, Field(ge=1, le=_BIGGEST)] | None = None
    max_age: Annotated[float, Field(gt=0, allow_inf_nan=False)] | str | None = None
    duplicates: Literal["keep", "count"] | None = None
    max_leaves: Annotated[int, Field(ge=2, le=_BIGGEST)] | None = None
    history: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class Problem(BaseModel):
    """What is wrong."""

    error: str


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": about}
    for code, about in {
        400: "not a request that can be read",
        401: "a token is needed",
        403: "this token may not",
        404: "there is none",
        408: "the body did not come",
        409: "there is another, or the tree is empty",
        413: "too large",
        415: "a body of another kind",
        422: "makes no sense",
        429: "too much at once; Retry-After says when",
        503: "not ready, or out of order",
        504: "not in time",
        507: "the disk is full",
    }.items()
}

_POINT = {
    "type": "object",
    "required": ["vector"],
    "properties": {
        "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "vector": {"type": "array", "items": {"type": "number"}, "minItems": 1},
        "payload": {},
        "weight": {"type": "number"},
        "time": {},
    },
}
_POINTS = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["points"],
                    "properties": {"points": {"type": "array", "items": _POINT, "minItems": 1}},
                }
            },
            **{kind: {"schema": {"type": "string", "format": "binary"}} for kind in KINDS[1:]},
        },
    }
}
_VECTORS = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["vectors"],
                    "properties": {
                        "vectors": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "array", "items": {"type": "number"}, "minItems": 1},
                        }
                    },
                }
            }
        },
    }
}


def make_app(settings: Settings) -> Any:
    """The application: trees behind a door."""
    settings = settings.check()
    trees = Trees(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        opening = threading.Thread(target=trees.open_all, name="ramify-open", daemon=True)
        opening.start()
        yield
        await run_in_threadpool(opening.join)
        await run_in_threadpool(trees.close)

    app = FastAPI(
        title="Ramify",
        description="Live trees over points: insert, ask, follow.",
        version="1",
        lifespan=life,
        responses=_PROBLEMS,
        docs_url=None,
        redoc_url=None,
    )
    app.state.trees = trees
    _add_errors(app)
    _add_trees(app, trees)
    _add_points(app, trees, settings)
    _add_questions(app, trees, settings)
    _add_feed(app, trees, settings)
    if settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["authorization", "content-type", "idempotency-key"],
        )
    door = Door(Quick(app, trees, settings), settings)
    _add_health(app, trees, door)
    door.app = app  # type: ignore[attr-defined]  # for tests and tools that read the description
    return door


def _found(trees: Trees, name: str) -> Served:
    if not trees.ready.is_set():
        raise HTTPException(503, "trees are still being opened", {"Retry-After": "1"})
    return trees.get(name)


def _tree_point(served: Served, text: str) -> Any:
    """A point as its address names it: by its id, or by its number where there are no ids."""
    live = served.tree.model._live
    if live is None:
        raise LookupError(f"there is no point {text!r}")
    kind = None if live.ids is None else next((type(one) for one in live.ids), str)
    if kind is str:
        return text
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise LookupError(f"there is no point {text!r}")
    return int(text)


# --- mistakes ---------------------------------------------------------------------------------


def _add_errors(app: FastAPI) -> None:
    def answer(code: int, **headers: str) -> Any:
        async def handle(request: Request, error: Exception) -> Response:
            notes = getattr(error, "__notes__", [])
            said = error.args[0] if isinstance(error, LookupError) and error.args else error
            text = "; ".join([str(said), *notes])
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            return JSONResponse({"error": text}, code, names)

        return handle

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(404)
    async def nowhere(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": "there is nothing at this address"}, 404)

    @app.exception_handler(405)
    async def not_so(request: Request, error: Any) -> Response:
        headers = getattr(error, "headers", None)
        return JSONResponse({"error": "not by this method"}, 405, headers)

    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, error: RequestValidationError) -> Response:
        texts = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        return JSONResponse({"error": "; ".join(texts)[:2000]}, 422)

    @app.exception_handler(_feed.TooOldError)
    async def too_old(request: Request, error: _feed.TooOldError) -> Response:
        told = {"error": str(error), "oldest": error.oldest, "version": error.version}
        return JSONResponse(told, 410)

    for kind, handle in (
        (BusyError, answer(429, retry_after="1")),
        (NotWrittenError, answer(507)),
        (JournalError, answer(503)),
        (TooLargeError, answer(413)),
        (_writing.SlowError, answer(504)),
        (_writing.UnknownKindError, answer(415)),
        (NotFittedError, answer(409)),
        (FileExistsError, answer(409)),
        (NoSuchTreeError, answer(404)),
        (LookupError, answer(404)),
        (BodyError, answer(422)),
        (ValueError, answer(422)),
        (TypeError, answer(422)),
    ):
        app.add_exception_handler(kind, handle)


# --- addresses --------------------------------------------------------------------------------


def _add_trees(app: FastAPI, trees: Trees) -> None:
    @app.get("/trees", summary="All trees")
    def list_trees() -> dict[str, Any]:
        return {
            "trees": [_answers.facts(served) for served in trees.all()],
            "failed": trees.failures,
        }

    @app.put("/trees/{name}", summary="Begin a tree", status_code=201, responses={200: {}})
    def create(name: Name, asked: NewTree) -> Response:
        if not trees.ready.is_set():
            raise HTTPException(503, "trees are still being opened", {"Retry-After": "1"})
        served, new = trees.create(name, asked.model_dump())
        return JSONResponse(_answers.facts(served), 201 if new else 200)

    @app.get("/trees/{name}", summary="A tree's figures")
    def show(name: Name) -> dict[str, Any]:
        return _answers.facts(_found(trees, name))


def _add_points(app: FastAPI, trees: Trees, settings: Settings) -> None:
    @app.post("/trees/{name}/points", summary="Insert points", openapi_extra=_POINTS)
    async def insert(
        request: Request,
        name: Name,
        key: Annotated[
            str | None, Header(alias="Idempotency-Key", max_length=180, min_length=1)
        ] = None,
    ) -> dict[str, Any]:
        return await _writing.insert_body(request, _found(trees, name), settings)

    @app.get("/trees/{name}/points/{point:path}/path", summary="From the root to a point")
    def path(name: Name, point: PointId) -> dict[str, Any]:
        served = _found(trees, name)
        number = _number(served, point)
        live = served.tree.model._live
        nodes, code = live.path(number)
        return {"number": number, "nodes": nodes.tolist(), "code": code}

    @app.get("/trees/{name}/points/{point:path}", summary="A point and its payload")
    def look(name: Name, point: PointId) -> dict[str, Any]:
        served = _found(trees, name)
        number = _number(served, point)
        return _answers.describe(served.tree, [number])[number]

    @app.delete("/trees/{name}/points/{point:path}", summary="Forget a point")
    async def forget(
        name: Name,
        point: PointId,
        key: Annotated[
            str | None, Header(alias="Idempotency-Key", max_length=180, min_length=1)
        ] = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        wanted = _tree_point(served, point)
        told = await _writing.answered(
            served.tree.submit_forget(wanted, key=key, block=False), settings
        )
        return {"forgotten": told.forgotten, "version": told.version}

    @app.post("/trees/{name}/polish", summary="Merge the top of the tree anew")
    async def polish(
        name: Name, m: Annotated[int | None, Query(ge=3, le=100_000)] = None
    ) -> dict[str, Any]:
        served = _found(trees, name)
        future = served.tree.submit_call("polish", {"m": m}, block=False)
        told = await _writing.answered(future, settings)
        return {"changed": bool(told.value), "version": told.version}

    @app.post("/trees/{name}/edits", summary="Links, moves and names, by people")
    async def edit(
        name: Name,
        asked: _edits.Edit,
        key: Annotated[
            str | None, Header(alias="Idempotency-Key", max_length=180, min_length=1)
        ] = None,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        _require_points(served)
        future = served.tree.submit_call(asked.edit, asked.options(), key=key, block=False)
        return {"version": (await _writing.answered(future, settings)).version}

    @app.get("/trees/{name}/edits", summary="What people have said about a tree")
    def edits(name: Name) -> dict[str, Any]:
        served = _found(trees, name)
        _require_points(served)
        return _edits.told(served)


def _number(served: Served, point: str) -> int:
    wanted, live = _tree_point(served, point), served.tree.model._live
    if live.ids is not None:
        number = live.ids.find(wanted, live.next_arrival)
        if number is not None and live.has(number):
            return int(number)
    elif wanted >= 0 and live.has(wanted):
        return int(wanted)
    raise LookupError(f"there is no point {point!r}")


def _add_questions(app: FastAPI, trees: Trees, settings: Settings) -> None:
    @app.post("/trees/{name}/assign", summary="Where vectors belong", openapi_extra=_VECTORS)
    async def assign(
        request: Request, name: Name, k: K = None, height: Height = None, max_size: MaxSize = None
    ) -> dict[str, Any]:
        served = _found(trees, name)
        cut = _answers.cut_of(k, height, max_size)
        if _writing.kind_of(request) != JSON:
            raise _writing.UnknownKindError(f"assign reads {JSON}")
        body = await _writing.whole_body(request, settings)
        rows = await _writing.run_if_large(read_json, body)
        live = served.tree.model._live
        if live is not None and live.shared and not live.busy and len(rows) <= 16:  # microseconds
            return _answers.assigned(served.tree, rows.vectors, cut)
        found: dict[str, Any] = await run_in_threadpool(
            _answers.assigned, served.tree, rows.vectors, cut
        )
        return found

    @app.get("/trees/{name}/clusters", summary="The clusters of a cut, the largest first")
    def clusters(
        name: Name,
        k: K = None,
        height: Height = None,
        max_size: MaxSize = None,
        representatives: Annotated[int, Query(ge=0, le=20)] = 3,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        _require_points(served)
        cut = _answers.cut_of(k, height, max_size)
        return _answers.clusters(served.tree, cut, representatives, limit)

    @app.get("/trees/{name}/nodes/{node}", summary="A node and points below it")
    def node(
        name: Name,
        node: Annotated[int, Path(ge=-_BIGGEST, le=_BIGGEST)],
        members: Annotated[int, Query(ge=0, le=1000)] = 20,
        offset: Annotated[int, Query(ge=0, le=_BIGGEST)] = 0,
    ) -> dict[str, Any]:
        return _answers.node(_found(trees, name), node, members, offset)

    @app.get("/trees/{name}/outline", summary="What can be seen of a tree, for the page")
    def outline(
        name: Name,
        node: Annotated[int | None, Query(ge=-_BIGGEST, le=_BIGGEST)] = None,
        blocks: Annotated[int, Query(ge=1, le=5000)] = 600,
        k: Annotated[int, Query(ge=1, le=100_000, description="Clusters to colour")] = 8,
    ) -> dict[str, Any]:
        return _answers.outline(_found(trees, name), node, blocks, k)

    @app.get("/trees/{name}/search", summary="Points by words of their payloads")
    def search(
        name: Name,
        q: Annotated[str, Query(max_length=1000)],
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> dict[str, Any]:
        served = _found(trees, name)
        hits = served.tree.search(q, limit=limit)
        live = served.tree.model._live
        return {"hits": [_hit(live, hit) for hit in hits]}

    @app.get("/trees/{name}/export", summary="The whole tree as a file")
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


def _hit(live: Any, hit: Any) -> dict[str, Any]:
    try:
        nodes = live.path(hit.number)[0].tolist()
    except (LookupError, ValueError):  # it has left in between
        nodes = []
    return {"number": hit.number, "id": hit.id, "payload": hit.payload, "path": nodes}


def _require_points(served: Served) -> None:
    if len(served.tree) == 0:
        raise NotFittedError(f"the tree {served.name!r} has no points yet")


def _add_feed(app: FastAPI, trees: Trees, settings: Settings) -> None:
    since_what = "A version that an answer has named"
    Since = Annotated[int | None, Query(ge=0, le=_BIGGEST, description=since_what)]

    @app.get("/trees/{name}/changes", summary="What became of a tree since a version")
    def changes(
        name: Name,
        since: Annotated[int, Query(ge=0, le=_BIGGEST, description=since_what)],
        brief: bool = False,
    ) -> dict[str, Any]:
        return _feed.changes(_found(trees, name), since, brief)

    @app.get(
        "/trees/{name}/changes/stream",
        summary="Changes as they come (server-sent events)",
        response_class=StreamingResponse,
    )
    async def stream(
        name: Name,
        since: Since = None,
        brief: bool = False,
        heartbeat: Annotated[float, Query(ge=0.05, le=60)] = 15.0,
        last: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=_BIGGEST)] = None,
    ) -> StreamingResponse:
        served = _found(trees, name)
        if served.readers >= settings.streams:
            raise HTTPException(429, "so many follow this tree already", {"Retry-After": "10"})
        events = _feed.stream(served, last if since is None else since, brief, heartbeat)
        return StreamingResponse(events, media_type="text/event-stream")


def _add_health(app: FastAPI, trees: Trees, door: Door) -> None:
    @app.get("/healthz", summary="Whether the server is there")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether all trees have been replayed")
    async def readyz() -> Response:
        ready = trees.ready.is_set()
        told = {"ready": ready, "waiting": trees.waiting, "failed": len(trees.failures)}
        return JSONResponse(told, 200 if ready else 503)

    @app.get("/metrics", summary="For Prometheus", response_class=PlainTextResponse)
    def figures() -> str:
        return metrics(trees.all(), door, trees.waiting)

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return Response(docs_page(app.openapi()), media_type="text/html; charset=utf-8")

    for address, name, kind in (
        ("/", "live.html", "text/html; charset=utf-8"),
        ("/live.js", "live.js", "text/javascript; charset=utf-8"),
        ("/live.css", "live.css", "text/css; charset=utf-8"),
    ):
        app.add_api_route(address, _asset(name, kind), include_in_schema=False)


def _asset(name: str, kind: str) -> Any:
    folder = files("ramify.serve")

    async def asset() -> Response:
        text = (folder / name).read_text(encoding="utf-8")
        if name == "live.css":
            text = (files("ramify.plot") / "explore.css").read_text(encoding="utf-8") + text
        return Response(text, media_type=kind)

    return asset
