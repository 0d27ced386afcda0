# SPDX-License-Identifier: BSD-3-Clause
"""_saved.py: a model as the content and arrays of a file, and back.

Going out is easy. Coming back, nothing is believed: digests tell damage from
data, but a stranger can write digests, too. So every option passes the door that
a user's passes, arrays must be those that the algorithm keeps, their numbers such
as rows could have led to, and the core tests the links. What is left to a forger
is to make another valid tree.

The stored means are tested for being possible and not for being right: float32
means of long streams drift, and a model that was good enough to save is good
enough to load.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from ramify.archive import Array
from ramify.errors import UnreadableFileError
from ramify.estimators._choice import flat_names, flat_options, from_flat
from ramify.estimators._core_tree import plain_arrivals
from ramify.estimators._cut import Cut
from ramify.estimators._identity import Identity, Seen
from ramify.estimators._live import STATE_FORMAT, STATE_FORMATS, Live
from ramify.estimators._saved_arrays import LARGEST_ID, check_arrays, check_numbers, require
from ramify.estimators._settings import Settings, without_young
from ramify.ids import kind_of, pack, unpack
from ramify.points import FLOAT32, FLOAT64, RealType
from ramify.spans import read_span, span_text

#: What a file calls the settings, in their order.
_SETTINGS = ("algorithm", "width", "metric", "linkage", "n_neighbors", "more")


@cache
def _library() -> str:
    """This version; to look it up takes longer than to save a small model."""
    return version("ramify")


def to_saved(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Content and arrays of a model. The arrays are copies: the model may go on."""
    _require_ours(model)
    given = without_young(flat_options(model))
    parameters = {name: _plain(name, value) for name, value in given.items()}
    model._check_parameters()  # what is saved must load, and from_saved does the same
    live: Live | None = model._live
    content: dict[str, Any] = {
        "kind": "model",
        "algorithm": type(model).__name__,
        "library": _library(),
        "parameters": parameters,
        "points": 0,
        "columns": None,
        "dtype": None,
        "feature_names": None,
        "ids": None,
        "settings": None,
        "state": STATE_FORMAT,
        "versions": [0, 0],
        "stable_ids": 0,
        "stable_cuts": [],
        "node_names": [],
        "apart": [],
        "late": 0,
    }
    if live is None:
        return content, {}
    state = live.state()
    arrays = dict(state["arrays"])
    names = getattr(model, "feature_names_in_", None)
    content["points"] = len(live)
    content["columns"] = live.settings.width
    content["dtype"] = state["dtype"]
    content["feature_names"] = None if names is None else [str(name) for name in names]
    content["settings"] = dict(zip(_SETTINGS, live.settings.plain(), strict=True))
    if state["times"] is not None:
        arrays["times"] = state["times"]
    content["versions"] = list(state["versions"])
    ids = live.id_array()
    if ids is not None and len(ids) > 0:
        content["ids"] = kind_of(ids)
        arrays |= pack(ids)
    if live.anchors:
        content["node_names"] = [[one.node, one.text] for one in live.anchors]
        content["name_points"] = [[one.before, len(one.points)] for one in live.anchors]
        arrays["name_points"] = np.concatenate([one.points for one in live.anchors])
    content["apart"] = live.apart().tolist()
    content["late"] = live.n_late
    if live.n_zeroed:
        content["skipped"] = live.n_zeroed
    known = live.lasting_identity()
    content["stable_ids"] = known.next_id
    content["stable_cuts"] = [
        [by, value, len(points), *least] for by, value, points, _, *least in known.plain()["cuts"]
    ]
    if content["stable_cuts"]:
        seen = [seen for _, seen in known.cuts()]
        arrays["stable_points"] = np.concatenate([one.points for one in seen])
        arrays["stable_ids"] = np.concatenate([one.ids for one in seen])
    return content, arrays


def from_saved(kind: Any, content: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    """A model of class ``kind``; UnreadableFileError if there cannot be such a model."""
    try:
        model = from_flat(kind, parameters_of(kind, content["parameters"]))
        model._check_parameters()
        if content["settings"] is None:
            require(not arrays and content["points"] == 0, "it has arrays, and no tree")
            return model
        live = _live(kind, content, arrays)
        model._adopt(live, _feature_names(content["feature_names"], live.settings.width))
        return model
    except UnreadableFileError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        raise UnreadableFileError(f"holds no valid model: {error}") from error


def _require_ours(model: object) -> None:
    from ramify.estimators._registry import BY_CLASS, BY_CLASS_NAME  # which imports us

    kind = type(model)
    if kind not in BY_CLASS:
        raise TypeError(
            f"{kind.__module__}.{kind.__qualname__} cannot be saved: a file can only name "
            f"Ramify's own classes, {', '.join(sorted(BY_CLASS_NAME))}; pickle can store yours"
        )


def _plain(name: str, value: object) -> bool | int | float | str | None:
    """An option's value if a file can hold it, without NumPy's types."""
    if isinstance(value, timedelta | np.timedelta64):
        return span_text(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"{name}={value!r} cannot be saved: options in a file are None, True, False, numbers, "
        f"strings and spans of time, got {type(value).__name__}"
    )


def parameters_of(kind: Any, found: object) -> dict[str, Any]:
    """Flat options as an estimator takes them, out of a file; refused if it has no such."""
    known = flat_names(kind)
    require(isinstance(found, dict), "its parameters are none")
    assert isinstance(found, dict)
    for name, value in found.items():
        require(name in known, f"{kind.__name__} has no parameter {name!r} in this version")
        _plain(name, value)
    return {
        name: read_span(value) if name == "max_age" and isinstance(value, str) else value
        for name, value in kind._Options.of_today(found).items()
    }


def _feature_names(found: object, width: int) -> Any:
    if found is None:
        return None
    names = found if isinstance(found, list) else []
    fits = len(names) == width and all(isinstance(name, str) for name in names)
    require(fits, "its column names do not fit")
    return np.array(names, dtype=object)


def _live(kind: Any, content: Mapping[str, Any], arrays: Mapping[str, Array]) -> Live:
    require(content["state"] in STATE_FORMATS, f"its state has format {content['state']!r}")
    if content["state"] == 1:  # when points could not go again
        n = content["points"]
        require(type(n) is int and n >= 0, "it has no possible number of points")
        require("arrivals" not in arrays, "it has arrays of a later format")
        arrays = {**arrays, **plain_arrivals(n)}
    settings = _settings(kind, content["settings"])
    dtype: RealType = FLOAT32 if content["dtype"] == "float32" else FLOAT64
    require(content["dtype"] == dtype.name, f"its numbers are {content['dtype']!r}")
    check_arrays(settings, dtype, content, arrays)
    check_numbers(settings, arrays)
    return Live.from_state(
        {
            "format": STATE_FORMAT,
            "settings": settings.plain(),
            "dtype": dtype.name,
            "arrays": arrays,
            "ids": unpack(arrays),
            "times": arrays.get("times"),
            "versions": _versions(content.get("versions", [0, 0])),
            "identity": _identity(content, arrays).plain(),
            "edits": _edits(content, arrays),
            "late": _count("rows that came late", content.get("late", 0)),
            "skipped": _count("rows that were skipped", content.get("skipped", 0)),
        },
        kind._Options,
    )


def _versions(found: Any) -> tuple[int, int]:
    """Of the empty tree, and of this one; files had none once."""
    begun, now = found
    possible = all(type(one) is int and 0 <= one <= LARGEST_ID for one in found)
    require(possible, "it has no possible version")
    require(begun <= now, "it is older than its beginning")
    return begun, now


def _identity(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> Identity:
    """Ids of clusters that stay, and of which points; files had none once."""
    next_id, listed = content.get("stable_ids", 0), content.get("stable_cuts", [])
    require(type(next_id) is int and 0 <= next_id <= LARGEST_ID, "it has had too many clusters")
    cuts, begin = {}, 0
    for by, value, count, *least in listed:
        whole = all(type(one) is int and one >= 1 for one in [*least, *(value,) * (by != "height")])
        number = by != "height" or (type(value) in (int, float) and value == value)
        known = by in ("n_clusters", "height") or (by in ("max_size", "min_size") and not least)
        require(
            known and whole and number and len(least) < 2,
            f"it remembers a cut by {by}={value!r}",
        )
        require(type(count) is int and count >= 0, "it remembers a cut of no possible size")
        part = slice(begin, begin + count)
        points, ids = arrays["stable_points"][part], arrays["stable_ids"][part]
        require(len(ids) == count, "it remembers a cut and not its points")
        require((points[1:] > points[:-1]).all() and (points >= 0).all(), "points out of order")
        require(((ids >= 0) & (ids < next_id)).all(), "a cluster is from the future")
        cuts[Cut(by, float(value) if by == "height" else value, *least)] = Seen(points, ids)
        begin += count
    require(len(cuts) == len(listed), "it remembers a cut twice")
    return Identity(next_id, cuts)


def _count(what: str, found: object) -> int:
    """How many rows of a kind there were; files did not say once."""
    require(type(found) is int and 0 <= found <= LARGEST_ID, f"{what} are no number")
    assert isinstance(found, int)
    return found


def _edits(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> tuple[Any, Any]:
    """Names of nodes, and pairs of points that must be apart; files had none once."""
    names, apart = content.get("node_names", []), content.get("apart", [])
    for id, text in names:
        possible = type(id) is int and abs(id) <= LARGEST_ID and isinstance(text, str)
        require(possible, "it has a name of no node")
    for one, other in apart:
        possible = type(one) is int and type(other) is int and 0 <= one < other <= LARGEST_ID
        require(possible, "it keeps points apart that there cannot be")
    pairs = np.array(apart, np.int64).reshape(-1, 2)
    if "name_points" not in content:
        return dict(names), pairs
    return _anchors(names, content["name_points"], arrays["name_points"]), pairs


def _anchors(names: Any, told: Any, points: Array) -> list[tuple[Any, ...]]:
    """Names, each with the points that it was given to."""
    anchors, begin = [], 0
    for (node, text), (before, count) in zip(names, told, strict=True):
        possible = type(before) is int and type(count) is int and count >= 0
        require(possible and 0 <= before <= LARGEST_ID, "a name is of no possible points")
        part = points[begin : begin + count]
        require((part[1:] > part[:-1]).all(), "the points of a name are out of order")
        require(((part >= 0) & (part < before)).all(), "a name is of points from the future")
        anchors.append((node, text, before, part))
        begin += count
    require(begin == len(points), "it has points of no name, or a name without its points")
    return anchors


def _settings(kind: Any, found: Mapping[str, Any]) -> Settings:
    """The settings, which must be those of a model that was given such options."""
    width = found["width"]
    require(type(width) is int and 1 <= width < 2**31, "its rows have no possible width")
    options = {name: found[name] for name in ("metric", "linkage", "n_neighbors")}
    options |= kind._Options.of_today(found["more"])
    model = from_flat(kind, {name: options[name] for name in flat_names(kind) & options.keys()})
    settings: Settings = model._settings()
    checked = settings.by_name()
    for name, value in options.items():
        require(
            checked.get(name) == value,
            f"its tree was grown with {name}={value!r}, which {kind.__name__} has not",
        )
    require(found["algorithm"] == settings.algorithm, "its tree is another algorithm's")
    return settings._replace(width=width)
