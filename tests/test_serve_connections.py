# SPDX-License-Identifier: BSD-3-Clause
"""Connections: strangers cannot lock others out, and nobody is waited for without end."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import httpx
import pytest

from ramify.serve import running

pytestmark = pytest.mark.no_asan  # other libraries at work

TOKEN = "a-long-secret-token"
KNOWN = {"authorization": f"Bearer {TOKEN}"}


def line(address, said=b"", room=None):
    host, port = address.removeprefix("http://").split(":")
    found = socket.socket()
    found.settimeout(20)
    if room is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    found.connect((host, int(port)))
    found.sendall(said)
    return found


def ended(one):
    """What comes until the other side closes, or resets."""
    said = b""
    try:
        while piece := one.recv(65536):
            said += piece
    except ConnectionError:
        pass
    return said


def request(method, path, *more, token=TOKEN):
    head = [f"{method} {path} HTTP/1.1", "host: localhost", *more]
    head += [f"authorization: Bearer {token}"] if token else []
    return ("\r\n".join(head) + "\r\n\r\n").encode()


def test_half_headers_of_strangers_locked_everybody_out(tmp_path):
    options = {"token": TOKEN, "connections": 20, "header_seconds": 60.0}
    with running(tmp_path, **options) as address, ExitStack() as held:
        known = held.enter_context(httpx.Client(base_url=address, headers=KNOWN))
        assert known.get("/trees").status_code == 200
        strangers = [held.enter_context(line(address, b"GET / HTTP/1.1\r\nHo")) for _ in range(50)]
        for _ in range(3):
            assert httpx.get(f"{address}/trees", headers=KNOWN).status_code == 200
        assert known.get("/trees").status_code == 200  # on the connection that it had
        assert ended(strangers[0]) == b""  # the first of them made room


def test_the_busy_keep_their_places_and_the_next_is_told(tmp_path):
    options = {"token": TOKEN, "connections": 8}
    with running(tmp_path, **options) as address, ExitStack() as held:
        httpx.put(f"{address}/trees/a", json={}, headers=KNOWN).raise_for_status()
        follow = request("GET", "/trees/a/changes/stream")
        followers = [held.enter_context(line(address, follow)) for _ in range(8)]
        for one in followers:
            assert b"200 OK" in one.recv(65536)
        refused = held.enter_context(line(address, request("GET", "/trees")))
        assert b" 503 " in ended(refused)
        followers[0].close()
        for _ in range(100):
            try:
                code = httpx.get(f"{address}/trees", headers=KNOWN).status_code
            except httpx.TransportError:
                code = 503
            if code == 200:
                return
            time.sleep(0.05)
        raise AssertionError("no place became free")


def test_a_header_that_does_not_come_is_not_waited_for(tmp_path):
    with running(tmp_path, token=TOKEN, header_seconds=0.4) as address, ExitStack() as held:
        for said in (
            b"",
            b"GET / HTTP/1.1\r\nHo",
            request("GET", "/healthz", token=None),  # answered, and then nothing more
            request("POST", "/trees/a/points", "content-length: 1000", token=None),  # refused
        ):
            one = held.enter_context(line(address, said))
            stop = threading.Event()

            def trickle(one=one, stop=stop):
                while not stop.wait(0.1):
                    try:
                        one.sendall(b"x")
                    except OSError:
                        return

            trickling = threading.Thread(target=trickle)
            if said:
                trickling.start()
            ended(one)  # or it times out
            stop.set()
            if said:
                trickling.join()


def test_a_header_without_end_is_cut_off(tmp_path):
    with running(tmp_path) as address:
        for begin in (b"GET / HTTP/1.1\r\nx: ", b"GET /"):
            with line(address, begin) as one:
                try:
                    for _ in range(100):
                        one.sendall(b"a" * 65536)
                except ConnectionError:
                    continue
                assert b" 400 " in ended(one)
        assert httpx.get(f"{address}/healthz").status_code == 200
        large = {"x": "a" * 30_000}  # is no trouble
        assert httpx.get(f"{address}/healthz", headers=large).status_code == 200


def test_who_does_not_read_an_answer_is_let_go(tmp_path):
    with running(tmp_path, stall_seconds=0.3) as address, httpx.Client(base_url=address) as ask:
        ask.put("/trees/a", json={})
        rows = [[float(i), i % 7.0] for i in range(3000)]
        ask.post("/trees/a/points", json={"vectors": rows}).raise_for_status()
        one = line(address, room=2048)
        for _ in range(40):
            one.sendall(request("GET", "/trees/a/export", token=None))
        told = ""
        for _ in range(200):
            told = ask.get("/metrics").text
            if "ramify_connections_closed_total 1\n" in told:
                break
            time.sleep(0.05)
        one.close()
        assert "ramify_connections_closed_total 1\n" in told


def test_disconnects_leave_no_tracebacks_in_the_log(tmp_path):
    words = [sys.executable, "-m", "ramify.cli", "serve", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ})
    address = process.stderr.readline().split(" at ")[1].strip()
    with httpx.Client(base_url=address) as ask:
        while ask.get("/readyz").status_code != 200:
            time.sleep(0.05)
        ask.put("/trees/a", json={})
        rows = [[float(i), i % 7.0] for i in range(9000)]
        ask.post("/trees/a/points", json={"vectors": rows})
    for kind in ("application/json", "application/x-ndjson", "application/x-npy"):
        for path in ("points", "assign?k=3"):
            about = (f"content-type: {kind}", "content-length: 500")
            post = request("POST", f"/trees/a/{path}", *about, token=None) + b"{"
            for said in (post, request("GET", "/trees/a/changes/stream", token=None)):
                for reset in (b"\1\0\0\0\0\0\0\0", None):
                    with line(address, said) as one:
                        time.sleep(0.02)
                        if reset is not None:
                            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    follow = request("GET", "/trees/a/changes/stream?since=0", token=None)
    with line(address, follow) as follower, line(address, follow, room=2048) as stuck:
        heard = []
        hearing = threading.Thread(target=lambda: heard.append(ended(follower)))
        hearing.start()
        stuck.recv(10)  # and no more, which is the server's trouble when it ends
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        hearing.join()
    assert heard[0].endswith(b"0\r\n\r\n")  # this stream ended in order
    assert process.returncode == 0
    assert "499" in said
    assert "Traceback" not in said
    assert "Error" not in said
