"""Offline HAC is SciPy's linkage, cluster by cluster and height by height."""

import fastcluster
import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist

from ramify import HAC
from tests.oracles.hac import assert_greedy, offline_hac
from tests.oracles.linkages import LINKAGES, OFFERED, Linkage, unit_rows
from tests.oracles.recount import examine
from tests.oracles.trees import clusters, fingerprints, from_children, leaf
from tests.strategies import examples, few_values, grid_rows, loose_rows, rows_for, scaled

EXAMPLES = examples(15)


def reference(X, metric, name, engine=scipy_linkage):
    X = np.asarray(X, dtype=np.float64)
    if name == "average":
        return engine(pdist(X, metric), "average")
    rows = unit_rows(X) if metric == "cosine" else X
    return engine(pdist(rows), name)


def assert_same_tree(hierarchy, Z, rtol):
    """Equal sets of clusters, each at an equal height. SciPy's own 1 - cos, of numbers
    near 1, is good to about 1e-16: hence the absolute part."""
    ours = fingerprints(hierarchy.children)
    theirs = fingerprints(Z[:, :2].astype(np.int64))
    assert set(ours.tolist()) == set(theirs.tolist())
    heights = hierarchy.heights[np.argsort(ours)]
    np.testing.assert_allclose(heights, Z[np.argsort(theirs), 2], rtol=rtol, atol=1e-14)


@pytest.mark.parametrize(("metric", "linkage"), [pair for pair in OFFERED if pair[0] != "dot"])
def test_equals_scipy(metric, linkage):
    @settings(max_examples=EXAMPLES)
    @given(rows_for(metric, min_size=2, max_size=120))
    def check(X):
        model = HAC(metric=metric, linkage=linkage).fit(X)
        assert_same_tree(model.hierarchy(), reference(X, metric, linkage), 1e-9)
        examine(model, X)

    check()


# The core changes its method with the size of the forest, at 128 clusters, and
# with the dimension, at 16.
@pytest.mark.filterwarnings("ignore::ramify.errors.DeepTreeWarning")
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(
    ("n", "d"),
    [(128, 2), (129, 2), (129, 15), (129, 16), (3000, 2), (3000, 3), (1500, 10), (1500, 50)],
)
def test_equals_scipy_on_thousands_of_points(n, d, linkage):
    X = np.random.default_rng(d).normal(size=(n if n < 600 else scaled(n), d))
    model = HAC(linkage=linkage).fit(X)
    assert_same_tree(model.hierarchy(), reference(X, "sqeuclidean", linkage), 1e-9)
    examine(model, X)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equals_scipy_on_thousands_of_directions(linkage):
    X = np.random.default_rng(3).normal(size=(scaled(1500), 6))
    model = HAC(metric="cosine", linkage=linkage).fit(X)
    assert_same_tree(model.hierarchy(), reference(X, "cosine", linkage), 1e-9)
    examine(model, X)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equals_scipy_on_long_rows_that_fill_few_dimensions(linkage):
    rng = np.random.default_rng(5)
    X = np.exp(rng.normal(size=(1500, 4))) @ rng.normal(size=(4, 40))
    model = HAC(linkage=linkage).fit(X)
    assert_same_tree(model.hierarchy(), reference(X, "sqeuclidean", linkage), 1e-9)
    examine(model, X)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equals_scipy_on_clustered_and_skewed_points(linkage):
    rng = np.random.default_rng(8)
    centres = 100 * rng.normal(size=(40, 3))
    n = scaled(2000)
    for X in (
        centres[rng.integers(40, size=n)] + rng.normal(size=(n, 3)),
        np.exp(2 * rng.normal(size=(n, 3))),
    ):
        model = HAC(linkage=linkage).fit(X)
        assert_same_tree(model.hierarchy(), reference(X, "sqeuclidean", linkage), 1e-9)
        examine(model, X)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n", [100, 700])
def test_equals_scipy_in_single_precision(n, linkage):
    X = np.random.default_rng(1).normal(size=(n, 3)).astype(np.float32)
    model = HAC(linkage=linkage).fit(X)
    assert_same_tree(model.hierarchy(), reference(X, "sqeuclidean", linkage), 1e-3)
    examine(model, X)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equals_fastcluster(linkage):
    X = np.random.default_rng(4).normal(size=(scaled(2000), 4))
    Z = reference(X, "sqeuclidean", linkage, fastcluster.linkage)
    assert_same_tree(HAC(linkage=linkage).fit(X).hierarchy(), Z, 1e-9)


#: Wide enough for helpers to share each search.
WIDE = {
    "no structure": lambda r: r.normal(size=(2100, 130)),
    "ties": lambda r: r.integers(0, 2, size=(2100, 130)),
    "clusters": lambda r: (
        r.normal(size=(30, 130))[r.integers(30, size=2100)] + 0.1 * r.normal(size=(2100, 130))
    ),
    "far from the origin": lambda r: 1e6 + r.normal(size=(2100, 130)),
    "some rows far away": lambda r: r.standard_cauchy(size=(2100, 130)),
}


@pytest.mark.threads
@pytest.mark.filterwarnings("ignore::ramify.errors.DeepTreeWarning")
@pytest.mark.parametrize(
    ("data", "metric", "linkage"),
    [(data, "sqeuclidean", "average") for data in WIDE]
    + [("ties", *pair) for pair in OFFERED if pair != ("sqeuclidean", "average")],
)
def test_threads_share_searches_and_build_the_same_tree(data, metric, linkage):
    X = WIDE[data](np.random.default_rng(7)).astype(np.float32)
    alone, both, many = (
        HAC(metric=metric, linkage=linkage, n_jobs=jobs).fit(X) for jobs in (None, 2, 5)
    )
    for model in (both, many):
        np.testing.assert_array_equal(model.children_, alone.children_)
        np.testing.assert_array_equal(model.distances_, alone.distances_)
        assert model.hierarchy().node_ids.tolist() == alone.hierarchy().node_ids.tolist()


@pytest.mark.parametrize("linkage", ["average", "centroid"])
def test_equals_the_oracle_under_dot(linkage):
    @settings(max_examples=EXAMPLES)
    @given(loose_rows(max_size=60))
    def check(X):
        gaps = []
        expected = offline_hac(len(X), Linkage(X, "dot", linkage), gaps)
        assume(min(gaps, default=1) > 1e-10)
        model = HAC(metric="dot", linkage=linkage).fit(X)
        assert clusters(from_children(model.hierarchy().children)) == clusters(expected)
        examine(model, X)

    check()


def test_equals_fastcluster_under_dot_on_thousands_of_points():
    # Mean distances of any symmetric matrix will do, so minus the products plus a
    # constant (linkage wants distances ≥ 0) gives the same tree, shifted.
    X = np.random.default_rng(6).normal(size=(scaled(1500), 5))
    products = (X @ X.T)[np.triu_indices(len(X), 1)]
    Z = fastcluster.linkage(products.max() - products, "average")
    Z[:, 2] -= products.max()
    ours = HAC(metric="dot").fit(X).hierarchy()
    marks, theirs = fingerprints(ours.children), fingerprints(Z[:, :2].astype(np.int64))
    assert set(marks.tolist()) == set(theirs.tolist())
    np.testing.assert_allclose(
        ours.heights[np.argsort(marks)], Z[np.argsort(theirs), 2], rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(("metric", "linkage"), OFFERED)
def test_every_merge_is_allowed_where_there_are_ties(metric, linkage):
    @settings(max_examples=EXAMPLES)
    @given(grid_rows(max_size=40))
    def check(X):
        model = HAC(metric=metric, linkage=linkage).fit(X)
        tree = from_children(model.hierarchy().children)
        L = Linkage(X, metric, linkage)
        assert_greedy([leaf(i) for i in range(len(X))], tree, L, 1e-7)
        examine(model, X)

    check()


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("d", "levels"), [(2, 12), (16, 2)])
def test_every_merge_of_a_large_forest_is_allowed_where_there_are_ties(d, levels, linkage):
    X = np.random.default_rng(d).integers(levels, size=(150, d)).astype(np.float64)
    L = Linkage(X, "sqeuclidean", linkage)
    tree = from_children(HAC(linkage=linkage).fit(X).hierarchy().children)
    assert_greedy([leaf(i) for i in range(150)], tree, L, 1e-7)


@given(few_values())
def test_ties_follow_the_documented_order_to_the_letter(X):
    L = Linkage(X, "sqeuclidean", "average")
    tree = from_children(HAC().fit(X).hierarchy().children)
    assert clusters(tree) == clusters(offline_hac(len(X), L))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n", [100, 600, 1500])
def test_large_forests_with_ties_have_scipys_heights(n, linkage):
    # Trees may differ where there are ties. Among three heaps that are not
    # equally far from each other no choice is left but inside the heaps.
    values = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    X = values[np.random.default_rng(n).integers(3, size=n)]
    model = HAC(linkage=linkage).fit(X)
    Z = reference(X, "sqeuclidean", linkage)
    np.testing.assert_allclose(model.hierarchy().heights, Z[:, 2], rtol=1e-9, atol=1e-9)
    examine(model, X)


@pytest.mark.parametrize("n", [64, 600])
def test_equal_points_are_merged_in_balance(n):
    # The size rule: doubles before quadruples, so no leaf lies deeper than log2 n.
    model = HAC().fit(np.ones((n, 2)))
    assert model.hierarchy().depths().max() == int(np.ceil(np.log2(n)))


def test_one_and_two_points():
    one = HAC().fit([[3.0, 4.0]])
    assert one.hierarchy().children.shape == (0, 2)
    examine(one, np.array([[3.0, 4.0]]))
    two = HAC().fit([[3.0, 4.0], [0.0, 0.0]])
    assert two.hierarchy().children.tolist() == [[0, 1]]
    assert two.hierarchy().heights.tolist() == [25.0]
