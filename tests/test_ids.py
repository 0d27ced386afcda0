"""Ids of points: unique, all or none, and always in step with the tree."""

import copy
import enum
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from ramify import HAC, OHAC, OTD, NaiveHAC
from ramify.ids import Ids, pack, unpack
from tests.every import every_estimator, every_online
from tests.test_concurrency import StopError, long_batch, stop

X = np.random.default_rng(0).normal(size=(30, 3))
NAMES = [f"point {i}" for i in range(30)]
NUMBERS = [7 * i - 60 for i in range(30)]

both_kinds = pytest.mark.parametrize("ids", [NAMES, NUMBERS], ids=["str", "int"])


class Colour(str, enum.Enum):  # noqa: UP042 - a str whose str() is another
    RED = "red"
    BLUE = "blue"


@both_kinds
@every_estimator
def test_ids_travel_with_the_points(Estimator, ids):
    model = Estimator(n_clusters=3).fit(X, ids=ids)
    assert model.ids_.tolist() == ids
    assert [model.number_of(one) for one in ids] == list(range(30))
    assert model.hierarchy().names.tolist() == ids
    assert model.hierarchy() == Estimator().fit(X).hierarchy()
    assert Estimator(n_clusters=3).fit_predict(X, ids=ids).tolist() == model.labels_.tolist()
    assert model.ids_.dtype == (object if ids is NAMES else np.int64)
    with pytest.raises(ValueError, match="read-only"):
        model.ids_[0] = ids[0]


@both_kinds
@every_online
def test_every_way_to_grow(Estimator, ids):
    model = Estimator()
    assert model.insert(X[0], id=ids[0]) == 0
    model.partial_fit(X[1:10], ids=ids[1:10])
    model.partial_fit(X[10:20], ids=np.array(ids[10:20]))
    before = model.hierarchy()
    for i in range(20, 25):
        assert model.insert(X[i], id=ids[i]) == i
    for i in range(25, 30):
        assert model.insert(X[i].tolist(), id=ids[i]) == i
    assert model.ids_.tolist() == ids
    assert model.hierarchy().names.tolist() == ids
    assert before.names.tolist() == ids[:20]
    twin = Estimator()
    for row in X:
        twin.insert(row)
    assert model.hierarchy() == twin.hierarchy()


@pytest.mark.parametrize(
    "wrap",
    [
        tuple,
        np.array,
        lambda ids: np.array(ids, dtype=object),
        pd.Series,
        pd.Index,
        pl.Series,
        lambda ids: pytest.importorskip("pyarrow").array(ids),
        lambda ids: list(np.array(ids)),
        iter,
    ],
)
@both_kinds
def test_ids_in_any_wrapping(wrap, ids):
    model = OTD().fit(X, ids=wrap(ids))
    assert model.ids_.tolist() == ids
    kind = type(ids[0])
    assert all(type(one) is kind for one in model._live.known_ids())


def test_odd_but_lawful_ids():
    odd = ["", " ", "a\0", "a", "\0", "ä", "\ud800", "1", "x" * 5000, "ä\u0301"]
    model = OTD().fit(X[: len(odd)], ids=odd)
    assert model.ids_.tolist() == odd
    assert model.number_of("a") == 3
    whole = [0, -1, 2**63 - 1, -(2**63)]
    model = OTD().fit(X[:4], ids=whole)
    assert model.ids_.tolist() == whole
    assert model.number_of(np.int64(-1)) == 1
    assert OTD().fit(X[:2], ids=list(Colour)).ids_.tolist() == ["red", "blue"]
    assert type(OTD().fit(X[:2], ids=list(Colour)).ids_[0]) is str


# --- refused --------------------------------------------------------------------------

BAD_IDS = {
    "twins": (["a", "b", "a"], ValueError, "'a' stands at rows 0 and 2"),
    "known": (["a", "point 3", "b"], ValueError, r"'point 3' \(row 1\) is already .* point 3"),
    "few": (["a", "b"], ValueError, "expected 3, one for each row, got 2"),
    "many": (["a", "b", "c", "d"], ValueError, "expected 3, one for each row, got 4"),
    "none": (None, ValueError, "no ids were given, and the first 30 points .* have some"),
    "other kind": ([1, 2, 3], TypeError, r"1 \(row 0\) is of type int, .* of type str so far"),
    "mixed": (["a", "b", 3], TypeError, r"3 \(row 2\) is of type int"),
    "float": (["a", "b", 1.5], TypeError, r"got 1.5 \(float, row 2\)"),
    "None inside": (["a", None, "b"], TypeError, r"got None \(NoneType, row 1\)"),
    "NaN": (["a", float("nan"), "b"], TypeError, r"got nan \(float, row 1\)"),
    "truth": (["a", True, "b"], TypeError, r"got True \(bool, row 1\)"),
    "bytes": ([b"a", "b", "c"], TypeError, r"got b'a' \(bytes, row 0\)"),
    "list inside": ([["a"], "b", "c"], TypeError, r"got \['a'\] \(list, row 0\)"),
    "text": ("abc", TypeError, "ids='abc': expected a sequence"),
    "a number": (5, TypeError, "ids=5: expected a sequence"),
    "a set": ({"a", "b", "c"}, TypeError, "in the order of the rows, got set"),
    "a dict": ({"a": 1, "b": 2, "c": 3}, TypeError, "in the order of the rows, got dict"),
    "floats": (np.array([1.0, 2.0, 3.0]), TypeError, r"got 1.0 \(float, row 0\)"),
    "days": (np.array([1, 2, 3], dtype="M8[s]"), TypeError, r"\(datetime, row 0\)"),
    "table": (np.array([["a"], ["b"], ["c"]]), TypeError, r"got \['a'\] \(list, row 0\)"),
}


@pytest.mark.parametrize("case", BAD_IDS)
@pytest.mark.parametrize("Estimator", [OHAC, OTD, NaiveHAC])
def test_bad_ids_are_refused_before_anything_changes(Estimator, case):
    ids, error, message = BAD_IDS[case]
    model = Estimator().fit(X, ids=NAMES)
    before = model.hierarchy()
    with pytest.raises(error, match=message):
        model.partial_fit(X[:3], ids=ids)
    if case not in ("known", "none", "other kind", "mixed"):  # lawful, or told otherwise, at first
        for fresh in (Estimator(), HAC()):
            with pytest.raises(error, match=message):
                fresh.fit(X[:3], ids=ids)
            assert len(fresh) == 0
            assert not hasattr(fresh, "n_features_in_")
    assert model.hierarchy() is before
    assert model.ids_.tolist() == NAMES
    model.check()


def test_bad_single_ids():
    model = OHAC().fit(X, ids=NUMBERS)
    for row in (X[0], X[0].tolist()):
        for bad, error, message in (
            (None, ValueError, "no ids were given, and the first 30 points of this stream have"),
            (NUMBERS[4], ValueError, r"-32 .*is already the id of point 4"),
            ("x", TypeError, "'x' .*is of type str, and .* of type int so far"),
            (True, TypeError, "got True"),
            (1.0, TypeError, "got 1.0"),
            (
                2**63,
                ValueError,
                r"9223372036854775808 .*does not fit 64 bits.*; use strings",
            ),
            ([1], TypeError, r"got \[1\]"),
        ):
            with pytest.raises(error, match=message):
                model.insert(row, id=bad)
    with pytest.raises(ValueError, match="NaN"):
        model.insert([1.0, np.nan, 2.0], id=5000)
    with pytest.raises(ValueError, match="NaN"):
        model.insert(np.array([1.0, np.nan, 2.0]), id=5000)
    assert len(model) == 30
    assert model.insert(X[0], id=5000) == 30  # the refused calls did not use it up
    assert model.number_of(5000) == 30


def test_first_ids_of_two_kinds():
    for bad in (["a", 1], [1, "a"]):
        with pytest.raises(TypeError, match=r"all strings or all integers, got .* \(row 1\)"):
            OHAC().fit(X[:2], ids=bad)
    with pytest.raises(ValueError, match=r"18446744073709551615 \(row 1\) does not fit 64 bits"):
        OHAC().fit(X[:2], ids=np.array([1, 2**64 - 1], dtype=np.uint64))


def test_all_or_none():
    model = OHAC().fit(X[:5])
    for grow in (
        lambda: model.partial_fit(X[5:7], ids=["a", "b"]),
        lambda: model.insert(X[5], id="a"),
        lambda: model.insert(X[5].tolist(), id="a"),
    ):
        with pytest.raises(ValueError, match="the first 5 points of this stream have none; a str"):
            grow()
    assert len(model) == 5
    assert model.hierarchy().names is None
    assert not hasattr(model, "ids_")
    with pytest.raises(AttributeError, match="no ids; give ids= from the first batch on"):
        model.number_of("a")
    model.fit(X[:2], ids=["a", "b"])  # a new stream
    assert model.number_of("b") == 1
    model.fit(X)
    assert not hasattr(model, "ids_")
    model.insert(X[0])


def test_looking_for_an_id():
    model = OHAC().fit(X, ids=NUMBERS)
    for wanted in ("x", 5000, None, [1], 1.5):
        with pytest.raises(KeyError, match="no point has the id"):
            model.number_of(wanted)
    model = OHAC().fit(X[:2], ids=[1, 0])
    for wanted in (True, False):
        with pytest.raises(KeyError):
            model.number_of(wanted)
    assert not hasattr(OHAC(), "ids_")
    with pytest.raises(ValueError, match="holds no points yet"):
        OHAC().number_of("a")


# --- interrupts ---------------------------------------------------------------------------


@every_online
def test_an_interrupted_batch_keeps_ids_in_step(Estimator):
    rows = long_batch(Estimator)
    names = [str(i) for i in range(len(rows))]
    model = Estimator().fit(rows[:3], ids=names[:3])
    with pytest.raises(StopError):
        model.partial_fit(rows[3:], ids=names[3:], progress=stop)
    held = len(model)
    assert held == 3 if Estimator is NaiveHAC else 3 < held < len(rows)
    assert model.ids_.tolist() == names[:held]
    assert model.hierarchy().names.tolist() == names[:held]
    # What got in may not come again, what did not get in may.
    with pytest.raises(ValueError, match=f"'{held - 1}' .*already the id of point {held - 1}"):
        model.partial_fit(rows[:2], ids=[names[held], names[held - 1]])
    model.partial_fit(rows[held : held + 50], ids=names[held : held + 50])
    model.insert(rows[held + 50], id=names[held + 50])
    assert model.ids_.tolist() == names[: held + 51]


def test_a_sparse_batch_interrupted_between_chunks(monkeypatch):
    monkeypatch.setattr("ramify.sparse.DENSE_BYTES", 1000 * 3 * 8)
    rows = long_batch(OHAC).astype(np.float64)
    model = OHAC()
    with pytest.raises(StopError):
        model.fit(sparse.csr_array(rows), ids=range(len(rows)), progress=stop)
    held = len(model)
    assert 0 < held < len(rows)
    assert np.array_equal(model.ids_, np.arange(held))
    model.partial_fit(sparse.csr_array(rows[held : held + 9]), ids=range(held, held + 9))
    assert model.hierarchy() == OHAC().fit(rows[: held + 9]).hierarchy()


def test_an_interrupted_offline_fit_leaves_the_old_ids():
    model = HAC().fit(X, ids=NAMES)
    with pytest.raises(StopError):
        model.fit(long_batch(HAC), ids=range(len(long_batch(HAC))), progress=stop)
    assert model.ids_.tolist() == NAMES


@pytest.mark.parametrize(("first", "second"), [("b", None), ("b", "n"), (None, "n")])
@pytest.mark.parametrize("insert", [False, True])
def test_an_interrupt_before_the_first_point_leaves_the_choice_open(first, second, insert):
    rows = long_batch(NaiveHAC)
    model = NaiveHAC()
    names = None if first is None else [f"{first}{i}" for i in range(len(rows))]
    with pytest.raises(StopError):
        model.fit(rows, ids=names, progress=stop)
    assert len(model) == 0
    ids = None if second is None else NUMBERS
    if insert:
        for i, row in enumerate(rows[:30]):
            model.insert(row, id=None if ids is None else ids[i])
    else:
        model.partial_fit(rows[:30], ids=ids)
    assert len(model) == 30
    assert hasattr(model, "ids_") == (ids is not None)
    if ids is not None:
        assert model.ids_.tolist() == ids


@pytest.mark.parametrize("Estimator", [OTD, OHAC])
def test_ctrl_c_anywhere(Estimator):
    """A signal at a random moment: the ids are those of the points, whatever it hit."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(4000, 2))
    model = Estimator()
    begun = 0
    interrupted = 0
    deadline = time.monotonic() + 30
    while interrupted < 40 and time.monotonic() < deadline:
        if begun == len(rows):
            model, begun = Estimator(), 0
        timer = threading.Timer(
            rng.uniform(0, 0.004),
            signal.pthread_kill,
            (threading.main_thread().ident, signal.SIGINT),
        )
        try:
            timer.start()
            while begun < len(rows):
                stop = begun + int(rng.integers(1, 50))
                part = rows[begun:stop]
                model.partial_fit(part, ids=range(begun, begun + len(part)))
                begun = len(model)
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            timer.cancel()
            while timer.is_alive():
                try:
                    timer.join()
                except KeyboardInterrupt:
                    interrupted += 1
        begun = len(model)
        if begun:
            assert np.array_equal(model.ids_, np.arange(begun))
    assert interrupted > 0


def test_settling_twice_is_settling_once():
    ids = Ids()
    ids.expect(["a", "b", "c"])
    ids.settle(2, bool)
    ids.settle(2, bool)
    assert list(ids) == ["a", "b"]
    assert ids.number_of("c") is None
    ids.expect(["c"])
    ids.settle(3, bool)
    assert list(ids) == ["a", "b", "c"]


# --- copies and files ------------------------------------------------------------------


@both_kinds
@pytest.mark.parametrize(
    "way", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy], ids=lambda w: "way"
)
def test_copies_keep_ids(way, ids):
    model = OHAC().fit(X[:20], ids=ids[:20])
    twin = way(model)
    for grower in (twin, model):
        assert grower.ids_.tolist() == ids[:20]
        grower.partial_fit(X[20:], ids=ids[20:])
    assert twin.ids_.tolist() == ids
    assert twin.hierarchy().names.tolist() == ids
    with pytest.raises(ValueError, match="is already the id of point 0"):
        twin.insert(X[0], id=ids[0])


def test_a_clone_has_none():
    assert not hasattr(clone(OHAC().fit(X, ids=NAMES)), "ids_")


def test_pickles_from_before_there_were_ids():
    state = OHAC().fit(X).__getstate__()
    state["_live"] = {key: value for key, value in state["_live"].items() if key != "ids"}
    model = OHAC()
    model.__setstate__(state)
    assert model.hierarchy() == OHAC().fit(X).hierarchy()


@given(
    st.one_of(
        st.lists(st.text(st.characters()), unique=True),
        st.lists(st.integers(-(2**63), 2**63 - 1), unique=True),
    )
)
def test_packing(ids):
    checked = Ids()
    checked.expect(checked.read(ids, len(ids)))
    checked.settle(len(ids), bool)
    assert checked.array().tolist() == ids
    arrays = pack(checked.array())
    assert all(array.dtype in (np.uint8, np.int64) for array in arrays.values())
    assert unpack(arrays) == ids


@given(st.data())
def test_a_stream_of_ids_against_a_plain_list(data):
    """Any mix of good and bad batches: what is kept is what a list would keep."""
    model, kept = OTD(), []
    for _ in range(data.draw(st.integers(1, 6), label="batches")):
        ids = data.draw(st.lists(st.integers(0, 25), min_size=1, max_size=6), label="ids")
        good = len({*kept, *ids}) == len(kept) + len(ids)
        try:
            model.partial_fit(np.zeros((len(ids), 1)), ids=ids)
            assert good
            kept += ids
        except ValueError:
            assert not good
        assert len(model) == len(kept)
        if kept:
            assert model.ids_.tolist() == kept
