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
from importlib.metadata import version
from typing import Any

import numpy as np

from ramify import _core
from ramify.archive import Array
from ramify.errors import UnreadableFileError
from ramify.estimators._cut import Cut
from ramify.estimators._identity import Identity, Seen
from ramify.estimators._live import STATE_FORMAT, STATE_FORMATS, Live, plain_arrivals
from ramify.estimators._settings import Settings, without_young
from ramify.ids import kind_of, pack, unpack
from ramify.points import FLOAT32, FLOAT64, LARGEST, RealType
from ramify.spans import read_span, span_text

#: What a file calls the settings, in their order.
_SETTINGS = ("algorithm", "width", "metric", "linkage", "n_neighbors", "more")

#: No node has ever been given a larger id; beyond 2^63 they would be negative.
_LARGEST_ID = 2**62

#: The core's "no node"; others are twice the number of a point, or of a slot, plus one.
_NO_NODE = 2**32 - 1

#: How far beyond the outermost points a mean may be rounded, in units of their size.
_SLACK = {"float32": 1e-5, "float64": 1e-13}


def to_saved(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Content and arrays of a model. The arrays are copies: the model may go on."""
    _require_ours(model)
    given = without_young(model.get_params(deep=False))
    parameters = {name: _plain(name, value) for name, value in given.items()}
    model._check_parameters()  # what is saved must load, and from_saved does the same
    live: Live | None = model._live
    content: dict[str, Any] = {
        "kind": "model",
        "algorithm": type(model).__name__,
        "library": version("ramify"),
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
        model = kind(**_parameters(kind, content["parameters"]))
        model._check_parameters()
        if content["settings"] is None:
            _require(not arrays and content["points"] == 0, "it has arrays, and no tree")
            return model
        live = _live(kind, content, arrays)
        model._adopt(live, _feature_names(content["feature_names"], live.settings.width))
        return model
    except UnreadableFileError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        raise UnreadableFileError(f"holds no valid model: {error}") from error


def _require(holds: bool | np.bool, what: str) -> None:
    if not holds:
        raise UnreadableFileError(f"holds no valid model: {what}")


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


def _parameters(kind: Any, found: object) -> dict[str, Any]:
    known = kind._get_param_names()
    _require(isinstance(found, dict), "its parameters are none")
    assert isinstance(found, dict)
    for name, value in found.items():
        _require(name in known, f"{kind.__name__} has no parameter {name!r} in this version")
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
    _require(fits, "its column names do not fit")
    return np.array(names, dtype=object)


def _live(kind: Any, content: Mapping[str, Any], arrays: Mapping[str, Array]) -> Live:
    _require(content["state"] in STATE_FORMATS, f"its state has format {content['state']!r}")
    if content["state"] == 1:  # when points could not go again
        n = content["points"]
        _require(type(n) is int and n >= 0, "it has no possible number of points")
        _require("arrivals" not in arrays, "it has arrays of a later format")
        arrays = {**arrays, **plain_arrivals(n)}
    settings = _settings(kind, content["settings"])
    dtype: RealType = FLOAT32 if content["dtype"] == "float32" else FLOAT64
    _require(content["dtype"] == dtype.name, f"its numbers are {content['dtype']!r}")
    _check_arrays(settings, dtype, content, arrays)
    _check_numbers(settings, arrays)
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
    possible = all(type(one) is int and 0 <= one <= _LARGEST_ID for one in found)
    _require(possible, "it has no possible version")
    _require(begun <= now, "it is older than its beginning")
    return begun, now


def _identity(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> Identity:
    """Ids of clusters that stay, and of which points; files had none once."""
    next_id, listed = content.get("stable_ids", 0), content.get("stable_cuts", [])
    _require(type(next_id) is int and 0 <= next_id <= _LARGEST_ID, "it has had too many clusters")
    cuts, begin = {}, 0
    for by, value, count, *least in listed:
        whole = all(type(one) is int and one >= 1 for one in [*least, *(value,) * (by != "height")])
        number = by != "height" or (type(value) in (int, float) and value == value)
        known = by in ("n_clusters", "height") or (by in ("max_size", "min_size") and not least)
        _require(
            known and whole and number and len(least) < 2,
            f"it remembers a cut by {by}={value!r}",
        )
        _require(type(count) is int and count >= 0, "it remembers a cut of no possible size")
        part = slice(begin, begin + count)
        points, ids = arrays["stable_points"][part], arrays["stable_ids"][part]
        _require(len(ids) == count, "it remembers a cut and not its points")
        _require((points[1:] > points[:-1]).all() and (points >= 0).all(), "points out of order")
        _require(((ids >= 0) & (ids < next_id)).all(), "a cluster is from the future")
        cuts[Cut(by, float(value) if by == "height" else value, *least)] = Seen(points, ids)
        begin += count
    _require(len(cuts) == len(listed), "it remembers a cut twice")
    return Identity(next_id, cuts)


def _count(what: str, found: object) -> int:
    """How many rows of a kind there were; files did not say once."""
    _require(type(found) is int and 0 <= found <= _LARGEST_ID, f"{what} are no number")
    assert isinstance(found, int)
    return found


def _edits(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> tuple[Any, Any]:
    """Names of nodes, and pairs of points that must be apart; files had none once."""
    names, apart = content.get("node_names", []), content.get("apart", [])
    for id, text in names:
        possible = type(id) is int and abs(id) <= _LARGEST_ID and isinstance(text, str)
        _require(possible, "it has a name of no node")
    for one, other in apart:
        possible = type(one) is int and type(other) is int and 0 <= one < other <= _LARGEST_ID
        _require(possible, "it keeps points apart that there cannot be")
    pairs = np.array(apart, np.int64).reshape(-1, 2)
    if "name_points" not in content:
        return dict(names), pairs
    return _anchors(names, content["name_points"], arrays["name_points"]), pairs


def _anchors(names: Any, told: Any, points: Array) -> list[tuple[Any, ...]]:
    """Names, each with the points that it was given to."""
    anchors, begin = [], 0
    for (node, text), (before, count) in zip(names, told, strict=True):
        possible = type(before) is int and type(count) is int and count >= 0
        _require(possible and 0 <= before <= _LARGEST_ID, "a name is of no possible points")
        part = points[begin : begin + count]
        _require((part[1:] > part[:-1]).all(), "the points of a name are out of order")
        _require(((part >= 0) & (part < before)).all(), "a name is of points from the future")
        anchors.append((node, text, before, part))
        begin += count
    _require(begin == len(points), "it has points of no name, or a name without its points")
    return anchors


def _settings(kind: Any, found: Mapping[str, Any]) -> Settings:
    """The settings, which must be those of a model that was given such options."""
    width = found["width"]
    _require(type(width) is int and 1 <= width < 2**31, "its rows have no possible width")
    options = {name: found[name] for name in ("metric", "linkage", "n_neighbors")}
    options |= kind._Options.of_today(found["more"])
    model = kind()
    for name in set(options) & set(kind._get_param_names()):
        setattr(model, name, options[name])
    settings: Settings = model._settings()
    checked = settings.by_name()
    for name, value in options.items():
        _require(
            checked.get(name) == value,
            f"its tree was grown with {name}={value!r}, which {kind.__name__} has not",
        )
    _require(found["algorithm"] == settings.algorithm, "its tree is another algorithm's")
    return settings._replace(width=width)


def _check_arrays(
    settings: Settings, dtype: RealType, content: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """The arrays are those that such a tree keeps, of the types and shapes it keeps them in."""
    n, width = content["points"], settings.core_width
    _require(type(n) is int and 0 <= n < 2**31, "it has no possible number of points")
    _require(content["columns"] == settings.width, "its number of columns is two numbers")
    slots = max(n - 1, 0)
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "points": (dtype, (n, width)),
        "links": (np.uint32, (slots, 3)),
        "names": (np.uint64, (slots,)),
        "next_name": (np.uint64, (1,)),
        "mean": (dtype, (slots, width)),
        "ssd": (np.float64, (slots,)),
        "arrivals": (np.uint64, (n if arrays["arrivals"].size else 0,)),
        "next_arrival": (np.uint64, (1,)),
        **settings.options.memory(slots, width, arrays),
    }
    points = n
    if "standings" in arrays:
        expected["standings"] = np.float64, (n, 2)
    if settings.options.tracks_members and n > 0:
        members = arrays["members"]
        expected["members"] = np.uint64, (len(members), 3)
        expected["shares"] = np.float64, (len(members),)
        points = int(np.count_nonzero(members[:, -1]))
    if "times" in arrays:
        kind = np.int64 if arrays["times"].dtype == np.int64 else np.float64
        expected["times"] = kind, (points + 1,)
    if content["ids"] == "int":
        expected["ids"] = np.int64, (points,)
    elif content["ids"] == "str":
        expected["ids_ends"] = np.int64, (points,)
        expected["ids_text"] = np.uint8, arrays["ids_text"].shape
    if content.get("stable_cuts"):
        total = arrays["stable_ids"].shape
        expected |= dict.fromkeys(("stable_points", "stable_ids"), (np.int64, total))
        known = sum(count for _, _, count, *_ in content["stable_cuts"])
        _require(total == (known,), "it remembers clusters of too many points, or of too few")
    if "name_points" in content:
        expected["name_points"] = np.int64, arrays["name_points"].shape[:1]
    if strange := set(arrays) ^ set(expected):
        _require(False, f"an array is missing, or one too many: {', '.join(sorted(strange))}")
    for name, (kind, shape) in expected.items():
        found = arrays[name]
        _require(
            found.dtype == kind and found.shape == shape and len(shape) in (1, 2),
            f"its array {name!r} has type {found.dtype} and shape {found.shape}, "
            f"expected {np.dtype(kind)} and {shape}",
        )


def _check_numbers(settings: Settings, arrays: Mapping[str, Array]) -> None:
    """Numbers that rows could have led to; links and the rest are the core's affair. O(n d)."""
    points, mean, ssd = arrays["points"], arrays["mean"], arrays["ssd"]
    n = len(points)
    _require(np.isfinite(arrays["numbers"]).all(), "a number is not finite")
    _check_links(arrays["links"])
    _check_node_ids(arrays["names"], int(arrays["next_name"][0]))
    _require(int(arrays["next_arrival"][0]) <= _LARGEST_ID, "it has had too many points")
    settings.options.check_memory(n, settings.core_width, arrays)
    for name in ("standings", "shares", "times"):
        _require(
            name not in arrays or np.isfinite(arrays[name]).all(), "a weight or time is not finite"
        )
    _require("shares" not in arrays or (arrays["shares"] > 0).all(), "a weight is not above 0")
    if n == 0:
        return
    _require(_core.first_non_finite(points) is None, "a coordinate is not finite")
    _require(np.abs(points).max().item() <= LARGEST, "a coordinate is too large")
    if settings.metric.unit_rows:
        _check_lengths(points, arrays)
    settings.options.check_rows(points)
    low, high = _box(points, arrays)
    room = _SLACK[points.dtype.name] * np.maximum(np.abs(low), np.abs(high))
    inside = (mean >= low - room).all() and (mean <= high + room).all()
    _require(inside, "a mean lies outside its points")
    most = _most_spread(low, high, points, arrays)
    possible = np.isfinite(ssd) & (ssd >= 0) & (ssd <= most)
    _require(possible.all(), "a spread is impossible")


def _check_lengths(points: Array, arrays: Mapping[str, Array]) -> None:
    """Directions have length 1, and means of several are no longer."""
    lengths = np.einsum("ij,ij->i", points, points, dtype=np.float64)
    _require((lengths < 1 + 1e-3).all(), "a direction is longer than 1")
    single = arrays["standings"][:, 1] == 0 if "standings" in arrays else slice(None)
    _require((lengths[single] > 1 - 1e-3).all(), "a direction is shorter than 1")


def _box(points: Array, arrays: Mapping[str, Array]) -> tuple[Array, Array]:
    """Of each column the least and the largest number that a point may have had.

    A leaf that has taken others in is at the mean of its points, and each of them, of weight
    w, is no farther from there than sqrt(ssd / w): nothing is known of the points but that.
    """
    if "standings" not in arrays or not arrays["standings"][:, 1].any():
        return points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    lightest = float(arrays["shares"].min()) if len(arrays.get("shares", ())) else 0.0
    if lightest == 0:  # nobody has written down what the points weighed
        return np.full(points.shape[1], -LARGEST), np.full(points.shape[1], LARGEST)
    with np.errstate(over="ignore"):
        reach = 1.01 * np.sqrt(arrays["standings"][:, 1:] / lightest)
    low, high = (points - reach).min(axis=0), (points + reach).max(axis=0)
    return np.maximum(low, -LARGEST), np.minimum(high, LARGEST)


def _most_spread(low: Array, high: Array, points: Array, arrays: Mapping[str, Array]) -> float:
    """What no sum of squared distances to a mean can exceed, however means are rounded.

    All means are in the box, so a merge of weights a and b adds ab/(a + b) times the squared
    diagonal at most. Of all merges of a tree that is W log2(n) / 4 of them, W being the weight
    and n the number of the points (docs/math.md, "What a file may say").
    """
    total = float(arrays["standings"][:, 0].sum()) if "standings" in arrays else len(points)
    came = int(arrays["next_arrival"][0])
    with np.errstate(over="ignore"):  # an infinite bound forbids nothing but infinity
        diagonal = float(((high - low) ** 2).sum())
        merges = 0.25 * np.log2(max(came, 2))
        return float(1.01 * total * merges * diagonal + float(np.finfo(float).tiny))


def _check_links(links: Array) -> None:
    """One root, and children that agree with their parents; no cycles, says the core."""
    if len(links) == 0:
        return
    parents, children = links[:, 0], links[:, 1:]
    _require(int((parents == _NO_NODE).sum()) == 1, "it has no root, or more than one")
    inner = (children & 1) == 1
    slots = children[inner] >> 1
    _require((slots < len(links)).all(), "it links to a node that does not exist")
    above = np.broadcast_to(2 * np.arange(len(links), dtype=np.uint32)[:, None] + 1, children.shape)
    _require(np.array_equal(parents[slots], above[inner]), "a child has another parent")


def _check_node_ids(ids: Array, next_id: int) -> None:
    """Ids of inner nodes, which the core's arrays call names."""
    _require(next_id <= _LARGEST_ID, "it has had too many nodes")
    ordered = np.sort(ids)
    twins = bool((ordered[1:] == ordered[:-1]).any())
    _require(not twins, "two nodes have the same id")
    _require(len(ordered) == 0 or int(ordered[-1]) < next_id, "an id is from the future")
