# SPDX-License-Identifier: BSD-3-Clause
"""One number for a point: each answer is looked up in the stream, and must be that very point.

``X`` is a whole stream in order of arrival, and ``texts`` says of each row what it is, so a
number that is a place, or of a point that has gone, shows.
"""

import io
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import OHAC, OTD, Budget, Last, NaiveNN, Younger
from ramify.plot import explore
from tests.commands import done
from tests.every import leaf_of
from tests.strategies import examples

N = 90
WEIGHTS = 1.0 + np.arange(N) % 3


def stream(rng, n=N, repeats=False):
    """Points in five groups, far apart; if wanted, on a coarse grid, so that most repeat."""
    X = rng.normal(size=(n, 2)) + 30 * rng.integers(5, size=(n, 1))
    return np.round(X) if repeats else X


def forgotten(X, weights=None, **options):
    model = OHAC(**options).partial_fit(X, sample_weight=weights)
    model.forget(np.random.default_rng(1).choice(N, 40, replace=False))
    return model


def firsts_forgotten(X, kind=OHAC, **options):
    """Of every second leaf that stands for several points, the first one goes."""
    model = kind(duplicates="count", **options).partial_fit(X[:60])
    leaf = np.array([leaf_of(model, i) for i in range(60)])
    several = [one for one in np.unique(leaf).tolist() if (leaf == one).sum() > 1]
    model.forget(several[::2])
    return model.partial_fit(X[60:])


def replaced(X):
    model = OHAC()
    for i, row in enumerate(X):
        model.insert(row, id=f"T{i % 50}", replace=True)
    return model


def moved(X):
    model = forgotten(X)
    one, other = (cluster.node_id for cluster in model.clusters(n_clusters=6)[:2])
    model.edit.move(one, under=other)
    model.edit.must_link(*model.point_numbers_[[0, -1]].tolist())
    return model


STREAMS = {
    "forget": forgotten,
    "window": lambda X: OHAC(keep=Last(40)).partial_fit(X[:70]).partial_fit(X[70:]),
    "max_age": lambda X: OHAC(keep=Younger(30)).partial_fit(X, times=np.arange(N)),
    "count": firsts_forgotten,
    "count, otd": lambda X: firsts_forgotten(X, OTD),
    "count, window": lambda X: OHAC(duplicates="count", keep=Last(35)).partial_fit(X),
    "max_leaves": lambda X: OHAC(keep=Budget(25)).partial_fit(X),
    "max_leaves, window": lambda X: OHAC(keep=Budget(25)).partial_fit(X[:30]).partial_fit(X[30:]),
    "weights": lambda X: forgotten(X, weights=WEIGHTS),
    "text ids": lambda X: _without(OHAC().partial_fit(X, ids=[f"T{i}" for i in range(N)]), "T{}"),
    "whole ids": lambda X: _without(OHAC().partial_fit(X, ids=range(1000, 1000 + N)), None),
    "replace": replaced,
    "moves": moved,
    "ward": lambda X: forgotten(X, linkage="ward"),
}


def _without(model, form):
    gone = range(0, N, 3)
    model.forget([1000 + i if form is None else form.format(i) for i in gone])
    return model


def case(name):
    X = stream(np.random.default_rng(0), repeats="count" in name)
    model = STREAMS[name](X)
    names = model.ids_.tolist() if hasattr(model, "ids_") else None
    texts = [f"text{i}" for i in range(N)]
    weights = WEIGHTS if name == "weights" else np.ones(N)
    return SimpleNamespace(model=model, X=X, texts=texts, ids=names, weights=weights)


every_stream = pytest.mark.parametrize("name", STREAMS)


def whole_leaves(model):
    """Whether every leaf has the row of each point in it."""
    return not isinstance(getattr(model, "keep", None), Budget)


def check_clusters(found, model, X, texts, weights):
    """Clusters of the live model: members are all points of a label, and their rows its mean."""
    numbers, labels = model.point_numbers_, found.labels
    assert len(labels) == len(numbers)
    for cluster in found:
        members = cluster.members
        assert members.tolist() == numbers[labels == cluster.label].tolist()
        assert weights[members].sum() == cluster.size
        mean = np.average(X[members], axis=0, weights=weights[members])
        np.testing.assert_allclose(mean, cluster.mean, atol=1e-9)
        assert cluster.first_point in members
        assert set(cluster.representatives.tolist()) <= set(members.tolist())
        assert set(cluster.keywords) <= {texts[i] for i in members.tolist()}
        names = model.ids_.tolist() if model._live.ids else numbers.tolist()
        known = dict(zip(numbers.tolist(), names, strict=True))
        assert cluster.member_names == [known[i] for i in members.tolist()]
        assert cluster.representative_names == [known[i] for i in cluster.representatives.tolist()]


@every_stream
def test_clusters_of_a_model_name_points_by_arrival_number(name):
    c = case(name)
    model, numbers = c.model, c.model.point_numbers_
    assert numbers[-1] >= len(model)  # so that places are no numbers
    by_number = {i: c.texts[i] for i in numbers.tolist()}
    ways = [c.texts, [c.texts[i] for i in numbers], by_number]
    if c.ids is not None:
        ways[-1] = {one: c.texts[i] for one, i in zip(c.ids, numbers.tolist(), strict=True)}
    for texts in ways:
        check_clusters(model.clusters(n_clusters=6, texts=texts), model, c.X, c.texts, c.weights)
    check_clusters(
        model.clusters(n_clusters=4, min_size=2, texts=c.texts), model, c.X, c.texts, c.weights
    )
    fine = model.levels(3, 6, texts=c.texts)
    check_clusters(fine[1], model, c.X, c.texts, c.weights)
    assert fine.labels[:, 1].tolist() == model.cut(n_clusters=6).tolist()
    with pytest.raises(ValueError, match=r"texts: expected .*, got 89"):
        model.clusters(n_clusters=2, texts=c.texts[:-1])


@every_stream
def test_questions_about_points_take_and_give_arrival_numbers(name):
    c = case(name)
    model, X, numbers = c.model, c.X, c.model.point_numbers_
    tree, there = model.hierarchy(), set(c.model.point_numbers_.tolist())
    labels = dict(zip(numbers.tolist(), model.cut(n_clusters=6).tolist(), strict=True))
    found = model.assign(X[numbers], n_clusters=6)
    assert set(found.points.tolist()) <= there
    assert model.nearest(X[numbers])[0].tolist() == found.points.tolist()
    if whole_leaves(model):
        np.testing.assert_array_equal(X[found.points], X[numbers])
        assert found.labels.tolist() == [labels[i] for i in numbers.tolist()]
        near, apart = model.nearest(points=numbers, k=2)
        assert set(near.ravel().tolist()) <= there
        wanted = ((X[near] - X[numbers][:, np.newaxis]) ** 2).sum(axis=2)
        np.testing.assert_allclose(apart, wanted, atol=1e-9)
    assert model.cluster_of(numbers, n_clusters=6)[0].tolist() == [*labels.values()]
    names = numbers.tolist() if c.ids is None else c.ids
    for point, name in [*zip(numbers.tolist(), names, strict=True)][::7]:
        leaf, place = leaf_of(model, name), tree.node_of(int(model.path(point)[-1]))
        assert tree.point_numbers[place] == leaf <= point
        assert leaf in there
        assert model.path_code(point) == tree.path_code(place)
        assert tree.depths()[place] == len(model.path(point)) - 1
        above = int(model.path(point)[-2])
        assert leaf in model.leaves(above)
        assert set(model.leaves(above).tolist()) <= there
        shown = model.hierarchy().representatives(model.hierarchy().node_of(above), model.points())
        assert set(shown.tolist()) <= set(model.leaves(above).tolist())


@every_stream
def test_a_snapshot_knows_the_numbers_of_its_places(name, tmp_path):
    c = case(name)
    model, X, tree = c.model, c.X, c.model.hierarchy()
    there = set(model.point_numbers_.tolist())
    rows = X[tree.point_numbers]
    if whole_leaves(model):
        np.testing.assert_array_equal(rows, model.points())
    assert set(tree.point_numbers.tolist()) <= there
    found = tree.clusters(model.points(), n_clusters=6)
    of_model = model.clusters(n_clusters=6)
    for cluster, same in zip(found, of_model, strict=True):
        assert set(cluster.members.tolist()) <= set(same.members.tolist())
        assert cluster.members.tolist() == tree.point_numbers[cluster.places].tolist()
        assert cluster.representatives.tolist() == same.representatives.tolist()
        assert cluster.first_point == same.first_point
        assert same.places.tolist() == cluster.places.tolist()
        shown = tree.representatives(cluster, model.points())
        assert shown.tolist() == cluster.representatives.tolist()
    if tree.point_numbers.max() >= len(tree):  # the whole stream can be told by its length
        whole = tree.clusters(X, n_clusters=6, texts=c.texts)
        for cluster in whole:
            assert set(cluster.keywords) <= {c.texts[i] for i in cluster.members.tolist()}
            if whole_leaves(model):
                mean = found[cluster.label].mean
                np.testing.assert_allclose(cluster.mean, mean, atol=1e-9)
    tree.save(tmp_path / "t")
    for again in (ramify.load(tmp_path / "t"), pickle.loads(pickle.dumps(tree)), tree.polish(rows)):
        np.testing.assert_array_equal(again.point_numbers, tree.point_numbers)
        np.testing.assert_array_equal(again.leaf_numbers, tree.leaf_numbers)
    model.save(tmp_path / "m")
    for again in (ramify.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.hierarchy().point_numbers, tree.point_numbers)
        assert again.hierarchy() == tree
        assert again.nearest(X)[0].tolist() == model.nearest(X)[0].tolist()


def test_places_are_refused_where_numbers_are_meant():
    X = stream(np.random.default_rng(0))
    model = forgotten(X)
    tree, gone = model.hierarchy(), next(i for i in range(N) if i not in model.point_numbers_)
    for ask in (model.path, model.path_code, lambda i: model.nearest(points=i)):
        with pytest.raises(LookupError):
            ask(gone)
    for ask in (lambda point: leaf_of(model, point), model.forget):
        with pytest.raises(KeyError, match=f"there is no point {gone}"):
            ask(gone)
    with pytest.raises(LookupError):
        model.cluster_of([gone], n_clusters=2)
    with pytest.raises(KeyError, match=f"no point has the number {gone}"):
        tree.place_of(gone)
    with pytest.raises(IndexError, match="no point with the number"):
        tree.cut(n_clusters=5, apart=[(gone, int(tree.point_numbers[0]))])
    assert not hasattr(model, "index_of")
    assert not hasattr(tree, "index_of")
    last = int(tree.point_numbers[-1])
    assert tree.place_of(last) == len(tree) - 1
    with pytest.raises(ValueError, match=r"X: expected 50 rows, .* that is there, or at least"):
        tree.clusters(X[:60], n_clusters=2)
    with pytest.raises(ValueError, match="there is none for the point"):
        model.clusters(n_clusters=2, texts={0: "a"})


def test_points_that_must_be_apart_are_given_to_cut_by_number():
    model = forgotten(stream(np.random.default_rng(0)))
    one, other = model.nearest(points=model.point_numbers_[:1])[0][0], model.point_numbers_[0]
    model.edit.cannot_link(int(one), int(other))
    labels = model.hierarchy().cut(n_clusters=30, apart=model.edit.list().apart)
    assert labels.tolist() == model.cut(n_clusters=30).tolist()
    places = [model.hierarchy().place_of(int(i)) for i in (one, other)]
    assert labels[places[0]] != labels[places[1]]


def test_a_forgotten_point_is_not_named():
    """Of a leaf that counts repeats the first point leaves, and the next one stands for it."""
    rows, ids = [[0.0], [0.0], [9.0], [0.0]], ["first", "repeat", "far", "last"]
    model = OHAC(duplicates="count", n_clusters=2, history=9).fit(rows, ids=ids)
    old, version = model.hierarchy(), model.version
    leaf = int(model.path("first")[-1])
    model.edit.rename(leaf, "zeros")
    model.forget("first")
    assert model.nearest([[0.1]])[0].tolist() == model.assign([[0.1]]).points.tolist() == [1]
    assert [leaf_of(model, one) for one in ("repeat", "last")] == [1, 1]
    assert model.leaves(int(model.path("repeat")[0])).tolist() == [1, 2]
    assert model.hierarchy().names.tolist() == ["repeat", "far"]
    assert model.clusters()[0].members.tolist() == [1, 3]
    assert model.clusters()[0].representatives.tolist() == [1]
    assert model.clusters().first_points.tolist() == [1, 2]
    assert model.nearest(points=1)[0].tolist() == model.nearest(points=3)[0].tolist() == [2]
    # The leaf keeps its id and its place, and so its name and the order of clusters.
    assert model.path("repeat")[-1] == leaf == model.hierarchy().leaf_numbers[0] - 1
    assert model.clusters()[0].name == "zeros"
    assert model.hierarchy() == old
    model.edit.move(leaf, under=model.clusters()[1])
    changes = model.past.changes(since=version)
    assert changes.leaf_points.tolist() == [1]
    assert changes.leaf_ids.tolist() == ["repeat"]
    now = changes.apply(old)
    assert now.point_numbers.tolist() == model.hierarchy().point_numbers.tolist() == [1, 2]
    assert now.names.tolist() == ["repeat", "far"]
    model.forget(["repeat"])
    assert model.nearest([[0.1]])[0].tolist() == [3]
    model.forget(["last"])
    assert model.hierarchy().point_numbers.tolist() == [2]


@settings(max_examples=examples(20))
@given(st.data(), st.sampled_from([OHAC, OTD, NaiveNN]), st.sampled_from([None, 6]))
def test_a_leaf_is_called_by_the_earliest_point_that_is_in_it(data, kind, window):
    """Whatever comes and goes: of equal rows the first that is there, also after a load."""
    values = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=30))
    model, there = kind(duplicates="count", keep=window and Last(window)), {}
    for number, value in enumerate(values):
        assert model.insert([float(value)]) == number
        there = dict([*there.items(), (number, value)][-(window or len(values)) :])
        if len(there) > 1 and data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(sorted(there)))
            model.forget(gone)
            del there[gone]
        if data.draw(st.integers(0, 4)) == 0:
            model = pickle.loads(pickle.dumps(model))
        first = {value: min(i for i in there if there[i] == value) for value in there.values()}
        assert {i: leaf_of(model, i) for i in there} == {i: first[v] for i, v in there.items()}
        tree = model.hierarchy()
        assert set(tree.point_numbers.tolist()) == set(first.values())
        rows = np.array([[float(value)] for value in there.values()])
        assert model.nearest(rows)[0].tolist() == [first[value] for value in there.values()]
        assert model.clusters(n_clusters=1)[0].members.tolist() == [*there]
        assert (tree.leaf_numbers <= tree.point_numbers).all()


def test_leaves_may_be_called_by_later_points_than_their_neighbours():
    model = OHAC(duplicates="count").fit([[0.0], [1.0], [9.0], [0.0]])
    model.forget(0)
    tree = model.hierarchy()
    assert tree.point_numbers.tolist() == [3, 1, 2]
    assert tree.leaf_numbers.tolist() == [0, 1, 2]
    assert [tree.place_of(i) for i in (1, 2, 3)] == [1, 2, 0]
    assert tree.node_of(-1 - 0) == tree.node_of(-1 - 3) == 0
    assert tree.clusters(n_clusters=2)[0].members.tolist() == [3, 1]
    assert model.clusters(n_clusters=2)[0].members.tolist() == [1, 3]
    tree.check()
    with pytest.raises(ValueError, match="point_numbers: expected ascending"):
        ramify.Hierarchy(tree.children, tree.heights, point_numbers=[3, 1, 2])
    with pytest.raises(ValueError, match="point_numbers: expected numbers, no two alike"):
        ramify.Hierarchy(
            tree.children, tree.heights, point_numbers=[3, 3, 2], leaf_numbers=[0, 1, 2]
        )


# --- other homes ------------------------------------------------------------------------


def test_a_folder_gives_the_payloads_of_the_points_that_it_names(tmp_path):
    X = stream(np.random.default_rng(0))
    payloads = [f"text{i}" for i in range(N)]
    ids = [f"T{i}" for i in range(N)]
    with ramify.open(tmp_path / "f", OHAC()) as tree:
        tree.add(X, ids=ids, payloads=payloads)
        tree.forget([f"T{i}" for i in range(0, N, 2)])
    with ramify.open(tmp_path / "f") as tree:
        check_clusters(
            tree.clusters(n_clusters=6, texts=payloads), tree.model, X, payloads, np.ones(N)
        )
        for cluster in tree.clusters(n_clusters=6):
            for some in (cluster.members, cluster.representatives):
                assert tree.payloads(some) == {i: payloads[i] for i in some.tolist()}
                assert tree.ids_of(some) == [ids[i] for i in some.tolist()]
        (near,) = tree.nearest(X[33:34])[0].tolist()
        assert tree.payload(near) == tree.payload("T33") == "text33"
        assert tree.payloads(["T33", 35]) == {"T33": "text33", 35: "text35"}
        assert tree.search("text33")[0].number == 33
        for gone in (2, "T2"):
            with pytest.raises(KeyError, match="there is no point"):
                tree.payload(gone)


@pytest.mark.parametrize("ids", ["text", "whole", None])
def test_shards_give_the_payloads_of_the_points_that_they_name(tmp_path, ids):
    from ramify.ray import ShardedOHAC

    X, payloads = stream(np.random.default_rng(0)), [f"text{i}" for i in range(N)]
    known = {"text": [f"T{i}" for i in range(N)], "whole": list(range(1000, 1000 + N))}.get(ids)
    with ShardedOHAC(2, folder=tmp_path / "s", engine="local", block=8) as model:
        model.partial_fit(X, ids=known, payloads=payloads)
        model.forget([i if known is None else known[i] for i in range(0, N, 2)])
        numbers, labels = model.point_numbers_, model.cut(n_clusters=6)
        assert numbers.tolist() == list(range(1, N, 2))
        np.testing.assert_array_equal(model.points(), X[numbers])
        found = model.clusters(n_clusters=6)
        for label in range(6):
            members = numbers[labels == label]
            np.testing.assert_allclose(X[members].mean(axis=0), found.means[label], atol=1e-9)
            assert found.first_points[label] == members[0]
            assert model.payloads(members) == {i: payloads[i] for i in members.tolist()}
        assert model.nearest(X[numbers])[0].tolist() == numbers.tolist()
        assert model.cluster_of(numbers, n_clusters=6)[0].tolist() == labels.tolist()
        assert model.path(33)[-1] == -1 - 33
        if ids == "text":
            assert model.payloads(["T33"]) == {"T33": "text33"}
        assert model.payloads([2]) == {}
        for cluster in model.hierarchy().clusters(X, n_clusters=6, texts=payloads):
            assert set(cluster.keywords) <= {payloads[i] for i in cluster.members.tolist()}


@pytest.mark.no_asan
def test_a_server_shows_the_payloads_of_the_points_that_it_names(tmp_path):
    from ramify.serve import running

    X, payloads = stream(np.random.default_rng(0)), [f"text{i}" for i in range(N)]
    with running(tmp_path / "trees") as url, ramify.Client(url) as client:
        tree = client.create("t")
        tree.add(X, ids=[f"T{i}" for i in range(N)], payloads=payloads)
        for i in range(0, 60, 2):
            tree.forget(f"T{i}")

        def right(some):
            assert all(one["payload"] == f"text{one['number']}" for one in some)
            assert all(one["id"] == f"T{one['number']}" for one in some)
            assert not {one["number"] for one in some} & set(range(0, 60, 2))

        for cluster in tree.clusters(n_clusters=5):
            right(cluster.examples)
            node = tree.node(cluster.node_id, members=100)
            right(node["members"])
            right(node["representatives"])
            assert len(node["members"]) == cluster.size
            rows = X[[one["number"] for one in node["members"]]]
            assert np.ptp(rows, axis=0).max() < 15  # one of the groups
            assert cluster.first_point == min(one["number"] for one in node["members"])
        found = tree.assign(X[33:34], n_clusters=5)
        assert (found.points.tolist(), found.point_ids) == ([33], ["T33"])
        assert tree.path("T33")[-1] == -1 - 33
        right([tree.point("T33")])
        right([hit._asdict() for hit in tree.search("text33")])
        assert tree.past.changes(since=0).inserted.tolist() == [
            i for i in range(N) if i >= 60 or i % 2
        ]
        whole = tree.export()
        assert whole["ids"] == [f"T{i}" for i in whole["points"]]


@pytest.mark.no_asan
def test_a_server_lists_all_points_of_leaves_that_count_repeats(tmp_path):
    from ramify.serve import running

    X = stream(np.random.default_rng(0), repeats=True)
    with running(tmp_path / "trees") as url, ramify.Client(url) as client:
        tree = client.create("t", duplicates="count")
        tree.add(X, payloads=[f"text{i}" for i in range(N)])
        gone = {0, 1, 2, 3}
        for i in gone:
            tree.forget(i)
        listed = []
        for cluster in tree.clusters(n_clusters=5):
            members = tree.node(cluster.node_id, members=200)["members"]
            assert len(members) == cluster.size
            assert all(one["payload"] == f"text{one['number']}" for one in members)
            listed += [one["number"] for one in members]
            assert set(cluster.representatives) <= set(listed)
        assert sorted(listed) == [i for i in range(N) if i not in gone]


def test_the_command_line_names_points_by_number(tmp_path):
    X = stream(np.random.default_rng(0))
    model = forgotten(X)
    model.save(tmp_path / "t")
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g")
    words = ("assign", tmp_path / "t", tmp_path / "x.csv", "-k", 6)
    table = np.genfromtxt(io.StringIO(done(*words).out), delimiter=",", names=True)
    numbers = model.point_numbers_
    assert table["nearest"][numbers].tolist() == numbers.tolist()
    assert table["cluster"][numbers].tolist() == model.cut(n_clusters=6).tolist()
    (tmp_path / "names.csv").write_text("name\n" + "".join(f"text{i}\n" for i in range(N)))
    words = ("--names", tmp_path / "names.csv", "-o", tmp_path / "t.html")
    done("plot", tmp_path / "t", *words, "--quiet")
    page = (tmp_path / "t.html").read_text()
    assert all((f'"text{i}"' in page) == (i in numbers) for i in range(N))


def test_pictures_show_arrival_numbers_once_points_have_left():
    X = stream(np.random.default_rng(0))
    model = forgotten(X)
    tree, texts = model.hierarchy(), [f"text{i}" for i in range(N)]
    last = str(tree.point_numbers[-1])
    assert f'"{last}"' in explore(tree).html
    page = explore(tree, X, texts, columns={"group": X[:, 0]}).html
    assert (
        page
        == explore(
            tree,
            model.points(),
            [texts[i] for i in tree.point_numbers],
            columns={"group": X[tree.point_numbers, 0]},
        ).html
    )


def test_names_of_lost_nodes_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr("ramify.estimators._anchors._MOST_LOST", 3)
    model = OHAC(keep=Last(8))
    for i, row in enumerate(stream(np.random.default_rng(0))):
        number = model.insert(row)
        model.edit.rename(-1 - number, f"name{i}")
    said = model.edit.list()
    assert said.lost_names == {-1 - i: f"name{i}" for i in range(N - 11, N - 8)}
    assert len(said.names) == 8


def test_a_leaf_that_was_merged_and_left_can_be_loaded(tmp_path):
    """The point of a merged leaf leaves, and then the leaf that it was merged into."""
    model = OHAC(keep=Budget(2)).fit([[0.0], [0.0], [5.0]])
    model.forget(1)
    model.forget(0)
    model.save(tmp_path / "t")
    for again in (ramify.load(tmp_path / "t"), pickle.loads(pickle.dumps(model))):
        assert again.partial_fit([[1.0]]).point_numbers_.tolist() == [2, 3]


def test_a_snapshot_says_why_it_does_not_know_a_repeat():
    """Pairs of a model may name any point, and a snapshot knows the first of each leaf."""
    model = ramify.OHAC(duplicates="count").fit([[0.0], [0.0], [9.0]])
    model.edit.cannot_link(1, 2)
    with pytest.raises(IndexError, match=r"leaves stand for several points.*cut the model"):
        model.hierarchy().cut(n_clusters=2, apart=model.edit.list().apart)
    assert model.cut(n_clusters=2).tolist() == [0, 0, 1]


def test_the_first_point_of_a_cluster_is_one_that_is_there():
    """The first of its first leaf had left, and an earlier one than the leaf's next is in it."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        model = ramify.OHAC(duplicates="count").fit(rng.integers(0, 3, (12, 1)).astype(float))
        model.forget(rng.choice(12, 5, replace=False).tolist())
        found = model.clusters(n_clusters=2)
        assert [one.first_point for one in found] == [min(one.members) for one in found]
