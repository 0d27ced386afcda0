# SPDX-License-Identifier: BSD-3-Clause
"""_reshaping.py: live trees that may take any shape: adopted ones, polished ones."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.estimators._base import Batch, IdsLike
from ramify.estimators._changing import ChangingClusterer
from ramify.estimators._guard import alone, writes
from ramify.estimators._live import Live
from ramify.estimators._skipping import skipped_rows
from ramify.hierarchy import Hierarchy, Polished
from ramify.sparse import SparseRows


class ReshapingClusterer(ChangingClusterer):
    """A clusterer that keeps no notes of its tree's shape, and so can go on from any."""

    @classmethod
    def from_hierarchy(
        cls,
        tree: Hierarchy | npt.ArrayLike,
        X: npt.ArrayLike,
        *,
        options: Mapping[str, Any] | None = None,
        ids: IdsLike = None,
    ) -> Self:
        """A live model of a tree that is there already, such as one made offline.

        The tree is taken as it is, merge by merge; what comes later is inserted as ever.
        Heights are those of the model's linkage. Leaves' weights count. Points are numbered
        from 0, and nodes have ids of their own. O(n d).

        Parameters
        ----------
        tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
        X : array-like of shape (n, d)
            The points, in the order of the leaves.
        options : mapping, optional
            Parameters of the model by name, such as ``{"linkage": "ward"}``.
        ids : sequence of str or of int, optional
            As in ``fit``; by default the tree's names, if it has any.

        Returns
        -------
        A fitted model.

        Examples
        --------
        >>> from scipy.cluster.hierarchy import linkage
        >>> import ramify
        >>> X = [[0.0], [1.0], [5.0], [7.0]]
        >>> model = ramify.OHAC.from_hierarchy(linkage(X, "complete"), X)
        >>> model.partial_fit([[5.5]]).cut(n_clusters=2)
        array([0, 0, 1, 1, 1])
        """
        model = cls(**dict(options or {}))
        known = _read(tree)
        names = known.names if ids is None else ids
        batch = model._read_first(X, names)
        batch.settings.options.require_any_shape("from_hierarchy")
        batch.settings.options.require_single_points("from_hierarchy")
        if len(batch.rows) != known.n_leaves:
            raise ValueError(
                f"the tree has {known.n_leaves} leaves, but there are {len(batch.rows)} rows in X"
            )
        skipped = skipped_rows(batch.settings.options.zero_rows, batch.rows, None)
        if skipped is not None:
            raise ValueError(
                f"Input X has only zeros in row {int(skipped.argmax())}, which zero_rows='skip' "
                f"would leave out, and the tree has a leaf for it; choose zero_rows='apart'"
            )
        model._begin_as(known, batch)
        return model

    @writes
    def _begin_as(self, tree: Hierarchy, batch: Batch) -> None:
        live = batch.begin()
        live.expect_ids(batch.ids)
        rows = batch.rows.dense() if isinstance(batch.rows, SparseRows) else batch.rows
        live.adopt(rows, tree)
        self._adopt(live, batch.names)

    @writes
    def polish(self, m: int | None = None) -> Polished:
        """Merge the top of the tree anew, as offline HAC would, if that makes it better.

        From the root down the widest node is split until ``m`` subtrees remain, and the model's
        linkage merges these. The new top stays only if it is better: under average linkage if
        the tree earns more revenue (Moseley and Wang) under the similarity of the model's metric,
        under ward and centroid linkage if cuts leave a smaller sum of squares;
        :class:`Polished` says how both are counted. What is below does not change, linked points
        and held nodes stay as they are (:meth:`must_link`, :meth:`move`), and nodes that keep
        most of their points keep their ids. Calling it again helps only after the tree has grown:
        ``OHAC(polishing="auto")`` does it each time the number of points has doubled.

        Parameters
        ----------
        m : int, optional
            Number of subtrees, from 3: HAC of them is O(m² d) at worst. By default there are
            up to five rounds, from few subtrees to more, each kept only if it gains; the last
            has one for 10 points, but at least 24 and at most 1000. That costs a few percent
            of what growing the tree did, and gains more than any one m.

        Returns
        -------
        Polished
            What was gained; true if the tree has changed.

        Examples
        --------
        >>> import ramify
        >>> from ramify import datasets
        >>> model = ramify.OHAC(linkage="ward").fit(datasets.iris().points)
        >>> model.polish(m=20)
        <Polished: squares 0.54% better with 20 subtrees>
        """
        return self._polish(*self._may_polish(m))

    def _may_polish(self, m: object) -> tuple[Live, int | None]:
        """The tree that can be polished, and ``m``, checked; nothing changes."""
        live = self._fitted()
        wanted = None if m is None else whole_number("m", m, least=3)
        live.settings.options.require_any_shape("polish")
        return live, wanted

    @alone
    def _polish(self, live: Live, m: int | None) -> Polished:
        return live.polish(m)


def _read(tree: Hierarchy | npt.ArrayLike) -> Hierarchy:
    """A tree of whichever library."""
    if isinstance(tree, Hierarchy):
        return tree
    rows = np.asarray(tree)
    if rows.ndim == 2 and rows.shape[1] == 2:
        return Hierarchy.from_children(rows)
    return Hierarchy.from_linkage(rows)
