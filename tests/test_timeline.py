# SPDX-License-Identifier: BSD-3-Clause
"""What became of the clusters of a cut, span by span: as the sets of points say."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.client._calls import calling
from ramify.errors import HistoryError
from ramify.estimators.seam import moments
from ramify.serve import running
from tests.oracles import timeline as oracle
from tests.strategies import examples, seeds

KINDS = {
    "ohac": lambda: ramify.OHAC(history=99),
    "repeats": lambda: ramify.OHAC(history=99, duplicates="count"),
    "few leaves": lambda: ramify.OHAC(history=99, keep=ramify.Budget(12)),
}


def grown(make, seed, steps):
    """A model that is looked at after each step, and its snapshots by version."""
    rng = np.random.default_rng(seed)
    model = make().partial_fit(np.round(rng.normal(size=(9, 2)), 1))
    seen = {model.version: model.hierarchy()}
    for step in steps:
        if step == "forget" and len(model) > 3 and model.keep is None:
            some = model.point_numbers_
            model.forget(rng.choice(some, min(5, len(some) - 3), replace=False).tolist())
        elif step != "forget":
            X = rng.normal(size=(step, 2)) + rng.choice([0.0, 0.0, 8.0, -8.0], size=2)
            model.partial_fit(np.round(X, 1))
        seen[model.version] = model.hierarchy()
    return model, seen


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=seeds(),
    steps=st.lists(st.one_of(st.integers(1, 12), st.just("forget")), max_size=7),
    k=st.integers(1, 6),
    eras=st.integers(1, 9),
)
@settings(max_examples=examples(20), deadline=None)
def test_it_tells_what_became_of_the_sets_of_points(kind, seed, steps, k, eras):
    model, seen = grown(KINDS[kind], seed, steps)
    told = model.past.timeline(k, eras=eras)
    assert len(told) <= eras
    versions = [era.since for era in told[:1]] + [era.version for era in told]
    assert [era.since for era in told] == versions[:-1]
    if len(seen) > 1:
        assert (versions[0], versions[-1]) == (min(seen), model.version)
    for era in told:
        old, new = seen[era.since], seen[era.version]
        expected = oracle.events(old, new, k)
        nodes = [
            {
                node: set(tree.leaf_numbers[tree.leaves(tree.node_of(node))].tolist())
                for node in tree.clusters(n_clusters=min(k, len(tree))).node_ids.tolist()
            }
            for tree in (old, new)
        ]
        found = [
            (
                event.kind,
                *([side[one.node_id] for one in some] for side, some in sides(nodes, event)),
            )
            for event in era.events
        ]
        assert found == expected
        today = set(model.hierarchy().leaf_numbers.tolist())
        groups = [pair for event in era.events for pair in sides(nodes, event)]
        for sets, one in ((sets, one) for sets, some in groups for one in some):
            leaves = sets[one.node_id]
            assert one.point == min(leaves & today or leaves)
        changes = model.past.changes(era.since) if era is told[-1] else None
        if changes is not None:
            assert era.inserted == len(changes.inserted)
            assert era.forgotten == len(changes.forgotten)


def sides(nodes, event):
    return zip(nodes, (event.then, event.now), strict=True)


def test_a_folder_tells_what_an_estimator_tells(tmp_path):
    rng = np.random.default_rng(1)
    model = ramify.OHAC(history=99)
    with ramify.open(tmp_path, ramify.OHAC(history=99)) as tree:
        for i in range(9):
            X = rng.normal(size=(7, 2)) + 9 * (i % 4)
            ids = [f"T{i}-{j}" for j in range(7)]
            assert model.partial_fit(X, ids=ids).version == tree.add(X, ids=ids).version
        one, other = model.past.timeline(3, eras=1), tree.past.timeline(3, eras=1)
        every = tree.past.timeline(3, eras=99)
    assert one[0].events
    assert one[0]._replace(time=None) == other[0]._replace(time=None)
    with ramify.open(tmp_path) as tree:
        assert tree.past.timeline(3, eras=99) == every  # times, too
    for era in (*one, *every):
        assert datetime.now(UTC) - era.time < timedelta(hours=1)


def test_a_server_tells_what_its_folder_tells(tmp_path):
    rng = np.random.default_rng(1)
    with running(tmp_path) as url, ramify.Client(url) as client:
        tree = client.create("a", history=99)
        for i in range(6):
            X = rng.normal(size=(7, 2)) + 9 * (i % 4)
            tree.add(X, payloads=[f"text {i}"] * 7)
        told = tree.past.timeline(3, eras=9)
        shown = client._say(asked())
        points = [one["point"] for era in shown for event in era["events"] for one in event["now"]]
        assert points
        assert {point["payload"] for point in points} <= {f"text {i}" for i in range(6)}
    with ramify.open(tmp_path / "a") as tree:
        assert tree.past.timeline(3, eras=9) == told
        assert any(era.events for era in told)


def asked():
    told = yield calling("GET", "/v1/trees/a/timeline?n_clusters=3&eras=9")
    return told["eras"]


def test_spans_are_even_in_time_whatever_the_clock_did():
    known = [(i, float(when)) for i, when in enumerate([0, 1, 2, 3, 50, 60, 40, 100])]
    assert [version for version, _ in moments(known, 4)] == [0, 3, 4, 6, 7]
    assert moments(known[:1], 5) == known[:1]
    assert moments(known, 1) == [known[0], known[-1]]


def test_what_is_not_remembered_is_refused():
    model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    with pytest.raises(HistoryError, match="set history="):
        model.past.timeline(2)
    with pytest.raises(ValueError, match="n_clusters"):
        model.past.timeline(0)
    assert ramify.OHAC(history=3).fit([[0.0]]).past.timeline(2) == []
