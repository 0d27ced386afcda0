# SPDX-License-Identifier: BSD-3-Clause
"""Folders of files into shards: in a fixed order, each row once, wherever a reader was cut off."""

import numpy as np
import pytest

from ramify.ray import ShardedOHAC
from ramify.ray._crew import LocalCrew
from ramify.ray._plan import Plan
from ramify.ray._router import Router

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

#: Not in the order of their names, and one in a folder of its own.
DAYS = {"day2.parquet": 70, "day1.parquet": 150, "more/day0.parquet": 90, "day3.parquet": 1}
OPTIONS = {"n_shards": 2, "block": 32, "frontier": 8}


def write(folder, names=DAYS, first=0):
    """Files of rows with ids, texts and weights; the rows in the order of the names."""
    (folder / "more").mkdir(parents=True, exist_ok=True)
    rows = {}
    for name in sorted(names):
        rng = np.random.default_rng(len(name) + names[name])
        X = rng.normal(size=(names[name], 3)).astype(np.float32)
        rows[name] = X, [f"{name}#{i}" for i in range(len(X))]
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 3)
        columns = {
            "id": rows[name][1],
            "vector": vectors,
            "text": [f"row {i}" for i in range(len(X))],
        }
        pq.write_table(pa.table({**columns, "n": np.arange(len(X)) % 3 + 1.0}), folder / name)
    return rows


def sharded(folder):
    return ShardedOHAC(folder=folder, engine="local", **OPTIONS)


NAMED = {"ids": "id", "payloads": "text", "sample_weight": "n"}


@pytest.mark.parametrize("named", [NAMED, {"field": "vector"}])
def test_a_folder_of_files_gives_the_tree_of_their_rows_in_the_order_of_the_names(named, tmp_path):
    rows = write(tmp_path / "days")
    with sharded(tmp_path / "a") as model:
        assert model.add_files(tmp_path / "days", **named) == sum(DAYS.values())
        assert model.marks == {f"days/{name}": str(n) for name, n in DAYS.items()}
        assert model.add_files(tmp_path / "days", **named) == 0
        found = model.digests()
    with sharded(tmp_path / "b") as model:
        for X, ids in rows.values():
            texts, weights = [f"row {i}" for i in range(len(X))], np.arange(len(X)) % 3 + 1.0
            along = {"ids": ids, "payloads": texts, "sample_weight": weights}
            model.add(X, **(along if "ids" in named else {}))
        assert model.digests() == found
        assert model.marks == {}


def test_files_that_come_later_and_rows_that_are_known(tmp_path):
    write(tmp_path / "days", {"day2.parquet": 70})
    with sharded(tmp_path / "a") as model:
        model.add_files(tmp_path / "days", **NAMED)
        write(tmp_path / "days", {"day1.parquet": 20, "day3.parquet": 30})
        assert model.add_files(tmp_path / "days", **NAMED) == 50
        assert len(model) == 120
        (tmp_path / "days").rename(tmp_path / "elsewhere")
        assert model.add_files(tmp_path / "elsewhere", **NAMED) == 0  # their ids are known
        assert model.marks["elsewhere/day3.parquet"] == "30"
        write(tmp_path / "elsewhere", {"day2.parquet": 9})
        with pytest.raises(ValueError, match="has 9 rows; 70 of it were read before"):
            model.add_files(tmp_path / "elsewhere", **NAMED)
        (tmp_path / "none").mkdir()
        with pytest.raises(ValueError, match="no files that end in"):
            model.add_files(tmp_path / "none")


class Crash(BaseException):
    """Nothing that anybody would catch."""


def cut_off(folder, after, monkeypatch, **source):
    """Read files into shards until the router dies, before an operation reaches a shard."""
    left = after
    carry_out = Router._carry_out

    def doomed(router, pending):
        nonlocal left
        left -= 1
        if left < 0:
            raise Crash
        carry_out(router, pending)

    model = sharded(folder)
    with monkeypatch.context() as patched:
        patched.setattr(Router, "_carry_out", doomed)
        with pytest.raises(Crash):
            model.add_files(**source)
    router = model._port().router
    for shard in router._crew.shards.values():
        shard._tree._writer.stop()
        shard._tree._lock.release()
    router._head.close()


@pytest.mark.parametrize("named", [NAMED, {"field": "vector"}])
@pytest.mark.parametrize("after", range(0, 14, 2))
def test_a_reader_that_is_cut_off_goes_on_where_it_was(named, after, tmp_path, monkeypatch):
    write(tmp_path / "days")
    with sharded(tmp_path / "b") as model:
        model.add_files(tmp_path / "days", **named)
        wanted = model.digests()

    cut_off(tmp_path / "a", after, monkeypatch, source=tmp_path / "days", **named)
    with sharded(tmp_path / "a") as again:
        again.add_files(tmp_path / "days", **named)
        assert again.digests() == wanted
        assert again.marks == {f"days/{name}": str(n) for name, n in DAYS.items()}


@pytest.mark.parametrize("after", [1, 3])
def test_a_file_that_grew_after_a_crash_was_not_read_twice(after, tmp_path, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(300, 2))
    text = [f"{x:.6f},{y:.6f}\n" for x, y in rows.tolist()]
    file = tmp_path / "rows.csv"
    file.write_text("x,y\n" + "".join(text[:200]))
    cut_off(tmp_path / "a", after, monkeypatch, source=file)
    file.write_text("x,y\n" + "".join(text))
    with sharded(tmp_path / "a") as model, sharded(tmp_path / "b") as wanted:
        model.add_files(file)
        wanted.add_files(file)
        assert len(model) == 300
        assert model.digests() == wanted.digests()


def test_marks_are_with_their_rows_or_not_at_all(tmp_path):
    plan = Plan(2, {}, frontier=8, block=32)
    rows = np.random.default_rng(0).normal(size=(100, 3))
    router = Router(tmp_path, plan, LocalCrew(tmp_path, {}))
    router.insert(rows[:50], key="a", marks={"mail": "50"})
    router.insert(rows[:50], key="a", marks={"mail": "51"})  # answered before: the mark alone
    assert router.marks() == {"mail": "51"}
    router.insert(rows[:0], key="b", marks={"mail": "60", "chat": "1"})
    router.close()
    router = Router(tmp_path, plan, LocalCrew(tmp_path, {}))
    assert router.marks() == {"mail": "60", "chat": "1"}
    assert router.number == 50
    router.close()
