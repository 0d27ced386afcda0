# SPDX-License-Identifier: BSD-3-Clause
"""The feeder of examples/, with a real Redis, killed again and again: nothing is lost."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ramify

redis = pytest.importorskip("redis")
pytestmark = [
    pytest.mark.no_asan,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server"),
]

SCRIPT = Path(__file__).parent.parent / "examples" / "redis_feeder.py"


@pytest.fixture
def server(tmp_path):
    path = tmp_path / "r.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL) as process:
        while not path.exists():
            time.sleep(0.02)
        yield f"unix://{path}"
        process.terminate()


def written(log):
    """What is known of the log, or None: the feeder removes it and makes it anew meanwhile."""
    try:
        return log.stat()
    except FileNotFoundError:
        return None


def test_a_killed_feeder_goes_on_where_it_was(server, tmp_path):
    stream = redis.Redis.from_url(server)
    for i in range(3000):
        stream.xadd("s", {"vector": json.dumps([i % 17, i % 5, 1]), "text": f"ticket {i}"})
    folder = tmp_path / "tree"
    command = [sys.executable, str(SCRIPT), server, "s", str(folder), "3000"]
    log = folder / "journal.sqlite-wal"
    for _ in range(3):
        before = written(log)
        with subprocess.Popen(command) as feeder:
            while written(log) == before and feeder.poll() is None:
                time.sleep(0.002)
            feeder.kill()
    assert subprocess.run(command, check=False).returncode == 0
    with ramify.open(folder) as tree:
        assert tree.ids_.tolist() == [number.decode() for number, _ in stream.xrange("s")]
        assert tree.marks["s"] == tree.ids_[-1]
    stream.close()
