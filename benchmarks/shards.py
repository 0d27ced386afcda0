# SPDX-License-Identifier: BSD-3-Clause
"""How good, fast and large sharded trees are: ``python -m benchmarks.shards``.

quality   S = 1, 2, 4, 8 shards beside one machine: Moseley–Wang revenue (RBF, of its
          maximum), and the share of points whose nearest neighbour is below a common
          ancestor of at most 16 leaves; shards in this process, so that the seconds, of
          processor time, are those of all work together
rates     500,000 rows of 3 columns: rows a second beside one shard, by processor time, and of how
          many shards each row is asked; and the same when every shard is asked
memory    the same shards as processes of a Ray cluster on this machine: resident memory of
          each beyond that of an empty one
steady    many rows: rate and memory as the tree grows
plan      100 shards and a billion rows, worked out from costs that are measured first
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import ramify
from benchmarks import streams
from ramify import metrics
from ramify.ray import ShardedOHAC, _finder

Rows = npt.NDArray[np.floating]

SHARDS = (1, 2, 4, 8)
_BATCH = 32_768
_ASKED = 20_000  # points whose neighbours are looked up
_PAIRS = 2_000_000  # that revenue is estimated from


class Case(NamedTuple):
    """Rows, and how they are compared."""

    name: str
    rows: Rows
    options: dict[str, Any]


def cases(data: str | None, scale: float) -> list[Case]:
    """What quality is measured on; without a folder of data, other rows than the news."""

    def some(n: int) -> int:
        return max(int(n * scale), 2000)

    try:
        news = Case("news, 384", streams.news(data, some(38_918)), {"metric": "cosine"})
    except FileNotFoundError:
        rows = streams.news_standin(some(38_918))
        news = Case("not news, 384", rows, {"metric": "cosine"})
    return [
        Case("gmm100, 3", streams.gmm100(some(1_000_000)), {}),
        Case("ilsvrc12 stand-in, 10", streams.ilsvrc12_standin(some(300_000)), {}),
        news,
    ]


def neighbours(rows: Rows, metric: str, count: int) -> tuple[Any, Any]:
    """Some points and their exact nearest ones among all."""
    some = np.random.default_rng(0).choice(len(rows), min(count, len(rows)), replace=False)
    if rows.shape[1] <= 20:
        from scipy.spatial import cKDTree

        found = np.asarray(cKDTree(rows).query(rows[some], k=2, workers=-1)[1])
        return some, found[:, 1]
    some = some[:4000]
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True) if metric == "cosine" else rows
    products = unit[some] @ unit.T
    products[np.arange(len(some)), some] = -np.inf
    return some, products.argmax(axis=1)


def share_near(tree: ramify.Hierarchy, some: Any, nearest: Any, most: int = 16) -> float:
    """How many have their nearest neighbour below an ancestor of at most so many leaves."""
    leaves, start = tree._leaf_ordering()
    place = np.empty(tree.n_leaves, np.int64)
    place[leaves] = np.arange(tree.n_leaves)
    node = some.copy()
    for _ in range(most):
        above = tree.parents[node]
        node = np.where((above >= 0) & (tree.sizes[above] <= most), above, node)
    at = place[nearest]
    return float(((at >= start[node]) & (at < start[node] + tree.sizes[node])).mean())


def revenue(tree: ramify.Hierarchy, rows: Rows, gamma: float | None) -> Any:
    """Of its maximum, from the same pairs every time."""
    return metrics.revenue_fraction(tree, rows, gamma=gamma, sample=_PAIRS, random_state=0)


def stream(model: Any, rows: Rows, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds to insert rows in batches."""
    begin = clock()
    for at in range(0, len(rows), _BATCH):
        model.partial_fit(rows[at : at + _BATCH])
    return clock() - begin


def quality(case: Case, shards: tuple[int, ...]) -> None:
    """One case: one machine, and every number of shards."""
    name, rows, options = case
    n = len(rows)
    points = rows
    if options.get("metric") == "cosine":
        points = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    some, nearest = neighbours(rows, options.get("metric", ""), _ASKED)
    plain = ramify.OHAC(**options)
    seconds = stream(plain, rows, time.process_time)
    tree = plain.hierarchy()
    whole = revenue(tree, points, None)
    near = share_near(tree, some, nearest)
    print(f"{name}: {n:,} rows; MW ± {whole.stderr:.4f}")
    print("| shards | CPU s | beside one | MW | NN ≤ 16 | largest / mean | shards then | φ |")
    print("|---|---|---|---|---|---|---|---|")
    print(f"| one machine | {seconds:.1f} | 1.00 | {whole:.4f} | {near:.3f} | | | |")
    del plain, tree
    for count in shards:
        with tempfile.TemporaryDirectory() as folder:
            with ShardedOHAC(count, folder=folder, engine="local", **options) as model:
                took = stream(model, rows, time.process_time)
                tree, figures, top = model.hierarchy(), model.statistics(), model.top()
            sizes = np.array(figures["sizes"])
            found = revenue(tree, points, whole.gamma)
            print(
                f"| {count} | {took:.1f} | {took / seconds:.2f} | {found:.4f} | "
                f"{share_near(tree, some, nearest):.3f} | {sizes.max() / sizes.mean():.2f} | "
                f"{len(sizes)} | {top.share:.3f} |",
                flush=True,
            )
            steps = ", ".join(f"{name} {took:.1f}" for name, took in figures["seconds"].items())
            print(f"<!-- S = {count}: seconds of steps: {steps} -->", flush=True)


def rates(n: int, shards: tuple[int, ...], times: int = 2) -> None:
    """Rows a second, the best of some; what it gains to ask few shards."""
    rows = streams.gmm100(n)
    print(f"rates, {n:,} x 3 rows in this process, of processor time, the best of {times}")
    print("| shards | rows/s | beside one shard | shards asked a row | every shard asked, rows/s |")
    print("|---|---|---|---|---|")
    one = 0.0

    def best(count: int) -> tuple[float, float]:
        found, asked = 0.0, 0.0
        for _ in range(times):
            with (
                tempfile.TemporaryDirectory() as folder,
                ShardedOHAC(count, folder=folder, engine="local") as model,
            ):
                found = max(found, n / stream(model, rows, time.process_time))
                asked = model.statistics()["asked"]
        return found, asked

    for count in shards:
        rate, asked = best(count)
        one = one or rate
        with patch.object(_finder, "_COLUMNS", 0):
            every, _ = best(count)
        told = f"| {count} | {rate:,.0f} | {rate / one:.2f} | {asked:.2f} | {every:,.0f} |"
        print(told, flush=True)


def memory(n: int, shards: tuple[int, ...]) -> None:
    """Shards as processes: what each holds beyond an empty one."""
    import ray

    ray.init(num_cpus=4, include_dashboard=False, namespace="ramify", log_to_driver=False)
    rows = streams.gmm100(n)
    print(f"memory, {n:,} x 3 rows on Ray, MiB of each shard beyond an empty one")
    for count in shards:
        with (
            tempfile.TemporaryDirectory() as folder,
            ShardedOHAC(count, folder=Path(folder, "tree"), max_shards=count) as model,
        ):
            model.statistics()
            empty = [one["memory"] for one in model.statistics()["shards"]]
            seconds = stream(model, rows)
            figures = model.statistics()
            held = [
                (one["memory"] - before) / 2**20
                for one, before in zip(figures["shards"], empty, strict=True)
            ]
            per_row = sum(held) * 2**20 / n
            sizes = " ".join(f"{size / 1000:.0f}K" for size in figures["sizes"])
            print(
                f"| {count} | {seconds:.1f} s | {' '.join(f'{x:.0f}' for x in held)} | {sizes} |"
                f" {per_row:.0f} bytes a row |",
                flush=True,
            )
    ray.shutdown()


def steady(n: int, count: int, report: int = 1_000_000) -> None:
    """Many rows, made as they are needed: rate and memory of each shard on the way."""
    import ray

    ray.init(num_cpus=4, include_dashboard=False, namespace="ramify", log_to_driver=False)
    rng = np.random.default_rng(100)
    centres = rng.random((100, 3))
    with (
        tempfile.TemporaryDirectory() as folder,
        ShardedOHAC(count, folder=Path(folder, "tree")) as model,
    ):
        print(f"steady, {n:,} x 3 rows in {count} shards on Ray")
        done, begin = 0, time.perf_counter()
        while done < n:
            batch = centres[rng.integers(100, size=_BATCH)] + 0.05 * rng.standard_normal(
                (_BATCH, 3)
            )
            model.partial_fit(batch.astype(np.float32))
            done += _BATCH
            if done % report < _BATCH:
                now = time.perf_counter()
                figures = model.statistics()
                held = " ".join(f"{one['memory'] / 2**20:.0f}" for one in figures["shards"])
                sizes = " ".join(f"{size / 1000:.0f}K" for size in figures["sizes"])
                rate = report / (now - begin)
                print(
                    f"| {done / 1e6:.1f}M | {rate:,.0f} rows/s | {sizes} | {held} MiB |", flush=True
                )
                begin = time.perf_counter()
    ray.shutdown()


class Costs(NamedTuple):
    """What one core does, in seconds."""

    nearest: float  #: a row, among a shard's points
    insert: float  #: a row whose neighbour is known
    mates: float  #: a row among those of its batch
    replay: float  #: a row of the journal
    load: float  #: a row of a snapshot
    top: float  #: the top tree, a pair of its parts
    bytes: float  #: of a journal, a row


def costs(n: int = 1_000_000) -> Costs:
    """Measured here, on rows of three numbers."""
    from ramify import _core
    from ramify.ray import Shard

    rows = streams.gmm100(n + _BATCH)
    batch = np.ascontiguousarray(rows[n:])
    with tempfile.TemporaryDirectory() as folder:
        shard = Shard(Path(folder, "a"), {})
        shard.insert(1, rows[:n], np.arange(n), None)
        shard.nearest(batch[:10], 1)
        begin = time.perf_counter()
        near, _ = shard.nearest(batch, 1)
        nearest = time.perf_counter() - begin
        begin = time.perf_counter()
        _core.nearest_before(batch, "sqeuclidean", 1)
        mates = time.perf_counter() - begin
        shard.snapshot()
        before = shard.figures()["bytes"]
        begin = time.perf_counter()
        shard.insert(2, batch, np.arange(n, n + len(batch)), near)
        insert = time.perf_counter() - begin
        grown = shard.figures()["bytes"] - before
        shutil.copytree(Path(folder, "a"), Path(folder, "b"))
        begin = time.perf_counter()
        again = Shard(Path(folder, "b"), {})
        opened = time.perf_counter() - begin
        again.close()
        shard.close()
    parts = 4096
    means = streams.gmm100(parts).astype(np.float64)
    ones = np.ones(parts)
    begin = time.perf_counter()
    _core.merge_summaries(
        means, ones * 0, ones, ones.astype(np.int64), np.arange(parts), "sqeuclidean", "average"
    )
    top = (time.perf_counter() - begin) / parts**2
    m = len(batch)
    return Costs(nearest / m, insert / m, mates / m, insert / m, opened / n, top, grown / m)


def plan(shards: int, n: int, width: int, bandwidth: float, latency: float) -> None:
    """A billion rows on paper: traffic, time, the top tree and recovery."""
    found = costs()
    print(f"costs here: { ({name: f'{value:.3g}' for name, value in found._asdict().items()}) }")
    batch, size = _BATCH, n / shards
    deeper = np.log2(size) / np.log2(1_000_000)  # searches and paths grow with the logarithm
    sent = batch * width * 4
    proposals = batch * 16 * shards
    spread = sent * np.ceil(np.log2(shards)) / bandwidth  # a broadcast goes on from who has it
    steps = {
        "send the batch to all shards": spread + latency,
        "nearest points, all shards at once": batch * found.nearest * deeper,
        "proposals to the router": proposals / bandwidth + latency,
        "settle them": batch * (found.mates + shards * 2e-9),
        "insert, the busiest shard has 5 times its share": 5
        * batch
        / shards
        * found.insert
        * deeper,
        "commits (router, then shards)": 2 * 0.005,
    }
    total = sum(steps.values())
    print(f"{n:,} rows x {width}, {shards} shards of {size / 1e6:.0f}M, batches of {batch:,} rows;")
    print(f"{bandwidth / 1e9:g} GB/s and {latency * 1000:g} ms a message; one core a shard")
    for name, seconds in steps.items():
        print(f"| {name} | {seconds * 1000:.1f} ms |")
    print(f"| a batch | {total * 1000:.0f} ms: {batch / total:,.0f} rows/s |")
    print(f"| all rows | {n / batch * total / 3600:.1f} h |")
    print(f"| traffic of a batch | {(sent * shards + proposals) / 1e6:.0f} MB in all |")
    print(f"| top tree, 64 parts each | {(shards * 64) ** 2 * found.top:.1f} s |")
    snapshot = size * found.load
    since = 256 << 20  # bytes of operations after which a snapshot is taken
    print(f"| a shard's restart: snapshot | {snapshot:.0f} s |")
    print(
        f"| and at most {since / found.bytes / 1e6:.1f}M rows of its journal | "
        f"{since / found.bytes * found.replay:.0f} s |"
    )
    print(f"| memory of a shard | {size * 200 / 2**30:.1f} GiB at 200 bytes a row |")


def main() -> None:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", nargs="*", default=["quality", "plan"])
    parser.add_argument("--data", help="folder with real data (news)")
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the rows")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of rates, memory and steady")
    parser.add_argument("--shards", type=int, nargs="*", default=list(SHARDS))
    asked = parser.parse_args()
    shards = tuple(asked.shards)
    for what in asked.what:
        if what == "quality":
            for case in cases(asked.data, asked.scale):
                quality(case, shards)
        elif what == "rates":
            rates(asked.rows, shards)
        elif what == "memory":
            memory(asked.rows, shards)
        elif what == "steady":
            steady(asked.rows, shards[-1])
        elif what == "plan":
            plan(100, 1_000_000_000, 3, 1.25e9, 0.0005)
        else:
            parser.error(f"{what}: expected quality, rates, memory, steady or plan")


if __name__ == "__main__":
    main()
