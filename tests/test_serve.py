# SPDX-License-Identifier: BSD-3-Clause
"""The server: what it answers, whom it lets in, and that it holds under odd and hostile callers."""

import io
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import ramify
from ramify.estimators._replay import Families, Step, hierarchy_of, replay
from ramify.serve import Settings, running
from ramify.serve._door import Rates
from tests.commands import done, fails
from tests.strategies import SMALL, examples

pytestmark = pytest.mark.no_asan  # other libraries at work


@pytest.fixture
def server(tmp_path):
    with running(tmp_path / "trees") as address:
        yield address


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


@pytest.fixture
def tickets(http):
    """A tree with 60 points in three groups, with ids and payloads."""
    http.put("/trees/tickets", json={"dimension": 2}).raise_for_status()
    rng = np.random.default_rng(0)
    points = [
        {
            "id": f"T{i}",
            "vector": (rng.normal(size=2) + 20 * (i % 3)).tolist(),
            "payload": {"title": f"{('sound', 'screen', 'login')[i % 3]} trouble {i}"},
        }
        for i in range(60)
    ]
    http.post("/trees/tickets/points", json={"points": points}).raise_for_status()
    return http


# --- answers ----------------------------------------------------------------------------


def test_trees_are_created_once_and_listed(http):
    made = http.put("/trees/a", json={"metric": "cosine", "window": 100, "dimension": 3})
    assert made.status_code == 201
    assert (
        http.put("/trees/a", json={"metric": "cosine", "window": 100, "dimension": 3}).status_code
        == 200
    )
    assert http.put("/trees/a", json={"metric": "dot"}).status_code == 409
    for options in ({"metric": "odd"}, {"nothing": 1}, {"algorithm": "hac"}, {"window": -1}):
        assert http.put("/trees/b", json=options).status_code == 422
    assert [tree["name"] for tree in http.get("/trees").json()["trees"]] == ["a"]
    assert http.get("/trees/zz").status_code == 404
    assert http.post("/trees/a/points", json={"points": [{"vector": [1, 2]}]}).status_code == 422


def test_the_answers_are_those_of_the_model(tickets, tmp_path):
    found = tickets.get("/trees/tickets/clusters", params={"k": 3}).json()
    assert sorted(one["size"] for one in found["clusters"]) == [20, 20, 20]
    for cluster in found["clusters"]:
        words = {one["payload"]["title"].split()[0] for one in cluster["representatives"]}
        assert len(words) == 1
        node = tickets.get(f"/trees/tickets/nodes/{cluster['node']}", params={"members": 50}).json()
        assert node["size"] == 20
        assert {one["payload"]["title"].split()[0] for one in node["members"]} == words
    there = tickets.post(
        "/trees/tickets/assign", params={"k": 3}, json={"vectors": [[20, 20]]}
    ).json()
    assert there["nearest_ids"][0] in {f"T{i}" for i in range(1, 60, 3)}
    path = tickets.get("/trees/tickets/points/T7/path").json()
    assert path["nodes"][-1] == -1 - 7
    assert tickets.get("/trees/tickets/points/T7").json()["payload"]["title"] == "screen trouble 7"
    hits = tickets.get("/trees/tickets/search", params={"q": "login 14"}).json()["hits"]
    assert hits[0]["id"] == "T14"
    assert hits[0]["path"] == tickets.get("/trees/tickets/points/T14/path").json()["nodes"]
    assert tickets.delete("/trees/tickets/points/T7").json()["forgotten"] == 1
    assert tickets.delete("/trees/tickets/points/T7").status_code == 404
    assert tickets.get("/trees/tickets").json()["points"] == 59
    for bad in ({}, {"k": 0}, {"k": 2, "height": 1}, {"k": "x"}, {"height": "nan"}):
        assert tickets.get("/trees/tickets/clusters", params=bad).status_code == 422


def test_the_short_way_and_the_long_way_give_the_same_answer(tickets):
    tickets.put("/trees/empty", json={}).raise_for_status()

    def ask(kind, tree, k, body):
        headers = {"content-type": kind}
        return tickets.post(f"/trees/{tree}/assign?k={k}", content=body, headers=headers)

    rows = np.random.default_rng(1).normal(10, 10, size=(20, 2)).tolist()
    for tree, k, body in (
        ("tickets", 3, {"vectors": rows[:1]}),
        ("tickets", 99_999, {"vectors": rows[:16]}),
        ("tickets", 3, {"vectors": rows}),
        ("tickets", 0, {"vectors": rows}),
        ("tickets", 3, {"vectors": [[1.0]]}),
        ("tickets", 3, {"vectors": []}),
        ("tickets", 3, {"nothing": 1}),
        ("empty", 3, {"vectors": rows[:1]}),
        ("nowhere", 3, {"vectors": rows[:1]}),
    ):
        text = json.dumps(body).encode()
        short = ask("application/json", tree, k, text)
        long = ask("application/json; charset=utf-8", tree, k, text)
        assert short.status_code == long.status_code
        assert short.json() == long.json()
    pieces = tickets.post(
        "/trees/tickets/assign?k=3",
        content=iter([b'{"vectors": ', b"[[1.0, 2.0]]}"]),
        headers={"content-type": "application/json"},
    )
    assert len(pieces.json()["labels"]) == 1
    for body in (b"{", b'{"vectors": [[NaN, 1]]}', b"\xff\xfe"):
        assert ask("application/json", "tickets", 3, body).status_code == 422


def test_people_edit_a_tree(tickets, server):
    def say(key=None, **edit):
        headers = {} if key is None else {"idempotency-key": key}
        return tickets.post("/trees/tickets/edits", json=edit, headers=headers)

    assert say(edit="must_link", i="T0", j="T1").status_code == 200
    assert say(edit="cannot_link", i="T3", j="T6").status_code == 200
    biggest = tickets.get("/trees/tickets/clusters?k=3").json()["clusters"][0]
    assert biggest["name"] is None
    assert say(edit="rename", node=biggest["node"], text="refunds").status_code == 200
    names = [one["name"] for one in tickets.get("/trees/tickets/clusters?k=3").json()["clusters"]]
    assert names.count("refunds") == 1
    assert tickets.get(f"/trees/tickets/nodes/{biggest['node']}").json()["name"] == "refunds"
    assert say(edit="move", node="T4", under="T7").status_code == 200
    told = tickets.get("/trees/tickets/edits").json()
    assert told["linked"] == [[0, 1]]
    assert told["apart"] == [[3, 6]]
    assert told["names"] == [{"node": biggest["node"], "text": "refunds"}]
    assert say(edit="release", node=told["held"][0]).status_code == 200
    for _ in range(2):  # a repeated request with a key is made once
        assert say("once", edit="unlink", i="T0", j="T1").status_code == 200
    assert say(edit="unlink", i="T0", j="T1").status_code == 422
    for edit, status in (
        ({"edit": "must_link", "i": "T0"}, 422),
        ({"edit": "must_link", "i": "T0", "j": "T0"}, 422),
        ({"edit": "must_link", "i": "T0", "j": "nobody"}, 404),
        ({"edit": "must_link", "i": "T0", "j": "T1", "text": "x"}, 422),
        ({"edit": "move", "node": 10**6, "under": "T1"}, 404),
        ({"edit": "rename", "node": "T1", "text": "x"}, 422),
        ({"edit": "rename", "node": biggest["node"], "text": "x" * 2000}, 422),
        ({"edit": "delete"}, 422),
        ({}, 422),
    ):
        assert say(**edit).status_code == status, edit
    with ramify.Client(server) as client:
        tree = client.tree("tickets")
        tree.edit.rename(biggest["node"], None)
        assert tree.edit.list().names == {}


def test_an_empty_tree_says_so(http):
    http.put("/trees/a", json={})
    for address in ("clusters?k=2", "nodes/1", "outline", "export", "points/x/path"):
        assert http.get(f"/trees/a/{address}").status_code in (404, 409)
    nothing = {"version": 0, "total": 0, "next": None, "hits": []}
    assert http.get("/trees/a/search?q=x").json() == nothing
    assert http.get("/trees/a/changes?since=0").json()["changed"] is False


@pytest.mark.parametrize("kind", ["ndjson", "arrow", "columns", "npy"])
def test_rows_come_in_every_kind_of_body(http, kind):
    http.put("/trees/a", json={})
    X = np.random.default_rng(1).normal(size=(2500, 3)).astype(np.float32)
    ids = [f"p{i}" for i in range(len(X))]
    headers = {"idempotency-key": "once"}
    if kind == "npy":
        room = io.BytesIO()
        np.save(room, X)
        body, content = room.getvalue(), "application/x-npy"
    elif kind == "ndjson":
        lines = [json.dumps({"id": i, "vector": x.tolist()}) for i, x in zip(ids, X, strict=True)]
        body, content = "\n".join(lines).encode(), "application/x-ndjson"
    else:
        if kind == "arrow":
            vector = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
            table = pa.table({"id": ids, "vector": vector})
        else:
            table = pa.table({"id": ids, "x": X[:, 0], "y": X[:, 1], "z": X[:, 2]})
        room = io.BytesIO()
        with pa.ipc.new_stream(room, table.schema) as out:
            out.write_table(table, max_chunksize=700)
        body, content = room.getvalue(), "application/vnd.apache.arrow.stream"
    for _ in range(2):  # the second is the same again
        told = http.post(
            "/trees/a/points", content=body, headers={**headers, "content-type": content}
        )
        assert told.status_code == 200, told.text
        assert told.json()["rows"] == 2500
        assert told.json()["repeated"] == 0  # the first answer, not a new one
        assert http.get("/trees/a").json()["points"] == 2500
    plain = ramify.OHAC().partial_fit(X if kind != "ndjson" else X.astype(float))
    Z = np.load(io.BytesIO(http.get("/trees/a/export?format=linkage").content))
    assert np.array_equal(Z, plain.hierarchy().to_linkage())


def test_a_bad_line_says_where_and_what_came_before_it_stays(http):
    http.put("/trees/a", json={})
    lines = [json.dumps({"id": i, "vector": [i, 1.0]}) for i in range(2500)]
    lines[2100] = '{"id": 2100, "vector": [1.0, "x"]}'
    told = http.post(
        "/trees/a/points",
        content="\n".join(lines),
        headers={"content-type": "application/x-ndjson"},
    )
    assert told.status_code == 422
    assert "point 2100: a vector has numbers only" in told.json()["error"]
    assert "2000 rows before it are in the tree" in told.json()["error"]
    assert http.get("/trees/a").json()["points"] == 2000


def tree_of(export):
    assert export["leaf_weights"] is None
    families = np.array(export["families"])
    heights = np.array(export["heights"])[:, None]
    return Families(families[:, 0], families[:, 1:], heights, np.array(export["points"]))


def assert_replayed(old, told, new):
    """What the feed tells, on an old export, gives the new one."""
    step = Step(
        told["version"],
        *(np.array(told[name], dtype=np.int64) for name in ("inserted", "forgotten", "retired")),
        np.array(told["families"]),
        np.array(told["heights"])[:, None],
        np.array(told["leaves"], dtype=np.int64),
        told["leaf_weights"],
        np.array(told["inserted"], dtype=np.int64),
        np.empty((0, 2), np.int64),
        np.array(told["absorbed"], dtype=np.int64).reshape(-1, 2),
    )
    assert told["leaf_weights"] is None
    after, expected = hierarchy_of(replay(tree_of(old), [step])), hierarchy_of(tree_of(new))
    assert after == expected
    assert np.array_equal(after.node_ids, expected.node_ids)


def test_changes_replayed_on_an_old_export_give_the_new_one(tickets):
    old = tickets.get("/trees/tickets/export").json()
    for i in range(5):
        point = {"id": f"N{i}", "vector": [i * 4.0, i * 3.0]}
        tickets.post("/trees/tickets/points", json={"points": [point]}).raise_for_status()
    tickets.delete("/trees/tickets/points/T3").raise_for_status()
    told = tickets.get("/trees/tickets/changes", params={"since": old["version"]}).json()
    new = tickets.get("/trees/tickets/export").json()
    assert_replayed(old, told, new)
    gone = tickets.get("/trees/tickets/changes", params={"since": 3})
    assert gone.status_code == 410
    assert gone.json()["oldest"] == old["version"]


@pytest.mark.parametrize("end", ["stopped", "crashed"])
def test_the_feed_after_a_restart_goes_on(tmp_path, end):
    rng = np.random.default_rng(0)
    exports = []
    with running(tmp_path / "a") as address, httpx.Client(base_url=address) as http:
        http.put("/trees/t", json={}).raise_for_status()
        for i in range(6):
            points = [{"id": f"{i}/{j}", "vector": rng.normal(size=2).tolist()} for j in range(9)]
            http.post("/trees/t/points", json={"points": points}).raise_for_status()
            exports.append(http.get("/trees/t/export").json())
        if end == "crashed":
            shutil.copytree(
                tmp_path / "a", tmp_path / "b", ignore=shutil.ignore_patterns(".ramify-*")
            )
    folder = tmp_path / ("b" if end == "crashed" else "a")
    with running(folder) as address, httpx.Client(base_url=address) as http:
        new = http.get("/trees/t/export").json()
        assert new == exports[-1]  # with its version
        for old in exports[:-1]:
            told = http.get("/trees/t/changes", params={"since": old["version"]})
            assert_replayed(old, told.json(), new)
        since = {"since": new["version"]}
        assert http.get("/trees/t/changes", params=since).json()["changed"] is False
        point = {"id": "new", "vector": [0.0, 0.0]}
        http.post("/trees/t/points", json={"points": [point]}).raise_for_status()
        told = http.get("/trees/t/changes", params=since).json()
        assert_replayed(new, told, http.get("/trees/t/export").json())
        assert http.get("/trees/t/changes", params={"since": 10**9}).status_code == 410


@pytest.mark.threads
def test_a_reader_of_the_stream_sees_every_change(tickets, server):
    begin = tickets.get("/trees/tickets").json()["version"]
    with ramify.Client(server) as client:
        tree = client.tree("tickets")
        seen: list[int] = []

        def follow():
            for kind, told in tree.follow(since=begin):
                if kind == "change":
                    assert told["since"] == (seen[-1] if seen else begin)
                    seen.append(told["version"])
                if kind == "change" and told["version"] >= begin + 10:
                    return

        reader = threading.Thread(target=follow)
        reader.start()
        for i in range(10):
            tree.add([[float(i), 0.0]], ids=[f"N{i}"])
        reader.join(30)
        assert not reader.is_alive()
        assert seen[-1] == begin + 10


@pytest.mark.threads
def test_readers_are_answered_while_a_long_batch_goes_in(http, tmp_path):
    http.put("/trees/a", json={})
    http.post("/trees/a/points", json={"vectors": [[0.0] * 64, [1.0] * 64]}).raise_for_status()
    room = io.BytesIO()
    rows = 2_000 if SMALL else 12_000
    np.save(room, np.random.default_rng(0).normal(size=(rows, 64)).astype(np.float32))
    long = threading.Thread(
        target=http.post,
        args=("/trees/a/points",),
        kwargs={"content": room.getvalue(), "headers": {"content-type": "application/x-npy"}},
    )
    long.start()
    sizes = set()
    while long.is_alive():
        asked = http.post("/trees/a/assign?k=2", json={"vectors": [[0.5] * 64]})
        assert asked.status_code == 200
        sizes.add(http.get("/trees/a").json()["points"])
    assert len(sizes) > 2  # answers from the middle of it


# --- safety -----------------------------------------------------------------------------

TOKEN, READER = "a-long-secret-token", "a-token-for-readers"


def test_an_open_address_needs_a_token(tmp_path):
    assert "there is no token" in fails("serve", tmp_path, "--host", "0.0.0.0")
    for options in ({"token": "short"}, {"read_token": READER}, {"cors": ("*",)}):
        with pytest.raises(ValueError, match=r"token|cors"):
            Settings(tmp_path, **options).check()
    Settings(tmp_path, host="0.0.0.0", token=TOKEN).check()


def test_pages_of_other_sites_may_not_ask(http):
    """A browser sends what any page tells it to, to this machine, too."""
    http.put("/trees/pages", json={}).raise_for_status()
    point = {"points": [{"id": "a", "vector": [1.0]}]}
    for origin in ("https://elsewhere.example", "http://127.0.0.1:1", "null"):
        told = http.post("/trees/pages/points", json=point, headers={"origin": origin})
        assert told.status_code == 403, origin
    own = str(http.base_url).rstrip("/")
    told = http.post("/trees/pages/points", json=point, headers={"origin": own})
    assert told.status_code == 200
    assert http.get("/trees/pages").json()["points"] == 1


def test_tokens_are_asked_for_and_readers_may_only_read(tmp_path):
    options = {"token": TOKEN, "read_token": READER}
    with running(tmp_path, **options) as address, httpx.Client(base_url=address) as ask:
        full, reader = ({"authorization": f"Bearer {one}"} for one in (TOKEN, READER))
        assert ask.get("/trees").status_code == 401
        assert (
            ask.get("/trees", headers={"authorization": "Bearer wrong-wrong-wrong"}).status_code
            == 401
        )
        assert ask.get("/metrics").status_code == 401
        assert ask.get("/openapi.json").status_code == 401
        assert ask.get("/healthz").status_code == 200
        assert ask.put("/trees/a", json={}, headers=reader).status_code == 403
        assert ask.put("/trees/a", json={}, headers=full).status_code == 201
        point = {"points": [{"vector": [1.0]}]}
        assert ask.post("/trees/a/points", json=point, headers=reader).status_code == 403
        assert ask.post("/trees/a/points", json=point, headers=full).status_code == 200
        assert (
            ask.post("/trees/a/assign?k=1", json={"vectors": [[1]]}, headers=reader).status_code
            == 200
        )
        assert ask.delete("/trees/a/points/assign", headers=reader).status_code == 403
        assert ask.get("/trees/a", headers=reader).status_code == 200
        with (
            ramify.Client(address, token=READER) as client,
            pytest.raises(ramify.client.RemoteError, match="may read and not write"),
        ):
            client.tree("a").add([[2.0]])


def test_names_cannot_leave_the_folder(http, tmp_path):
    for name in ("..", "../x", "%2e%2e", "a%2fb", "A", ".x", "a b", "x" * 65, "con:"):
        assert http.put(f"/trees/{name}", json={}).status_code in (404, 405, 422)
    assert {path.name for path in tmp_path.iterdir()} == {"trees"}


def test_other_sites_are_kept_out(http):
    assert http.get("/trees", headers={"host": "evil.example"}).status_code == 403
    told = http.get("/trees", headers={"origin": "http://evil.example"})
    assert "access-control-allow-origin" not in told.headers
    assert told.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in http.get("/").headers["content-security-policy"]


def test_named_sites_may_ask(tmp_path):
    with running(tmp_path, cors=("http://good.example",)) as address:
        told = httpx.get(f"{address}/trees", headers={"origin": "http://good.example"})
        assert told.headers["access-control-allow-origin"] == "http://good.example"
        told = httpx.get(f"{address}/trees", headers={"origin": "http://evil.example"})
        assert "access-control-allow-origin" not in told.headers


def test_too_much_is_refused(tmp_path):
    limits = {"body_bytes": 1000, "stream_bytes": 5000, "idle_seconds": 0.3}
    with running(tmp_path, **limits) as address, httpx.Client(base_url=address) as ask:
        ask.put("/trees/a", json={})
        assert ask.post("/trees/a/points", content=b" " * 1001).status_code == 413
        chunks = (b" " * 100 for _ in range(20))  # without saying how much it will be
        assert ask.post("/trees/a/points", content=chunks).status_code == 413
        npy = {"content-type": "application/x-npy"}
        assert ask.post("/trees/a/points", content=b"x" * 5001, headers=npy).status_code == 413
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(
                b"POST /trees/a/points HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
            )
            assert b" 504 " in slow.recv(1000)
    with running(tmp_path / "rate", rate=2.0) as address, httpx.Client(base_url=address) as ask:
        codes = [ask.get("/trees").status_code for _ in range(30)]
        assert codes[0] == 200
        told = next(one for one in (ask.get("/trees") for _ in range(99)) if one.status_code == 429)
        assert int(told.headers["retry-after"]) >= 1


def test_a_full_queue_is_429(http, server, tmp_path):
    with (
        running(tmp_path / "other", queue_rows=50) as address,
        httpx.Client(base_url=address) as ask,
    ):
        ask.put("/trees/a", json={})
        ask.post("/trees/a/points", json={"vectors": [[0.0, 0.0]]})
        rows = np.random.default_rng(0).normal(size=(45, 2)).tolist()
        codes: list[int] = []

        def push():
            codes.append(ask.post("/trees/a/points", json={"vectors": rows}).status_code)

        threads = [threading.Thread(target=push) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(codes) <= {200, 429}
        taken = ask.get("/trees/a").json()["points"]
        assert taken == 1 + 45 * codes.count(200)


def test_rates_do_not_remember_every_client():
    rates = Rates(1.0)
    for i in range(20_000):
        rates.wait(f"client {i}", now=0.0)
    assert len(rates._clients) <= 10_000


# --- hostile callers ----------------------------------------------------------------------

NASTY = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"points": []}',
    b'{"points": [1]}',
    b'{"points": [{"vector": []}]}',
    b'{"points": [{"vector": [NaN, 1]}]}',
    b'{"points": [{"vector": [1e999, 1]}]}',
    b'{"points": [{"vector": [1, true]}]}',
    b'{"points": [{"vector": [1, 2], "id": {}}]}',
    b'{"points": [{"vector": [1, 2], "id": "\\ud83c"}]}',
    b'{"points": [{"vector": [1, 2], "time": 5}]}',
    b'{"points": [{"vector": [1, 2], "weight": -1}]}',
    b'{"points": [{"vector": [1, 2], "weight": "x"}]}',
    b'{"points": [{"vector": [1, 2], "more": 1}]}',
    b'{"vectors": [[1, 2]], "ids": "ab"}',
    b'{"vectors": [[1, 2]], "ids": [1, 2]}',
    b'{"vectors": [[1, 2], [1]]}',
    b'{"vectors": [[' + b"9" * 400 + b", 2]]}",
    b"[" * 100_000,
    b"\xff\xfe\x00",
    b'{"vectors": [[1, 2]], "payloads": [' + b"[" * 900 + b"]" * 900 + b"]}",
]
PATHS = [
    "/trees/tickets/points/%00",
    "/trees/tickets/points/" + "x" * 5000,
    "/trees/tickets/nodes/99999999999999999999",
    "/trees/tickets/nodes/x",
    "/trees/tickets/changes?since=-1",
    "/trees/tickets/changes?since=99999999",
    "/trees/tickets/search",
    "/trees/tickets/clusters?k=999999999999",
    "/trees/tickets/clusters?height=inf",
    "/trees/tickets/export?format=pickle",
    "/trees/tickets/outline?blocks=0",
    "/trees/tickets/outline?node=123456",
    "//etc/passwd",
]


def test_nothing_that_is_sent_makes_it_fail(tickets):
    kinds = ("application/json", "application/x-ndjson", "application/x-npy")
    kinds += ("application/vnd.apache.arrow.stream", "text/plain", "")
    chance = random.Random(0)
    before = tickets.get("/trees/tickets").json()["points"]
    for body in [*NASTY, *(chance.randbytes(200) for _ in range(20)), b"\x93NUMPY" + b"\xff" * 200]:
        for kind in kinds:
            told = tickets.post(
                "/trees/tickets/points", content=body, headers={"content-type": kind}
            )
            assert 400 <= told.status_code < 500, (body[:80], kind, told.text)
            told = tickets.post(
                "/trees/tickets/assign?k=2", content=body, headers={"content-type": kind}
            )
            assert told.status_code < 500, (body[:80], kind, told.text)
    for path in PATHS:
        assert 400 <= tickets.get(path).status_code < 500, path
    assert tickets.get("/trees/tickets/search?q=%00%22*").json()["hits"] == []
    assert tickets.get("/trees/tickets").json()["points"] == before


def test_an_array_of_objects_is_not_unpickled(tickets):
    room = io.BytesIO()
    np.save(room, np.array([[{"x": 1}]], dtype=object), allow_pickle=True)
    told = tickets.post(
        "/trees/tickets/points",
        content=room.getvalue(),
        headers={"content-type": "application/x-npy"},
    )
    assert told.status_code == 422
    assert "no .npy" in told.json()["error"]


def test_a_thousand_connections_are_survived(server):
    host, port = server.removeprefix("http://").split(":")
    held = [socket.create_connection((host, int(port))) for _ in range(900)]
    try:
        for one in held[::50]:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHo")  # and never the rest
        for _ in range(5):
            assert httpx.get(f"{server}/healthz").status_code in (200, 503)
    finally:
        for one in held:
            one.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if httpx.get(f"{server}/healthz").status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError("it did not come back")


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_description_is_kept_to(tmp_path):
    """schemathesis makes up calls from the OpenAPI description: none may be a 500."""
    schemathesis = pytest.importorskip("schemathesis")
    with running(tmp_path, rate=0) as address, httpx.Client(base_url=address) as ask:
        ask.put("/trees/0", json={})
        points = [{"id": str(i), "vector": [i, 1]} for i in range(20)]
        ask.post("/trees/0/points", json={"points": points})
        schema = schemathesis.openapi.from_dict(ask.get("/openapi.json").json())
        operations = schema.exclude(path_regex="stream").get_all_operations()
        names = [_try_out(found.ok(), address) for found in operations]
        assert len(names) > 12


def test_the_addresses_of_0_1_lead_to_those_of_the_first_version(tickets):
    described = tickets.get("/openapi.json").json()["paths"]
    trees = [path for path in described if "trees" in path]
    assert len(trees) > 20
    assert all(path.startswith("/v1/trees") for path in trees)
    for more in ("", "/tickets", "/tickets/labels?n_clusters=3", "/nothing"):
        old, new = tickets.get(f"/trees{more}"), tickets.get(f"/v1/trees{more}")
        assert (old.status_code, old.json()) == (new.status_code, new.json())
    assert tickets.get("/v1").status_code == tickets.get("/v1/nothing").status_code == 404


def _try_out(operation, address):
    @settings(max_examples=examples(15), suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def calls(case):
        told = case.call(base_url=address)
        assert told.status_code < 500, told.text

    calls()
    return operation.label


# --- figures ------------------------------------------------------------------------------


def test_health_and_figures(tickets):
    assert tickets.get("/healthz").json() == {"status": "ok"}
    assert tickets.get("/readyz").json()["ready"] is True
    text = tickets.get("/metrics").text
    for name in (
        "operations_total",
        "commit_seconds_total",
        "queue_rows",
        "depth",
        "bytes",
        "points",
    ):
        assert f'ramify_{name}{{tree="tickets"}}' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2
    assert "x-request-id" in tickets.get("/healthz").headers


# --- real processes -------------------------------------------------------------------------


def started(folder: Path, *words: str) -> tuple[subprocess.Popen, str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "ramify.cli", "serve", str(folder), "--port", "0", *words],
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stderr.readline()
    assert " at http" in line, line
    address = line.split(" at ")[1].strip()
    for _ in range(300):
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                break
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    return process, address


def test_a_killed_server_has_all_that_it_acknowledged_and_a_stopped_one_snapshots(tmp_path):
    acknowledged = 0
    for life in range(3):
        process, address = started(tmp_path, "-q")
        with ramify.Client(address, attempts=1) as client:
            tree = client.create("a")
            assert tree.info()["points"] >= acknowledged
            for i in range(acknowledged, acknowledged + 40):
                tree.add([[float(i), i % 7.0]], ids=[i], payloads=[f"number {i}"])
            acknowledged += 40
        process.send_signal(signal.SIGTERM if life == 2 else signal.SIGKILL)
        code = process.wait(30)
        process.stderr.close()
    assert code == 0
    with ramify.open(tmp_path / "a") as tree:
        assert tree.report.replayed == 0  # the graceful stop took a snapshot
        plain = ramify.OHAC(history=1000)
        for i in range(acknowledged):
            plain.partial_fit([[float(i), i % 7.0]], ids=[i])
        assert tree.hierarchy() == plain.hierarchy()
        assert [hit.id for hit in tree.search("number 77")] == [77]


def test_the_log_has_a_line_for_each_request_and_no_secrets(tmp_path):
    environment = {**os.environ, "RAMIFY_TOKEN": TOKEN}
    process = subprocess.Popen(
        [sys.executable, "-m", "ramify.cli", "serve", str(tmp_path), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    address = process.stderr.readline().split(" at ")[1].strip()
    for _ in range(200):
        try:
            httpx.get(f"{address}/trees?x=hidden", headers={"authorization": f"Bearer {TOKEN}"})
            break
        except httpx.TransportError:
            time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert lines.pop() == {"server": "stopped", "trees": 0}
    assert lines[-1]["path"] == "/v1/trees"
    assert lines[-1]["status"] == 200
    assert len(lines[-1]["request"]) == 16
    assert TOKEN not in said
    assert "hidden" not in said


def test_rows_of_a_file_are_pushed_with_their_ids(server, tmp_path):
    file = tmp_path / "rows.csv"
    lines = [f"T{i},{i % 9}.5,{i % 4},text {i}" for i in range(2500)]
    file.write_text("\n".join(["id,x,y,text", *lines]))
    words = ("push", file, "--to", f"{server}/trees/rows", "--id-column", "id")
    words += ("--payload-column", "text", "--create", "--json")
    assert done(*words).json() == {"rows": 2500, "repeated": 0, "version": 2500}
    assert done(*words).json()["repeated"] == 2500
    with ramify.Client(server) as client:
        assert client.tree("rows").point("T7")["payload"] == "text 7"
    text = '{"id": "new", "vector": [1, 2], "payload": {"a": 1}}\n'
    assert (
        done("push", "-", "--to", f"{server}/trees/rows", "--json", stdin=text).json()["rows"] == 1
    )
    assert "expected an address" in fails("push", file, "--to", server, code=2)
    assert "status 404" in fails("push", file, "--to", f"{server}/trees/none")


def test_a_missing_library_names_the_extra(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "fastapi" else real(name)
    )
    with pytest.raises(ImportError, match=r'pip install "ramify\[serve\]"'):
        ramify.serve.require()


def test_the_demo_runs_until_it_is_ended(tmp_path):
    words = [sys.executable, "-m", "ramify.serve.demo", str(tmp_path / "trees"), "--port", "0"]
    demo = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        address = demo.stdout.readline().split()[1]
        with httpx.Client(base_url=address) as http:
            while http.get("/trees/questions").json()["points"] < 1000:
                time.sleep(0.1)
            assert "<title>" in http.get("/").text
        demo.send_signal(signal.SIGINT)
        assert demo.wait(60) == 0
        assert demo.stdout.read() == "ending\n"
    finally:
        demo.kill()
        demo.wait()
        demo.stdout.close()
