"""Files: what comes back goes on exactly as before; what is not right does not come back."""

import hashlib
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import ramify
from ramify import (
    BIRCH,
    GRINCH,
    HAC,
    OHAC,
    OTD,
    PERCH,
    Hierarchy,
    NaiveHAC,
    NaiveNN,
    RandomCut,
    UnreadableFileError,
    archive,
)
from ramify.estimators._choice import flat_options
from ramify.estimators._saved import to_saved
from ramify.estimators._settings import without_young
from ramify.saving import describe
from tests.every import ESTIMATORS, every_estimator
from tests.shapes import chain
from tests.strategies import scaled, seeds

GOLDEN = Path(__file__).parent / "golden"
X = np.abs(np.random.default_rng(0).normal(size=(60, 3)))

VARIANTS = [
    *(OTD(metric=metric) for metric in ("sqeuclidean", "cosine", "dot")),
    *(OTD(metric=metric, certify=True) for metric in ("cosine", "dot")),
    *(
        Estimator(metric=metric, linkage=linkage)
        for Estimator in (OHAC, NaiveHAC, HAC)
        for metric in ("sqeuclidean", "cosine", "dot")
        for linkage in ("average", "centroid", "ward")
        if (metric, linkage) != ("dot", "ward")
    ),
    *(OHAC(n_neighbors=k) for k in (2, 5)),
    *(NaiveNN(metric=metric) for metric in ("sqeuclidean", "cosine", "dot")),
    *(PERCH(metric=metric) for metric in ("sqeuclidean", "cosine")),
    PERCH(bounds="sound", balance=None, exact_distance_threshold=0),
    PERCH(max_leaves=9),
    *(GRINCH(metric=metric) for metric in ("sqeuclidean", "cosine", "dot")),
    GRINCH(graft="full", restructure=False, rotate_cap=5, graft_cap=7),
    *(BIRCH(metric=metric, threshold=0.2) for metric in ("sqeuclidean", "cosine")),
    BIRCH(threshold=0.05, branching_factor=3),
]


def through_file(model, folder):
    path = folder / "model.ramify"
    model.save(path)
    return ramify.load(path)


def assert_same(twin, model):
    """Everything a user can see, and everything that decides what happens next."""
    assert type(twin) is type(model)
    assert twin.get_params() == model.get_params()
    assert len(twin) == len(model)
    if model._live is None:
        assert twin._live is None
        return
    twin_state, state = twin._live.state(), model._live.state()
    assert twin_state["settings"] == state["settings"]
    assert twin_state["dtype"] == state["dtype"]
    assert twin_state["ids"] == state["ids"]
    assert twin_state["arrays"].keys() == state["arrays"].keys()
    for name, array in state["arrays"].items():
        assert np.array_equal(twin_state["arrays"][name], array), name
    if len(model):
        assert twin.hierarchy() == model.hierarchy()
        assert np.array_equal(twin.hierarchy().node_ids, model.hierarchy().node_ids)
        twin.check()


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_loaded_model_goes_on_as_the_saved_one(model, dtype, tmp_path):
    model = clone(model)
    rows = X.astype(dtype)
    if isinstance(model, HAC):
        assert_same(through_file(model.fit(rows), tmp_path), model)
        return
    model.fit(rows[:25])
    for _ in range(2):  # saved in the middle of the stream, and once more
        twin = through_file(model, tmp_path)
        assert_same(twin, model)
        for grower in (twin, model):
            at = len(grower)
            grower.partial_fit(rows[at : at + 10])
            for row in rows[at + 10 : at + 15]:
                grower.insert(row)
        assert_same(twin, model)
        model = twin
    model.partial_fit(rows[55:])
    whole = clone(model).fit(rows)
    assert model.hierarchy() == whole.hierarchy()
    if getattr(model, "certify", False):
        assert model.certificate() == whole.certificate()


@every_estimator
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_tiny_models(Estimator, n, tmp_path):
    model = Estimator()
    if n:
        model.fit(X[:n])
    twin = through_file(model, tmp_path)
    assert_same(twin, model)
    assert twin.fit(X).hierarchy() == Estimator().fit(X).hierarchy()


@pytest.mark.parametrize("ids", [[f"é{i}" for i in range(60)], list(range(60, 0, -1))])
def test_ids_columns_and_options_travel(ids, tmp_path):
    names = ["größe", "", 'a "b"\n']
    model = OHAC(n_clusters=4, n_neighbors=np.int64(2))
    model.fit(pd.DataFrame(X[:40], columns=names), ids=ids[:40])
    model.n_clusters, model.distance_threshold = None, float("inf")
    twin = through_file(model, tmp_path)
    assert_same(twin, model)
    assert twin.feature_names_in_.tolist() == names
    assert twin.feature_names_in_.dtype == object
    assert twin.n_features_in_ == 3
    assert twin.number_of(ids[17]) == 17
    assert np.array_equal(twin.labels_, model.labels_)
    twin.partial_fit(pd.DataFrame(X[40:], columns=names), ids=ids[40:])
    assert twin.hierarchy().names.tolist() == ids
    with pytest.raises(ValueError, match="is already the id of point 0"):
        twin.insert(X[0], id=ids[0])


def test_options_changed_since_the_first_point(tmp_path):
    model = OHAC().fit(X)
    model.linkage = "ward"
    twin = through_file(model, tmp_path)
    assert twin.linkage == "ward"
    with pytest.raises(ValueError, match="linkage was 'average' when the first point arrived"):
        twin.partial_fit(X)
    twin.linkage = "average"
    assert twin.partial_fit(X).hierarchy() == OHAC().fit(np.vstack([X, X])).hierarchy()


def test_a_model_that_lost_its_first_batch(tmp_path):
    """Settings without points: what an interrupt before the first row leaves."""
    model = OHAC().fit(X)
    model._live = ramify.estimators._live.Live(model._live.settings, model._live.dtype)
    twin = through_file(model, tmp_path)
    assert_same(twin, model)
    assert twin.partial_fit(X).hierarchy() == OHAC().fit(X).hierarchy()


def test_a_deep_tree(tmp_path):
    rows = np.random.default_rng(1).normal(size=(scaled(200_000), 2))
    model = OTD().fit(rows)
    twin = through_file(model, tmp_path)
    assert twin.hierarchy() == model.hierarchy()
    assert twin.insert(rows[0]) == len(rows)


def test_means_that_drifted_are_loaded_all_the_same(tmp_path):
    """float32 means of a long sorted stream stop moving, far from where they should be."""
    rows = 100 + np.sort(np.random.default_rng(0).normal(size=(scaled(500_000), 1)), axis=0)
    model = OTD().fit(rows.astype(np.float32))
    assert through_file(model, tmp_path).hierarchy() == model.hierarchy()


def test_a_file_is_the_same_every_time(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths[:2]:
        OHAC().fit(X, ids=range(60)).save(path)
    ramify.load(paths[0]).save(paths[2])
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()


def test_other_tools_can_read_the_numbers(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    model = OHAC().fit(X, ids=[f"x{i}" for i in range(60)])
    model.save(tmp_path / "model.ramify")
    arrays = safetensors.load_file(tmp_path / "model.ramify")
    assert np.array_equal(arrays["points"], X)
    assert bytes(arrays["ids_text"]).startswith(b"x0x1")


def test_what_a_file_says_about_itself(tmp_path):
    path = tmp_path / "model.ramify"
    OTD(n_clusters=3).fit(pd.DataFrame(np.float32(X), columns=list("abc")), ids=range(60)).save(
        path
    )
    assert describe(path) == {
        "kind": "model",
        "algorithm": "OTD",
        "library": ramify.__version__,
        "parameters": without_young(flat_options(OTD(n_clusters=3))),
        "points": 60,
        "columns": 3,
        "dtype": "float32",
        "feature_names": ["a", "b", "c"],
        "ids": "int",
        "bytes": path.stat().st_size,
    }
    with open(path, "r+b") as file:  # the end does not matter to it, the size does
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    assert describe(path)["points"] == 60
    with pytest.raises(UnreadableFileError):
        ramify.load(path)
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(UnreadableFileError, match="cut short"):
        describe(path)


@pytest.mark.threads
def test_saving_while_others_insert(tmp_path):
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    model = OTD()
    model.insert(rows[0])
    thread = threading.Thread(target=lambda: [model.insert(row) for row in rows[1:]])
    thread.start()
    sizes = []
    while thread.is_alive():
        twin = through_file(model, tmp_path)
        sizes.append(len(twin))
        assert twin.hierarchy() == OTD().fit(rows[: len(twin)]).hierarchy()
    thread.join()
    assert sizes == sorted(sizes)


# --- hierarchies ------------------------------------------------------------------------


@pytest.mark.parametrize("names", [None, ["a", "", "ç"], [5, -1, 2**40]])
def test_hierarchies_travel(names, tmp_path):
    tree = HAC().fit(X[:3]).hierarchy().with_names(names)
    tree.save(tmp_path / "tree.ramify")
    twin = ramify.load(tmp_path / "tree.ramify")
    assert isinstance(twin, Hierarchy)
    assert twin == tree
    assert np.array_equal(twin.node_ids, tree.node_ids)
    assert (None if twin.names is None else twin.names.tolist()) == names
    twin.check()
    assert describe(tmp_path / "tree.ramify")["points"] == 3


def test_a_hierarchy_keeps_the_names_of_its_nodes(tmp_path):
    tree = HAC().fit(X[:5]).hierarchy().with_node_names({0: "low", 3: "Größe ∞"})
    assert through_file(tree, tmp_path).node_names == {0: "low", 3: "Größe ∞"}
    path = tmp_path / "bad"
    for bad in ([[0]], [[0, 7]], [["x", "y"]], [[10**30, "far"]], 3):
        rewritten(path, tree, {"node_names": bad})
        with pytest.raises(UnreadableFileError, match="holds no valid hierarchy"):
            ramify.load(path)


def test_a_hierarchy_of_one_point_and_a_chain(tmp_path):
    n = scaled(300_000)
    for children in (chain(1), chain(n)):
        tree = Hierarchy(children, np.arange(len(children), dtype=float))
        tree.save(tmp_path / "tree.ramify")
        assert ramify.load(tmp_path / "tree.ramify") == tree


# --- what cannot be saved -----------------------------------------------------------------


class Mine(OHAC):
    pass


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "model.ramify"
    path.write_text("old")
    with pytest.raises(TypeError, match=r"Mine cannot be saved: .* own classes, BIRCH, .*pickle"):
        Mine().fit(X).save(path)
    for value in (len, [1], {"a": 1}, OHAC(), np.zeros(3), 1j):
        with pytest.raises(TypeError, match=r"n_clusters=.* cannot be saved: options"):
            OHAC(n_clusters=value).save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.ramify"]


def test_options_that_no_batch_is_taken_with_are_not_saved(tmp_path):
    """What is saved must load, and a loaded file's options are checked as a user's are."""
    model = OHAC(n_clusters=2).fit(X)
    for name, wrong in {"n_clusters": 0, "metric": "warp", "n_jobs": 0, "n_neighbors": -1}.items():
        right = getattr(model, name)
        setattr(model, name, wrong)
        with pytest.raises(ValueError, match=f"{name}="):
            model.save(tmp_path / "model.ramify")
        setattr(model, name, right)
    assert os.listdir(tmp_path) == []


def test_names_beyond_all_measure_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_LARGEST_HEADER", 2000)
    frame = pd.DataFrame(X[:, :1], columns=["a" * 1000])
    with pytest.raises(ValueError, match="a file has room for 2,000; use shorter names"):
        OHAC().fit(frame).save(tmp_path / "model.ramify")


# --- written whole or not at all --------------------------------------------------------------


def test_places_that_cannot_be_saved_to(tmp_path):
    model = OHAC().fit(X)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        model.save(tmp_path / "nowhere" / "model.ramify")
    with pytest.raises(IsADirectoryError, match="expected the name of a file"):
        model.save(tmp_path)
    with pytest.raises(OSError, match="not a plain file"):
        model.save(os.devnull)
    with pytest.raises(TypeError):
        model.save(None)
    assert os.listdir(tmp_path) == []


def test_the_old_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path, link = tmp_path / "model.ramify", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    OHAC().fit(X).save(str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert ramify.load(path).hierarchy() == OHAC().fit(X).hierarchy()
    assert sorted(os.listdir(tmp_path)) == ["link", "model.ramify"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    OHAC().save(tmp_path / "ours")
    (tmp_path / "other").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("error", [OSError(28, "no space"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_trouble_leaves_the_old_file_and_nothing_else(step, error, tmp_path, monkeypatch):
    path = tmp_path / "model.ramify"
    path.write_text("old")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        OHAC().fit(X).save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.ramify"]


FULL_DISK = """
import resource, signal, sys
import numpy as np
import ramify

model = ramify.OTD().fit(np.zeros((5000, 3)))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    model.save(sys.argv[1])
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on file sizes")
def test_a_disk_that_is_full_half_way(tmp_path):
    path = tmp_path / "model.ramify"
    path.write_text("old")
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.stdout == "OSError\n", run.stderr
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.ramify"]


# --- damaged, foreign and later files -----------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small file, its bytes, and a place to put others."""
    path = tmp_path_factory.mktemp("small") / "model.ramify"
    OHAC().fit([[1.0], [2.0], [5.0]], ids=["a", "b", "c"]).save(path)
    return path.read_bytes(), path.with_name("other.ramify")


def why_not(path):
    with pytest.raises(UnreadableFileError) as caught:
        ramify.load(path)
    name, why = str(caught.value).split(": ", 1)
    assert name == str(path)
    return why


def refused(path, content):
    path.write_bytes(content)
    return why_not(path)


# These two change one file in place: it takes a disk long to make thousands anew.
@pytest.mark.parametrize("bits", [0xFF, *(1 << bit for bit in range(8))])
def test_every_byte_matters(small, bits):
    whole, path = small
    path.write_bytes(whole)
    with open(path, "r+b", buffering=0) as file:
        for at, byte in enumerate(whole):
            for value in (byte ^ bits, byte):
                file.seek(at)
                file.write(bytes([value]))
                if value != byte:
                    why_not(path)
    ramify.load(path)


def test_every_prefix_is_cut_short(small):
    whole, path = small
    path.write_bytes(whole)
    for length in reversed(range(len(whole))):
        os.truncate(path, length)
        assert why_not(path).startswith("is cut short" if length else "is empty"), length


def test_more_than_everything_is_too_much(small):
    whole, path = small
    for tail in (b"\0", b" " * 1000, whole):
        expected = f"is damaged: expected {len(whole):,} bytes, found {len(whole) + len(tail):,}"
        assert refused(path, whole + tail) == expected


@given(seed=seeds())
def test_larger_damage(small, seed):
    whole, path = small
    rng = np.random.default_rng(seed)
    changed = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        begin, end = np.sort(rng.integers(0, len(changed) + 1, size=2))
        changed[begin:end] = rng.bytes(rng.integers(0, 50))
    if changed != whole:
        refused(path, changed)


FOREIGN = {
    "text": b"a,b\n1,2\n" * 50,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(500),
    "a pickle": pickle.dumps(OHAC().fit(X)),
    "zeros": bytes(500),
    "a long header": b"\xff" * 500,
    "one byte": b"\0",
    "another safetensors file": struct.pack("<Q", 60)
    + b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}      '
    + bytes(4),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_foreign_files(small, case):
    why = refused(small[1], FOREIGN[case])
    assert why == "is not a file that Ramify has saved" or case == "one byte"


def test_places_that_hold_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        ramify.load(tmp_path / "nothing")
    with pytest.raises(OSError, match="irectory"):
        ramify.load(tmp_path)
    with pytest.raises(UnreadableFileError, match="is not a plain file"):
        ramify.load(os.devnull)


def test_a_later_format_asks_for_an_upgrade(small):
    whole, path = small
    later = whole.replace(b'"version":"3"', b'"version":"4"')
    assert later != whole
    assert refused(path, later) == (
        "has format 4, and this version of Ramify reads up to 3: it was saved by a later "
        "version; upgrade Ramify to read it"
    )
    assert "has format 12345" in refused(path, whole.replace(b'version":"3"', b'version":"12345"'))
    assert "names no known format" in refused(path, whole.replace(b'version":"3', b'version":"0'))


# --- forged files: right digests over wrong content ----------------------------------------------


def forge_head(path, head, data=b""):
    """A file with any header, rightly digested."""
    text = head if isinstance(head, bytes) else json.dumps(head, separators=(",", ":")).encode()
    header = len(text).to_bytes(8, "little") + text
    path.write_bytes(header + hashlib.sha256(header).digest() + data)


def head_of(**arrays):
    return {
        "__metadata__": {"format": "ramify", "version": "1", "content": "{}"},
        "header_sha256": {"dtype": "U8", "shape": [32], "data_offsets": [0, 32]},
        **arrays,
    }


def entry(dtype="F64", shape=(1,), begin=32, end=40):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


START = b'{"__metadata__":{"format":"ramify","version":"1","content":'
FORGED_HEADS = {
    "no JSON": b'{"__metadata__":{"format":"ramify","version":"1",',
    "deep": START + b"[" * 100_000,
    "deep inside": {
        **head_of(),
        "__metadata__": {"format": "ramify", "version": "1", "content": "[" * 100_000},
    },
    "no content": START.removesuffix(b',"content":') + b"}}",
    "content of another kind": START + b"5}}",
    "content is a list": START + b'"[]"}}',
    "no digest": START + b'"{}"}}',
    "twice": START + b'"{}"},"a":{},"a":{}}',
    "a number of many digits": START + b'"{}"},"a":{"shape":[' + b"9" * 5000 + b"]}}",
    "nonsense": head_of(a=5),
    "no place": head_of(a={"dtype": "F64", "shape": [1]}),
    "too much said": head_of(a={**entry(), "more": 1}),
    "unknown type": head_of(a=entry("BF16")),
    "type is a list": head_of(a={**entry(), "dtype": []}),
    "shape is a number": head_of(a={**entry(), "shape": 8}),
    "half a number": head_of(a=entry(shape=[1.0])),
    "truth": head_of(a=entry(shape=[True])),
    "negative": head_of(a=entry(shape=[-1, -1])),
    "absurd": head_of(a=entry(shape=[2**62], end=32 + 2**65)),
    "absurd and nothing": head_of(a=entry(shape=[0, 2**62], end=32)),
    "three axes": head_of(a=entry(shape=[1, 1, 1])),
    "larger than its place": head_of(a=entry(shape=[2])),
    "a hole": head_of(a=entry(begin=40, end=48)),
    "an overlap": head_of(a=entry(), b=entry()),
    "a huge array in a small file": head_of(a=entry(shape=[2**40], end=32 + 2**43)),
    "many arrays": head_of(**{f"a{i}": entry(shape=[0], end=32) for i in range(1000)}),
    "no digest of an array": head_of(a=entry()),
}


@pytest.mark.parametrize("case", FORGED_HEADS)
def test_forged_headers(small, case):
    path = small[1]
    forge_head(path, FORGED_HEADS[case], bytes(8))
    with pytest.raises(UnreadableFileError):
        ramify.load(path)


def test_an_absurd_header_is_not_even_read(small):
    whole, path = small
    with open(path, "wb") as file:  # sparse: a gigabyte that takes no room
        file.write((2**29).to_bytes(8, "little") + whole[8:])
        file.truncate(2**30)
    with pytest.raises(UnreadableFileError, match="absurd length"):
        ramify.load(path)


def parts(model):
    """Content and arrays of a model or a hierarchy, as its file has them."""
    if isinstance(model, Hierarchy):
        arrays = {name: getattr(model, name) for name in ("children", "heights", "node_ids")}
        return {"kind": "hierarchy"}, arrays
    return to_saved(model)


def forge(path, content, arrays):
    path.write_bytes(b"".join(archive.encode(content, arrays)))


def rewritten(path, model, content=(), arrays=(), drop=()):
    """Store a model with some of its content and arrays exchanged."""
    old_content, old_arrays = parts(model)
    new = {**old_arrays, **dict(arrays)}
    kept = {name: array for name, array in new.items() if name not in drop}
    forge(path, {**old_content, **dict(content)}, kept)


def settings(model, **changes):
    return {"settings": {**parts(model)[0]["settings"], **changes}}


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def forgeries():
    ohac = OHAC().fit(X[:6], ids=list("abcdef"))
    old = ohac._live.state()["arrays"]
    links, names, mean = old["links"], old["names"], old["mean"]
    content = {
        "kind": ({"kind": "virus"}, "holds no model or hierarchy, but 'virus'"),
        "algorithm": ({"algorithm": "Quantum"}, "model of 'Quantum'.*saved by Ramify '0.1.0'"),
        "another algorithm": ({"algorithm": "OTD"}, "no parameter 'linkage' in this version"),
        "no algorithm": ({"algorithm": None}, "model of None"),
        "algorithm of a list": ({"algorithm": []}, r"model of \[\]"),
        "parameters": ({"parameters": [1]}, "its parameters are none"),
        "unknown parameter": ({"parameters": {"depth": 3}}, "no parameter 'depth'"),
        "parameter of parameters": ({"parameters": {"metric": {}}}, "cannot be saved"),
        "no settings": ({"settings": None}, "it has arrays, and no tree"),
        "settings": ({"settings": 5}, "holds no valid model"),
        "width": (settings(ohac, width=0), "no possible width"),
        "other width": (settings(ohac, width=4), "two numbers"),
        "width of half": (settings(ohac, width=3.0), "no possible width"),
        "metric": (settings(ohac, metric="warp"), "not offered"),
        "metric of a list": (settings(ohac, metric=[]), "expected a string"),
        "neighbours": (settings(ohac, n_neighbors=0), "at least 1"),
        "true neighbours": (settings(ohac, n_neighbors=True), "expected an int"),
        "option": (settings(ohac, more={"certify": True}), "certify=True, which OHAC has not"),
        "core algorithm": (settings(ohac, algorithm="otd"), "another algorithm's"),
        "points": ({"points": 7}, "shape"),
        "points below zero": ({"points": -1}, "no possible number of points"),
        "points of text": ({"points": "6"}, "no possible number of points"),
        "columns": ({"columns": 2}, "two numbers"),
        "dtype": ({"dtype": "float32"}, "has type float64"),
        "odd dtype": ({"dtype": "int8"}, "numbers are 'int8'"),
        "state": ({"state": 3}, "format 3"),
        "column names": ({"feature_names": ["a"]}, "column names do not fit"),
        "column numbers": ({"feature_names": [1, 2, 3]}, "column names do not fit"),
        "ids": ({"ids": None}, "one too many: ids_ends, ids_text"),
        "ids of another kind": ({"ids": "int"}, "ids, ids_ends, ids_text"),
    }
    yield from ((name, ohac, {"content": c}, why) for name, (c, why) in content.items())
    arrays = {
        "NaN": ({"points": changed(old["points"], (2, 1), np.nan)}, "coordinate is not finite"),
        "huge": ({"points": changed(old["points"], (2, 1), 1e200)}, "coordinate is too large"),
        "mean": ({"mean": changed(mean, (1, 1), 1e3)}, "mean lies outside"),
        "mean NaN": ({"mean": changed(mean, (1, 1), np.nan)}, "mean lies outside"),
        "spread": ({"ssd": changed(old["ssd"], 1, -1.0)}, "spread is impossible"),
        "huge spread": ({"ssd": changed(old["ssd"], 1, 1e300)}, "spread is impossible"),
        "spread NaN": ({"ssd": changed(old["ssd"], 1, np.nan)}, "spread is impossible"),
        "no root": ({"links": np.where(links == 2**32 - 1, 1, links)}, "no root"),
        "two roots": ({"links": changed(links, (slice(2), 0), 2**32 - 1)}, "more than one"),
        "beyond": ({"links": changed(links, (0, 1), 2**31 + 1)}, "does not exist"),
        "leaf beyond": ({"links": changed(links, (0, 1), 2**31)}, "does not exist|damaged|another"),
        "no child": ({"links": changed(links, (0, 1), 2**32 - 1)}, "does not exist"),
        "stranger": ({"links": changed(links, (0, 1), links[0, 2])}, "another parent|damaged"),
        "twins": ({"names": changed(names, 0, names[1])}, "two nodes have the same id"),
        "future": ({"next_name": np.uint64([0])}, "from the future"),
        "last days": ({"next_name": np.uint64([2**64 - 1])}, "too many nodes"),
        "marks": ({"marks": np.uint32([99])}, "a mark on a node that does not exist"),
        "many marks": ({"marks": np.arange(9, dtype=np.uint32)}, "'marks' has type uint32 and"),
        "short": ({"ssd": old["ssd"][1:]}, "'ssd' has type float64 and shape"),
        "flat": ({"links": links.ravel()}, "'links' has type uint32 and shape"),
        "another type": ({"names": names.astype(np.int64)}, "'names' has type int64"),
        "one more": ({"more": np.zeros(3)}, "one too many: more"),
        "equal ids": ({"ids_text": np.frombuffer(b"abcdee", "u1")}, "'e' stands at rows 4 and 5"),
        "no text": ({"ids_text": np.frombuffer(b"abcde\xff", "u1")}, "decode"),
        "ends": ({"ids_ends": np.int64([1, 2, 3, 4, 5, 9])}, "do not fit their text"),
        "ends back": ({"ids_ends": np.int64([1, 2, 9, 4, 5, 6])}, "do not fit their text"),
        "ends negative": ({"ids_ends": np.int64([-1, 2, 3, 4, 5, 6])}, "do not fit their text"),
    }
    yield from ((name, ohac, {"arrays": a}, why) for name, (a, why) in arrays.items())
    yield "missing", ohac, {"drop": ["mean"]}, "one too many: mean"
    cycle = links.copy()
    inner = np.argwhere((links[:, 1:] & 1) == 1)
    assert len(inner)
    slot, side = inner[0]
    top = int(np.flatnonzero(links[:, 0] == 2**32 - 1)[0])
    cycle[slot, 1 + side] = 2 * top + 1
    yield "cycle", ohac, {"arrays": {"links": cycle}}, "another parent|root|damaged"
    cosine = OHAC(metric="cosine").fit(X[:6])
    long = {"points": 2 * cosine._live.state()["arrays"]["points"]}
    yield "long direction", cosine, {"arrays": long}, "longer than 1"
    certified = OTD(metric="dot", certify=True).fit(X[:6])
    state = certified._live.state()["arrays"]
    below = {"points": changed(state["points"], (0, 0), -1.0)}
    yield "negative", certified, {"arrays": below}, "certify=True"
    yield "proof", certified, {"arrays": {"numbers": np.ones(3)}}, "'numbers' has type"
    yield "NaN proof", certified, {"arrays": {"numbers": np.full(7, np.nan)}}, "not finite"
    birch = BIRCH().fit(X[:6])
    yield "grouped", birch, {"arrays": {"grouped": np.int64([7])}}, "points that it lacks"
    yield "grouped below", birch, {"arrays": {"grouped": np.int64([-1])}}, "points that it lacks"
    perch = PERCH(max_leaves=3).fit(X[:6])
    yield "mark", perch, {"arrays": {"marks": np.uint32([99])}}, "does not exist"
    yield "no mark", perch, {"arrays": {"marks": np.uint32([])}}, "more leaves than max_leaves"
    yield "many marks", perch, {"arrays": {"marks": np.zeros(9, np.uint32)}}, "'marks' has type"
    grinch = GRINCH().fit(X[:6])
    state = grinch._live.state()["arrays"]
    marks, numbers = state["marks"], state["numbers"]
    yield "flag", grinch, {"arrays": {"marks": changed(marks, 1, 8)}}, "mark is impossible"
    yield "size", grinch, {"arrays": {"numbers": changed(numbers, 0, -5)}}, "impossible size"
    none = {"marks": changed(marks, 1, 0), "numbers": changed(numbers, 0, 0)}
    yield "summary of none", grinch, {"arrays": none}, "summary is impossible"
    parameters = {
        "metric": ({"metric": "warp"}, "metric='warp' is not offered"),
        "neighbours": ({"n_neighbors": 0}, "n_neighbors=0: expected at least 1"),
        "many neighbours": ({"n_neighbors": 10**30}, "n_neighbors=10*: expected at most"),
        "threads": ({"n_jobs": 0}, "n_jobs=0: expected at least 1"),
        "clusters": ({"n_clusters": -1}, "n_clusters=-1: expected at least 1"),
        "text": ({"n_clusters": "3"}, "expected an int, got str"),
        "cuts": ({"n_clusters": 1, "distance_threshold": 1.0}, "are both set"),
        "height": ({"distance_threshold": 10**400}, "distance_threshold is beyond all floats"),
    }
    yield from (
        (f"parameter: {name}", ohac, {"content": {"parameters": p}}, why)
        for name, (p, why) in parameters.items()
    )
    # Loaded, it asked for two terabytes on first use.
    wide = {"threshold": 0.5, "branching_factor": 10**11}
    yield "branching", birch, {"content": {"parameters": wide}}, "branching_factor=10*: expected at"
    yield "grown so", birch, {"content": settings(birch, more=wide)}, "branching_factor=10*: expec"
    n = len(ohac)
    numbers = {
        "twice": (np.zeros(n, np.uint64), n, "arrival numbers"),
        "from the future": (np.arange(n, dtype=np.uint64), n - 1, "arrival numbers"),
        "too few": (np.empty(0, np.uint64), n - 1, "arrival numbers"),
        "some": (np.arange(n - 1, dtype=np.uint64), n, "'arrivals' has type"),
        "endless": (np.arange(n, dtype=np.uint64), 2**63, "too many points"),
    }
    for name, (arrivals, upcoming, why) in numbers.items():
        arrays = {"arrivals": arrivals, "next_arrival": np.array([upcoming], np.uint64)}
        yield f"numbers: {name}", ohac, {"arrays": arrays}, why
    empty = OHAC()
    yield "a tree of nothing", empty, {"arrays": {"points": X}}, "it has arrays, and no tree"


FORGERIES = list(forgeries())


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery[0])
def test_forged_models(small, forgery):
    _, model, changes, why = forgery
    path = small[1]
    rewritten(path, model)
    assert_same(ramify.load(path), model)  # the forger's tools work
    rewritten(path, model, **changes)
    with pytest.raises(UnreadableFileError, match=why) as caught:
        ramify.load(path)
    assert str(caught.value).startswith(f"{path}: holds ")


LOAD_ALL = """
import resource, sys
import ramify

room = 2 * 2**30
resource.setrlimit(resource.RLIMIT_AS, (room, room))
for path in sys.argv[1:]:
    model = ramify.load(path)
    assert len(model) == 0 and model.n_features_in_ == 2**31 - 1
    model.save(path)
    try:
        getattr(model, "partial_fit", model.nearest)([[1.0]])
    except ValueError as error:
        print(type(model).__name__, error)
"""


@pytest.mark.no_asan  # memory that is limited is too little for its own
@pytest.mark.skipif(sys.platform != "linux", reason="needs limits on memory")
def test_a_small_file_without_points_took_gigabytes(tmp_path):
    """Its header claimed rows as wide as can be, and the core set some aside."""
    width = 2**31 - 1
    paths = []
    for Estimator in ESTIMATORS:
        model = Estimator().fit(X)
        content, arrays = parts(model)
        content = {**content, "points": 0, "columns": width, **settings(model, width=width)}
        arrays = {
            name: array[:0].reshape(0, width) if name in ("points", "mean") else array[:0]
            for name, array in arrays.items()
        }
        arrays["next_name"] = arrays["next_arrival"] = np.zeros(1, np.uint64)
        if Estimator is BIRCH:
            arrays["grouped"] = np.zeros(1, np.int64)
        if Estimator is RandomCut:
            arrays["marks"] = np.zeros(2, np.uint32)  # the generator's
        paths.append(tmp_path / Estimator.__name__)
        forge(paths[-1], content, arrays)
        assert paths[-1].stat().st_size < 3000
    command = [sys.executable, "-c", LOAD_ALL, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    refusals = run.stdout.splitlines()
    assert len(refusals) == len(ESTIMATORS), run.stderr
    for Estimator, refusal in zip(ESTIMATORS, refusals, strict=True):
        assert refusal.startswith(f"{Estimator.__name__} ")


@pytest.mark.parametrize(
    "changes",
    [
        {"drop": ["heights"]},
        {"arrays": {"heights": np.zeros(7)}},
        {"arrays": {"heights": np.full(5, np.nan)}},
        {"arrays": {"heights": np.arange(5.0)[::-1].copy()}},
        {"arrays": {"children": np.zeros((5, 2), np.int64)}},
        {"arrays": {"children": np.full((5, 2), 2**40, np.int64)}},
        {"arrays": {"children": np.full((5, 2), -1, np.int64)}},
        {"arrays": {"children": np.zeros((5, 2))}},
        {"arrays": {"ids": np.zeros(6, np.int64)}},
        {"arrays": {"ids": np.arange(5)}},
    ],
)
def test_forged_hierarchies(small, changes):
    path = small[1]
    rewritten(path, HAC().fit(X[:6]).hierarchy(), **changes)
    with pytest.raises(UnreadableFileError, match="holds no valid hierarchy"):
        ramify.load(path)


VICTIMS = [
    *(OHAC(), OHAC(n_neighbors=3, linkage="centroid", metric="dot"), NaiveNN(), NaiveHAC()),
    *(OTD(), OTD(metric="cosine", certify=True), PERCH(), PERCH(max_leaves=5), BIRCH()),
    *(GRINCH(), GRINCH(graft="full", metric="cosine"), HAC(metric="cosine")),
]
ODD_NUMBERS = (0, 1, 3, 2**31, 2**32 - 1, 2**32 - 2, 2**63, 2**64 - 1)
ODD_FLOATS = (0.0, -1.0, 5e-324, 1e150, 1e308, np.inf, np.nan)


def tamper(arrays, rng):
    name = rng.choice([name for name, array in arrays.items() if array.size])
    flat = arrays[name].reshape(-1)
    at, other = rng.integers(flat.size, size=2)
    odd = ODD_FLOATS if flat.dtype.kind == "f" else ODD_NUMBERS
    with np.errstate(all="ignore"):
        more = flat[at] + flat.dtype.type(1)
        value = [flat[other], np.array(odd[rng.integers(len(odd))]), more][rng.integers(3)]
        flat[at] = np.asarray(value).astype(flat.dtype)


@given(seed=seeds(), which=st.sampled_from(range(len(VICTIMS))))
def test_a_forged_tree_is_refused_or_a_tree(small, seed, which):
    """No crash, and nothing that breaks later: a forger can only make other valid trees."""
    rng = np.random.default_rng(seed)
    path = small[1]
    model = clone(VICTIMS[which])
    model.fit(X[: rng.integers(1, 25)])
    for _ in range(8):
        content, arrays = to_saved(model)
        for _ in range(rng.integers(1, 4)):
            tamper(arrays, rng)
        forge(path, content, arrays)
        try:
            twin = ramify.load(path)
        except UnreadableFileError:
            continue
        twin.hierarchy().check()
        if not isinstance(twin, HAC):
            twin.partial_fit(X[:9])
            twin.insert(X[9])
            twin.hierarchy().check()


# --- files of earlier versions --------------------------------------------------------------


def golden_rows():
    """Rows that every machine makes alike: fractions of two, no ties to speak of."""
    i = np.arange(32)
    return np.column_stack([i * 7919 % 101, i * 104729 % 97, i * 1299709 % 89]) / 8.0


#: One model of every algorithm, with options that leave something behind in its file.
GOLDEN_MODELS = {
    "OHAC": {"n_clusters": 3, "n_neighbors": 2, "linkage": "ward"},
    "OTD": {"n_clusters": 3, "metric": "cosine", "certify": True},
    "NaiveHAC": {"n_clusters": 3, "linkage": "centroid"},
    "NaiveNN": {"distance_threshold": 40.0},
    "PERCH": {"n_clusters": 3, "max_leaves": 20},
    "GRINCH": {"n_clusters": 3, "graft": "full"},
    "RandomCut": {"n_clusters": 3, "random_state": 5},
    "BIRCH": {"n_clusters": 3, "threshold": 3.0},
    "HAC": {"n_clusters": 3, "metric": "cosine"},
    "LiveGraphHAC": {"n_clusters": 3, "n_neighbors": 4, "weight": "jaccard"},
}
COLUMNS = ["x", "y", "größe"]


def golden_model(name):
    model = getattr(ramify, name)(**GOLDEN_MODELS[name])
    frame = pd.DataFrame(golden_rows() + (model.metric == "cosine"), columns=COLUMNS)
    return model.fit(frame, ids=[f"point {i}" for i in range(32)])


def golden_file(name, version):
    """Written once by ``golden_model(name).save(...)`` in that format, and never again."""
    return GOLDEN / f"{name.lower()}-format-{version}.ramify"


#: The first format that there was when an algorithm came.
FIRST_FORMAT = {"RandomCut": 2, "LiveGraphHAC": 3}


def golden_formats(name):
    """Those that there were when the algorithm came."""
    return [version for version in archive.FORMATS if version >= FIRST_FORMAT.get(name, 1)]


GOLDEN_FILES = [(name, version) for name in GOLDEN_MODELS for version in golden_formats(name)]


@pytest.mark.parametrize(("name", "version"), GOLDEN_FILES)
def test_golden_files_are_read(name, version, tmp_path):
    model, fresh = ramify.load(golden_file(name, version)), golden_model(name)
    # The core may number its slots differently today; the tree must be the same.
    assert model.hierarchy() == fresh.hierarchy()
    assert np.array_equal(model.points(), fresh.points())
    assert model.get_params() == fresh.get_params()
    assert model.ids_.tolist() == fresh.ids_.tolist()
    assert model.feature_names_in_.tolist() == COLUMNS
    assert np.array_equal(model.labels_, fresh.labels_)
    again = through_file(model, tmp_path)
    assert_same(again, model)
    if name == "HAC":
        return
    more = pd.DataFrame(golden_rows()[::-1] + 1.5, columns=COLUMNS)
    for grower in (again, model, fresh):
        grower.partial_fit(more, ids=[f"more {i}" for i in range(32)])
    assert_same(again, model)
    assert again.hierarchy() == fresh.hierarchy()


def test_every_algorithm_has_its_golden_files():
    assert set(GOLDEN_MODELS) == {estimator.__name__ for estimator in ESTIMATORS}
    for name, version in GOLDEN_FILES:
        assert golden_file(name, version).exists()


def test_a_hierarchy_of_format_1_is_read():
    tree = ramify.load(GOLDEN / "hierarchy-format-1.ramify")
    assert tree == golden_model("HAC").hierarchy()
    assert tree.point_numbers.tolist() == list(range(32))


def test_numbers_of_points_outlive_a_file(tmp_path):
    tree = HAC().fit(X[:4]).hierarchy()
    numbered = ramify.Hierarchy(tree.children, tree.heights, point_numbers=[2, 3, 7, 9])
    numbered.save(tmp_path / "tree")
    assert ramify.load(tmp_path / "tree").point_numbers.tolist() == [2, 3, 7, 9]
    for wrong in ([1, 1, 2, 3], [0, 1, 2], [-1, 0, 1, 2], [3, 2, 1, 0]):
        with pytest.raises(ValueError, match="point_numbers"):
            ramify.Hierarchy(tree.children, tree.heights, point_numbers=wrong)


def test_what_was_erased_stays_so_in_a_stored_tree():
    live = OHAC().fit(X[:20])._live
    core, settings = live._core, live.settings.for_core()
    for gone in (0, 7, 19):
        assert core.erase(gone)
    twin = type(core).from_state(*settings, core.state())
    assert twin.numbers().tolist() == core.numbers().tolist()
    for one in (core, twin):
        assert one.insert_one(X[20]) == 20
    for mine, other in zip(core.snapshot(), twin.snapshot(), strict=True):
        assert np.array_equal(mine, other)
    for number in core.numbers().tolist():
        assert core.erase(number)
    twin = type(core).from_state(*settings, core.state())
    assert twin.insert_one(X[0]) == 21
