# SPDX-License-Identifier: BSD-3-Clause
"""_rehearsing.py: what a model would refuse, found before anybody writes it down.

A journal has operations on the disk before the tree sees them. One that the tree refuses has no
place there. So whatever can be refused is asked here first; nothing changes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ramify.estimators._choice import flat_options, from_flat
from ramify.estimators._sticky import wanted_number
from ramify.hierarchy.seam import read_stickiness


def _edit(verb: str) -> Callable[..., None]:
    def rehearse(model: Any, **options: Any) -> None:
        getattr(model.edit._rehearsal(), verb)(**options)

    return rehearse


def _polish(model: Any, m: int | None = None) -> None:
    model._may_polish(m)


def _name(model: Any, stickiness: float = 0.0, **cut: Any) -> None:
    asked = ("n_clusters", "height", "max_size", "min_size")
    found = model._cut(model._fitted(), *(cut.get(name) for name in asked))
    if read_stickiness(stickiness) > 0:
        wanted_number(found)


#: Verbs, and who refuses them.
_VERBS: Mapping[str, Callable[..., None]] = {
    "polish": _polish,
    "stable_labels": _name,
    **{
        verb: _edit(verb)
        for verb in ("rename", "must_link", "cannot_link", "unlink", "move", "release")
    },
}


def rehearse(model: Any, verb: str, options: Mapping[str, Any]) -> None:
    """Raise what ``verb`` would raise.

    Examples
    --------
    >>> import ramify
    >>> rehearse(ramify.OHAC().fit([[0.0], [9.0]]), "must_link", {"i": 0, "j": 0})
    Traceback (most recent call last):
    ...
    ValueError: 0 and 0 are the same point
    """
    _VERBS[verb](model, **options)


def rehearse_forget(model: Any, points: Sequence[Any]) -> None:
    """Raise what ``forget`` would raise."""
    if len(points) > 0:
        model._may_forget(points)


def rehearse_options(model: Any, options: Mapping[str, Any]) -> None:
    """Raise what a model with these flat options would raise when the next row comes."""
    from_flat(type(model), {**flat_options(model), **options})._check_parameters()
