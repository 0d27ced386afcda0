# SPDX-License-Identifier: BSD-3-Clause
"""_aspect.py: a side of a model that has verbs of its own, such as ``model.edit``."""

from typing import Any, Self

from ramify.estimators._guard import Guard
from ramify.estimators._live import Live


class Aspect:
    """Verbs of a model that belong together. It has nothing of its own but the model.

    It stands in the model's class as an attribute, and is made anew whenever it is asked for.
    """

    __slots__ = ("_model",)

    def __init__(self, model: Any = None) -> None:
        self._model = model

    def __get__(self, model: object, owner: Any = None) -> Self:
        return self if model is None else type(self)(model)

    def __repr__(self) -> str:
        verbs = ", ".join(name for name in dir(self) if not name.startswith("_"))
        return f"<{verbs} of {self._model!r}>"

    # What the guard's decorators ask for (_guard.py).

    def _lock(self) -> Guard:
        guard: Guard = self._model._lock()
        return guard

    @property
    def _live(self) -> Live | None:
        tree: Live | None = self._model._live
        return tree

    def _fitted(self) -> Live:
        tree: Live = self._model._fitted()
        return tree
