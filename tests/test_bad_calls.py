"""Numbers that are none: every verb says what was wrong in words, and nothing is harmed."""

import re
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
import scipy.cluster.hierarchy
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

import ramify
from ramify import GRINCH, HAC, OHAC, OTD, RandomCut
from ramify.estimators._options import _METRICS_ELSEWHERE
from ramify.ray import ShardedOHAC

X = np.random.default_rng(0).normal(size=(12, 3))

NOT_POINTS = [10**30, -1, 1.5, "x", None, np.nan, True, 2**63, 2**64, [10**30], [-(2**63)], [True]]
NOT_POINTS += [np.full(3, 10**18), np.array([1.5]), np.array([2**63], np.uint64), b"x"]

#: Metrics of rows of true and false.
BINARY = ("dice", "jaccard", "rogerstanimoto", "russellrao", "yule")

#: Of points, and of two points.
OF_ONE = ("forget", "path", "path_code", "edit.release")
OF_TWO = ("edit.must_link", "edit.cannot_link", "edit.unlink", "lca")

#: What Python, NumPy and the bindings say of what nobody looked at.
UNREAD = ("incompatible function", "ambiguous", "not iterable", "too large", "unhashable")


def refused(call, *given, **more):
    with pytest.raises((ValueError, TypeError, KeyError, IndexError, LookupError)) as caught:
        call(*given, **more)
    said = str(caught.value)
    assert not any(words in said for words in UNREAD), said


def found(model, verb):
    """A verb of a model, or of its ``edit``, if it has it."""
    try:
        return attrgetter(verb)(model)
    except AttributeError:
        return None


@pytest.mark.parametrize("Estimator", [OHAC, OTD, HAC, GRINCH, RandomCut])
@pytest.mark.parametrize("given", NOT_POINTS, ids=repr)
def test_forget_10_to_the_30_showed_a_signature(Estimator, given):
    model = Estimator().fit(X)
    before = model.hierarchy()
    for verb in OF_ONE:
        if (ask := found(model, verb)) is not None:
            refused(ask, given)
    for verb in OF_TWO:
        if (ask := found(model, verb)) is not None and not isinstance(given, list | np.ndarray):
            refused(ask, 0, given)
    refused(model.nearest, points=given)
    refused(model.cluster_of, given, n_clusters=2)
    assert model.hierarchy() == before
    model.check()


@pytest.mark.parametrize("given", [10**30, -1, 1.5, "x", None, np.arange(2), np.zeros((0, 3))])
@pytest.mark.parametrize("verb", ["changes", "dirty"])
def test_a_version_that_is_none(verb, given):
    model = OHAC(history=3, n_clusters=2).fit(X)
    with pytest.raises((ValueError, TypeError, ramify.errors.HistoryError)) as caught:
        getattr(model.past, verb)(since=given)
    assert "since" in str(caught.value) or "version" in str(caught.value)


@pytest.mark.parametrize("given", NOT_POINTS, ids=repr)
def test_a_true_point_stopped_shards_for_good(given, tmp_path):
    """It was written down as point 1, no shard could take it, and nothing came after it."""
    with ShardedOHAC(2, folder=tmp_path / "shards", engine="local") as model:
        model.partial_fit(X)
        refused(model.forget, given)
        assert model.forget(1) == 1
    with ramify.open(tmp_path / "folder", OHAC()) as tree:
        tree.partial_fit(X)
        refused(tree.forget, given)
        assert tree.forget(1) == 1


@pytest.mark.parametrize("linkage", ["ward", "centroid"])
def test_scikit_learns_own_defaults_were_refused(linkage):
    """Its metric is 'euclidean', and its linkage is 'ward'."""
    plain = OHAC(linkage=linkage, n_clusters=3).fit(X)
    model = OHAC(metric="euclidean", linkage=linkage, n_clusters=3).fit(X)
    assert model.hierarchy() == plain.hierarchy()
    points, distances = model.nearest(X + 0.1, k=2)
    squared = plain.nearest(X + 0.1, k=2)
    assert np.array_equal(points, squared[0])
    assert np.array_equal(distances, np.sqrt(squared[1]))
    assert np.array_equal(model.assign(X + 0.1).distances, distances[:, 0])
    offline = HAC(metric="euclidean", linkage=linkage).fit(X).hierarchy()
    expected = scipy_linkage(X, linkage)[:, 2]
    np.testing.assert_allclose(offline.monotone_heights, np.maximum.accumulate(expected))


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        ({"metric": "euclidean"}, "metric='sqeuclidean'.*linkage\\(X, 'average'\\).*from_linkage"),
        ({"metric": "cityblock"}, "linkage\\(X, 'average', 'cityblock'\\).*from_linkage"),
        ({"linkage": "complete"}, "linkage\\(X, 'complete'\\).*from_linkage.*from_hierarchy"),
    ],
)
def test_a_refusal_named_no_way_out(options, way_out):
    with pytest.raises(ValueError, match=way_out):
        OHAC(**options).fit(X)


@pytest.mark.parametrize("metric", sorted({*_METRICS_ELSEWHERE, "precomputed"}))
def test_the_way_out_of_a_matrix_or_manhattan_did_not_run(metric):
    rows = (np.abs(X) > 0.5) if metric in BINARY else np.abs(X)
    with pytest.raises(ValueError, match="is not offered") as caught:
        OHAC(metric=metric).fit(rows)
    call = re.search(r"Z = (scipy.*?\)), then", str(caught.value)).group(1)
    Z = eval(call, {"scipy": scipy, "X": rows, "D": squareform(pdist(rows))})
    assert ramify.Hierarchy.from_linkage(Z).n_leaves == len(X)


def test_text_in_a_table_named_no_way_out():
    for table in ([["red", 1.0]], pd.DataFrame({"colour": ["red"], "size": [1.0]})):
        with pytest.raises(ValueError, match=r"contains text: 'red'.*ColumnTransformer"):
            OHAC().fit(table)


def test_the_way_out_leads_somewhere():
    tree = ramify.Hierarchy.from_linkage(scipy_linkage(X, "complete"))
    model = OHAC.from_hierarchy(tree, X).partial_fit(X[:1] + 0.1)
    assert len(model) == 13


@pytest.mark.parametrize("linkage", ["ward", "centroid"])
def test_a_model_of_roots_could_not_be_read_again(tmp_path, linkage):
    """Nor a folder of it: what was acknowledged was lost."""
    model = OHAC(metric="euclidean", linkage=linkage, n_clusters=3).fit(X)
    model.save(tmp_path / "model.ramify")
    assert ramify.load(tmp_path / "model.ramify").hierarchy() == model.hierarchy()
    with ramify.open(tmp_path / "folder", OHAC(metric="euclidean", linkage=linkage)) as tree:
        tree.add(X)
    with ramify.open(tmp_path / "folder") as tree:
        assert tree.hierarchy() == model.hierarchy()
        assert tree.polish() == model.polish()


@pytest.mark.parametrize("linkage", ["ward", "centroid"])
def test_a_snapshot_of_roots_is_polished_as_one_of_squares(linkage):
    tree = OHAC(metric="euclidean", linkage=linkage).fit(X).hierarchy()
    assert tree.polish(X, metric="euclidean") == tree.polish(X)
    with pytest.raises(ValueError, match="'euclidean' goes with linkage 'ward' and 'centroid'"):
        tree.polish(X, metric="euclidean", linkage="average")


def test_numbers_that_no_point_can_have_were_too_large_for_sqlite(tmp_path):
    with ramify.open(tmp_path, OHAC()) as tree:
        tree.add(X[:2], payloads=["a", "b"])
        assert tree.payloads([10**30, 1, -(10**30)]) == {1: "b"}
        with pytest.raises(TypeError, match="'float' object"):
            tree.payloads([1.5])


@pytest.mark.parametrize("apart", [[(0, 10**30)], [(0, 1, 2)], [0, 1], "ab", [(0.5, 1)]])
def test_what_is_no_pair_cannot_be_apart(apart):
    with pytest.raises(ValueError, match=r"pairs of points' arrival numbers"):
        OHAC().fit(X).hierarchy().cut(n_clusters=2, apart=apart)
