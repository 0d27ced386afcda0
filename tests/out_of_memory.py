# SPDX-License-Identifier: BSD-3-Clause
"""out_of_memory.py: refuse the k-th request for memory of an insert or a read, for every k.

Run by test_memory.py in a process of its own, with failing_allocator.cpp loaded first:
``python -m tests.out_of_memory CASES``, CASES being a JSON list of ``Case``. Prints for each how
many requests were refused; a traceback, or no exit at all, is what the test is looking for.
"""

import ctypes
import json
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ramify

_allocator = ctypes.CDLL(None)
_allocator.fail_after.argtypes = (ctypes.c_long, ctypes.c_int)
_allocator.stop_failing.restype = ctypes.c_long


@dataclass
class Case:
    """What is going on when memory runs out: ``rows`` rows come after ``before`` others.

    With ``rows=0`` the model is read, or ``gone`` points are taken out of it again.
    """

    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)
    dim: int = 2
    before: int = 60
    rows: int = 1
    gone: int = 0
    recorded: bool = False  #: changes are written down
    for_good: bool = False  #: all requests after the k-th fail, too
    warm: bool = True  #: the index is there before; False: the model was loaded from a file
    step: int = 1  #: only every so manieth request is refused

    def points(self) -> np.ndarray:
        """Rows for everything, those after the failure included, a few of them equal."""
        rng = np.random.default_rng(0)
        X = np.abs(rng.normal(size=(self.before + self.rows + 40, self.dim)) + 3)
        X[rng.integers(len(X), size=len(X) // 10)] = X[0]
        return X

    def model(self, X: np.ndarray) -> Any:
        model = getattr(ramify, self.algorithm)(**self.options)
        if self.before:
            model.partial_fit(X[: self.before])
        if not self.warm:
            copy = type(model)(**self.options)
            copy.__setstate__(model.__getstate__())
            return copy
        return model


def tree(model: Any) -> tuple[bytes, ...]:
    hierarchy = model.hierarchy()
    return np.asarray(hierarchy.children).tobytes(), np.asarray(hierarchy.heights).tobytes()


def insert(model: Any, X: np.ndarray) -> None:
    model.insert(X[0]) if len(X) == 1 else model.partial_fit(X)


def read(model: Any, X: np.ndarray) -> None:
    model.hierarchy()
    model.nearest(X[:3])
    model.check()


def erase(model: Any, case: Case, k: int) -> bool:
    """Refuse request k while points go, then let the rest go; False: there was no request k."""
    core = model._live._core
    core.record(case.recorded)
    core.take_change()  # which tells of all that there is
    before = len(model)
    _allocator.fail_after(k, case.for_good)
    try:
        for number in range(0, 3 * case.gone, 3):
            core.erase(number)
    except MemoryError:
        pass
    refused = _allocator.stop_failing() > 0
    model.check()
    assert before - case.gone <= len(model) <= before, f"request {k}: {len(model)} points"
    for number in range(0, 3 * case.gone, 3):
        core.erase(number)
    assert len(model) == before - case.gone, f"request {k}: {len(model)} points"
    change = core.take_change()
    if case.recorded and not change["incomplete"]:
        told = sorted(change["erased"].tolist())
        assert told == list(range(0, 3 * case.gone, 3)), f"request {k}: {told} have gone"
    return refused


def fail_at(case: Case, k: int, X: np.ndarray, wanted: tuple[bytes, ...]) -> bool:
    """Refuse request k of the insert, and go on afterwards. False: there was no request k."""
    model = case.model(X)
    if case.gone:
        refused = erase(model, case, k)
        model.partial_fit(X[case.before :])
        model.check()
        assert tree(model) == wanted, f"request {k}: another tree"
        return refused
    _allocator.fail_after(k, case.for_good)
    try:
        if case.rows:
            insert(model, X[case.before : case.before + case.rows])
        else:
            read(model, X)
        failed = False
    except MemoryError:
        failed = True
    refused = _allocator.stop_failing() > 0
    held = len(model)
    assert refused or not failed, f"request {k}: MemoryError, and none was refused"
    assert failed or held == case.before + case.rows, f"request {k}: no error, {held} points"
    assert case.before <= held <= case.before + case.rows, f"request {k}: {held} points"
    if held:
        model.check()
        if model.metric != "cosine":
            assert np.array_equal(model.points(), X[:held]), f"request {k}: other points"
    for x in X[held : held + 5]:
        model.insert(x)
    model.partial_fit(X[held + 5 :])
    model.check()
    assert tree(model) == wanted, f"request {k}: another tree"
    return refused


def run(case: Case) -> None:
    X = case.points()
    reference = case.model(X)
    for number in range(0, 3 * case.gone, 3):
        reference._live._core.erase(number)
    reference.partial_fit(X[case.before :])
    wanted = tree(reference)
    k = 0
    while fail_at(case, k, X, wanted):
        k += case.step
    print(k)


if __name__ == "__main__":
    for one in json.loads(sys.argv[1]):
        print(one, file=sys.stderr)
        run(Case(**one))
