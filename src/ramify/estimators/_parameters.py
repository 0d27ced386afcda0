# SPDX-License-Identifier: BSD-3-Clause
"""_parameters.py: how an estimator's parameters are set: with parts of choices, and after 0.1."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from ramify.estimators._choice import Choice, choices_of, nested, refuse_gone

_Model = TypeVar("_Model", bound=BaseEstimator)


def set_attribute(model: BaseEstimator, name: str, value: object) -> None:
    """As ever, but for parameters that are gone."""
    refuse_gone(type(model), {name: value})
    object.__setattr__(model, name, value)


def set_params(self: _Model, **params: Any) -> _Model:
    """As scikit-learn has it; ``keep__n=5`` is a part of a choice such as ``Last(n)``.

    Examples
    --------
    >>> import ramify
    >>> ramify.OHAC(keep=ramify.Last(100)).set_params(n_clusters=3, keep__n=5)
    OHAC(keep=Last(n=5), n_clusters=3)
    """
    refuse_gone(type(self), params)
    whole = {name: value for name, value in params.items() if "__" not in name}
    for name in params.keys() - whole.keys():
        option, _, part = name.partition("__")
        held = whole.get(option, getattr(self, option, None))
        if not isinstance(held, Choice) or part not in held.get_params():
            raise ValueError(f"{name}: {option}={held!r} has no part {part!r}")
        whole[option] = replace(held, **{part: params[name]})  # type: ignore[type-var]
    BaseEstimator.set_params(self, **whole)
    return self


def of_today(kind: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a pickle, which may be older than some parameters."""
    then = {"min_size": None, "zero_rows": "error"}
    missing = {name: value for name, value in then.items() if name in kind._get_param_names()}
    state = {**missing, **kind._Options.of_today(state)}
    if "keep" in state or not choices_of(kind):
        return state
    state, idle = nested(kind, state)
    return {**state, "_idle": idle} if idle else state
