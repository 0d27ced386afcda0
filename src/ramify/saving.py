# SPDX-License-Identifier: BSD-3-Clause
"""saving.py: models and hierarchies from files; ``model.save`` writes them.

One file, no pickle: see archive.py for the layout. A file holds data and nothing
that could run, so it is safe to load from anyone.
"""

import os
from typing import TYPE_CHECKING, Any

from ramify import archive, lean
from ramify.errors import UnreadableFileError

if TYPE_CHECKING:  # slow to load, and a look at a file's head does not need it
    from ramify.hierarchy import Hierarchy


def load(path: str | os.PathLike[str]) -> Any:
    """Read what ``model.save(path)`` or ``hierarchy.save(path)`` has written.

    A loaded model goes on exactly as the saved one would have. Every byte is checked,
    and so is the tree, in O(n d); nothing in the file is ever executed.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model or Hierarchy
        Of the class that was saved.

    Raises
    ------
    UnreadableFileError
        If the file is not one of ours, is damaged, or comes from a later version.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ramify
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
    >>> ramify.OHAC(n_clusters=2).fit([[0.0], [1.0], [5.0]]).save(path)
    >>> ramify.load(path).partial_fit([[4.0]]).labels_
    array([0, 0, 1, 1])
    """
    content, arrays = lean.read(path)
    try:
        kind = content.get("kind")
        if kind == "hierarchy":
            return _hierarchy(content, arrays)
        return model_of(content, arrays)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{os.fspath(path)}: {error}") from error.__cause__


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a saved file says about itself, without loading it.

    Only the header is read and checked, so this is as quick for a large file as for a
    small one, and says nothing about the state of the rest.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict
        ``kind`` ("model", "graph model", "live graph" or "hierarchy"), ``library`` (the
        version of Ramify that saved it), ``points``, ``ids`` ("str", "int" or None),
        ``bytes``; for a model also ``algorithm``, ``parameters``, ``columns``, ``dtype`` and
        ``feature_names``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ramify
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
    >>> ramify.OTD().fit([[0.0, 2.0], [1.0, 3.0]]).save(path)
    >>> about = ramify.saving.describe(path)
    >>> about["algorithm"], about["points"], about["columns"]
    ('OTD', 2, 2)
    """
    content = archive.read_content(path)
    inner = {"sha256", "settings", "state", "versions", "stable_ids", "stable_cuts"}
    inner |= {"node_names", "name_points", "apart", "late", "skipped"}
    about = {name: value for name, value in content.items() if name not in inner}
    return {**about, "bytes": os.path.getsize(path)}


def _model(content: dict[str, Any], arrays: dict[str, Any]) -> Any:
    from ramify.estimators.seam import BY_CLASS_NAME, from_saved

    name = content.get("algorithm")
    if not isinstance(name, str) or name not in BY_CLASS_NAME:
        raise UnreadableFileError(
            f"holds a model of {name!r}, which this version of Ramify has not; "
            f"it was saved by Ramify {content.get('library')!r}"
        )
    return from_saved(BY_CLASS_NAME[name].estimator, content, arrays)


def model_of(content: dict[str, Any], arrays: dict[str, Any]) -> Any:
    """The model that a file has, as it was read."""
    kind = content.get("kind")
    if kind in ("graph model", "live graph"):
        return _graph_model(kind, content, arrays)
    if kind != "model":
        raise UnreadableFileError(f"holds no model or hierarchy, but {kind!r}")
    return _model(content, arrays)


def _graph_model(kind: str, content: dict[str, Any], arrays: dict[str, Any]) -> Any:
    from ramify.estimators import graph_hac, live_graph_hac

    home = live_graph_hac if kind == "live graph" else graph_hac
    return home.from_saved(content, arrays)


def _hierarchy(content: dict[str, Any], arrays: dict[str, Any]) -> "Hierarchy":
    from ramify.hierarchy import Hierarchy
    from ramify.ids import unpack

    try:
        names = unpack(arrays)
        tree = arrays["children"], arrays["heights"], arrays["node_ids"]
        # Format 1 has no numbers, and few trees have weights, or ids of leaves.
        more = (arrays.get(name) for name in ("point_numbers", "leaf_weights", "leaf_numbers"))
        found = Hierarchy(*tree, names, *more)
        texts = {int(id): text for id, text in content.get("node_names", ())}
        return found.with_node_names(texts) if texts else found
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise UnreadableFileError(f"holds no valid hierarchy: {error}") from error
