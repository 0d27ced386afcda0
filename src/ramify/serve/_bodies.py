# SPDX-License-Identifier: BSD-3-Clause
"""_bodies.py: rows out of the bodies of requests: JSON, lines of JSON, .npy.

JSON is held in memory and limited. The others are written to a temporary file as they come,
and read from there some rows at a time: Arrow by _arrow.py. No pickle is ever read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ramify.files._headers import check_matrix, read_header
from ramify.serve._settings import Settings

JSON, NDJSON = "application/json", "application/x-ndjson"
ARROW, NPY = "application/vnd.apache.arrow.stream", "application/x-npy"
KINDS = (JSON, NDJSON, ARROW, NPY)

_LONGEST_LINE = 16 << 20
_FIELDS = {"id", "vector", "payload", "weight", "time"}


class BodyError(ValueError):
    """A body that makes no sense; where, and what would be right."""


@dataclass
class Rows:
    """Some rows of a body."""

    vectors: Any
    ids: list[Any] | None = None
    payloads: list[Any] | None = None
    weights: list[float] | None = None
    times: Any = None

    def __len__(self) -> int:
        return len(self.vectors)

    def along(self) -> dict[str, Any]:
        """What comes along, as a tree takes it."""
        found = {"ids": self.ids, "payloads": self.payloads}
        return found | {"sample_weight": self.weights, "times": self.times}


@dataclass
class Joined:
    """Edges of a body, and points that come."""

    edges: tuple[list[Any], list[Any], list[Any]]
    ids: list[Any] | None = None
    payloads: list[Any] | None = None

    def along(self) -> dict[str, Any]:
        """All of it, as a tree takes it."""
        return {"edges": self.edges, "ids": self.ids, "payloads": self.payloads}


def of_edges(found: dict[str, Any]) -> Joined:
    """{"edges": [[i, j, weight], ...], "ids": [...], "payloads": [...]}.

    Examples
    --------
    >>> of_edges({"edges": [["a", "b", 0.5]]}).edges
    (['a'], ['b'], [0.5])
    """
    names = {"edges", "ids", "payloads"}
    if strange := set(found) - names:
        raise BodyError(f"unknown fields: {', '.join(sorted(strange))}; known: {sorted(names)}")
    for name in ("ids", "payloads"):
        if found.get(name) is not None and not isinstance(found[name], list):
            raise BodyError(f"{name}: expected a list")
    edges = found["edges"]
    if not isinstance(edges, list):
        raise BodyError("edges: expected a list of [id, id, weight]")
    for at, edge in enumerate(edges):
        if not isinstance(edge, list) or len(edge) != 3:
            raise BodyError(f"edge {at}: expected [id, id, weight]")
        if not {type(end) for end in edge[:2]} <= {str, int} or type(edge[2]) not in (int, float):
            raise BodyError(f"edge {at}: expected two ids, of text or whole numbers, and a weight")
    a, b, weights = (list(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
    return Joined((a, b, weights), found.get("ids"), found.get("payloads"))


def read_news(body: bytes) -> Rows | Joined:
    """As :func:`read_json`; or of a tree of edges {"edges": [[i, j, weight], ...]}.

    Examples
    --------
    >>> read_news(b'{"edges": [["a", "b", 0.5]]}').edges
    (['a'], ['b'], [0.5])
    """
    found = parse(body)
    return of_edges(found) if isinstance(found, dict) and "edges" in found else of_json(found)


def read_json(body: bytes) -> Rows:
    """{"points": [{"id", "vector", "payload"}]}, {"vectors": [...], "ids": [...]}, or one point.

    Examples
    --------
    >>> read_json(b'{"points": [{"id": "a", "vector": [1, 2]}]}').ids
    ['a']
    """
    return of_json(parse(body))


def of_json(found: Any) -> Rows:
    """Rows of a body that has been taken apart."""
    if isinstance(found, dict) and "vectors" in found:
        names = {"vectors", "ids", "payloads", "weights", "times"}
        if strange := set(found) - names:
            raise BodyError(f"unknown fields: {', '.join(sorted(strange))}; known: {sorted(names)}")
        parts = {name: found.get(name) for name in names - {"vectors"}}
        for name, part in parts.items():
            if part is not None and not isinstance(part, list):
                raise BodyError(f"{name}: expected a list, one entry for each row")
        return Rows(matrix(found["vectors"]), **parts)
    points = found.get("points", [found]) if isinstance(found, dict) else None
    if not isinstance(points, list) or not points:
        raise BodyError('expected {"points": [{"id": ..., "vector": [...]}, ...]}')
    return of_points(points)


def _refuse(word: str) -> None:
    raise BodyError(f"{word} is no number in JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def parse(text: bytes | str) -> Any:
    """JSON, without the words for what is no number."""
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        return _DECODER.decode(text)
    except BodyError:
        raise
    except (ValueError, RecursionError) as error:
        raise BodyError(f"this is no JSON: {error}") from None


def of_points(points: list[Any], first: int = 0) -> Rows:
    """Rows of points that are objects."""
    for at, point in enumerate(points, first):
        if not isinstance(point, dict) or "vector" not in point:
            raise BodyError(f'point {at}: expected an object with "vector"')
        if strange := set(point) - _FIELDS:
            raise BodyError(f"point {at}: unknown field {sorted(strange)[0]!r}")

    def column(name: str) -> list[Any] | None:
        given = [name in point and point[name] is not None for point in points]
        if name != "payload" and any(given) and not all(given):
            raise BodyError(f"point {first + given.index(False)} has no {name!r}, and others have")
        return [point.get(name) for point in points] if any(given) else None

    return Rows(
        matrix([point["vector"] for point in points], first),
        column("id"),
        column("payload"),
        column("weight"),
        column("time"),
    )


def matrix(vectors: Any, first: int = 0) -> Any:
    """Lists of numbers as one array; whose row is not one is said."""
    if not isinstance(vectors, list) or not vectors:
        raise BodyError("expected a list of vectors")
    width = len(vectors[0]) if isinstance(vectors[0], list) else 0
    for at, vector in enumerate(vectors, first):
        if not isinstance(vector, list) or len(vector) != width or width == 0:
            raise BodyError(f"point {at}: expected a list of {width or 'd'} numbers")
        if not set(map(type, vector)) <= {int, float}:
            raise BodyError(f"point {at}: a vector has numbers only")
    try:
        return np.array(vectors, dtype=np.float64)
    except OverflowError:
        raise BodyError("a number is too large") from None


def read_lines(path: Path, settings: Settings) -> Iterator[Rows]:
    """Lines of JSON, a point each, some at a time."""
    rows = settings.batch_rows
    points: list[Any] = []
    first = number = taken = 0
    with path.open("rb") as file:
        while line := file.readline(_LONGEST_LINE + 1):
            number, taken = number + 1, taken + len(line)
            if len(line) > _LONGEST_LINE:
                raise BodyError(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
            if not line.strip():
                continue
            try:
                points.append(parse(line))
            except BodyError as error:
                raise BodyError(f"line {number}: {error}") from None
            if len(points) == rows or taken > settings.body_bytes:
                yield of_points(points, first)
                first, points, taken = first + len(points), [], 0
    if points:
        yield of_points(points, first)


def read_npy(path: Path, settings: Settings) -> Iterator[Rows]:
    """An array, some rows at a time."""
    try:
        with path.open("rb") as file:
            header = read_header(file, path.stat().st_size, "the body")
        n, width = check_matrix(header, "the body")
        if header.dtype.kind not in "fiu":
            raise ValueError(f"expected numbers, got {header.dtype}")
    except ValueError as error:
        raise BodyError(f"this is no .npy: {error}") from None
    order: Literal["C", "F"] = "F" if header.column_by_column else "C"
    array = np.memmap(path, header.dtype, "r", header.start, (n, width), order)
    rows = max(settings.batch_bytes // (8 * width), 1)
    for begin in range(0, n, rows):
        yield Rows(np.array(array[begin : begin + rows]))


READERS = {NDJSON: read_lines, NPY: read_npy}
