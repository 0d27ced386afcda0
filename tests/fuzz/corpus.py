"""corpus.py: whole files of every kind that Ramify reads, to be damaged."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from sklearn.base import clone

from ramify import BIRCH, GRINCH, HAC, OHAC, OTD, PERCH, Cells, NaiveHAC, NaiveNN

ROWS = np.abs(np.random.default_rng(0).normal(size=(30, 3)))
IDS = [f"é{i}" for i in range(30)]

MODELS = [
    OTD(),
    OTD(metric="dot", certify=True, n_clusters=1),
    OHAC(n_neighbors=2, n_clusters=1),
    OHAC(metric="cosine", linkage="ward"),
    OHAC(neighbors=Cells()),
    NaiveHAC(linkage="centroid"),
    NaiveNN(distance_threshold=1.0),
    PERCH(),
    PERCH(max_leaves=7),
    GRINCH(),
    HAC(metric="dot"),
    BIRCH(threshold=0.2),
]


def grown(model: Any, rng: np.random.Generator) -> Any:
    """A model like this one over some rows, with ids or without."""
    n = int(rng.choice([1, 2, 3, 9, 30]))
    rows = ROWS[:n].astype(rng.choice([np.float32, np.float64]))
    ids = [None, IDS[:n], range(n)][rng.integers(3)]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    return clone(model).fit(frame if rng.random() < 0.3 else rows, ids=ids)


def saved(thing: Any, folder: Path) -> bytes:
    path = folder / "whole.ramify"
    thing.save(path)
    return path.read_bytes()


# --- rows ----------------------------------------------------------------------------


def _table() -> pd.DataFrame:
    frame = pd.DataFrame(ROWS, columns=["x", "y", "z"])
    frame["name"] = IDS
    frame["kind"] = np.arange(30) % 4
    return frame


def _csv() -> bytes:
    return _table().to_csv(index=False).encode()


def _bare_csv() -> bytes:
    return pd.DataFrame(ROWS).to_csv(index=False, header=False).encode()


def _quoted() -> bytes:
    return b'"x","y, or not","na""me"\r\n1,2,"a\nb"\r\n3,4,"c;d"\r\n-5e-3,+6,""\r\n'


def _tsv() -> bytes:
    return _table().to_csv(index=False, sep="\t").encode()


def _jsonl() -> bytes:
    return _table().to_json(orient="records", lines=True).encode()


def _json_arrays() -> bytes:
    lines = (json.dumps({"id": i, "v": row}) for i, row in enumerate(ROWS.tolist()))
    return "\n".join(lines).encode()


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _npz(save: Callable[..., None]) -> bytes:
    out = io.BytesIO()
    save(out, rows=ROWS, label=np.arange(30), name=np.array(IDS))
    return out.getvalue()


def _arrow_table() -> pa.Table:
    table = pa.Table.from_pandas(_table(), preserve_index=False)
    lists = pa.array(ROWS.tolist(), type=pa.list_(pa.float32(), 3))
    words = pa.array([name[:1] for name in IDS]).dictionary_encode()
    return table.append_column("v", lists).append_column("word", words)


def _parquet(compression: str) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(_arrow_table(), out, compression=compression, row_group_size=10)
    return out.getvalue()


def _feather(compression: str) -> bytes:
    out = io.BytesIO()
    pa.feather.write_feather(_arrow_table(), out, compression=compression, chunksize=10)
    return out.getvalue()


def _arrow_stream() -> bytes:
    out = io.BytesIO()
    table = _arrow_table()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table, max_chunksize=7)
    return out.getvalue()


def row_files() -> dict[str, bytes]:
    """Files of rows, by name; the ending tells what they are."""
    return {
        "named.csv": _csv(),
        "bare.csv": _bare_csv(),
        "quoted.csv": _quoted(),
        "packed.csv.gz": gzip.compress(_csv(), mtime=0),
        "named.tsv": _tsv(),
        "objects.jsonl": _jsonl(),
        "arrays.jsonl": _json_arrays(),
        "double.npy": _npy(ROWS),
        "columns.npy": _npy(np.asfortranarray(ROWS.astype(np.float32))),
        "whole.npy": _npy(np.arange(40, dtype=">i4").reshape(8, 5)),
        "flat.npy": _npy(np.array(IDS)),
        "plain.npz": _npz(np.savez),
        "packed.npz": _npz(np.savez_compressed),
        "snappy.parquet": _parquet("snappy"),
        "bare.parquet": _parquet("none"),
        "file.feather": _feather("uncompressed"),
        "packed.feather": _feather("lz4"),
        "stream.arrows": _arrow_stream(),
    }
