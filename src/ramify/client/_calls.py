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
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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


#: Calls to be made, one after the other; each is answered, or RemoteError is thrown in.
Dialogue = Generator[Call, Any, Any]


class NotThereError(RemoteError, KeyError):
    """A server knows nothing of the kind: no such point, node or tree.

    Examples
    --------
    >>> isinstance(NotThereError(404, "there is no tree 'x'"), KeyError)
    True
    """


class Listed(list[Any]):
    """A list, and in ``about`` what the server says of it: its ``total`` there, the ``version``.

    Examples
    --------
    >>> Listed([{"size": 2}], {"total": 7, "version": 9}).about["total"]
    7
    """

    def __init__(self, entries: Iterable[Any], about: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.about = dict(about)

    def of(self, read: Callable[[Any], Any]) -> Listed:
        """The same list of other things.

        Examples
        --------
        >>> Listed([1, 2], {}).of(str)
        ['1', '2']
        """
        return Listed(map(read, self), self.about)


#: Entries that are asked for at once, and how often a list that was forgotten is begun again.
_PAGE, _BEGINNINGS = 1000, 5


def as_told(found: Any) -> Any:
    """An answer as it is."""
    return found


def one(call: Call, *, read: Callable[[Any], Any] = as_told) -> Dialogue:
    """One call, and what is made of its answer."""
    told = yield call
    return read(told)


def listing(call: Call, name: str) -> Dialogue:
    """A list that comes as one."""
    told = yield call
    return Listed(told.pop(name), told)


def pages(
    call: Call, name: str, limit: int | None, *, read: Callable[[Listed], Any] = as_told
) -> Dialogue:
    """A list that comes page by page, all of them of one version."""
    for beginning in range(_BEGINNINGS):
        found = Listed([], {})
        cursor = None
        try:
            while True:
                most = _PAGE if limit is None else min(limit - len(found), _PAGE)
                more = given({"limit": max(most, 1), "cursor": cursor})
                told = yield replace(call, params={**call.params, **more})
                found += told[name][:most]
                found.about = {"total": told["total"], "version": told["version"]}
                cursor = told["next"]
                if cursor is None or (limit is not None and len(found) >= limit):
                    return read(found)
        except RemoteError as error:
            if error.status != 410 or cursor is None or beginning == _BEGINNINGS - 1:
                raise
    raise AssertionError("not reached")


def compacting(tree: str) -> Dialogue:
    """What was forgotten is to be erased; the bytes of the tree's folder then."""
    found = yield Call("POST", f"/trees/{tree}/compact")
    return int(found["bytes"])


def creating(name: str, options: Mapping[str, Any]) -> Call:
    """A tree that is to be there."""
    body = json.dumps(given(options)).encode()
    return Call("PUT", f"/trees/{name}", body, {"content-type": _JSON})


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
        kind = NotThereError if response.status_code == 404 else RemoteError
        raise kind(response.status_code, said)
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
    ids: Sequence[Id] | None = None,
    payloads: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    times: Sequence[Any] | None = None,
    key: str | None = None,
) -> Call:
    """Points for a tree: as .npy if they are rows alone, else as JSON."""
    rows = rows_of(X)
    headers = {"idempotency-key": key or uuid.uuid4().hex}
    path = f"/trees/{tree}/points"
    if ids is None and payloads is None and sample_weight is None and times is None:
        room = io.BytesIO()
        np.save(room, rows)
        return Call("POST", path, room.getvalue(), {**headers, "content-type": _NPY})
    body = {
        "vectors": rows.tolist(),
        "ids": None if ids is None else _plain(ids),
        "payloads": None if payloads is None else _plain(payloads),
        "weights": None if sample_weight is None else _plain(sample_weight),
        "times": None if times is None else _plain(times),
    }
    kept = {name: value for name, value in body.items() if value is not None}
    return Call("POST", path, json.dumps(kept).encode(), {**headers, "content-type": _JSON})


def rows_of(X: npt.ArrayLike) -> Any:
    """Rows as the server will take them."""
    return read_rows(open_arrow(X), Expected("the server"))


def assigning(tree: str, X: npt.ArrayLike, cut: Mapping[str, Any]) -> Call:
    """Where rows belong."""
    rows = rows_of(X)
    body = json.dumps({"vectors": rows.tolist()}).encode()
    path = f"/trees/{tree}/assign"
    return Call("POST", path, body, {"content-type": _JSON}, given(cut))


def editing(tree: str, edit: str, key: str | None, about: Mapping[str, Any]) -> Call:
    """What a person says about a tree."""
    plain = {name: _plain_node(value) for name, value in about.items()}
    body = json.dumps({"edit": edit, **plain}).encode()
    headers = {"idempotency-key": key or uuid.uuid4().hex, "content-type": _JSON}
    return Call("POST", f"/trees/{tree}/edits", body, headers)


def _plain_node(value: Any) -> Any:
    """A node by its id, also one out of an array, or of a cluster."""
    value = getattr(value, "node_id", value)
    return value.item() if isinstance(value, np.generic) else value


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def point_path(tree: str, point: Id, more: str = "") -> str:
    """The address of a point."""
    from urllib.parse import quote

    return f"/trees/{tree}/points/{quote(str(point), safe='')}{more}"


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
