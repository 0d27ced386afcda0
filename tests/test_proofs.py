"""Certificates of trees, their value for dissimilarities, and how orders matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import ramify
from ramify import HAC, OHAC, OTD, datasets, metrics
from tests.commands import done, fails
from tests.oracles import measures as oracle
from tests.shapes import chain, long_chain, pairs_of, trees
from tests.strategies import scaled, seeds

X = np.random.default_rng(0).normal(size=(60, 3))


@st.composite
def alike(draw, n: int) -> np.ndarray:
    """Similarities at least 0 of n points: of anything, or of groups; many of them 0."""
    rng = np.random.default_rng(draw(seeds()))
    w = rng.exponential(size=(n, n))
    kind = draw(st.sampled_from(["any", "groups", "sparse", "none"]))
    if kind == "groups":
        group = rng.integers(3, size=n)
        w *= np.where(group[:, None] == group, 1.0, 0.01)
    elif kind == "sparse":
        w *= rng.random((n, n)) < 0.3
    elif kind == "none":
        w *= 0
    return w + w.T


# --- certificates ------------------------------------------------------------------------


@given(trees(1, 14), st.data())
def test_a_certificate_never_claims_more_than_is_true(children, data):
    n = len(children) + 1
    w = data.draw(alike(n))
    total, revenue, _ = oracle.sums(pairs_of(children), w)
    proof = metrics.certificate(children, w, similarity="precomputed")
    slack = 1e-9 * (1 + abs(revenue))
    assert proof.guaranteed <= revenue + slack
    assert proof.achieved == pytest.approx(revenue, abs=slack)
    assert proof.maximum == pytest.approx(max(n - 2, 0) * total, abs=slack)
    beta = oracle.least_ratio(pairs_of(children), w)
    assert proof.beta == pytest.approx(beta)
    if proof.node is not None:
        assert n <= proof.node < 2 * n - 2
        share = proof.beta / (2 + proof.beta)
        assert proof.guaranteed <= share * proof.maximum + slack
    assert proof.guaranteed_fraction <= proof.achieved_fraction + 1e-9


@given(trees(3, 14), seeds())
def test_certificates_of_products_and_kernels(children, seed):
    rows = np.random.default_rng(seed).exponential(size=(len(children) + 1, 3))
    for name in ("dot", "cosine", "rbf"):
        w = oracle.similarity_matrix(rows, name)
        gamma = 1.0 if name == "rbf" else None
        proof = metrics.certificate(children, rows, similarity=name, gamma=gamma)
        assert proof.beta == pytest.approx(oracle.least_ratio(pairs_of(children), w))
        assert proof.achieved == pytest.approx(oracle.sums(pairs_of(children), w)[1])
        by_hand = metrics.certificate(
            children, rows, similarity=lambda A, B, w=w, X=rows: w[np.ix_(*_places(A, B, X))]
        )
        assert by_hand.guaranteed == pytest.approx(proof.guaranteed)


def _places(A, B, X):
    return [[int(np.flatnonzero((row == X).all(axis=1))[0]) for row in part] for part in (A, B)]


def test_local_optima_have_a_beta_of_one():
    for metric in ("cosine", "dot"):
        rows = abs(X)
        tree = ramify.refine(chain(60), rows, metric=metric).tree
        proof = metrics.certificate(tree, rows, similarity=metric)
        assert proof.beta >= 1 - 1e-9
        assert proof.achieved_fraction >= proof.guaranteed_fraction >= 1 / 3 - 1e-9


def test_otds_own_beta_beside_it():
    rows = abs(X)
    model = OTD(metric="cosine", certify=True).fit(rows)
    stream, tree = (
        model.certificate(),
        metrics.certificate(model.hierarchy(), rows, similarity="cosine"),
    )
    assert tree.achieved == pytest.approx(stream.achieved)
    assert tree.maximum == pytest.approx(stream.maximum)
    assert max(stream.guaranteed, tree.guaranteed) <= tree.achieved * (1 + 1e-9)


def test_negative_similarities_have_no_certificate():
    for similarity in ("sqeuclidean", "dot", "cosine"):
        with pytest.raises(ValueError, match="needs all of them to be at least 0"):
            metrics.certificate(chain(60), X, similarity=similarity)


def test_a_certificate_of_a_long_chain():
    n = scaled(500_000)
    rows = np.random.default_rng(1).exponential(size=(n, 2))
    proof = metrics.certificate(long_chain(n), rows, similarity="dot")
    assert 0 < proof.guaranteed <= proof.achieved


# --- dissimilarities ---------------------------------------------------------------------


@given(trees(1, 14), seeds())
def test_ckmm_value(children, seed):
    n = len(children) + 1
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    d = -oracle.similarity_matrix(rows, "sqeuclidean")
    total, _, value = oracle.sums(pairs_of(children), d)
    given_as = {
        "sqeuclidean": (rows, "sqeuclidean"),
        "dense": (d, "precomputed"),
        "sparse": (sparse.coo_array(d), "precomputed"),
        "callable": (rows, lambda A, B: ((A[:, None] - B) ** 2).sum(axis=2)),
    }
    for data, dissimilarity in given_as.values():
        found = metrics.ckmm_value(children, data, dissimilarity=dissimilarity)
        assert found == pytest.approx(value)
        if n > 2:
            share = metrics.ckmm_fraction(children, data, dissimilarity=dissimilarity)
            assert share == pytest.approx(value / (n * total))
            assert share <= 1 + 1e-12


def test_ckmm_sampled_and_refused():
    tree = OHAC().fit(X).hierarchy()
    exact = metrics.ckmm_fraction(tree, X)
    drawn = metrics.ckmm_fraction(tree, X, sample=20_000, random_state=0)
    assert abs(drawn - exact) < 5 * drawn.stderr
    assert not drawn.exact
    value = metrics.ckmm_value(tree, X, sample=20_000, random_state=0)
    assert abs(value - metrics.ckmm_value(tree, X)) < 5 * value.stderr
    with pytest.raises(ValueError, match="dissimilarity='rbf' is not offered"):
        metrics.ckmm_value(tree, X, dissimilarity="rbf")
    assert metrics.ckmm_fraction([[0, 1]], X[:2]) == 1


# --- similarities of one's own -----------------------------------------------------------


def test_sparse_matrices_of_similarities():
    w = oracle.similarity_matrix(X, "rbf", 0.3)
    w[w < 0.2] = 0
    tree = HAC().fit(X).hierarchy()
    for measure in (metrics.revenue, metrics.revenue_fraction, metrics.dasgupta_cost):
        dense = measure(tree, w, similarity="precomputed")
        for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
            assert measure(tree, form(w), similarity="precomputed") == pytest.approx(dense)
        drawn = measure(
            tree, sparse.csr_array(w), similarity="precomputed", sample=9_000, random_state=0
        )
        same = measure(tree, w, similarity="precomputed", sample=9_000, random_state=0)
        assert drawn == pytest.approx(same)
    crooked = sparse.csr_matrix(np.triu(w))
    with pytest.raises(ValueError, match="not symmetric"):
        metrics.revenue(tree, crooked, similarity="precomputed")


# --- orders ------------------------------------------------------------------------------


def test_order_sensitivity_is_what_shuffles_give():
    rows = datasets.iris().points
    found = metrics.order_sensitivity(OHAC(linkage="ward"), rows, 4, random_state=3)
    rng, values = np.random.default_rng(3), []
    for _ in range(4):
        order = rng.permutation(len(rows))
        tree = OHAC(linkage="ward").fit(rows[order]).hierarchy()
        values.append(float(metrics.revenue_fraction(tree, rows[order])))
    assert found.values.tolist() == values
    assert (found.best, found.worst) == (max(values), min(values))
    assert found.mean == pytest.approx(np.mean(values))
    assert found.sd == pytest.approx(np.std(values, ddof=1))
    # The median tree is over the points as they were given.
    middle = sorted(values)[1]
    assert metrics.revenue_fraction(found.median_tree, rows) == pytest.approx(middle)
    found.median_tree.check()


def test_hac_has_no_order_and_any_measure_will_do():
    found = metrics.order_sensitivity(
        HAC(), X, 3, measure=lambda tree, rows: -tree.depths().max(), random_state=0
    )
    assert found.sd == 0
    alone = metrics.order_sensitivity(HAC(), X, 1, random_state=0)
    assert (alone.sd, alone.best) == (0, alone.worst)


def test_the_command_says_how_orders_matter(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    done("fit", tmp_path / "rows.npy", "-o", tmp_path / "tree", "-q")
    facts = done("evaluate", tmp_path / "tree", "--orders", "3", "--json", "-q").json()
    expected = metrics.order_sensitivity(OHAC(), X, 3, random_state=0)
    assert facts["orders"] == 3
    assert facts["orders_mean"] == pytest.approx(expected.mean)
    assert facts["orders_worst"] <= facts["orders_mean"] <= facts["orders_best"]
    ramify.load(tmp_path / "tree").hierarchy().save(tmp_path / "bare")
    np.save(tmp_path / "labels.npy", np.arange(60) % 3)
    words = ("evaluate", tmp_path / "bare", "--labels", tmp_path / "labels.npy", "--orders", "2")
    assert "without its points" in fails(*words, code=2)
