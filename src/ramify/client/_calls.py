# SPDX-License-Identifier: BSD-3-Clause
"""_calls.py: what both clients say to a server, and what they make of its answers.

A call that fails on its way is made again. That is safe because every call that changes
something has a key, or its points have ids: what was acknowledged once is not done twice.
"""

from __future__ import annotations

import io
import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.frames import open_arrow
from ramify.ids import Id
from ramify.points import Expected, read_rows

#: Answers after which it is worth asking again.
AGAIN = (408, 425, 429, 502, 503, 504)

_NPY = "application/x-npy"
_JSON = "application/json"


class RemoteError(OSError):
    """A server refused a call: ``status`` is its code, the message what it said.

    Examples
    --------
    >>> RemoteError(404, "there is no tree 'x'").status
    404
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{message} (status {status})")
        self.status = status


@dataclass
class Call:
    """A request that can be made again."""

    method: str
    path: str
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    as_bytes: bool = False


def require_httpx() -> Any:
    """httpx, or which extra is missing."""
    try:
        import httpx
    except ImportError as error:
        raise ImportError('the client needs httpx: pip install "ramify[client]"') from error
    return httpx


def headers_of(token: str | None) -> dict[str, str]:
    """What is said with every call."""
    return {} if token is None else {"authorization": f"Bearer {token}"}


def answer(call: Call, response: Any) -> Any:
    """What a server said, or RemoteError."""
    if response.status_code >= 400:
        try:
            said = response.json()["error"]
        except (ValueError, KeyError, TypeError):
            said = response.text[:200]
        raise RemoteError(response.status_code, said)
    return response.content if call.as_bytes else response.json()


def wait_before(attempt: int, response: Any) -> float:
    """Seconds until the next attempt: what the server asks for, or twice as long each time."""
    asked = None if response is None else response.headers.get("retry-after")
    if asked is not None and asked.isdigit():
        return min(float(asked), 30.0)
    return float(min(0.1 * 2**attempt, 5.0) * (0.5 + random.random() / 2))


def adding(
    tree: str,
    X: npt.ArrayLike,
    ids: Sequence[Id] | None,
    payloads: Sequence[Any] | None,
    weights: npt.ArrayLike | None,
    times: Sequence[Any] | None,
    key: str | None,
) -> Call:
    """Points for a tree: as .npy if they are rows alone, else as JSON."""
    rows = read_rows(open_arrow(X), Expected("the server"))
    headers = {"idempotency-key": key or uuid.uuid4().hex}
    path = f"/trees/{tree}/points"
    if ids is None and payloads is None and weights is None and times is None:
        room = io.BytesIO()
        np.save(room, rows)
        return Call("POST", path, room.getvalue(), {**headers, "content-type": _NPY})
    body = {
        "vectors": rows.tolist(),
        "ids": None if ids is None else _plain(ids),
        "payloads": None if payloads is None else _plain(payloads),
        "weights": None if weights is None else _plain(weights),
        "times": None if times is None else _plain(times),
    }
    kept = {name: value for name, value in body.items() if value is not None}
    return Call("POST", path, json.dumps(kept).encode(), {**headers, "content-type": _JSON})


def slices(n: int, rows: int) -> Iterator[slice]:
    """Places of batches."""
    return (slice(begin, begin + rows) for begin in range(0, n, rows))


def assigning(tree: str, X: npt.ArrayLike, cut: Mapping[str, Any]) -> Call:
    """Where rows belong."""
    rows = read_rows(open_arrow(X), Expected("the server"))
    body = json.dumps({"vectors": rows.tolist()}).encode()
    path = f"/trees/{tree}/assign"
    return Call("POST", path, body, {"content-type": _JSON}, given(cut))


def editing(tree: str, edit: str, key: str | None, about: Mapping[str, Any]) -> Call:
    """What somebody says about a tree."""
    body = json.dumps({"edit": edit, **about}).encode()
    headers = {"idempotency-key": key or uuid.uuid4().hex, "content-type": _JSON}
    return Call("POST", f"/trees/{tree}/edits", body, headers)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def point_path(tree: str, point: Id, more: str = "") -> str:
    """The address of a point."""
    from urllib.parse import quote

    return f"/trees/{tree}/points/{quote(str(point), safe='')}{more}"


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events as they come."""
    kind, data = "message", ""
    for line in lines:
        if line.startswith("event:"):
            kind = line[6:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif line == "" and data:
            yield kind, json.loads(data)
            kind, data = "message", ""


def _plain(values: Any) -> list[Any]:
    for name in ("tolist", "to_list", "to_pylist"):
        convert = getattr(values, name, None)
        if convert is not None:
            found: list[Any] = convert()
            return found
    return list(values)


def frame_of(records: list[dict[str, Any]]) -> Any:
    """Records as a frame of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('frames need pandas: pip install "ramify[export]"') from error
    return pd.DataFrame(records)
