"""On Ray: a folder of Parquet files into one tree in several shards, one of which is killed."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("RAY_AUTH_MODE", "token")  # nobody without the token may use the cluster
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import ray

from ramify.ray import ShardedOHAC


def write_days(folder: Path, days: int, rows: int) -> None:
    """A file for each day: names and vectors, around twenty places."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(20, 8)) * 4
    for day in range(days):
        vectors = places[rng.integers(20, size=rows)] + rng.normal(size=(rows, 8))
        names = [f"day{day}/{row}" for row in range(rows)]
        columns = {f"x{j}": vectors[:, j].astype(np.float32) for j in range(8)}
        pq.write_table(pa.table({"name": names, **columns}), folder / f"day{day}.parquet")


def main() -> None:
    if not ray.is_initialized():
        ray.init(namespace="ramify", include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as place:
        days = Path(place, "days")
        days.mkdir()
        write_days(days, days=4, rows=1_500)
        with ShardedOHAC(2, folder=Path(place, "tree"), n_clusters=20, block=2_000) as model:
            # Any number of files: they are read a batch at a time, and never all at once.
            model.partial_fit(ray.data.read_parquet(str(days)), ids="name")
            print(f"{len(model):,} rows in {len(model.statistics()['sizes'])} shards")
            before = model.digests()

            victim = ray.get_actor(shard_name(model), namespace="ramify")
            ray.kill(victim, no_restart=False)
            print("after a shard was killed: the same tree,", model.digests() == before)

            top = model.top()
            print(f"top: {len(top.sizes)} parts, the largest has {top.share:.0%} of all points")
            found = model.clusters(n_clusters=20)
            print(f"clusters of {found.sizes.min()} to {found.sizes.max()} points")
            where = model.assign(found.means[:1], n_clusters=20)
            print("a mean belongs to its cluster:", where.node_ids[0] == found.node_ids[0])


def shard_name(model: ShardedOHAC) -> str:
    """What Ray calls the actor of the first shard."""
    from ramify.ray._actors import name_of

    return name_of(Path(model.folder).absolute(), "shard-0")


if __name__ == "__main__":
    main()
