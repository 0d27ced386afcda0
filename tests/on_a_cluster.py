"""What must hold on a real Ray cluster: `python -m tests.on_a_cluster` in a process of its own.

Ray leaves threads, signal handlers and children in the process that starts a cluster, which
must not be that of the other tests.
"""

import contextlib
import io
import os
import runpy
import sys
import tempfile
import threading
from pathlib import Path

import httpx
import numpy as np
import pytest
import ray

from ramify.ray import ShardedOHAC
from ramify.ray._actors import NAMESPACE, name_of
from ramify.serve import running
from tests.chaos.cluster import OPTIONS, kill_while_growing, rows_of
from tests.test_serve_shards import replay_the_feed

EXAMPLE = Path(__file__).parent.parent / "examples" / "with_ray.py"


def _the_example_says_what_it_promises():
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    for line in ("6,000 rows in 2 shards", "the same tree, True", "its cluster: True"):
        assert line in said.getvalue()


def _can_be_asked_from_anywhere(model):
    """By another handle of the same tree, whose mistakes come back as what they are."""
    other = ShardedOHAC(path=model.path, **OPTIONS, n_clusters=5)
    n = len(other)
    assert n == len(model)
    tree = model.hierarchy()
    assert other.labels_.tolist() == tree.cut(n_clusters=5).tolist()
    points = model.points()
    assert other.nearest(points[:9])[1].tolist() == [0.0] * 9
    pids = {one["pid"] for one in model.figures()["shards"]}
    assert len(pids) == len(model.figures()["sizes"]) > 1
    assert os.getpid() not in pids
    with pytest.raises(ValueError, match="n_clusters"):
        other.cut(n_clusters=n + 1)
    with pytest.raises(KeyError, match="999999"):
        other.forget(999999)
    with pytest.raises(ValueError, match="was asked for"):
        len(ShardedOHAC(path=model.path, **OPTIONS, metric="dot"))


def _readers_are_answered_while_a_batch_is_under_way(place):
    rows = np.concatenate([rows_of(step) for step in range(30)])
    sizes = []
    with ShardedOHAC(path=place, **OPTIONS) as model:
        model.partial_fit(rows[:10])
        writer = threading.Thread(target=lambda: model.partial_fit(rows[10:]))
        writer.start()
        while writer.is_alive():
            sizes.append(int(model.clusters(n_clusters=1).sizes[0]))
        writer.join()
        assert len(model) == len(rows)
    within = {size for size in sizes if 10 < size < len(rows)}
    assert len(within) > 3
    assert all(size % OPTIONS["block"] == 0 for size in within)


def _is_served(place):
    """`ramify serve --ray`: points, payloads, the feed, and a shard that is killed meanwhile."""
    address = ray.get_runtime_context().gcs_address
    with (
        running(place, ray=address, shards=2) as url,
        httpx.Client(base_url=url, timeout=60) as http,
    ):
        http.put("/trees/mail", json={"dimension": 4}).raise_for_status()
        points = [
            {"id": f"T{i}", "vector": row.tolist(), "payload": f"letter {i}", "weight": 2}
            for i, row in enumerate(rows_of(1))
        ]
        half = len(points) // 2

        def insert_half():
            more = http.post("/trees/mail/points", json={"points": points[half:]})
            assert more.json()["numbers"] == list(range(half, len(points)))

        http.post("/trees/mail/points", json={"points": points[:half]}).raise_for_status()
        told = replay_the_feed(http, "mail", insert_half)
        ray.kill(ray.get_actor(name_of(place / "mail", "shard-0"), NAMESPACE), no_restart=False)
        assert http.get("/trees/mail/points/T3").json()["payload"] == "letter 3"
        assert http.get("/trees/mail/clusters?k=1").json()["clusters"][0]["size"] == 2 * len(points)
        gone = http.get(f"/trees/mail/changes?since={told['since']}")  # a log ends with its process
        assert gone.status_code == 410
        http.delete("/trees/mail/points/T3").raise_for_status()
        assert http.get("/trees/mail").json()["points"] == len(points) - 1
        assert 'ramify_points{tree="mail",shard="0"}' in http.get("/metrics").text


def main() -> None:
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        namespace=NAMESPACE,
        log_to_driver=False,
        object_store_memory=100 << 20,
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        kill_while_growing(
            place / "killed", kills=2, seed=1, pause=0.5, examine=_can_be_asked_from_anywhere
        )
        _the_example_says_what_it_promises()
        _readers_are_answered_while_a_batch_is_under_way(place / "read")
        _is_served(place / "served")
    ray.shutdown()
    print("all is well", file=sys.stderr)


if __name__ == "__main__":
    main()
