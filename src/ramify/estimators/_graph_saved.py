# SPDX-License-Identifier: BSD-3-Clause
"""_graph_saved.py: offline trees of graphs in files: options, tree and ids, but no graph."""

from importlib.metadata import version
from typing import Any

import numpy as np

from ramify import archive
from ramify.checks import whole_number
from ramify.errors import UnreadableFileError
from ramify.hierarchy import Hierarchy
from ramify.ids import kind_of, pack, unpack


def content_of(
    model: Any, tree: Hierarchy | None
) -> tuple[dict[str, Any], dict[str, archive.Array]]:
    """Content and arrays of the file of a checked model.

    Examples
    --------
    >>> import ramify
    >>> content_of(ramify.GraphHAC(), None)[0]["kind"]
    'graph model'
    """
    if callable(model.metric):
        raise TypeError("metric is a function, which cannot be saved; pickle can store it")
    columns = getattr(model, "feature_names_in_", None)
    content: dict[str, Any] = {
        "kind": "graph model",
        "algorithm": type(model).__name__,
        "library": version("ramify"),
        "parameters": model.get_params(deep=False),
        "points": len(model),
        "columns": getattr(model, "n_features_in_", None),
        "feature_names": None if columns is None else [str(name) for name in columns],
        "ids": None,
    }
    if tree is None:
        return content, {}
    arrays: dict[str, archive.Array] = {"children": tree.children, "heights": tree.heights}
    if tree.names is not None:
        content["ids"] = kind_of(tree.names)
        arrays |= pack(tree.names)
    return content, arrays


def from_saved(kind: Any, content: dict[str, Any], arrays: dict[str, archive.Array]) -> Any:
    """The model that ``save`` wrote; UnreadableFileError if there cannot be such a model."""
    try:
        model = kind(**content["parameters"])
        model._check_parameters()
        if not arrays:
            return model
        tree = Hierarchy(arrays["children"], arrays["heights"], names=unpack(arrays))
        tree.check()
        columns, width = content["feature_names"], content["columns"]
        if width is not None:
            whole_number("columns", width)
        if columns is not None and not (
            isinstance(columns, list)
            and len(columns) == width
            and all(isinstance(name, str) for name in columns)
        ):
            raise ValueError("its column names do not fit")
        named = None if columns is None else np.array(columns, dtype=object)
        model._adopt(tree, width, named)
        return model
    except (ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        raise UnreadableFileError(f"holds no valid model: {error}") from error
