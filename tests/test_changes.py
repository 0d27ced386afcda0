"""What became of a tree since a version: told in full, and no more than that."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import GRINCH, HAC, OHAC, OTD, PERCH, Budget, HistoryError, NaiveHAC, NaiveNN
from tests.oracles import changes as oracle
from tests.strategies import examples, scaled, seeds

#: Models that remember, and whether points can leave them.
MODELS = {
    "ohac": (lambda: OHAC(history=50), True),
    "ohac, 3 neighbours, ward": (lambda: OHAC(history=50, linkage="ward", n_neighbors=3), True),
    "otd": (lambda: OTD(history=50), True),
    "naive_nn": (lambda: NaiveNN(history=50), True),
    "naive_hac": (lambda: NaiveHAC(history=50), True),
    "perch": (lambda: PERCH(history=50), True),
    "perch, collapsed": (lambda: PERCH(history=50, max_leaves=8), True),
    "grinch": (lambda: GRINCH(history=50), False),
}
every_model = pytest.mark.parametrize("name", MODELS)

LOOK = "look"


@st.composite
def stories(draw):
    """Rows, and what happens: so many come, one goes (which), somebody looks."""
    steps = draw(
        st.lists(
            st.one_of(st.integers(1, 12), st.floats(0, 1, exclude_max=True), st.just(LOOK)),
            max_size=25,
        )
    )
    d = draw(st.sampled_from([1, 2, 17]))
    rng = np.random.default_rng(draw(seeds()))
    X = rng.normal(size=(sum(step for step in steps if type(step) is int) + 2, d))
    return (np.round(X) if draw(st.booleans()) else X), steps


def forget(model, which):
    """Take out a point: ``which`` says how far from the first to the last it is."""
    numbers = model._live.numbers()
    if len(numbers) > 1:
        assert model._live._core.erase(int(numbers[int(which * len(numbers))]))


def looks(model, X, steps, erases=True):
    """Let a story happen; yields at every look: once before the first row comes, too.

    Whoever looks may send another model to go on with.
    """
    model = (yield) or model
    came = 2
    model.partial_fit(X[:2])
    for step in [*steps, LOOK]:
        if step == LOOK:
            model = (yield) or model
        elif type(step) is int:
            model.partial_fit(X[came : came + step])
            came += step
        elif erases:
            forget(model, step)


def snapshot(model):
    return model.hierarchy() if len(model) else None


def groups_of(tree, *, min_size, **cut):
    """Numbers of the leaves of each cluster, which are all one cluster where they are too few."""
    if tree is None:
        return []
    labels = tree.cut(min_size=min(min_size, len(tree)), **cut)
    return [frozenset(tree.leaf_numbers[labels == i].tolist()) for i in range(labels.max() + 1)]


def told(found):
    return {name: set(getattr(found, name).tolist()) for name in found.__slots__[2:10]}


def same_snapshot(one, other):
    assert one == other
    np.testing.assert_array_equal(one.node_ids, other.node_ids)
    np.testing.assert_array_equal(one.point_numbers, other.point_numbers)
    np.testing.assert_array_equal(one.heights, other.heights)
    np.testing.assert_array_equal(one.weights, other.weights)
    assert (one.leaf_weights is None) == (other.leaf_weights is None)
    if one.names is None or other.names is None:
        assert one.names is other.names
    else:
        np.testing.assert_array_equal(one.names, other.names)


#: Models whose leaves may be of several points, and of other weights than these say.
STANDING = {
    "ohac, repeats": (lambda: OHAC(history=50, duplicates="count"), False),
    "ohac, budget": (lambda: OHAC(history=50, keep=Budget(5)), False),
}


@pytest.mark.parametrize("name", [*MODELS, *STANDING])
def test_the_tree_of_any_version_comes_back(name):
    make, erases = (MODELS | STANDING)[name]

    @settings(max_examples=examples(10))
    @given(stories())
    def check(story):
        model, seen = make(), {}
        for _ in looks(model, *story, erases):
            seen[model.version] = snapshot(model)
            if len(model) and len(seen) % 2:
                model.cut(n_clusters=1)  # heights are looked up in between, and not told
        for version, old in seen.items():
            found = model.past._tree_at(model._live, version) if version else None
            if old is None:
                assert found is None
                continue
            np.testing.assert_array_equal(found.node_ids, old.node_ids)
            np.testing.assert_array_equal(found.leaf_numbers, old.leaf_numbers)
            np.testing.assert_array_equal(found.children, old.children)
            np.testing.assert_array_equal(found.heights, old.heights)
            np.testing.assert_array_equal(found.weights, old.weights)

    check()


@every_model
def test_all_is_told_between_any_two_versions(name):
    make, erases = MODELS[name]

    @settings(max_examples=examples(15))
    @given(stories())
    def check(story):
        model, seen = make(), {}
        for _ in looks(model, *story, erases):
            seen[model.version] = snapshot(model)
        new = snapshot(model)
        for version, old in seen.items():
            found = model.past.changes(since=version)
            assert (found.since, found.version) == (version, model.version)
            assert told(found) == oracle.changes(old, new)
            same_snapshot(found.apply(old), new)
            assert bool(found) == (version != model.version)

    check()


@every_model
def test_the_clusters_that_are_not_what_they_were(name):
    make, erases = MODELS[name]

    @settings(max_examples=examples(10))
    @given(stories(), st.integers(1, 6), st.floats(0, 4), st.integers(1, 8))
    def check(story, k, height, size):
        model, seen = make(), {}
        for _ in looks(model, *story, erases):
            seen[model.version] = snapshot(model)
        new = snapshot(model)
        for version, old in seen.items():
            cuts = ("n_clusters", min(k, len(model))), ("height", height), ("max_size", size)
            for cut in ({"min_size": size}, {"height": height, "min_size": size}):
                if size <= len(model):
                    now, then = groups_of(new, **cut), groups_of(old, **cut)
                    wanted = [label for label, points in enumerate(now) if points not in then]
                    assert model.past.dirty(version, **cut).labels.tolist() == wanted
            for by, value in cuts:
                found = model.past.dirty(version, **{by: value})
                assert found.labels.tolist() == oracle.dirty(old, new, by, value)
                whole = model.clusters(**{by: value})
                for name in found._fields[1:]:
                    expected = getattr(whole, name)[found.labels]
                    np.testing.assert_array_equal(getattr(found, name), expected)

    check()


@every_model
def test_where_a_node_came_from_and_where_it_went(name):
    make, erases = MODELS[name]

    @settings(max_examples=examples(10))
    @given(stories())
    def check(story):
        model, seen = make(), {}
        for _ in looks(model, *story, erases):
            seen[model.version] = snapshot(model)
        new = snapshot(model)
        for version, old in list(seen.items())[-4:]:
            for node in oracle.members(old).keys() | oracle.members(new).keys():
                found = model.past.lineage(node, since=version)
                was, made_of, became, pieces = oracle.lineage(node, old, new)
                assert found.renamed_from in was
                assert set(found.merged_from.tolist()) == made_of
                assert found.renamed_to in became
                assert set(found.split_into.tolist()) == pieces

    check()


def test_ids_of_points_come_with_it():
    model = OHAC(history=3).fit([[0.0], [4.0], [1.0]], ids=["ash", "elm", "oak"])
    night, old = model.version, model.hierarchy()
    model.partial_fit([[3.0], [9.0]], ids=["fir", "yew"])
    found = model.past.changes(since=night)
    assert found.ids.tolist() == ["fir", "yew"]
    same_snapshot(found.apply(old), model.hierarchy())
    same_snapshot(model.past.changes(since=0).apply(None), model.hierarchy())


def test_another_snapshot_is_refused():
    model = OHAC(history=3).fit([[0.0], [4.0], [1.0]])
    night = model.version
    model.partial_fit([[3.0], [9.0]])
    with pytest.raises(ValueError, match=f"snapshot of version {night}"):
        model.past.changes(since=night).apply(model.hierarchy())


def test_what_is_told_cannot_be_changed():
    model = OHAC(history=3).fit([[0.0], [4.0], [1.0]])
    found = model.past.changes(since=0)
    with pytest.raises(ValueError, match="read-only"):
        found.born[0] = 7


# --- how far back ---------------------------------------------------------------------


def test_who_was_not_asked_to_remember_says_so():
    model = OHAC().fit([[0.0], [4.0]])
    asks = (
        lambda: model.past.changes(since=1),
        lambda: model.past.dirty(1, n_clusters=1),
        lambda: model.past.lineage(0, since=1),
    )
    for ask in asks:
        with pytest.raises(HistoryError, match="set history="):
            ask()
    with pytest.raises(HistoryError, match="anew"):
        ramify.BIRCH().fit([[0.0], [4.0]]).past.changes(since=1)
    with pytest.raises(ValueError, match="history=-1"):
        OHAC(history=-1).fit([[0.0]])
    assert model.version == 2


@pytest.mark.parametrize("keep", [1, 3])
def test_only_so_many_versions_are_remembered(keep):
    model = OHAC(history=keep)
    rng, seen = np.random.default_rng(0), []
    for _ in range(12):
        model.partial_fit(rng.normal(size=(5, 2)))
        seen.append((model.version, model.hierarchy()))
    for version, old in seen[-keep - 1 :]:
        same_snapshot(model.past.changes(since=version).apply(old), model.hierarchy())
    oldest = seen[-keep - 1][0]
    for version, _ in seen[: -keep - 1]:
        with pytest.raises(HistoryError, match=f"oldest version that is remembered is {oldest}"):
            model.past.changes(since=version)
    with pytest.raises(HistoryError, match="no such version yet"):
        model.past.changes(since=1000)
    with pytest.raises(HistoryError, match="was not read then"):
        model.past.changes(since=seen[-1][0] - 1)


def test_the_empty_tree_is_always_known():
    model = OHAC(history=1)
    assert model.version == 0
    for i in range(9):
        model.insert([float(i)])
        assert model.version == i + 1
    assert model.past.changes(since=0).inserted.tolist() == list(range(9))
    model.fit([[0.0], [1.0]])
    with pytest.raises(HistoryError, match="oldest"):
        model.past.changes(since=0)
    begun = model.version - 2
    assert model.past.changes(since=begun).inserted.tolist() == [0, 1]


def test_remembering_begins_and_ends_when_told():
    model = OHAC().fit([[0.0], [1.0]])
    then = model.version
    model.set_params(history=2).partial_fit([[5.0]])
    with pytest.raises(HistoryError, match="oldest version that is remembered is 3"):
        model.past.changes(since=then)
    then = model.version
    model.partial_fit([[6.0]])
    assert model.past.changes(since=then).inserted.tolist() == [3]
    model.set_params(history=0)
    assert model.version == 4
    assert model._live.past is None


def test_versions_go_on_through_files_pickles_and_another_fit(tmp_path):
    rng = np.random.default_rng(1)
    model = OHAC(history=4).fit(rng.normal(size=(20, 2)))
    model.save(tmp_path / "tree.ramify")
    night, old = model.version, model.hierarchy()
    for twin in (
        ramify.load(tmp_path / "tree.ramify"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        twin.partial_fit(rng.normal(size=(5, 2)))
        same_snapshot(twin.past.changes(since=night).apply(old), twin.hierarchy())
        with pytest.raises(HistoryError, match=f"is {night}"):
            twin.past.changes(since=night - 1)
        twin.fit(rng.normal(size=(5, 2)))
        assert twin.version > night + 5
        with pytest.raises(HistoryError, match="oldest"):
            twin.past.changes(since=night)
    model = HAC(history=1).fit(rng.normal(size=(5, 2)))
    before = model.version
    assert model.fit(rng.normal(size=(5, 2))).version > before


def test_what_could_not_be_written_down_is_not_made_up():
    """As when memory runs out, which the core says once."""
    model = OHAC(history=4).fit([[0.0], [4.0], [1.0]])
    night = model.version
    past = model._live.past

    class Forgetful:
        lost_track = True
        version = property(lambda self: core.version)

        def record(self, on, all):
            self.lost_track = False
            core.record(on, all)

        def take_change(self):
            return {**core.take_change(), "incomplete": self.lost_track}

    core, past._core = past._core, Forgetful()
    model.partial_fit([[3.0]])
    assert model.version == night + 1
    past._core = core
    with pytest.raises(HistoryError, match="memory ran out"):
        model.past.changes(since=night)
    night, old = model.version, model.hierarchy()
    model.partial_fit([[9.0]])
    same_snapshot(model.past.changes(since=night).apply(old), model.hierarchy())


def test_a_step_that_was_lost_is_not_passed_over():
    """Ctrl-C between the core's answer and the log: the log begins anew."""
    model = OHAC(history=4).fit([[0.0], [4.0], [1.0]])
    night = model.version
    past = model._live.past

    class Interrupted:
        def take_change(self):
            core.take_change()
            raise KeyboardInterrupt

    core, past._core = past._core, Interrupted()
    model.partial_fit([[3.0]])
    with pytest.raises(KeyboardInterrupt):
        model.version  # noqa: B018 - a property
    assert model.version == night + 1
    with pytest.raises(HistoryError, match=f"is {night + 1}"):
        model.past.changes(since=night)
    old = model.hierarchy()
    model.partial_fit([[9.0]])
    same_snapshot(model.past.changes(since=night + 1).apply(old), model.hierarchy())


def test_no_such_node():
    model = OHAC(history=4).fit([[0.0], [4.0], [1.0]])
    with pytest.raises(KeyError, match="no node has the id 77"):
        model.past.lineage(77, since=model.version)


def test_a_dirty_cut_of_a_tree_that_was_too_small():
    model = OHAC(history=4).fit([[0.0], [4.0]])
    night = model.version
    model.partial_fit([[100.0]])
    assert model.past.dirty(night, n_clusters=3).labels.tolist() == [2]
    assert model.past.dirty(0, n_clusters=3).labels.tolist() == [0, 1, 2]


def clusters_by_label(model, **cut):
    found = {}
    for number, label in zip(model._live.numbers(), model.cut(**cut), strict=True):
        found.setdefault(int(label), set()).add(int(number))
    return [found[label] for label in sorted(found)]


def test_a_cut_by_size_counts_what_leaves_stand_for():
    model = OHAC(history=4).fit(np.arange(12.0)[:, None] ** 2)
    night, then = model.version, clusters_by_label(model, max_size=5)
    assert model._live._core.weigh(2, 4.0)
    now = clusters_by_label(model, max_size=5)
    wanted = [label for label, points in enumerate(now) if points not in then]
    assert wanted
    assert model.past.dirty(night, max_size=5).labels.tolist() == wanted
    found = model.past.changes(since=night)
    assert len(found.inserted) == len(found.forgotten) == 0
    assert len(found.families) > 0  # heights are others


@pytest.mark.threads
def test_versions_read_while_a_batch_goes_in():
    rng = np.random.default_rng(0)
    model = OHAC(history=10_000).fit(rng.normal(size=(500, 3)))
    batch = threading.Thread(target=model.partial_fit, args=(rng.normal(size=(scaled(20_000), 3)),))
    seen = {}
    batch.start()
    while batch.is_alive():
        before = model.version
        tree = model.hierarchy()
        if model.version == before:
            seen[before] = tree
    batch.join()
    seen[model.version] = model.hierarchy()
    for version in [*seen][:: max(len(seen) // 20, 1)]:
        same_snapshot(model.past.changes(since=version).apply(seen[version]), model.hierarchy())


# --- leaves of several points -----------------------------------------------------------

SEVERAL = {
    "repeats": lambda: OHAC(history=50, duplicates="count"),
    "repeats, otd": lambda: OTD(history=50, duplicates="count"),
    "repeats, naive_nn": lambda: NaiveNN(history=50, duplicates="count"),
    "budget": lambda: OHAC(history=50, keep=Budget(7)),
    "budget, ward": lambda: OHAC(history=50, keep=Budget(3), linkage="ward", n_neighbors=2),
    "budget, repeats": lambda: OHAC(history=50, keep=Budget(7), duplicates="count"),
    "weights": lambda: OHAC(history=50),
}
with_several = pytest.mark.parametrize("name", SEVERAL)


def leaves_of(model):
    """The leaf of every point, by the number of the point that it began with."""
    numbers = model.point_numbers_
    return dict(zip(numbers.tolist(), model._live.leaf_of(numbers).tolist(), strict=True))


def looks_at_several(name, story):
    """Versions, each with the snapshot then and the leaf of every point; the model at the end."""
    X, steps = story
    X = np.round(X)  # so that some repeat
    model, seen, came = SEVERAL[name](), {}, 0
    for step in [2, *steps, LOOK]:
        if step == LOOK:
            seen[model.version] = model.hierarchy(), leaves_of(model)
        elif type(step) is int:
            rows = slice(came, came + step)
            weights = 1 + np.arange(came, came + step) % 3 if name == "weights" else None
            names = [f"p{i}" for i in range(came, came + step)]
            model.partial_fit(X[rows], None, weights, ids=names)
            came += step
        else:
            numbers = model._live.numbers()
            if len(numbers) > 1:
                point = model._live.ids.of([numbers[int(step * len(numbers))]])
                try:
                    model.forget(point)
                except ValueError as error:
                    assert "cannot leave alone" in str(error)  # noqa: PT017
    return model, seen


@with_several
def test_points_that_share_leaves_are_told_and_replayed(name):
    @settings(max_examples=examples(25))
    @given(stories())
    def check(story):
        model, seen = looks_at_several(name, story)
        new, leaf_now = model.hierarchy(), leaves_of(model)
        for version, (old, leaf_then) in [(0, (None, {})), *seen.items()]:
            found = model.past.changes(since=version)
            assert told(found) == oracle.changes(old, new, leaf_then, leaf_now)
            same_snapshot(found.apply(old), new)
            assert found.ids.tolist() == [f"p{i}" for i in found.inserted]
            # Who is in which leaf follows, too.
            into = dict(found.absorbed.tolist())
            replayed = {point: into.get(leaf, leaf) for point, leaf in leaf_then.items()}
            replayed |= {point: into.get(point, point) for point in found.inserted.tolist()}
            for point in found.forgotten.tolist():
                del replayed[point]
            assert replayed == leaf_now

    check()


@with_several
def test_clusters_of_leaves_that_gained_or_lost_points_are_dirty(name):
    @settings(max_examples=examples(15))
    @given(stories(), st.integers(1, 6), st.floats(0, 4), st.integers(1, 8))
    def check(story, k, height, size):
        model, seen = looks_at_several(name, story)
        new, leaf_now = model.hierarchy(), leaves_of(model)
        for version, (old, leaf_then) in seen.items():
            cuts = ("n_clusters", min(k, len(model))), ("height", height), ("max_size", size)
            for by, value in cuts:
                found = model.past.dirty(version, **{by: value}).labels.tolist()
                assert found == oracle.dirty(old, new, by, value, leaf_then, leaf_now)

    check()


@settings(max_examples=examples(20))
@given(stories())
def test_a_budget_that_does_not_track_members_is_replayed(story):
    X, steps = story
    model, seen, came = OHAC(history=50, keep=Budget(5, members=False)), {}, 0
    for step in [2, *steps, LOOK]:
        if step == LOOK:
            seen[model.version] = model.hierarchy(), came
        elif type(step) is int:
            model.partial_fit(X[came : came + step])
            came += step
    for version, (old, before) in seen.items():
        found = model.past.changes(since=version)
        same_snapshot(found.apply(old), model.hierarchy())
        assert found.inserted.tolist() == list(range(before, came))
        assert len(found.forgotten) == 0


def test_a_point_that_came_into_a_leaf_and_left_in_between_shrank_what_it_had_never_been_in():
    model = OHAC(history=9, duplicates="count").fit([[0.0], [1.0], [5.0]])
    night = model.version
    model.partial_fit([[1.0], [0.0]])
    evening = model.version
    model.forget(3)
    found = model.past.changes(since=night)
    assert (found.grown.tolist(), found.shrunk.tolist()) == ([0, 1], [])
    assert model.past.changes(since=evening).shrunk.tolist() == [0, 1]
