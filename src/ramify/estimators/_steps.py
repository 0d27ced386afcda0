# SPDX-License-Identifier: BSD-3-Clause
"""_steps.py: steps of a tree as bytes, and many steps as one.

Of most nodes that a step speaks of only the height is another one. So a node's children then are
written down where they were others, and numbers take as few bytes as the largest needs.

A version long ago is thousands of steps away. So many are read, and made one, all at once: array by
array for all of them, with the place in time of each entry, and never step by step.
"""

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.estimators._replay import Before, Step, places
from ramify.hierarchy import FloatArray, IntArray

#: Of each array: its type, how many numbers, and the least, which is taken off whole ones.
_HEAD = struct.Struct("<BIq")
_HEADS = np.dtype([("kind", "u1"), ("count", "<u4"), ("least", "<i8")])
_FLOATS = 9
_WHOLE = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<i8"}

#: Of a node: it is new, has the children that it had, or has others.
_NEW, _SAME, _OTHER = 0, 1, 2


def packed(step: Step) -> bytes:
    """A step as bytes.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC(history=9).fit([[0.0], [1.0], [9.0]])
    >>> night = model.version
    >>> _ = model.insert([8.0]), model.version
    >>> step = model._live.past.since(night)[0]
    >>> again = unpacked(step.version, [packed(step)])
    >>> again.inserted, again.before.heights
    (array([3]), array([72.5]))
    """
    before = step.before
    assert before is not None
    order, then = np.argsort(step.families[:, 0]), np.argsort(before.families[:, 0])
    nodes, old = step.families[order], before.families[then]
    there, at = places(nodes[:, 0], old[:, 0])
    kinds = np.full(len(nodes), _NEW)
    kinds[there] = np.where((nodes[there, 1:] == old[at, 1:]).all(axis=1), _SAME, _OTHER)
    gone = np.ones(len(old), bool)
    gone[at] = False
    heights = before.heights[then]
    arrays = [
        *(step.inserted, step.forgotten, step.retired, *nodes.T, kinds),
        *(old[at][kinds[there] == _OTHER, 1:].T, old[gone].T),
        *(step.weighed, step.came, step.left.T, step.absorbed.T, before.leaves),
    ]
    whole = [line for array in arrays for line in np.atleast_2d(array)]
    floats = [step.values[order, 0], heights[at], heights[gone]]
    floats += [_weights(step.weights), _weights(before.weights)]
    return b"".join([*map(_whole, whole), *map(_floats, floats)])


def _weights(found: FloatArray | None) -> FloatArray:
    """NaN at the end: there are some. No weight is that."""
    return np.empty(0) if found is None else np.append(found, np.nan)


def _whole(array: npt.NDArray[Any]) -> bytes:
    least, most = (int(array.min()), int(array.max())) if len(array) else (0, 0)
    spread = most - least
    size = next(size for size in _WHOLE if size == 8 or spread < 256**size)
    return _HEAD.pack(size, len(array), least) + (array - least).astype(_WHOLE[size]).tobytes()


def _floats(array: FloatArray) -> bytes:
    return _HEAD.pack(_FLOATS, len(array), 0) + array.astype("<f8").tobytes()


class _Said(NamedTuple):
    """What steps say of something, one after the other, and which of them says it."""

    rows: npt.NDArray[Any]
    times: IntArray

    @classmethod
    def by(cls, arrays: Sequence[npt.NDArray[Any]]) -> "_Said":
        times = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
        return cls(np.concatenate(arrays), times)

    def then(self, other: "_Said") -> "_Said":
        rows = np.concatenate([self.rows, other.rows])
        return _Said(rows, np.append(self.times, other.times))

    def at(self, places: Any) -> "_Said":
        return _Said(self.rows[places], self.times[places])


class _Many(NamedTuple):
    """The parts of steps one after the other. Weights are there for all leaves, or for none."""

    inserted: _Said
    forgotten: _Said
    retired: _Said
    families: _Said
    values: FloatArray
    weighed: _Said
    weights: FloatArray | None
    came: IntArray
    left: IntArray
    absorbed: IntArray
    old: _Said
    old_heights: FloatArray
    leaves: _Said
    old_weights: FloatArray | None


def unpacked(version: int, bodies: Sequence[bytes]) -> Step:
    """The inverse of :func:`packed`; steps that follow one another become one."""
    take = _Reader(bodies)
    inserted, forgotten, retired, *nodes, kinds = take(7)
    others, gone = take.rows(2), take.rows(3)
    weighed, came = take(2)
    left, absorbed = take.rows(2), take.rows(2)
    (leaves,) = take(1)
    values, heights, gone_heights, weights, old_weights = take(5)
    families = _Said(np.column_stack([one.rows for one in nodes]), kinds.times)
    then = families.at(kinds.rows != _NEW)
    then.rows[kinds.rows[kinds.rows != _NEW] == _OTHER, 1:] = others.rows
    many = _Many(
        *(inserted, forgotten, retired, families, values.rows[:, np.newaxis]),
        *(weighed, _aligned(weighed, weights), came.rows, left.rows, absorbed.rows),
        then.then(gone),
        np.append(heights.rows, gone_heights.rows),
        *(leaves, _aligned(leaves, old_weights)),
    )
    return _as_one(version, many) if len(bodies) > 1 else _alone(version, many)


def merged(steps: Sequence[Step]) -> Step:
    """The net effect of steps that follow one another; versions between are known no more."""
    befores = [step.before for step in steps if step.before is not None]
    assert len(befores) == len(steps)
    weighed = [step.weighed for step in steps]
    leaves = [before.leaves for before in befores]

    def said(name: str) -> _Said:
        return _Said.by([getattr(step, name) for step in steps])

    many = _Many(
        said("inserted"),
        said("forgotten"),
        said("retired"),
        said("families"),
        said("values").rows,
        said("weighed"),
        _filled([step.weights for step in steps], weighed),
        said("came").rows,
        said("left").rows,
        said("absorbed").rows,
        _Said.by([before.families for before in befores]),
        np.concatenate([before.heights for before in befores]),
        _Said.by(leaves),
        _filled([before.weights for before in befores], leaves),
    )
    return _as_one(steps[-1].version, many)


def _alone(version: int, one: _Many) -> Step:
    """A step as it was."""
    nodes = one.inserted.rows, one.forgotten.rows, one.retired.rows, one.families.rows
    points = one.came, one.left, one.absorbed
    before = Before(one.old.rows, one.old_heights, one.leaves.rows, one.old_weights)
    return Step(version, *nodes, one.values, one.weighed.rows, one.weights, *points, before)


def _as_one(version: int, many: _Many) -> Step:
    """Of nodes now the last word holds, of nodes before the first one."""
    inserted, forgotten = many.inserted.rows, many.forgotten.rows
    nodes, old = (_Said(some.rows[:, 0], some.times) for some in (many.families, many.old))
    retired, told = _words(many.retired, nodes, last=True)
    leaves = _words(many.inserted, many.weighed, last=True)[1]
    leaves = leaves[~np.isin(many.weighed.rows[leaves], forgotten)]
    first = _words(old, nodes, last=False)[0]
    before = _words(many.leaves, many.weighed, last=False)[0]
    return Step(
        version,
        np.setdiff1d(inserted, forgotten),
        np.setdiff1d(forgotten, inserted),
        many.retired.rows[retired],
        many.families.rows[told],
        many.values[told],
        many.weighed.rows[leaves],
        None if many.weights is None else many.weights[leaves],
        np.setdiff1d(many.came, many.left[:, 0]),
        many.left[~np.isin(many.left[:, 0], many.came)],
        many.absorbed,
        Before(
            many.old.rows[first],
            many.old_heights[first],
            many.leaves.rows[before],
            None if many.old_weights is None else many.old_weights[before],
        ),
    )


def _words(early: _Said, late: _Said, *, last: bool) -> tuple[IntArray, IntArray]:
    """Where the last word on each id is, or the first: among these, or those said after them."""
    ids = np.concatenate([early.rows, late.rows])
    order = np.lexsort((np.concatenate([2 * early.times, 2 * late.times + 1]), ids))
    changes = np.diff(ids[order]) != 0
    ends = np.append(changes, np.ones(min(len(ids), 1), bool))
    place = np.sort(order[ends if last else np.roll(ends, 1)])
    begin = np.searchsorted(place, len(early.rows))
    return place[:begin], place[begin:] - len(early.rows)


def _aligned(leaves: _Said, weights: _Said) -> FloatArray | None:
    """Weights as they were written down, for all leaves that they are of: 1 where there are none.

    Those of a step end with a NaN, so that a step of no leaves is known from one without weights.
    """
    if len(weights.rows) == 0:
        return None
    found = np.ones(len(leaves.rows))
    found[np.isin(leaves.times, weights.times)] = weights.rows[~np.isnan(weights.rows)]
    return found


def _filled(weights: Sequence[FloatArray | None], leaves: Sequence[IntArray]) -> FloatArray | None:
    """The same of steps in memory."""
    if all(one is None for one in weights):
        return None
    pairs = zip(weights, leaves, strict=True)
    return np.concatenate([np.ones(len(of)) if one is None else one for one, of in pairs])


class _Reader:
    """Takes array after array off: the next one of every step at once."""

    def __init__(self, bodies: Sequence[bytes]) -> None:
        self._bytes = np.frombuffer(b"".join(bodies), np.uint8)
        lengths = np.array([len(body) for body in bodies])
        self._at = np.cumsum(lengths) - lengths

    def _next(self) -> _Said:
        heads = self._read(self._at, _HEADS)
        kinds, counts = heads["kind"], heads["count"].astype(np.int64)
        sizes = np.where(kinds == _FLOATS, 8, kinds.astype(np.int64))
        begin, self._at = self._at + _HEAD.size, self._at + _HEAD.size + sizes * counts
        times = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(times)) - (np.cumsum(counts) - counts)[times]
        place = begin[times] + within * sizes[times]
        if (kinds == _FLOATS).all():
            return _Said(self._read(place, np.dtype("<f8")), times)
        found = heads["least"][times]
        for kind in np.unique(kinds).tolist():
            of = np.flatnonzero(kinds[times] == kind)
            found[of] += self._read(place[of], np.dtype(_WHOLE.get(kind, "<i8"))).astype(np.int64)
        return _Said(found, times)

    def _read(self, places: IntArray, kind: np.dtype[Any]) -> npt.NDArray[Any]:
        """What lies at places that are not those of numbers in memory."""
        lines: npt.NDArray[Any] = self._bytes[places[:, np.newaxis] + np.arange(kind.itemsize)]
        return lines.view(kind).reshape(len(places))

    def __call__(self, count: int) -> list[_Said]:
        return [self._next() for _ in range(count)]

    def rows(self, width: int) -> _Said:
        found = self(width)
        return _Said(np.column_stack([one.rows for one in found]), found[0].times)
