"""Rows of zeros and ones: exact neighbours by counts of bits, and trees of them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from ramify import GraphHAC, _core
from ramify.estimators import _bits
from tests.oracles.bit_neighbours import distance, nearest
from tests.strategies import examples

METRICS = ("hamming", "jaccard")
LEVELS = ("baseline", "avx2", "avx512")


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=examples(60), deadline=None)
@given(
    n=st.integers(2, 40),
    columns=st.sampled_from([1, 2, 5, 63, 64, 65, 130]),
    k=st.integers(1, 45),
    share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_lists_are_those_of_the_definition(metric, n, columns, k, share, seed):
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, columns)) < share).astype(np.uint8)
    rows[rng.integers(0, n, n // 3)] = rows[0]  # duplicates
    ranks = rng.permutation(n).astype(np.uint32)
    found = _bits.search(rows, k, metric, ranks, None)
    expected = nearest(rows.tolist(), min(k, n - 1), metric, ranks)
    assert found.points.tolist() == expected
    for i, near in enumerate(expected):
        apart = [float(distance(rows[i].tolist(), rows[j].tolist(), metric)) for j in near]
        assert found.distances[i].tolist() == apart


COUNTED = """
import numpy as np
from ramify.estimators import _bits
rows = np.random.default_rng(0).random((700, 200)) < 0.3
found = _bits.search(rows, 9, "jaccard", np.arange(700, dtype=np.uint32), None)
print(found.points.tolist(), found.distances.tolist())
"""


@pytest.mark.no_asan
def test_every_set_of_instructions_counts_alike():
    said = [
        subprocess.run(
            [sys.executable, "-c", COUNTED],
            env={**os.environ, "RAMIFY_INSTRUCTIONS": level},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for level in LEVELS[: LEVELS.index(_core.instructions()) + 1]
    ]
    assert len(set(said)) == 1
    assert said[0].startswith("[[")


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_scikit_learn(metric):
    rows = np.random.default_rng(1).random((1_500, 100)) < 0.2
    theirs = NearestNeighbors(n_neighbors=12, metric=metric).fit(rows).kneighbors()[0]
    for n_jobs in (None, 3):
        ours = _bits.search(rows, 12, metric, np.arange(1_500, dtype=np.uint32), n_jobs)
        assert np.allclose(ours.distances, theirs, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weight", ["snn", "jaccard", "similarity"])
def test_the_order_of_rows_does_not_matter_in_spite_of_many_ties(metric, weight):
    rng = np.random.default_rng(2)
    rows = np.unique(rng.random((150, 9)) < 0.5, axis=0)  # few columns, so many ties
    model = GraphHAC(8, metric=metric, weight=weight)
    labels = model.fit_predict(rows)
    for _ in range(20):
        order = rng.permutation(len(rows))
        again = model.fit_predict(rows[order])
        assert adjusted_rand_score(labels[order], again) == 1


@pytest.mark.parametrize("metric", METRICS)
def test_dense_and_sparse_rows_of_any_type_are_one_input(metric):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 200)
    rows = (rng.random((4, 80)) < 0.5)[truth] ^ (rng.random((200, 80)) < 0.05)
    first = GraphHAC(4, metric=metric).fit(rows)
    assert adjusted_rand_score(truth, first.labels_) == 1
    for wrapped in (
        rows.astype(np.float32),
        rows.astype(int),
        sparse.csr_matrix(rows.astype(float)),
        sparse.csc_array(rows.astype(np.int8)),
    ):
        assert GraphHAC(4, metric=metric).fit(wrapped).hierarchy() == first.hierarchy()


def test_under_hamming_other_numbers_are_compared_as_they_are():
    rows = np.array([[1.0, 2.0], [1.0, 3.0], [4.0, 3.0]])
    assert not _bits.are_bits(rows, "hamming")
    model = GraphHAC(2, metric="hamming", n_neighbors=1, weight="similarity").fit(rows)
    assert model.distances_[0] == 0.5


def test_under_jaccard_all_but_zero_is_one():
    rows = np.array([[0.0, 2.0, 5.0], [0.0, 1.0, 0.1], [3.0, 0.0, 0.0]])
    model = GraphHAC(2, metric="jaccard", n_neighbors=1, weight="similarity").fit(rows)
    assert model.labels_.tolist() == [0, 0, 1]
    assert model.distances_[0] == 0.0


def test_one_row_is_a_tree():
    assert len(GraphHAC(metric="jaccard").fit([[0, 1]])) == 1


def test_the_core_refuses_what_would_lead_it_outside():
    rows, ranks = np.zeros((3, 1), np.uint64), np.arange(3, dtype=np.uint32)
    for wrong in (
        {"columns": 65},
        {"last": 4},
        {"first": 2, "last": 1},
        {"k": 0},
        {"metric": "dice"},
        {"ranks": ranks[:2]},
        {"ranks": np.zeros(3, np.uint32)},
    ):
        given_ = {"columns": 3, "metric": "hamming", "k": 1, "first": 0, "last": 3, "ranks": ranks}
        with pytest.raises(ValueError, match=r"bits|rank"):
            _core.bit_neighbours(rows, **{**given_, **wrong})
