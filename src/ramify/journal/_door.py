# SPDX-License-Identifier: BSD-3-Clause
"""_door.py: what callers give, as plain values that a journal can hold.

All of this is done in the caller's thread, before the writer hears of a request: what cannot
be written down is refused where it was asked for. Numbers of NumPy become Python's.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ramify.hierarchy import Cluster

#: A name of a node is a few words, not a book.
_LONGEST_NAME = 1000
#: Lists in lists of a payload. Readers of JSON have limits of their own, not all the same.
_DEEPEST = 100


def plain_value(what: str, value: Any, *, finite: bool = True) -> Any:
    """A value as it comes back from JSON: a copy, without NumPy's types.

    Examples
    --------
    >>> import numpy as np
    >>> plain_value("payloads: row 0", {"k": np.int64(3), "v": np.array([1.5, 2.5])})
    {'k': 3, 'v': [1.5, 2.5]}
    >>> plain_value("payloads: row 0", b"sound")
    Traceback (most recent call last):
    ...
    ValueError: payloads: row 0 is nothing that JSON can hold: an object of type bytes
    """
    if type(value) is str:
        return plain_text(what, value)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=not finite, default=_of_numpy)
        text.encode()
        found = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{what} is nothing that JSON can hold: it is nested too deep") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} is nothing that JSON can hold: {_why(error)}") from None
    if _depth(found) > _DEEPEST:
        raise ValueError(f"{what} is nested deeper than {_DEEPEST} levels, which are the limit")
    return found


def _of_numpy(value: object) -> Any:
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    raise TypeError(f"an object of type {type(value).__name__}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Keys of an object are texts in JSON; two of them may have become one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("two keys of an object are the same text")
    return found


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "half a surrogate pair is no character"
    return str(error)


def _depth(value: Any) -> int:
    """How deep lists and objects are nested. No recursion."""
    deepest, todo = 0, [(value, 0)]
    while todo:
        one, depth = todo.pop()
        deepest = max(deepest, depth)
        if isinstance(one, dict):
            todo += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list):
            todo += [(inner, depth + 1) for inner in one]
    return deepest


def plain_text(what: str, text: object) -> str:
    """A text. Half a surrogate pair is no character, and no database could hold it."""
    if not isinstance(text, str):
        raise TypeError(f"{what}: expected a text, got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what}: {text!r} is no text that can be written down") from None
    return str.__str__(text)


def plain_key(key: object) -> str | None:
    """What a caller calls a request, or None."""
    if key is None:
        return None
    if not isinstance(key, str) or not 0 < len(key) <= 200:
        raise ValueError(f"key={key!r}: expected a text of 1 to 200 characters")
    return plain_text("key", key)


def plain_marks(marks: object) -> dict[str, str] | None:
    """How far sources were read, as texts, or None."""
    if marks is None:
        return None
    if not isinstance(marks, Mapping):
        raise TypeError(f"marks={marks!r}: expected a mapping from sources to positions")
    return {plain_text("marks", source): _position(at) for source, at in marks.items()}


def _position(at: object) -> str:
    if isinstance(at, str):
        return plain_text("marks", at)
    if isinstance(at, bytes | bytearray | Mapping | list | set | np.ndarray) or at is None:
        raise TypeError(f"marks: expected a text or a number for a position, got {at!r}")
    return plain_text("marks", str(at))


def plain_ids(ids: list[Any]) -> list[Any]:
    """Ids that can be written down."""
    for one in ids:
        if isinstance(one, str):
            plain_text("ids", one)
    return ids


def plain_points(points: Any) -> list[Any]:
    """Points, by ids or numbers: each once."""
    if isinstance(points, np.ndarray):
        points = points.tolist()
    if isinstance(points, str) or not isinstance(points, Iterable):
        points = [points]
    plain = [plain_point(one) for one in points]
    if len(set(plain)) < len(plain):
        raise ValueError("a point is named twice")
    return plain


def plain_point(point: object) -> int | str:
    """The id or the number of a point.

    Examples
    --------
    >>> import numpy as np
    >>> plain_point(np.int64(7)), plain_point("T1")
    (7, 'T1')
    """
    if isinstance(point, str):
        return plain_text("points", point)
    if isinstance(point, bool | np.bool_) or not hasattr(point, "__index__"):
        raise TypeError(f"{point!r}: expected the id or the number of a point")
    return _whole(point)


def plain_node(node: object) -> int | str:
    """A node as a journal can hold it: its id, or the id of a point.

    Examples
    --------
    >>> import numpy as np
    >>> plain_node(np.int64(7)), plain_node("T1")
    (7, 'T1')
    """
    if isinstance(node, Cluster):
        return int(node.node_id)
    if isinstance(node, str):
        return plain_text("nodes", node)
    return _whole(node)


def _whole(value: object) -> int:
    found = operator.index(value)  # type: ignore[arg-type]
    if not -(2**63) <= found < 2**63:
        raise KeyError(f"there is none of number {found}; numbers have 64 bits")
    return found


def plain_name(text: object) -> str | None:
    """The name of a node, or None.

    Examples
    --------
    >>> plain_name("refunds")
    'refunds'
    """
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"text={text!r}: expected a text, or None")
    if len(text) > _LONGEST_NAME:
        raise ValueError(f"a name of {len(text):,} characters; {_LONGEST_NAME:,} are the limit")
    return plain_text("text", text)
