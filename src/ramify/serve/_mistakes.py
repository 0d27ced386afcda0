# SPDX-License-Identifier: BSD-3-Clause
"""_mistakes.py: what goes wrong, as answers."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from sklearn.exceptions import NotFittedError
from starlette.requests import ClientDisconnect

from ramify.journal import BusyError, DamagedBackupError, JournalError, NotWrittenError, QuotaError
from ramify.serve import _feed, _writing
from ramify.serve._bodies import BodyError
from ramify.serve._door import TooLargeError
from ramify.serve._lists import ForgottenListError
from ramify.serve._served import NoSuchTreeError, TreeFailedError
from ramify.serve._told import Told
from ramify.serve._trees import TooManyOpenError


class Problem(Told):
    """What is wrong, and what to do."""

    error: str


class TooOld(Problem):
    """A version, or a list, that is not remembered; of versions, which are."""

    oldest: int | None = None
    version: int | None = None


PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": about}
    for code, about in {
        400: "not a request that can be read",
        401: "a token is needed",
        403: "this token may not",
        404: "there is none",
        408: "the body did not come",
        409: "there is another, or the tree is empty",
        410: "a version or a list that is not remembered; begin again",
        413: "too large",
        415: "a body of another kind",
        422: "makes no sense",
        429: "too much at once; Retry-After says when",
        503: "not ready, or out of order",
        504: "not in time",
        507: "the disk is full, or the tree as large as it may be",
    }.items()
}


def add_mistakes(app: FastAPI) -> None:
    """Have each kind of error answered by its status."""

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

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=499)  # for the log: nobody reads it

    for kind, handle in (
        (TreeFailedError, answer(503)),
        (TooManyOpenError, answer(503, retry_after="1")),
        (ForgottenListError, answer(410)),
        (BusyError, answer(429, retry_after="1")),
        (NotWrittenError, answer(507)),
        (QuotaError, answer(507)),
        (DamagedBackupError, answer(422)),
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
