"""Rows out of files of every kind, batch by batch, and tables into files."""

import csv
import gzip
import io
import json
import os
import struct
import subprocess
import sys
import textwrap
import threading
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.files import (
    FORMATS,
    ReadOptions,
    check_writable,
    open_rows,
    open_table,
    read_names,
    whole_file,
)
from ramify.files._lines import Lines
from ramify.files._text import open_csv

X = np.random.default_rng(0).normal(size=(57, 3))
WHO = [f"p{i}" for i in range(len(X))]
KIND = [i % 4 for i in range(len(X))]


def everything(path, format=None, **options):
    """All rows, ids and labels of a file, and the size of each batch."""
    with open_rows(path, ReadOptions(**options), format=format) as source:
        batches = list(source)
    rows = np.concatenate([batch.rows for batch in batches])
    ids = [i for batch in batches for i in batch.ids or []]
    labels = [i for batch in batches for i in batch.labels or []]
    return rows, ids, labels, [len(batch) for batch in batches]


def write(path: Path, kind: str) -> Path:
    """The same 57 rows with an id, a label and some text, in any table format."""
    file = path / f"data.{kind}"
    columns = {"who": WHO, "x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "kind": KIND}
    columns["note"] = ["some, text"] * len(X)
    if kind in ("csv", "tsv", "jsonl", "csv.gz", "jsonl.gz"):
        plain = kind.removesuffix(".gz")
        with open_table(path / f"plain.{plain}", list(columns)) as table:
            table.write(*columns.values())
        data = (path / f"plain.{plain}").read_bytes()
        file.write_bytes(gzip.compress(data) if kind.endswith(".gz") else data)
    elif kind == "parquet":
        pq.write_table(pa.table(columns), file, row_group_size=20)
    elif kind == "feather":
        pyarrow.feather.write_feather(pa.table(columns), file, chunksize=20)
    else:
        table = pa.table(columns)
        new = pa.ipc.new_stream if kind == "arrows" else pa.ipc.new_file
        with pa.OSFile(str(file), "wb") as sink, new(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
    return file


TABLES = ["csv", "tsv", "jsonl", "csv.gz", "jsonl.gz", "parquet", "feather", "arrow", "arrows"]


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_gives_the_same_rows(kind, tmp_path):
    file = write(tmp_path, kind)
    rows, ids, labels, sizes = everything(file, id_column="who", label_column="kind", batch_size=10)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, X)
    assert ids == WHO
    assert [int(label) for label in labels] == KIND
    assert max(sizes) <= 10
    assert sum(sizes) == len(X)


@pytest.mark.parametrize("kind", TABLES)
def test_columns_of_text_are_left_out_and_named(kind, tmp_path):
    with open_rows(write(tmp_path, kind)) as source:
        assert source.left_out == ("who", "note")
        assert source.feature_names == ("x", "y", "z", "kind")
        assert source.width == 4
        assert sum(map(len, source)) == len(X)
        assert source.fraction() == 1.0


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    ("columns", "expected"),
    [(["z", "x"], [2, 0]), (["1", "3"], [0, 2]), (["1:4"], [0, 1, 2]), (["-3"], [2])],
)
def test_columns_go_by_name_by_position_and_by_range(kind, columns, expected, tmp_path):
    rows, *_ = everything(write(tmp_path, kind), columns=columns)
    np.testing.assert_array_equal(rows, X[:, expected])


@pytest.mark.parametrize("kind", TABLES)
def test_a_column_that_does_not_exist_is_answered_with_those_that_do(kind, tmp_path):
    file = write(tmp_path, kind)
    for options in ({"columns": ["q"]}, {"id_column": "q"}, {"label_column": "q"}):
        with pytest.raises(ValueError, match="no column 'q'; it has who, x, y, z, kind, note"):
            everything(file, **options)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "csv.gz"])
def test_a_column_of_text_by_name_is_refused_with_its_line(kind, tmp_path):
    line = 1 if "json" in kind else 2
    with pytest.raises(ValueError, match=f"column 'who' is not numbers: line {line} has 'p0'"):
        everything(write(tmp_path, kind), columns=["x", "who"])


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "arrows"])
def test_a_column_of_text_by_name_is_refused_with_its_type(kind, tmp_path):
    with pytest.raises(ValueError, match="column 'who' is not numbers: it holds string"):
        everything(write(tmp_path, kind), columns=["x", "who"])


@pytest.mark.parametrize("kind", TABLES)
def test_shuffled_rows_are_the_same_rows_with_their_numbers(kind, tmp_path):
    file = write(tmp_path, kind)
    options = ReadOptions(columns=["x", "y", "z"], label_column="kind", batch_size=10)
    with open_rows(file, options) as source:
        batches = list(source.shuffled(seed=3))
    numbers = [i for batch in batches for i in batch.ids]
    assert sorted(numbers) == list(range(len(X)))
    assert numbers != list(range(len(X)))
    np.testing.assert_array_equal(np.concatenate([b.rows for b in batches]), X[numbers])
    assert [int(i) for b in batches for i in b.labels] == [KIND[i] for i in numbers]


def test_a_seed_gives_one_order_whatever_the_format(tmp_path):
    np.save(tmp_path / "x.npy", X)
    orders = []
    for file in (tmp_path / "x.npy", write(tmp_path, "csv"), write(tmp_path, "parquet")):
        with open_rows(
            file, ReadOptions(columns=None if file.suffix == ".npy" else ["x", "y"])
        ) as s:
            orders.append([i for batch in s.shuffled(seed=7) for i in batch.ids])
    assert orders[0] == orders[1] == orders[2]


# --- numpy ------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<f2", "<i4", "|u1"])
@pytest.mark.parametrize("kind", ["npy", "npz", "packed"])
def test_numpy_files_of_any_layout(kind, dtype, order, tmp_path):
    points = np.asarray(np.abs(X) * 20, dtype=dtype, order=order)
    file = tmp_path / f"x.{'npy' if kind == 'npy' else 'npz'}"
    if kind == "npy":
        np.save(file, points)
    else:
        save = np.savez if kind == "npz" else np.savez_compressed
        save(file, points=points, who=np.array(WHO), kind=np.array(KIND))
    rows, _, _, sizes = everything(file, batch_size=10)
    np.testing.assert_array_equal(rows, points)
    assert rows.dtype == (np.float32 if dtype in ("<f4", "<f2") else np.float64)
    assert rows.flags.c_contiguous
    assert sizes == [10] * 5 + [7]


def test_ids_and_labels_of_an_npz_are_members_beside(tmp_path):
    file = tmp_path / "x.npz"
    np.savez(file, points=X, who=np.array(WHO), kind=np.array(KIND), short=np.zeros(3))
    rows, ids, labels, _ = everything(file, id_column="who", label_column="kind", batch_size=10)
    np.testing.assert_array_equal(rows, X)
    assert (ids, labels) == (WHO, KIND)
    with pytest.raises(ValueError, match=r"expected 57 entries in array 'short', one a row"):
        everything(file, id_column="short")


def test_an_npz_of_two_matrices_asks_which(tmp_path):
    file = tmp_path / "x.npz"
    np.savez(file, a=X, b=X + 1)
    with pytest.raises(ValueError, match=r"choose one array by name \(--member\); it has a, b"):
        everything(file)
    with pytest.raises(ValueError, match="no array 'c'; it has a, b"):
        everything(file, member="c")
    np.testing.assert_array_equal(everything(file, member="b")[0], X + 1)


def test_columns_of_a_matrix_can_be_ids_and_labels(tmp_path):
    np.save(tmp_path / "x.npy", np.column_stack([np.arange(57), X, KIND]))
    rows, ids, labels, _ = everything(tmp_path / "x.npy", id_column="0", label_column="-1")
    np.testing.assert_array_equal(rows, X)
    assert ids == list(range(57))
    assert labels == KIND
    assert all(type(i) is int for i in ids)


def test_a_shuffled_npy_is_read_through_a_map(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with open_rows(tmp_path / "x.npy", ReadOptions(batch_size=10)) as source:
        shuffled = source.shuffled(seed=3)
        assert type(shuffled) is type(source)
        for batch in shuffled:
            np.testing.assert_array_equal(batch.rows, X[batch.ids])


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros(3), r"expected an array of shape \(n, d\), got \(3,\)"),
        (np.zeros((0, 3)), r"expected at least one row and column"),
        (np.array([["a"]]), r"expected real numbers, got values of type <U1"),
        (np.array([[1j]]), r"expected real numbers, got values of type complex128"),
        (np.zeros(3, dtype=[("a", "f8")]), r"expected real numbers"),
        (np.array([[1.0, 2.0], [3.0, np.nan]]), r"row 1, column 1: nan; every number must be"),
    ],
)
def test_arrays_that_are_no_rows_are_refused(array, sentence, tmp_path):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ValueError, match=sentence):
        everything(tmp_path / "x.npy")
    np.savez(tmp_path / "x.npz", a=array)
    with pytest.raises(ValueError, match=sentence):
        everything(tmp_path / "x.npz", member="a")


def test_pickles_are_never_opened(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(ValueError, match="expected real numbers, got values of type object"):
        everything(tmp_path / "x.npy")


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "feather", "arrow", "arrows", "csv.gz"])
def test_half_a_file_is_refused_in_one_sentence(kind, tmp_path):
    file = tmp_path / f"x.{kind}"
    if kind == "npy":
        np.save(file, X)
    elif kind == "npz":
        np.savez(file, a=X)
    else:
        file = write(tmp_path, kind)
    whole = file.read_bytes()
    for cut in range(0, len(whole), max(1, len(whole) // 60)):
        file.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"data|x\.np"):
            everything(file)
        # A stream may end after any record batch; what came before is all there is.
        if kind == "arrows" and cut > len(whole) // 3:
            break


def npy(shape: object, body: bytes = b"", *, header: str = "", length: int | None = None) -> bytes:
    """An .npy file that says anything of itself."""
    text = header or f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
    count = len(text) + 1 if length is None else length
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", count) + text.encode() + b"\n" + body


def zipped(path: Path, member: bytes, *, claimed: int | None = None) -> Path:
    """An .npz of one array, which may lie about its size."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", member)
    if claimed is not None:
        data = bytearray(path.read_bytes())
        entry = data.index(b"PK\x01\x02")
        data[entry + 24 : entry + 28] = struct.pack("<I", claimed)
        path.write_bytes(data)
    return path


@pytest.mark.parametrize("columns", [20_000_000, 10**12])
@pytest.mark.parametrize("kind", ["npy", "npz", "npz that lies", "long header", "labels"])
def test_a_header_of_200_bytes_took_gigabytes(kind, columns, tmp_path):
    file = tmp_path / ("x.npz" if "npz" in kind else "x.npy")
    shape = f"({columns},)" if kind == "labels" else f"(1, {columns})"
    if "npz" in kind:
        zipped(file, npy(shape), claimed=2**32 - 2 if "lies" in kind else None)
    else:
        file.write_bytes(npy(shape, bytes(64), length=2**32 - 1 if kind == "long header" else None))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"ends too early|its header claims 4,294,967,295"):
            read_names(file) if kind == "labels" else everything(file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_row_of_packed_zeros_took_gigabytes(tmp_path):
    """This one is honest: its bytes are there, as soon as somebody unpacks them."""
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1000001)}"
    with pytest.raises(ValueError, match="expected at most 1,000,000 columns, got 1,000,001"):
        everything(zipped(tmp_path / "x.npz", npy(None, bytes(1_000_001), header=header)))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (npy("(True, True)", bytes(8)), r"not an .npy array: its shape is \(True, True\)"),
        (npy("(-1, 2)", bytes(8)), r"not an .npy array: its shape is \(-1, 2\)"),
        (npy(None, header="(" * 2000), "its header makes no sense"),
        (npy(None, header="[" * 90 + "]" * 90), "its header makes no sense"),
        (npy(None, header="{1: 2}"), "its header makes no sense"),
        (npy(None, header="'\\n"), "its header makes no sense"),
        (npy(None, header="{'descr': ('<f8', 1, 2, 3), 'fortran_order': 0, 'shape': 3}"), "sense"),
        (b"\x93NUMPY\x03\x00\x00", r"format \(3, 0\) is not one of plain numbers"),
        (b"hello", "it ends inside its header"),
        (b"hello, world", "it does not begin like one"),
    ],
)
def test_a_header_that_makes_no_sense_was_a_traceback(data, sentence, tmp_path):
    (tmp_path / "x.npy").write_bytes(data)
    for read in (everything, read_names):
        with pytest.raises(ValueError, match=sentence):
            read(tmp_path / "x.npy")
        with pytest.raises(ValueError, match=sentence):
            read(zipped(tmp_path / "x.npz", data))


@pytest.mark.parametrize("damage", ["encrypted", "patched", "method", "directory", "offset"])
def test_a_zip_that_python_cannot_unpack_was_a_traceback(damage, tmp_path):
    file = zipped(tmp_path / "x.npz", npy("(2, 2)", bytes(32)))
    data = bytearray(file.read_bytes())
    entry = data.index(b"PK\x01\x02")
    if damage == "method":
        data[8], data[entry + 10] = 14, 14  # LZMA, which may unpack to anything
    elif damage == "directory":
        data[entry + 6] = 99  # needs a later version of zip
    elif damage == "offset":
        del data[:1]  # all is one byte earlier than the directory says
    else:
        flag = 0x01 if damage == "encrypted" else 0x20
        data[6] |= flag
        data[entry + 8] |= flag
    file.write_bytes(data)
    for read in (everything, read_names):
        with pytest.raises(ValueError, match=r"x\.npz"):
            read(file)


def test_labels_of_an_npz_are_read_alone(tmp_path):
    np.savez(tmp_path / "x.npz", points=X, kind=np.array(KIND))
    assert read_names(tmp_path / "x.npz").names == KIND
    np.save(tmp_path / "x.npy", np.array(KIND))
    assert read_names(tmp_path / "x.npy").names == KIND
    np.save(tmp_path / "p.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="holds a pickle, which is never opened"):
        read_names(tmp_path / "p.npy")


# --- text -------------------------------------------------------------------------


def test_a_header_is_a_first_line_that_is_not_all_numbers(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("1,2\n3,4\n")
    assert everything(file)[0].tolist() == [[1, 2], [3, 4]]
    assert everything(file, header=True)[0].tolist() == [[3, 4]]
    file.write_text("a,b\n3,4\n")
    assert everything(file)[0].tolist() == [[3, 4]]
    file.write_text("a,b\n")
    with pytest.raises(ValueError, match="holds no rows"):
        everything(file)


def test_a_gap_in_the_first_row_makes_no_header(tmp_path):
    (tmp_path / "x.csv").write_text("1,,3\n4,5,6\n")
    with pytest.raises(ValueError, match="line 1, column '1': the cell is empty"):
        everything(tmp_path / "x.csv")


def test_columns_of_one_name_go_by_position(tmp_path):
    (tmp_path / "x.csv").write_text("x,x,y\n1,2,3\n")
    with open_rows(tmp_path / "x.csv") as source:
        assert source.feature_names is None
    assert everything(tmp_path / "x.csv", columns=["1", "y"])[0].tolist() == [[2, 3]]
    with pytest.raises(ValueError, match="2 columns are named 'x'; give its position"):
        everything(tmp_path / "x.csv", columns=["x"])
    file = parquet(tmp_path / "x.parquet", x=[1.0], y=[2.0])
    table = pq.read_table(file)
    pq.write_table(table.rename_columns(["x", "x"]), file)
    with pytest.raises(ValueError, match="two columns have the same name"):
        everything(file)


@pytest.mark.parametrize(
    "text",
    [
        "1;2\n3;4\n",
        "1|2\n3|4\n",
        "1\t2\n3\t4",
        "1.0 2.0\n3.0  4.0\n",
        "\n\n1, 2\r\n\r\n3, 4\r\n",
        '\ufeff"1","2"\n"3","4"\n',
    ],
)
def test_separators_and_line_ends_are_told_apart(text, tmp_path):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert everything(tmp_path / "x.csv")[0].tolist() == [[1, 2], [3, 4]]


class Trickle(io.BytesIO):
    """A file that gives four bytes at a time."""

    def read1(self, size: int = -1) -> bytes:
        return self.read(4)


def test_a_long_line_took_quadratic_time():
    """A million characters in 250,000 pieces: minutes, if each piece copies all before it."""
    text = "1," * (1 << 19) + "1\n2\n"
    assert list(Lines(Trickle(text.encode()), "x")) == [text[:-2], "2\n"]


def test_a_line_without_an_end_is_refused(tmp_path):
    file = tmp_path / "x.csv.gz"
    with gzip.open(file, "wb", compresslevel=1) as packed:
        packed.write(b"1,2\n")
        for _ in range(40):
            packed.write(b"1" * (1 << 20))
    with pytest.raises(ValueError, match="line 2 has more than 33,554,432 characters"):
        everything(file)


def test_a_row_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("ramify.files._records.LONGEST_LINE", 10_000)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n" + '"\n",' * 5_000)
    with pytest.raises(ValueError, match=r"a row of more than 10,000 characters; is a quote"):
        everything(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 5_000)
    assert len(everything(tmp_path / "x.csv")[0]) == 5_000


def test_a_wide_file_was_held_in_memory_a_thousand_rows_deep(tmp_path):
    (tmp_path / "x.csv").write_text(("1," * 99_999 + "1\n") * 40)
    tracemalloc.start()
    try:
        with open_rows(tmp_path / "x.csv", ReadOptions(batch_size=1)) as source:
            assert source.width == 100_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 100_000 * 40


@pytest.mark.parametrize("ending", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("trickles", [True, False])
def test_old_line_ends_were_told_about_universal_newlines(ending, trickles):
    text = ending.join(["who,x", '"a\rb",1', "", '"c\r\nd",2', "e,3"])
    for end in ("", ending):
        data = (text + end).encode()
        lines = Lines(Trickle(data) if trickles else io.BytesIO(data), "x")
        with open_csv(lines, None, ReadOptions(id_column="who"), live=False) as source:
            (batch,) = source
        assert batch.ids == ["a\rb", "c\r\nd", "e"]
        assert batch.rows.ravel().tolist() == [1, 2, 3]


def test_json_lines_with_old_line_ends(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b"[1, 2]\r[3, 4]\r")
    assert everything(tmp_path / "x.jsonl")[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("x.csv", "1\n1_000\n", "line 2, column '0': '1_000' found; expected a number"),
        ("x.csv", "a,b\n1,2\n3,4\n5,6_0\n", "line 4, column 'b': '6_0' found; expected a number"),
        ("x.jsonl", '["1"]\n["1_0"]\n', "line 2, column '0': '1_0' found; expected a number"),
        ("x.jsonl", '[1]\n["1_0"]\n', "line 2, column '0': '1_0' found; expected a number"),
        ("x.jsonl", "[1]\n[true]\n", "line 2, column '0': True found; expected a number"),
    ],
)
def test_what_the_first_line_may_not_say_a_later_one_could(name, text, sentence, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=sentence):
        everything(tmp_path / name)


def test_row_numbers_that_pandas_writes_are_no_feature(tmp_path):
    (tmp_path / "x.csv").write_text(",x,y\n0,1,2\n1,3,4\n")
    with open_rows(tmp_path / "x.csv") as source:
        assert source.feature_names == ("x", "y")
        assert source.left_out == ("(unnamed, at 0)",)
    assert everything(tmp_path / "x.csv", id_column="0")[1] == ["0", "1"]


def test_quoted_cells_may_hold_separators_and_line_ends(tmp_path):
    (tmp_path / "x.csv").write_text('who,x\n"a, b",1\n"two\nlines",2\n')
    rows, ids, *_ = everything(tmp_path / "x.csv", id_column="who")
    assert rows.tolist() == [[1], [2]]
    assert ids == ["a, b", "two\nlines"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x,y\n1,2\n3\n", "line 3: expected 2 cells, got 1"),
        ("x,y\n1,2\n3,4,5\n", "line 3: expected 2 cells, got 3"),
        ("x,y\n1,2\n3,\n", "line 3, column 'y': the cell is empty; expected a number"),
        ("x,y\n1,2\n\n3,nan\n", "line 4, column 'y': 'nan' found; every number must be finite"),
        ("x,y\n1,2\n3,1e999\n", "line 3, column 'y': '1e999' found; every number must be finite"),
        ("x,y\na,b\n", "no column of numbers to make points of; line 2 has 'a'"),
        ("", "holds no rows"),
        ("\n\n", "holds no rows"),
    ],
)
def test_csv_troubles_name_their_line(text, sentence, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        everything(tmp_path / "x.csv")


@pytest.mark.parametrize("at", [1, 10, 4_321])
def test_text_down_a_column_of_numbers_is_refused_with_its_line(at, tmp_path):
    lines = [f"{i},{i}" for i in range(5_000)]
    lines[at] = "7,seven"
    (tmp_path / "x.csv").write_text("a,b\n" + "\n".join(lines))
    sentence = f"line {at + 2}, column 'b': 'seven' found; expected a number"
    with pytest.raises(ValueError, match=sentence):
        everything(tmp_path / "x.csv")


def test_a_first_cell_that_is_empty_decides_nothing(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c\n1,,\n2,5,text\n")
    with open_rows(tmp_path / "x.csv") as source:
        assert source.feature_names == ("a", "b")
        assert source.left_out == ("c",)
    with pytest.raises(ValueError, match="line 2, column 'b': the cell is empty"):
        everything(tmp_path / "x.csv")


def test_too_large_for_float32_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("1e30\n1e39\n")
    assert everything(tmp_path / "x.csv")[0].dtype == np.float64
    with pytest.raises(ValueError, match="line 2, column '0': '1e39' found"):
        everything(tmp_path / "x.csv", dtype=np.dtype(np.float32))


def test_latin_1_is_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes("naïve,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match="line 1: not text in UTF-8"):
        everything(tmp_path / "x.csv")


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
    ),
    st.sampled_from(["csv", "tsv", "jsonl"]),
    st.integers(1, 5),
)
def test_text_keeps_every_bit(tmp_path_factory, rows, kind, batch_size):
    file = tmp_path_factory.mktemp("text") / f"x.{kind}"
    with open_table(file, ["a", "b"]) as table:
        table.write(*np.array(rows).T)
    read, *_ = everything(file, batch_size=batch_size)
    np.testing.assert_array_equal(read, np.array(rows))
    np.testing.assert_array_equal(np.signbit(read), np.signbit(np.array(rows)))


def lines(path: Path, *values: object) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def test_json_lines_of_arrays(tmp_path):
    file = lines(tmp_path / "x.jsonl", [1, 2.5, "a"], [3, 4, "b"])
    rows, ids, *_ = everything(file, id_column="2")
    assert rows.tolist() == [[1, 2.5], [3, 4]]
    assert ids == ["a", "b"]


def test_json_lines_with_an_array_field(tmp_path):
    file = lines(
        tmp_path / "x.jsonl",
        {"id": 7, "text": "a", "score": 0.5, "vector": [1, 2, 3]},
        {"vector": [4, 5, 6], "id": 8, "text": "b", "score": 0.5},
    )
    for field in (None, "vector"):
        rows, ids, labels, _ = everything(file, field=field, id_column="id", label_column="text")
        assert rows.tolist() == [[1, 2, 3], [4, 5, 6]]
        assert (ids, labels) == ([7, 8], ["a", "b"])
    assert everything(file, field="vector", columns=["2", "0"])[0].tolist() == [[3, 1], [6, 4]]
    assert everything(file, columns=["score"])[0].tolist() == [[0.5], [0.5]]


@pytest.mark.parametrize(
    ("values", "options", "sentence"),
    [
        ([{"a": [1], "b": [2]}], {}, r"choose one field by name \(--field\); arrays are a, b"),
        ([{"a": [1]}], {"field": "b"}, "no field 'b'; it has a"),
        ([{"a": 1}], {"field": "a"}, "expected an array of some numbers in 'a', got 1"),
        ([{"a": [1, 2]}, {"a": [1]}], {}, "line 2: expected an array of 2 numbers in 'a'"),
        ([{"a": [1, 2]}, {}], {}, "line 2: expected an array of 2 numbers in 'a', got None"),
        (
            [{"a": [1, 2]}, {"a": [1, "x"]}],
            {},
            r"line 2, column 'a\[1\]': 'x' found; expected a number",
        ),
        ([{"a": 1}, {"b": 1}], {}, "line 2, column 'a': the cell is empty"),
        ([[1, 2], {"a": 1}], {}, "line 2: expected an array as before, got an object"),
        ([{"a": 1}, [1]], {}, "line 2: expected an object as before, got an array"),
        ([[1, 2], [1, float("nan")]], {}, "line 2, column '1': nan found; every number"),
        ([[1, 2], [1, 10**400]], {}, "line 2, column '1'"),
        ([[1, 2]], {"field": "a"}, "holds arrays, which have no field 'a'"),
        ([3], {}, "line 1: expected an array or an object, got 3"),
        ([{"a": [1], "i": None}], {"id_column": "i"}, "column 'i': the cell is empty"),
        ([{"a": [1], "i": [1]}], {"field": "a", "id_column": "i"}, "expected text or a number"),
    ],
)
def test_json_troubles_name_their_line(values, options, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        everything(lines(tmp_path / "x.jsonl", *values), **options)


def test_a_line_that_is_not_json_is_named(tmp_path):
    (tmp_path / "x.jsonl").write_text("[1]\n[2\n")
    with pytest.raises(ValueError, match="line 2: not JSON"):
        everything(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_text("[" * 200_000)
    with pytest.raises(ValueError, match="line 1: nested too deeply"):
        everything(tmp_path / "x.jsonl")


# --- arrow ------------------------------------------------------------------------


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_embeddings_in_a_column_of_arrays(fixed, dtype, tmp_path):
    flat = pa.array(X.astype(dtype).ravel())
    vectors = (
        pa.FixedSizeListArray.from_arrays(flat, 3)
        if fixed
        else pa.ListArray.from_arrays(pa.array(np.arange(0, 3 * len(X) + 1, 3)), flat)
    )
    pq.write_table(pa.table({"who": WHO, "score": KIND, "vector": vectors}), tmp_path / "x.parquet")
    rows, ids, *_ = everything(tmp_path / "x.parquet", id_column="who", batch_size=10)
    np.testing.assert_array_equal(rows, X.astype(dtype))
    assert rows.dtype == dtype
    assert ids == WHO
    rows, *_ = everything(tmp_path / "x.parquet", field="vector", columns=["2", "0"])
    np.testing.assert_array_equal(rows, X.astype(dtype)[:, [2, 0]])


def parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ({"a": [1.0, None]}, {}, "row 1, column 'a': the cell is empty or not a number"),
        ({"a": [1, None]}, {}, "row 1, column 'a': the cell is empty or not a number"),
        ({"a": [1.0, float("inf")]}, {}, "row 1, column 'a': inf; every number must be"),
        ({"a": [[1.0], [1.0, 2.0]]}, {}, "row 1: expected 1 numbers in 'a', got 2"),
        ({"a": [[1.0], None]}, {}, "row 1: expected 1 numbers in 'a', got 0"),
        (
            {"a": [[1.0]], "b": [[1.0]]},
            {},
            r"choose one column of arrays by name \(--field\): a, b",
        ),
        ({"a": ["x"]}, {}, "no column of numbers to make points of; it holds string"),
        ({"a": [1.0]}, {"field": "a"}, "column 'a' holds double, not arrays of numbers"),
        ({"a": [1.0]}, {"field": "b"}, "no column 'b'; it has a"),
        ({"a": [1.0, 2.0], "i": ["x", None]}, {"id_column": "i"}, "row 1, column 'i': the cell"),
        ({"a": pa.array([], pa.float64())}, {}, "holds no rows"),
    ],
)
def test_arrow_troubles_name_their_row(columns, options, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        everything(parquet(tmp_path / "x.parquet", **columns), **options)


def test_a_damaged_arrow_file_let_pyarrow_read_anywhere(tmp_path):
    """Offsets of text that lead out of the file: damage, not a crash or a SystemError."""
    file = tmp_path / "x.arrows"
    table = pa.table({"x": [1.0, 2.0], "id": ["elm", "oak"]})
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    offsets = np.array([0, 3, 6], "<i4").tobytes()
    wrong = np.array([0, 2**31 - 1, 6], "<i4").tobytes()
    file.write_bytes(file.read_bytes().replace(offsets, wrong))
    with pytest.raises(ValueError, match=r"x\.arrows is damaged"):
        everything(file, id_column="id")


def test_a_gap_in_a_list_of_decimals_is_named(tmp_path):
    from decimal import Decimal

    file = parquet(tmp_path / "x.parquet", v=[[Decimal("1.5"), None]])
    with pytest.raises(ValueError, match=r"row 0, column 'v\[1\]': the cell is empty"):
        everything(file)


def test_a_time_that_python_cannot_hold_was_a_traceback(tmp_path):
    file = parquet(tmp_path / "x.parquet", x=[1.0], id=pa.array([2**62], pa.timestamp("us")))
    with pytest.raises(ValueError, match=r"column 'id', which holds timestamp\[us\]"):
        everything(file, id_column="id")


def test_numbers_of_all_kinds_are_features(tmp_path):
    from decimal import Decimal

    file = parquet(
        tmp_path / "x.parquet", a=[1, 2], b=[True, False], c=[Decimal("1.5"), Decimal("2.5")]
    )
    assert everything(file)[0].tolist() == [[1, 1, 1.5], [2, 0, 2.5]]


def test_without_pyarrow_an_error_names_the_extra(tmp_path, monkeypatch):
    from ramify.files import _arrow

    file = parquet(tmp_path / "x.parquet", a=[1.0])
    monkeypatch.setattr(_arrow, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'needs pyarrow.* pip install "ramify\[cli\]"'):
        open_rows(file)
    with (
        pytest.raises(ImportError, match=r'pip install "ramify\[cli\]"'),
        open_table(tmp_path / "y.parquet", ["a"]),
    ):
        pass
    assert not (tmp_path / "y.parquet").exists()


# --- ids and labels are exact -------------------------------------------------------

LARGE = [2**63 + 5, 12345678901234567, 9007199254740993, 11]


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "jsonl", "npz", "npy", "csv"])
def test_integers_on_both_sides_of_2_63_were_changed_silently(kind, tmp_path):
    file = tmp_path / f"x.{kind}"
    numbers = np.array(LARGE, dtype=np.uint64)
    rows = np.arange(4.0)[:, np.newaxis]
    if kind == "npy":
        np.save(file, np.column_stack([np.arange(4, dtype=np.uint64), numbers]))
    elif kind == "npz":
        np.savez(file, rows=rows, **{"1": numbers})
    elif kind in ("jsonl", "csv"):
        with open_table(file, ["x", "1"]) as table:
            table.write(rows[:, 0], LARGE)
    else:
        table = pa.table({"x": rows[:, 0], "1": pa.array(LARGE, pa.uint64())})
        (pq.write_table if kind == "parquet" else pyarrow.feather.write_feather)(table, file)
    _, ids, labels, _ = everything(file, id_column="1", label_column="1")
    assert ids == labels == ([str(n) for n in LARGE] if kind == "csv" else LARGE)


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "npz"])
def test_a_float_beyond_2_53_was_taken_for_one_whole_number(kind, tmp_path):
    """It stands for several: a float it stays, which no id may be."""
    file = tmp_path / f"x.{kind}"
    given = [2.0**53, 1e300, -(2.0**60), 3.0, 1.5]
    if kind == "npz":
        np.savez(file, rows=np.zeros((5, 1)), id=np.array(given))
    else:
        with open_table(file, ["x", "id"]) as table:
            table.write(np.zeros(5), given)
    _, ids, *_ = everything(file, id_column="id")
    assert ids == given
    assert [type(i) for i in ids] == [float, float, float, int, float]


def test_a_float32_beyond_2_24_was_taken_for_one_whole_number(tmp_path):
    file = parquet(tmp_path / "x.parquet", x=[1.0, 2.0], id=pa.array([2.0**24, 5.0], pa.float32()))
    assert [type(i) for i in everything(file, id_column="id")[1]] == [float, int]


@pytest.mark.parametrize("kind", ["parquet", "npz"])
def test_a_label_was_1_in_one_batch_and_1_point_0_in_the_next(kind, tmp_path):
    file = tmp_path / f"x.{kind}"
    labels = [1.0, 2.0, 1.0, 2.5]
    if kind == "npz":
        np.savez(file, rows=np.zeros((4, 1)), label=np.array(labels))
    else:
        parquet(file, x=[1.0] * 4, label=labels)
    found = everything(file, label_column="label", batch_size=2)[2]
    assert list(map(str, found)) == ["1", "2", "1", "2.5"]


def test_bytes_and_times_as_ids(tmp_path):
    days = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    np.savez(tmp_path / "x.npz", rows=np.zeros((2, 1)), day=days, pair=np.ones(2, dtype="i4,i4"))
    assert everything(tmp_path / "x.npz", id_column="day")[1] == ["2024-01-01", "2024-01-02"]
    with pytest.raises(ValueError, match="array 'pair': expected text or numbers, got values of"):
        everything(tmp_path / "x.npz", id_column="pair")
    file = parquet(tmp_path / "x.parquet", x=[1.0], id=[b"elm"], raw=[b"\xff"])
    assert everything(file, id_column="id")[1] == ["elm"]
    with pytest.raises(ValueError, match="column 'raw' holds bytes that are not UTF-8"):
        everything(file, id_column="raw")


def test_a_gap_inside_a_dictionary_became_the_id_none(tmp_path):
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["elm", None]))
    pyarrow.feather.write_feather(pa.table({"x": [1.0, 2.0], "id": ids}), tmp_path / "x.feather")
    with pytest.raises(ValueError, match="row 1, column 'id': the cell is empty"):
        everything(tmp_path / "x.feather", id_column="id")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "feather"])
def test_a_table_of_integers_beyond_2_63_is_exact(kind, tmp_path):
    with open_table(tmp_path / f"t.{kind}", ["x", "id"]) as table:
        table.write([1, 2, 3, 4], LARGE)
    ids = everything(tmp_path / f"t.{kind}", id_column="id")[1]
    assert list(map(int, ids)) == LARGE


def test_a_table_whose_column_changes_its_type_is_refused(tmp_path):
    def write_ids(*parts: list[object]) -> None:
        with open_table(tmp_path / "t.parquet", ["id"]) as table:
            for part in parts:
                table.write(part)

    for later in (["a"], [2**63]):
        with pytest.raises(ValueError, match="column 'id': expected values of type int64, as the"):
            write_ids([1, 2], later)
    with pytest.raises(ValueError, match="column 'id': expected values of one type"):
        write_ids([1, "b"])
    assert list(tmp_path.iterdir()) == []


# --- which reader -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [*TABLES, "npy", "npz"])
def test_a_strange_name_is_told_by_its_first_bytes(kind, tmp_path):
    if kind == "npy":
        np.save(tmp_path / "data.npy", X)
    elif kind == "npz":
        np.savez(tmp_path / "data.npz", a=X)
    else:
        write(tmp_path, kind)
    strange = (tmp_path / f"data.{kind}").rename(tmp_path / "data.bin")
    names = [] if kind.startswith("np") else ["x", "y", "z"]
    if kind != "tsv":  # whose text is csv's, too
        np.testing.assert_array_equal(everything(strange, columns=names)[0], X)


def test_what_nobody_can_read_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"\x7fELF\x00\x00\x00\x00")
    with pytest.raises(ValueError, match="not one of npy, npz, csv, tsv, jsonl, parquet, arrow"):
        open_rows(tmp_path / "x")
    with pytest.raises(FileNotFoundError, match="no file "):
        open_rows(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_rows(tmp_path)
    with pytest.raises(ValueError, match="format='xls': expected one of npy"):
        open_rows(tmp_path / "x", format="xls")
    with pytest.raises(ValueError, match="batch_size=0: expected at least 1"):
        open_rows(tmp_path / "x", ReadOptions(batch_size=0))
    for kind in ("npy", "npz", "parquet", "arrow"):
        with pytest.raises(ValueError, match="x"):
            open_rows(tmp_path / "x", format=kind)
    assert set(FORMATS) == {"npy", "npz", "csv", "tsv", "jsonl", "parquet", "arrow"}


# --- as it comes ------------------------------------------------------------------


def test_standard_input_gives_rows_as_soon_as_they_come(monkeypatch):
    read_end, write_end = os.pipe()
    stdin = os.fdopen(read_end)
    monkeypatch.setattr(sys, "stdin", stdin)
    os.write(write_end, b"a,b\n1,2\n3,")  # one row and a half
    with open_rows("-") as source:
        assert source.feature_names == ("a", "b")
        assert source.fraction() is None
        batches = iter(source)
        assert next(batches).rows.tolist() == [[1, 2]]  # would hang if it waited for more
        os.write(write_end, b"4\n5,6\n7,8\n")
        assert next(batches).rows.tolist() == [[3, 4], [5, 6], [7, 8]]
        threading.Timer(0.05, os.close, [write_end]).start()
        assert list(batches) == []
        with pytest.raises(ValueError, match="standard input cannot be shuffled"):
            source.shuffled(0)
    stdin.close()


@pytest.mark.parametrize(
    "text", ["1,2\n3,4", "[1, 2]\n[3, 4]\n", '{"v": [1, 2]}\n{"v": [3, 4]}\n', "1 2\n3 4\n"]
)
def test_standard_input_is_told_by_its_first_line(text, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert everything("-")[0].tolist() == [[1, 2], [3, 4]]


def piped(monkeypatch, data: bytes) -> None:
    """Let this come on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def packed_table(kind: str, table: pa.Table) -> bytes:
    """A table as the bytes of some kind of file."""
    if kind in ("gzip", "zstd"):
        rows = zip(*table.to_pydict().values(), strict=True)
        text = "x,y\n" + "".join(f"{x},{y}\n" for x, y in rows)
        if kind == "gzip":
            return gzip.compress(text.encode())
        return pa.compress(text.encode(), codec="zstd", asbytes=True)
    sink = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, sink)
    elif kind == "npy":
        np.save(sink, np.column_stack([column.to_numpy() for column in table.columns]))
    elif kind == "npz":
        np.savez(sink, np.column_stack([column.to_numpy() for column in table.columns]))
    else:
        new = pa.ipc.new_stream if kind == "arrow stream" else pa.ipc.new_file
        with new(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["gzip", "zstd", "parquet", "arrow", "arrow stream", "npy", "npz"])
def test_standard_input_was_text_only(kind, monkeypatch):
    """gzip ended in a complaint about UTF-8, and so did Parquet."""
    table = pa.table({"x": [1.0, 3.0, 5.0], "y": [2.0, 4.0, 6.0]})
    piped(monkeypatch, packed_table(kind, table))
    with open_rows("-") as source:
        assert source.name.startswith("standard input")
        rows = np.concatenate([batch.rows for batch in source])
    assert rows.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert source.folder is None or not Path(source.folder.name).exists()


@pytest.mark.parametrize("kind", ["gzip", "zstd", "parquet", "arrow", "arrow stream"])
def test_packed_input_that_is_cut_short_is_refused_in_one_sentence(kind, monkeypatch):
    table = pa.table({"x": np.arange(5_000.0), "y": np.random.default_rng(0).normal(size=5_000)})
    data = packed_table(kind, table)
    piped(monkeypatch, data[: len(data) * 2 // 3])
    with pytest.raises(ValueError, match="standard input"):
        everything("-")


def test_zstd_is_told_from_its_first_bytes_in_files(tmp_path):
    data = packed_table("zstd", pa.table({"x": [1.0], "y": [2.0]}))
    for name in ("rows.csv.zst", "rows"):
        (tmp_path / name).write_bytes(data)
        assert everything(tmp_path / name)[0].tolist() == [[1, 2]]


def test_input_that_is_no_kind_of_rows_is_refused(monkeypatch):
    piped(monkeypatch, b"\x89PNG\r\n\x1a\n\x00\x00")
    with pytest.raises(ValueError, match="standard input"):
        everything("-")


def test_a_named_pipe_is_read_as_it_comes(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=["1,2\n3,4\n"])
    writer.start()
    rows, *_ = everything(pipe)
    writer.join()
    assert rows.tolist() == [[1, 2], [3, 4]]


# --- larger than memory -------------------------------------------------------------

WATCH = """
    import pathlib, sys
    import pyarrow.parquet
    import ramify.files

    def memory(what):
        status = pathlib.Path("/proc/self/status").read_text()
        return int(status.split(what + ":")[1].split()[0]) * 1024

    small, *files = sys.argv[1:]
    for file in files:  # code is loaded when it is first needed, and is not the file's
        with ramify.files.open_rows(pathlib.Path(small, pathlib.Path(file).name)) as source:
            list(source)
    for file in files:
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = memory("VmRSS")
        total = rows = 0
        with ramify.files.open_rows(file) as source:
            for batch in source:
                rows += len(batch)
                total += float(batch.rows.sum())
        print(rows, total, memory("VmHWM") - before)
"""


def large_files(folder: Path, points: np.ndarray) -> dict[str, int]:
    """Files much larger than a batch, and how many times each holds the points."""
    np.save(folder / "x.npy", points)
    np.savez(folder / "x.npz", points=points)
    table = pa.table({str(i): column for i, column in enumerate(points.T)})
    with pq.ParquetWriter(
        folder / "x.parquet", table.schema, compression="none", use_dictionary=False
    ) as writer:
        for _ in range(4):
            writer.write_table(table)
    # The same lines many times over: writing numbers takes longer than reading them.
    some = [json.dumps(row) for row in points[:500].tolist()]
    (folder / "x.csv").write_text("".join(f"{line[1:-1]}\n" for line in some) * 160)
    (folder / "x.jsonl").write_text("".join(f"{line}\n" for line in some) * 160)
    return {"x.npy": 0, "x.npz": 0, "x.csv": 160, "x.jsonl": 160, "x.parquet": -4}


@pytest.mark.no_asan
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="asks Linux for the peak")
def test_a_file_is_never_in_memory_whole(tmp_path):
    points = np.random.default_rng(0).random((200_000, 25))
    (small := tmp_path / "small").mkdir()
    large_files(small, points[:10])
    files = large_files(tmp_path, points)
    paths = [small, *(tmp_path / name for name in files)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WATCH), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    for (name, repeats), line in zip(files.items(), done.stdout.splitlines(), strict=True):
        rows, total, grown = line.split()
        held = points[:500] if repeats > 0 else points
        assert int(rows) == len(held) * max(abs(repeats), 1)
        assert float(total) == pytest.approx(held.sum() * max(abs(repeats), 1))
        size = (tmp_path / name).stat().st_size
        print(f"{name}: {int(grown):,} bytes for a file of {size:,}")
        # Arrow's code and pools take some 60 MB once, whatever the file.
        assert int(grown) < size * (0.7 if repeats < 0 else 0.5)


# --- writing ------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("before")
    file.chmod(0o640)

    def fail() -> None:
        with whole_file(file) as lent:
            lent.write_text("half")
            assert file.read_text() == "before"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]
    with whole_file(file) as lent:
        assert lent.suffix == ".txt"
        lent.write_text("after")
    assert file.read_text() == "after"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_gets_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    with whole_file(tmp_path / "ours") as lent:
        lent.touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with whole_file(tmp_path / "link") as lent:
        lent.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with whole_file("/dev/null") as lent:
        lent.write_text("gone")
    assert Path("/dev/null").is_char_device()


def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        check_writable(tmp_path / "no" / "file")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_writable(tmp_path)
    check_writable(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "feather"])
def test_tables_are_read_back(kind, tmp_path):
    file = tmp_path / f"t.{kind}"
    with open_table(file, ["who", "x", "y"]) as table:
        table.write(WHO[:30], X[:30, 0], X[:30, 1].tolist())
        table.write(WHO[30:], X[30:, 0], X[30:, 1].tolist())
    rows, ids, *_ = everything(file, id_column="who")
    np.testing.assert_array_equal(rows, X[:, :2])
    assert ids == WHO
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "feather"])
def test_a_table_that_fails_leaves_nothing(kind, tmp_path):
    def fail() -> None:
        with open_table(tmp_path / f"t.{kind}", ["a"]) as table:
            table.write([1, 2])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


HARD = ["a\rb", "\r", "c\nd", "e\r\nf", 'g"h', '"', "i,j", "k\tl", " m", "=n", "'o", "plain"]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_carriage_return_in_a_cell_ended_the_row(kind, tmp_path):
    file = tmp_path / f"t.{kind}"
    with open_table(file, ["who\rknows", "x", "label"]) as table:
        table.write(HARD, range(len(HARD)), HARD[::-1])
    rows, ids, labels, _ = everything(file, id_column="0", label_column="label")
    assert ids == HARD
    assert labels == HARD[::-1]
    assert rows[:, 0].tolist() == list(range(len(HARD)))
    with file.open(newline="", encoding="utf-8") as opened:
        head, *cells = csv.reader(opened, delimiter="," if kind == "csv" else "\t")
    assert head == ["who\rknows", "x", "label"]
    assert [row[0] for row in cells] == HARD


@given(cells=st.lists(st.text(alphabet=st.sampled_from("ab ,;\t\r\n\"'=")), min_size=1))
def test_any_text_reads_back_from_csv(tmp_path_factory, cells):
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    with open_table(file, ["only"]) as table:
        table.write(cells)
    with file.open(newline="", encoding="utf-8") as opened:
        assert list(csv.reader(opened)) == [["only"], *([cell] for cell in cells)]


def test_a_formula_reached_the_spreadsheet(capsys):
    cells = ["=1+1", "+A1", "-A1", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1", "-1.5", "+2", "a=b", ""]
    with open_table(None, ["cell", "n"], quote_formulas=True) as table:
        table.write(cells, np.arange(len(cells)) - 5)
    written = [row[0] for row in csv.reader(io.StringIO(capsys.readouterr().out, newline=""))][1:]
    assert written == [f"'{cell}" for cell in cells[:8]] + cells[8:]
    with open_table(None, ["cell"]) as table:
        table.write(cells[:1])
    assert capsys.readouterr().out == "cell\n=1+1\n", "only when asked"


def test_a_table_of_unknown_format_is_refused(tmp_path):
    with (
        pytest.raises(
            ValueError, match=r"ends in one of \.csv, \.tsv, \.jsonl, \.parquet, \.arrow"
        ),
        open_table(tmp_path / "t.xls", ["a"]),
    ):
        pass
    with (
        pytest.raises(ValueError, match="parquet is not text: write it to a file with -o"),
        open_table(None, ["a"], format="parquet"),
    ):
        pass


def test_tables_on_standard_output(capsys):
    with open_table(None, ["a", "b"], format="jsonl") as table:
        table.write(np.array([1, 2]), np.array([0.1, 1e300]))
    assert capsys.readouterr().out == '{"a": 1, "b": 0.1}\n{"a": 2, "b": 1e+300}\n'
    with open_table(None, ["a", "b"]):
        pass
    assert capsys.readouterr().out == "a,b\n"
