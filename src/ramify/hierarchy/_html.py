# SPDX-License-Identifier: BSD-3-Clause
"""_html.py: how clusters show themselves in a notebook: a table, of what is known anyway.

Names, texts and words come from strangers: they enter as text only, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.hierarchy._cluster import Cluster
    from ramify.hierarchy._clusters import Clusters

_MOST = 25  # clusters of a table
_LISTED = 8  # sizes of a level


def clusters_html(clusters: Clusters) -> str:
    """A table of clusters: the first ones, if there are many.

    Examples
    --------
    >>> import ramify
    >>> html = clusters_html(ramify.HAC().fit([[0.0], [9.0], [1.0]]).clusters(n_clusters=2))
    >>> html.count("<tr>"), "<td>2</td>" in html
    (3, True)
    """
    shown = clusters[:_MOST]
    columns: dict[str, list[Any]] = {"label": [one.label for one in shown]}
    if clusters.names is not None:
        columns["name"] = [one.name or "" for one in shown]
    columns["points"] = [f"{one.size:,}" for one in shown]
    columns["height"] = [f"{one.height:.4g}" for one in shown]
    if clusters.parents is not None:
        columns["parent"] = [one.parent for one in shown]
    ground = clusters._seen
    if ground is not None and ground.texts is not None:
        columns["about"] = [" ".join(one.keywords or []) for one in shown]
    elif ground is not None and ground.rows is not None:
        columns["such as"] = [_listed(one) for one in shown]
    rest = len(clusters) - len(shown)
    more = f"<p>and {rest:,} more</p>" if rest else ""
    return _table(list(columns), zip(*columns.values(), strict=True)) + more


def _listed(cluster: Cluster) -> str:
    return ", ".join(map(str, cluster.representative_names))


def levels_html(levels: Sequence[Clusters]) -> str:
    """A table of levels: how many clusters each has, and how large the largest are.

    Examples
    --------
    >>> import ramify
    >>> levels = ramify.HAC().fit([[0.0], [9.0], [1.0]]).levels(1, 2)
    >>> "<td>2 + 1</td>" in levels_html(levels)
    True
    """
    rows = []
    for place, level in enumerate(levels):
        sizes = sorted(level.sizes.tolist(), reverse=True)
        listed = " + ".join(f"{size:,}" for size in sizes[:_LISTED])
        rows.append([place, f"{len(level):,}", listed + (" + …" if len(sizes) > _LISTED else "")])
    return _table(["level", "clusters", "points"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
