# SPDX-License-Identifier: BSD-3-Clause
"""_contents.py: what points say: their texts, and the numbers that tell texts apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from ramify.ids import Id

#: What ``texts=`` takes: a list, of which entry ``number`` is the text of the point of that number;
#: a mapping by id (by number, where points have none); or a function that is given a list of such
#: names and answers with as many texts.
Texts = Callable[[list[Any]], Sequence[Any]] | Any


class Contents:
    """The texts of a tree's points, wherever they are.

    Examples
    --------
    >>> said = Contents({"a": "red apple", "b": "red apple", "c": "train"}, None)
    >>> a, b, c = said.numbers([0, 1, 2], ["a", "b", "c"], [1, 1, 1])
    >>> a == b, a == c, said.texts([2, 0], ["c", "a"])
    (True, False, ['train', 'red apple'])
    """

    def __init__(self, texts: Any, tree: Any) -> None:
        if isinstance(texts, str | bytes):
            raise TypeError("texts: expected a text for each point, got one text")
        self._texts: Any = texts
        keeps = isinstance(texts, Sequence | Mapping) or callable(texts)
        if not keeps and hasattr(texts, "__array__"):  # a column, whose index says nothing
            self._texts = list(self._texts)
        self._payloads = getattr(tree, "payloads", None) if texts is None else None

    def texts(self, points: list[int], names: list[Any]) -> list[Any]:
        """The texts of points, by number and name; None for those that have none."""
        if self._payloads is not None:  # for which a whole number is never an id
            found = self._payloads(points) if points else {}
            return [found.get(point) for point in points]
        if self._texts is None:
            return [None] * len(names)
        if not callable(self._texts):
            return [self._text(point, name) for point, name in zip(points, names, strict=True)]
        told = list(self._texts(names))
        if len(told) != len(names):
            raise ValueError(
                f"texts: expected a text for each of the {len(names)} points asked about, got "
                f"{len(told)}"
            )
        return told

    def _text(self, point: int, name: Any) -> Any:
        try:
            return self._texts[point if isinstance(self._texts, Sequence) else name]
        except LookupError as error:
            raise type(error)(
                f"texts: there is none for the point {name!r}; expected a text for each that ever "
                f"came, by number in a list and by id in a mapping"
            ) from None

    def numbers(self, points: list[int], ids: list[Id] | None, weights: list[float]) -> list[int]:
        """The contents of leaves, by their earliest points.

        A text is its own content, wherever it stands; a point without a text is known by its name.
        """
        names: list[Any] = points if ids is None else ids
        pairs = zip(names, self.texts(points, names), weights, strict=True)
        return [number_of(name, text, weight) for name, text, weight in pairs]


def number_of(name: Id, text: Any, weight: float) -> int:
    """The content of one leaf: 256 bits."""
    said = ["name", name] if text is None else ["text", text]
    if weight != 1:
        said.append(weight)
    plain = json.dumps(said, sort_keys=True, ensure_ascii=False, default=str)
    found = blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    return int.from_bytes(found, "little")
