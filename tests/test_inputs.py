"""What rows may come in: frames, Arrow, sparse matrices, tensors, rows by name."""

import decimal
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import ramify
from ramify import OHAC, OTD
from ramify.estimators._live import Live
from ramify.estimators._settings import Settings
from ramify.metric import DOT
from ramify.points import Expected
from ramify.sparse import DENSE_BYTES
from tests.every import ONLINE, every_estimator, every_online
from tests.strategies import batches, grid_rows

pa = pytest.importorskip("pyarrow")
pytest.importorskip("narwhals")

COLUMNS = ["a", "b", "c"]
X = np.random.default_rng(0).normal(size=(40, 3))
X[np.random.default_rng(1).random(X.shape) < 0.3] = 0


class OnlyArray:
    """An object with ``__array__`` and nothing else."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype=dtype)


class Tensor:
    """An object with DLPack and nothing else, as a tensor on a device."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class ShyTensor(OnlyArray, Tensor):
    """A tensor whose DLPack NumPy cannot read, with another way to its numbers."""

    device = (1, 0)

    def __dlpack__(self, **options):
        raise BufferError("not like this")


class OnlyStream:
    """Arrow's stream protocol and nothing else; it can be read once."""

    def __init__(self, table):
        self.tables = [table]

    def __arrow_c_stream__(self, schema=None):
        return self.tables.pop().__arrow_c_stream__(schema)


def table(rows=X, columns=COLUMNS):
    return pa.table({name: rows[:, j] for j, name in enumerate(columns)})


FRAMES = {
    "pandas": lambda: pd.DataFrame(X, columns=COLUMNS),
    "pandas on Arrow": lambda: pd.DataFrame(X, columns=COLUMNS).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas nullable": lambda: pd.DataFrame(X, columns=COLUMNS).convert_dtypes(),
    "pandas of objects": lambda: pd.DataFrame(X, columns=COLUMNS).astype(object),
    "pandas sparse": lambda: pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(X), columns=COLUMNS
    ),
    "polars": lambda: pl.DataFrame(X, schema=COLUMNS),
    "Arrow table": table,
    "Arrow chunks": lambda: pa.concat_tables([table(X[:7]), table(X[7:])]),
    "Arrow batch": lambda: table().to_batches()[0],
    "Arrow reader": lambda: table().to_reader(),
    "Arrow stream": lambda: OnlyStream(table()),
}
NAMELESS = {
    "__array__": lambda: OnlyArray(X),
    "DLPack": lambda: Tensor(X),
    "DLPack, and another way": lambda: ShyTensor(X),
    "mask without a masked value": lambda: np.ma.masked_greater(X, 1e9),
    "pandas without names": lambda: pd.DataFrame(X),
    **{
        f"{kind} {what}": lambda kind=kind, what=what: getattr(sparse, f"{kind}_{what}")(X)
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for what in ("array", "matrix")
    },
}


@pytest.mark.parametrize("wrap", FRAMES.values(), ids=FRAMES)
def test_a_frame_is_its_rows_and_its_names(wrap):
    model = OHAC(n_clusters=4).fit(wrap())
    assert model.hierarchy() == OHAC().fit(X).hierarchy()
    assert model.feature_names_in_.tolist() == COLUMNS
    assert np.array_equal(model.predict(wrap()), model.labels_)


@pytest.mark.parametrize("wrap", NAMELESS.values(), ids=NAMELESS)
def test_other_rows_are_their_rows(wrap):
    model = OHAC(n_clusters=4).fit(wrap())
    assert model.hierarchy() == OHAC().fit(X).hierarchy()
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.predict(wrap()), model.labels_)


@every_estimator
@pytest.mark.parametrize("wrap", [FRAMES["polars"], FRAMES["Arrow batch"], NAMELESS["csr array"]])
def test_every_estimator_takes_them(Estimator, wrap):
    expected = Estimator().fit(X).hierarchy()
    assert Estimator().fit(wrap()).hierarchy() == expected
    if Estimator in ONLINE:
        assert Estimator().partial_fit(wrap()).hierarchy() == expected


@pytest.mark.parametrize("wrap", FRAMES.values(), ids=FRAMES)
def test_names_are_checked_later(wrap):
    model = OHAC().fit(pd.DataFrame(X, columns=["c", "b", "a"]))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        model.partial_fit(wrap())
    model = OHAC().fit(pd.DataFrame(X, columns=["a", "b", "width"]))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c\n.*missing:\n- width"):
        model.partial_fit(wrap())
    assert len(model) == len(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        OHAC().fit(X).partial_fit(wrap())


NUMBERS = {
    "float32": (np.float32([1, 2]), np.float32([3, 4]), "float32"),
    "float16": (np.float16([1, 2]), np.float16([3, 4]), "float32"),
    "float16 and float32": (np.float16([1, 2]), np.float32([3, 4]), "float32"),
    "integers": ([1, 2], [3, 4], "float64"),
    "integers and float32": ([1, 2], np.float32([3, 4]), "float64"),
    "truth": ([True, False], [1, 0], "float64"),
    "decimals": ([decimal.Decimal("1.5"), decimal.Decimal(2)], [1, 0], "float64"),
}


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_number_types_of_columns(frame, case):
    a, b, kept = NUMBERS[case]
    model = OTD().fit(frame({"a": a, "b": b}))
    plain = np.column_stack([np.asarray(a, dtype=float), np.asarray(b, dtype=float)])
    assert model._live.dtype == kept
    assert model.hierarchy() == OTD().fit(plain.astype(kept)).hierarchy()


BAD_COLUMNS = {
    "text": (["1", "x"], r"text: '1' \(row 0, column 1: 'size'\); convert"),
    "null": ([1.0, None], r"NaN or null \(row 1, column 1: 'size'\)"),
    "null integer": ([1, None], r"NaN or null \(row 1, column 1: 'size'\)"),
    "no text": (["x", None], r"NaN or null \(row 1, column 1: 'size'\)"),
    "NaN": ([1.0, float("nan")], r"NaN.* \(row 1, column 1: 'size'\)"),
    "infinity": ([1.0, float("-inf")], r"infinity \(row 1, column 1: 'size'\)"),
    "huge": ([1.0, 1e200], r"1e\+200 \(row 1, column 1: 'size'\).*within"),
    "days": (
        np.array(["2024-01-01", "2024-01-02"], dtype="M8[us]"),
        r"Datetime.* in column 1: 'size'; expected real numbers",
    ),
    "lists": ([[1, 2], [3, 4]], r"contains .*\(row 0, column 1: 'size'\); expected real numbers"),
}


@pytest.mark.parametrize("case", BAD_COLUMNS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_bad_column_is_named(frame, case):
    values, message = BAD_COLUMNS[case]
    model = OHAC()
    for bad in (frame({"weight": [1.0, 2.0], "size": values}),):
        with pytest.raises(ValueError, match=message):
            model.fit(bad)
    assert len(model) == 0


def test_mixed_objects_are_named():
    for values, message in (
        ([1.0, "x"], r"text: 'x' \(row 1, column 0: 'size'\)"),
        ([1.0, 1j], r"contains 1j \(complex\) \(row 1, column 0: 'size'\)"),
        ([1.0, {}], r"contains {} \(dict\) \(row 1, column 0: 'size'\)"),
    ):
        frame = pd.DataFrame({"size": pd.Series(values, dtype=object)})
        with pytest.raises(ValueError, match=message):
            OHAC().fit(frame)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_without_rows_or_columns(frame):
    with pytest.raises(ValueError, match=r"0 sample\(s\) .* required by OHAC"):
        OHAC().fit(frame({"a": np.empty(0), "b": np.empty(0)}))
    with pytest.raises(ValueError, match=r"0 (feature|sample)\(s\)"):
        OHAC().fit(frame({}))


def test_a_lazy_frame_must_be_collected():
    with pytest.raises(TypeError, match=r"lazy frame.*collect\(\)"):
        OHAC().fit(pl.DataFrame(X, schema=COLUMNS).lazy())


def test_another_width_in_a_frame():
    model = OHAC().fit(X)
    with (
        pytest.warns(UserWarning, match="without feature names"),
        pytest.raises(ValueError, match="expected rows of 3 numbers, got 2"),
    ):
        model.partial_fit(pl.DataFrame(X[:, :2], schema=["a", "b"]))


# --- without the optional libraries ------------------------------------------------


@pytest.mark.parametrize(
    "wrap", [FRAMES["pandas"], FRAMES["polars"], NAMELESS["pandas without names"]]
)
def test_frames_are_read_without_narwhals(wrap, monkeypatch):
    frame = wrap()

    def missing(name):
        raise ImportError(name)

    # Not from sys.modules: scikit-learn itself needs it there, from 1.9 on.
    monkeypatch.setattr("ramify.frames.import_module", missing)
    model = OHAC().fit(frame)
    assert model.hierarchy() == OHAC().fit(X).hierarchy()
    names = getattr(model, "feature_names_in_", None)
    assert names is None or names.tolist() == COLUMNS


def test_arrow_without_pyarrow_names_the_extra(monkeypatch):
    stream = OnlyStream(table())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'OnlyStream needs pyarrow.*pip install "ramify\[arrow'):
        OHAC().fit(stream)


def test_importing_ramify_imports_none_of_them():
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import ramify; "
        "assert not {'pandas', 'polars', 'pyarrow', 'narwhals'} & (set(sys.modules) - before)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- tensors and masks ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_are_not_copied(dtype):
    rows = np.random.default_rng(0).normal(size=(4, 3)).astype(dtype)
    read = ramify.points.read_rows(Tensor(rows), Expected("OHAC"))
    assert np.shares_memory(read, rows)
    assert read.dtype == dtype


def test_a_tensor_on_another_device_is_refused():
    for call in (OHAC().fit, OHAC().insert):
        with pytest.raises(ValueError, match=r"not|another device than the CPU.*type 2\).*cpu\(\)"):
            call(Tensor(X, device=(2, 0)))


def test_a_tensor_that_cannot_be_read_says_why():
    class Broken(Tensor):
        def __dlpack__(self, **options):
            raise BufferError("it requires grad")

    with pytest.raises(ValueError, match="cannot read it: it requires grad"):
        OHAC().fit(Broken(X))


def test_types_that_numpy_has_no_numbers_for():
    for rows in (np.zeros((2, 2), dtype="V4"), np.zeros((2, 2), dtype=[("a", "f8")])):
        with pytest.raises(ValueError, match=r"values of type .*; convert them to float32"):
            OHAC().fit(rows)


def test_masked_values_are_refused():
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    masked[5, 2] = np.ma.masked
    with pytest.raises(ValueError, match=r"masked value at \(5, 2\)"):
        OHAC().fit(masked)
    with pytest.raises(ValueError, match=r"masked value at \(2\)"):
        OHAC().insert(masked[5])


# --- sparse --------------------------------------------------------------------------


@given(grid_rows(max_size=25), st.data())
def test_sparse_rows_are_dense_rows(rows, data):
    rows = np.where(rows > 2, rows, 0)
    way = data.draw(batches(len(rows)), label="batches")
    model, twin = OHAC(), OHAC()
    for part in way:
        model.partial_fit(sparse.csr_array(rows[part]))
        twin.partial_fit(rows[part])
    assert model.hierarchy() == twin.hierarchy()


@every_estimator
def test_chunks_of_any_size_give_the_same_tree(Estimator, monkeypatch):
    expected = Estimator(n_clusters=4).fit(X)
    for nbytes in (1, 3 * 8 * 7, 3 * 8 * 39):
        monkeypatch.setattr("ramify.sparse.DENSE_BYTES", nbytes)
        calls = []
        model = Estimator(n_clusters=4).fit(
            sparse.csr_array(X),
            progress=lambda done, total, calls=calls: calls.append((done, total)),
        )
        assert model.hierarchy() == expected.hierarchy()
        assert np.array_equal(model.predict(sparse.csc_array(X)), expected.labels_)
        assert calls == sorted(calls)
        assert calls[-1] == (40, 40)


def test_dense_memory_is_bounded():
    n, width = 3000, 20_000  # 480 MB, dense
    rows = sparse.random_array((n, width), density=1e-3, rng=np.random.default_rng(0)).tocsr()
    seen = []

    class Spy:
        def __len__(self):
            return 0

        def insert_many(self, chunk, pulse=None, threads=1):
            seen.append(chunk.nbytes)

    live = Live(Settings("otd", width, DOT), np.dtype("f8"), Spy())
    batch = ramify.points.read_batch(rows, Expected("OTD"))
    tracemalloc.start()
    live.insert_many(batch, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(seen) == n * width * 8
    assert max(seen) <= DENSE_BYTES
    assert peak < 2.2 * DENSE_BYTES  # a chunk is let go when the next one is there


BAD_SPARSE = {
    "NaN": ([[0, 1], [0, np.nan]], {}, r"NaN \(row 1, column 1\)"),
    "infinity": ([[0, -np.inf], [0, 1]], {}, r"infinity \(row 0, column 1\)"),
    "huge": ([[0, 0], [-1e150, 1]], {}, r"-1e\+150 \(row 1, column 0\)"),
    "zeros": ([[0, 1], [0, 0]], {"metric": "cosine"}, "only zeros in row 1"),
    "complex": ([[0, 1j], [0, 0]], {}, "Complex data not supported"),
    "no rows": (np.empty((0, 2)), {}, r"0 sample\(s\)"),
    "no columns": (np.empty((2, 0)), {}, r"0 feature\(s\)"),
}


@pytest.mark.parametrize("case", BAD_SPARSE)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_bad_sparse_rows_are_refused_with_their_place(kind, case):
    values, options, message = BAD_SPARSE[case]
    model = OHAC(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(getattr(sparse, f"{kind}_array")(np.array(values)))
    assert not hasattr(model, "n_features_in_")


def test_more_bad_sparse_rows():
    model = OHAC().fit(X.astype(np.float32))
    with pytest.raises(ValueError, match="expected rows of 3 numbers, got 2"):
        model.partial_fit(sparse.csr_array(X[:, :2]))
    with pytest.raises(ValueError, match=r"\(row 0, column 1\), or a number too large for float32"):
        model.partial_fit(sparse.csr_array([[0, 1e39, 0]]))
    with pytest.raises(ValueError, match="2D"):
        model.partial_fit(sparse.coo_array(X[0]))
    model = OTD(metric="dot", certify=True)
    with pytest.raises(ValueError, match=r"contains -2 \(row 1, column 2\); certify=True"):
        model.fit(sparse.csr_array([[0, 1, 0], [1, 0, -2]]))
    assert len(model) == 0


def test_duplicate_entries_add_up_and_nobody_is_written_to():
    entries = ([1.0, 2.0, 0.0, 5.0], ([0, 0, 1, 1], [1, 1, 0, 1]))
    coo = sparse.coo_array(entries, shape=(2, 2))
    # A CSR matrix in disorder: duplicates, a stored zero, columns out of order.
    csr = sparse.csr_array(([1.0, 2.0, 5.0, 0.0], [1, 1, 1, 0], [0, 2, 4]), shape=(2, 2))
    for rows in (coo, csr):
        before = rows.data.copy()
        model = OHAC().fit(rows)
        assert model.hierarchy() == OHAC().fit([[0.0, 3.0], [0.0, 5.0]]).hierarchy()
        assert np.array_equal(rows.data, before)


# --- one row ---------------------------------------------------------------------------


@every_online
def test_rows_by_name(Estimator):
    model = Estimator()
    model.insert({"a": 1.0, "b": 2.0, "c": 3.0})
    assert model.feature_names_in_.tolist() == COLUMNS
    model.insert({"c": 6, "a": 4, "b": 5})
    model.insert(pd.Series({"b": 8.0, "c": 9.0, "a": 7.0}))
    model.insert(pl.DataFrame({"a": [1], "b": [0], "c": [2]}).row(0, named=True))
    model.insert([5.0, 5.0, 4.0])
    model.partial_fit(pd.DataFrame([[0.0, 0.0, 1.0]], columns=COLUMNS))
    rows = [[1.0, 2, 3], [4, 5, 6], [7, 8, 9], [1, 0, 2], [5, 5, 4], [0, 0, 1]]
    twin = Estimator()
    for row in rows:
        twin.insert(row)
    assert model.hierarchy() == twin.hierarchy()


def test_rows_by_wrong_names():
    model = OHAC().fit(pd.DataFrame(X, columns=COLUMNS))
    for row, message in (
        ({"a": 1, "b": 2}, "names 'a', 'b', 'c': missing 'c', unknown none"),
        ({"a": 1, "b": 2, "x": 3}, "missing 'c', unknown 'x'"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "missing none, unknown 'd'"),
        (pd.Series([1.0, 2.0, 3.0], index=["a", "b", "b"]), "missing 'c'"),
        (pd.Series([1, 2, 3, 4], index=["a", "b", "b", "c"]), "expected a row with the names"),
        ({"a": 1, "b": 2, "c": "x"}, r"text: 'x' \(row 0, column 2\)"),
        ({"a": 1, "b": 2, "c": None}, r"NaN \(row 0, column 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            model.insert(row)
    with pytest.raises(TypeError, match="strings as names, got 7"):
        model.insert({"a": 1, "b": 2, 7: 3})
    with pytest.raises(ValueError, match="by name, and this OHAC began without column names"):
        OHAC().fit(X).insert({"a": 1, "b": 2, "c": 3})
    assert len(model) == len(X)
    model = OHAC()
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        model.insert({})
    assert not hasattr(model, "feature_names_in_")


def test_one_row_in_other_wrappings():
    model, twin = OHAC().fit(X[:5]), OHAC().fit(X)
    rows = iter(X[5:])
    wrappings = [
        Tensor,
        OnlyArray,
        lambda row: sparse.csr_array(row[np.newaxis]),
        lambda row: sparse.csr_matrix(row[np.newaxis])[0],
        sparse.coo_array,
        pd.Series,
        pl.Series,
        pa.array,
        tuple,
    ]
    while len(model) < len(X):
        model.insert(wrappings[len(model) % len(wrappings)](next(rows)))
    assert model.hierarchy() == twin.hierarchy()
    with pytest.raises(ValueError, match=r"one row of 3 numbers, got an array of shape \(2, 3\)"):
        model.insert(sparse.csr_array(X[:2]))
