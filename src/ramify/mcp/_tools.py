# SPDX-License-Identifier: BSD-3-Clause
"""_tools.py: what agents can ask of a tree: topics, what is in them, where things are, what is new.

Answers are plain values that fit a conversation: texts are shortened, lists end. A topic is a node
of the tree, by its id, which stays while the node is there; a point is known by its id, or by its
number if points have no ids. Shapes of answers come from a snapshot that is kept for its version.

The descriptions of the tools are the docstrings here: they are written for whoever calls.
"""

import threading
from typing import Any

import numpy as np

from ramify.checks import whole_number
from ramify.hierarchy import Hierarchy
from ramify.mcp._summaries import Kept
from ramify.wording import words_of

_LETTERS = 300  # of a text
_PARTS = 8  # of a topic that is opened
_FEW = 20  # points of a list


class Taxonomy:
    """A tree in a folder or of a server, as an agent sees it.

    Parameters
    ----------
    tree : folder or client's tree
        Of ``ramify.open(...)`` or ``Client.tree(...)``.

    Examples
    --------
    >>> import tempfile, ramify
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC(history=9)) as tree:
    ...     texts = ["no sound", "sound is off", "a refund"]
    ...     _ = tree.add([[0.0], [1.0], [9.0]], ids=["a", "b", "c"], payloads=texts)
    ...     told = Taxonomy(tree).topics(2)
    >>> [(topic["node"], topic["size"], topic["keywords"][0]) for topic in told["topics"]]
    [(0, 2, 'sound'), (-3, 1, 'refund')]
    """

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._lock = threading.Lock()
        self._kept: tuple[int, Hierarchy] | None = None
        self.kept = Kept.beside(tree)  #: summaries, if a program keeps any

    # --- the tools ------------------------------------------------------------------------------

    def topics(self, level: int = 20) -> dict[str, Any]:
        """The main topics of this collection, the largest first.

        `level` is how many: 5 for a rough idea, 200 for details. Each topic has a node, which
        `open` takes, a size in points, keywords, some of its points as examples, and a name if
        people gave it one.
        """
        still = self._still()
        k = min(whole_number("level", level), len(still))
        for _ in range(3):  # keywords and clusters must be of one version
            version = self._tree.version
            found = list(self._tree.clusters(n_clusters=k))
            shown = [[int(one) for one in cluster.representatives] for cluster in found]
            words = self._keywords(n_clusters=k)
            if self._tree.version == version:
                break
        known = self._points([one for some in shown for one in some])
        told = [
            {
                "node": cluster.node_id,
                "name": cluster.name,
                "size": cluster.size,
                "keywords": said,
                "examples": [known[one] for one in some],
            }
            for cluster, said, some in zip(found, words, shown, strict=True)
        ]
        told.sort(key=lambda one: (-one["size"], one["node"]))
        return {"version": version, "points": len(still), "topics": told}

    def open(self, node: int) -> dict[str, Any]:
        """What is in a topic: its parts, and the way to it from the top.

        `node` is that of a topic, of a part, or of a step of a path. Parts with a size above 1 can
        be opened in turn; where there are few points, the parts are the points themselves.
        """
        still = self._still()
        place = _place(still, node)
        parts = [place]
        while len(parts) < _PARTS:
            inner = [one for one in parts if one >= len(still)]
            if not inner:
                break
            most = max(inner, key=lambda one: still.monotone_heights[one - len(still)])
            at = parts.index(most)
            parts[at : at + 1] = still.children[most - len(still)].tolist()
        names = self._names()
        shown = [_some_leaves(still, one, 3) for one in parts]
        known = self._points([int(still.point_numbers[one]) for some in shown for one in some])
        return {
            **_facts(still, place, names),
            **({} if self.kept is None else {"summary": self.kept.of(node)}),
            "path": [_facts(still, one, names) for one in _way(still, place)[:-1]],
            "parts": [
                {
                    **_facts(still, one, names),
                    "examples": [known[int(still.point_numbers[leaf])] for leaf in some],
                }
                for one, some in zip(parts, shown, strict=True)
            ],
        }

    def search(self, text: str, limit: int = 10) -> dict[str, Any]:
        """Points whose text has these words, the best first, each with the topics that hold it."""
        hits = list(self._tree.search(text, limit=min(whole_number("limit", limit), 100)))
        return {"hits": self._located([int(hit.number) for hit in hits])}

    def where(
        self, text: str | None = None, vector: list[float] | None = None, limit: int = 3
    ) -> dict[str, Any]:
        """Where something belongs: the points most like it, and the topics that hold these.

        Give a `vector` if you have the embedding (of the same model as the collection's); with a
        `text` the points that share its rarest words are found.
        """
        if (text is None) == (vector is None):
            raise ValueError("give text or vector, one of the two")
        most = min(whole_number("limit", limit), _FEW)
        if vector is not None:
            row = np.asarray(vector, np.float64)[np.newaxis]
            numbers, distances = self._tree.nearest(row, k=min(most, self._tree.n_points_))
            told = self._located(np.asarray(numbers)[0].tolist())
            apart = dict(zip(np.asarray(numbers)[0].tolist(), distances[0].tolist(), strict=True))
            return {"nearest": [{**one, "distance": apart[one["number"]]} for one in told]}
        return {"nearest": self._located(self._alike(str(text), most))}

    def changed_since(self, version: int, level: int = 20) -> dict[str, Any]:
        """What is new since a version: points that came and went, and topics that are not the same.

        Answers of `topics` have the version. Ask for version 0 to learn the present one. A changed
        topic, of so many as `level` says, has other points than any of then.
        """
        told = self._tree.past.changes(since=whole_number("version", version, least=0))
        came, gone = np.asarray(told.inserted), np.asarray(told.forgotten)
        still, changed = self._still(), []
        if len(came) or len(gone):
            k = min(whole_number("level", level), len(still))
            found = self._tree.past.dirty(version, n_clusters=k)
            changed = [one for one in np.asarray(found[1]).tolist() if _is_there(still, one)]
        known, names = self._points(came[-_FEW:].tolist()), self._names()
        return {
            "version": told.version,
            "inserted": len(came),
            "forgotten": len(gone),
            "latest": list(known.values())[::-1],
            "changed_topics": [_facts(still, _place(still, one), names) for one in changed],
        }

    def summaries(self, level: float | None = None, limit: int = 20) -> dict[str, Any]:
        """Texts about the topics of a level: what each of them says as a whole.

        `levels` of the answer has the sizes that there are texts for: at level 100 each is about
        100 points or fewer. Without `level` the largest is told. A text is null while it is being
        made anew.
        """
        if self.kept is None:
            raise LookupError("nobody keeps summaries of this collection")
        return self.kept.told(level, min(whole_number("limit", limit), 200))

    def rename(self, node: int, text: str) -> dict[str, Any]:
        """Give a topic a name, which stays with its points as the collection grows.

        An empty text takes the name away.
        """
        place = _place(self._still(), node)
        self._tree.edit.rename(node, text)
        return {**_facts(self._still(), place, {}), "name": text or None}

    # --- how they find it -------------------------------------------------------------------------

    def _still(self) -> Hierarchy:
        """The tree as it is, frozen; the same one as long as it is the same."""
        with self._lock:
            version = self._tree.version
            if not version or not self._tree.n_points_:
                raise ValueError("this tree is empty: nothing has been inserted yet")
            if self._kept is None or self._kept[0] != version:
                self._kept = version, self._tree.hierarchy()
            return self._kept[1]

    def _keywords(self, **cut: int) -> list[list[str]]:
        return list(self._tree.keywords(6, stop_words="english", **cut))

    def _names(self) -> dict[int, str]:
        names: dict[int, str] = self._tree.edit.list().names
        return names

    def _points(self, numbers: list[int]) -> dict[int, dict[str, Any]]:
        """Points as they are shown, by number; those that have left meanwhile by number only."""
        still = self._still()
        places = dict(zip(still.point_numbers.tolist(), range(len(still)), strict=True))
        names = still.names
        called = {
            one: one if names is None or one not in places else names[places[one]]
            for one in numbers
        }
        texts = self._tree.payloads(numbers) if numbers else {}
        return {
            number: {"point": _plain(name), "number": number, "text": _short(texts.get(number))}
            for number, name in called.items()
        }

    def _located(self, numbers: list[int]) -> list[dict[str, Any]]:
        still, names, known = self._still(), self._names(), self._points(numbers)
        there = dict(zip(still.point_numbers.tolist(), range(len(still)), strict=True))
        return [
            {
                **known[one],
                "topics": [
                    _facts(still, step, names) for step in _thin(still, _way(still, there[one]))
                ],
            }
            for one in numbers
            if one in there
        ]

    def _alike(self, text: str, most: int) -> list[int]:
        """Points that share words with a text: all of them, or else the rarest."""
        words = list(dict.fromkeys(words_of(text).split()))[:30]
        found = [int(hit.number) for hit in self._tree.search(text, limit=most)]
        if found:
            return found
        weight: dict[int, float] = {}
        for word in words:
            hits = [int(hit.number) for hit in self._tree.search(word, limit=200)]
            for one in hits:
                weight[one] = weight.get(one, 0.0) + 1.0 / len(hits)
        return sorted(weight, key=lambda one: (-weight[one], one))[:most]


def _place(still: Hierarchy, node: int) -> int:
    """Where a node is in a snapshot, by its public id."""
    table, wanted = (still.leaf_numbers, -1 - node) if node < 0 else (still.node_ids, node)
    at = np.flatnonzero(table == wanted)
    if len(at) == 0:
        raise LookupError(f"there is no topic {node} any more, or never was; ask for topics")
    return int(at[0]) + (0 if node < 0 else len(still))


def _is_there(still: Hierarchy, node: int) -> bool:
    return bool(np.isin(-1 - node, still.leaf_numbers) or np.isin(node, still.node_ids))


def _facts(still: Hierarchy, place: int, names: dict[int, str]) -> dict[str, Any]:
    n = len(still)
    node = int(-1 - still.leaf_numbers[place] if place < n else still.node_ids[place - n])
    return {"node": node, "name": names.get(node), "size": still.weights[place].item()}


def _way(still: Hierarchy, place: int) -> list[int]:
    """Places from the root to a node, itself included."""
    way = [place]
    while (above := int(still.parents[way[-1]])) >= 0:
        way.append(above)
    return way[::-1]


def _thin(still: Hierarchy, way: list[int]) -> list[int]:
    """The steps of a path at which it has become much smaller: at most one for each halving."""
    kept: list[int] = []
    for place in way[:-1]:
        if not kept or still.weights[place] <= still.weights[kept[-1]] / 2:
            kept.append(place)
    return kept


def _some_leaves(still: Hierarchy, place: int, most: int) -> list[int]:
    """Some leaves below a node, spread over it."""
    leaves = still.leaves(place)
    return [int(leaves[at]) for at in np.unique(np.linspace(0, len(leaves) - 1, most).astype(int))]


def _short(payload: Any) -> str | None:
    if payload is None:
        return None
    text = words_of(payload)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _plain(name: Any) -> Any:
    return name if isinstance(name, str) else int(name)
