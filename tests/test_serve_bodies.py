# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of strangers: damaged, forged and packed ones are refused, and the trees stay."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import httpx
import numpy as np
import pyarrow as pa
import pytest

from ramify.serve import Settings, running
from ramify.serve._arrow import ArrowReaders
from ramify.serve._bodies import BodyError
from ramify.serve._door import TooLargeError
from tests.strategies import examples

pytestmark = pytest.mark.no_asan  # other libraries at work

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
NPY = {"content-type": "application/x-npy"}
NDJSON = {"content-type": "application/x-ndjson"}


def batch_of(**columns):
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def body_of(*batches, **options):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, batches[0].schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return out.getvalue()


def packed(*batches):
    return body_of(*batches, options=pa.ipc.IpcWriteOptions(compression="zstd"))


PAIRS = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2))


@pytest.fixture
def http(tmp_path):
    with running(tmp_path / "trees") as address, httpx.Client(base_url=address) as client:
        client.put("/trees/a", json={"dimension": 2}).raise_for_status()
        yield client


@pytest.fixture
def readers(tmp_path):
    found = ArrowReaders(Settings(tmp_path, readers=2, reader_bytes=256 << 20))
    yield found
    found.close()


@pytest.fixture
def read(readers, tmp_path):
    def rows_of(body):
        (tmp_path / "body").write_bytes(body)
        return [row for rows in readers.read(tmp_path / "body") for row in rows.vectors.tolist()]

    return rows_of


def refusal(http, body, headers=ARROW, code=422):
    told = http.post("/trees/a/points", content=body, headers=headers)
    assert told.status_code == code, told.text
    assert http.get("/trees/a").json()["points"] == 0
    return told.json()["error"]


def test_a_changed_byte_of_an_arrow_body_killed_the_server(http):
    base = body_of(batch_of(vector=PAIRS))
    chance = random.Random(0)
    changes = [[(115, 239)], [(114, 17)]]  # lists longer than what is there
    for _ in range(examples(60)):
        places = range(chance.randint(1, 4))
        changes.append([(chance.randrange(len(base)), chance.randrange(256)) for _ in places])
    codes = []
    for change in changes:
        body = bytearray(base)
        for at, value in change:
            body[at] = value
        codes.append(http.post("/trees/a/points", content=bytes(body), headers=ARROW).status_code)
    assert codes[0] == 422
    assert set(codes) <= {200, 413, 422}
    assert http.get("/readyz").json()["ready"] is True


def test_a_reader_that_dies_is_one_body_that_cannot_be_read(readers, read, tmp_path):
    numbers = pa.array(np.zeros(4_000_000))
    (tmp_path / "large").write_bytes(body_of(batch_of(x=numbers, y=numbers)))
    rows = readers.read(tmp_path / "large")
    assert len(next(rows)) > 0
    (process,) = readers.busy
    os.kill(process.pid, signal.SIGSEGV)
    with pytest.raises(BodyError, match="ended by SIGSEGV"):
        list(rows)
    assert read(body_of(batch_of(vector=PAIRS))) == [[1, 2], [3, 4]]
    (idle,) = readers.idle
    os.kill(idle.pid, signal.SIGKILL)  # such as the system does when memory is short
    assert read(body_of(batch_of(vector=PAIRS))) == [[1, 2], [3, 4]]


def test_readers_are_kept_for_the_next_body_and_are_not_without_number(readers, read, tmp_path):
    body = body_of(batch_of(vector=PAIRS))
    for _ in range(3):
        assert len(read(body)) == 2
    with pytest.raises(BodyError):
        read(b"no arrow")
    assert len(readers.idle) == 1
    numbers = pa.array(np.zeros(2_000_000))
    (tmp_path / "large").write_bytes(body_of(batch_of(x=numbers)))
    some = [readers.read(tmp_path / "large") for _ in range(3)]
    for one in some[:2]:
        next(one)
    with pytest.raises(OSError, match="2 Arrow bodies are being read"):
        next(some[2])
    for one in some:
        one.close()
    assert len(read(body)) == 2


def test_a_few_packed_bytes_took_gigabytes(read):
    rows = 20_000_000
    body = packed(batch_of(x=pa.array(np.zeros(rows)), y=pa.array(np.zeros(rows))))
    assert len(body) < 100_000
    with pytest.raises(TooLargeError, match=r"memory|unpacks"):
        read(body)
    rows = 6_000_000
    small = packed(batch_of(x=pa.array(np.zeros(rows)), y=pa.array(np.zeros(rows))))
    with pytest.raises(TooLargeError, match="unpacks"):
        read(small)
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int8)), ["x" * 50_000])
    with pytest.raises(TooLargeError, match=r"memory|unpacks"):
        read(body_of(batch_of(x=pa.array(np.zeros(100_000)), payload=word)))
    real = np.random.default_rng(0).normal(size=1000)
    assert len(read(packed(batch_of(x=pa.array(real))))) == 1000


COLUMNS = [
    ({"vector": pa.array([1, 2])}, "column 'vector': expected lists of numbers, got int64"),
    ({"vector": pa.array([{"a": 1.0}])}, "expected lists of numbers, got struct"),
    ({"vector": pa.nulls(2)}, "expected lists of numbers, got null"),
    ({"vector": pa.array([["a"]])}, "expected lists of numbers, got list"),
    ({"vector": pa.array([[1.0], None])}, "lists of one length in every row"),
    ({"vector": pa.array([[1.0], [2.0, 3.0, 4.0]])}, "lists of one length in every row"),
    ({"vector": pa.array([[], []], pa.list_(pa.float64()))}, "lists of one length"),
    ({"vector": PAIRS, "id": pa.array([1.5, 2.5])}, "column 'id': expected text"),
    ({"vector": PAIRS, "id": pa.array([None, "a"])}, "ids"),
    ({"vector": PAIRS, "weight": pa.array(["a", "b"])}, "column 'weight': expected numbers"),
    ({"vector": PAIRS, "time": pa.array([[1], [2]])}, "column 'time': expected dates"),
    ({"vector": PAIRS, "payload": pa.array([b"\xff", b"a"])}, "JSON cannot hold"),
    ({"x": pa.array(["a"]), "y": pa.array([1])}, "column 'x': expected numbers, got string"),
    ({"id": pa.array(["a"])}, 'a column "vector", or columns of numbers'),
]


def test_columns_of_other_kinds_were_500(http):
    for columns, says in COLUMNS:
        assert says in refusal(http, body_of(batch_of(**columns)))


def test_two_columns_of_one_name_were_500(http):
    one = pa.array([1.0])
    body = body_of(pa.RecordBatch.from_arrays([one, one], ["x", "x"]))
    assert "the same name" in refusal(http, body)


def test_text_that_is_no_text_was_500(http):
    body = body_of(batch_of(vector=PAIRS, id=pa.array(["aaaa", "bbbb"])))
    assert "UTF" in refusal(http, body.replace(b"aaaa", b"\xff\xfe\xff\xff"))


def test_every_kind_of_column_arrives_as_it_was_sent(readers, tmp_path):
    times = pa.array([0, 86_400], pa.timestamp("s"))
    ids = pa.array(["a", "b"]).dictionary_encode()
    payload = pa.array([{"title": "a", "n": 1}, None])
    weights = pa.array([1.0, 2.5])
    whole = batch_of(vector=PAIRS, id=ids, payload=payload, weight=weights, time=times)
    (tmp_path / "body").write_bytes(body_of(whole))
    (rows,) = readers.read(tmp_path / "body")
    assert rows.vectors.tolist() == [[1, 2], [3, 4]]
    assert (rows.ids, rows.weights) == (["a", "b"], [1.0, 2.5])
    assert rows.payloads == [{"title": "a", "n": 1}, None]
    assert rows.times.dtype == np.dtype("<M8[s]")
    texts = batch_of(x=pa.array([1, 2], pa.int8()), time=pa.array(["2020-01-01", "2020-01-02"]))
    (tmp_path / "body").write_bytes(body_of(texts))
    (rows,) = readers.read(tmp_path / "body")
    assert rows.vectors.dtype == np.int8
    assert rows.times == ["2020-01-01", "2020-01-02"]


# --- other kinds ----------------------------------------------------------------------------


def npy(**claims):
    text = repr({"descr": "<f8", "fortran_order": False, "shape": (1, 2), **claims}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 16


def test_arrays_that_claim_what_is_not_there_are_refused(http):
    room = io.BytesIO()
    np.savez(room, np.zeros((2, 2)))
    for body in (
        npy(shape=(10**12, 2)),
        npy(shape=(10**12, 0)),
        npy(shape=(-1, 2)),
        npy(shape=(2,)),
        npy(descr="<c16"),
        npy(descr=[("a", "<f8")]),
        npy(descr="|O"),
        npy(descr="(" * 300 + ")" * 300),
        room.getvalue(),
        room.getvalue()[:30],  # the beginning of an archive: this one was 500
    ):
        assert "no .npy" in refusal(http, body, NPY)
    told = http.post("/trees/a/points", content=npy(), headers=NPY)
    assert told.json()["rows"] == 1


def test_columns_of_an_array_come_in_order(http):
    for order in "CF":
        room = io.BytesIO()
        np.save(room, np.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], order=order))
        http.put(f"/trees/of-{order.lower()}", json={})
        told = http.post(f"/trees/of-{order.lower()}/points", content=room.getvalue(), headers=NPY)
        assert told.json()["rows"] == 3
    one, other = (http.get(f"/trees/of-{kind}/export").json() for kind in "cf")
    assert one == other


def test_packed_bodies_are_refused_by_name(http):
    for packing in ("gzip", "deflate", "br", "zstd"):
        headers = {"content-type": "application/json", "content-encoding": packing}
        assert packing in refusal(http, b"\x1f\x8b", headers, 415)


def test_a_body_that_finds_no_place_was_500(http, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert "no place" in refusal(http, npy(), NPY, 507)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_disk_that_fills_under_a_body_was_500(tmp_path):
    script = """
import resource, signal, sys, httpx
from ramify.serve import running
with running(sys.argv[1], log=False) as address, httpx.Client(base_url=address) as ask:
    ask.put("/trees/a", json={}).raise_for_status()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, resource.RLIM_INFINITY))
    told = ask.post("/trees/a/points", content=b" " * 5_000_000,
                    headers={"content-type": "application/x-ndjson"})
    print(told.status_code, told.json()["error"])
"""
    words = [sys.executable, "-c", script, str(tmp_path)]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("507 there is no room for the body")
    assert "Traceback" not in told.stderr


def test_orders_of_any_size_were_held_in_memory(http):
    large = b'{"metric": "' + b"x" * 2_000_000 + b'"}'
    chunks = [large[begin : begin + 50_000] for begin in range(0, len(large), 50_000)]
    for method, path in (("PUT", "/trees/b"), ("POST", "/trees/a/edits")):
        for content in (large, iter(chunks)):
            told = http.request(method, path, content=content)
            assert told.status_code == 413
        for content in (b"[" * 100_000, b"\xff\xfe", b'{"a": NaN}', b"1" * 5000):
            assert 400 <= http.request(method, path, content=content).status_code < 500


def test_long_lines_are_not_all_held_at_once(tmp_path):
    lines = [json.dumps({"vector": [i, 0], "payload": "x" * 5000}) for i in range(300)]
    with running(tmp_path, body_bytes=100_000) as address, httpx.Client(base_url=address) as ask:
        ask.put("/trees/a", json={})
        told = ask.post("/trees/a/points", content="\n".join(lines), headers=NDJSON)
        assert told.json()["rows"] == 300
        assert ask.get("/trees/a").json()["journal"]["commits"] > 10  # a few lines at a time


def test_a_body_that_trickles_is_given_up(tmp_path):
    def trickle():
        yield b'{"vectors": [[1, 2]'
        for _ in range(20):
            time.sleep(0.1)
            yield b" "
        yield b"]}"

    limits = {"idle_seconds": 0.5, "body_rate": 1000}
    with running(tmp_path, **limits) as address, httpx.Client(base_url=address) as ask:
        ask.put("/trees/a", json={})
        told = ask.post("/trees/a/points", content=trickle())
        assert told.status_code == 504
        assert "bytes a second" in told.json()["error"]
