# SPDX-License-Identifier: BSD-3-Clause
"""_top.py: the top of a tree, for JSON and for Graphviz: small enough to look at."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ramify import _core
from ramify.checks import whole_number
from ramify.hierarchy._tree import Tree


def nested(tree: Tree, max_depth: int | None) -> dict[str, Any]:
    """See :meth:`ramify.Hierarchy.to_dict`."""
    made: dict[int, dict[str, Any]] = {}
    for facts, children in top(tree, max_depth):  # children first, so nothing recurses
        made[facts["node"]] = facts
        if children:
            facts["children"] = [made.pop(child) for child in children]
    return made[tree.root]


def dot(tree: Tree, max_depth: int | None) -> str:
    """See :meth:`ramify.Hierarchy.to_dot`."""
    lines = []
    for facts, children in top(tree, max_depth):
        v = facts["node"]
        lines += [f"  {v} -> {child};" for child in reversed(children)]
        lines.append(f'  {v} [label="{_label(facts)}"];')
    lines += ["  node [shape=box];", "digraph {"]
    return "\n".join([*reversed(lines), "}", ""])


def top(tree: Tree, max_depth: int | None) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """The nodes down to a depth, children first: what is said of each, and which of its
    children are among them."""
    deepest = tree.n_leaves  # no path is as long as that
    if max_depth is not None:
        why, kind = "the root alone", "an int or None"
        deepest = whole_number("max_depth", max_depth, least=0, why=why, kind=kind)
    depth = _core.depths(tree.children)
    shown = np.flatnonzero(depth <= deepest)
    is_leaf = shown < tree.n_leaves
    weights, names = tree.weights, tree._called()
    for v in shown[is_leaf].tolist():
        name = {} if names is None else {"name": names.item(v)}
        yield {"node": v, "size": weights.item(v), **name}, []
    inner = shown[~is_leaf]
    rows = inner - tree.n_leaves
    opened = (depth[inner] < deepest).tolist()
    known = tree._named_nodes()
    facts = (inner, tree.monotone_heights[rows], weights[inner], tree.children[rows])
    for v, height, size, pair, is_open in zip(*map(np.ndarray.tolist, facts), opened, strict=True):
        called = {"name": known[v]} if v in known else {}
        yield {"node": v, "height": height, "size": size, **called}, pair if is_open else []


def _label(facts: dict[str, Any]) -> str:
    if "height" not in facts:  # a leaf
        return _escaped(str(facts.get("name", facts["node"])))
    called = f"{_escaped(facts['name'])}\\n" if "name" in facts else ""
    return f"{called}{facts['size']:,} points\\nheight {facts['height']:.6g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
