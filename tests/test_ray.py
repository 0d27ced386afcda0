# SPDX-License-Identifier: BSD-3-Clause
"""Shards as actors, on a real Ray cluster of several processes that the test starts.

What shards and router do is tested without Ray, in test_shards.py; in on_a_cluster.py they are
somewhere else, and die. `make chaos` has more kills.
"""

import builtins
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ramify.ray import ShardedOHAC, _actors

pytestmark = pytest.mark.no_asan  # other processes, without the sanitizer

ROOT = Path(__file__).parent.parent


def test_a_tree_on_a_cluster_survives_kills_and_is_that_of_one_process():
    pytest.importorskip("ray")
    more = {"RAY_AUTH_MODE": "token", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.on_a_cluster"],
        cwd=ROOT,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "all is well" in done.stderr


def test_without_ray_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(_actors, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "ramify\[ray\]"'):
        ShardedOHAC(2, folder=tmp_path).partial_fit([[0.0]])


def test_ray_is_not_loaded_before_it_is_needed(monkeypatch, tmp_path):
    loaded = []
    plain = builtins.__import__

    def watched(name, *more, **options):
        if name == "ray" or name.startswith("ray."):
            loaded.append(name)
        return plain(name, *more, **options)

    monkeypatch.setattr(builtins, "__import__", watched)
    with ShardedOHAC(2, folder=tmp_path, engine="local") as model:
        model.partial_fit([[0.0], [1.0]])
    assert not loaded
