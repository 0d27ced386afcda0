# SPDX-License-Identifier: BSD-3-Clause
"""_hierarchy.py: a frozen binary tree over n points, and all it can be asked.

Everything downstream of a live model works on this snapshot, so a reader never
races a writer. Trees may be chains of a million nodes: nothing here recurses.
"""

from ramify.hierarchy._condense import Condensing
from ramify.hierarchy._exports import Exports
from ramify.hierarchy._files import Files
from ramify.hierarchy._groups import Groups
from ramify.hierarchy._linkage import Linkages
from ramify.hierarchy._paths import Paths
from ramify.hierarchy._polish import Polishing
from ramify.hierarchy._rows import WithRows
from ramify.hierarchy._suggest import Suggestions
from ramify.hierarchy._weights import Weights


class Hierarchy(
    Groups, Suggestions, Condensing, Paths, WithRows, Polishing, Weights, Linkages, Exports, Files
):
    """A frozen binary tree over n points: the snapshot of a model.

    Its leaves are the nodes ``0 .. n-1``, in order of arrival. Such a number is a *place*, and
    means something in this tree only. What points are called everywhere else is their arrival
    number: ``point_numbers[place]``. The two are the same as long as no point has left. Methods
    that speak of nodes and leaves take and return places, and labels stand in their order;
    ``members``, ``representatives`` and ``first_point`` of clusters are arrival numbers.

    Invariants, tested by :meth:`check`:

    1. Arrays have the shapes and types listed below, are read-only, and heights
       are finite.
    2. Every node but the root is the child of exactly one row.
    3. Children come before parents: row ``r`` describes node ``n + r``, and both
       of its children have smaller numbers.
    4. In a row, the first child holds the point that arrived first.
    5. ``monotone_heights`` is the running maximum of ``heights`` over children, and
       rows are sorted by it, then by size, then by earliest point.
    6. ``sizes`` and ``parents`` agree with ``children``.

    Parameters
    ----------
    children : array of shape (n - 1, 2)
        The two nodes that each merge joined. The constructor refuses arrays that
        break 2 or 3, so that no method can step outside the tree.
    heights : array of shape (n - 1,)
        Linkage of each merge. An online tree may hold inversions: a merge that is
        lower than one below it.
    node_ids : array of shape (n - 1,), optional
        Ids of the inner nodes that survive later inserts, unlike their numbers
        ``n .. 2n-2``. By default the numbers themselves.
    names : sequence of str or of int, one for each point, optional
        What the points are called, by place. All of one kind, no two alike.
    point_numbers : array of shape (n,), optional
        By place, the arrival number of each leaf's point, or of its earliest one: what a
        model calls it. Ascending, unless there are other ``leaf_numbers``. By default
        0, 1, 2, ..., as where no point has left.
    leaf_numbers : array of shape (n,), optional
        By place, ascending: the number of the point that each leaf began with, by default
        ``point_numbers``. The two differ where leaves stand for several points and the first
        of one has left: the leaf keeps its id, -1 - that number, and its place, and
        ``point_numbers`` has the earliest point that is still in it.
    leaf_weights : array of shape (n,), optional
        How many points each leaf stands for, above 0. By default 1.

    Attributes
    ----------
    names : array of shape (n,), or None
        The names, read-only: int64, or ``str`` objects. They play no part in ``==``.
    node_names : mapping of int to str
        What people call inner nodes, by node id: see :meth:`with_node_names`.
    monotone_heights : array of shape (n - 1,)
        ``heights`` made non-decreasing towards the root; cuts use these.
    sizes : array of shape (2n - 1,)
        Number of leaves below each node.
    weights : array of shape (2n - 1,)
        Number of points that they stand for: ``sizes``, unless leaves have weights.
    parents : array of shape (2n - 1,)
        Parent of each node, -1 for the root.

    Examples
    --------
    >>> import ramify
    >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
    >>> tree
    <Hierarchy: 3 points, root height 20.5, split 2 | 1>
    >>> tree.children
    array([[0, 1],
           [3, 2]])
    >>> tree.cut(n_clusters=2)
    array([0, 0, 1])
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        from ramify.notebook import tree_html  # which looks at trees itself

        return tree_html(self)
