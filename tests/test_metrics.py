"""ramify.metrics: every measure against its definition, exact and sampled."""

import math
import pickle
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, homogeneity_score, v_measure_score

from ramify import HAC, OHAC, OTD, Hierarchy, metrics
from ramify.errors import FlatKernelWarning
from ramify.metrics import (
    Measure,
    cophenetic_correlation,
    cut_scores,
    dasgupta_cost,
    dendrogram_purity,
    fitting_gamma,
    revenue,
    revenue_fraction,
)
from tests.oracles import measures as oracle
from tests.shapes import KINDS, balanced, chain, pairs_of, shape, trees
from tests.strategies import SMALL, examples

NAMED = ("rbf", "cosine", "dot", "sqeuclidean")
EXAMPLES = examples(40)


@st.composite
def trees_over_points(draw, min_size=1, max_size=20):
    tree = draw(trees(min_size, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 20), label="columns")
    X = rng.normal(size=(len(tree) + 1, d)) / math.sqrt(d)
    if draw(st.booleans(), label="duplicates"):
        X = X[rng.integers(1 + len(X) // 4, size=len(X))]
    return tree, X.astype(draw(st.sampled_from([np.float32, np.float64])))


def sums(tree, X, **options):
    return [float(f(tree, X, **options)) for f in (revenue, dasgupta_cost)]


# --- revenue and cost ---------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::ramify.errors.FlatKernelWarning")
@pytest.mark.parametrize("similarity", NAMED)
@settings(max_examples=EXAMPLES)
@given(case=trees_over_points(), gamma=st.sampled_from([0.0, 0.3, 1.0]))
def test_revenue_and_cost_are_the_papers(similarity, case, gamma):
    tree, X = case
    w = oracle.similarity_matrix(X, similarity, gamma)
    total, earned, paid = oracle.sums(pairs_of(tree), w)
    scale = len(X) ** 3 * np.abs(w).max()
    options = {"similarity": similarity, "gamma": gamma}
    assert sums(tree, X, **options) == pytest.approx([earned, paid], rel=1e-9, abs=1e-13 * scale)
    if len(X) < 3:
        assert revenue_fraction(tree, X, **options) == 1.0
    elif abs(total) > 1e-9 * scale:
        expected = earned / ((len(X) - 2) * total)
        assert revenue_fraction(tree, X, **options) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=EXAMPLES)
@given(case=trees_over_points(), name=st.sampled_from(NAMED))
def test_a_matrix_and_a_callable_give_the_same(case, name):
    tree, X = case
    w = oracle.similarity_matrix(X, name)
    _, earned, paid = oracle.sums(pairs_of(tree), w)
    scale = 1e-13 * len(X) ** 3 * np.abs(w).max()

    def between(A, B):
        both = oracle.similarity_matrix(np.vstack([A, B]), name)
        return both[: len(A), len(A) :]

    for Y, similarity in ((w, "precomputed"), (X, between)):
        found = sums(tree, Y, similarity=similarity)
        assert found == pytest.approx([earned, paid], rel=1e-9, abs=scale)


@pytest.mark.parametrize("similarity", [*NAMED, "precomputed", "callable"])
@pytest.mark.parametrize("kind", KINDS)
def test_cost_and_revenue_add_up_to_n_times_the_sum(similarity, kind):
    """Blocks of rows, tiles of columns and their edges: sizes around all of them."""
    for n in (2, 31, 33, 128, 161, 400 if SMALL else 1300):
        rng = np.random.default_rng(n)
        tree = shape(kind, n, rng)
        X = rng.normal(size=(n, 3))
        w = X @ X.T
        Y = w if similarity == "precomputed" else X
        given_to = (lambda A, B: A @ B.T) if similarity == "callable" else similarity
        if similarity in NAMED:
            w = oracle.similarity_matrix(X, similarity)
        total = w[np.triu_indices(n, 1)].sum()
        earned, paid = sums(tree, Y, similarity=given_to, gamma=1.0)
        scale = n * np.abs(w).sum()
        assert earned + paid == pytest.approx(n * total, abs=1e-12 * scale)


@pytest.mark.parametrize("similarity", ["rbf", "sqeuclidean", "cosine", "dot"])
def test_far_from_the_origin_no_digits_are_lost(similarity):
    rng = np.random.default_rng(1)
    X = rng.integers(-1000, 1000, size=(60, 3)) / 1024.0
    tree = pairs_of(shape("random", 60, rng))
    far = X + 2.0**27  # about 1e8, and exact
    w = oracle.similarity_matrix(far, similarity)  # from differences, where it matters
    _, earned, paid = oracle.sums(tree, w)
    found = sums(tree, far, similarity=similarity, gamma=1.0)
    assert found == pytest.approx([earned, paid], rel=1e-9)


@pytest.mark.threads
def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(2)
    n = 300 if SMALL else 1500
    tree = shape("random", n, rng)
    for X in (rng.normal(size=(n, 3)), rng.normal(size=(n, 40)).astype(np.float32)):
        found = {
            (revenue(tree, X, n_jobs=jobs), dasgupta_cost(tree, X, n_jobs=jobs))
            for jobs in (1, 2, 3, 7, -1, None)
        }
        assert len(found) == 1


def test_the_papers_figures_for_iris():
    from sklearn.datasets import load_iris

    X = load_iris().data
    # The paper's Table 1: HAC 0.74.
    found = revenue_fraction(HAC().fit(X).hierarchy(), X, gamma=1.0)
    assert found == pytest.approx(0.750, abs=0.002)


def test_far_points_have_no_similarity_at_all():
    X = [[0.0], [1.0], [1e6]]
    assert revenue([[0, 1], [3, 2]], X, gamma=1.0) == math.exp(-1)
    assert revenue([[0, 2], [3, 1]], X, gamma=1.0) == 0
    with pytest.warns(FlatKernelWarning, match="all nearly 0"):
        far = revenue_fraction([[0, 2], [3, 1]], [[0.0], [1e6], [-1e6]], gamma=1.0)
    assert far == 1.0


# --- the scale of similarities -----------------------------------------------------------


@pytest.mark.parametrize("measure", [revenue, dasgupta_cost, revenue_fraction])
@pytest.mark.parametrize("sample", [None, 500])
def test_gamma_fits_by_default_and_is_reported(measure, sample):
    rng = np.random.default_rng(0)
    tree = shape("random", 40, rng)
    X = 1e5 * rng.normal(size=(40, 3))
    how = {"sample": sample, "random_state": 0}
    found = measure(tree, X, **how)
    assert found.gamma == fitting_gamma(X)
    assert found == measure(tree, X, gamma=fitting_gamma(X), **how)
    assert f"gamma={found.gamma:.3g}" in repr(found)
    assert pickle.loads(pickle.dumps(found)).gamma == found.gamma
    assert measure(tree, X, gamma=3e-11, **how).gamma == 3e-11
    assert measure(tree, X, similarity="dot", **how).gamma is None


@pytest.mark.parametrize("name", ["wine", "breast_cancer", "digits"])
def test_a_search_could_not_tell_trees_of_raw_rows_apart(name):
    """Every candidate scored 1.0, because exp(-|x - y|²) vanishes between such rows."""
    from sklearn import datasets

    X = getattr(datasets, f"load_{name}")().data[:300]
    scores = [metrics.RevenueScorer()(model, X) for model in (HAC(), OTD())]
    assert 0.2 < scores[1] < scores[0] - 0.02 < 0.9
    with pytest.warns(FlatKernelWarning, match="all nearly 0.* leave gamma out"):
        assert metrics.RevenueScorer(gamma=1.0)(HAC(), X) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("sample", [None, 500])
@pytest.mark.parametrize(("factor", "words"), [(1e6, "all nearly 0"), (1e-6, "all nearly 1")])
def test_a_flat_kernel_is_noticed(factor, words, sample):
    X = np.random.default_rng(0).normal(size=(50, 3))
    tree = HAC().fit(X).hierarchy()
    with pytest.warns(FlatKernelWarning, match=words) as seen:
        revenue(tree, X, gamma=factor * fitting_gamma(X), sample=sample, random_state=0)
    assert seen[0].filename == __file__  # where the call is


def test_rows_that_are_all_the_same_are_nobodys_mistake():
    X = np.ones((9, 2))
    assert revenue_fraction(chain(9), X) == pytest.approx(1 / 3)  # and no warning


@pytest.mark.parametrize("similarity", NAMED)
def test_a_chain_of_half_a_million_leaves(similarity):
    n = 5_000 if SMALL else 500_000
    X = np.random.default_rng(0).normal(size=(n, 2))
    tree = Hierarchy(chain(n), np.arange(1.0, n))
    options = {"similarity": similarity, "sample": 100_000, "random_state": 0}
    if similarity == "rbf":  # all pairs would take minutes
        third = revenue_fraction(tree, X, **options)
        assert abs(third - 1 / 3) < 4 * third.stderr
        return
    earned, paid = sums(tree, X, similarity=similarity)
    estimate = revenue(tree, X, **options)
    assert abs(estimate - earned) < 4 * estimate.stderr
    if similarity == "sqeuclidean":
        total = -n * ((X - X.mean(axis=0)) ** 2).sum()
    else:
        rows = X if similarity == "dot" else X / np.linalg.norm(X, axis=1, keepdims=True)
        total = ((rows.sum(axis=0) ** 2).sum() - (rows**2).sum()) / 2
    assert earned + paid == pytest.approx(n * total, abs=1e-11 * n**3)


# --- samples ------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [revenue, dasgupta_cost, revenue_fraction])
@pytest.mark.parametrize("similarity", NAMED)
def test_samples_are_near_the_exact_value(measure, similarity):
    X = 3 + np.random.default_rng(4).normal(size=(700, 2))
    tree = OHAC().fit(X).hierarchy()
    exact = measure(tree, X, similarity=similarity)
    assert exact.exact
    assert exact.stderr == 0
    for seed in range(5):
        found = measure(tree, X, similarity=similarity, sample=5_000, random_state=seed)
        assert not found.exact
        assert 0 < abs(found - exact) < 4 * found.stderr
        assert found.stderr < 0.1 * abs(exact)


def test_standard_errors_are_the_spread_of_the_estimates():
    X = np.random.default_rng(4).normal(size=(300, 2))
    tree = OHAC().fit(X).hierarchy()
    for measure in (revenue, revenue_fraction):
        found = [measure(tree, X, sample=500, random_state=seed) for seed in range(200)]
        claimed = np.mean([each.stderr for each in found])
        assert np.std(found) == pytest.approx(claimed, rel=0.2)
        error = np.mean(found) - measure(tree, X)
        assert abs(error) < 4 * claimed / math.sqrt(200), "biased"


def test_samples_from_matrices_and_callables():
    X = np.random.default_rng(4).normal(size=(200, 2))
    tree = OHAC().fit(X).hierarchy()
    options = {"sample": 1_000, "random_state": 3}
    expected = revenue(tree, X, similarity="dot", **options)
    matrix = revenue(tree, X @ X.T, similarity="precomputed", **options)
    called = revenue(tree, X, similarity=lambda A, B: A @ B.T, **options)
    assert matrix == pytest.approx(expected)
    assert called == pytest.approx(expected)
    assert called.stderr == pytest.approx(expected.stderr)


def test_every_kind_of_random_state():
    X = np.random.default_rng(4).normal(size=(50, 2))
    tree = OHAC().fit(X).hierarchy()
    for make in (lambda: 3, lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)):
        first = revenue(tree, X, sample=100, random_state=make())
        assert first == revenue(tree, X, sample=100, random_state=make())


def test_gamma_fits_the_mean_squared_distance_of_two_points():
    X = np.random.default_rng(0).normal(size=(30, 3)) * 100
    squares = [np.sum((a - b) ** 2) for i, a in enumerate(X) for b in X[:i]]
    assert fitting_gamma(X) == pytest.approx(1 / np.mean(squares), rel=1e-12)
    assert fitting_gamma(X[:1]) == fitting_gamma([[2.0], [2.0]]) == 1.0
    assert fitting_gamma([[0.0], [1e-160]]) == 1.0, "too close for a finite one"


# --- purity -------------------------------------------------------------------------


@settings(max_examples=EXAMPLES)
@given(trees(), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_purity_is_the_mean_over_pairs(tree, classes, seed):
    labels = np.random.default_rng(seed).integers(-1, classes - 1, size=len(tree) + 1)
    expected = oracle.dendrogram_purity(pairs_of(tree), labels.tolist())
    assert dendrogram_purity(tree, labels) == pytest.approx(expected, rel=1e-12)


def test_labels_of_every_kind():
    tree = [[0, 1], [2, 3], [4, 5]]
    expected = dendrogram_purity(tree, [0, 0, 0, 1])
    assert expected == pytest.approx((1 + 0.75 + 0.75) / 3)
    for labels in (
        ["a", "a", "a", "b"],
        np.array([True, True, True, False]),
        np.array([0.5, 0.5, 0.5, -1.0]),
        np.array([("x", 1), None, 3, 4], dtype=object)[[0, 0, 0, 1]],
        [-1, -1, -1, 7],
    ):
        assert dendrogram_purity(tree, labels) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_classes_that_are_subtrees_are_pure_to_the_last_bit(kind):
    n = 3_000
    tree = Hierarchy(shape(kind, n, np.random.default_rng(6)), np.arange(1.0, n))
    assert dendrogram_purity(tree, tree.cut(n_clusters=40)) == 1.0
    assert dendrogram_purity(tree, np.arange(n)) == 1.0, "no pair of one class"
    assert dendrogram_purity(tree, np.zeros(n)) == 1.0


def test_classes_on_both_sides_of_2_63_were_thought_to_be_one():
    tree = chain(4)
    labels = [2**53, 2**53 + 1, 2**53, 2**63]
    assert dendrogram_purity(tree, labels) == dendrogram_purity(tree, ["a", "b", "a", "c"])


def test_sampled_purity_weighs_pairs_and_not_points():
    rng = np.random.default_rng(7)
    n = 2_000
    labels = np.minimum(rng.geometric(0.4, size=n), 12)  # classes of very different size
    tree = Hierarchy(shape("random", n, rng), np.arange(1.0, n))
    exact = dendrogram_purity(tree, labels)
    for seed in range(5):
        found = dendrogram_purity(tree, labels, sample=5_000, random_state=seed)
        assert not found.exact
        assert abs(found - exact) < 4 * found.stderr
    assert dendrogram_purity(tree, np.arange(n), sample=10) == 1.0


def test_purity_of_half_a_million_leaves():
    n = 5_000 if SMALL else 500_000
    labels = np.random.default_rng(0).integers(10, size=n)
    for make in (chain, balanced):
        tree = Hierarchy(make(n), np.arange(1.0, n))
        exact = dendrogram_purity(tree, labels)
        found = dendrogram_purity(tree, labels, sample=20_000, random_state=0)
        assert abs(found - exact) < 4 * found.stderr


# --- cophenetic correlation -----------------------------------------------------------


@pytest.mark.parametrize("method", ["average", "complete", "single", "ward"])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "cosine"])
def test_cophenetic_correlation_is_scipys(method, metric):
    X = np.random.default_rng(8).normal(size=(150, 4))
    y = pdist(X, metric)
    Z = linkage(y if method != "ward" else pdist(X), method)
    expected = cophenet(Z, y)[0]
    assert cophenetic_correlation(Z, X, metric=metric) == pytest.approx(expected)
    for distances in (y, squareform(y)):
        found = cophenetic_correlation(Z, distances, metric="precomputed")
        assert found == pytest.approx(expected)


@settings(max_examples=EXAMPLES)
@given(trees_over_points(min_size=4), st.sampled_from(["sqeuclidean", "dot"]))
def test_cophenetic_correlation_by_definition(case, metric):
    tree, X = case
    d = -oracle.similarity_matrix(X, metric)
    found = cophenetic_correlation(Hierarchy(tree, np.arange(1.0, len(X))), X, metric=metric)
    pairs = d[np.triu_indices(len(X), 1)]
    if np.ptp(pairs) < 1e-9:
        assert math.isnan(found)
        return
    expected = oracle.cophenetic_correlation(pairs_of(tree), np.arange(1.0, len(X)), d)
    assert found == pytest.approx(expected, abs=1e-5)


def test_monotone_heights_are_used():
    tree = Hierarchy([[0, 1], [4, 2], [5, 3]], [3.0, 1.0, 4.0])
    X = np.random.default_rng(9).normal(size=(4, 2))
    expected = cophenetic_correlation(Hierarchy(tree.children, tree.monotone_heights), X)
    assert cophenetic_correlation(tree, X) == expected


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "cityblock", "dot"])
def test_sampled_cophenetic_correlation(metric):
    X = np.random.default_rng(10).normal(size=(600, 3))
    tree = OHAC().fit(X).hierarchy()
    exact = cophenetic_correlation(tree, X, metric=metric)
    for seed in range(3):
        found = cophenetic_correlation(tree, X, metric=metric, sample=5_000, random_state=seed)
        assert not found.exact
        assert abs(found - exact) < 4 * found.stderr
        assert found.stderr < 0.03


def test_many_points_are_sampled_by_default():
    n = 20_001
    X = np.random.default_rng(0).normal(size=(n, 2))
    tree = OHAC().fit(X).hierarchy()
    found = cophenetic_correlation(tree, X, random_state=0)
    assert not found.exact
    assert 0 < found.stderr < 0.01
    assert cophenetic_correlation(tree, X, sample=50, random_state=0).stderr > found.stderr


def test_there_is_no_correlation_among_equal_numbers():
    for X in ([[0.0]], [[0.0], [1.0]], [[1.0], [1.0], [1.0]], [[0.1, 0.7]] * 9):
        tree = HAC().fit(X).hierarchy()
        assert math.isnan(cophenetic_correlation(tree, X))
    assert math.isnan(cophenetic_correlation(tree, [[0.1, 0.7]] * 9, sample=10))


# --- cuts -----------------------------------------------------------------------------


def test_scores_of_a_cut_are_scikit_learns():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(120, 2)) + 6 * rng.integers(3, size=(120, 1))
    labels = np.array(["low", "middle", "high"])[rng.integers(3, size=120)]
    tree = OHAC().fit(X).hierarchy()
    scores = cut_scores(tree, labels, n_clusters=3)
    clusters = tree.cut(n_clusters=3)
    assert scores.n_clusters == 3
    assert scores.adjusted_rand == adjusted_rand_score(labels, clusters)
    assert scores.homogeneity == homogeneity_score(labels, clusters)
    assert scores.v_measure == v_measure_score(labels, clusters)
    height = float(tree.monotone_heights[-2])
    assert cut_scores(tree, labels, height=height) == cut_scores(tree, labels, n_clusters=3)


def test_children_are_cut_as_scikit_learn_cuts_them():
    X = np.random.default_rng(12).normal(size=(60, 2))
    model = AgglomerativeClustering(n_clusters=5, linkage="average").fit(X)
    assert cut_scores(model.children_, model.labels_, n_clusters=5).adjusted_rand == 1.0
    with pytest.raises(ValueError, match="without heights"):
        cut_scores(model.children_, model.labels_, height=1.0)


# --- what is a tree -------------------------------------------------------------------


def test_one_tree_in_every_form():
    X = np.random.default_rng(13).normal(size=(90, 3))
    ours = HAC().fit(X)
    theirs = linkage(X, "average", "sqeuclidean")
    learned = AgglomerativeClustering(n_clusters=2, linkage="ward").fit(X)
    ward = linkage(X, "ward")
    labels = np.arange(90) % 4
    for measure, other in ((revenue, X), (dasgupta_cost, X), (dendrogram_purity, labels)):
        expected = measure(ours.hierarchy(), other)
        assert measure(ours.children_, other) == pytest.approx(expected)
        assert measure(theirs, other) == pytest.approx(expected)
        assert measure(learned.children_, other) == pytest.approx(measure(ward, other))
        assert measure(theirs.tolist(), other) == measure(theirs, other)
    expected = cophenetic_correlation(ours.hierarchy(), X)
    assert cophenetic_correlation(theirs, X) == pytest.approx(expected)


def test_inverted_linkages_are_sorted_before_they_are_cut():
    X = np.random.default_rng(14).normal(size=(60, 2))
    Z = linkage(X, "centroid")
    assert (np.diff(Z[:, 2]) < 0).any(), "no inversion: choose another seed"
    assert revenue(Z, X) == pytest.approx(revenue(HAC(linkage="centroid").fit(X).hierarchy(), X))
    scores = cut_scores(Z, np.arange(60) % 3, n_clusters=7)
    assert scores.n_clusters == 7


@pytest.mark.parametrize("n", [1, 2])
def test_the_smallest_trees(n):
    X = np.ones((n, 2))
    tree = np.array([[0, 1]][: n - 1], dtype=np.int64).reshape(-1, 2)
    Z = np.array([[0, 1, 1.0, 2]][: n - 1]).reshape(-1, 4)
    for each in (tree, Z, HAC().fit(X).hierarchy()):
        assert revenue(each, X) == 0
        assert revenue(each, X, sample=5) == 0
        assert dasgupta_cost(each, X) == pytest.approx(2.0 * (n - 1))
        assert revenue_fraction(each, X) == 1
        assert dendrogram_purity(each, [0] * n) == 1
        assert cut_scores(each, [0] * n, n_clusters=1).adjusted_rand == 1


def test_a_star_of_duplicates():
    X = np.tile([[3.0, 4.0]], (200, 1))
    tree = OTD().fit(X).hierarchy()  # a chain
    n = len(X)
    pairs = n * (n - 1) / 2
    assert revenue_fraction(tree, X) == pytest.approx(1 / 3)
    assert revenue(tree, X, similarity="sqeuclidean") == 0
    assert revenue(tree, X, similarity="dot") == 25 * revenue(tree, X, similarity="rbf")
    assert revenue(tree, X) + dasgupta_cost(tree, X) == n * pairs


@pytest.mark.parametrize(
    ("tree", "error", "message"),
    [
        ([[0.0, 1.0], [3.0, 2.0]], TypeError, "whole numbers, got float64; are these points"),
        ([[0, 1, 2]], ValueError, r"got shape \(1, 3\)"),
        ([0, 1], ValueError, r"got shape \(2,\)"),
        ([["a", "b"]], TypeError, "expected a Hierarchy, a linkage matrix"),
        ([[0, 4], [1, 2]], ValueError, "row 0 describes node 3 and names 4 .* 0 to 2"),
        ([[0, -1], [3, 2]], ValueError, "names -1"),
        ([[0, 1], [1, 2]], ValueError, "node 1 is the child of more than one row"),
        ([[0, 1.5, 1, 2], [3, 2, 2, 3]], ValueError, "names 1.5"),
        ([[0, 1, 1, 2], [3, 2, np.nan, 3]], ValueError, "row 1 has height nan"),
        ([[0, 1, 1, 2], [3, 2, 2, 2]], ValueError, "has 2 points, but its children have 3"),
        ([[0, np.nan, 1, 2], [3, 2, 2, 3]], ValueError, "names nan"),
        ([[0, 1]], ValueError, "the tree has 2 leaves, but there are 3 rows in X"),
        (HAC().fit([[0.0], [1.0], [5.0]]), TypeError, r"a model, HAC; pass model.hierarchy\(\)"),
        (
            AgglomerativeClustering(2).fit([[0.0], [1.0], [5.0]]),
            TypeError,
            "AgglomerativeClustering; pass model.children_",
        ),
    ],
)
def test_what_is_no_tree_is_refused(tree, error, message):
    with pytest.raises(error, match=message):
        revenue(tree, [[0.0], [1.0], [5.0]])


TREE = [[0, 1], [3, 2]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"similarity": "gaussian"}, ValueError, "'gaussian' is not offered; choose one of 'rbf'"),
        ({"similarity": 3}, TypeError, "expected a string or a callable"),
        ({"gamma": -1.0}, ValueError, "gamma=-1.0: expected a finite number from 0"),
        ({"gamma": "1"}, TypeError, "gamma='1'"),
        ({"sample": 1}, ValueError, "sample=1: expected at least 2"),
        ({"sample": 2.5}, TypeError, "sample=2.5"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0"),
        ({"n_jobs": 1.0}, TypeError, "n_jobs=1.0"),
        ({"progress": 3}, TypeError, "progress=3"),
        (
            {"similarity": "precomputed"},
            ValueError,
            r"square matrix of similarities, got .*\(3, 1\)",
        ),
        ({"similarity": lambda A, B: np.ones(3)}, ValueError, r"shape \(3,\) for 3 and 3 rows"),
        ({"similarity": lambda A, B: A @ B.T * np.inf}, ValueError, "points 0 and .* is "),
    ],
)
def test_wrong_options_say_what_would_be_right(options, error, message):
    with np.errstate(invalid="ignore"), pytest.raises(error, match=message):
        revenue(TREE, [[1.0], [2.0], [5.0]], **options)


def test_wrong_points_and_labels_are_refused():
    with pytest.raises(ValueError, match="contains NaN"):
        revenue(TREE, [[0.0], [np.nan], [1.0]])
    with pytest.raises(ValueError, match="only zeros in row 1"):
        revenue(TREE, [[1.0], [0.0], [1.0]], similarity="cosine")
    with pytest.raises(ValueError, match=r"not symmetric: 5 at \(0, 1\), 0 the other way"):
        revenue(TREE, [[0, 5, 0], [0, 0, 0], [0, 0, 0]], similarity="precomputed")
    with pytest.raises(ValueError, match="add up to 0"):
        revenue_fraction(TREE, [[0, 1, 0], [1, 0, -1], [0, -1, 0]], similarity="precomputed")
    with pytest.raises(ValueError, match="but there are 2 labels"):
        dendrogram_purity(TREE, [0, 1])
    with pytest.raises(ValueError, match="labels contain NaN"):
        dendrogram_purity(TREE, [0, np.nan, 1])
    with pytest.raises(ValueError, match=r"labels: expected shape \(n,\)"):
        dendrogram_purity(TREE, [[0], [1], [1]])
    with pytest.raises(ValueError, match="'mahalanobis' is not offered"):
        cophenetic_correlation([[0, 1, 1, 2]], [[0.0], [1.0]], metric="mahalanobis")
    with pytest.raises(ValueError, match="without heights"):
        cophenetic_correlation(TREE, [[0.0], [1.0], [2.0]])


# --- manners --------------------------------------------------------------------------


def test_a_measure_is_a_float_that_knows_its_error():
    sure = Measure(0.5)
    assert (sure.stderr, sure.exact, repr(sure), str(sure)) == (0.0, True, "0.5", "0.5")
    guess = Measure(0.5, 0.01, exact=False)
    assert repr(guess) == "Measure(0.5, stderr=0.01)"
    assert guess == 0.5
    assert f"{guess:.3f}" == "0.500"
    again = pickle.loads(pickle.dumps(guess))
    assert (again, again.stderr, again.exact) == (guess, 0.01, False)
    assert type(guess + 1) is float


@pytest.mark.parametrize("similarity", [*NAMED, "callable"])
def test_progress_ends_with_everything(similarity):
    n = 3_000
    X = np.random.default_rng(0).normal(size=(n, 2))
    seen = []
    revenue(
        chain(n),
        X,
        similarity=(lambda A, B: A @ B.T) if similarity == "callable" else similarity,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (n, n)
    assert seen == sorted(seen)


def test_a_callable_can_stop_a_long_measure():
    n = 200_000  # a minute's work
    X = np.random.default_rng(0).normal(size=(n, 2))

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        revenue(chain(n), X, progress=stop)


@pytest.mark.threads
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_ctrl_c_stops_a_long_measure():
    n = 200_000
    X = np.random.default_rng(0).normal(size=(n, 2))
    main = threading.main_thread().ident
    timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            revenue(chain(n), X, n_jobs=2)
    finally:
        timer.join()


def test_samples_reuse_what_a_hierarchy_has_prepared():
    X = np.random.default_rng(0).normal(size=(500, 2))
    tree = OHAC().fit(X).hierarchy()
    revenue(tree, X, sample=10)
    prepared = tree._range_maxima
    assert prepared is not None
    revenue(tree, X, sample=10)
    assert tree._range_maxima is prepared
