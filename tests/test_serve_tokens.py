# SPDX-License-Identifier: BSD-3-Clause
"""Tokens with roles and trees, exchanged while a server runs; and the lines about what they did."""

import json
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import ramify
from ramify.serve import Settings, running
from ramify.serve._configuring import settings_from
from ramify.serve._door import role_of
from ramify.serve._run import address_of, configure, exchange_tokens, listening
from ramify.serve._tokens import ANYBODY, Token, Tokens
from tests.commands import start

pytestmark = pytest.mark.no_asan  # other libraries at work

SECRETS = {name: f"{name}-secret-of-a-test" for name in ("boss", "feeder", "reader", "other")}
TOKENS = f"""
[boss]
token = "{SECRETS["boss"]}"
role = "admin"

[feeder]
token = "{SECRETS["feeder"]}"
role = "write"
trees = ["mail-*", "web"]

[reader]
token = "{SECRETS["reader"]}"
role = "read"
trees = ["mail-a"]
"""
POINT = {"points": [{"id": "Mrs Jones", "vector": [1.0], "payload": "a secret"}]}


def bearer(name):
    return {"authorization": f"Bearer {SECRETS[name]}"}


def read(tmp_path, text):
    (tmp_path / "tokens.toml").write_text(text)
    return settings_from(tmp_path, {"tokens_file": str(tmp_path / "tokens.toml")}, {}).tokens


def test_each_role_may_what_those_before_it_may_and_only_with_its_trees(tmp_path):
    tokens = read(tmp_path, TOKENS)
    ok, no = (200, 201), (403,)
    with running(tmp_path / "trees", tokens=tokens) as address:
        for who, method, path, body, expected in (
            ("boss", "PUT", "mail-a", {}, ok),
            ("boss", "PUT", "web", {}, ok),
            ("boss", "PUT", "secret", {}, ok),
            ("feeder", "PUT", "mail-b", {}, no),
            ("feeder", "POST", "mail-a/points", POINT, ok),
            ("feeder", "POST", "web/points", POINT, ok),
            ("feeder", "POST", "secret/points", POINT, no),
            ("feeder", "GET", "secret", None, no),
            ("feeder", "GET", "web", None, ok),
            ("feeder", "GET", "web/backup", None, no),
            ("feeder", "POST", "web/compact", None, no),
            ("feeder", "DELETE", "web", None, no),
            ("reader", "GET", "mail-a", None, ok),
            ("reader", "POST", "mail-a/assign?n_clusters=1", {"vectors": [[0.0]]}, ok),
            ("reader", "POST", "mail-a/forget", {"points": ["Mrs Jones"]}, no),
            ("reader", "DELETE", "mail-a/points/Mrs Jones", None, no),
            ("reader", "DELETE", "mail-a/points/Mrs Jones\n", None, no),
            ("reader", "GET", "web", None, no),
            ("other", "GET", "web", None, (401,)),
            ("boss", "DELETE", "secret", None, ok),
        ):
            told = httpx.request(
                method,
                f"{address}/v1/trees/{path}".replace("\n", "%0A"),
                json=body,
                headers=bearer(who),
            )
            assert told.status_code in expected, (who, method, path, told.text)
        seen = {
            who: [
                one["name"]
                for one in httpx.get(f"{address}/v1/trees", headers=bearer(who)).json()["trees"]
            ]
            for who in ("boss", "feeder", "reader")
        }
        both = ["mail-a", "web"]
        assert seen == {"boss": both, "feeder": both, "reader": ["mail-a"]}
        figures = [httpx.get(f"{address}/metrics", headers=bearer(who)).status_code for who in seen]
        assert figures == [200, 403, 403]


def test_every_call_that_is_described_has_the_role_that_it_needs():
    needs = {
        ("PUT", "/v1/trees/a"): "admin",
        ("DELETE", "/v1/trees/a"): "admin",
        ("GET", "/v1/trees/a"): "read",
        ("GET", "/v1/trees/a/backup"): "admin",
        ("HEAD", "/v1/trees/a/backup"): "admin",
        ("PUT", "/v1/trees/a/backup"): "admin",
        ("POST", "/v1/trees/a/stable_labels"): "write",
        ("POST", "/v1/trees/a/points/assign"): "write",
        ("PATCH", "/v1/trees/a/anything"): "write",
        ("POST", "/v1/trees/a/changes/token"): "read",
    }
    assert {call: role_of(*call) for call in needs} == needs


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1", "x: expected a table"),
        ('[X]\ntoken = "0123456789abcdef"', "expected a table whose name"),
        ('[x]\ntoken = "0123456789abcdef"\nrole = "owner"', "role to be one of read, write, admin"),
        ('[x]\ntoken = "0123456789abcdef"', "role to be one of"),
        ('[x]\nrole = "read"', "expected a text as token"),
        ('[x]\ntoken = "short"\nrole = "read"', "x: expected at least 16 printable"),
        ('[x]\ntoken = "0123456789abcdef"\nrole = "read"\ntrees = "a"', "expected trees to be"),
        ('[x]\ntoken = "0123456789abcdef"\nrole = "read"\ntree = ["a"]', "expected token, role"),
        (TOKENS + f'[more]\ntoken = "{SECRETS["boss"]}"\nrole = "read"', "are the same token"),
        (TOKENS + '[token]\ntoken = "0123456789abcdef"\nrole = "read"', None),
        ("[x", "is no TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(text, says, tmp_path):
    if says is None:
        assert len(read(tmp_path, text)) == 4
        return
    with pytest.raises(ValueError, match=says):
        read(tmp_path, text)


def test_without_tokens_anybody_may_do_all_and_with_some_nobody_else_anything():
    assert Tokens([]).of(None) is ANYBODY
    tokens = Tokens([Token("a", SECRETS["boss"])])
    assert [tokens.of(one) for one in (None, "", "é", SECRETS["boss"][:-1])] == [None] * 4


def test_a_follower_whose_token_is_gone_is_let_go(tmp_path):
    options = {"token": SECRETS["boss"], "read_token": SECRETS["reader"]}
    server = configure(Settings(tmp_path, port=0, log=False, **options))
    kept, gone = server.config.app.tokens.current
    with server_of(server) as address:
        with ramify.Client(address, token=kept.secret) as client:
            client.create("a").add([[0.0]])
        url = f"{address}/v1/trees/a/changes/stream?heartbeat=0.1"
        with (
            httpx.stream("GET", url, headers={"authorization": f"Bearer {gone.secret}"}) as theirs,
            httpx.stream("GET", url, headers={"authorization": f"Bearer {kept.secret}"}) as mine,
        ):
            only = replace(Settings(tmp_path), token=kept.secret)
            exchange_tokens(server.config.app, lambda: only)
            assert len(list(theirs.iter_lines())) >= 3  # and then it ends
            assert next(mine.iter_lines())
        exchange_tokens(server.config.app, lambda: Settings(tmp_path))  # it would be open to all
        assert server.config.app.tokens.current == (kept,)


@contextmanager
def server_of(server):
    with listening(Settings(Path(), port=0)) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        wait_for(lambda: server.started)
        yield address_of(bound)
        server.should_exit = True
        thread.join()


# --- a server as it runs ------------------------------------------------------------------------


@contextmanager
def served(tmp_path):
    """A process that serves, its address, and the lines of its log when it has ended."""
    file, lines = tmp_path / "tokens.toml", []
    file.write_text(TOKENS)
    words = ("serve", tmp_path / "trees", "--port", 0, "--tokens-file", file, "--quiet")
    log = (tmp_path / "log").open("wb")
    server = start(*words, stderr=log)
    try:
        address = wait_for(lambda: (tmp_path / "log").read_text().split("\n")[0]).split()[-1]
        yield server, address, lines
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        log.close()
        said = (tmp_path / "log").read_text().splitlines()
        lines += [json.loads(line) for line in said if line.startswith("{")]
    assert server.returncode == 0


def wait_for(ask):
    for _ in range(600):
        if found := ask():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="a signal that this system lacks")
def test_tokens_are_exchanged_at_sighup_and_no_connection_is_dropped(tmp_path):
    with served(tmp_path) as (server, address, lines):
        with httpx.Client(base_url=address) as kept:
            for name in ("mail-a", "web"):
                kept.put(f"/v1/trees/{name}", json={}, headers=bearer("boss")).raise_for_status()
            url = "/v1/trees/web/changes/stream"
            with kept.stream("GET", url, headers=bearer("boss")) as mine:
                with socket.create_connection(
                    ("127.0.0.1", int(address.rsplit(":", 1)[1]))
                ) as half:
                    head = "POST /v1/trees/web/points HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    body = json.dumps(POINT).encode()
                    head += f"Authorization: Bearer {SECRETS['feeder']}\r\n"
                    half.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:9])
                    time.sleep(0.3)  # it has passed the door
                    (tmp_path / "tokens.toml").write_text("[broken")
                    os.kill(server.pid, signal.SIGHUP)
                    wait_for(lambda: "is no TOML" in (tmp_path / "log").read_text())
                    assert kept.get("/v1/trees", headers=bearer("feeder")).status_code == 200
                    text = TOKENS.replace(SECRETS["feeder"], SECRETS["other"])
                    (tmp_path / "tokens.toml").write_text(text)
                    os.kill(server.pid, signal.SIGHUP)
                    wait_for(lambda: '"names"' in (tmp_path / "log").read_text())
                    assert kept.get("/v1/trees", headers=bearer("feeder")).status_code == 401
                    assert kept.get("/v1/trees", headers=bearer("other")).status_code == 200
                    half.sendall(body[9:])
                    assert half.recv(4096).startswith(b"HTTP/1.1 200")
                assert any(line == "event: change" for line in mine.iter_lines())
        server_ended = server.poll()
    assert server_ended is None
    assert [one["names"] for one in lines if "names" in one] == [["boss", "feeder", "reader"]]


def test_a_line_says_who_changed_what_and_not_with_what(tmp_path):
    with served(tmp_path) as (_, address, lines):
        clients = {name: ramify.Client(address, token=SECRETS[name]) for name in ("boss", "feeder")}
        clients["boss"].create("web", dimension=1)
        tree = clients["feeder"].tree("web")
        tree.add([[1.0], [2.0]], ids=["Mrs Jones", "Mr Smith"], payloads=["a secret", None])
        tree.add([[1.0], [3.0]], ids=["Mrs Jones", "Mr Brown"])
        tree.search("secret")
        tree.edit.rename(tree.clusters(n_clusters=1)[0], "a secret")
        tree.forget("Mrs Jones")
        with pytest.raises(ramify.client.RemoteError, match="may write and not administer"):
            tree.delete()
        clients["boss"].tree("web").delete()
        for client in clients.values():
            client.close()
    told = [one for one in lines if "audit" in one]
    assert [(one["by"], one["audit"], one["status"]) for one in told] == [
        ("boss", "PUT /", 201),
        ("feeder", "POST /points", 200),
        ("feeder", "POST /points", 200),
        ("feeder", "POST /edits", 200),
        ("feeder", "POST /forget", 200),
        ("boss", "DELETE /", 200),
    ]
    assert [one.get("inserted") for one in told[1:3]] == [2, 1]
    assert told[3]["edit"] == "rename"
    assert told[4]["forgotten"] == 1
    assert [one["version"] for one in told[1:5]] == sorted(one["version"] for one in told[1:5])
    assert all({"tree", "time", "request", "client"} <= one.keys() for one in told)
    said = json.dumps(lines)
    for secret in ("Jones", "secret", "Brown"):
        assert secret not in said
