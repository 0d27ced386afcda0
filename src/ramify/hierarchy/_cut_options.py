# SPDX-License-Identifier: BSD-3-Clause
"""_cut_options.py: which options of a cut go together."""

from typing import Any, Literal, TypeAlias

from ramify.checks import one_of

#: What a cut goes by.
By: TypeAlias = Literal["height", "variance", "stability", "modularity"]
WAYS = ("height", "variance", "stability", "modularity")


def check_way(
    by: object, options: dict[str, Any], X: object = None, resolution: object = None
) -> None:
    """Refuse options that do not go with what a cut goes by.

    Examples
    --------
    >>> check_way("stability", {"n_clusters": None, "min_size": 5})
    """
    way = one_of("by", by, WAYS)
    if resolution is not None and way != "modularity":
        raise ValueError(f"resolution goes with by='modularity', not with by={way!r}")
    if X is not None and way not in ("variance", "modularity"):
        raise ValueError(
            f"X goes with by='variance' and 'modularity'; by={way!r} looks at the tree alone"
        )
    if way == "height":
        require_one_cut(options)
        return
    given = {name for name, value in options.items() if value is not None}
    if way == "modularity" and given:
        raise ValueError(
            f"by='modularity' says itself how many clusters there are, more with a larger "
            f"resolution: leave out {', '.join(given)}"
        )
    if way == "stability" and given != {"min_size"}:
        raise ValueError("by='stability' goes with min_size, and with nothing else")
    if way == "variance" and given not in ({"n_clusters"}, {"n_clusters", "min_size"}):
        raise ValueError("by='variance' goes with n_clusters, and if wanted with min_size")


def require_one_cut(options: dict[str, Any], *, or_none: bool = False) -> dict[str, Any]:
    """The options that were given, if they say how to cut: one, or two that go together.

    Examples
    --------
    >>> require_one_cut({"n_clusters": 3, "height": None, "max_size": None, "min_size": 2})
    {'n_clusters': 3, 'min_size': 2}
    """
    given = {name: value for name, value in options.items() if value is not None}
    together = {"n_clusters", "height", "min_size"}
    pair = len(given) == 2 and "min_size" in given and given.keys() <= together
    if len(given) == 1 or pair or (or_none and not given):
        return given
    found = ", ".join(f"{name}={value}" for name, value in given.items())
    raise ValueError(
        f"give one of {', '.join(options)}{', or none' if or_none else ''}; "
        f"min_size also goes with n_clusters or height; got {found or 'none of them'}"
    )
