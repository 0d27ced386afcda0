"""files.py: damaged and forged files, read as a user would. `python -m tests.fuzz.files --help`

A file is read, or refused with the error that the documentation names. It never takes
more memory than ROOM or more seconds than PATIENCE, never crashes the process, and what
came out of it is valid. A process writes every file before it reads it, so the file
that killed it is there to be looked at.
"""

import argparse
import faulthandler
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import ramify
from ramify import Hierarchy, UnreadableFileError, archive
from ramify.errors import BrokenTreeError
from ramify.estimators._saved import to_saved
from ramify.files import ReadOptions, open_rows, read_names
from ramify.saving import describe
from tests.fuzz.corpus import MODELS, ROWS, grown, row_files, saved
from tests.fuzz.mutations import damaged, forged_array, forged_content

ROOM = 2 * 2**30  # bytes, on top of what the libraries take
PATIENCE = 60  # seconds for one file
MOST_BYTES = 4 * 2**20  # of rows read from a file of some kilobytes

#: Makes a file in a folder and returns how to read it.
Case = Callable[[np.random.Generator, Path], Callable[[], bool]]


# --- saved models and trees ----------------------------------------------------------


def damaged_model(rng: np.random.Generator, folder: Path) -> Callable[[], bool]:
    whole = saved(_thing(rng), folder)
    changed = damaged(rng, whole)
    path = folder / "case.ramify"
    path.write_bytes(changed)
    if changed == whole:
        return lambda: load(path)
    return lambda: not refused(path)


def forged_model(rng: np.random.Generator, folder: Path) -> Callable[[], bool]:
    """Wrong content under right digests."""
    thing = _thing(rng)
    content, arrays = _parts(thing)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if rng.random() < 0.4 or not arrays:
            content = forged_content(rng, content)
        else:
            name = list(arrays)[rng.integers(len(arrays))]
            arrays = {**arrays, name: forged_array(rng, arrays[name])}
    path = folder / "case.ramify"
    path.write_bytes(b"".join(archive.encode(content, arrays)))
    return lambda: load(path)


def _thing(rng: np.random.Generator) -> Any:
    model = grown(MODELS[rng.integers(len(MODELS))], rng)
    return model.hierarchy() if rng.random() < 0.2 else model


def _parts(thing: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not isinstance(thing, Hierarchy):
        content, arrays = to_saved(thing)
        return dict(content), dict(arrays)
    arrays = {name: getattr(thing, name) for name in ("children", "heights", "node_ids")}
    return {"kind": "hierarchy"}, arrays


def refused(path: Path) -> bool:
    """True: every byte of a saved file is under a digest, so none may change unnoticed."""
    assert not load(path), "loaded, in spite of its digests"
    return True


def load(path: Path) -> bool:
    """Whether a file was loaded; what came out of it is as good as if it had been grown."""
    with suppress(UnreadableFileError):
        describe(path)
    try:
        thing = ramify.load(path)
    except UnreadableFileError as error:
        return _says_why(error, f"{path}: ")
    _check(thing)
    if isinstance(thing, Hierarchy):
        assert len(thing.cut(n_clusters=1)) == thing.n_leaves
    else:
        _use(thing)
    thing.save(path.with_name("again.ramify"))
    ramify.load(path.with_name("again.ramify"))
    return True


def _says_why(error: Exception, beginning: str = "") -> bool:
    """False, for an error that a user can understand."""
    assert str(error)
    assert str(error).startswith(beginning)
    return False


def _use(model: Any) -> None:
    if len(model) == 0:
        return
    assert model.hierarchy().n_leaves == len(model)
    width = model.n_features_in_
    row = np.resize(ROWS[0], width)
    assert len(model.nearest(row[None])[0]) == 1
    if hasattr(model, "insert"):
        _insert(model, row)
        _check(model)


#: What a file may have that no tree of ours has. Means and spreads need only be possible,
#: because those of long streams drift (test_saving.py); and Hierarchy(...) itself takes rows
#: whose children are in another order, or that come in another order among equal heights.
_MAY_DIFFER = ("mean", "ssd", "children are swapped", "rows are not sorted")


def _check(thing: Any) -> None:
    """Test all invariants that a file answers for."""
    try:
        if len(thing) > 0:
            thing.check()
    except BrokenTreeError as error:
        if not str(error).endswith(_MAY_DIFFER):
            raise


def _insert(model: Any, row: np.ndarray) -> None:
    before = len(model)
    try:
        model.insert(row, id=_new_id(getattr(model, "ids_", None)))
    except ValueError:  # an option that was changed since the first point, and the like
        assert len(model) == before
    else:
        assert len(model) == before + 1


def _new_id(ids: np.ndarray | None) -> Any:
    if ids is None:
        return None
    return "new" if isinstance(ids[0], str) else max(ids.tolist()) // 2 + 12345


# --- files of rows -------------------------------------------------------------------

_FILES = row_files()

_OPTIONS = [
    ReadOptions(),
    ReadOptions(batch_size=4),
    ReadOptions(id_column="name", label_column="kind"),
    ReadOptions(columns=["x", "0:2"]),
    ReadOptions(columns=["0"], header=False),
    ReadOptions(dtype=np.dtype(np.float32)),
    ReadOptions(field="v"),
    ReadOptions(member="rows", label_column="label", id_column="name"),
    ReadOptions(features=False, label_column="kind"),
]


def damaged_rows(rng: np.random.Generator, folder: Path) -> Callable[[], bool]:
    name = list(_FILES)[rng.integers(len(_FILES))]
    path = folder / f"case{''.join(Path(name).suffixes)}"
    path.write_bytes(damaged(rng, _FILES[name]))
    options = _OPTIONS[rng.integers(len(_OPTIONS))]
    if rng.random() < 0.1:
        return lambda: names(path)
    return lambda: rows(path, options)


def rows(path: Path, options: ReadOptions) -> bool:
    """Whether a file's rows could be read; they are finite, and not more than it may hold."""
    size = 0
    try:
        with open_rows(path, options) as source:
            for batch in source:
                assert batch.rows.dtype in (np.float32, np.float64)
                assert np.isfinite(batch.rows).all()
                for beside in (batch.ids, batch.labels):
                    assert beside is None or len(beside) == len(batch)
                size += batch.rows.nbytes
                assert size <= MOST_BYTES, "more rows than the file can hold"
    except ValueError as error:
        return _says_why(error)
    return True


def names(path: Path) -> bool:
    try:
        read_names(path)
    except ValueError as error:
        return _says_why(error)
    return True


# --- many of them --------------------------------------------------------------------

CASES: dict[str, Case] = {
    "damaged model": damaged_model,
    "forged model": forged_model,
    "damaged rows": damaged_rows,
}


def case_of(seed: int) -> str:
    return list(CASES)[seed % len(CASES)]


def run_case(seed: int, folder: Path) -> bool:
    """Make the file of this seed and read it. True if it could be read."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about numbers that are meant to be odd
        return CASES[case_of(seed)](rng, folder)()


def limit_memory() -> None:
    """Where the system can: whoever takes more than ROOM gets a MemoryError."""
    if sys.platform != "linux":
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def try_cases(seeds: Iterable[int], folder: Path, seconds: float) -> Counter[str]:
    """Try one seed after the other; tell of those that failed, and go on. How many there were."""
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for seed in seeds:
        (folder / "seed").write_text(str(seed))
        faulthandler.dump_traceback_later(PATIENCE, exit=True, file=sys.__stderr__)
        try:
            read = run_case(seed, folder)
            counts[f"{case_of(seed)}, {'read' if read else 'refused'}"] += 1
        except Exception:
            counts["failed"] += 1
            print(f"seed {seed}, {case_of(seed)}:\n{traceback.format_exc()}", file=sys.stderr)
        faulthandler.cancel_dump_traceback_later()
        if time.monotonic() >= end:
            break
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.files", description=__doc__)
    parser.add_argument("folder", type=Path, help="where files are made")
    parser.add_argument("--first", type=int, default=0, help="seed of the first file")
    parser.add_argument("--seconds", type=float, default=0, help="0: the first seed only")
    options = parser.parse_args()
    faulthandler.enable()
    limit_memory()
    counts = try_cases(count(options.first), options.folder, options.seconds)
    print(json.dumps(counts))
    sys.exit("failed" in counts)


if __name__ == "__main__":
    main()
