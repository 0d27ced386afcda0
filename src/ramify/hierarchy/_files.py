# SPDX-License-Identifier: BSD-3-Clause
"""_files.py: a tree as a file of our own; saving.py reads it."""

from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from ramify import archive
from ramify.hierarchy._tree import Tree
from ramify.ids import kind_of, pack


class Files(Tree):
    """Saving."""

    __slots__ = ()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tree to one file, which ``ramify.load`` reads; as a model's ``save``.

        Parameters
        ----------
        path : str or path-like
            By custom with the ending ``.ramify``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ramify
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.save(path)
        >>> ramify.load(path) == tree
        True
        """
        content: dict[str, Any] = {
            "kind": "hierarchy",
            "library": version("ramify"),
            "points": self.n_leaves,
            "ids": None if self.names is None else kind_of(self.names),
        }
        if self.node_names:
            content["node_names"] = [[id, text] for id, text in self.node_names.items()]
        arrays = {"children": self.children, "heights": self.heights, "node_ids": self.node_ids}
        arrays["point_numbers"] = self.point_numbers
        if not np.array_equal(self.leaf_numbers, self.point_numbers):
            arrays["leaf_numbers"] = self.leaf_numbers
        if self.leaf_weights is not None:
            arrays["leaf_weights"] = self.leaf_weights
        named = {} if self.names is None else pack(self.names)
        archive.write(path, content, {**arrays, **named})
