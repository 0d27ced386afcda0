# SPDX-License-Identifier: BSD-3-Clause
"""lean.py: files of models, without the means that the rest of a tree gives again.

A tree has a mean for every merge, and together they are as large as its rows. Most are to the bit
what merging the summaries of a node's two children gives. Such means are left out of a file, and
worked out when it is read. The others, of nodes to which points were added one by one, are in
the array ``mean``, and ``mean_of`` has the places of their nodes. A file without ``mean_of`` has
all means, as all files had up to format 2.
"""

import os
from collections.abc import Mapping
from typing import Any, cast

from ramify import _core, archive
from ramify.archive import Array, Contents
from ramify.errors import UnreadableFileError


def write(path: archive.Path, content: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """As :func:`ramify.archive.write`. O(size)."""
    archive.write(path, content, without_means(arrays))


def read(path: archive.Path) -> Contents:
    """As :func:`ramify.archive.read`, and with all means, whatever format the file has. O(size)."""
    content, arrays = archive.read(path)
    if "mean_of" not in arrays:
        return Contents(content, arrays)
    try:
        return Contents(content, with_means(arrays))
    except (ValueError, TypeError, LookupError) as error:
        raise UnreadableFileError(f"{os.fspath(path)}: holds no valid model: {error}") from error


def without_means(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a model as a file has them."""
    if "mean" not in arrays:
        return dict(arrays)
    mean = arrays["mean"]
    places = _core.listed_means(arrays["points"], arrays["links"], arrays.get("standings"), mean)
    if len(places) == len(mean):
        return dict(arrays)
    return {**arrays, "mean": mean.take(places, axis=0), "mean_of": places}


def with_means(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a model as the model has them; ValueError if there is no such tree."""
    found = dict(arrays)
    tree = arrays["points"], arrays["links"], arrays.get("standings")
    found["mean"] = cast(Array, _core.all_means(*tree, found.pop("mean_of"), arrays["mean"]))
    return found
