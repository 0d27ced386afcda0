# SPDX-License-Identifier: BSD-3-Clause
"""_steps.py: steps of a tree as bytes, and two steps as one.

Of most nodes that a step speaks of only the height is another one. So a node's children then are
written down where they were others, and numbers take as few bytes as the largest needs.
"""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.estimators._replay import Before, Step, concatenated, places
from ramify.hierarchy import FloatArray, IntArray

#: Of each array: its type, how many numbers, and the least, which is taken off whole ones.
_HEAD = struct.Struct("<BIq")
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
    >>> again = unpacked(step.version, packed(step))
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


def unpacked(version: int, body: bytes) -> Step:
    """The inverse of :func:`packed`."""
    take = _Reader(body)
    inserted, forgotten, retired, *nodes, kinds = take(7)
    others, old = take.rows(2), take.rows(3)
    weighed, came = take(2)
    left, absorbed = take.rows(2), take.rows(2)
    (leaves,) = take(1)
    values, heights, old_heights, weights, weights_before = take.floats(5)
    families = np.column_stack(nodes)
    there = kinds != _NEW
    then = families[there]
    then[kinds[there] == _OTHER, 1:] = others
    before = Before(
        np.concatenate([then, old]),
        np.concatenate([heights, old_heights]),
        leaves,
        _or_none(weights_before),
    )
    told = inserted, forgotten, retired, families, values[:, np.newaxis], weighed
    return Step(version, *told, _or_none(weights), came, left, absorbed, before)


def _weights(found: FloatArray | None) -> FloatArray:
    """NaN at the end: there are some. No weight is that."""
    return np.empty(0) if found is None else np.append(found, np.nan)


def _or_none(found: FloatArray) -> FloatArray | None:
    return found[:-1] if len(found) else None


def _whole(array: npt.NDArray[Any]) -> bytes:
    least, most = (int(array.min()), int(array.max())) if len(array) else (0, 0)
    spread = most - least
    size = next(size for size in _WHOLE if size == 8 or spread < 256**size)
    return _HEAD.pack(size, len(array), least) + (array - least).astype(_WHOLE[size]).tobytes()


def _floats(array: FloatArray) -> bytes:
    return _HEAD.pack(_FLOATS, len(array), 0) + array.astype("<f8").tobytes()


class _Reader:
    """Takes array after array off."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def _next(self) -> npt.NDArray[Any]:
        kind, count, least = _HEAD.unpack_from(self._body, self._at)
        type_of = np.dtype("<f8" if kind == _FLOATS else _WHOLE[kind])
        found = np.frombuffer(self._body, type_of, count, self._at + _HEAD.size)
        self._at += _HEAD.size + found.nbytes
        return found.astype(np.float64) if kind == _FLOATS else found.astype(np.int64) + least

    def __call__(self, count: int) -> list[IntArray]:
        return [self._next() for _ in range(count)]

    def rows(self, width: int) -> IntArray:
        return np.column_stack(self(width))

    def floats(self, count: int) -> list[FloatArray]:
        return [self._next() for _ in range(count)]


def merged(one: Step, two: Step) -> Step:
    """The net effect of a step and of the next one; the version between is known no more."""
    retired = np.setdiff1d(np.union1d(one.retired, two.retired), two.families[:, 0])
    stays = ~np.isin(one.families[:, 0], np.append(two.retired, two.families[:, 0]))
    weighed = ~np.isin(one.weighed, two.weighed)
    leaves = np.concatenate([one.weighed[weighed], two.weighed])
    left, came = np.concatenate([one.left, two.left]), concatenated([one.came, two.came])
    return Step(
        two.version,
        *_without_each_other(one.inserted, two.inserted, one.forgotten, two.forgotten),
        retired,
        np.concatenate([one.families[stays], two.families]),
        np.concatenate([one.values[stays], two.values]),
        leaves,
        _both(one.weights, two.weights, weighed, len(two.weighed)),
        np.setdiff1d(came, left[:, 0]),
        left[~np.isin(left[:, 0], came)],
        np.concatenate([one.absorbed, two.absorbed]),
        _merged_before(one, two),
    )


def _without_each_other(
    came: IntArray, came_later: IntArray, gone: IntArray, gone_later: IntArray
) -> tuple[IntArray, IntArray]:
    inserted, erased = concatenated([came, came_later]), concatenated([gone, gone_later])
    return np.setdiff1d(inserted, erased), np.setdiff1d(erased, inserted)


def _merged_before(one: Step, two: Step) -> Before:
    """The first word holds, and of what came in between there is none."""
    old, new = one.before, two.before
    assert old is not None
    assert new is not None
    known = concatenated([old.families[:, 0], one.families[:, 0]])
    first = ~np.isin(new.families[:, 0], known)
    leaves = ~np.isin(new.leaves, concatenated([old.leaves, one.inserted, one.weighed]))
    return Before(
        np.concatenate([old.families, new.families[first]]),
        np.concatenate([old.heights, new.heights[first]]),
        np.concatenate([old.leaves, new.leaves[leaves]]),
        _both(new.weights, old.weights, leaves, len(old.leaves), swap=True),
    )


def _both(
    some: FloatArray | None,
    others: FloatArray | None,
    chosen: npt.NDArray[np.bool_],
    count: int,
    *,
    swap: bool = False,
) -> FloatArray | None:
    """Weights of the chosen ones of some, and of others, in this order unless swapped."""
    if some is None and others is None:
        return None
    one = np.ones(int(chosen.sum())) if some is None else some[chosen]
    two = np.ones(count) if others is None else others
    return np.concatenate([two, one] if swap else [one, two])
