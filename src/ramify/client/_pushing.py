# SPDX-License-Identifier: BSD-3-Clause
"""_pushing.py: many rows on their way to a server, in large bodies that it reads piece by piece.

The server inserts the pieces of such a body one after the other, each in a commit of its own. With
ids or payloads beside the rows a body is an Arrow stream, which takes a tenth of the time that JSON
takes; JSON it is where pyarrow is missing, or cannot hold what comes along.
"""

from __future__ import annotations

import io
import uuid
from typing import Any

import numpy as np

from ramify.client._answers import receipt_of
from ramify.client._calls import Call, Dialogue, adding, given, plain, rows_of, with_body
from ramify.client._table import address
from ramify.tree import Receipt

ARROW = "application/vnd.apache.arrow.stream"

#: Bytes of a body, about.
_BODY = 16 << 20

#: What a column of Arrow is called, and the types that it takes over as they are.
_COLUMNS = {
    "ids": ("id", ({str}, {int})),
    "payloads": ("payload", ({str}, {str, type(None)})),
    "sample_weight": ("weight", ({float}, {int})),
    "times": ("time", ({float}, {int}, {str})),
}


def pushing(tree: Any, X: Any, along: dict[str, Any]) -> Dialogue[Receipt]:
    """The rows, body after body."""
    rows = rows_of(X)
    key = along.pop("key", None) or uuid.uuid4().hex
    columns = {name: plain(part) for name, part in given(along).items()}
    for name, part in columns.items():
        if len(part) != len(rows):
            raise ValueError(
                f"{name}: expected {len(rows):,} entries, one a row, got {len(part):,}"
            )
    numbers: list[int] = []
    repeated = version = 0
    step = max(_BODY // (8 * rows.shape[1] + 32), 1)
    for begin in range(0, max(len(rows), 1), step):
        some = {name: part[begin : begin + step] for name, part in columns.items()}
        told = yield _body(address(tree, "POST /points"), rows[begin : begin + step], some).once(
            f"{key}/{begin}"
        )
        receipt = receipt_of(told)
        numbers += receipt.numbers
        repeated, version = repeated + receipt.repeated, receipt.version
    return Receipt(numbers, version, repeated)


def _body(call: Call, rows: Any, columns: dict[str, Any]) -> Call:
    content = _arrow(rows, columns) if columns else None
    return adding(call, rows, columns) if content is None else with_body(call, content, ARROW)


def _arrow(rows: Any, columns: dict[str, list[Any]]) -> bytes | None:
    """Rows and columns as an Arrow stream; None if there is no way to write them as they are."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    flat = pa.array(np.ascontiguousarray(rows).ravel())
    arrays = {"vector": pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])}
    for name, values in columns.items():
        called, kinds = _COLUMNS[name]
        if set(map(type, values)) not in kinds:
            return None
        try:
            arrays[called] = pa.array(values)
        except (pa.ArrowException, OverflowError, UnicodeError):  # a number too large, say
            return None
    batch = pa.record_batch(list(arrays.values()), names=list(arrays))
    room = io.BytesIO()
    with pa.ipc.new_stream(room, batch.schema) as out:
        out.write_batch(batch)
    return room.getvalue()
