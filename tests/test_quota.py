# SPDX-License-Identifier: BSD-3-Clause
"""How large a tree may become, in a folder and served: exact, whoever writes at the same time."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ramify
from ramify.client import RemoteError
from ramify.journal import QuotaError
from ramify.serve import Settings, running


def rows(n, begin=0):
    return np.random.default_rng(begin).normal(size=(n, 2))


def test_a_tree_has_no_more_points_than_it_may_and_goes_on_with_fewer(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(), max_points=5) as tree:
        tree.add(rows(5), ids=list("abcde"), key="first")
        with pytest.raises(QuotaError, match="6 points, and may have 5"):
            tree.add(rows(1), ids=["f"])
        assert tree.add(rows(5), ids=list("abcde"), key="first").repeated == 0  # as it was answered
        assert tree.add(rows(2), ids=["a", "b"]).repeated == 2
        tree.add(rows(1, 9), ids=["a"], replace=True)
        tree.forget("b")
        tree.add(rows(1), ids=["f"])
        assert tree.n_points_ == 5
        digest = tree.digest()
    with ramify.open(tmp_path, max_points=3) as tree:  # opens, although it has more
        assert tree.digest() == digest
        with pytest.raises(QuotaError):
            tree.add(rows(1), ids=["g"])
        tree.forget(["a", "c", "d"])
        tree.add(rows(1), ids=["g"])
    with ramify.open(tmp_path) as tree:
        tree.add(rows(50), ids=[f"more {i}" for i in range(50)])  # and without a limit


def test_a_window_never_meets_its_limit(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(keep=ramify.Last(5)), max_points=5) as tree:
        for begin in range(4):
            tree.add(rows(4, begin))
        assert tree.n_points_ == 5


def test_many_who_write_at_once_stay_below_together(tmp_path):
    with ramify.open(tmp_path, ramify.OHAC(), max_points=100) as tree:

        def write(begin):
            try:
                return len(tree.submit_add(rows(7, begin)).result().numbers)
            except QuotaError:
                return 0

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(write, range(40))) == 98
        assert tree.n_points_ == 98


def test_edges_count_the_points_that_come(tmp_path):
    with ramify.open(tmp_path, ramify.LiveGraphHAC(), max_points=3) as tree:
        tree.add(edges=(["a", "b"], ["b", "c"], [1.0, 0.5]), ids=["a", "b", "c"])
        with pytest.raises(QuotaError):
            tree.add(edges=(["a"], ["d"], [1.0]), ids=["d"])
        tree.add(edges=(["a"], ["c"], [1.0]))


def test_a_folder_has_no_more_bytes_than_it_may_and_compacting_makes_room(tmp_path):
    size = 600_000
    with ramify.open(tmp_path, ramify.OHAC(), max_bytes=size) as tree:
        written, refusal = 0, None
        while refusal is None:
            try:
                tree.add(rows(50, written), payloads=["x" * 100] * 50)
                written += 50
            except QuotaError as error:
                refusal = str(error)
        assert "compact the tree" in refusal
        assert written > 100
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2 * size
        tree.forget(tree.point_numbers_[20:])
        tree.compact()
        tree.add(rows(1))


@pytest.mark.no_asan  # other libraries at work
def test_a_server_refuses_what_would_be_too_much(tmp_path):
    with running(tmp_path, tree_points=3) as address, ramify.Client(address) as client:
        tree = client.create("a", dimension=2)
        tree.add(rows(3), ids=list("abc"))
        with pytest.raises(RemoteError, match=r"4 points, and may have 3.*tree_points") as error:
            tree.add(rows(1), ids=["d"])
        assert error.value.status == 507
        tree.forget("a")
        tree.add(rows(1), ids=["d"])
    with pytest.raises(ValueError, match="trees in shards have no such limit"):
        Settings(tmp_path, ray="local", tree_points=3).check()
