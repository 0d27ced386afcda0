# SPDX-License-Identifier: BSD-3-Clause
"""_newick.py: a tree as one line of Newick, which phylogenetic tools read.

From left to right the text is one piece for each leaf and one for each inner
node: a leaf opens the brackets of all nodes that begin with it, and a node's
piece closes its bracket after its last leaf. So the pieces need sorting, not
walking, and a chain of a million leaves is no harder than a bush.
"""

import re
from collections.abc import Iterable

import numpy as np

from ramify.hierarchy._tree import Tree

# Everything else is quoted, also "_": unquoted, readers turn it into a blank.
_PLAIN = re.compile(r"(?:[^\W_]|[.+-])+")


def newick(tree: Tree, labels: Iterable[str | None], *, lengths: bool) -> str:
    """The text for a tree whose nodes, leaves first, have these labels. O(n log n)."""
    n = tree.n_leaves
    texts = ["" if label is None else quoted(label) for label in labels]
    if lengths:
        height = tree._node_heights()
        branches = height[tree.parents[:-1]] - height[:-1]
        texts[:-1] = [f"{text}:{b!r}" for text, b in zip(texts, branches.tolist(), strict=False)]
    leaves, start = tree._leaf_ordering()
    opened = np.bincount(start[n:], minlength=n).tolist()
    pieces = [f",{'(' * k}{texts[v]}" for k, v in zip(opened, leaves.tolist(), strict=True)]
    pieces += [f"){text}" for text in texts[n:]]
    # Nodes that end with the same leaf are nested, and inner ones have smaller numbers.
    last_leaf = np.concatenate([np.arange(n), (start + tree.sizes - 1)[n:]])
    order = np.argsort(last_leaf, kind="stable").tolist()
    return "".join([pieces[i] for i in order])[1:] + ";"


def quoted(label: str) -> str:
    """A label as Newick wants it.

    Examples
    --------
    >>> quoted("oak"), quoted("red oak"), quoted("Brewer's")
    ('oak', "'red oak'", "'Brewer''s'")
    """
    return label if _PLAIN.fullmatch(label) else "'" + label.replace("'", "''") + "'"
