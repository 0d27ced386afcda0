# SPDX-License-Identifier: BSD-3-Clause
"""cases.py: every row of the table: our work, the peer's, and the goal."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Job:
    """A function of work.py and its options."""

    function: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One row. ``goal`` is the largest ratio ours / peer that is good enough."""

    name: str
    ours: Job
    peer_name: str = ""
    peer: Job | None = None
    goal: float | None = None
    full: bool = False  # only in ``make bench-full``


def _stream(algorithm: str, rows: dict[str, Any], **options: Any) -> Job:
    return Job("ramify_stream", {"algorithm": algorithm, "rows": rows, **options})


def cases(data: str | None) -> list[Case]:
    """All cases; those on real data only when its folder is given."""
    gmm = {"stream": "gmm100", "n": 1_000_000}
    square = {"stream": "uniform", "n": 1_000_000}
    small = {"stream": "uniform", "n": 20_000}
    kd, fast = "cKDTree, everyone's neighbour", "fastcluster average"
    found = [
        Case("OHAC 1M x 3 gmm-100", _stream("OHAC", gmm), kd, Job("ckdtree", {"rows": gmm}), 1.0),
        Case("OHAC 1M x 2 uniform", _stream("OHAC", square), kd, Job("ckdtree", {"rows": square}),
             1.0),
        Case("OTD 1M x 3", _stream("OTD", gmm)),
        Case("HAC 1M x 3", Job("ramify_fit", {"rows": gmm}), kd, Job("ckdtree", {"rows": gmm}),
             1.2),
        Case("OHAC 20K x 2", _stream("OHAC", small), fast,
             Job("fastcluster_average", {"rows": small}), 1 / 100),
        Case("HAC 20K x 2", Job("ramify_fit", {"rows": small}), fast,
             Job("fastcluster_average", {"rows": small}), 1 / 200),
        Case("insert, one row from Python", Job("ramify_inserts", {
            "rows": {"stream": "gmm100", "n": 100_000}, "batch": 100_000})),
        Case("latency at 1M x 3", Job("ramify_latency", {"rows": gmm, "measured": 100_000})),
    ]  # fmt: skip
    if data is not None:
        images, patches = {"stream": "mnist", "data": data}, {"stream": "patches", "data": data}
        news = {"stream": "news", "data": data}
        blocks = "NumPy block products"
        found += [
            Case("OHAC 55K x 784 MNIST", _stream("OHAC", images), blocks,
                 Job("block_products", {"rows": images}), 0.5, full=True),
            Case("OHAC 38,918 x 384 news, cosine", _stream("OHAC", news, metric="cosine"), blocks,
                 Job("block_products", {"rows": news}), 1.0, full=True),
            Case("OHAC 1.28M x 10 patches", _stream("OHAC", patches), kd,
                 Job("ckdtree", {"rows": patches, "sample": 50_000}), 1.0, full=True),
            Case("HAC 55K x 784 MNIST", Job("ramify_fit", {"rows": images}), blocks,
                 Job("block_products", {"rows": images}), 1.5, full=True),
        ]  # fmt: skip
    hard = [
        "shuffled Gaussian", "all identical", "1,000 distinct values", "sorted by one coordinate",
        "slow drift", "two far clusters, alternating", "integer grid", "one-hot rows", "Cauchy",
        "half at offset 1e9",
    ]  # fmt: skip
    calm = {"stream": "hard", "name": hard[0], "n": 200_000}
    for name in hard[1:]:
        rows = {"stream": "hard", "name": name, "n": 200_000}
        goal = 6.0 if name == "Cauchy" else 3.0
        found.append(Case(f"OHAC 200K, {name}", _stream("OHAC", rows), f"OHAC, {hard[0]}",
                          _stream("OHAC", calm), goal, full=True))  # fmt: skip
    return found
