# SPDX-License-Identifier: BSD-3-Clause
"""_writing.py: points on their way from a request into a tree."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from ramify.journal import BusyError, Receipt
from ramify.serve._bodies import JSON, KINDS, READERS, BodyError, Rows, read_json
from ramify.serve._door import TooLargeError
from ramify.serve._settings import Settings
from ramify.serve._trees import Served


class UnknownKindError(ValueError):
    """A body of a kind that is not read."""


class SlowError(Exception):
    """A body that did not come, or a disk that did not answer, in time."""


def kind_of(request: Request) -> str:
    """Which kind of body it is; JSON unless it says otherwise."""
    found = request.headers.get("content-type", JSON).split(";")[0].strip().lower()
    found = {"application/ndjson": KINDS[1], "application/octet-stream": KINDS[3]}.get(found, found)
    if found not in KINDS:
        raise UnknownKindError(f"content-type {found!r}: expected one of {', '.join(KINDS)}")
    return found


async def pieces(request: Request, most: int, idle: float) -> AsyncIterator[bytes]:
    """A body as it comes; neither too much nor too slowly."""
    claimed = request.headers.get("content-length", "0")
    if claimed.isdigit() and int(claimed) > most:
        raise TooLargeError(f"a body of {int(claimed):,} bytes; {most:,} are the limit")
    total, stream = 0, request.stream()
    while True:
        try:
            async with asyncio.timeout(idle):
                piece = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise SlowError(f"nothing came for {idle:g} seconds") from None
        total += len(piece)
        if total > most:
            raise TooLargeError(f"more than {most:,} bytes, which are the limit")
        yield piece


async def whole_body(request: Request, settings: Settings) -> bytes:
    """A body in memory."""
    found = bytearray()
    async for piece in pieces(request, settings.body_bytes, settings.idle_seconds):
        found += piece
    return bytes(found)


@asynccontextmanager
async def body_file(request: Request, settings: Settings) -> AsyncIterator[Path]:
    """A body in a temporary file."""
    handle, name = tempfile.mkstemp(prefix="ramify-body-")
    try:
        with os.fdopen(handle, "wb") as file:
            async for piece in pieces(request, settings.stream_bytes, settings.idle_seconds):
                file.write(piece)
        yield Path(name)
    finally:
        os.unlink(name)


async def insert(
    served: Served, rows: Rows, settings: Settings, key: str | None, *, patient: bool = False
) -> Receipt:
    """Put rows into a tree; answered when they are on the disk."""
    width = served.dimension
    if width is not None and len(rows) and len(rows.vectors[0]) != width:
        raise BodyError(f"expected vectors of {width} numbers, got {len(rows.vectors[0])}")
    while True:
        try:
            future = served.tree.submit_add(rows.vectors, **rows.along(), key=key, block=False)
            break
        except BusyError:
            if not patient:
                raise
            await asyncio.sleep(0.02)
    return await answered(future, settings)


async def answered(future: Any, settings: Settings) -> Receipt:
    """Wait for the writer."""
    try:
        async with asyncio.timeout(settings.write_seconds):
            found: Receipt = await asyncio.shield(asyncio.wrap_future(future))
        return found
    except TimeoutError:
        raise SlowError(
            "the disk has not answered yet; what was sent may still be written: send it again with "
            "the same ids or key, and nothing is doubled"
        ) from None


async def insert_body(request: Request, served: Served, settings: Settings) -> dict[str, Any]:
    """All points of a body: JSON as one, streams some rows at a time."""
    key = request.headers.get("idempotency-key")
    kind = kind_of(request)
    if kind == JSON:
        rows = await run_if_large(read_json, await whole_body(request, settings))
        told = await insert(served, rows, settings, key)
        return {"numbers": told.numbers, "version": told.version, "repeated": told.repeated}
    async with body_file(request, settings) as path:
        batches = READERS[kind](path, settings)
        return await _insert_stream(served, batches, settings, key)


async def run_if_large(work: Any, body: bytes) -> Any:
    """Large bodies are taken apart in another thread."""
    return work(body) if len(body) < 1 << 16 else await run_in_threadpool(work, body)


async def _insert_stream(
    served: Served, batches: Iterator[Rows], settings: Settings, key: str | None
) -> dict[str, Any]:
    """One commit after the other; the next is read while the disk works on one."""
    taken = repeated = number = 0
    version, first = served.versions[-1], None
    while True:
        try:
            rows = await run_in_threadpool(next, batches, None)
            if rows is None:
                break
            part = None if key is None else f"{key}/{number}"
            told = await insert(served, rows, settings, part, patient=True)
        except (ValueError, TypeError, LookupError) as error:
            error.add_note(f"{taken} rows before it are in the tree")
            raise
        except ClientDisconnect:
            raise
        number += 1
        taken += len(told.numbers)
        repeated += told.repeated
        version = told.version
        first = told.numbers[0] if first is None and told.numbers else first
    if number == 0:
        raise BodyError("there are no rows in it")
    return {"rows": taken, "first": first, "repeated": repeated, "version": version}
