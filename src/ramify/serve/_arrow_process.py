# SPDX-License-Identifier: BSD-3-Clause
"""_arrow_process.py: a process that reads Arrow bodies of strangers, and nothing else.

Arrow believes what a body says of itself: one changed byte can send it to memory that is not
its own. So no process that holds trees looks into such a body. This one does, with little memory
and time, and hands on plain numbers and JSON; if it dies, it is one body that cannot be read.

    in    a line of JSON for each body: {"path", "batch_bytes", "most_bytes", "seconds"}
    out   a line of JSON, and bytes behind it, for each piece: {"rows", "width", "dtype", "times",
          "along"}, where "along" is how many bytes of JSON come last; then {"end"} or {"error"}

It needs pyarrow and NumPy, and loads nothing of Ramify.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

FIELDS = ("id", "vector", "payload", "weight", "time")


class UnfitError(ValueError):
    """A body that makes no sense, or asks for too much: what the caller is told."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def pieces(reader: Any, asked: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """The rows of a stream some at a time: what the piece is, and its bytes."""
    total = 0
    _check_schema(reader.schema)
    while True:
        _give(asked["seconds"])
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        batch.validate(full=True)
        total += batch.nbytes
        if total > asked["most_bytes"]:
            limit = f"{asked['most_bytes']:,} bytes are the limit of one of this size"
            raise UnfitError(f"the body unpacks to more than it may: {limit}", 413)
        rows = max(asked["batch_bytes"] * batch.num_rows // max(batch.nbytes, 1), 1)
        for begin in range(0, batch.num_rows, rows):
            piece = _piece(batch.slice(begin, rows))
            total += len(piece[1][-1])  # a word of a dictionary may stand in every row
            yield piece
            _give(asked["seconds"])


def _check_schema(schema: Any) -> None:
    """Columns that rows can be made of, before any of their bytes are looked at."""
    names = schema.names
    if len(set(names)) < len(names):
        raise UnfitError("two columns have the same name")
    if not set(names) - (set(FIELDS) - {"vector"}):
        raise UnfitError('expected a column "vector", or columns of numbers')
    for column in schema:
        fits, expected = _EXPECTED.get(column.name, (_is_number, "numbers"))
        needed = column.name in FIELDS or "vector" not in names  # others are left alone beside it
        if needed and not fits(_stored(column.type)):
            raise UnfitError(f"column {column.name!r}: expected {expected}, got {column.type}")


def _stored(kind: Any) -> Any:
    """A type as it is stored: those of extensions are others underneath."""
    return getattr(kind, "storage_type", kind)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _is_numbers(kind: Any) -> bool:
    import pyarrow.types as kinds

    some = kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)
    return bool(some) and _is_number(_stored(kind.value_type))


def _is_name(kind: Any) -> bool:
    import pyarrow.types as kinds

    words = kind.value_type if kinds.is_dictionary(kind) else kind
    return _is_text(words) or bool(kinds.is_integer(words))


def _is_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _is_time(kind: Any) -> bool:
    import pyarrow.types as kinds

    dates = kinds.is_timestamp(kind) or kinds.is_date(kind)
    return bool(dates) or _is_number(kind) or _is_text(kind)


#: What fits each field, and in words.
_EXPECTED = {
    "vector": (_is_numbers, "lists of numbers"),
    "id": (_is_name, "text or whole numbers"),
    "weight": (_is_number, "numbers"),
    "time": (_is_time, "dates or numbers"),
    "payload": (lambda kind: True, "anything"),
}


def _piece(batch: Any) -> tuple[dict[str, Any], list[Any]]:
    columns = {
        name: getattr(batch.column(at), "storage", batch.column(at))
        for at, name in enumerate(batch.schema.names)
    }
    rows = _rows(columns)
    head: dict[str, Any] = {"rows": len(rows), "width": rows.shape[1], "dtype": rows.dtype.str}
    along = {name: columns[name].to_pylist() for name in ("id", "weight") if name in columns}
    body: list[Any] = [memoryview(rows).cast("B")]
    if "payload" in columns:
        along["payload"] = _payloads(columns["payload"].to_pylist())
    if "time" in columns:
        times = columns["time"].to_numpy(zero_copy_only=False)
        if times.dtype.kind == "O":
            along["time"] = times.tolist()
        else:
            head["times"] = times.dtype.str
            body.append(np.ascontiguousarray(times).tobytes())
    text = json.dumps(along).encode() if along else b""
    return {**head, "along": len(text)}, [*body, text]


def _rows(columns: dict[str, Any]) -> Any:
    """The numbers of a piece, row by row."""
    if "vector" not in columns:
        names = [name for name in columns if name not in FIELDS]
        one_by_one = [columns[name].to_numpy(zero_copy_only=False) for name in names]
        return np.ascontiguousarray(np.column_stack(one_by_one))
    vector = columns["vector"]
    lengths = vector.value_lengths().to_numpy(zero_copy_only=False)
    if vector.null_count or (lengths != lengths[0]).any() or lengths[0] == 0:
        raise UnfitError('"vector": expected lists of one length in every row')
    inner = vector.flatten()
    flat = getattr(inner, "storage", inner).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat.reshape(len(vector), -1))


def _payloads(found: list[Any]) -> list[Any]:
    """Payloads, if JSON can hold each of them."""
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnfitError(f'"payload": JSON cannot hold one: {error}') from None
    return found


def answer(asked: dict[str, Any], out: BinaryIO) -> bool:
    """Read one body; whether this process can be asked again."""
    import pyarrow as pa

    try:
        _limit_memory(asked)
        with pa.memory_map(asked["path"]) as file:
            options = pa.ipc.IpcReadOptions(use_threads=False)
            with pa.ipc.open_stream(file, options=options) as reader:
                for head, parts in pieces(reader, asked):
                    _give(0)  # how long the other side takes is not our time
                    _say(out, head, *parts)
        _say(out, {"end": True})
        return True
    except UnfitError as error:
        _say(out, {"error": str(error), "status": error.status})
    except MemoryError:
        told = "a record batch takes more memory than a reader has: write smaller ones"
        _say(out, {"error": told, "status": 413})
        return False
    except (pa.ArrowException, ValueError, TypeError, AttributeError, OSError) as error:
        said = str(error).strip().partition("\n")[0][:300]
        told = f"this is no Arrow stream that can be read: {said}"
        _say(out, {"error": told, "status": 422})
    finally:
        _give(0)
    return True


def _say(out: BinaryIO, head: dict[str, Any], *parts: Any) -> None:
    out.write(json.dumps(head).encode() + b"\n")
    for part in parts:
        out.write(part)
    out.flush()


def _give(seconds: int) -> None:
    """So long until the system ends this process, whatever it does by then; 0 for ever."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _limit_memory(asked: dict[str, Any]) -> None:
    """What is there, the body itself, and so much more."""
    if sys.platform == "win32":
        return
    import resource

    with suppress(OSError, ValueError):  # not on every system
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + os.path.getsize(asked["path"]) + asked["memory"]
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main() -> None:
    """Read bodies until nobody asks for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for the server, which ends this one
    import pyarrow.ipc  # noqa: F401  # before there is a limit

    source, out = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        _say(out, {"begun": True})
        if not answer(json.loads(line), out):
            return


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
