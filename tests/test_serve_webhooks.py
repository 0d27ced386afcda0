# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are called when a tree has changed: at least once, in order, signed."""

import itertools
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import numpy as np
import pytest

import ramify
from ramify.client.signing import SIGNATURE, SignatureError, require_signature, sign
from ramify.serve import _hooks, running

pytestmark = pytest.mark.no_asan  # other libraries at work

SECRET = "a-secret-for-webhooks"


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(_hooks, "_FIRST_WAIT", 0.05)
    monkeypatch.setattr(_hooks, "_PAUSE", 0.01)


@contextmanager
def called(refuse=0):
    """A program that is called, its address and what it was told; it refuses the first calls."""
    told, tries = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            tries.append(body)
            good = len(tries) > refuse
            if good:
                told.append((body, dict(self.headers.items())))
            self.send_response(204 if good else 500)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/changed", told, tries
        server.shutdown()


def wait_until(ask):
    for _ in range(800):
        if ask():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come")


def rows(n, begin=0):
    return np.random.default_rng(begin).normal(size=(n, 2))


def bodies(told):
    return [json.loads(body) for body, _ in told]


def test_every_change_is_told_in_order_and_signed(tmp_path):
    with called() as (url, told, _):
        options = {"webhooks": (url,), "webhook_secret": SECRET}
        with running(tmp_path, **options) as address, ramify.Client(address) as client:
            tree = client.create("a", dimension=2)
            for begin in range(5):
                version = tree.add(rows(20, begin)).version
            wait_until(lambda: told and bodies(told)[-1]["version"] == version)
            figures = httpx.get(f"{address}/metrics").text
        assert f'ramify_webhook_calls_total{{webhook="{url.split("/")[2]}"}} {len(told)}' in figures
    found = bodies(told)
    assert found[0]["since"] == 0
    assert all(one["version"] == two["since"] for one, two in itertools.pairwise(found))
    assert sorted(n for one in found for n in one["inserted"]) == list(range(100))
    assert {one["tree"] for one in found} == {"a"}
    for body, headers in told:
        named = {name.lower(): value for name, value in headers.items()}
        require_signature(body, named[SIGNATURE], SECRET)
        with pytest.raises(SignatureError):
            require_signature(body, named[SIGNATURE], "another secret of theirs")
    assert len({headers["ramify-delivery"] for _, headers in told}) == len(told)


def test_a_program_that_refuses_is_called_again_and_misses_nothing(tmp_path):
    with (
        called(refuse=3) as (url, told, tries),
        running(tmp_path, webhooks=(url,)) as address,
        ramify.Client(address) as client,
    ):
        tree = client.create("a", dimension=2)
        tree.add(rows(5))
        wait_until(lambda: len(tries) >= 2)
        version = tree.add(rows(5, 1)).version
        wait_until(lambda: told and bodies(told)[-1]["version"] == version)
        assert "ramify_webhook_failures_total" in httpx.get(f"{address}/metrics").text
    assert sorted(n for one in bodies(told) for n in one["inserted"]) == list(range(10))


def test_what_was_not_told_when_the_server_ended_is_told_when_it_begins_again(tmp_path):
    with (
        called(refuse=10_000) as (url, told, tries),
        running(tmp_path, webhooks=(url,)) as address,
        ramify.Client(address) as client,
    ):
        client.create("a", dimension=2).add(rows(5))
        client.create("b", dimension=2)
        wait_until(lambda: tries)
    kept = json.loads((tmp_path / _hooks.POSITIONS).read_text())[url]
    assert kept == {"a": 0, "b": 0}
    with called() as (other, told, _):
        (tmp_path / _hooks.POSITIONS).write_text(json.dumps({other: kept}))
        with running(tmp_path, webhooks=(other,)) as address, ramify.Client(address) as client:
            wait_until(lambda: told)
            [found] = bodies(told)
            assert (found["tree"], found["since"], found["version"]) == ("a", 0, 5)
            client.tree("a").add(rows(1, 1))
            wait_until(lambda: len(told) == 2)
            client.tree("a").rename("c")
            client.tree("c").add(rows(1, 2))
            wait_until(lambda: len(told) == 3)
            client.tree("c").delete()
    found = bodies(told)
    assert [(one["tree"], one["event"]) for one in found[1:]] == [("a", "change"), ("c", "change")]
    assert found[1]["inserted"] == [5]
    assert json.loads((tmp_path / _hooks.POSITIONS).read_text())[other] == {"b": 0}


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://example.org/x", "it needs https, and a secret"),
        ("https://example.org/x", "it needs https, and a secret"),
        ("http://127.0.0.1.example.org/x", "it needs https, and a secret"),
        ("ftp://127.0.0.1/x", "is no address"),
        ("127.0.0.1:90", "is no address"),
    ],
)
def test_changes_are_told_to_nobody_on_the_way(url, says, tmp_path):
    with pytest.raises(ValueError, match=says), running(tmp_path, webhooks=(url,)):
        pass
    _hooks.require_hooks(
        ["https://example.org/x", "http://[::1]:9/x", "http://localhost/x"], SECRET
    )


def test_a_signature_ends_and_nothing_else_passes_for_one():
    now = time.time()
    require_signature(b"x", sign(b"x", SECRET), SECRET)
    for header in (None, "", "v1=abc", "t=,v1=", f"t={int(now)}", sign(b"x", SECRET) + ",v1=00"):
        with pytest.raises(SignatureError):
            require_signature(b"x", header, SECRET)
    with pytest.raises(SignatureError, match="300 seconds ago"):
        require_signature(b"x", sign(b"x", SECRET, now - 400), SECRET)
