# SPDX-License-Identifier: BSD-3-Clause
"""_writing.py: points on their way from a request into a tree."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from starlette.requests import Request

from ramify.journal import BusyError, NotWrittenError, Receipt
from ramify.serve._arrow import ArrowReaders
from ramify.serve._bodies import (
    ARROW,
    JSON,
    KINDS,
    READERS,
    BodyError,
    Joined,
    Rows,
    read_news,
)
from ramify.serve._door import TooLargeError
from ramify.serve._served import Served
from ramify.serve._settings import Settings
from ramify.serve._threads import run_for_writers

_Answer = TypeVar("_Answer")


class UnknownKindError(ValueError):
    """A body of a kind that is not read."""


class SlowError(Exception):
    """A body that did not come, or a disk that did not answer, in time."""


def kind_of(request: Request) -> str:
    """Which kind of body it is; JSON unless it says otherwise."""
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise UnknownKindError(f"content-encoding {packed!r}: bodies are read as they come")
    found = request.headers.get("content-type", JSON).split(";")[0].strip().lower()
    found = {"application/ndjson": KINDS[1], "application/octet-stream": KINDS[3]}.get(found, found)
    if found not in KINDS:
        raise UnknownKindError(f"content-type {found!r}: expected one of {', '.join(KINDS)}")
    return found


async def pieces(request: Request, most: int, settings: Settings) -> AsyncIterator[bytes]:
    """A body as it comes; neither too much nor too slowly."""
    idle, begin = settings.idle_seconds, time.monotonic()
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
        if time.monotonic() - begin > idle + total / settings.body_rate:
            raise SlowError(f"less than {settings.body_rate:,} bytes a second came")
        yield piece


async def whole_body(request: Request, settings: Settings) -> bytes:
    """A body in memory."""
    found = bytearray()
    async for piece in pieces(request, settings.body_bytes, settings):
        found += piece
    return bytes(found)


@asynccontextmanager
async def body_file(request: Request, settings: Settings) -> AsyncIterator[Path]:
    """A body in a temporary file."""
    try:
        file = tempfile.NamedTemporaryFile(prefix="ramify-body-", delete=False)  # noqa: SIM115
    except OSError as error:
        raise NotWrittenError(f"there is no place for the body: {error}") from None
    try:
        with file:
            async for piece in pieces(request, settings.stream_bytes, settings):
                _keep(file, piece)
            _keep(file, b"")
        yield Path(file.name)
    finally:
        os.unlink(file.name)


def _keep(file: Any, piece: bytes) -> None:
    """Write a piece down; the last, empty one has all of them arrive."""
    try:
        file.write(piece)
        if not piece:
            file.flush()
    except OSError as error:
        raise NotWrittenError(f"there is no room for the body: {error}") from None


async def insert(
    served: Served,
    rows: Rows | Joined,
    settings: Settings,
    key: str | None,
    *,
    patient: bool = False,
) -> Receipt:
    """Put rows or edges into a tree; answered when they are on the disk."""
    width, vectors = served.dimension, None
    if isinstance(rows, Rows):
        vectors = rows.vectors
    if isinstance(rows, Rows) and width is not None and len(rows) and len(rows.vectors[0]) != width:
        raise BodyError(f"expected vectors of {width} numbers, got {len(rows.vectors[0])}")
    while True:
        try:
            future = served.tree.submit_add(vectors, **rows.along(), key=key, block=False)
            break
        except BusyError:
            if not patient:
                raise
            await asyncio.sleep(0.02)
    return await answered(future, settings)


async def answered(future: Future[_Answer], settings: Settings) -> _Answer:
    """Wait for the writer."""
    try:
        async with asyncio.timeout(settings.write_seconds):
            return await asyncio.shield(asyncio.wrap_future(future))
    except TimeoutError:
        raise SlowError(
            "the disk has not answered yet; what was sent may still be written: send it again with "
            "the same ids or key, and nothing is doubled"
        ) from None


async def insert_body(
    request: Request, served: Served, readers: ArrowReaders, settings: Settings
) -> dict[str, Any]:
    """All points of a body: JSON as one, streams some rows at a time."""
    key = request.headers.get("idempotency-key")
    kind = kind_of(request)
    if kind == JSON:
        body = await whole_body(request, settings)
        rows = await run_if_large(request, run_for_writers, read_news, body)
        told = await insert(served, rows, settings, key)
        came = sum(number >= 0 for number in told.numbers) - told.repeated
        request.state.did = {"inserted": came, "version": told.version}
        return {"numbers": told.numbers, "version": told.version, "repeated": told.repeated}
    async with body_file(request, settings) as path:
        batches = readers.read(path) if kind == ARROW else READERS[kind](path, settings)
        try:
            return await _insert_stream(request, served, batches, settings, key)
        finally:
            batches.close()  # type: ignore[attr-defined]  # a generator, which lets its file go


#: Bytes of bodies: small ones take no time, and of large ones the numbers take many times that.
_SMALL, _LARGE = 1 << 16, 1 << 20


async def run_if_large(request: Request, run: Any, work: Any, body: bytes) -> Any:
    """Large bodies are taken apart in another thread; few at once, as they take much memory."""
    if len(body) < _SMALL:
        return work(body)
    if len(body) < _LARGE:
        return await run(work, body)
    async with request.app.state.large:
        return await run(work, body)


async def _insert_stream(
    request: Request,
    served: Served,
    batches: Iterator[Rows],
    settings: Settings,
    key: str | None,
) -> dict[str, Any]:
    """One commit after the other; the next is read while the disk works on one."""
    taken = repeated = number = 0
    version, first = served.versions[-1], None
    skipped: list[int] = []
    runs: list[list[int]] = []
    while True:
        try:
            rows = await run_for_writers(next, batches, None)
            if rows is None:
                break
            part = None if key is None else f"{key}/{number}"
            told = await insert(served, rows, settings, part, patient=True)
        except (ValueError, TypeError, LookupError) as error:
            error.add_note(f"{taken} rows before it are in the tree")
            raise
        number += 1
        skipped += [taken + at for at, given in enumerate(told.numbers) if given < 0]
        runs += runs_of(told.numbers)
        taken += len(told.numbers)
        repeated += told.repeated
        version = told.version
        request.state.did = {"inserted": taken - repeated - len(skipped), "version": version}
        first = next((one for one in told.numbers if one >= 0), None) if first is None else first
    if number == 0:
        raise BodyError("there are no rows in it")
    told_of = {"rows": taken, "first": first, "repeated": repeated, "version": version}
    return told_of | {"skipped": skipped, "runs": runs}


def runs_of(numbers: list[int]) -> list[list[int]]:
    """Numbers as runs that go up by one: the first of each, and how many; -1 alone, skipped."""
    given = np.asarray(numbers, np.int64)
    starts = np.flatnonzero(np.append(True, (np.diff(given) != 1) | (given[:-1] < 0)))
    counts = np.diff(np.append(starts, len(given)))
    return list(map(list, zip(given[starts].tolist(), counts.tolist(), strict=True)))
