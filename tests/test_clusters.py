# SPDX-License-Identifier: BSD-3-Clause
"""Cluster objects: of a tree and of a live model, against the labels of the same cut."""

import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import HAC, OHAC, OTD, Hierarchy, datasets
from ramify.hierarchy import Cluster, Clusters
from tests.every import every_estimator
from tests.shapes import hierarchies

CUTS = [
    {"n_clusters": 1},
    {"n_clusters": 7},
    {"height": 1.5},
    {"max_size": 9},
    {"min_size": 8},
    {"n_clusters": 3, "min_size": 8},
    {"n_clusters": 3, "min_size": 8, "small": "noise"},
    {"height": 1.0, "min_size": 4},
]
X = np.random.default_rng(0).normal(size=(120, 3))
NAMES = [f"p{i}" for i in range(120)]


def ids_of(tree: Hierarchy) -> np.ndarray:
    return np.concatenate([-1 - tree.point_numbers, tree.node_ids])


def assert_describes(found: Clusters, tree: Hierarchy, labels, rows) -> None:
    """Everything, counted again from the labels and the rows."""
    assert len(found) == labels.max() + 1
    assert found.labels.tolist() == labels.tolist()
    heights = np.concatenate([np.zeros(tree.n_leaves), tree.monotone_heights])
    for label, cluster in enumerate(found):
        members = np.flatnonzero(labels == label)
        assert cluster.label == label
        assert cluster.members.tolist() == members.tolist()
        assert cluster.size == len(members)
        assert cluster.first_point == tree.point_numbers[members[0]]
        below = set(tree.leaves(cluster).tolist())  # a cluster goes for its node
        assert below <= set(members.tolist())
        assert cluster.node_id == ids_of(tree)[cluster.node]
        assert cluster.height == heights[cluster.node]
        if rows is not None:
            mean = rows[members].mean(axis=0)
            np.testing.assert_allclose(cluster.mean, mean, atol=1e-6)
            spread = ((rows[members] - mean) ** 2).sum(axis=1).mean()
            assert cluster.spread == pytest.approx(spread, abs=1e-6)
            assert set(cluster.representatives.tolist()) <= set(members.tolist())
            nearest = members[np.argmin(((rows[members] - mean) ** 2).sum(axis=1))]
            assert cluster.representatives[0] == nearest
            assert len(cluster.representatives) == min(3, len(members))


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_clusters_of_a_tree(cut):
    tree = OHAC(linkage="ward").fit(X, ids=NAMES).hierarchy()
    assert_describes(tree.clusters(X, **cut), tree, tree.cut(**cut), X)
    bare = tree.clusters(**cut)
    assert_describes(bare, tree, tree.cut(**cut), None)
    assert bare.means is bare.spreads is bare[0].mean is bare[0].spread is None
    with pytest.raises(ValueError, match="representatives need the rows"):
        bare.representatives()


@pytest.mark.parametrize("cut", CUTS, ids=str)
@every_estimator
def test_clusters_of_a_live_tree(Estimator, cut):
    model = Estimator().fit(X, ids=NAMES)
    tree = model.hierarchy()
    if cut.keys() >= {"n_clusters", "min_size"} and tree.cut(min_size=8).max() < 2:
        with pytest.raises(ValueError, match=r"clusters? of at least 8 points, and no more"):
            model.clusters(**cut)
        return
    found = model.clusters(**cut)
    assert_describes(found, tree, tree.cut(**cut), X)
    again = tree.clusters(X, **cut)
    assert found.node_ids.tolist() == again.node_ids.tolist()
    assert found[0].representative_names == [NAMES[i] for i in again[0].representatives]
    for cluster in found[:3]:
        node = model.leaves(cluster.node_id).tolist()
        assert node == model.leaves(cluster).tolist() == tree.leaves(cluster).tolist()


@given(hierarchies(), st.data())
def test_nodes_of_clusters_on_trees_of_any_shape(tree, data):
    n = tree.n_leaves
    least = data.draw(st.integers(1, n))
    most = int(tree.cut(min_size=least).max()) + 1
    count = data.draw(st.integers(1, most))
    small = data.draw(st.sampled_from(["join", "noise"]))
    for cut in (
        {"n_clusters": data.draw(st.integers(1, n))},
        {"max_size": least},
        {"min_size": least, "small": small},
        {"n_clusters": count, "min_size": least, "small": small},
    ):
        labels = tree.cut(**cut)
        found = tree.clusters(**cut)
        assert found.sizes.tolist() == np.bincount(labels[labels >= 0]).tolist()
        for cluster in found:
            below = tree.leaves(cluster.node)
            assert set(labels[below].tolist()) <= {cluster.label}
            if "min_size" not in cut:
                assert len(below) == cluster.size
            parent = tree.parents[cluster.node]
            if parent >= 0:  # and it could not lie any higher
                assert len(set(labels[tree.leaves(parent)].tolist())) > 1


@pytest.mark.parametrize("metric", ["cosine", "dot"])
def test_the_models_metric_decides_who_is_central(metric):
    rows = X + 2
    model = OHAC(metric=metric).fit(rows)
    directions = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    kept = directions if metric == "cosine" else rows
    found = model.clusters(n_clusters=4)
    assert_describes(found, model.hierarchy(), model.hierarchy().cut(n_clusters=4), kept)
    for cluster in found:
        few = cluster.representatives
        by = "cosine" if metric == "cosine" else "sqeuclidean"
        tree = model.hierarchy()
        assert few.tolist() == tree.representatives(cluster, rows, metric=by).tolist()


# --- while it lives ---------------------------------------------------------------------


def test_clusters_of_a_tree_that_has_grown_do_not_guess():
    model = OHAC().partial_fit(X[:60])
    found = model.clusters(n_clusters=3)
    assert len(found[0].members) == found[0].size  # while it is still that tree
    later = model.clusters(n_clusters=4)
    still = model.hierarchy().clusters(model.points(), n_clusters=4)
    model.partial_fit(X[60:])
    assert later.sizes.sum() == 60
    with pytest.raises(RuntimeError, match="has changed since these clusters were read"):
        later[0].members  # noqa: B018
    assert still[0].members.tolist() == np.flatnonzero(still.labels == 0).tolist()
    refitted = model.clusters(n_clusters=2)
    model.fit(X)
    with pytest.raises(RuntimeError, match="has changed"):
        refitted.to_frame()


def test_a_copy_keeps_the_arrays():
    found = OHAC().fit(X).clusters(n_clusters=3)
    copy = pickle.loads(pickle.dumps(found))
    assert copy.node_ids.tolist() == found.node_ids.tolist()
    assert repr(copy[1]) == f"<Cluster 1: {found.sizes[1]} points, height {found.heights[1]:.4g}>"
    with pytest.raises(RuntimeError, match="only their arrays"):
        copy.members(0)


# --- levels -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"min_size": 5}, {"min_size": 5, "small": "noise"}])
def test_levels_say_which_cluster_sits_in_which(options):
    model = OHAC(linkage="ward").fit(X)
    tree = model.hierarchy()
    counts = (2, 5, 9)
    for levels in (tree.levels(*counts, X=X, **options), model.levels(*counts, **options)):
        assert levels.labels.shape == (120, 3)
        for column, count, level in zip(levels.labels.T, counts, levels, strict=True):
            assert column.tolist() == tree.cut(n_clusters=count, **options).tolist()
            assert_describes(level, tree, column, X)
        for above, below in ((0, 1), (1, 2)):
            for cluster in levels[below]:
                assert set(levels.labels[cluster.members, above]) == {cluster.parent}
                assert cluster.label in levels.children(above, cluster.parent)
        assert levels[0].parents is None
        assert levels[0][0].parent is None
        assert levels[2].within(levels[0]).tolist() == [
            levels.labels[cluster.members[0], 0] for cluster in levels[2]
        ]


def test_clusters_across_another_cut_are_in_none():
    tree = HAC().fit(X).hierarchy()
    with pytest.raises(ValueError, match="lies in several clusters"):
        tree.clusters(n_clusters=2).within(tree.clusters(n_clusters=9))
    with pytest.raises(ValueError, match="cuts of 120 and of 50 points"):
        tree.clusters(n_clusters=2).within(HAC().fit(X[:50]).hierarchy().clusters(n_clusters=2))


# --- words ------------------------------------------------------------------------------


def telling(texts, labels, label):
    """Words by p log(p / q)², from the definition."""
    words = [[w for w in text.lower().split() if len(w) > 1] for text in texts]
    everywhere = Counter(w for some in words for w in some)
    here = Counter(w for some, own in zip(words, labels, strict=True) if own == label for w in some)
    p = {w: here[w] / here.total() for w in here}
    q = {w: everywhere[w] / everywhere.total() for w in here}
    ratio = {w: math.log(p[w] / q[w]) for w in here}
    score = {w: round(math.copysign(p[w] * ratio[w] ** 2, ratio[w]), 12) for w in here}
    return sorted(score, key=lambda w: (-score[w], -here[w], w))


def test_keywords_tell_a_cluster_from_the_others():
    rng = np.random.default_rng(3)
    vocabulary = [f"word{i}" for i in range(30)] + ["the"] * 20
    texts = [" ".join(rng.choice(vocabulary, size=6)) for _ in range(120)]
    tree = OHAC().fit(X).hierarchy()
    found = tree.clusters(n_clusters=5, texts=texts)
    for cluster, words in zip(found, found.keywords(8), strict=True):
        assert words == telling(texts, found.labels, cluster.label)[:8]
        assert cluster.keywords == words[:5]
    assert tree.clusters(n_clusters=5).keywords() is None


def test_keywords_of_real_queries():
    queries = datasets.intents()
    model = OHAC(metric="cosine", linkage="ward").fit(queries.points)
    found = model.clusters(n_clusters=150, texts=queries.texts)
    most = Counter(queries.intent[found[found.labels[0]].members].tolist()).most_common(1)
    assert most[0][0] == queries.intent[0] == "traffic"
    assert found[found.labels[0]].keywords[0] == "traffic"
    common = {"the", "to", "is", "of"}
    named = [word for words in found.keywords(3) for word in words]
    assert sum(word in common for word in named) < 0.01 * len(named)


# --- tables, ids, errors ----------------------------------------------------------------


def test_a_frame_has_a_row_for_each_cluster():
    model = OHAC(metric="cosine", linkage="ward").fit(X, ids=NAMES)
    texts = [f"text {i % 4}" for i in range(120)]
    frame = model.clusters(n_clusters=4, texts=texts).to_frame()
    assert list(frame) == [
        *("label", "node", "node_id", "size", "height", "first_point"),
        *("spread", "representatives", "keywords"),
    ]
    assert frame["size"].sum() == 120
    assert set(frame["representatives"][0]) <= set(NAMES)
    table = model.levels(2, 4).to_frame()
    assert table["level"].tolist() == [0, 0, 1, 1, 1, 1]
    assert table["parent"].tolist()[:2] == [-1, -1]


def test_points_by_id_wherever_they_go_by_number():
    model = OHAC().partial_fit(X[:100], ids=NAMES[:100])
    for i in range(100, 120):
        model.insert(X[i], id=NAMES[i])
        assert model.path(NAMES[i]).tolist() == model.path(i).tolist()  # the latest, too
    tree = model.hierarchy()
    assert tree.place_of("p7") == model.number_of("p7") == 7
    assert tree.path("p7").tolist() == tree.path(7).tolist()
    assert tree.path_code("p7") == tree.path_code(7) == model.path_code("p7")
    assert tree.leaves("p7").tolist() == [7]
    assert tree.lca("p7", "p9") == tree.lca(7, 9)
    assert tree.lca("p7", ["p9", "p3"]).tolist() == tree.lca(7, [9, 3]).tolist()
    assert tree.representatives("p7", X).tolist() == [7]
    assert model.lca("p7", "p9") == model.lca(7, 9)
    assert model.leaves("p7").tolist() == [7]
    labels = model.cluster_of(["p7", "p9"], n_clusters=5)[0]
    assert labels.tolist() == model.cluster_of([7, 9], n_clusters=5)[0].tolist()
    assert tree.node_of(model.lca(7, 9)) == tree.lca(7, 9)
    named = tree.with_names([f"q{i}" for i in range(120)])
    assert named.place_of("q7") == 7
    with pytest.raises(KeyError, match="no point has the name 'p7'"):
        named.path("p7")
    for wrong in (model.path, model.leaves, tree.path, lambda name: model.nearest(points=name)):
        with pytest.raises(KeyError, match="nobody"):
            wrong("nobody")


def test_numbers_stay_numbers_where_ids_are_integers():
    model = OHAC().fit(X, ids=[1000 + i for i in range(120)])
    assert model.path(3)[-1] == -4
    assert model.hierarchy().place_of(1003) == 3
    with pytest.raises(KeyError, match="no point has the id 'a'"):
        model.path("a")
    with pytest.raises(KeyError, match="has no node with the id 100000"):
        model.leaves(100_000)
    with pytest.raises(TypeError, match="expected a node id"):
        model.leaves(1.5)


# --- neighbours -------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "dot"])
@pytest.mark.parametrize("k", [1, 4, 119, 500])
def test_neighbours_of_stored_points(metric, k):
    rows = X.copy()
    rows[50] = rows[51] = rows[3]  # twins
    model = OHAC(metric=metric).fit(rows, ids=NAMES)
    wanted = [3, 50, 51, 99]
    found, apart = model.nearest(points=[NAMES[i] for i in wanted], k=k)
    again, _ = model.nearest(points=wanted, k=k)
    assert found.tolist() == again.tolist()
    assert found.shape == (4, min(k, 119))
    every, distances = model.nearest(rows[wanted], k=120)
    for place, i in enumerate(wanted):
        others = every[place] != i
        np.testing.assert_allclose(apart[place], distances[place][others][:k], atol=1e-12)
        assert i not in found[place]
        if metric != "cosine":  # twins' directions may differ by the last digit
            assert found[place].tolist() == every[place][others][:k].tolist()
    alone, far = model.nearest(points="p99")
    assert alone.tolist() == found[3, :1].tolist()
    assert far.tolist() == apart[3, :1].tolist()


def test_k_neighbours_of_rows():
    model = OHAC().fit(X)
    points, distances = model.nearest(X[:5] + 0.1, k=3)
    apart = ((X[None] - (X[:5] + 0.1)[:, None]) ** 2).sum(axis=2)
    assert points.tolist() == np.argsort(apart, axis=1)[:, :3].tolist()
    np.testing.assert_allclose(distances, np.sort(apart, axis=1)[:, :3])
    assert points[:, 0].tolist() == model.nearest(X[:5] + 0.1)[0].tolist()


def test_wrong_questions():
    model = OHAC().fit(X)
    tree = model.hierarchy()
    with pytest.raises(ValueError, match="give X or points"):
        model.nearest()
    with pytest.raises(ValueError, match="k=0"):
        model.nearest(X[:1], k=0)
    with pytest.raises(IndexError, match="no point with the number 120"):
        model.nearest(points=120)
    with pytest.raises(ValueError, match="the only point has no neighbour"):
        OTD().fit([[1.0]]).nearest(points=0)
    with pytest.raises(ValueError, match=r"ascending numbers of clusters, got 5, 2"):
        tree.levels(5, 2)
    with pytest.raises(ValueError, match="got none"):
        model.levels()
    with pytest.raises(ValueError, match=r"texts: expected 120, one for each point, got 2"):
        model.clusters(n_clusters=2, texts=["a", "b"])
    with pytest.raises(TypeError, match="got one text"):
        tree.clusters(n_clusters=2, texts="a")
    with pytest.raises(TypeError, match="expected strings, got int for point 1"):
        tree.clusters(n_clusters=2, texts=["a", 1] * 60)
    with pytest.raises(ValueError, match=r"X: expected 120 rows"):
        tree.clusters(X[:5], n_clusters=2)
    with pytest.raises(ValueError, match="goes with min_size"):
        model.clusters(n_clusters=2, small="noise")
    with pytest.raises(ValueError, match="label=2: expected 0 to 1"):
        model.clusters(n_clusters=2).members(2)
    with pytest.raises(IndexError):
        model.clusters(n_clusters=2)[2]
    assert isinstance(model.clusters(n_clusters=2)[-1], Cluster)
