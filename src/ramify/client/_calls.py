# SPDX-License-Identifier: BSD-3-Clause
"""_calls.py: how a client talks to a server: calls, made again if need be, and their answers.

A call that fails on its way is made again. That is safe because every call that changes
something has a key, or its points have ids: what was acknowledged once is not done twice.
"""

from __future__ import annotations

import io
import json
import random
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ramify.frames import open_arrow
from ramify.points import Expected, read_rows

#: Answers after which it is worth asking again.
AGAIN = (408, 425, 429, 502, 503, 504)

#: Entries that are asked for at once, and how often a list that was forgotten is begun again.
_PAGE, _BEGINNINGS = 1000, 5

#: What columns are called in bodies, where that is something else.
_FIELDS = {"sample_weight": "weights"}

_Answer = TypeVar("_Answer")
_Entry = TypeVar("_Entry")


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


class NotThereError(RemoteError, KeyError):
    """A server knows nothing of the kind: no such point, node or tree.

    Examples
    --------
    >>> isinstance(NotThereError(404, "there is no tree 'x'"), KeyError)
    True
    """


class Listed(list[_Entry]):
    """A list, and in ``about`` what the server says of it: its ``total`` there, the ``version``.

    Examples
    --------
    >>> Listed([{"size": 2}], {"total": 7, "version": 9}).about["total"]
    7
    """

    def __init__(self, entries: Iterable[_Entry], about: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.about = dict(about)


@dataclass
class Call:
    """A request that can be made again."""

    method: str
    path: str
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    as_bytes: bool = False

    def once(self, key: str | None) -> Call:
        """The same, under a name, so that it is done once however often it is made."""
        return replace(self, headers={**self.headers, "idempotency-key": key or uuid.uuid4().hex})


def calling(method: str, path: str, body: Any = None, params: Any = None) -> Call:
    """A call; its body, if there is one, is JSON."""
    call = Call(method, path, params=params or {})
    return call if body is None else with_body(call, json.dumps(body).encode(), "application/json")


def with_body(call: Call, content: bytes, kind: str) -> Call:
    """The same with a body."""
    return replace(call, content=content, headers={**call.headers, "content-type": kind})


#: Calls to be made, one after the other; each is answered, or RemoteError is thrown in.
Dialogue: TypeAlias = Generator[Call, Any, _Answer]

#: What a client does for a dialogue: requests to be made, and seconds to be waited.
Steps: TypeAlias = Generator[Call | float, Any, _Answer]


def steps_of(dialogue: Dialogue[_Answer], attempts: int, lost: type[Exception]) -> Steps[_Answer]:
    """Have the calls of a dialogue made, each more than once if need be."""
    told, error = None, None
    try:
        while True:
            call = dialogue.send(told) if error is None else dialogue.throw(error)
            try:
                told, error = (yield from _persist(call, attempts, lost)), None
            except RemoteError as refused:
                error = refused
    except StopIteration as end:
        found: _Answer = end.value
        return found


def _persist(call: Call, attempts: int, lost: type[Exception]) -> Steps[Any]:
    for attempt in range(attempts):
        response, last = None, attempt == attempts - 1
        try:
            response = yield call
            if response.status_code not in AGAIN or last:
                break
        except lost as error:
            if last:
                raise ConnectionError(f"{call.path}: {error}") from error
        yield wait_before(attempt, response)
    return read_answer(call, response)


def read_answer(call: Call, response: Any) -> Any:
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


def pages(
    call: Call, name: str, limit: int | None, read: Callable[[Any], Any] = lambda told: told
) -> Dialogue[Listed[Any]]:
    """A list that comes page by page, all of them of one version."""
    for beginning in range(_BEGINNINGS):
        found: Listed[Any] = Listed([], {})
        cursor = None
        try:
            while True:
                most = _PAGE if limit is None else min(limit - len(found), _PAGE)
                params = {**call.params, "limit": max(most, 1), "cursor": cursor}
                told = yield replace(call, params=params)
                found += map(read, told[name][:most])
                cursor = told.pop("next")
                found.about = {one: value for one, value in told.items() if one != name}
                if cursor is None or (limit is not None and len(found) >= limit):
                    return found
        except RemoteError as error:
            if error.status != 410 or cursor is None or beginning == _BEGINNINGS - 1:
                raise
    raise AssertionError("not reached")


# --- what calls are made of -------------------------------------------------------------------


def adding(call: Call, X: npt.ArrayLike | None, along: dict[str, Any]) -> Call:
    """Points for a tree: as .npy if they are rows alone, else as JSON; or edges."""
    call, edges = call.once(along.pop("key", None)), along.pop("edges", None)
    if X is None:
        parts = {name: plain(part) for name, part in given(along).items()}
        a, b, weights = map(plain, edges if edges is not None else ((), (), ()))
        parts["edges"] = list(zip(a, b, weights, strict=True))
        return with_body(call, json.dumps(parts).encode(), "application/json")
    if edges is not None:
        raise TypeError("a call takes rows, or edges=(i, j, weight), and not both at once")
    rows = rows_of(X)
    columns = {_FIELDS.get(name, name): plain(part) for name, part in given(along).items()}
    if columns:
        body = json.dumps({"vectors": rows.tolist(), **columns}).encode()
        return with_body(call, body, "application/json")
    room = io.BytesIO()
    np.save(room, rows)
    return with_body(call, room.getvalue(), "application/x-npy")


def rows_of(X: npt.ArrayLike) -> Any:
    """Rows as the server will take them."""
    return read_rows(open_arrow(X), Expected("the server"))


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that are not None. Times get the zone of this machine if they have none."""
    times = {one: at.astimezone() for one, at in options.items() if isinstance(at, datetime)}
    sent = {**options, **{name: moment.isoformat() for name, moment in times.items()}}
    return {name: value for name, value in sent.items() if value is not None}


def plain(values: Any) -> list[Any]:
    """A column of any kind, as JSON has it; its values, too."""
    if isinstance(values, str | bytes | Mapping | set | frozenset):
        raise TypeError(
            f"expected a sequence in the order of the rows, got {type(values).__name__}"
        )
    for name in ("tolist", "to_list", "to_pylist"):
        convert = getattr(values, name, None)
        if convert is not None:
            values = convert()
            break
    return [one.item() if isinstance(one, np.generic) else one for one in values]


def plain_points(points: Any) -> list[Any]:
    """Points by ids or numbers, one or many."""
    one = isinstance(points, str | int | np.integer)
    return plain([points] if one else points)


def plain_node(value: Any) -> Any:
    """A node by its id, also one out of an array, or of a cluster."""
    value = getattr(value, "node_id", value)
    return value.item() if isinstance(value, np.generic) else value
