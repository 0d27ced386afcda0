# SPDX-License-Identifier: BSD-3-Clause
"""_graphml.py: a tree as GraphML, written as it goes.

networkx writes GraphML too, but from a graph that takes gigabytes for what is
megabytes here, and many times as long.
"""

import re
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from typing import IO
from xml.sax.saxutils import escape

import numpy as np

from ramify.hierarchy._tree import Tree
from ramify.writing import whole_file

_HEAD = """\
<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="height" for="node" attr.name="height" attr.type="double"/>
<key id="size" for="node" attr.name="size" attr.type="{size}"/>
<key id="is_leaf" for="node" attr.name="is_leaf" attr.type="boolean"/>
<key id="name" for="node" attr.name="name" attr.type="{kind}"/>
<key id="node_name" for="node" attr.name="node_name" attr.type="string"/>
<key id="length" for="edge" attr.name="length" attr.type="double"/>
<graph edgedefault="directed">
"""

# What XML 1.0 cannot hold, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ROWS = 10_000  # that are turned into text at once


def write_graphml(tree: Tree, path: str | PathLike[str] | IO[bytes]) -> None:
    """See :meth:`ramify.Hierarchy.to_graphml`. O(n)."""
    if not isinstance(path, str | PathLike):
        _write(tree, path)
        return
    with whole_file(path) as lent, lent.open("wb") as file:
        _write(tree, file)


def _write(tree: Tree, file: IO[bytes]) -> None:
    # Both refuse some, before anything is written.
    names = dict(enumerate(_name_elements(tree)))
    names |= {v: _element("node_name", text) for v, text in tree._named_nodes().items()}
    called = tree._called()
    of_int = called is not None and called.dtype == np.int64
    size = "long" if tree.weights.dtype == np.int64 else "double"
    file.write(_HEAD.format(kind="long" if of_int else "string", size=size).encode())
    for text in chain(_nodes(tree, names), _edges(tree)):
        file.write(text.encode())
    file.write(b"</graph>\n</graphml>\n")


def _name_elements(tree: Tree) -> list[str]:
    if (names := tree._called()) is None:
        return [""] * tree.n_leaves
    return [_element("name", str(name)) for name in names]


def _element(key: str, text: str) -> str:
    if _NOT_XML.search(text):
        raise ValueError(f"the name {text!r} holds a character that XML cannot; rename it")
    # A reader would take a bare carriage return for a line feed.
    return f'<data key="{key}">{escape(text, {chr(13): "&#13;"})}</data>'


def _nodes(tree: Tree, names: dict[int, str]) -> Iterator[str]:
    """The root first."""
    height, weights = tree._node_heights(), tree.weights
    for stop in range(tree.n_nodes, 0, -_ROWS):
        nodes = range(max(stop - _ROWS, 0), stop)
        part = slice(nodes.start, stop)
        facts = zip(nodes, height[part].tolist(), weights[part].tolist(), strict=True)
        lines = [
            f'<node id="{v}"><data key="height">{h!r}</data><data key="size">{size}</data>'
            f'<data key="is_leaf">{"true" if v < tree.n_leaves else "false"}</data>'
            f"{names.get(v, '')}</node>\n"
            for v, h, size in facts
        ]
        yield "".join(reversed(lines))


def _edges(tree: Tree) -> Iterator[str]:
    """Of two children the first first."""
    height = tree._node_heights()
    lower = tree.children[::-1].ravel()
    for start in range(0, len(lower), _ROWS):
        v = lower[start : start + _ROWS]
        above = tree.parents[v]
        lengths = height[above] - height[v]
        facts = zip(above.tolist(), v.tolist(), lengths.tolist(), strict=True)
        yield "".join(
            f'<edge source="{a}" target="{b}"><data key="length">{length!r}</data></edge>\n'
            for a, b, length in facts
        )
