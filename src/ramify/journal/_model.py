# SPDX-License-Identifier: BSD-3-Clause
"""_model.py: the one place where a journal knows what a model is.

A journal asks four things of any online estimator: to check rows before they are written
down, to take an operation, to say what state it is in, and to become a file. No algorithm is
named here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify import archive, lean, saving
from ramify.estimators.seam import (
    OnlineClusterer,
    Sharing,
    Shelf,
    read_times,
    read_weights,
    set_flat,
    skipped_rows,
    unit_of,
)
from ramify.estimators.stream import Stream
from ramify.frames import open_arrow
from ramify.ids import Ids
from ramify.journal._records import Beside, Edges, Insert, Operation
from ramify.points import Expected, Rows, check_columns, feature_names, read_batch
from ramify.sparse import SparseRows

#: Verbs that reshape or edit a tree, of estimators that have them; their options are plain values.
EDITS = ("must_link", "cannot_link", "unlink", "move", "release", "rename")
CALLS = ("polish", *EDITS)

#: At the end of digests of trees with names, since names are of points and not of nodes.
_NAMES = "-names"

#: The core's "no node".
_NO_NODE = 2**32 - 1

Saved = tuple[dict[str, Any], dict[str, archive.Array]]


def require_online(model: object) -> Any:
    """Refuse what cannot grow."""
    if not isinstance(model, OnlineClusterer):
        raise TypeError(
            f"{type(model).__name__} cannot be opened in a folder: expected one of Ramify's online "
            f"estimators, such as ramify.OHAC()"
        )
    model._check_parameters()
    return model


# --- rows on their way in -----------------------------------------------------------------


def expected(model: Any) -> Expected:
    """What rows must be like."""
    return Stream(model).expected()


def begun(model: Any) -> bool:
    """Whether type and width of the rows are settled."""
    return Stream(model).begun


def check_rows(model: Any, X: object, columns: list[str] | None) -> tuple[Rows, list[str] | None]:
    """Rows as they will be written down, and their column names if they brought any."""
    X = open_arrow(X)
    found = feature_names(X)
    names = None if found is None else [str(name) for name in found]
    if begun(model) and names is not None and columns is not None:
        check_columns(names, columns)
    given = read_batch(X, expected(model))
    options = Stream(model).options
    options.check_rows(given)
    model._require_room(given, options)
    rows = given.dense() if isinstance(given, SparseRows) else given
    return rows, names if not begun(model) else None


def keeps(model: Any, rows: Rows, weights: object) -> list[bool]:
    """Which of some rows are not skipped, as far as they alone say."""
    skipped = skipped_rows(Stream(model).options.zero_rows, rows, weights)
    return [True] * len(rows) if skipped is None else (~skipped).tolist()


def check_along(
    model: Any, n: int, ids: object, weights: object, times: object
) -> tuple[list[Any] | None, npt.NDArray[np.float64] | None, npt.NDArray[Any] | None]:
    """Ids, weights and times of n rows, as plain values."""
    stream = Stream(model)
    named = None if ids is None else Ids().read(ids, n)
    if len(stream) > 0 and (named is not None) != stream.has_ids:
        stream.read_ids(named, n)  # which has the words for it
    return (
        named,
        None if weights is None else read_weights(weights, n),
        None if times is None else read_times(times, n),
    )


def check_edges(model: Any, edges: Any, ids: Any) -> Edges:
    """Edges as they will be written down, and the points that come with them."""
    if not hasattr(model, "_read_edges"):
        raise TypeError(
            f"{type(model).__name__} takes rows, and no edges; LiveGraphHAC() takes edges"
        )
    came, weights = model._read_edges(edges, ids)
    named = list(dict.fromkeys(end for pair in weights for end in pair))
    place = {one: i for i, one in enumerate(named)}
    ends = [(place[i], place[j]) for i, j in weights]
    values = np.array(list(weights.values()), np.float64) * unit_of(model.max_weight)
    return Edges(came, named, np.array(ends, np.uint32).reshape(-1, 2), values)


def speaker(model: Any, verb: str) -> Any:
    """Who has a verb: the model, or its ``edit``."""
    return model.edit if verb in EDITS else model


# --- operations -----------------------------------------------------------------------------


class Answer(NamedTuple):
    """What a model did with an operation."""

    numbers: list[int]  #: of the points inserted, -1 for a row that was skipped
    forgotten: int = 0
    gone_numbers: tuple[int, ...] = ()  #: of points that were told to go
    value: Any = None  #: what the model returned
    left: int = 0  #: points that are not there any more, told to go or by themselves


#: How a model says no. It says so again when it is asked again, and is then in the same state.
REFUSALS = (ValueError, TypeError, LookupError, AttributeError, OverflowError)


def apply(model: Any, operation: Operation) -> Answer:
    """Let a model take an operation."""
    stream = Stream(model)
    before = stream.n_points
    answer = _APPLY[operation.kind](model, operation)
    came = 0
    if operation.kind in ("insert", "edges", "beside"):
        came = sum(number >= 0 for number in answer.numbers)
    return answer._replace(left=before + came - stream.n_points)


def _insert(model: Any, operation: Operation) -> Answer:
    found = Insert.read(operation)
    gone = _forget_points(model, found.forget)
    rows, ids = found.rows, found.ids
    if len(rows) == 1 and found.weights is None and found.times is None:
        number = model.insert(rows[0], id=None if ids is None else ids[0])
        return Answer([number], gone_numbers=gone)
    more: dict[str, Any] = {}
    if found.weights is not None:
        more["sample_weight"] = found.weights
    if found.times is not None:
        dates = found.times.dtype.kind == "i"
        more["times"] = found.times.astype("datetime64[ns]") if dates else found.times
    before = Stream(model).next_number
    model.partial_fit(rows, ids=ids, **more)
    skipped = Stream(model).skipped
    numbers = np.arange(before, before + len(rows))
    if skipped is not None:
        numbers = np.where(skipped, -1, before + np.cumsum(~skipped) - 1)
    return Answer(numbers.tolist(), gone_numbers=gone)


def _edges(model: Any, operation: Operation) -> Answer:
    found = Edges.read(operation)
    before = Stream(model).next_number
    named = np.array(found.named, dtype=object)
    a, b = (named[found.ends[:, side]].tolist() for side in (0, 1))
    model.partial_fit(edges=(a, b, found.weights), ids=found.ids or None)
    return Answer(list(range(before, before + len(found.ids))))


def _forget(model: Any, operation: Operation) -> Answer:
    points = operation.head["points"]
    return Answer([], len(points), _forget_points(model, points))


def _forget_points(model: Any, points: list[Any]) -> tuple[int, ...]:
    if not points:
        return ()
    found = list(map(Stream(model).find, points))
    numbers = tuple(number for number in found if number is not None)
    model.forget(points)
    return numbers


def _settings(model: Any, operation: Operation) -> Answer:
    before = model.get_params(deep=False)
    try:
        set_flat(model, archive_options(type(model), operation.head["options"]))
        model._check_parameters()
    except BaseException:
        model.set_params(**before)
        raise
    return Answer([])


def _call(model: Any, operation: Operation) -> Answer:
    verb = operation.head["verb"]
    if verb not in CALLS:
        raise ValueError(f"a journal does not know the verb {verb!r}")
    return Answer([], value=getattr(speaker(model, verb), verb)(**operation.head["options"]))


def _name(model: Any, operation: Operation) -> Answer:
    head = operation.head
    if "options" in head:
        return Answer([], value=model.stable_labels(**head["options"]))
    by, value = head["cut"]  # as 0.1 wrote it down
    return Answer([], value=model.stable_labels(**({} if by is None else {by: value})))


def _beside(model: Any, operation: Operation) -> Answer:
    found = Beside.read(operation)
    Sharing(model).insert_beside(found.rows, found.nearest, found.numbers, found.ids, found.weights)
    return Answer(found.numbers.tolist())


def _keep(model: Any, operation: Operation) -> Answer:
    gone = np.frombuffer(operation.body, "<i8").astype(np.int64)
    Sharing(model).keep_others(gone)
    return Answer([], gone_numbers=tuple(gone.tolist()))


_APPLY: Mapping[str, Callable[[Any, Operation], Answer]] = {
    "insert": _insert,
    "edges": _edges,
    "beside": _beside,
    "keep": _keep,
    "forget": _forget,
    "settings": _settings,
    "call": _call,
    "mark": lambda model, operation: Answer(operation.head.get("numbers", [])),
    "name": _name,
}


def archive_options(kind: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a file has them, as an estimator takes them."""
    from ramify.estimators.seam import parameters_of

    return parameters_of(kind, dict(found))


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a file can hold them."""
    from ramify.estimators.seam import plain_settings

    return {name: plain_settings(name, value) for name, value in options.items()}


def version(model: Any, past: Shelf | None = None) -> int:
    """Number of changes so far; with ``history`` set, one that can be asked about later, from
    what is kept there.
    """
    if past is not None:
        Stream(model).keep_past_in(past)
    found: int = model.version
    return found


def next_number(model: Any) -> int:
    """The number of the next point to come."""
    return Stream(model).next_number


def numbers_there(model: Any) -> list[int]:
    """The numbers of all points."""
    found: list[int] = Stream(model).numbers.tolist()
    return found


def has_left(model: Any) -> bool:
    """Whether points have left the tree, by themselves or not."""
    stream = Stream(model)
    return stream.n_points < stream.next_number


def is_there(model: Any, point: Any) -> bool:
    """Whether there is a point of this id, or of this number where points have no ids."""
    return Stream(model).find(point) is not None


# --- states ---------------------------------------------------------------------------------


def saved(model: Any) -> Saved:
    """Content and arrays of a file; copies, so that the model may go on."""
    found: Saved = model._to_saved()
    return found


def write_saved(path: Path, found: Saved) -> None:
    """Write a file, whole or not at all."""
    lean.write(path, *found)


def from_file(found: Saved) -> Any:
    """The model that a file holds."""
    return saving.model_of(*found)


def state_digest(found: Saved) -> str:
    """A digest of all that a model is, equal for models that are equal to the bit.

    Where in its arena the core keeps a node depends on which places were free, and those are
    others in a tree that comes out of a file. So nodes are put in the order of their ids.
    """
    content, arrays = found
    said = {name: value for name, value in content.items() if name not in ("library", "sha256")}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name, array in sorted(_in_order_of_ids(arrays).items()):
        digest.update(f"{name} {array.dtype.newbyteorder('<').str} {array.shape}".encode())
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(plain.reshape(-1).view(np.uint8).data)
    return digest.hexdigest() + (_NAMES if "name_points" in content else "")


def comparable(digest: str, other: str) -> bool:
    """Whether two digests of a tree must be equal: not if names were of nodes in one of them."""
    return digest.endswith(_NAMES) == other.endswith(_NAMES)


def _in_order_of_ids(arrays: Mapping[str, archive.Array]) -> dict[str, archive.Array]:
    ids = arrays.get("names")
    if ids is None or (ids[1:] > ids[:-1]).all():
        return dict(arrays)
    order = np.argsort(ids)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    links = arrays["links"].astype(np.int64)
    inner = ((links & 1) == 1) & (links != _NO_NODE)
    links[inner] = 2 * place[links[inner] >> 1] + 1
    # `take` has rows of a matrix in a tenth of the time of [order].
    moved = {name: arrays[name].take(order, axis=0) for name in ("names", "mean", "ssd")}
    if "marks" in arrays:  # twice the place of a node, and one more if it is linked
        marks = arrays["marks"].astype(np.int64)
        moved["marks"] = np.sort(2 * place[marks >> 1] + (marks & 1)).astype(arrays["marks"].dtype)
    return {**arrays, **moved, "links": links.take(order, axis=0).astype(arrays["links"].dtype)}
