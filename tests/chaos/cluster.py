"""cluster.py: router and shards on a real Ray cluster, killed again and again, at any moment.

Half of the kills are Ray's own (``ray.kill``), half are kill -9 of the worker's process. Ray
restarts an actor, which reads its folder; calls that were under way are sent again. A reader
asks all the while. In the end every shard's tree must be that of a run without kills, to the bit.
"""

import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import ray

from ramify.ray import ShardedOHAC
from ramify.ray._actors import NAMESPACE, name_of
from ramify.ray._crew import shard_folder

#: Small blocks, so that there are many operations, and splits among them.
OPTIONS = {"n_shards": 2, "block": 128, "frontier": 8, "max_shards": 4}
_LEAST_STEPS = 15


def rows_of(step: int) -> np.ndarray:
    """The rows of a step: a batch that ends anywhere in a block; some steps lie in a crowd."""
    rng = np.random.default_rng(step)
    rows = rng.normal(size=(int(rng.integers(1, 200)), 4))
    return (rows * 0.01 if step % 3 == 0 else rows * 5).astype(np.float32)


def grow(model: ShardedOHAC, steps: int, step=lambda: None) -> None:
    """Carry out the stream: inserts, and now and then points that leave."""
    number = 0
    for at in range(steps):
        rows = rows_of(at)
        numbers = model.add(rows)
        assert numbers.tolist() == list(range(number, number + len(rows)))
        number += len(rows)
        if at % 5 == 4:
            assert model.forget([number - 1]) == 1
        step()


def unkilled(steps: int, options: Mapping[str, Any]) -> list[str | None]:
    """Digests of the shards of a run in one process."""
    folder = tempfile.TemporaryDirectory()
    with folder, ShardedOHAC(folder=folder.name, engine="local", **options) as model:
        grow(model, steps)
        return model.digests()


def kill_one(folder: Path, chance: random.Random) -> bool:
    """Kill the router or a shard, by Ray or by the kernel; False if it was down already."""
    shards = sorted(path for path in folder.glob("shard-*") if path.suffix == "")
    victim = chance.randrange(-1, len(shards))
    role = "router" if victim < 0 else f"shard-{victim}"
    home = folder if victim < 0 else shard_folder(folder, victim)
    try:
        pid = int((home / "lock").read_text())
        if "ray::" not in Path(f"/proc/{pid}/cmdline").read_text():
            return False
        if chance.random() < 0.5:
            ray.kill(ray.get_actor(name_of(folder, role), NAMESPACE), no_restart=False)
        else:
            os.kill(pid, signal.SIGKILL)
    except (OSError, ValueError):
        return False
    return True


class Killer(threading.Thread):
    """Kills until it is told to stop, or has done enough."""

    def __init__(self, folder: Path, kills: int, seed: int, pause: float) -> None:
        super().__init__(daemon=True)
        self.folder, self.kills, self.pause = folder, kills, pause
        self.chance = random.Random(seed)
        self.done, self.error = 0, None
        self.stop = threading.Event()

    def run(self) -> None:
        try:
            while self.done < self.kills and not self.stop.is_set():
                self.stop.wait(self.pause * (0.2 + 1.6 * self.chance.random()))
                self.done += kill_one(self.folder, self.chance)
        except BaseException as error:
            self.error = error


class Reader(threading.Thread):
    """Asks without a pause while others write and die: it must be answered, or wait."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        super().__init__(daemon=True)
        self.model = ShardedOHAC(folder=folder, **options)
        self.answers, self.error = 0, None
        self.stop = threading.Event()

    def run(self) -> None:
        first = rows_of(0)[:1]
        try:
            while not self.stop.wait(0.01):
                if len(self.model) > 1:  # the first point never leaves
                    assert self.model.assign(first, n_clusters=1).points.tolist() == [0]
                    self.answers += 1
        except BaseException as error:
            self.error = error


def kill_while_growing(
    folder: Path,
    kills: int,
    seed: int = 0,
    pause: float = 1.0,
    options: Mapping[str, Any] = OPTIONS,
    examine: Callable[[ShardedOHAC], None] = lambda model: None,
) -> int:
    """Grow a tree until it has been killed so often, and compare; the number of steps."""
    killer = Killer(folder, kills, seed, pause)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if killer.done >= killer.kills and done >= _LEAST_STEPS:
            raise StopIteration

    model = ShardedOHAC(folder=folder, **options)
    model.statistics()  # all are up
    reader = Reader(folder, options)
    for thread in (killer, reader):
        thread.start()
    try:
        grow(model, 10**9, step)
    except StopIteration:
        pass
    finally:
        for thread in (killer, reader):
            thread.stop.set()
    for thread in (killer, reader):
        thread.join()
        assert thread.error is None, thread.error
    # The last kill may have left somebody down: whoever asks next waits for the restart.
    found = model.digests()
    examine(model)
    recovered = [one["recovery_seconds"] for one in model.statistics()["shards"]]
    model.close()
    assert found == unkilled(done, options), f"{folder}: another tree after {kills} kills"
    with ShardedOHAC(folder=folder, engine="local", **options) as again:
        assert again.digests() == found
    told = f"{kills} kills, {done} steps, {reader.answers} answers"
    print(f"{told}; the last restarts took {np.round(recovered, 3)} s")
    return done


def main(kills: int, seed: int = 0) -> None:
    """A cluster of its own, killed for as long as it takes."""
    begin = time.monotonic()
    ray.init(num_cpus=4, include_dashboard=False, namespace=NAMESPACE, log_to_driver=False)
    with tempfile.TemporaryDirectory() as folder:
        kill_while_growing(Path(folder).resolve() / "tree", kills, seed)
    ray.shutdown()
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
