# SPDX-License-Identifier: BSD-3-Clause
"""_options.py: the door for options, as points.py is the door for rows.

scikit-learn forbids checks in ``__init__``; these run when data arrives, before
anything changes. A wrong type is a TypeError, a wrong value a ValueError, and
both say what was found and what would be right.
"""

from numbers import Integral, Real

#: The core takes no larger whole numbers.
_LARGEST = 2**63 - 1

METRICS = ("sqeuclidean", "cosine", "dot")
LINKAGES = ("average", "centroid", "ward")

#: Well-known choices that an online tree cannot offer.
_NOT_ADMISSIBLE = {"complete", "single", "median", "weighted", "euclidean", "cityblock", "l1", "l2"}
_WHY = (
    "It cannot be computed from a cluster's size, mean and spread, so an online insert "
    "would have to look at every point again."
)


def check_metric(metric: object, offered: tuple[str, ...] = METRICS) -> str:
    """Return the metric if it is one of ours, and of the estimator's.

    Examples
    --------
    >>> check_metric("cosine")
    'cosine'
    """
    return _one_of("metric", metric, offered)


def check_linkage(linkage: object, metric: str) -> str:
    """Return the linkage if it is one of ours and fits the metric.

    Examples
    --------
    >>> check_linkage("ward", "sqeuclidean")
    'ward'
    """
    chosen = _one_of("linkage", linkage, LINKAGES)
    if chosen == "ward" and metric == "dot":
        raise ValueError(
            "linkage='ward' minimises squared distances to the mean, and metric='dot' has no "
            "distance; choose linkage 'average' or 'centroid', or metric 'sqeuclidean' or 'cosine'"
        )
    return chosen


def check_n_neighbors(n_neighbors: object) -> int:
    """Return the number of neighbours if it is a whole number from 1.

    Examples
    --------
    >>> check_n_neighbors(3)
    3
    """
    return _whole_number("n_neighbors", n_neighbors)


def check_certify(certify: object, metric: str) -> bool:
    """Return whether a certificate is kept, if the metric allows for one.

    Examples
    --------
    >>> check_certify(True, "dot")
    True
    """
    if not isinstance(certify, bool):
        raise TypeError(f"certify={certify!r}: expected True or False")
    if certify and metric not in ("dot", "cosine"):
        raise ValueError(
            f"certify=True needs similarities that cannot be negative, and those of "
            f"metric={metric!r} are never positive; choose metric 'dot' or 'cosine', "
            f"with rows that hold no negative numbers"
        )
    return certify


def check_choice(
    name: str, found: object, offered: tuple[str, ...], *, or_none: bool = False
) -> str | None:
    """Return a choice if it is one of those offered, or None where that is one too.

    Examples
    --------
    >>> check_choice("bounds", "sound", ("reference", "sound"))
    'sound'
    """
    if or_none and found is None:
        return None
    return _one_of(name, found, offered, " or None" if or_none else "")


def check_number(name: str, found: object, least: int = 1, most: int = _LARGEST) -> int:
    """Return a whole number if it is at least ``least`` and at most ``most``.

    Examples
    --------
    >>> check_number("max_leaves", 100)
    100
    """
    return _whole_number(name, found, least, most)


def check_size(name: str, found: object) -> float:
    """Return a number if it is finite and more than 0.

    Examples
    --------
    >>> check_size("threshold", 0.5)
    0.5
    """
    size = _number(name, found)
    if not 0 < size < float("inf"):
        raise ValueError(f"{name}={found!r}: expected a finite number above 0")
    return size


def check_flag(name: str, found: object) -> bool:
    """Return True or False if it is one of them.

    Examples
    --------
    >>> check_flag("restructure", True)
    True
    """
    if not isinstance(found, bool):
        raise TypeError(f"{name}={found!r}: expected True or False, got {type(found).__name__}")
    return found


def check_cut(n_clusters: object, distance_threshold: object) -> None:
    """Refuse both cut options at once, and values that cut no tree.

    Examples
    --------
    >>> check_cut(3, None)
    """
    if n_clusters is not None and distance_threshold is not None:
        raise ValueError(
            f"n_clusters={n_clusters!r} and distance_threshold={distance_threshold!r} "
            f"are both set; set one of them and leave the other at None"
        )
    if n_clusters is not None:
        _whole_number("n_clusters", n_clusters)
    if distance_threshold is not None:
        _number("distance_threshold", distance_threshold)


def _one_of(name: str, found: object, offered: tuple[str, ...], more: str = "") -> str:
    listed = _listed(offered) + more
    if not isinstance(found, str):
        raise TypeError(f"{name}={found!r}: expected a string, one of {listed}")
    if found not in offered:
        why = f". {_WHY}" if found in _NOT_ADMISSIBLE else ""
        raise ValueError(f"{name}={found!r} is not offered; choose one of {listed}{why}")
    return found


def _listed(offered: tuple[str, ...]) -> str:
    return ", ".join(repr(choice) for choice in offered)


def _whole_number(name: str, found: object, least: int = 1, most: int = _LARGEST) -> int:
    if isinstance(found, bool) or not isinstance(found, Integral):
        raise TypeError(f"{name}={found!r}: expected an int, got {type(found).__name__}")
    number = int(found)
    if number < least:
        raise ValueError(f"{name}={found!r}: expected at least {least}")
    if number > most:
        raise ValueError(f"{name}={found!r}: expected at most {most:,}")
    return number


def _number(name: str, found: object) -> float:
    if isinstance(found, bool) or not isinstance(found, Real):
        raise TypeError(f"{name}={found!r}: expected a number, got {type(found).__name__}")
    if found != found:
        raise ValueError(f"{name}={found!r}: expected a number")
    try:
        return float(found)
    except OverflowError:
        raise ValueError(f"{name} is beyond all floats: expected a number up to 1e308") from None
