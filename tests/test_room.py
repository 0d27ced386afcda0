"""Sparse rows that would be dense: said before it happens, by how much memory there is."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from scipy import sparse

import ramify
from ramify import datasets, metrics
from ramify.errors import LargeRowsWarning, TooLargeError
from ramify.memory import available, require_room
from ramify.ray import ShardedOHAC
from tests.every import every_estimator

#: More than any machine has: 32 TB of numbers, of which three are not zero.
FAR = sparse.csr_array(
    (np.ones(3), ([0, 5, 7], [0, 1_999_999, 3])), shape=(2_000_000, 2_000_000), dtype=np.float64
)


def too_large(call, *given, **more):
    with pytest.raises(TooLargeError, match=r"2,000,000 columns take .* free.*TruncatedSVD\(256\)"):
        call(*given, **more)


@every_estimator
def test_sparse_text_filled_the_memory_in_silence(Estimator):
    model = Estimator()
    too_large(model.fit, FAR)
    assert len(model) == 0
    small = FAR[:4]
    if hasattr(model, "partial_fit"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LargeRowsWarning)
            model.partial_fit(small[:, :10])
        before = model.hierarchy()
        too_large(Estimator().partial_fit, FAR)
        assert model.hierarchy() == before


def test_every_other_door_says_so(tmp_path):
    with ramify.open(tmp_path / "folder", ramify.OHAC()) as tree:
        too_large(tree.add, FAR)
        assert len(tree.add([[1.0], [2.0]]).numbers) == 2
    with ShardedOHAC(2, folder=tmp_path / "shards", engine="local") as model:
        too_large(model.add, FAR)
    tree = ramify.Hierarchy.from_children(np.array([[0, 1]]))
    too_large(metrics.revenue, tree, FAR)
    too_large(metrics.fitting_gamma, FAR)


def test_a_window_bounds_what_is_dense():
    """Two rows of two million columns are dense at any time."""
    X = FAR[:6, :200_000]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ramify.OTD(keep=ramify.Last(2)).fit(X)) == 2
    with pytest.raises(TooLargeError, match="of 200,000,000 columns"):
        require_room(10**6, 2 * 10**8, 8)


def test_warned_of_a_good_part_and_refused_beyond():
    room = available()
    if room is None:
        pytest.skip("this system does not say what is free")
    columns = 1_000
    rows = room // columns // 8
    with pytest.warns(LargeRowsWarning, match="sparse rows of 1,000 columns take"):
        require_room(rows * 7 // 10, columns, 8)
    with pytest.raises(TooLargeError):
        require_room(rows * 2, columns, 8)
    with pytest.warns(LargeRowsWarning):
        require_room(rows * 2, columns, 8, exact=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        require_room(rows // 4, columns, 8)
        require_room(100, 100, 8)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process has no such limit")
def test_a_limit_of_the_process_counts():
    words = """
        from scipy import sparse
        import ramify
        from ramify.memory import available, cap
        ramify.HAC
        cap(300 * 2**20)
        assert available() <= 300 * 2**20
        try:
            ramify.HAC().fit(sparse.csr_array((20_000, 50_000)))
        except ramify.errors.TooLargeError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(words)], capture_output=True, text=True, check=True
    )
    assert "20,000 sparse rows of 50,000 columns take 24.0 GB" in done.stdout


# --- recommend -----------------------------------------------------------------------------


def words_of_queries():
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(min_df=2).fit_transform(datasets.intents().texts)


def test_recommend_did_not_end_on_wide_sparse_rows():
    words = words_of_queries()
    n, width = words.shape[0], 2_000_000
    wide = sparse.csr_array((words.data, words.indices * 100, words.indptr), shape=(n, width))
    advice = ramify.recommend(wide, sample=400)
    assert (advice.kind, advice.metric) == ("counts", "cosine")
    assert advice == ramify.recommend(wide, sample=400)
    assert "a sample of 400 rows" in advice.reasons["cut"]
    some = words[np.diff(words.indptr) > 0][:200]
    full = np.pad(some.toarray(), ((0, 0), (0, 500)))  # beyond 1,000 columns
    gamma = metrics.fitting_gamma(full / np.linalg.norm(full, axis=1, keepdims=True))
    assert ramify.recommend(full).gamma == pytest.approx(gamma)


def test_recommend_of_zero_rows_among_texts():
    words = words_of_queries()[:300].tolil()
    words[[3, 50]] = 0
    advice = ramify.recommend(words)
    assert (advice.metric, advice.zero_rows) == ("cosine", "apart")
    assert "2 of 300 rows are all zeros" in str(advice)
    model = advice.estimator().fit(words)
    assert len(model) == 300


def test_dense_rows_of_many_columns():
    X = np.random.default_rng(0).normal(size=(60, 1_500)).astype(np.float32)
    X[:30, :20] += 30
    advice = ramify.recommend(X)
    assert advice.linkage == "average"
    labels = advice.estimator().fit(X).labels_
    assert labels.tolist() == [0] * 30 + [1] * 30
