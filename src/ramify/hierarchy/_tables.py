# SPDX-License-Identifier: BSD-3-Clause
"""_tables.py: a tree as a table of nodes and as a graph, for libraries that are optional.

node      0 .. 2n-2, leaves first       size      points below it
parent    nothing for the root          is_leaf   whether it is a point
height    monotone                      name      of the point, if points have names, or
                                                  its number, if some have left
                                        node_name of an inner node, if any has one
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ramify.hierarchy._tree import Tree

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import pyarrow as pa


def optional(module: str, who: str) -> Any:
    """Import a library that one can do without; say which extra brings it.

    Examples
    --------
    >>> optional("math", "to_pandas").pi > 3
    True
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{who} needs {module}, which is not installed: pip install "ramify[export]"'
        ) from error


def columns(tree: Tree) -> dict[str, Any]:
    """The plain columns: all but ``parent`` and ``name``, which have gaps."""
    nodes = np.arange(tree.n_nodes)
    return {
        "node": nodes,
        "height": tree._node_heights(),
        "size": tree.weights,
        "is_leaf": nodes < tree.n_leaves,
    }


def arrow_table(tree: Tree) -> "pa.Table":
    """See :meth:`ramify.Hierarchy.to_arrow`."""
    pa = optional("pyarrow", "to_arrow")
    plain = columns(tree)
    parent = pa.array(tree.parents, mask=tree.parents < 0)
    table = {"node": plain.pop("node"), "parent": parent, **plain}
    if (names := tree._called()) is not None:
        kind = pa.string() if names.dtype == object else pa.int64()
        table["name"] = pa.array(_with_gaps(names), type=kind)
    if known := tree._named_nodes():
        table["node_name"] = pa.array(_of_nodes(tree, known), type=pa.string())
    return pa.table(table)


def pandas_frame(tree: Tree) -> "pd.DataFrame":
    """See :meth:`ramify.Hierarchy.to_pandas`."""
    pd = optional("pandas", "to_pandas")
    plain = columns(tree)
    parent = pd.arrays.IntegerArray(tree.parents.copy(), tree.parents < 0)
    table = {"node": plain.pop("node"), "parent": parent, **plain}
    if (names := tree._called()) is not None:
        kind = None if names.dtype == object else "Int64"
        table["name"] = pd.Series(_with_gaps(names), dtype=kind)
    if known := tree._named_nodes():
        table["node_name"] = pd.Series(_of_nodes(tree, known), dtype=object)
    return pd.DataFrame(table)


def _of_nodes(tree: Tree, known: dict[int, str]) -> list[str | None]:
    """Names of inner nodes, for all nodes."""
    return [known.get(v) for v in range(tree.n_nodes)]


def _with_gaps(names: Any) -> list[Any]:
    """Names of all nodes: inner ones have none."""
    return [*names.tolist(), *[None] * (len(names) - 1)]


def networkx_graph(tree: Tree) -> "nx.DiGraph[int]":
    """See :meth:`ramify.Hierarchy.to_networkx`."""
    graph = optional("networkx", "to_networkx").DiGraph()
    height, plain = tree._node_heights(), columns(tree)
    # The root first, and of two children the first first.
    facts = (plain[name][::-1].tolist() for name in ("node", "height", "size", "is_leaf"))
    graph.add_nodes_from(
        (v, {"height": h, "size": size, "is_leaf": is_leaf})
        for v, h, size, is_leaf in zip(*facts, strict=True)
    )
    if (names := tree._called()) is not None:
        for v, name in enumerate(names.tolist()):
            graph.nodes[v]["name"] = name
    for v, text in tree._named_nodes().items():
        graph.nodes[v]["node_name"] = text
    lower = tree.children[::-1].ravel()
    upper = tree.parents[lower]
    edges = zip(
        upper.tolist(), lower.tolist(), (height[upper] - height[lower]).tolist(), strict=True
    )
    graph.add_edges_from((v, child, {"length": length}) for v, child, length in edges)
    return graph
