# SPDX-License-Identifier: BSD-3-Clause
"""Streams that never end: forget, windows, ages, weights and repeats, as users see them."""

import io
import pickle
import re
import tempfile
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import ramify
from ramify import HAC, OHAC, OTD, PERCH, Budget, Last, NaiveHAC, NaiveNN, Younger
from tests.strategies import examples, seeds

CHANGING = [OHAC, OTD, NaiveNN, PERCH]
every_changing = pytest.mark.parametrize("Estimator", CHANGING)
every_forgetting = pytest.mark.parametrize("Estimator", [*CHANGING, NaiveHAC, HAC])

X = np.random.default_rng(0).normal(size=(60, 3))


def same_tree(a, b):
    """Equal trees over points of equal numbers, with equal names."""
    a, b = a.hierarchy(), b.hierarchy()
    names = a.names is b.names is None or a.names.tolist() == b.names.tolist()
    return a == b and a.point_numbers.tolist() == b.point_numbers.tolist() and names


# --- forget ---------------------------------------------------------------------------


@every_forgetting
def test_who_is_forgotten_is_gone(Estimator):
    model = Estimator(n_clusters=3).fit(X, ids=[f"p{i}" for i in range(60)])
    gone = [f"p{i}" for i in (0, 59, 30, 31, 7)]
    assert model.forget(gone) == 5
    assert model.forget("p1") == 1
    left = [i for i in range(60) if i not in (0, 59, 30, 31, 7, 1)]
    assert model.ids_.tolist() == model.hierarchy().names.tolist() == [f"p{i}" for i in left]
    assert model.point_numbers_.tolist() == model.hierarchy().point_numbers.tolist() == left
    assert len(model) == model.n_points_ == len(model.labels_) == 54
    np.testing.assert_array_equal(model.points(), X[left])
    assert model.hierarchy().place_of("p2") == 0
    assert model.number_of("p2") == 2
    model.check()
    assert set(model.nearest(X)[0].tolist()) == set(left)
    for wrong in ("p0", ["p2", "p0"], 2):
        with pytest.raises(KeyError, match="no point has the id"):
            model.forget(wrong)
    with pytest.raises(ValueError, match="named twice"):
        model.forget(["p2", "p2"])
    assert len(model) == 54


@every_forgetting
def test_points_without_ids_go_by_number(Estimator):
    model = Estimator(n_clusters=3).fit(X)
    assert model.forget(np.array([3, 4])) == model.forget([5, 6]) == 2
    assert model.forget(7) == 1
    assert model.point_numbers_.tolist() == [i for i in range(60) if i not in range(3, 8)]
    for wrong in (3, -1, 60):
        with pytest.raises(KeyError, match="there is no point"):
            model.forget(wrong)
    with pytest.raises(TypeError, match="has no ids"):
        model.forget("p3")


@pytest.mark.parametrize("Estimator", [HAC, NaiveHAC])
def test_hac_of_who_is_left(Estimator):
    model = Estimator().fit(X)
    model.forget(np.arange(0, 60, 2))
    assert model.hierarchy() == Estimator().fit(X[1::2]).hierarchy()


@every_forgetting
def test_an_id_can_come_again_and_everybody_may_leave(Estimator):
    model = Estimator().fit(X[:3], ids=["a", "b", "c"])
    model.forget(["a", "b", "c"])
    assert len(model) == 0
    if Estimator is HAC:
        return
    model.partial_fit(X[:2], ids=["c", "a"])
    assert model.ids_.tolist() == ["c", "a"]
    assert model.point_numbers_.tolist() == [3, 4]
    assert model.insert(X[2], id="a", replace=True) == 5
    assert model.ids_.tolist() == ["c", "a"]
    np.testing.assert_array_equal(model.points(), X[[0, 2]])


def test_a_refused_row_replaces_nobody():
    model = OHAC().fit(X, ids=range(60))
    for bad in ([np.nan, 0, 0], [1.0], "x"):
        with pytest.raises((ValueError, TypeError)):
            model.insert(bad, id=7, replace=True)
    assert model.number_of(7) == 7


def test_what_only_grows_says_so():
    proof = OTD(metric="dot", certify=True).fit(np.abs(X))
    with pytest.raises(ValueError, match="forget: a certificate"):
        proof.forget(0)
    with pytest.raises(ValueError, match="certificate is for trees of single points"):
        OTD(metric="dot", certify=True, duplicates="count").fit(np.abs(X))


# --- windows --------------------------------------------------------------------------


@every_changing
def test_a_window_is_forgetting_the_oldest(Estimator):
    @settings(max_examples=examples(15))
    @given(seeds(), st.integers(1, 40), st.lists(st.integers(1, 60), min_size=1, max_size=5))
    def check(seed, window, sizes):
        rows = np.random.default_rng(seed).normal(size=(sum(sizes), 2))
        windowed, by_hand = Estimator(keep=Last(window)), Estimator()
        at = 0
        for size in sizes:
            windowed.partial_fit(rows[at : at + size], ids=range(at, at + size))
            at += size
        for i, row in enumerate(rows):
            if i >= window:
                by_hand.forget(i - window)
            by_hand.insert(row, id=i)
        assert len(windowed) == min(window, len(rows))
        assert same_tree(windowed, by_hand)
        assert windowed.ids_.tolist() == by_hand.ids_.tolist()

    check()


@every_changing
def test_single_inserts_keep_to_the_window(Estimator):
    one, batch = Estimator(keep=Last(20)), Estimator(keep=Last(20))
    assert [one.insert(row, id=i) for i, row in enumerate(X)] == list(range(60))
    batch.fit(X, ids=range(60))
    assert same_tree(one, batch)
    one.keep = Last(5)
    one.insert(X[0], id=100)
    assert one.ids_.tolist() == [56, 57, 58, 59, 100]
    one.keep = None
    one.insert(X[0], id=101)
    assert len(one) == 6


@pytest.mark.parametrize(("metric", "d"), [("sqeuclidean", 20), ("sqeuclidean", 200), ("dot", 20)])
def test_what_is_remembered_of_paths_says_nothing_wrong_about_who_is_forgotten(metric, d):
    """Linkages are kept while points go; whoever is read from a file knows none."""
    rows = np.abs(np.random.default_rng(4).normal(size=(240, d))).astype(np.float32)
    model = OHAC(metric=metric).partial_fit(rows[:150])
    for i, row in enumerate(rows[150:]):
        forgetful = pickle.loads(pickle.dumps(model))
        for one in (model, forgetful):
            one.forget((7 * i) % 150 if i < 20 else 150 + i - 20)
            one.insert(row)
        assert np.array_equal(model.hierarchy().children, forgetful.hierarchy().children)
        assert np.array_equal(model.hierarchy().node_ids, forgetful.hierarchy().node_ids)


def test_points_forgotten_by_hand_do_not_count_in_the_window():
    model = OHAC(keep=Last(10)).fit(X[:10])
    model.forget([2, 3, 9])
    model.partial_fit(X[10:13])
    assert model.point_numbers_.tolist() == [0, 1, 4, 5, 6, 7, 8, 10, 11, 12]
    model.partial_fit(X[13:16])
    assert model.point_numbers_.tolist() == [5, 6, 7, 8, 10, 11, 12, 13, 14, 15]


# --- ages -----------------------------------------------------------------------------


def by_hand(times, max_age, window=None):
    """Who is there after each of these times, and which rows came too late."""
    there, late, newest, number = {}, [], -np.inf, 0
    for i, time in enumerate(times):
        newest = max(newest, time)
        if time < newest - max_age:
            late.append(i)
            continue
        there = {n: t for n, t in there.items() if t >= newest - max_age}
        while window is not None and len(there) >= window:
            del there[min(there)]
        there[number] = time
        number += 1
    return sorted(there), late


@every_changing
@pytest.mark.parametrize("window", [None, 7])
def test_who_is_too_old_leaves_and_who_is_late_does_not_come(Estimator, window):
    @settings(max_examples=examples(20))
    @given(
        st.lists(st.integers(0, 60), min_size=1, max_size=50),
        st.integers(1, 20),
        st.lists(st.integers(1, 49), max_size=3),
    )
    def check(steps, max_age, edges):
        times = np.array(steps, dtype=float) + np.arange(len(steps)) / 2
        there, late = by_hand(times, max_age, window)
        rows = np.random.default_rng(len(steps)).normal(size=(len(steps), 2))
        whole, parts = (Estimator(keep=Younger(max_age, most=window)) for _ in range(2))
        whole.fit(rows, times=times)
        for part in np.split(np.arange(len(steps)), sorted(edges)):
            if len(part):
                parts.partial_fit(rows[part], times=times[part])
        for model in (whole, parts):
            assert model.point_numbers_.tolist() == there
            assert model.past.n_late == len(late)
            model.check()
        assert same_tree(whole, parts)

    check()


def test_dates_and_spans_of_time():
    start = np.datetime64("2026-03-01T12:00")
    model = OHAC(keep=Younger(timedelta(days=2)))
    model.partial_fit(X[:5], times=start + np.arange(5) * np.timedelta64(12, "h"))
    assert len(model) == 5
    model.insert(X[5], time=start + np.timedelta64(3, "D"))
    assert model.point_numbers_.tolist() == [2, 3, 4, 5]
    assert model.insert(X[6], time=start) == -1
    assert model.past.n_late == 1
    with pytest.raises(TypeError, match="numbers and dates; use one"):
        model.insert(X[6], time=3.0)
    with pytest.raises(TypeError, match="times must be dates"):
        OHAC(keep=Younger(timedelta(1))).fit(X[:1], times=[1.0])
    with pytest.raises(TypeError, match="give a timedelta"):
        OHAC(keep=Younger(3.0)).fit(X[:1], times=[start])


@pytest.mark.parametrize(
    ("options", "times", "error", "message"),
    [
        ({"keep": Younger(1.0)}, None, ValueError, "every row needs its time"),
        ({}, [1.0, 2.0], ValueError, "set keep=ramify.Younger"),
        ({"keep": Younger(1.0)}, [1.0], ValueError, "times: expected 2, one for each row"),
        ({"keep": Younger(1.0)}, [1.0, np.nan], ValueError, "times: row 1 is not finite"),
        ({"keep": Younger(1.0)}, ["a", "b"], TypeError, "times: expected numbers, or dates"),
        ({"keep": 3}, None, TypeError, "keep=3: expected None or ramify.Last"),
        ({"keep": "last"}, None, ValueError, "keep='last': expected None or ramify.Last"),
        ({"duplicates": "drop"}, None, ValueError, "duplicates='drop' is not offered"),
    ],
)
def test_limits_that_make_no_sense(options, times, error, message):
    model = OHAC(**options)
    with pytest.raises(error, match=message):
        model.fit(X[:2], times=times)
    assert len(model) == 0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Younger(0.0), ValueError, "age=0.0: expected a finite number above 0"),
        (lambda: Younger(timedelta(0)), ValueError, "above 0"),
        (lambda: Younger(timedelta(days=999999)), ValueError, "less than 292 years"),
        (lambda: Younger(np.timedelta64(1, "M")), TypeError, "days or smaller units"),
        (lambda: Younger(None), TypeError, "age=None: expected a number or a timedelta"),
        (lambda: Younger(1.0, most=0), ValueError, "most=0: expected at least 1"),
        (lambda: Last(0), ValueError, "n=0: expected at least 1"),
        (lambda: Last(1.5), TypeError, "n=1.5: expected an int"),
        (lambda: Budget(1), ValueError, "leaves=1: expected at least 2"),
        (lambda: Budget(5, members=1), TypeError, "members=1: expected True or False"),
    ],
)
def test_a_choice_that_makes_no_sense_cannot_be_made(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "far",
    [
        np.array(["2026-01-01", "3000-01-01"], "datetime64[D]"),
        np.array(["2026-01-01", "9999-12-31"], "datetime64[us]"),
        np.array(["2026-01-01", "1500-01-01"], "datetime64[s]"),
        [datetime(2026, 1, 1), datetime(9999, 12, 31)],
    ],
)
def test_dates_beyond_what_nanoseconds_count_were_of_another_century(far):
    model = OHAC(keep=Younger(timedelta(days=9)))
    with pytest.raises(ValueError, match=r"times: row 1 is .* the years 1678 to 2261"):
        model.fit(X[:2], times=far)
    assert len(model) == 0


def test_points_without_times_cannot_grow_old():
    model = OHAC().fit(X)
    model.keep = Younger(3.0)
    with pytest.raises(ValueError, match="points so far have no times"):
        model.partial_fit(X, times=np.arange(60))
    assert len(model) == 60


# --- weights --------------------------------------------------------------------------


def test_hac_of_weighted_rows_is_hac_of_copies():
    weights = np.random.default_rng(1).integers(1, 5, size=60)
    weighted = HAC().fit(X, sample_weight=weights)
    copies = HAC().fit(np.repeat(X, weights, axis=0))
    found = weighted.clusters(n_clusters=7)
    expected = copies.clusters(n_clusters=7)
    assert found.sizes.tolist() == expected.sizes.tolist()
    np.testing.assert_allclose(found.means, expected.means, atol=1e-12)
    np.testing.assert_allclose(found.heights, expected.heights, atol=1e-12)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0], ValueError, "sample_weight: expected 2, one for each row"),
        ([1.0, -0.5], ValueError, "row 1 is -0.5; expected numbers from 0"),
        ([1.0, np.nan], ValueError, "row 1 is nan"),
        (["a", "b"], TypeError, "sample_weight: expected numbers"),
    ],
)
def test_weights_that_make_no_sense(weights, error, message):
    for Estimator in (OHAC, HAC):
        with pytest.raises(error, match=message):
            Estimator().fit(X[:2], sample_weight=weights)


# --- everything at once -----------------------------------------------------------------


class Changes(RuleBasedStateMachine):
    """Insert, forget, limits, repeats, files: beside a plain list of who is there."""

    @initialize(
        Estimator=st.sampled_from(CHANGING),
        duplicates=st.sampled_from(["keep", "count"]),
        aging=st.booleans(),
        named=st.booleans(),
    )
    def begin(self, Estimator, duplicates, aging, named):
        self.model = Estimator(duplicates=duplicates, keep=Younger(20.0) if aging else None)
        self.aging, self.named, self.window = aging, named, None
        self.rows, self.there, self.times = [], [], {}
        self.now, self.count = 0.0, 0
        self.pool = np.random.default_rng(7).normal(size=(9, 2))

    def _expire(self):
        newest = max(self.times.values())
        self.there = [i for i in self.there if self.times[i] >= newest - 20]

    @rule(which=st.lists(st.integers(0, 8), min_size=1, max_size=6), step=st.floats(0, 4))
    def insert(self, which, step):
        X = self.pool[which]
        ids = [f"p{self.count + i}" for i in range(len(X))] if self.named else None
        times = self.now + step * np.arange(1, len(X) + 1) if self.aging else None
        self.model.partial_fit(X, ids=ids, times=times)
        for i, row in enumerate(X):
            if self.aging:
                self.times[self.count] = self.now = float(times[i])
                self._expire()
            if self.window is not None:
                del self.there[: max(len(self.there) - self.window + 1, 0)]
            self.rows.append(row)
            self.there.append(self.count)
            self.count += 1

    @precondition(lambda self: self.there)
    @rule(place=st.floats(0, 1))
    def forget(self, place):
        gone = self.there.pop(int(place * (len(self.there) - 1)))
        assert self.model.forget(f"p{gone}" if self.named else gone) == 1

    @rule(window=st.sampled_from([None, 1, 3, 8]))
    def limit(self, window):
        self.window = window
        if self.aging:
            self.model.keep = Younger(20.0, most=window)
        else:
            self.model.keep = window and Last(window)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(f"{folder}/tree.ramify")
            self.model = ramify.load(f"{folder}/tree.ramify")

    @invariant()
    def recount(self):
        if not hasattr(self, "model"):
            return
        assert len(self.model) == len({tuple(self.rows[i]) for i in self.there}) or (
            self.model.duplicates == "keep" and len(self.model) == len(self.there)
        )
        if not self.there:
            return
        model = self.model
        assert model.point_numbers_.tolist() == self.there
        model.check()
        if self.named:
            assert model.ids_.tolist() == [f"p{i}" for i in self.there]
        leaves = model._live.leaf_of(model.point_numbers_, by_first=True).tolist()
        assert len(set(leaves)) == len(model)
        for i, leaf in zip(self.there, leaves, strict=True):
            assert tuple(self.rows[i]) == tuple(self.rows[leaf])
        k = min(3, len(model))
        clusters, labels = model.clusters(n_clusters=k), self._labels(k)
        assert len(labels) == len(self.there)
        assert np.bincount(labels, minlength=k).tolist() == clusters.sizes.tolist()
        for label in range(k):
            of = zip(self.there, labels, strict=True)
            mine = [self.rows[i] for i, found in of if found == label]
            np.testing.assert_allclose(clusters.means[label], np.mean(mine, axis=0), atol=1e-9)

    def _labels(self, k):
        self.model.n_clusters = k
        labels = self.model.labels_.tolist()
        self.model.n_clusters = None
        return labels


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=examples(25), stateful_step_count=25)


# --- what is kept, and what can change ------------------------------------------------------


def test_files_and_pickles_remember_how_many_came_late(tmp_path):
    model = OHAC(keep=Younger(5.0)).fit(X[:4], times=[0.0, 9.0, 1.0, 2.0])
    assert model.past.n_late == 2
    model.save(tmp_path / "t")
    for again in (ramify.load(tmp_path / "t"), pickle.loads(pickle.dumps(model))):
        assert again.past.n_late == 2
        assert again.partial_fit(X[4:6], times=[0.0, 20.0]).past.n_late == 3


def test_limits_can_be_lifted_and_changed(tmp_path):
    OHAC(keep=Last(10)).fit(X[:20]).save(tmp_path / "t")
    model = ramify.load(tmp_path / "t")
    model.keep = None
    assert len(model.partial_fit(X[20:30])) == 20
    budget = OHAC(keep=Budget(10)).fit(X[:20])
    budget.save(tmp_path / "b")
    budget = ramify.load(tmp_path / "b")
    budget.keep = Budget(25)
    assert len(budget.partial_fit(X[20:30])) == 20
    budget.save(tmp_path / "b")
    budget = ramify.load(tmp_path / "b")
    assert len(budget.partial_fit(X[30:])) == 25
    budget.keep = Budget(4)
    budget.insert(X[0])
    assert (len(budget), budget.n_points_) == (4, 61)
    budget.check()
    budget.keep = None
    with pytest.raises(
        ValueError, match=r"keep was Budget\(leaves=4, members=True\) when the first point"
    ):
        budget.insert(X[0])


def test_unnamed_leaves_are_called_by_their_numbers_once_points_have_left():
    model = OHAC().fit(X[:6])
    before = model.hierarchy()
    assert before.to_pandas().columns.tolist()[-1] == "is_leaf"
    model.forget([0, 2])
    tree = model.hierarchy()
    left = [1, 3, 4, 5]
    assert sorted(int(n) for n in re.findall(r"\d+", tree.to_newick(lengths=False))) == left
    assert tree.to_pandas()["name"].dropna().tolist() == left
    assert tree.to_arrow()["name"].to_pylist()[:4] == left
    graph = tree.to_networkx()
    assert [graph.nodes[v]["name"] for v in range(4)] == left
    assert {int(n) for n in re.findall(r'label="(\d+)"', tree.to_dot())} == set(left)
    file = io.BytesIO()
    tree.to_graphml(file)
    assert re.findall(rb'"name">(\d+)<', file.getvalue())[::-1] == [str(i).encode() for i in left]
