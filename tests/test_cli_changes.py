"""What became of a tree between two files of it, from the command line."""

import csv
import pickle
from collections import Counter
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import OHAC, OTD, PERCH, Budget
from ramify.estimators._between import changes_between
from tests.commands import done, fails
from tests.strategies import examples, seeds

X = np.random.default_rng(5).normal(size=(60, 3))
IDS = [f"T{i}" for i in range(60)]
TOLD = "inserted", "forgotten", "born", "retired", "grown", "shrunk", "rewired", "moved"


def files(tmp_path, **options):
    """A tree, and the same a day later, as files; and what a log says of the two."""
    model = OHAC(history=3, **options).fit(X[:40], ids=IDS[:40])
    version = model.version
    model.save(tmp_path / "monday")
    model.forget(["T3", "T17"])
    model.partial_fit(X[40:], ids=IDS[40:])
    model.edit.rename(model.clusters(n_clusters=5)[0], "first of all")
    model.save(tmp_path / "tuesday")
    return tmp_path / "monday", tmp_path / "tuesday", model.past.changes(version)


def test_files_tell_what_a_log_tells(tmp_path):
    monday, tuesday, expected = files(tmp_path)
    facts = done("changes", monday, tuesday, "--json").json()
    for name in TOLD:
        assert facts[name] == len(getattr(expected, name)) > 0
    assert (facts["since"], facts["version"]) == (expected.since, expected.version)
    assert "forgotten" in done("changes", monday, tuesday).out
    done("changes", monday, tuesday, "-o", tmp_path / "c.csv")
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["change"] for row in rows) == {name: facts[name] for name in TOLD}
    assert {row["id"] for row in rows if row["change"] == "forgotten"} == {"T3", "T17"}
    born = {int(row["id"]) for row in rows if row["change"] == "born"}
    assert born == set(expected.born.tolist())


def test_only_clusters_that_are_not_what_they_were(tmp_path):
    monday, tuesday, _ = files(tmp_path)
    done("changes", monday, tuesday, "-k", 5, "-o", tmp_path / "c.csv")
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    old, new = ramify.load(monday), ramify.load(tuesday)
    then = {frozenset(old.leaves(int(i)).tolist()) for i in old.clusters(n_clusters=5).node_ids}
    found = new.clusters(n_clusters=5)
    groups = [frozenset(new.leaves(int(id)).tolist()) for id in found.node_ids]
    expected = [i for i, points in enumerate(groups) if points not in then]
    assert [int(row["label"]) for row in rows] == expected
    assert [int(row["node_id"]) for row in rows] == found.node_ids[expected].tolist()
    assert [row["name"] for row in rows] == [found.names[i] or "" for i in expected]
    assert done("changes", monday, tuesday, "-k", 5, "--json").json()["changed"] == len(expected)


def test_nothing_changed(tmp_path):
    monday, _, _ = files(tmp_path)
    facts = done("changes", monday, monday, "--json").json()
    told = facts.keys() - {"old", "new", "since", "version"}
    assert {name: facts[name] for name in told} == dict.fromkeys(told, 0)


def test_mistakes(tmp_path):
    monday, tuesday, _ = files(tmp_path)
    assert "later one" in fails("changes", tuesday, monday)
    other = OHAC().fit(X[::-1][:40], ids=IDS[:40])
    other.save(tmp_path / "other")
    assert "two streams" in fails("changes", tmp_path / "other", tuesday)
    OTD().fit(X).save(tmp_path / "otd")
    assert "trees of two streams" in fails("changes", tmp_path / "otd", tuesday)
    assert "leave out -o" in fails("changes", monday, tuesday, "--json", "-o", "x.csv", code=2)


MODELS = {
    "ohac": lambda: OHAC(history=5),
    "perch": lambda: PERCH(history=5),
    "repeats": lambda: OHAC(history=5, duplicates="count"),
    "budget": lambda: OHAC(history=5, keep=Budget(6)),
}


@pytest.mark.parametrize("name", MODELS)
def test_two_states_and_a_log_say_the_same(name):
    @settings(max_examples=examples(20))
    @given(seeds(), st.lists(st.integers(-3, 9), max_size=6))
    def check(seed, steps):
        rows = np.round(np.random.default_rng(seed).normal(size=(80, 2)), 1)
        model = MODELS[name]().fit(rows[:8])
        version, came = model.version, 8
        old = pickle.loads(pickle.dumps(model))
        for step in steps:
            if step > 0:
                model.partial_fit(rows[came : came + step])
                came += step
            elif name != "budget" and len(model) > 3:
                model.forget(model.point_numbers_[:-step])
        found, expected = changes_between(old, model), model.past.changes(version)
        for field in found.__slots__:
            if field in ("leaves", "leaf_weights", "leaf_ids"):  # a log may say more than it has to
                continue
            one, other = (getattr(changes, field) for changes in (found, expected))
            if field == "families":  # of two children either may come first
                one, other = np.sort(one[:, 1:]), np.sort(other[:, 1:])
            np.testing.assert_array_equal(one, other, field)
        after = found.apply(old.hierarchy())
        assert after == model.hierarchy()
        np.testing.assert_array_equal(after.weights, model.hierarchy().weights)

    check()


def test_a_folder_tells_what_became_of_it_since_a_version_or_a_time(tmp_path):
    with ramify.open(tmp_path / "t", OHAC(history=1)) as tree:
        tree.add(X[:40], ids=IDS[:40])
        night, moment = tree.version, datetime.now().isoformat()
        tree.forget(["T3"])
        tree.add(X[40:], ids=IDS[40:])
        expected = tree.past.changes(night)
        dirty = tree.past.dirty(night, n_clusters=5)
    facts = done("changes", tmp_path / "t", "--since", night, "--json").json()
    assert facts == done("changes", tmp_path / "t", "--since", moment, "--json").json()
    assert {name: facts[name] for name in TOLD} == {
        name: len(getattr(expected, name)) for name in TOLD
    }
    done("changes", tmp_path / "t", "--since", moment, "-o", tmp_path / "c.csv")
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows if row["change"] == "inserted"} == set(IDS[40:])
    assert [row["id"] for row in rows if row["change"] == "forgotten"] == ["3"]  # has no name
    done("changes", tmp_path / "t", "--since", night, "-k", 5, "-o", tmp_path / "d.csv")
    with (tmp_path / "d.csv").open() as file:
        assert [int(row["label"]) for row in csv.DictReader(file)] == dirty.labels.tolist()
    assert "NEW" in fails("changes", tmp_path / "t", tmp_path / "u", "--since", night, code=2)
    assert "--since" in fails("changes", tmp_path / "t", code=2)
    assert "2026-11-18T09:00" in fails("changes", tmp_path / "t", "--since", "monday", code=2)
    assert "is younger" in fails("changes", tmp_path / "t", "--since", "2001-01-01")


def test_clusters_keep_their_ids_from_day_to_day(tmp_path):
    X = np.random.default_rng(2).normal(size=(60, 2)) + 20 * np.eye(2)[[0, 1] * 30]
    tree, rows = tmp_path / "tree.ramify", tmp_path / "rows.csv"
    np.savetxt(rows, X[:50], delimiter=",")
    done("fit", rows, "-o", tree)
    ids, cut = [], ("-k", 5, "--stable")
    for day in range(2):
        told = list(csv.DictReader(done("cut", tree, *cut).out.splitlines()))
        model = ramify.load(tree)
        assert [int(row["stable_id"]) for row in told] == model.stable_labels(n_clusters=5).tolist()
        assert done("cut", tree, *cut).out == done("cut", tree, *cut).out
        ids.append([int(row["stable_id"]) for row in told])
        if day == 0:
            np.savetxt(rows, X[50:], delimiter=",")
            done("update", tree, rows)
            model = ramify.load(tree)
            now = list(csv.DictReader(done("assign", tree, rows, *cut).out.splitlines()))
            known = model.assign(X[50:], n_clusters=5).stable_ids.tolist()
            assert [int(row["stable_id"] or -1) for row in now] == known
    assert set(ids[0]) & set(ids[1])
    sticky = ramify.load(tree).stable_labels(n_clusters=5, stickiness=3.0)
    told = list(csv.DictReader(done("cut", tree, *cut, "--stickiness", 3).out.splitlines()))
    assert [int(row["stable_id"]) for row in told] == sticky.tolist()
    labels = [int(row["label"]) for row in told]
    assert len(set(zip(labels, sticky, strict=True))) == len(set(labels)) == 5
    assert list(dict.fromkeys(labels)) == [0, 1, 2, 3, 4]
    assert (ramify.load(tree).stable_labels(n_clusters=5, stickiness=3.0) == sticky).all()
    assert "--stable goes with one cut" in fails("cut", tree, *cut, "-k", 3, code=2)
    assert "--stable is about a cut" in fails("assign", tree, rows, "--stable", code=2)
    model.edit.cannot_link(0, 1)
    model.save(tree)
    assert "no ids that stay" in fails("cut", tree, *cut)
    model.hierarchy().save(tree)
    assert "a hierarchy alone" in fails("cut", tree, *cut)
