# SPDX-License-Identifier: BSD-3-Clause
"""_needs_cut.py: methods that only models with a cut option have."""

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from ramify.estimators._reading import TreeReader

_Model = TypeVar("_Model", bound="TreeReader")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class needs_cut(Generic[_Model, _Arguments, _Result]):  # noqa: N801 - a decorator
    """A method that exists only on models that have a cut option set.

    As scikit-learn's ``available_if``, but the AttributeError says what to do.
    """

    def __init__(self, method: Callable[Concatenate[_Model, _Arguments], _Result]) -> None:
        self._method = method

    def __get__(self, model: Any, owner: Any = None) -> Callable[_Arguments, _Result]:
        if model is None:
            return self._method  # type: ignore[return-value]  # on the class: the plain function
        model._require_cut(self._method.__name__)
        return MethodType(self._method, model)
