# SPDX-License-Identifier: BSD-3-Clause
"""_calling.py: verbs of a tree in a folder that add and take no points: options, polish, names.

Each is an operation in the journal, and on the disk when the call returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Self

from ramify.estimators.seam import FREE, flat_options, flattened, refuse_gone
from ramify.hierarchy import IntArray
from ramify.journal import _model
from ramify.journal._door import plain_key, plain_value
from ramify.journal._edits import Editing
from ramify.journal._records import Operation
from ramify.journal._requests import Request
from ramify.journal._writer import Writer
from ramify.tree import Receipt


class Calling:
    """A tree that is told how to be."""

    model: Any
    _writer: Writer

    @property
    def edit(self) -> Editing:
        """Links, moves and names by people.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC(n_clusters=2)) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0], [8.0]]).edit.must_link(0, 2)
        ...     tree.labels_
        array([0, 0, 0, 1])
        """
        return Editing(self)

    def set_params(self, **options: Any) -> Self:
        """Change options that do not shape the tree: its cut, ``keep``, ``n_jobs``, ...

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [9.0]])
        ...     tree.set_params(n_clusters=2).labels_
        array([0, 0, 1])
        """
        kind, known = type(self.model), self.model.get_params(deep=False)
        refuse_gone(kind, options)
        for name in options:
            if name not in known:
                raise ValueError(f"{kind.__name__} has no option {name!r}")
        return self._set_flat(flattened(kind, options))

    def _set_flat(self, options: Mapping[str, Any]) -> Self:
        """The same of flat options, as files have them."""
        now = flat_options(self.model)
        options = {one: new for one, new in options.items() if one in FREE or new != now[one]}
        for name in options:
            if name not in FREE:
                raise ValueError(f"{name} shapes the tree, and stays as it was when that began")
        plain = plain_value("options", _model.plain_options(options), finite=False)
        self._submit(Operation("settings", {"options": plain})).result()
        return self

    def polish(self, m: int | None = None) -> Any:
        """Let the estimator polish its tree; for those that can. What it says of it.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OTD()) as tree:
        ...     _ = tree.partial_fit([[0.0], [1.0], [5.0]])
        ...     try:
        ...         bool(tree.polish(3))
        ...     except TypeError:  # as of an estimator that cannot
        ...         False
        False
        """
        return self.submit_call("polish", {"m": m}).result().value

    def submit_call(
        self,
        verb: str,
        options: Mapping[str, Any],
        *,
        key: str | None = None,
        block: bool = True,
    ) -> Future[Receipt]:
        """Have a verb of the estimator carried out that reshapes or edits the tree, not waiting.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     try:
        ...         tree.submit_call("sing", {})
        ...     except TypeError as error:
        ...         print(error)
        OHAC cannot sing
        """
        if verb not in _model.CALLS or not hasattr(_model.speaker(self.model, verb), verb):
            raise TypeError(f"{type(self.model).__name__} cannot {verb}")
        given = plain_value(f"options of {verb}", options, finite=False)
        operation = Operation("call", {"verb": verb, "options": given})
        return self._writer.submit(Request(operation, plain_key(key), alone=True), block=block)

    def stable_labels(
        self,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        stickiness: float = 0.0,
    ) -> IntArray:
        """Ids of the clusters of all points that stay while the tree goes on.

        As the estimator's; which ids were given is in the journal, too.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [9.0]]).stable_labels(n_clusters=2)
        array([0, 0, 1])
        """
        if not hasattr(self.model, "stable_labels"):
            raise TypeError(f"{type(self.model).__name__} has no stable_labels")
        asked = {
            "n_clusters": n_clusters,
            "height": height,
            "max_size": max_size,
            "min_size": min_size,
            "stickiness": stickiness or None,
        }
        given = {
            name: plain_value(name, value, finite=False)
            for name, value in asked.items()
            if value is not None
        }
        operation = Operation("name", {"options": given})
        labels: IntArray = self._submit(operation).result().value
        return labels

    def _submit(self, operation: Operation, rows: int = 1) -> Future[Receipt]:
        """Put an operation into the queue that is settled already."""
        return self._writer.submit(Request(operation, rows=rows, alone=True))
