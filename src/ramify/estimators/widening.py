# SPDX-License-Identifier: BSD-3-Clause
"""widening.py: a tree over the same points with room for more features."""

from typing import Any

import numpy as np

from ramify.estimators._live import Live
from ramify.points import Rows


def widened(model: Any, width: int) -> Any:
    """The same tree over the same points, with room for more features, which are 0 so far.

    Examples
    --------
    >>> import ramify
    >>> widened(ramify.OHAC().fit([[1.0], [2.0]]), 2).points()
    array([[1., 0.],
           [2., 0.]])
    """
    from ramify.estimators._changing import ChangingClusterer

    new = type(model)(**model.get_params(deep=False))
    if not isinstance(model, ChangingClusterer):  # the memory of others is their own affair
        return new.fit(_padded(model.points(), width))
    assert model._live is not None
    state = model._live.state()
    arrays = state["arrays"]
    wider = {name: _padded(arrays[name], width) for name in ("points", "mean")}
    algorithm, _, *rest = state["settings"]
    state["arrays"], state["settings"] = {**arrays, **wider}, (algorithm, width, *rest)
    new._adopt(Live.from_state(state, new._Options), None)
    return new


def _padded(rows: Rows, width: int) -> Rows:
    wider = np.zeros((len(rows), width), dtype=rows.dtype)
    wider[:, : rows.shape[1]] = rows
    return wider
