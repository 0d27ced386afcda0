# SPDX-License-Identifier: BSD-3-Clause
"""Edits by people: who belongs together, who does not, what goes where, and names."""

import pickle
import tempfile

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import ramify
from ramify import HAC, OHAC, OTD, PERCH, Budget, Last, NaiveNN
from tests.every import leaf_of
from tests.oracles.edits import EditedOhac
from tests.oracles.recount import core_of, recount_moments
from tests.strategies import examples

X = np.random.default_rng(0).normal(size=(60, 3))


def numbers_below(model, id):
    return tuple(model.leaves(id).tolist())


class Edited(RuleBasedStateMachine):
    """Edits between inserts, forgetting and saving; after each step all is counted again."""

    @initialize(
        seed=st.integers(0, 2**32 - 1),
        linkage=st.sampled_from(["average", "ward", "centroid"]),
        k=st.sampled_from([1, 1, 3]),
        history=st.sampled_from([0, 5]),
        window=st.sampled_from([None, None, 7, 12]),
        columns=st.sampled_from([3, 16]),  # of so many, paths are long, and have a way of their own
    )
    def begin(self, seed, linkage, k, history, window, columns):
        self.X = np.random.default_rng(seed).normal(size=(400, columns))
        self.model = OHAC(
            linkage=linkage, n_neighbors=k, history=history, keep=window and Last(window)
        )
        self.oracle = EditedOhac(self.X, linkage, k)
        self.window = len(self.X) if window is None else window
        self.living = []
        self.next = 0
        self.apart = set()
        self.insert(4)

    def pick(self, data, label):
        return data.draw(st.sampled_from(self.model.point_numbers_.tolist()), label=label)

    @rule(count=st.integers(1, 5))
    def insert(self, count):
        for _ in range(min(count, len(self.X) - self.next)):
            self.model.insert(self.X[self.next])
            self.come(self.next)
            self.next += 1

    def come(self, i):
        """A point comes, and the oldest makes way for it if the window is full."""
        if len(self.living) == self.window:
            self.leave(self.living[0])
        self.oracle.insert(i)
        self.living.append(i)

    def leave(self, i):
        self.oracle.forget(i)
        self.living.remove(i)
        self.apart = {pair for pair in self.apart if i not in pair}

    @rule(count=st.integers(2, 12))
    def insert_batch(self, count):
        rows = range(self.next, min(self.next + count, len(self.X)))
        if len(rows):
            self.model.partial_fit(self.X[rows.start : rows.stop])
        for i in rows:
            self.come(i)
        self.next = max(self.next, rows.stop)

    @precondition(lambda self: len(self.model) > 2)
    @rule(data=st.data())
    def forget(self, data):
        i = self.pick(data, "forgotten")
        self.model.forget(i)
        self.leave(i)

    @rule(data=st.data())
    def must_link(self, data):
        i, j = self.pick(data, "one"), self.pick(data, "other")
        if i == j:
            return
        version = self.model.version
        together = {i, j}
        for group in self.oracle.marked("linked"):
            if i in group or j in group:
                together |= set(group)
        try:
            if any(set(pair) <= together for pair in self.apart):
                raise ValueError
            self.oracle.must_link(i, j)
        except ValueError:
            with pytest.raises(ValueError, match=r"must be apart|held below"):
                self.model.edit.must_link(i, j)
            assert self.model.version == version
            return
        self.model.edit.must_link(i, j)

    @rule(data=st.data())
    def cannot_link(self, data):
        i, j = self.pick(data, "one"), self.pick(data, "other")
        if i == j:
            return
        if any(i in group and j in group for group in self.oracle.marked("linked")):
            with pytest.raises(ValueError, match="linked"):
                self.model.edit.cannot_link(i, j)
            return
        self.model.edit.cannot_link(i, j)
        self.apart.add((min(i, j), max(i, j)))

    @rule(data=st.data())
    def unlink(self, data):
        groups = [group[:2] for group in self.oracle.marked("linked")]
        pairs = sorted(groups) + sorted(self.apart)
        if not pairs:
            return
        i, j = data.draw(st.sampled_from(pairs))
        self.model.edit.unlink(j, i)
        if (i, j) in self.apart:
            self.apart.remove((i, j))
        else:
            self.oracle.unlink(i)

    @rule(data=st.data())
    def move(self, data):
        nodes = sorted(self.oracle.clusters()) + [(i,) for i in self.model.point_numbers_.tolist()]
        node, under = (data.draw(st.sampled_from(nodes), label=what) for what in ("node", "under"))
        ids = [self.id_of(one) for one in (node, under)]
        try:
            self.oracle.move(*(self.oracle.node(frozenset(one)) for one in (node, under)))
        except ValueError:
            with pytest.raises(ValueError, match=r"nowhere to go|below itself|linked with"):
                self.model.edit.move(*ids)
            return
        self.model.edit.move(ids[0], under=ids[1])
        if ids[1] >= 0:  # the cluster that people meant has the points now
            assert set(node) | set(under) == set(numbers_below(self.model, ids[1]))
            assert ids[1] in self.model.edit.list().held

    def id_of(self, points):
        if len(points) == 1:
            return -1 - points[0]
        tree = self.model.hierarchy()
        for row, id in enumerate(tree.node_ids.tolist()):
            below = tree.point_numbers[tree.leaves(len(tree) + row)]
            if tuple(sorted(below.tolist())) == points:
                return id
        raise AssertionError

    @rule(data=st.data())
    def release(self, data):
        held = sorted(self.oracle.marked("held"))
        if held:
            points = data.draw(st.sampled_from(held))
            self.model.edit.release(self.id_of(points))
            self.oracle.release(self.oracle.node(frozenset(points)))

    @rule(data=st.data())
    def rename(self, data):
        id = data.draw(st.sampled_from(self.model.hierarchy().node_ids.tolist()))
        text = data.draw(st.sampled_from(["refunds", "", "Größe ∞", None]))
        self.model.edit.rename(id, text)

    @precondition(lambda self: len(self.model) > 2)
    @rule(m=st.sampled_from([None, 3, 4, 6, 9]))
    def polish(self, m):
        """Linked and held nodes have the points, the marks and the ids that they had."""
        said = self.model.edit.list()
        held = {id: numbers_below(self.model, id) for id in said.held.tolist()}
        changed = self.model.polish(m)
        assert {id: numbers_below(self.model, id) for id in held} == held
        if changed:
            self.oracle.take_shape(self.model.hierarchy())

    @rule(how=st.sampled_from(["file", "pickle"]))
    def save_and_load(self, how):
        if how == "pickle":
            self.model = pickle.loads(pickle.dumps(self.model))
            return
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(f"{folder}/tree.ramify")
            self.model = ramify.load(f"{folder}/tree.ramify")

    @invariant()
    def is_what_the_page_says(self):
        model, oracle = self.model, self.oracle
        tree = model.hierarchy()
        found = set()
        for row in range(len(tree) - 1):
            below = tree.point_numbers[tree.leaves(len(tree) + row)]
            found.add(tuple(sorted(below.tolist())))
        assert found == oracle.clusters()
        said = model.edit.list()
        assert {numbers_below(model, id) for id in said.held.tolist()} == oracle.marked("held")
        assert {tuple(group.tolist()) for group in said.linked} == oracle.marked("linked")
        assert {tuple(pair) for pair in said.apart.tolist()} == self.apart

    @invariant()
    def is_counted_right(self):
        core = core_of(self.model)
        core.check()
        children, heights, _ = core.snapshot()
        _, means, ssd = core.summaries()
        n = len(children) + 1
        recount_moments(core.points(), children, means, ssd, np.arange(n, 2 * n - 1))
        linked = [set(group) for group in self.oracle.marked("linked")]
        tree = self.model.hierarchy()
        for row, height in enumerate(heights.tolist()):
            below = set(tree.point_numbers[tree.leaves(n + row)].tolist())
            assert (height == 0) == any(below <= group for group in linked)

    @invariant()
    def can_be_saved_and_read_again(self):
        again = pickle.loads(pickle.dumps(self.model))  # the arrays of a file, checked as there
        again.check()
        assert again.hierarchy() == self.model.hierarchy()
        for one, other in zip(again.edit.list(), self.model.edit.list(), strict=True):
            assert str(one) == str(other)

    @invariant()
    def cuts_keep_to_it_where_they_can(self):
        model, numbers = self.model, self.model.point_numbers_.tolist()
        blocks = len(numbers) - sum(len(group) - 1 for group in self.oracle.marked("linked"))
        for k in {1, 2, (1 + blocks) // 2, blocks, len(numbers)} - {0}:
            if k > len(numbers):
                continue
            broken = model.edit.violations(n_clusters=k)
            assert not broken.linked or k > blocks
            labels = dict(zip(numbers, model.hierarchy().cut(n_clusters=k).tolist(), strict=True))
            assert {tuple(pair) for pair in broken.apart.tolist()} == {
                (i, j) for i, j in self.apart if labels[i] == labels[j]
            }
            try:
                labels = dict(zip(numbers, model.cut(n_clusters=k).tolist(), strict=True))
            except ValueError as error:
                assert "takes" in str(error)  # noqa: PT017
                continue
            assert len(set(labels.values())) == k
            assert all(labels[i] != labels[j] for i, j in self.apart)


Edited.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=25)
test_edits_between_everything_else = Edited.TestCase


# --- what a state machine does not come across ------------------------------------------


def test_a_long_batch_keeps_to_what_was_said():
    rows = np.random.default_rng(1).normal(size=(6000, 2))
    one = OHAC().fit(rows[:1000])
    one.edit.must_link(3, 700)
    one.edit.must_link(5, 900)
    one.edit.must_link(5, 3)
    one.edit.move(-11, under=int(one.clusters(n_clusters=7).node_ids[2]))
    held = int(one.edit.list().held[0])
    many = pickle.loads(pickle.dumps(one))
    one.partial_fit(rows[1000:])
    for row in rows[1000:]:
        many.insert(row)
    assert one.hierarchy() == many.hierarchy()
    assert [group.tolist() for group in one.edit.list().linked] == [[3, 5, 700, 900]]
    assert 10 in one.leaves(held)
    one.check()
    for k in (2, 10, 100, 1000):
        assert not one.edit.violations(n_clusters=k)


def test_what_is_remembered_of_paths_says_nothing_wrong_about_held_nodes():
    """What is above a held node grows with it, though no path that is merged reaches so far."""
    rows = np.random.default_rng(3).normal(size=(260, 16)).astype(np.float32)
    model = OHAC().partial_fit(rows[:120])
    model.edit.must_link(3, 4)
    tree = model.hierarchy()
    size = {id: len(model.leaves(id)) for id in tree.node_ids.tolist()}
    for wanted in (80, 40, 20):  # one below the other, most likely
        held = min(size, key=lambda id: (abs(size[id] - wanted), id))
        model.edit.move(-1 - int(model.leaves(held)[0]), under=held)
    for row in rows[120:]:
        forgetful = pickle.loads(pickle.dumps(model))  # whoever is read from a file knows nothing
        for one in (model, forgetful):
            one.insert(row)
        assert np.array_equal(model.hierarchy().children, forgetful.hierarchy().children)
        assert np.array_equal(model.hierarchy().node_ids, forgetful.hierarchy().node_ids)
    core_of(model).check()


@pytest.mark.parametrize("options", [{"duplicates": "count"}, {"keep": Budget(20)}])
def test_leaves_of_several_points(options):
    model = OHAC(**options, n_clusters=4).fit(X[:15])
    model.edit.must_link(2, 9)
    model.edit.move(-1 - 4, under=model.lca(0, 1))
    held = int(model.edit.list().held[0])
    for row in np.random.default_rng(2).integers(15, size=60):
        model.insert(X[row] if "duplicates" in options else X[row] + 1e-3 * np.sin(row))
    model.check()
    assert len(model) <= 20
    groups = [set(group.tolist()) for group in model.edit.list().linked]
    leaves = {int(leaf_of(model, 2)), int(leaf_of(model, 9))}
    assert len(leaves) == 1 or any({2, 9} <= group for group in groups)
    for n in (2, 9):  # repeats of a linked point are linked as it is
        numbers = model.point_numbers_.tolist()
        repeats = {i for i in numbers if leaf_of(model, i) == leaf_of(model, n)}
        assert len(leaves) == 1 or any(repeats <= group for group in groups)
    if held in model.edit.list().held:
        assert leaf_of(model, 4) in model.leaves(held)


def test_polish_gave_the_links_of_some_to_others():
    """It opened linked and held nodes, and their slots kept the marks."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = OHAC(linkage="ward").fit(rng.normal(size=(40, 2)))
        model.edit.must_link(3, 30)
        model.edit.must_link(7, 21)
        held = int(model.clusters(n_clusters=5).node_ids[0])
        model.edit.move(-1 - 12, under=held)
        said, below = model.edit.list(), numbers_below(model, held)
        model.polish()
        again = pickle.loads(pickle.dumps(model))
        again.check()
        assert str(again.edit.list()) == str(said)
        assert numbers_below(model, held) == below


def test_polish_splits_a_held_root():
    """All points are below it, whatever the top is, and it stays held."""
    model = OHAC(linkage="ward").fit(np.random.default_rng(3).normal(size=(200, 2)))
    root = int(model.hierarchy().node_ids[-1])
    model.edit.move(int(model.path(0)[2]), under=root)
    assert model.edit.list().held.tolist() == [root]
    assert model.polish(20)
    assert model.edit.list().held.tolist() == [root]
    assert int(model.hierarchy().node_ids[-1]) == root
    model.check()


@pytest.mark.parametrize("options", [{}, {"duplicates": "count"}, {"keep": Budget(30)}])
def test_what_is_said_of_two_points_looks_at_their_groups_only(options, monkeypatch):
    """A look at all linked groups, or a snapshot, for each link made k of them quadratic."""
    model = OHAC(**options).fit(np.random.default_rng(5).normal(size=(200, 2)))
    name = int(model.clusters(n_clusters=6).node_ids[3])

    def too_much(*_):
        raise AssertionError("for one edit")

    live = type(model._live)
    with monkeypatch.context() as patched:
        for whole in ("hierarchy", "linked", "numbers", "apart"):
            patched.setattr(live, whole, too_much)
        model.edit.cannot_link(0, 1)
        model.edit.must_link(2, 3)
        model.edit.must_link(2, 4)
        with pytest.raises(ValueError, match="unlink them first"):
            model.edit.cannot_link(3, 4)
        model.edit.cannot_link(4, 5)
        with pytest.raises(ValueError, match="points 4 and 5 must be apart"):
            model.edit.must_link(5, 3)
        model.edit.unlink(5, 4)
        model.edit.unlink(3, 2)
        model.edit.move(-1 - int(leaf_of(model, 2)), under=name)
        model.edit.release(name)
    assert model.edit.list().apart.tolist() == [[0, 1]]


def test_two_of_one_leaf_are_apart_from_whom_one_of_them_is():
    """A link of the one would have put the other one, in the same leaf, there as well."""
    model = OHAC(duplicates="count").fit([[0.0], [0.0], [5.0], [9.0]])
    model.edit.cannot_link(0, 2)
    with pytest.raises(ValueError, match="points 0 and 2 must be apart"):
        model.edit.must_link(1, 2)
    assert model.edit.list().linked == []


def test_two_that_must_be_apart_may_become_one_leaf():
    model = OHAC(keep=Budget(2)).fit([[0.0], [9.0]])
    model.edit.cannot_link(0, 1)
    model.insert([1e6])
    assert leaf_of(model, 0) == leaf_of(model, 1)
    assert model.edit.violations(n_clusters=2).apart.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="are one leaf, which no cut can split"):
        model.cut(n_clusters=2)
    with pytest.raises(ValueError, match="are in one leaf"):
        model.edit.cannot_link(1, 0)
    model.edit.unlink(0, 1)
    assert model.cut(n_clusters=2).tolist() == [0, 0, 1]


def test_everybody_can_be_linked():
    model = OHAC(n_neighbors=3).fit(X[:4])
    for i in range(3):
        model.edit.must_link(i, i + 1)
    assert model.hierarchy().heights.tolist() == [0, 0, 0]
    model.partial_fit(X[4:8])
    assert [group.tolist() for group in model.edit.list().linked] == [[0, 1, 2, 3]]
    model.check()


def test_edits_are_changes_that_can_be_replayed():
    model = OHAC(history=20).fit(X)
    for edit in (
        lambda: model.edit.must_link(0, 40),
        lambda: model.edit.move(-8, under=model.clusters(n_clusters=5)[3]),
        lambda: model.edit.unlink(0, 40),
        lambda: model.forget(7),
    ):
        version, old = model.version, model.hierarchy()
        edit()
        assert model.version > version
        assert model.past.changes(version).apply(old) == model.hierarchy()


@pytest.mark.parametrize("Estimator", [OTD, NaiveNN, PERCH, HAC])
def test_other_trees_have_names_and_apart_points_only(Estimator):
    model = Estimator(n_clusters=3).fit(X)
    for edit in (lambda: model.edit.must_link(0, 1), lambda: model.edit.move(-1, under=-2)):
        with pytest.raises(AttributeError, match="only trees of OHAC keep to it"):
            edit()
    root = int(model.hierarchy().node_ids[-1])
    model.edit.rename(root, "all")
    model.edit.cannot_link(0, 1)
    assert model.edit.list().names == {root: "all"}
    assert model.clusters(n_clusters=1)[0].name == "all"
    labels = model.cut(n_clusters=59)
    assert labels[0] != labels[1]


def test_trees_of_interchanges_keep_to_no_edits():
    model = OHAC(update="nni").fit(X)
    for edit in (lambda: model.edit.must_link(0, 1), lambda: model.edit.move(-1, under=-2)):
        with pytest.raises(ValueError, match="only trees of update='hac' keep to it"):
            edit()
    model.edit.cannot_link(0, 1)
    assert model.edit.list().apart.tolist() == [[0, 1]]


def test_mistakes_change_nothing():
    model = OHAC(metric="dot").fit(X, ids=[f"p{i}" for i in range(60)])
    with pytest.raises(ValueError, match="under metric='dot'"):
        model.edit.must_link("p0", "p1")
    model = OHAC().fit(X, ids=[f"p{i}" for i in range(60)])
    version = model.version
    for wrong, kind in (
        (lambda: model.edit.must_link("p0", "p60"), KeyError),
        (lambda: model.edit.must_link("p0", "p0"), ValueError),
        (lambda: model.edit.cannot_link(0, 1), KeyError),
        (lambda: model.edit.move(10**6, under=0), KeyError),
        (lambda: model.edit.move("nobody", under=0), KeyError),
        (lambda: model.edit.release(0), ValueError),
        (lambda: model.edit.unlink("p0", "p1"), ValueError),
        (lambda: model.edit.rename(10**6, "x"), KeyError),
        (lambda: model.edit.rename(0, 7), TypeError),
    ):
        with pytest.raises(kind):
            wrong()
    assert model.version == version
    model.edit.move("p0", under="p1")
    assert model.edit.list().held.tolist() == [model.lca("p0", "p1")]


def test_names_are_shown_and_lost():
    model = OHAC().fit(X)
    found = model.clusters(n_clusters=4)
    assert found.names is None
    model.edit.rename(found[2], "refunds")
    named = model.clusters(n_clusters=4)
    assert named.names == [None, None, "refunds", None]
    assert "'refunds'" in repr(named[2])
    assert named.to_frame()["name"].dropna().to_dict() == {2: "refunds"}
    assert pickle.loads(pickle.dumps(named)).names == named.names
    assert model.levels(2, 4)[1].names == named.names
    model.forget(named[2].members[1:])  # the name stays with the one that is left
    assert model.edit.list().names == {-1 - found[2].first_point: "refunds"}
    model.forget(found[2].first_point)
    assert model.edit.list().lost_names == {-1 - found[2].first_point: "refunds"}
    model.edit.rename(-1 - found[2].first_point, None)
    assert model.edit.list().lost_names == {}
    assert model.fit(X).edit.list().names == {}


def test_a_stranger_cannot_send_impossible_edits(tmp_path):
    model = OHAC().fit(X)
    model.edit.must_link(0, 30)
    content, arrays = model._to_saved()
    from ramify.estimators._saved import from_saved

    def refused(**changed):
        with pytest.raises(ramify.UnreadableFileError):
            from_saved(OHAC, {**content, **changed}, arrays)

    refused(node_names=[["1", "x"]])
    refused(node_names=[[1, 2]])
    refused(name_points=[[60, 1]])
    refused(node_names=[[1, "x"]], name_points=[[60, 1]])
    points = {"name_points": np.array([3, 7])}
    for told in ([60, 1], [60, 3], [7, 2], [-1, 2], [60.0, 2], [2**63, 2], [60]):
        changed = {"node_names": [[1, "x"]], "name_points": [told]}
        with pytest.raises(ramify.UnreadableFileError):
            from_saved(OHAC, {**content, **changed}, {**arrays, **points})
    for wrong in ([7, 3], [3, 3], [-1, 3]):
        changed = {"node_names": [[1, "x"]], "name_points": [[60, 2]]}
        with pytest.raises(ramify.UnreadableFileError):
            from_saved(OHAC, {**content, **changed}, {**arrays, "name_points": np.array(wrong)})
    refused(apart=[[1, 0]])
    refused(apart=[[-1, 0]])
    for marks in ([200], [2, 2], [2 * len(X) - 3, 2], [59, 59 * 2 + 1]):
        with pytest.raises(ramify.UnreadableFileError):
            from_saved(OHAC, content, {**arrays, "marks": np.array(marks, np.uint32)})
