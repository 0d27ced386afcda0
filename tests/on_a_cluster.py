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
from ramify.ray._actors import NAMESPACE
from ramify.serve import running
from tests.chaos.cluster import OPTIONS, kill_while_growing, rows_of
from tests.test_serve_shards import replay_the_feed

#: A process less: most of the time here goes into starting them.
SHORT = {**OPTIONS, "max_shards": 3}

EXAMPLE = Path(__file__).parent.parent / "examples" / "with_ray.py"


def _the_example_says_what_it_promises():
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    for line in ("6,000 rows in 2 shards", "the same tree, True", "its cluster: True"):
        assert line in said.getvalue()


def _can_be_asked_from_anywhere(model):
    """By another handle of the same tree, whose mistakes come back as what they are."""
    other = ShardedOHAC(folder=model.folder, **SHORT, n_clusters=5)
    n = len(other)
    assert n == len(model)
    tree = model.hierarchy()
    assert other.labels_.tolist() == tree.cut(n_clusters=5).tolist()
    points = model.points()
    assert other.nearest(points[:9])[1].tolist() == [0.0] * 9
    pids = {one["pid"] for one in model.statistics()["shards"]}
    assert len(pids) == len(model.statistics()["sizes"]) > 1
    assert os.getpid() not in pids
    with pytest.raises(ValueError, match="n_clusters"):
        other.cut(n_clusters=n + 1)
    with pytest.raises(KeyError, match="999999"):
        other.forget(999999)
    with pytest.raises(ValueError, match="was asked for"):
        len(ShardedOHAC(folder=model.folder, **SHORT, metric="dot"))


def _is_served(place):
    """`ramify serve --ray`: points, payloads, weights, the feed; and readers beside a writer."""
    points = [
        {"id": f"T{i}", "vector": row.tolist(), "payload": f"letter {i}", "weight": 2}
        for i, row in enumerate(rows_of(1))
    ]
    half = len(points) // 2
    with (
        running(place, ray=ray.get_runtime_context().gcs_address, shards=2) as url,
        httpx.Client(base_url=url, timeout=60) as http,
    ):
        http.put("/v1/trees/mail", json={"dimension": 4}).raise_for_status()
        http.post("/v1/trees/mail/points", json={"points": points[:half]}).raise_for_status()

        def insert_the_rest():
            told = http.post("/v1/trees/mail/points", json={"points": points[half:]}).json()
            assert told["numbers"] == list(range(half, len(points)))

        replay_the_feed(http, "mail", insert_the_rest)
        assert http.get("/v1/trees/mail/points/T3").json()["payload"] == "letter 3"
        assert http.delete("/v1/trees/mail/points/T3").json()["forgotten"] == 1
        _readers_are_answered(place / "mail", len(points) - 1)
        assert 'ramify_points{tree="mail",shard="1"}' in http.get("/metrics").text


def _readers_are_answered(folder, before):
    """While a batch is under way, by what the tree is between two blocks of it."""
    model, reader = ShardedOHAC(2, folder=folder), ShardedOHAC(2, folder=folder)
    rows = np.random.default_rng(0).normal(size=(4 * model.block, 4))
    ids = [f"L{i}" for i in range(len(rows))]
    writer = threading.Thread(target=lambda: model.partial_fit(rows, ids=ids))
    writer.start()
    sizes = set()
    while writer.is_alive():
        sizes.add(int(reader.clusters(n_clusters=1).sizes[0]))
    writer.join()
    assert len(reader) == before + len(rows)
    within = {size - 2 * before for size in sizes} - {0, len(rows)}  # those before weigh two
    assert len(within) > 1
    assert all((size + before + 1) % model.block == 0 for size in within)  # one has left


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
        few = {"kills": 2, "seed": 1, "pause": 0.5, "options": SHORT}
        kill_while_growing(place / "killed", **few, examine=_can_be_asked_from_anywhere)
        _the_example_says_what_it_promises()
        _is_served(place / "served")
    ray.shutdown()
    print("all is well", file=sys.stderr)


if __name__ == "__main__":
    main()
