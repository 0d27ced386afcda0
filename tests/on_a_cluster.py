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
from pathlib import Path

import pytest
import ray

from ramify.ray import ShardedOHAC, _actors
from tests.chaos.cluster import OPTIONS, kill_while_growing

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


def main() -> None:
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        namespace=_actors.NAMESPACE,
        log_to_driver=False,
        object_store_memory=100 << 20,
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        kill_while_growing(
            place / "killed", kills=2, seed=1, pause=0.5, examine=_can_be_asked_from_anywhere
        )
        _the_example_says_what_it_promises()
    ray.shutdown()
    print("all is well", file=sys.stderr)


if __name__ == "__main__":
    main()
