# SPDX-License-Identifier: BSD-3-Clause
"""Memory that runs out: whatever request is refused, the tree is valid and goes on.

The C++ core is loaded under an allocator that refuses the k-th request (failing_allocator.cpp),
for every k that an insert or a read makes, in a process of its own (out_of_memory.py).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")

pytestmark = [
    pytest.mark.no_asan,  # which has an allocator of its own
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
]

ALGORITHMS: dict[str, list[dict[str, object]]] = {
    "OTD": [{}, {"metric": "dot", "certify": True}],
    "OHAC": [{}, {"n_neighbors": 3}, {"linkage": "centroid"}, {"metric": "cosine"}],
    "NaiveHAC": [{}],
    "NaiveNN": [{}],
    "PERCH": [{}, {"max_leaves": 20}],
    "GRINCH": [{}, {"graft": "full"}, {"metric": "dot"}],
    "BIRCH": [{"threshold": 0.5}],
}


@pytest.fixture(scope="session")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("allocator") / "failing_allocator.so"
    source = HERE / "failing_allocator.cpp"
    command = [COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"]
    subprocess.run([str(word) for word in command], check=True)
    return library


def refused(allocator: Path, cases: list[dict[str, object]]) -> list[int]:
    """How many requests for memory were refused in each case, one run for each of them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.out_of_memory", json.dumps(cases)],
        env={**os.environ, "LD_PRELOAD": str(allocator)},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}{done.stderr[-3000:]}"
    return [int(line) for line in done.stdout.split()]


def cases(algorithm: str, **fixed: object) -> list[dict[str, object]]:
    return [
        {"algorithm": algorithm, "options": options, **fixed} for options in ALGORITHMS[algorithm]
    ]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_refused_request_left_a_broken_tree(allocator, algorithm):
    every = [
        case
        for dim, for_good in ((2, False), (2, True), (20, False))
        for shape in (
            {"rows": 1, "before": 1},
            {"rows": 1, "before": 60},
            {"rows": 1, "before": 60, "warm": False},
            {"rows": 30, "before": 1},
            {"rows": 30, "before": 60},
        )
        for case in cases(algorithm, dim=dim, for_good=for_good, **shape)
    ]
    assert max(refused(allocator, every)) > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_refused_request_of_a_large_batch_broke_the_tree(allocator, algorithm):
    # Enough rows to be looked up ahead of the tree, and to fit a projection at 1,024.
    fixed = {"before": 900, "rows": 400, "step": 97 if algorithm == "NaiveHAC" else 29}
    every = [cases(algorithm, dim=dim, **fixed)[0] for dim in (2, 40)]
    assert min(refused(allocator, every)) > 0


def test_a_refused_request_on_a_long_path_was_taken_for_a_linkage(allocator):
    # Short rows are compared by columns, long ones in pairs: on paths of some tens of levels.
    fixed = {"algorithm": "OHAC", "before": 250, "rows": 40, "warm": True, "step": 3}
    every = [{"dim": dim, **fixed} for dim in (40, 200)]
    assert min(refused(allocator, every)) > 0


def test_a_refused_request_in_another_thread_ended_the_process(allocator):
    fixed = {"options": {"n_jobs": 2}, "dim": 3, "before": 10, "rows": 2000, "step": 7}
    every = [{"algorithm": "OHAC", "for_good": for_good, **fixed} for for_good in (False, True)]
    assert min(refused(allocator, every)) > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_refused_request_of_a_reader_broke_the_tree(allocator, algorithm):
    every = [case for dim in (2, 40) for case in cases(algorithm, dim=dim, rows=0)]
    assert min(refused(allocator, every)) > 0


@pytest.mark.parametrize("algorithm", ["OHAC", "OTD", "NaiveNN", "PERCH"])
def test_a_refused_request_while_points_go_left_a_broken_tree(allocator, algorithm):
    every = [
        case
        for dim in (2, 40)
        for recorded in (False, True)
        for warm in (False, True)
        for case in cases(
            algorithm, dim=dim, rows=0, gone=4, before=30, warm=warm, recorded=recorded
        )
        if not case["options"].get("certify")
    ]
    assert min(refused(allocator, every)) > 0
