# SPDX-License-Identifier: BSD-3-Clause
"""_edges.py: pairs of points with weights out of a table, for trees of edges (``--edges``).

A table is text with a header (.csv, .tsv, packed by gzip or not, or standard input) or .parquet.
The whole table is one change of the tree. Ids are whole numbers if all of a new tree are.
"""

import csv
import gzip
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from ramify.cli._console import WrongCallError, note, print_json, some_bytes
from ramify.cli._options import check_file
from ramify.estimators.stream import Stream


class Pairs(NamedTuple):
    """Both ends and the weights of edges."""

    a: list[Any]
    b: list[Any]
    weights: list[float]


def wanted(columns: Sequence[str] | None) -> list[str] | None:
    """The three columns that were asked for, if any."""
    if columns is None:
        return None
    names = [name for word in columns for name in word.split(",")]
    if len(names) != 3:
        raise WrongCallError("with --edges, --columns names three: an id, an id and a weight")
    return names


def read_pairs(data: str, names: Sequence[str] | None, model: Any) -> Pairs:
    """The edges of a table, with ids of the kind that the model's tree has."""
    if data.endswith(".parquet"):
        found = _of_parquet(data, names)
    else:
        with _text(data) as file:
            found = _of_text(file, data, names)
    kind = Stream(model).id_kind if len(model) > 0 else None
    if kind == "int" or (kind is None and all(map(_is_whole, [*found.a, *found.b]))):
        found = found._replace(a=_whole(found.a, data), b=_whole(found.b, data))
    return found


def _text(data: str) -> AbstractContextManager[Iterable[str]]:
    if data == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed; expected edges there")
        return TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    check_file(Path(data))
    if data.endswith(".gz"):
        return gzip.open(data, "rt", encoding="utf-8-sig", newline="")
    return open(data, encoding="utf-8-sig", newline="")


def _of_text(file: Iterable[str], data: str, names: Sequence[str] | None) -> Pairs:
    tabs = data.removesuffix(".gz").endswith((".tsv", ".tab"))
    lines = csv.reader(file, delimiter="\t" if tabs else ",")
    head = next(lines, None)
    if head is None:
        raise ValueError(f"{data} is empty; expected a header and edges: id, id, weight")
    places = _places(head, names, data)
    found = Pairs([], [], [])
    for line in lines:
        if not line:
            continue
        try:
            one, other, weight = (line[place] for place in places)
            found.weights.append(float(weight))
        except (IndexError, ValueError):
            raise ValueError(
                f"{data}, line {lines.line_num}: expected an id, an id and a weight, got "
                f"{','.join(line)[:80]!r}"
            ) from None
        found.a.append(one)
        found.b.append(other)
    return found


def _of_parquet(data: str, names: Sequence[str] | None) -> Pairs:
    check_file(Path(data))
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("reading .parquet needs pyarrow: pip install pyarrow") from error
    table = parquet.read_table(data)
    places = _places(table.column_names, names, data)
    a, b, weights = (table.column(place).to_pylist() for place in places)
    return Pairs(list(map(str, a)), list(map(str, b)), list(map(float, weights)))


def _places(head: Sequence[str], names: Sequence[str] | None, data: str) -> list[int]:
    there = ", ".join(head)
    if names is None:
        if len(head) != 3:
            raise ValueError(
                f"{data} has the columns {there}; say which are the ids and the weight: "
                f"--columns ID,ID,WEIGHT"
            )
        return [0, 1, 2]
    for name in names:
        if name not in head:
            raise ValueError(f"{data} has no column {name!r}; it has {there}")
    return [list(head).index(name) for name in names]


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and len(text) < 19


def _whole(ends: list[Any], data: str) -> list[Any]:
    for end in ends:
        if not _is_whole(end):
            raise ValueError(f"{data}: {end!r} is no whole number, as the ids of this tree are")
    return list(map(int, ends))


def report(out: Path, model: Any, pairs: Pairs, *, quiet: bool, json: bool) -> None:
    """What has become of the tree."""
    size = out.stat().st_size
    if json:
        facts = {"tree": str(out), "points": len(model), "edges": len(pairs.weights)}
        print_json(facts | {"algorithm": "live-graph-hac", "bytes": size})
        return
    note(
        f"{out}: {len(model):,} points, {some_bytes(size)}; {len(pairs.weights):,} edges read",
        quiet=quiet,
    )
