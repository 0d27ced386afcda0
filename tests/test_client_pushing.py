# SPDX-License-Identifier: BSD-3-Clause
"""Many rows in large bodies: the very tree that rows in small ones grow."""

import asyncio
import sys

import numpy as np
import pytest

import ramify
from ramify.client import RemoteError, _pushing
from ramify.serve import running

pytestmark = pytest.mark.no_asan  # servers, and nothing new for the core

X = np.random.default_rng(5).normal(size=(300, 3))
IDS = [f"T{i}" for i in range(300)]
COLUMNS = {
    "rows alone": {},
    "ids": {"ids": IDS},
    "whole numbers": {"ids": list(range(900, 600, -1))},
    "arrays": {"ids": np.arange(300), "sample_weight": np.arange(1.0, 301.0)},
    "texts": {"ids": IDS, "payloads": [f"text ü {i}" if i % 3 else None for i in range(300)]},
    "objects": {"payloads": [{"n": i} if i % 2 else [i] for i in range(300)]},
    "mixed": {"ids": [i if i % 2 else f"T{i}" for i in range(300)]},
    "beyond 64 bits": {"ids": [str(i) for i in range(300)], "payloads": [2**70] * 300},
}


@pytest.fixture
def client(tmp_path):
    with running(tmp_path) as url, ramify.Client(url) as client:
        yield client


def contents(tree):
    names = tree.point_numbers_.tolist()
    return tree.export("newick"), tree.payloads(names), getattr(tree, "ids_", np.array([])).tolist()


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("arrow", [True, False])
def test_what_is_pushed_is_what_is_added(columns, arrow, client, monkeypatch):
    monkeypatch.setattr(_pushing, "_BODY", 4000)
    if not arrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    along = COLUMNS[columns]
    one, other = client.create("one"), client.create("other")
    if columns == "mixed":
        with pytest.raises(RemoteError, match="id"):
            one.push(X, **along)
        return
    told, expected = one.push(X, **along), other.add(X, **along)
    assert told.numbers == expected.numbers
    assert told.repeated == 0
    if columns == "rows alone":
        assert one.export("newick") == other.export("newick")
        return
    if "payloads" in along or "ids" in along:
        assert contents(one) == contents(other)


def test_what_is_there_is_left_out(client, monkeypatch):
    monkeypatch.setattr(_pushing, "_BODY", 4000)
    tree = client.create("a")
    tree.push(X[:100], ids=IDS[:100])
    told = tree.push(X, ids=IDS)
    assert (told.repeated, told.numbers) == (100, list(range(300)))
    nameless = client.create("b")
    for _ in range(2):  # the answer to the first, say, was lost
        assert nameless.push(X, key="monday").numbers == list(range(300))
    assert nameless.n_points_ == 300


def test_after_an_error_what_came_before_is_there(client, monkeypatch):
    monkeypatch.setattr(_pushing, "_BODY", 4000)
    tree = client.create("a")
    wrong = X.copy()
    wrong[-1, 0] = np.inf
    with pytest.raises(ValueError, match="finite"):
        tree.push(wrong, ids=IDS)  # before anything is sent
    with pytest.raises(RemoteError, match="'T298' stands at rows 14 and 15"):
        tree.push(X, ids=[*IDS[:-1], "T298"])
    assert 0 < tree.n_points_ < 300
    assert tree.push(X, ids=IDS).numbers[-1] == 299
    with pytest.raises(ValueError, match="ids: expected 300 entries, one a row, got 2"):
        tree.push(X, ids=["a", "b"])


def test_the_async_client_pushes(tmp_path, monkeypatch):
    monkeypatch.setattr(_pushing, "_BODY", 4000)

    async def main(url):
        async with ramify.AsyncClient(url) as client:
            tree = await client.create("a")
            return (await tree.push(X, ids=IDS)).numbers, await tree.n_points_

    with running(tmp_path) as url:
        assert asyncio.run(main(url)) == (list(range(300)), 300)
