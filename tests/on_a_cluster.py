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
from tests.chaos.cluster import kill_while_growing
from tests.test_shards import mixture

EXAMPLE = Path(__file__).parent.parent / "examples" / "with_ray.py"


def sharded(path, **options):
    return ShardedOHAC(2, path=path, **{"block": 64, "frontier": 4, **options})


def _the_example_says_what_it_promises():
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    for line in ("6,000 rows in 2 shards", "the same tree, True", "its cluster: True"):
        assert line in said.getvalue()


def _is_the_tree_of_one_process(tmp_path):
    X = mixture(300)
    with sharded(tmp_path / "here", engine="local", n_clusters=5) as here:
        digests, labels = here.partial_fit(X).digests(), here.labels_
    with sharded(tmp_path / "there", n_clusters=5) as there:
        there.partial_fit(X[:100])
        other = sharded(tmp_path / "there", n_clusters=5)  # another handle of the same tree
        assert len(other.partial_fit(X[100:])) == 300
        assert there.digests() == digests
        assert there.labels_.tolist() == labels.tolist()
        assert there.predict(X[:9]).tolist() == labels[:9].tolist()
        pids = {one["pid"] for one in there.figures()["shards"]}
        assert len(pids) == 2
        assert os.getpid() not in pids
        with pytest.raises(ValueError, match="n_clusters"):
            there.cut(n_clusters=301)
        with pytest.raises(KeyError, match="999"):
            there.forget(999)
        with pytest.raises(ValueError, match="was asked for"):
            len(sharded(tmp_path / "there", metric="dot"))


def _survives_kills(tmp_path):
    kill_while_growing(tmp_path / "killed", kills=2, seed=1, pause=0.5)


def main() -> None:
    ray.init(
        num_cpus=3,
        include_dashboard=False,
        namespace=_actors.NAMESPACE,
        log_to_driver=False,
        object_store_memory=100 << 20,
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        _is_the_tree_of_one_process(place)
        _survives_kills(place)
        _the_example_says_what_it_promises()
    ray.shutdown()
    print("all is well", file=sys.stderr)


if __name__ == "__main__":
    main()
