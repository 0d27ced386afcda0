"""Rows that cannot be used: what is left out, what is said, and where reading goes on."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from ramify.files import BadRow, ReadOptions, open_rows


def skipping(path, bad: list[BadRow], **options) -> tuple[list, list, list]:
    """Rows, ids and places; bad rows go to the list."""
    reading = ReadOptions(bad_rows=bad.append, **options)
    rows, ids, places = [], [], []
    with open_rows(path, reading) as source:
        for batch in source:
            rows += batch.rows.tolist()
            ids += batch.ids or []
            places += batch.places
    return rows, ids, places


BAD_CSV = b"""id,x,y
a,1,2
b,3
c,x,4
d,5,nan

,7,8
"e,9,9
f,\xff,1
g,9,10
"""


def test_one_bad_line_ended_the_reading(tmp_path):
    (tmp_path / "x.csv").write_bytes(BAD_CSV)
    bad: list[BadRow] = []
    rows, ids, places = skipping(tmp_path / "x.csv", bad, id_column="id", columns=["x", "y"])
    assert (rows, ids, places) == ([[1, 2], [9, 10]], ["a", "g"], [2, 10])
    assert [(one.place, one.text) for one in bad] == [
        (3, "b,3"),
        (4, "c,x,4"),
        (5, "d,5,nan"),
        (7, ",7,8"),
        (8, '"e,9,9'),
        (9, "f,\udcff,1"),
    ]
    reasons = [one.reason for one in bad]
    assert reasons[0] == "expected 3 cells, got 2"
    assert reasons[1] == "column 'x': 'x' found; expected a number"
    assert reasons[2] == "column 'y': 'nan' found; every number must be finite"
    assert reasons[3] == "column 'id': the cell is empty; expected text or a number"
    assert reasons[4] == "a quote is not closed"
    assert reasons[5] == "not text in UTF-8"


def test_one_bad_line_of_json_ended_the_reading(tmp_path):
    lines = ["nonsense", '{"v": [1, 2]}', '{"v": [1', '{"v": [1]}', "[1, 2]", '{"v": [3, 4]}']
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    bad: list[BadRow] = []
    rows, _, places = skipping(tmp_path / "x.jsonl", bad)
    assert (rows, places) == ([[1, 2], [3, 4]], [2, 6])
    assert [(one.place, one.text) for one in bad] == [(at, lines[at - 1]) for at in (1, 3, 4, 5)]
    (tmp_path / "y.jsonl").write_text('[1, 2]\n{"a": 1}\n3\n[1]\n[3, 4]\n')
    bad.clear()
    assert skipping(tmp_path / "y.jsonl", bad)[0] == [[1, 2], [3, 4]]
    assert [one.place for one in bad] == [2, 3, 4]


def test_bad_rows_of_arrays_and_tables_are_skipped_by_number(tmp_path):
    X = np.arange(10.0).reshape(5, 2)
    X[1, 1], X[3, 0] = np.nan, np.inf
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X)
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "id": ["a", "b", "c", "d", None]})
    pq.write_table(table, tmp_path / "x.parquet")
    arrays = pa.table({"v": [[0.0, 1.0], [2.0], [4.0, 5.0], None, [8.0, float("nan")]]})
    pyarrow.feather.write_feather(arrays, tmp_path / "x.feather")
    for name in ("x.npy", "x.npz"):
        bad: list[BadRow] = []
        assert skipping(tmp_path / name, bad)[::2] == ([[0, 1], [4, 5], [8, 9]], [0, 2, 4])
        assert [one.place for one in bad] == [1, 3]
    bad = []
    found = skipping(tmp_path / "x.parquet", bad, id_column="id")
    assert found == ([[0, 1], [4, 5]], ["a", "c"], [0, 2])
    assert [one.place for one in bad] == [1, 3, 4]
    bad = []
    assert skipping(tmp_path / "x.feather", bad)[::2] == ([[0, 1], [4, 5]], [0, 2])
    assert [one.place for one in bad] == [1, 3, 4]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.npy", "x.npz", "x.parquet", "x.feather"])
def test_rows_before_a_bad_one_come_before_the_error(name, tmp_path):
    """They were thrown away with the batch that they were in."""
    X = np.arange(12.0).reshape(6, 2)
    X[4, 1] = np.nan
    write_rows(tmp_path / name, X)
    with open_rows(tmp_path / name) as source:
        batches = iter(source)
        seen = next(batches).places
        with pytest.raises(ValueError, match=r"line 5|row 4"):
            next(batches)
    assert list(seen) == ([1, 2, 3, 4] if source.counted == "line" else [0, 1, 2, 3])


def write_rows(path: Path, X: np.ndarray) -> None:
    """Rows as a file of the kind that its name says."""
    columns = {"x": X[:, 0], "y": X[:, 1]}
    if path.suffix == ".csv":
        path.write_text("\n".join(f"{x},{y}" for x, y in X.tolist()))
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in X.tolist()))
    elif path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".npz":
        np.savez(path, X=X)
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        pyarrow.feather.write_feather(pa.table(columns), path)


@pytest.mark.parametrize("size", [None, 1, 4])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.npy", "x.npz", "x.parquet", "x.feather"])
def test_reading_goes_on_from_a_place(name, size, tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    write_rows(tmp_path / name, X)
    with open_rows(tmp_path / name) as source:
        places = [place for batch in source for place in batch.places]
    for at in range(10):
        reading = ReadOptions(start=places[at], batch_size=size)
        with open_rows(tmp_path / name, reading) as source:
            batches = list(source)
        assert np.concatenate([batch.rows for batch in batches]).tolist() == X[at:].tolist()
        assert [place for batch in batches for place in batch.places] == places[at:]
