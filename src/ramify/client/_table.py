# SPDX-License-Identifier: BSD-3-Clause
"""_table.py: how an entry of the table of calls becomes a method of both clients.

An entry is a verb of a protocol of :mod:`ramify.tree` with the place where it is asked and what its
answer becomes. Parameters, types and words are those of the protocol. Where that is too little, a
dialogue (_calls.py) is written out. ``Client`` holds a dialogue and returns what comes of it;
``AsyncClient`` returns something to await.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypedDict, TypeVar, overload
from typing import cast as as_type
from urllib.parse import quote

import numpy.typing as npt

from ramify.client._calls import Call, Dialogue, calling
from ramify.estimators.seam import WayOfLive
from ramify.tree import meaning_of

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Waits:
    """What has verbs that answer."""


class Awaited:
    """What has verbs that give something to await."""


class Verb(Generic[_P, _T]):
    """How type checkers see a verb: it answers, or gives something to await."""

    @overload
    def __get__(self, of: Waits, kind: Any = None) -> Callable[_P, _T]: ...
    @overload
    def __get__(self, of: Awaited, kind: Any = None) -> Callable[_P, Coroutine[Any, Any, _T]]: ...
    def __get__(self, of: Any, kind: Any = None) -> Any: ...


class Fact(Generic[_T]):
    """The same of what is asked for without arguments."""

    @overload
    def __get__(self, of: Waits, kind: Any = None) -> _T: ...
    @overload
    def __get__(self, of: Awaited, kind: Any = None) -> Coroutine[Any, Any, _T]: ...
    def __get__(self, of: Any, kind: Any = None) -> Any: ...


class Cut(TypedDict, total=False):
    """The options of a cut: one of them, or none for the tree's own."""

    n_clusters: int | None
    height: float | None
    max_size: int | None
    min_size: int | None


class AnyCut(Cut, total=False):
    """The same, and what the cut goes by."""

    by: WayOfLive
    resolution: float | None


class Along(TypedDict, total=False):
    """What comes along with rows, or instead of them."""

    edges: Any
    ids: Any
    sample_weight: npt.ArrayLike | None
    payloads: Any
    times: Any
    key: str | None


def address(tree: Any, at: str, body: Any = None, /, **params: Any) -> Call:
    """A call about a tree: method and address below it; what stands in the address is put there.

    A ``point`` in it may be a number.
    """
    method, where = at.split()
    inside = {name: params.pop(name) for name in list(params) if f"{{{name}}}" in where}
    if "point" in inside and not isinstance(inside["point"], str):
        params["by"] = "number"
    path = where.format(**{name: quote(str(one), safe="") for name, one in inside.items()})
    return calling(method, f"/v1/trees/{tree.name}{path.rstrip('/')}", body, params)


def entry(
    like: Callable[Concatenate[Any, _P], _T],
    at: str,
    read: Callable[[Any], _T],
    **body: Callable[[Any], Any],
) -> Verb[_P, _T]:
    """A verb by one call; the argument that ``body`` names makes the body, others are asked."""
    signature = inspect.signature(like)

    def ask(self: Any, /, *args: Any, **options: Any) -> Dialogue[_T]:
        params = dict(list(signature.bind(self, *args, **options).arguments.items())[1:])
        bodies = [as_json(params.pop(name)) for name, as_json in body.items()]
        return read((yield address(self, at, *bodies, **params)))

    ask.__name__, ask.__signature__ = like.__name__, signature  # type: ignore[attr-defined]
    return verb(ask)


def fact(name: str, at: str, read: Callable[[Any], _T]) -> Fact[_T]:
    """What is asked for without arguments, by one call."""

    def ask(self: Any) -> Dialogue[_T]:
        return read((yield address(self, at)))

    look: Any = property(lambda self: self._say(ask(self)), doc=meaning_of(name))
    return as_type("Fact[_T]", look)


def verb(ask: Callable[Concatenate[Any, _P], Dialogue[_T]]) -> Verb[_P, _T]:
    """A dialogue as a method that has it held."""
    signature = _spread(inspect.signature(ask))

    @wraps(ask)
    def say(self: Any, /, *args: Any, **options: Any) -> Any:
        signature.bind(self, *args, **options)  # TypeError for what there is not
        return self._say(ask(self, *args, **options))

    say.__signature__ = signature  # type: ignore[attr-defined]
    say.__doc__ = ask.__doc__ or meaning_of(ask.__name__)
    return as_type("Verb[_P, _T]", say)


def _spread(signature: inspect.Signature) -> inspect.Signature:
    """A signature in which the options of a cut, and what comes along, stand one by one."""
    kept: list[inspect.Parameter] = []
    for one in signature.parameters.values():
        kinds: tuple[Any, ...] = (Cut, AnyCut, Along)
        known = next((kind for kind in kinds if one.annotation == f"Unpack[{kind.__name__}]"), None)
        names = [] if known is None else known.__annotations__
        spread = [inspect.Parameter(name, one.KEYWORD_ONLY, default=None) for name in names]
        kept += [one] if known is None else spread
    return signature.replace(parameters=kept)
