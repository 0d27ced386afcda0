"""The door: what is accepted as rows, what is refused, and that a refusal leaves no trace."""

import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ramify import BIRCH, HAC, OHAC
from ramify.points import LARGEST, Expected, read_rows
from tests.every import ESTIMATORS, ONLINE, every_estimator, every_online

NAN, INF = float("nan"), float("inf")

X = np.random.default_rng(0).normal(size=(12, 3))


def read(X, **options):
    return read_rows(X, Expected("OHAC", **options))


def portrait(model):
    """Everything that could tell whether a call changed the model."""
    attributes = {name: value for name, value in vars(model).items() if name != "_guard"}
    tree = model.hierarchy() if len(model) else None
    return attributes, len(model), tree


def assert_refused(model, call, error, message):
    """The call raises, says what was wrong, and the model is as it was."""
    before = portrait(model)
    with pytest.raises(error, match=message):
        call()
    assert portrait(model) == before
    if len(model):
        model.check()


# --- accepted ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("float64", "float64"),
        ("float32", "float32"),
        ("float16", "float32"),
        (">f8", "float64"),
        (">f4", "float32"),
        ("longdouble", "float64"),
        ("int8", "float64"),
        ("uint64", "float64"),
        (">i4", "float64"),
        ("bool", "float64"),
        ("object", "float64"),
    ],
)
def test_number_types(given, kept):
    values = np.arange(12).reshape(4, 3)
    rows = read(values.astype(given))
    assert rows.dtype == kept
    assert rows.dtype.isnative
    assert rows.flags.c_contiguous
    assert np.array_equal(rows, values.astype(bool) if given == "bool" else values)


def test_plain_rows_are_not_copied():
    assert read(X) is X or np.shares_memory(read(X), X)


@every_estimator
def test_the_same_numbers_in_any_wrapping_give_the_same_tree(Estimator, tmp_path):
    path = tmp_path / "rows.bin"
    X.tofile(path)
    columns = ["a", "b", "c"]
    wrappings = {
        "list": X.tolist(),
        "tuple": tuple(map(tuple, X)),
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "big-endian": X.astype(">f8"),
        "memmap": np.memmap(path, dtype=np.float64, mode="r", shape=X.shape),
        "object": X.astype(object),
        "pandas": pd.DataFrame(X, columns=columns),
        "pandas without names": pd.DataFrame(X),
        "pandas nullable": pd.DataFrame(X, columns=columns).convert_dtypes(),
        "polars": pl.DataFrame(X, schema=columns),
    }
    expected = Estimator().fit(X).hierarchy()
    for name, wrapped in wrappings.items():
        assert Estimator().fit(wrapped).hierarchy() == expected, name


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_float32_and_turn_integers_into_float64(frame):
    assert read(frame({"a": np.float32([1, 2]), "b": np.float32([3, 4])})).dtype == np.float32
    assert read(frame({"a": [1, 2], "b": [3, 4]})).dtype == np.float64
    assert read(frame({"a": np.float32([1, 2]), "b": [3, 4]})).dtype == np.float64


@every_online
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_first_batch_fixes_the_type(Estimator, dtype):
    other = np.float64 if dtype is np.float32 else np.float32
    model = Estimator().partial_fit(X[:5].astype(dtype)).partial_fit(X[5:].astype(other))
    expected = Estimator().partial_fit(X[:5].astype(dtype))
    expected.partial_fit(X[5:].astype(other).astype(dtype))
    assert model.hierarchy() == expected.hierarchy()
    assert model._live.dtype == dtype


def test_rows_of_a_user_are_never_written_to():
    rows = X.copy()
    rows.setflags(write=False)
    for Estimator in ESTIMATORS:
        Estimator(metric="cosine", n_clusters=2).fit(rows).predict(rows)


# --- refused ---------------------------------------------------------------------

WITH_NAN = X.copy()
WITH_NAN[7, 2] = NAN
WITH_INFINITY = X.copy()
WITH_INFINITY[3, 1] = -INF
HUGE = X.copy()
HUGE[2, 0] = -1e150

BAD_BATCHES = {
    "NaN": (WITH_NAN, ValueError, r"NaN \(row 7, column 2\)"),
    "NaN in float32": (WITH_NAN.astype(np.float32), ValueError, r"NaN \(row 7, column 2\)"),
    "infinity": (WITH_INFINITY, ValueError, r"infinity \(row 3, column 1\)"),
    "None": ([[1.0, 2.0, None]], ValueError, r"NaN \(row 0, column 2\)"),
    "missing in pandas": (
        pd.DataFrame({"a": [1, None], "b": [1, 2], "c": [1, 2]}, dtype="Int64"),
        ValueError,
        r"NaN or null \(row 1, column 0: 'a'\)",
    ),
    "huge": (HUGE, ValueError, r"-1e\+150 \(row 2, column 0\).*within 1e\+145"),
    "no rows": (X[:0], ValueError, r"0 sample\(s\)"),
    "no columns": (X[:, :0], ValueError, r"0 feature\(s\)"),
    "empty list": ([], ValueError, "Expected 2D array, got 1D array"),
    "one row": (X[0], ValueError, "Expected 2D array, got 1D array"),
    "a number": (3.0, ValueError, "Expected 2D array, got scalar array"),
    "three axes": (X[np.newaxis], ValueError, "dim 3"),
    "complex": (X + 1j, ValueError, "Complex data not supported"),
    "text": (X.astype(str), ValueError, r"text: '.*' \(row 0, column 0\); convert"),
    "text in a list": ([[1, 2, 3], [1, 2, "x"]], ValueError, r"text: 'x' \(row 1, column 2\)"),
    "text in an object": (
        np.array([[1, 2, "x"]], dtype=object),
        ValueError,
        r"text: 'x' \(row 0, column 2\)",
    ),
    "text in pandas": (
        pd.DataFrame({"a": [1.0], "b": ["x"], "c": [1.0]}),
        ValueError,
        r"text: 'x' \(row 0, column 1: 'b'\)",
    ),
    "text in polars": (
        pl.DataFrame({"a": [1.0], "b": ["x"], "c": [1.0]}),
        ValueError,
        r"text: 'x' \(row 0, column 1: 'b'\)",
    ),
    "dates": (np.zeros((2, 3), dtype="M8[s]"), ValueError, "datetime64.*expected real numbers"),
    "ragged": ([[1, 2, 3], [4, 5]], ValueError, "ragged: row 1 has 2 numbers, row 0 has 3"),
    "ragged depth": ([[1, 2, 3], 4], ValueError, "ragged: row 1 is a single value"),
    "a dict inside": (np.array([[1, 2, {}]], dtype=object), TypeError, "must be .*number"),
    "sparse with NaN": (sparse.csr_array(WITH_NAN), ValueError, r"NaN \(row 7, column 2\)"),
    "matrix": (np.asmatrix(X), TypeError, "np.matrix"),
}


@every_estimator
@pytest.mark.parametrize("case", BAD_BATCHES)
# NumPy warns about asmatrix, sklearn about frames without the names of fit.
@pytest.mark.filterwarnings("ignore:the matrix subclass", "ignore:X has feature names")
def test_bad_batches_are_refused_and_leave_no_trace(Estimator, case):
    bad, error, message = BAD_BATCHES[case]
    fresh, fitted = Estimator(n_clusters=2), Estimator(n_clusters=2).fit(X)
    assert_refused(fresh, lambda: fresh.fit(bad), error, message)
    assert_refused(fitted, lambda: fitted.fit(bad), error, message)
    assert_refused(fitted, lambda: fitted.predict(bad), error, message)
    if Estimator in ONLINE:
        assert_refused(fresh, lambda: fresh.partial_fit(bad), error, message)
        assert_refused(fitted, lambda: fitted.partial_fit(bad), error, message)
        assert_refused(fitted, lambda: fitted.partial_fit(bad), error, message)
        fitted.insert(X[0])
    assert not hasattr(fresh, "n_features_in_")


BAD_ROWS = {
    "NaN": ([1.0, NAN, 3.0], ValueError, r"NaN \(row 0, column 1\)"),
    "NaN in an array": (np.array([1.0, NAN, 3.0]), ValueError, r"NaN \(row 0, column 1\)"),
    "infinity": (np.array([1.0, 2.0, INF]), ValueError, r"infinity \(row 0, column 2\)"),
    "huge": (np.array([1.0, 1e200, 3.0]), ValueError, r"1e\+200 \(row 0, column 1\)"),
    "narrow": (np.ones(2), ValueError, "expected rows of 3 numbers, got 2"),
    "wide": ([1, 2, 3, 4], ValueError, "expected rows of 3 numbers, got 4"),
    "empty": ([], ValueError, "got 0|0 feature"),
    "several": (X, ValueError, r"shape \(12, 3\); use partial_fit"),
    "a number": (1.0, ValueError, r"one row of 3 numbers, got an array of shape \(\)"),
    "text": (["a", "b", "c"], ValueError, r"text: 'a' \(row 0, column 0\)"),
    "complex": (X[0] + 1j, ValueError, "Complex data not supported"),
    "ragged": ([1, [2, 3], 4], ValueError, "inhomogeneous"),
}


@every_online
@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_refused_and_leave_no_trace(Estimator, case):
    bad, error, message = BAD_ROWS[case]
    model = Estimator(n_clusters=2).fit(X)
    assert_refused(model, lambda: model.insert(bad), error, message)
    assert model.insert(X[0]) == len(X)


@every_online
def test_bad_float32_rows_on_the_fast_path(Estimator):
    model = Estimator(metric="cosine").fit(X.astype(np.float32))
    for bad, message in (
        (np.float32([1, NAN, 3]), r"NaN \(row 0, column 1\)"),
        (np.float32([1, 2, -INF]), r"infinity \(row 0, column 2\)"),
        (np.float32([0, 0, 0]), "only zeros in row 0"),
    ):
        assert_refused(model, partial(model.insert, bad), ValueError, message)


@every_online
@pytest.mark.parametrize("bad", [np.array([NAN]), [INF], np.array([[1.0]]), ["a"], []])
def test_a_bad_first_row_leaves_an_unfitted_model(Estimator, bad):
    model = Estimator()
    assert_refused(model, lambda: model.insert(bad), ValueError, ".")
    assert not hasattr(model, "n_features_in_")
    assert model.insert([1.0, 2.0]) == 0  # the width is still free


@every_estimator
def test_another_width_than_before(Estimator):
    model = Estimator(n_clusters=2).fit(X)
    message = f"X has 2 features, but {Estimator.__name__} is expecting 3 features as input: "
    message += "expected rows of 3 numbers, got 2"
    assert_refused(model, lambda: model.predict(X[:, :2]), ValueError, message)
    if Estimator in ONLINE:
        assert_refused(model, lambda: model.partial_fit(X[:, :2]), ValueError, message)
    model.fit(X[:, :2])  # a new start may have another width
    assert model.n_features_in_ == 2


@every_estimator
def test_a_zero_row_has_no_direction(Estimator):
    rows = X.copy()
    rows[4] = 0
    model = Estimator(n_clusters=2, metric="cosine").fit(X)
    message = "zeros in row 4.*metric='cosine' needs non-zero rows"
    assert_refused(model, lambda: model.fit(rows), ValueError, message)
    assert_refused(model, lambda: model.predict(rows), ValueError, message)
    if Estimator in ONLINE:
        assert_refused(model, lambda: model.partial_fit(rows), ValueError, message)
        zero = np.zeros(3)
        assert_refused(model, lambda: model.insert(zero), ValueError, "zeros in row 0")
    Estimator(metric="sqeuclidean").fit(rows)


def test_rows_near_the_ends_of_the_number_range_have_directions():
    rows = np.array([[1e-300, 0], [0, 1e-300], [1e140, 1e140], [5e-324, 0]])
    labels = HAC(n_clusters=3, metric="cosine").fit_predict(rows)
    assert labels.tolist() == [0, 1, 2, 0]


@every_online
def test_a_number_too_large_for_the_models_float32(Estimator):
    model = Estimator(n_clusters=2).fit(X.astype(np.float32))
    rows = X.copy()
    rows[5, 1] = 1e39
    message = r"1e\+39 \(row 5, column 1\), too large for float32"
    assert_refused(model, lambda: model.partial_fit(rows), ValueError, message)
    assert_refused(model, lambda: model.predict(rows), ValueError, message)
    assert_refused(model, lambda: model.insert(rows[5]), ValueError, "too large for float32")


def test_the_largest_numbers_allowed_do_not_overflow():
    rows = np.array([[LARGEST, -LARGEST], [-LARGEST, LARGEST], [LARGEST, LARGEST], [0, 0]])
    for Estimator in ESTIMATORS:
        model = Estimator().fit(rows)
        model.check()
        assert np.isfinite(model.hierarchy().heights).all()
    model = OHAC().fit(rows[:1])
    model.insert(rows[1])
    assert len(model) == 2


def test_float32_may_use_its_whole_range():
    rows = np.float32([[3e38, -3e38], [-3e38, 3e38], [1, 1]])
    for Estimator in ESTIMATORS:
        if Estimator is not BIRCH:  # scikit-learn squares in float32, which overflows
            Estimator().fit(rows).check()


def test_messages_name_the_estimator_and_not_an_inner_room():
    for Estimator in ESTIMATORS:
        with pytest.raises(ValueError, match=re.escape(f"required by {Estimator.__name__}")):
            Estimator().fit(np.empty((0, 3)))
