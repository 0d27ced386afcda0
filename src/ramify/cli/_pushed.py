# SPDX-License-Identifier: BSD-3-Clause
"""_pushed.py: what `ramify push` sends, out of a file of any kind or from a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from ramify.files import ReadOptions, open_rows


class Batch(NamedTuple):
    """Rows of one request."""

    vectors: Any
    ids: list[Any] | None
    payloads: list[Any] | None


def number_of_rows(
    data: str, *, id_column: str | None, payload_column: str | None, field: str | None
) -> int | None:
    """How many rows a file has, if it says so."""
    if data == "-":
        return None
    with open_rows(data, _options(1, id_column, payload_column, field)) as source:
        return source.n_rows


def batches_of(
    data: str, rows: int, *, id_column: str | None, payload_column: str | None, field: str | None
) -> Iterator[Batch]:
    """The rows of a file; of ``-``, lines of JSON: {"id": ..., "vector": [...], "payload": ...}."""
    if data == "-":
        yield from _of_lines(rows)
        return
    with open_rows(data, _options(rows, id_column, payload_column, field)) as source:
        for batch in source:
            yield Batch(batch.rows, batch.ids, batch.labels)


def _options(
    rows: int, id_column: str | None, payload_column: str | None, field: str | None
) -> ReadOptions:
    return ReadOptions(
        id_column=id_column, label_column=payload_column, field=field, batch_size=rows
    )


def _of_lines(rows: int) -> Iterator[Batch]:
    points: list[dict[str, Any]] = []
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            point = json.loads(line)
            point["vector"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f'line {number}: expected an object with "vector": {error}') from None
        points.append(point)
        if len(points) >= rows:
            yield _batch(points)
            points = []
    if points:
        yield _batch(points)


def _batch(points: list[dict[str, Any]]) -> Batch:
    def column(name: str) -> list[Any] | None:
        found = [point.get(name) for point in points]
        return None if all(one is None for one in found) else found

    return Batch([point["vector"] for point in points], column("id"), column("payload"))
