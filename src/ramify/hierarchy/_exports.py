# SPDX-License-Identifier: BSD-3-Clause
"""_exports.py: a tree in the forms that other tools read."""

from collections.abc import Sequence
from os import PathLike
from typing import IO, TYPE_CHECKING, Any

from ramify.hierarchy._graphml import write_graphml
from ramify.hierarchy._names import Names, read_names
from ramify.hierarchy._newick import newick
from ramify.hierarchy._tables import arrow_table, networkx_graph, pandas_frame
from ramify.hierarchy._top import dot, nested
from ramify.hierarchy._tree import Tree

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import pyarrow as pa


class Exports(Tree):
    """Newick, graphs, tables, JSON."""

    __slots__ = ()

    def to_newick(
        self,
        names: Names | None = None,
        *,
        lengths: bool = True,
        node_names: bool | Sequence[str] = False,
    ) -> str:
        """The tree as one line of Newick, for phylogenetic tools. O(n log n), also on a chain.

        The length of a branch is the height of its upper end minus that of its lower
        end, in ``monotone_heights``; it is not halved, so the way from one leaf to
        another is twice as long as the height at which they meet. Leaves are at
        height 0, or at the lowest merge if that is negative, as under the dot metric.

        Names are quoted where they hold anything but letters, digits, ``.``, ``+``
        and ``-``.

        Parameters
        ----------
        names : sequence of str or of int, one for each point, optional
            By default the tree's own names, or else the points' numbers.
        lengths : bool
            Write the lengths of branches.
        node_names : bool or sequence of str
            Name the inner nodes too: True for ``node7`` and the like, after their
            numbers, or one text for each of the nodes ``n .. 2n-2``. Nodes that people
            have named (``tree.node_names``) have that name, unless texts are given.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> tree.to_newick()
        '((0:1.0,1:1.0):19.5,2:20.5);'
        >>> tree.to_newick(["ash", "elm", "red oak"], lengths=False, node_names=True)
        "((ash,elm)node3,'red oak')node4;"
        """
        n = self.n_leaves
        points = self._called() if names is None else read_names(names, n)
        labels: list[str | None] = [str(i) for i in (range(n) if points is None else points)]
        return newick(self, labels + self._inner_labels(node_names), lengths=lengths)

    def _inner_labels(self, node_names: bool | Sequence[str]) -> list[str | None]:
        inner = range(self.n_leaves, self.n_nodes)
        if isinstance(node_names, bool):
            known = self._named_nodes()
            return [known.get(v, f"node{v}" if node_names else None) for v in inner]
        given = list(node_names)
        if len(given) != len(inner) or isinstance(node_names, str):
            raise ValueError(
                f"node_names: expected True, False or {len(inner)} texts, one for each inner "
                f"node, got {len(given)}"
            )
        return [str(name) for name in given]

    def to_networkx(self) -> "nx.DiGraph[int]":
        """The tree as a networkx ``DiGraph``, edges from the root towards the leaves.

        Nodes have ``height`` (monotone), ``size``, ``is_leaf`` and, where points have
        names, leaves a ``name``; inner nodes that have a name, a ``node_name``; edges have a
        ``length``, as in :meth:`to_newick`.
        Needs the extra ``export``. A graph takes a kilobyte and more for each point.

        Examples
        --------
        >>> import ramify
        >>> graph = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().to_networkx()
        >>> list(graph.edges)
        [(4, 3), (4, 2), (3, 0), (3, 1)]
        >>> graph.nodes[3]
        {'height': 1.0, 'size': 2, 'is_leaf': False}
        """
        return networkx_graph(self)

    def to_graphml(self, path: str | PathLike[str] | IO[bytes]) -> None:
        """Write the graph of :meth:`to_networkx` as GraphML, for Gephi, yEd or Cytoscape.

        O(n), in little memory; networkx is not needed. A file is written whole or not
        at all.

        Examples
        --------
        >>> import io, ramify
        >>> file = io.BytesIO()
        >>> ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().to_graphml(file)
        >>> file.getvalue().count(b"<node ")
        5
        """
        write_graphml(self, path)

    def to_arrow(self) -> "pa.Table":
        """The tree as an Arrow table, a row for each node: 0 to 2n - 2, leaves first.

        Columns ``node``, ``parent`` (null for the root), ``height`` (monotone; for
        leaves see :meth:`to_newick`), ``size``, ``is_leaf`` and, where points have
        names, ``name`` (null for inner nodes), and where inner nodes have some,
        ``node_name``. Needs the extra ``export``.

        Examples
        --------
        >>> import ramify
        >>> table = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy().to_arrow()
        >>> table.column_names
        ['node', 'parent', 'height', 'size', 'is_leaf']
        >>> table["parent"].to_pylist()
        [3, 3, 4, 4, None]
        """
        return arrow_table(self)

    def to_pandas(self) -> "pd.DataFrame":
        """The table of :meth:`to_arrow` as a pandas frame. Needs the extra ``export``.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> print(tree.to_pandas().to_string(index=False))
         node  parent  height  size  is_leaf
            0       3     0.0     1     True
            1       3     0.0     1     True
            2       4     0.0     1     True
            3       4     1.0     2    False
            4    <NA>    20.5     3    False
        """
        return pandas_frame(self)

    def to_dict(self, *, max_depth: int | None = 10) -> dict[str, Any]:
        """The top of the tree as nested dicts of plain values, for JSON.

        Every node has ``node`` and ``size``; inner ones have ``height`` (monotone)
        and ``children``, leaves a ``name`` where points have names, inner nodes where they
        have one of their own. An inner node at
        the deepest level is without ``children``: its ``size`` says how many points
        there are below.

        Parameters
        ----------
        max_depth : int or None
            How many steps below the root to go; None for all of them. Beware: the
            ``json`` of Python gives up at a depth of some hundreds.

        Examples
        --------
        >>> import json, ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> print(json.dumps(tree.to_dict(max_depth=1), indent=1))
        {
         "node": 4,
         "height": 20.5,
         "size": 3,
         "children": [
          {
           "node": 3,
           "height": 1.0,
           "size": 2
          },
          {
           "node": 2,
           "size": 1
          }
         ]
        }
        """
        return nested(self, max_depth)

    def to_dot(self, *, max_depth: int | None = 10) -> str:
        """The top of the tree in the language of Graphviz.

        Parameters
        ----------
        max_depth : int or None
            How many steps below the root to go; None for all of them.

        Examples
        --------
        >>> import ramify
        >>> tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
        >>> print(tree.to_dot(max_depth=1))
        digraph {
          node [shape=box];
          4 [label="3 points\\nheight 20.5"];
          4 -> 3;
          4 -> 2;
          3 [label="2 points\\nheight 1"];
          2 [label="2"];
        }
        <BLANKLINE>
        """
        return dot(self, max_depth)
