# SPDX-License-Identifier: BSD-3-Clause
"""_reading.py: what a tree in a folder can be asked: the estimator's own answers, and payloads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from operator import index
from typing import Any

import numpy.typing as npt

from ramify.estimators.seam import WayOfLive
from ramify.estimators.stream import Stream
from ramify.hierarchy import Hierarchy, IntArray, StopWords
from ramify.ids import Id
from ramify.journal import _model
from ramify.journal._payloads import Hit, PayloadReader
from ramify.journal._resolving import Resolver
from ramify.wording import LiveKeywords

#: What a model can be asked, and what asking does not change.
_READS = frozenset(
    (
        *("assign", "check", "children_", "cluster_of", "clusters", "cut"),
        *("distances_", "get_params", "history", "ids_"),
        *("labels_", "lca", "layers", "leaves", "levels"),
        *("metric", "n_clusters_", "n_features_in_", "n_leaves_", "past"),
        *("n_points_", "n_skipped_", "nearest", "number_of", "path", "path_code", "point_numbers_"),
        *("points", "predict", "version"),
    )
)

#: Those that are asked about rows.
_OF_ROWS = frozenset(("assign", "nearest", "predict"))


class Reading(ABC):
    """A tree that answers, and waits for no writer."""

    model: Any
    _payloads: PayloadReader
    _live_keywords: LiveKeywords
    _resolver: Resolver

    @abstractmethod
    def between(self, work: Callable[[], Any]) -> Any:
        """Have something done between two changes of the tree."""

    def __getattr__(self, name: str) -> Any:
        if name in _READS:
            found = getattr(self.model, name)
            return self._of_rows(found) if name in _OF_ROWS else found
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _of_rows(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """A question about rows; names of columns are the journal's affair, not the model's."""

        @wraps(ask)
        def asked(X: Any = None, **options: Any) -> Any:
            return ask(None if X is None else self._resolver.check_rows(X), **options)

        return asked

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in _READS if hasattr(self, name))})

    def __len__(self) -> int:
        return len(self.model)

    def __bool__(self) -> bool:
        return True

    @property
    def stream(self) -> Stream:
        """The points as rooms above know them, from before the first of them on."""
        return Stream(self.model)

    def hierarchy(self) -> Hierarchy:
        """Frozen snapshot of the tree, as the estimator's.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     tree.partial_fit([[0.0], [1.0], [5.0]]).hierarchy()
        <Hierarchy: 3 points, root height 20.5, split 2 | 1>
        """
        found: Hierarchy = self.model.hierarchy()
        return found

    def digest(self) -> str:
        """A digest of all that the tree is: equal for trees that are equal to the bit. O(n d).

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     len(tree.partial_fit([[0.0], [1.0]]).digest())
        64
        """
        return _model.state_digest(_model.saved(self.model))

    def payload(self, point: Id) -> Any:
        """The payload of a point, by its id; by its number, where ids are text or none.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0]], ids=["T1"], payloads=[{"title": "No sound"}])
        ...     tree.payload("T1")
        {'title': 'No sound'}
        """
        number = self.stream.number_of(point)
        return self._payloads.of([number]).get(number)

    def ids_of(self, numbers: Sequence[int]) -> list[Id | None]:
        """The ids of points by their arrival numbers; None for one that has none, or is gone.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], ids=["ash", "elm"])
        ...     tree.ids_of([1, 7])
        ['elm', None]
        """
        stream = self.stream
        if not stream.knows_names:
            self.between(stream.learn_names)
        return stream.ids_of(numbers)

    def payloads(self, points: Sequence[Id] | npt.NDArray[Any]) -> dict[Any, Any]:
        """The payloads of points that have one, by arrival numbers, or by ids that are text.

        Whatever names points takes it as it is: ``members``, ``representatives``, ``nearest``.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], ids=["ash", "elm"], payloads=["No sound", None])
        ...     tree.payloads([0, 1]), tree.payloads(["ash"])
        ({0: 'No sound'}, {'ash': 'No sound'})
        """
        asked = [one if isinstance(one, str) else index(one) for one in points]
        numbers = [one if isinstance(one, int) else self.model.number_of(one) for one in asked]
        found = self._payloads.of(numbers)
        pairs = zip(asked, numbers, strict=True)
        return {one: found[number] for one, number in pairs if number in found}

    def search(self, text: str, *, limit: int = 20) -> list[Hit]:
        """Points whose payloads have all words of a text, the last one perhaps in part.

        Parameters
        ----------
        text : str
            Words; case and accents do not matter.
        limit : int
            So many of the best; :meth:`ranked` has the numbers of all.

        Returns
        -------
        list of Hit
            The best first.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     texts = ["No sound after update", "Update fails"]
        ...     _ = tree.add([[0.0], [1.0]], ids=["T1", "T2"], payloads=texts)
        ...     [hit.id for hit in tree.search("sound upd")]
        ['T1']
        """
        stream = self.stream
        found = self._payloads.search(text, limit) if stream.begun else []
        return [hit for hit in found if stream.has(hit.number)]

    def ranked(self, text: str) -> IntArray:
        """Numbers of all points that :meth:`search` would find without a limit, the best first.

        Examples
        --------
        >>> import tempfile, ramify
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0]], payloads=["No sound", "No sound at all"])
        ...     tree.ranked("sound").tolist()
        [0, 1]
        """
        return self._payloads.ranked(text)

    def keywords(
        self,
        k: int = 5,
        *,
        n_clusters: int | None = None,
        height: float | None = None,
        max_size: int | None = None,
        min_size: int | None = None,
        by: WayOfLive = "height",
        resolution: float | None = None,
        bigrams: bool = False,
        stop_words: StopWords = (),
    ) -> list[list[str]]:
        """Words that tell the payloads of each cluster of a cut from the others, by label.

        As :meth:`Clusters.keywords <ramify.hierarchy.Clusters.keywords>` of the texts in payloads.
        What was counted once is counted on: a cut that is asked about again costs a look at the
        labels, the texts that came, went or moved, and the words of its clusters.

        Examples
        --------
        >>> import tempfile, ramify
        >>> texts = ["no sound", "sound is off", "a refund"]
        >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
        ...     _ = tree.add([[0.0], [1.0], [9.0]], payloads=texts)
        ...     tree.keywords(1, n_clusters=2)
        [['sound'], ['refund']]
        """
        cut: Any = {"n_clusters": n_clusters, "height": height, "max_size": max_size}
        cut |= {"min_size": min_size, "by": by, "resolution": resolution}
        look = lambda: (self.model.point_numbers_, self.model.cut(**cut))  # noqa: E731
        _, (numbers, labels) = of_one_version(self, look)
        how: Any = {"bigrams": bigrams, "stop_words": stop_words}
        name = tuple(cut.values())
        return self._live_keywords.of(name, numbers, labels, self._payloads.of, k, **how)

    @property
    def marks(self) -> dict[str, str]:
        """How far each source had been read when its last rows were written."""
        return self._payloads.marks()


def of_one_version(tree: Any, ask: Callable[[], Any]) -> tuple[int, Any]:
    """What a tree says, and of which version. The writer rests only if it came in between.

    Examples
    --------
    >>> import tempfile, ramify
    >>> with ramify.open(tempfile.mkdtemp(), ramify.OHAC()) as tree:
    ...     of_one_version(tree.partial_fit([[0.0], [1.0]]), lambda: len(tree))
    (2, 2)
    """
    before = tree.version
    try:
        found = ask()
    except RuntimeError:  # the tree has changed since what it is about was read
        found = None
    if found is not None and tree.version == before:
        return before, found
    told: tuple[int, Any] = tree.between(lambda: (tree.version, ask()))
    return told
