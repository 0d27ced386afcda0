# SPDX-License-Identifier: BSD-3-Clause
"""_settings.py: what is fixed when the first point arrives, and cannot change after.

Metric, linkage and number of neighbours are everybody's. What only one algorithm has
is its ``Options``, a class of its own beside the estimator: fields are the options,
methods say what the rest of the house would otherwise have to ask by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import choices, one_of
from ramify.estimators._skipping import check_zero_rows, require_directions
from ramify.metric import BY_NAME, Metric
from ramify.points import Rows
from ramify.sparse import SparseRows

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Shape: TypeAlias = tuple[Any, tuple[int, ...]]  #: type and shape of an array


#: Algorithms that have no options of their own, by the core's names.
_WITHOUT_OPTIONS = {"naive_hac": _core.Options.naive_hac, "naive_nn": _core.Options.naive_nn}


@dataclass(frozen=True)
class Options:
    """Options that only one algorithm has, checked. Most have none but the first."""

    zero_rows: str = field(default="error", kw_only=True, metadata={"check": check_zero_rows})

    #: Whether all rows are merged at once, and anew for each batch.
    at_once: ClassVar[bool] = False
    #: Whether rows go in one by one, each a path's work, so that a batch may come in parts.
    by_path: ClassVar[bool] = False

    @classmethod
    def of(cls, given: Mapping[str, Any], metric: Metric) -> Self:
        """Options of this kind, checked, out of a model's flat ones."""
        found = cls(
            **{one.name: one.metadata["check"](one.name, given[one.name]) for one in fields(cls)}
        )
        require_directions(found.zero_rows, metric)
        return found

    @classmethod
    def of_today(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Options by name as a file or a pickle has them, with those replaced that are gone."""
        return dict(stored)

    @property
    def unchangeable(self) -> str | None:
        """Why such a tree takes no weights and loses no points, if that is so."""
        return None

    @property
    def weightless(self) -> str | None:
        """Why such a tree takes no weights, if that is so."""
        return self.unchangeable

    @property
    def counts_repeats(self) -> bool:
        """Whether rows that equal each other become one leaf."""
        return False

    @property
    def tracks_members(self) -> bool:
        """Whether it is written down which points are in which leaf."""
        return self.counts_repeats

    @property
    def starts_with_hac(self) -> bool:
        """Whether the first batch is merged by offline HAC."""
        return False

    @property
    def uneditable(self) -> str | None:
        """Why links and moves of people do not hold in such a tree, if that is so."""
        return "only trees of OHAC keep to it"

    @property
    def own_shape(self) -> str | None:
        """Why such a tree cannot take any other shape, if that is so."""
        return None

    @property
    def several_in_a_leaf(self) -> bool:
        """Whether leaves may come to stand for several points."""
        return self.counts_repeats

    def require_any_shape(self, wanted: str) -> None:
        """Refuse what only trees can do that may have any shape."""
        if self.own_shape is not None:
            raise ValueError(f"{wanted}: {self.own_shape}")

    def require_single_points(self, wanted: str) -> None:
        """Refuse to begin with a shape where leaves of several points are made on the way."""
        if self.several_in_a_leaf:
            raise ValueError(
                f"{wanted}: with duplicates='count' or a budget a leaf may stand for several "
                f"points, and such a tree has to grow by itself"
            )

    def require_changeable(self, wanted: str) -> None:
        """Refuse what only trees can do that lose points and have weights."""
        if self.unchangeable is not None:
            raise ValueError(f"{wanted}: {self.unchangeable}")

    def require_weighable(self, wanted: str) -> None:
        """Refuse what only trees can do that have weights."""
        if self.weightless is not None:
            raise ValueError(f"{wanted}: {self.weightless}")

    def check_rows(self, rows: Rows | SparseRows) -> None:
        """Refuse rows that such a tree cannot take."""

    def for_core(self, settings: "Settings") -> _core.Options:
        """These options as the core takes them."""
        of_core = _WITHOUT_OPTIONS[settings.algorithm]
        rule = settings.metric.core, settings.linkage
        return of_core(*rule, count_repeats=self.counts_repeats)

    def tree_over(self, store: Any, settings: "Settings", arrays: Arrays | None = None) -> Any:
        """The tree that takes the points: the core's, or one that has it as its store.

        ``arrays`` are those of a stored tree that goes on.
        """
        return store

    def memory(self, slots: int, width: int, arrays: Arrays) -> dict[str, Shape]:
        """What the algorithm keeps beside the tree; ``arrays`` are those of a file."""
        return remembered()

    def check_memory(self, points: int, width: int, arrays: Arrays) -> None:
        """Raise ValueError if what a file says to be the memory is impossible."""


#: What becomes of rows that equal each other.
Duplicates: TypeAlias = Literal["keep", "count"]


@dataclass(frozen=True, kw_only=True)
class OfflineOptions(Options):
    """Options of offline HAC."""

    at_once: ClassVar[bool] = True


def _keep_or_count(name: str, found: object) -> str:
    return one_of(name, found, choices(Duplicates))


@dataclass(frozen=True, kw_only=True)
class CountingOptions(Options):
    """Options of algorithms that may count rows that equal each other."""

    duplicates: str = field(default="keep", metadata={"check": _keep_or_count})

    @property
    def counts_repeats(self) -> bool:
        """Whether rows that equal each other become one leaf."""
        return self.duplicates == "count"


def checked(check: Callable[..., Any], *arguments: Any) -> Any:
    """An option, by the check of checks.py that it has to pass."""
    return field(metadata={"check": lambda name, found: check(name, found, *arguments)})


def remembered(*, marks: int = 0, numbers: int = 0) -> dict[str, Shape]:
    """The two arrays in which the core writes down an algorithm's memory."""
    return {"marks": (np.uint32, (marks,)), "numbers": (np.float64, (numbers,))}


#: Options that say how ``labels_`` are cut.
CUT = ("n_clusters", "distance_threshold", "min_size")

#: Options that may change while a tree lives: its cut, who does the work, who stays.
FREE = (*CUT, "n_jobs", "window", "max_age", "history")

#: Options that files have only where they say something: older files have none, and a folder
#: proves its tree by a digest of what a file says.
_YOUNG: Mapping[str, Any] = {"zero_rows": "error", "min_size": None}


def without_young(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as files have them."""
    return {
        name: value
        for name, value in options.items()
        if name not in _YOUNG or value != _YOUNG[name]
    }


class Settings(NamedTuple):
    """What shapes a tree, in the order in which the core takes it."""

    algorithm: str
    width: int  #: of the rows; 0 while there are none
    metric: Metric
    linkage: str = "average"
    n_neighbors: int = 1
    options: Options = Options()

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...], options: type[Options]) -> Self:
        """The inverse of :meth:`plain`."""
        algorithm, width, metric, linkage, n_neighbors, more = plain
        return cls(
            algorithm,
            width,
            BY_NAME[metric],
            linkage,
            n_neighbors,
            options(**options.of_today(more)),
        )

    @property
    def core_width(self) -> int:
        """The width of rows in the core."""
        return self.width + self.sets_zeros_apart

    @property
    def sets_zeros_apart(self) -> bool:
        """Whether rows have one more column in the core, which says if they are all zeros."""
        return self.options.zero_rows == "apart"

    def plain(self) -> tuple[str, int, str, str, int, dict[str, Any]]:
        """The settings as pickles and files have them."""
        return (*self[:2], self.metric.name, *self[3:5], without_young(vars(self.options)))

    def for_core(self) -> tuple[int, _core.Options]:
        """The settings as the core takes them: the width of rows, and the rest."""
        return self.core_width, self.options.for_core(self)

    def by_name(self) -> dict[str, Any]:
        """The settings by the names that users know them by."""
        _, _, metric, linkage, n_neighbors, _ = self.plain()
        head = {"metric": metric, "linkage": linkage, "n_neighbors": n_neighbors}
        return head | vars(self.options)
