# SPDX-License-Identifier: BSD-3-Clause
"""cases.py: every row of every table: our work, the peer's, and the goal.

Cases of one group are measured in turns, so that a machine that is slower for a
minute is so for both sides of a ratio. A job that several cases share is measured
once for all of them.
"""

from dataclasses import replace
from typing import Any

from benchmarks.figures import Goal
from benchmarks.plan import Case, Job, Plan
from benchmarks.streams import CALM, HARD

GOALS, STREAMS, NEAR, SCALING = "goals", "hard streams", "approximate", "scaling"
WIDTHS = "widths"
PEERS = {2: "peers 20K x 2", 64: "peers 10K x 64"}


def all_cases(plan: Plan) -> list[Case]:
    """Every case there is."""
    parts = (_small(plan), _million(plan), _wide(plan), _streams(plan), _peers(plan), _near(plan))
    return [case for part in (*parts, _widths(plan), _scaling(plan)) for case in part]


def _fit(algorithm: str, rows: dict[str, Any], *judge: str, **options: Any) -> Job:
    return Job("ours.fit", rows, {"algorithm": algorithm, **options}, judge)


_KD, _BLOCKS, _FAST = "cKDTree, everyone's neighbour", "NumPy block products", "fastcluster average"
_ONE = "the same on one thread"
_TIME = Goal("time", most=1.0)
_BUDGET = (Goal("budget"), Goal("window memory", most=1.1), Goal("window revenue", least=-0.01))
_THREADS = (Goal("speed-up", least=1.5), Goal("same tree", least=1))


# --- the goals ------------------------------------------------------------------------


def _million(plan: Plan) -> list[Case]:
    """1M x 3 and 1M x 2."""
    gmm, square = plan.rows("gmm100", 1_000_000), plan.rows("uniform", 1_000_000)
    kd, kd2 = Job("peers.ckdtree", gmm), Job("peers.ckdtree", square)
    ohac, hac = _fit("OHAC", gmm, "digest"), _fit("HAC", gmm, "digest")
    flat = _fit("OHAC", square, "digest")
    measured = {"measured": 100_000}
    return [
        Case(GOALS, "OHAC 1M x 3 gmm-100", ohac, (_TIME,), kd, _KD),
        Case(GOALS, "OHAC 1M x 2 uniform", flat, (_TIME,), kd2, _KD),
        Case(GOALS, "HAC 1M x 3", hac, (Goal("time", most=1.2), Goal("bytes", most=250)), kd, _KD),
        Case(GOALS, "OTD 1M x 3", _fit("OTD", gmm), (Goal("points/s", least=5e6),)),
        Case(GOALS, "growth of OHAC's inserts, 10K to 1M x 2", Job("ours.growth", square),
             (Goal("exponent", most=0.15),), once=True),
        Case(GOALS, "growth of OHAC's inserts, 10K to 1M x 3", Job("ours.growth", gmm),
             (Goal("exponent", most=0.15),), once=True),
        Case(GOALS, "memory of OHAC 1M x 3 float32", ohac, (Goal("bytes", most=120), Goal("held"))),
        Case(GOALS, "the same in batches of 1,000",
             Job("ours.batches", gmm, {"algorithm": "OHAC", "size": 1_000}),
             (Goal("bytes"), Goal("held")), full=True, once=True),
        Case(GOALS, "latency of an insert at 1M x 3", Job("ours.latency", gmm, measured),
             (Goal("median"), Goal("p99", most=5), Goal("p99.9", most=20), Goal("worst")),
             once=True),
        Case(GOALS, "reads after an insert at 1M x 3, 100 clusters", Job("ours.reads", gmm),
             (Goal("predict", most=2), Goal("clusters", most=1), Goal("labels", most=60),
              Goal("hierarchy", most=300)), once=True),
        Case(GOALS, "a window of a tenth of 1M x 3", Job("ours.window", gmm),
             (Goal("window", most=2.5), Goal("window memory", most=1.05),
              Goal("window revenue", least=-0.01)), once=True),
        Case(GOALS, "a budget of 50K leaves, 1M x 3", Job("ours.budget", gmm), _BUDGET, once=True),
        Case(GOALS, "a budget of 50K leaves, 10M x 3",
             Job("ours.budget", plan.rows("gmm100", 10_000_000)), _BUDGET, full=True, once=True),
        Case(GOALS, "four threads assign during a batch, 1M x 3", Job("ours.readers", gmm),
             (Goal("readers", most=5),), once=True),
        Case(GOALS, "two threads: OHAC 1M x 3", _fit("OHAC", gmm, "digest", n_jobs=2), _THREADS,
             ohac, _ONE),
        Case(GOALS, "two threads: OHAC 1M x 2", _fit("OHAC", square, "digest", n_jobs=2), _THREADS,
             flat, _ONE, full=True),
        Case(GOALS, "two threads: HAC 1M x 3", _fit("HAC", gmm, "digest", n_jobs=2), _THREADS,
             hac, _ONE, full=True),
    ]  # fmt: skip


def _small(plan: Plan) -> list[Case]:
    """What still fits into fastcluster, and single inserts."""
    rows = plan.rows("uniform", 20_000)
    fast = Job("peers.fastcluster_average", rows)
    least = (Goal("faster", least=100), Goal("memory", most=1 / 50))
    return [
        Case(GOALS, "OHAC 20K x 2, whole stream", _fit("OHAC", rows), least, fast, _FAST),
        Case(GOALS, "HAC 20K x 2", _fit("HAC", rows), (Goal("faster", least=200), Goal("memory")),
             fast, _FAST),
        Case(GOALS, "insert of one row from Python, 100K x 3",
             Job("ours.inserts", plan.rows("gmm100", 100_000)), (Goal("extra", most=2),),
             note="beside the same rows inside batches"),
    ]  # fmt: skip


def _wide(plan: Plan) -> list[Case]:
    """Real data, and generated rows of the same shape where it is missing."""
    cases = []
    for name, goals in (("MNIST", True), ("generated images (not MNIST)", False)):
        rows = plan.real("mnist", 55_000) if goals else plan.rows("image_standin", 55_000)
        blocks, ohac = Job("peers.block_products", rows), _fit("OHAC", rows, "digest")
        hac = _fit("HAC", rows)
        cases += [
            Case(GOALS, f"OHAC 55K x 784 {name}", ohac, (Goal("time", most=0.5),), blocks, _BLOCKS),
            Case(GOALS, f"HAC 55K x 784 {name}", hac, (Goal("time", most=1.5),), blocks, _BLOCKS),
            Case(GOALS, f"memory of OHAC 55K x 784 {name}", ohac,
                 (Goal("input", most=1.9), Goal("held"))),
            Case(GOALS, f"two threads: OHAC 55K x 784 {name}",
                 _fit("OHAC", rows, "digest", n_jobs=2), _THREADS, ohac, _ONE),
            Case(GOALS, f"two threads: HAC 55K x 784 {name}",
                 _fit("HAC", rows, "digest", n_jobs=2), _THREADS, _fit("HAC", rows, "digest"), _ONE,
                 full=True, once=True),
        ]  # fmt: skip
    for name, real in (("news embeddings", True), ("generated directions (not news)", False)):
        rows = plan.real("news", 38_918) if real else plan.rows("news_standin", 38_918)
        ohac = _fit("OHAC", rows, "digest", metric="cosine")
        cases += [
            Case(GOALS, f"OHAC 38,918 x 384 {name}, cosine", ohac, (Goal("time", most=0.45),),
                 Job("peers.block_products", rows), _BLOCKS),
            Case(GOALS, f"two threads: OHAC 38,918 x 384 {name}, cosine",
                 _fit("OHAC", rows, "digest", metric="cosine", n_jobs=2), _THREADS, ohac, _ONE),
            Case(GOALS, f"two threads: HAC 38,918 x 384 {name}, cosine",
                 _fit("HAC", rows, "digest", metric="cosine", n_jobs=2), _THREADS,
                 _fit("HAC", rows, "digest", metric="cosine"), _ONE, full=True, once=True),
        ]  # fmt: skip
    for name, real in (("image patches", True), ("generated points (not patches)", False)):
        rows = plan.real("patches", 1_281_167) if real else plan.rows("ilsvrc12_standin", 1_281_167)
        kd = Job("peers.ckdtree", rows, {"sample": 50_000})
        ohac = _fit("OHAC", rows, "digest")
        cases += [
            Case(GOALS, f"OHAC 1.28M x 10 {name}", ohac, (_TIME,), kd, _KD, once=True,
                 note="50K of the queries, scaled"),
            Case(GOALS, f"two threads: OHAC 1.28M x 10 {name}",
                 _fit("OHAC", rows, "digest", n_jobs=2), _THREADS, ohac, _ONE, once=True),
        ]  # fmt: skip
    few = plan.rows("image_standin", 10_000)
    quick = Case(GOALS, "OHAC 10K x 784 generated images", _fit("OHAC", few), (Goal("time"),),
                 Job("peers.block_products", few), _BLOCKS)  # fmt: skip
    return [quick, *(replace(case, full=True) for case in cases if _is_wanted(case, plan))]


def _widths(plan: Plan) -> list[Case]:
    """Tables of every width, and long paths: no number of columns is a cliff."""
    cases = []
    for width in (2, 3, 5, 8, 12, 15, 16, 20, 24, 31, 32, 48, 64, 96, 128, 256):
        rows = plan.rows("latent", 50_000, width=width)
        kd = Job("peers.ckdtree", rows, {"sample": 2_000})
        for name in ("OHAC", "HAC", "PERCH"):
            cases.append(
                Case(WIDTHS, f"{name} 50K x {width}, 5 dimensions", _fit(name, rows), (_TIME,), kd,
                     _KD, once=True, full=name != "OHAC" or width not in (8, 15, 16, 31, 32, 128),
                     note="2K of the queries, scaled")
            )  # fmt: skip
    for width in (16, 20, 24, 31):
        rows = plan.rows("gaussian", 50_000, width=width)
        cases.append(
            Case(WIDTHS, f"OHAC 50K x {width}, no structure", _fit("OHAC", rows), (_TIME,),
                 Job("peers.block_products", rows), _BLOCKS, once=True, full=True)
        )  # fmt: skip
    for width in (192, 256, 384, 512, 1_024):
        rows = plan.rows("gaussian", 10_000, width=width)
        cases.append(
            Case(WIDTHS, f"OHAC ward 10K x {width:,}, no structure",
                 _fit("OHAC", rows, linkage="ward"), (Goal("time"),),
                 Job("peers.block_products", rows), _BLOCKS, once=True, full=width != 256)
        )  # fmt: skip
    each = (Goal("each", most=80),)
    for n, width in ((10_000, 64), (5_000, 128)):
        rows = plan.rows("gaussian", n, width=width)
        cases.append(Case(WIDTHS, f"OHAC {n:,} x {width}, long paths", _fit("OHAC", rows), each,
                          once=True))  # fmt: skip
    rows = plan.rows("doubles", 10_000, width=64)
    cases.append(Case(WIDTHS, "OHAC 10,000 x 64 float64, long paths", _fit("OHAC", rows),
                      (Goal("each"),), once=True))  # fmt: skip
    cases.append(Case(WIDTHS, "OHAC 10,000 x 64, long paths, one row at a time",
                      Job("ours.live_use", plan.rows("gaussian", 10_000, width=64)),
                      (Goal("marked", most=1.25), Goal("single window", most=4)),
                      once=True))  # fmt: skip
    deep = (Goal("each", most=1_500),)  # 2,000 of them in three seconds
    for name, rows, options in (
        ("centroid 2,000 x 64", plan.rows("gaussian", 2_000, width=64), {"linkage": "centroid"}),
        ("dot 2,000 x 20", plan.rows("positive", 2_000, width=20), {"metric": "dot"}),
    ):
        cases.append(Case(WIDTHS, f"OHAC {name}, chains", _fit("OHAC", rows, **options), deep,
                          once=True))  # fmt: skip
    cases.append(Case(WIDTHS, "OHAC 10,000 x 128 zeros and ones",
                      _fit("OHAC", plan.rows("words", 10_000, width=128)), (Goal("each"),),
                      once=True))  # fmt: skip
    rows = plan.rows("features", 4_000, width=384)
    cases.append(Case(WIDTHS, "OHAC centroid 4,000 x 384 features",
                      _fit("OHAC", rows, linkage="centroid"), (Goal("each"),),
                      once=True))  # fmt: skip
    for n in (100_000, 500_000):
        rows = plan.rows("records", n)
        cases.append(Case(WIDTHS, f"OHAC {n:,} x 38, 71 % repeats", _fit("OHAC", rows),
                          (Goal("each", most=25),), once=True, full=n > 100_000))  # fmt: skip
    cases += [
        Case(WIDTHS, "growth of OHAC's inserts, 20K to 500K x 38, 5 dimensions",
             Job("ours.growth", plan.rows("latent", 500_000, width=38), {"first": 20_000}),
             (Goal("exponent", most=0.2),), once=True, full=True),
        Case(WIDTHS, "OHAC 24K x 2,048 features",
             Job("ours.beyond", plan.rows("features", 24_000, width=2_048)),
             (Goal("beyond", most=60),), once=True, full=True),
    ]  # fmt: skip
    rows = plan.rows("features", 20_000, width=384)
    for name in ("OHAC", "HAC"):
        cases.append(Case(WIDTHS, f"{name} dot 20K x 384 features", _fit(name, rows, metric="dot"),
                          (Goal("time"),), Job("peers.block_products", rows), _BLOCKS, once=True,
                          full=True))  # fmt: skip
    cases.append(Case(WIDTHS, "sudden steps in a sweep over kinds of rows, options and widths",
                      Job("ours.steps", plan.rows("gaussian", 8_000, width=2)),
                      (Goal("steps", most=10),), once=True))  # fmt: skip
    return cases


def _is_wanted(case: Case, plan: Plan) -> bool:
    """Generated rows stand in only for what is missing."""
    instead = {"image_standin": "mnist", "news_standin": "wcep"}
    instead["ilsvrc12_standin"] = "ilsvrc12-standin"
    stream = case.ours.rows["stream"]
    return stream not in instead or not plan.has(instead[stream])


# --- streams that break naive code ----------------------------------------------------


def _streams(plan: Plan) -> list[Case]:
    """Each beside the shuffled Gaussian of the same size and width."""
    cases = []
    for name in HARD:
        if name in (CALM, "one-hot rows", "exponentially spaced"):
            continue
        goal = 6.0 if name == "Cauchy" else 3.0
        cases.append(_stream(plan, name, 200_000, 3, goal))
    chain = _stream(plan, "exponentially spaced", 2_000, 3, None)
    stop = Job("ours.interrupted", plan.rows("hard", 6_000, name="exponentially spaced", width=8))
    return [
        *cases,
        replace(_stream(plan, "one-hot rows", 5_000, 64, 3.0), once=True),
        replace(_stream(plan, "one-hot rows", 200_000, 10, 3.0), full=True, once=True),
        replace(chain, note="a true chain: time may grow, memory only with n"),
        Case(STREAMS, "Ctrl-C in such a chain", stop, (Goal("heard", most=500),), once=True),
    ]


def _stream(plan: Plan, name: str, n: int, width: int, goal: float | None) -> Case:
    rows, calm = (plan.rows("hard", n, name=which, width=width) for which in (name, CALM))
    size = f"{n // 1000}K x {width}"
    return Case(
        STREAMS,
        f"{name}, {size}",
        _fit("OHAC", rows),
        # Below 10 MB a few pages decide; 2 is our reading of "no spike".
        (Goal("time per insert", most=goal), Goal("memory per point", most=2 if goal else 4)),
        _fit("OHAC", calm),
        f"OHAC, {CALM}",
        group=f"hard {size}",
    )


# --- peers ----------------------------------------------------------------------------


def _peers(plan: Plan) -> list[Case]:
    """Everyone on the same rows: time, memory, and the revenue of what they make."""
    cases = []
    for width, section in PEERS.items():
        rows = plan.rows("mixture", 20_000 if width == 2 else 10_000, width=width)
        for name, function, options, note in _EVERYONE:
            given = {key: value[width] for key, value in options.items()}
            if given.get("algorithm") == "CluStream" and width > 2:
                continue  # minutes
            job = Job(function, rows, given, ("revenue",))
            once, full = name not in _QUICK, name in _SLOW
            cases.append(Case(section, name, job, note=note, once=once, full=full))
    return cases


def _same(value: Any) -> dict[int, Any]:
    return dict.fromkeys(PEERS, value)


_SLOW = ("SciPy average", "scikit-learn average", "river CluStream")
_QUICK = ("Ramify OHAC", "Ramify OTD", "Ramify HAC", "Ramify PERCH", "Ramify GRINCH")
_ONLINE, _OFFLINE, _FLAT = "online, a tree", "offline, a tree", "flat clusters: no tree"

#: Name, function, options by width, what kind of problem it solves.
_EVERYONE: list[tuple[str, str, dict[str, dict[int, Any]], str]] = [
    ("Ramify OHAC", "ours.fit", {"algorithm": _same("OHAC")}, _ONLINE),
    ("Ramify OTD", "ours.fit", {"algorithm": _same("OTD")}, _ONLINE),
    ("Ramify HAC", "ours.fit", {"algorithm": _same("HAC")}, _OFFLINE),
    ("Ramify PERCH", "ours.fit", {"algorithm": _same("PERCH")}, _ONLINE),
    ("Ramify GRINCH", "ours.fit", {"algorithm": _same("GRINCH")}, _ONLINE),
    ("fastcluster average", "peers.fastcluster_average", {}, _OFFLINE),
    ("fastcluster ward, O(n) memory", "peers.fastcluster_ward", {}, _OFFLINE),
    ("SciPy average", "peers.scipy_average", {}, _OFFLINE),
    ("scikit-learn average", "peers.sklearn_average", {}, _OFFLINE),
    ("genieclust Genie", "peers.genie", {}, _OFFLINE + " (single linkage, evened out)"),
    ("hdbscan", "peers.hdbscan_tree", {}, _OFFLINE + " (single linkage of mutual reachability)"),
    ("scikit-learn Birch", "peers.sklearn_birch", {"threshold": {2: 0.1, 64: 0.45}},
     "online summary; " + _FLAT),
    ("betula-cluster", "peers.betula", {"n_clusters": _same(50)}, "online summary; " + _FLAT),
    ("river DBSTREAM", "peers.river_stream",
     {"algorithm": _same("DBSTREAM"), "clustering_threshold": {2: 0.3, 64: 0.7}},
     "online micro-clusters; " + _FLAT),
    ("river CluStream", "peers.river_stream",
     {"algorithm": _same("CluStream"), "n_macro_clusters": _same(50)},
     "online micro-clusters; " + _FLAT),
    ("usearch HNSW", "peers.usearch_graph", {}, "neighbours only: no clusters"),
]  # fmt: skip


# --- approximate neighbours -------------------------------------------------------------


def _near(plan: Plan) -> list[Case]:
    """``neighbors=Cells()`` beside exact neighbours on the same rows."""
    sets = [
        ("40K x 64 mixture", plan.rows("mixture", 40_000, width=64), {}, False),
        ("100K x 64 mixture", plan.rows("mixture", 100_000, width=64), {}, True),
        ("55K x 784 MNIST", plan.real("mnist", 55_000), {}, True),
        ("38,918 x 384 news embeddings, cosine", plan.real("news", 38_918),
         {"metric": "cosine"}, True),
    ]  # fmt: skip
    goals = (Goal("time"), Goal("recall"), Goal("revenue"), Goal("memory"))
    cases = [
        Case(NEAR, name, Job("ours.near", rows, options, ("recall", "revenue")), goals,
             _fit("OHAC", rows, "revenue", **options), "OHAC, exact", full=full, once=True)
        for name, rows, options, full in sets
    ]  # fmt: skip
    large = Job("ours.near", plan.rows("mixture", 1_000_000, width=64), {}, ("recall", "revenue"))
    shown = (Goal("points/s"), Goal("recall"), Goal("bytes"))
    return [*cases, Case(NEAR, "1M x 64 mixture", large, shown, full=True, once=True)]


# --- the picture --------------------------------------------------------------------------


def _scaling(plan: Plan) -> list[Case]:
    """Whole streams of growing size, uniform in the square."""
    everyone = {
        "OHAC": ("ours.fit", {"algorithm": "OHAC"}, 1_000_000),
        "HAC": ("ours.fit", {"algorithm": "HAC"}, 1_000_000),
        "OTD": ("ours.fit", {"algorithm": "OTD"}, 1_000_000),
        "cKDTree, neighbours only": ("peers.ckdtree", {}, 1_000_000),
        "fastcluster average": ("peers.fastcluster_average", {}, 20_000),
    }
    cases = []
    for n in (1_000, 3_000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000):
        for name, (function, options, most) in everyone.items():
            if n > most:
                continue
            rows = plan.rows("uniform", n)
            judge = ("digest",) if (name, n) == ("OHAC", 1_000_000) else ()  # then it is shared
            job = Job(function, rows, options, judge)
            cases.append(Case(SCALING, f"{name} at {n:,} x 2", job, once=True, full=n == 50_000))
    return cases
