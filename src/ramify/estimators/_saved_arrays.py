# SPDX-License-Identifier: BSD-3-Clause
"""_saved_arrays.py: could rows have led to these arrays? Nothing in a file is believed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ramify import _core
from ramify.archive import Array
from ramify.errors import UnreadableFileError
from ramify.estimators._settings import Settings
from ramify.points import LARGEST, RealType

#: No node has ever been given a larger id; beyond 2^63 they would be negative.
LARGEST_ID = 2**62

#: The core's "no node"; others are twice the number of a point, or of a slot, plus one.
_NO_NODE = 2**32 - 1

#: How far beyond the outermost points a mean may be rounded, in units of their size.
_SLACK = {"float32": 1e-5, "float64": 1e-13}


def require(holds: bool | np.bool, what: str) -> None:
    """Refuse a file, and say what is wrong with it."""
    if not holds:
        raise UnreadableFileError(f"holds no valid model: {what}")


def check_arrays(
    settings: Settings, dtype: RealType, content: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """The arrays are those that such a tree keeps, of the types and shapes it keeps them in."""
    n, width = content["points"], settings.core_width
    require(type(n) is int and 0 <= n < 2**31, "it has no possible number of points")
    require(content["columns"] == settings.width, "its number of columns is two numbers")
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
        require(total == (known,), "it remembers clusters of too many points, or of too few")
    if "name_points" in content:
        expected["name_points"] = np.int64, arrays["name_points"].shape[:1]
    if strange := set(arrays) ^ set(expected):
        require(False, f"an array is missing, or one too many: {', '.join(sorted(strange))}")
    for name, (kind, shape) in expected.items():
        found = arrays[name]
        require(
            found.dtype == kind and found.shape == shape and len(shape) in (1, 2),
            f"its array {name!r} has type {found.dtype} and shape {found.shape}, "
            f"expected {np.dtype(kind)} and {shape}",
        )


def check_numbers(settings: Settings, arrays: Mapping[str, Array]) -> None:
    """Numbers that rows could have led to; links and the rest are the core's affair. O(n d)."""
    points, mean, ssd = arrays["points"], arrays["mean"], arrays["ssd"]
    n = len(points)
    require(np.isfinite(arrays["numbers"]).all(), "a number is not finite")
    _check_links(arrays["links"])
    _check_node_ids(arrays["names"], int(arrays["next_name"][0]))
    require(int(arrays["next_arrival"][0]) <= LARGEST_ID, "it has had too many points")
    settings.options.check_memory(n, settings.core_width, arrays)
    for name in ("standings", "shares", "times"):
        require(
            name not in arrays or np.isfinite(arrays[name]).all(), "a weight or time is not finite"
        )
    require("shares" not in arrays or (arrays["shares"] > 0).all(), "a weight is not above 0")
    if n == 0:
        return
    require(_core.first_non_finite(points) is None, "a coordinate is not finite")
    require(np.abs(points).max().item() <= LARGEST, "a coordinate is too large")
    if settings.metric.unit_rows:
        _check_lengths(points, arrays)
    settings.options.check_rows(points)
    low, high = _box(points, arrays)
    room = _SLACK[points.dtype.name] * np.maximum(np.abs(low), np.abs(high))
    inside = (mean >= low - room).all() and (mean <= high + room).all()
    require(inside, "a mean lies outside its points")
    most = _most_spread(low, high, points, arrays)
    possible = np.isfinite(ssd) & (ssd >= 0) & (ssd <= most)
    require(possible.all(), "a spread is impossible")


def _check_lengths(points: Array, arrays: Mapping[str, Array]) -> None:
    """Directions have length 1, and means of several are no longer."""
    lengths = np.einsum("ij,ij->i", points, points, dtype=np.float64)
    require((lengths < 1 + 1e-3).all(), "a direction is longer than 1")
    single = arrays["standings"][:, 1] == 0 if "standings" in arrays else slice(None)
    require((lengths[single] > 1 - 1e-3).all(), "a direction is shorter than 1")


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
    require(int((parents == _NO_NODE).sum()) == 1, "it has no root, or more than one")
    inner = (children & 1) == 1
    slots = children[inner] >> 1
    require((slots < len(links)).all(), "it links to a node that does not exist")
    above = np.broadcast_to(2 * np.arange(len(links), dtype=np.uint32)[:, None] + 1, children.shape)
    require(np.array_equal(parents[slots], above[inner]), "a child has another parent")


def _check_node_ids(ids: Array, next_id: int) -> None:
    """Ids of inner nodes, which the core's arrays call names."""
    require(next_id <= LARGEST_ID, "it has had too many nodes")
    ordered = np.sort(ids)
    twins = bool((ordered[1:] == ordered[:-1]).any())
    require(not twins, "two nodes have the same id")
    require(len(ordered) == 0 or int(ordered[-1]) < next_id, "an id is from the future")
