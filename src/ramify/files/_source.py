# SPDX-License-Identifier: BSD-3-Clause
"""_source.py: what every reader is: the rows of a file, batch by batch.

A file has columns. Some are features, one may hold ids, one labels, one weights and one
times; the rest is left out (_columns.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Rows: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

#: What an id or a label may be, and, before they are understood, weights and times.
Name: TypeAlias = str | int | float

_MOST_ROWS = 65_536  # of a batch, unless the user says otherwise
_MOST_BYTES = 1 << 23


class BadRow(NamedTuple):
    """A row that cannot become a point.

    Examples
    --------
    >>> from ramify.files import BadRow
    >>> BadRow(7, "expected 3 cells, got 2", "1,2").place
    7
    """

    place: int  #: its line, counted from 1; in files without lines its row, from 0
    reason: str
    text: str = ""  #: the line itself, if there is one


def said_of(name: str, counted: str, bad: BadRow) -> str:
    """What is wrong with a row of a file, in words.

    Examples
    --------
    >>> said_of("a.csv", "line", BadRow(7, "expected 3 cells, got 2"))
    'a.csv, line 7: expected 3 cells, got 2'
    """
    mark = "," if bad.reason.startswith("column ") else ":"
    return f"{name}, {counted} {bad.place}{mark} {bad.reason}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a file, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.files import Batch
    >>> batch = Batch(np.zeros((2, 3)), ids=["elm", "oak"])
    >>> len(batch), batch.labels is None
    (2, True)
    """

    rows: Rows  #: (n, d), finite
    ids: list[Name] | None = None  #: one a row, if there is a column of ids
    labels: list[Name] | None = None  #: one a row, if there is a column of labels
    places: Sequence[int] = ()  #: the line of each row, or its number where there are no lines
    texts: Sequence[str] = ()  #: the lines themselves, where ``bad_rows`` may want them
    weights: list[Name] | None = None  #: one a row, if there is a column of weights
    times: list[Name] | None = None  #: one a row, if there is a column of times

    def part(self, start: int, stop: int) -> "Batch":
        """A stretch of the rows, with all that belongs to them.

        Examples
        --------
        >>> import numpy as np
        >>> from ramify.files import Batch
        >>> Batch(np.zeros((2, 3)), ids=["elm", "oak"]).part(1, 2).ids
        ['oak']
        """
        return Batch(
            self.rows[start:stop],
            None if self.ids is None else self.ids[start:stop],
            None if self.labels is None else self.labels[start:stop],
            self.places[start:stop],
            self.texts[start:stop],
            None if self.weights is None else self.weights[start:stop],
            None if self.times is None else self.times[start:stop],
        )

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read of a file. Columns go by their names, or by position from 0.

    Attributes
    ----------
    columns : sequence of str
        Features, in this order; a position may be a range such as ``"0:3"``. By
        default every column of numbers that holds none of the following.
    id_column, label_column, weight_column, time_column : str, optional
        Columns to keep beside the rows. In an .npz these may be other members. Weights
        and times come as they stand, as numbers or as text.
    field : str, optional
        Column whose cells are arrays: the rows themselves.
    member : str, optional
        Array of an .npz that holds the rows.
    header : bool, optional
        Whether the first line of a text file names the columns; by default it does
        if it holds anything but numbers.
    dtype : numpy.dtype, optional
        float32 or float64; by default float32 where the file has it, else float64.
    batch_size : int, optional
        Rows of a batch; by default as many as make 8 MB, and 65,536 at most.
    like : sequence of str
        Names that the features had before: in a file with names, these columns are taken
        unless ``columns`` says otherwise.
    features : bool
        False for rows without numbers: only ids and labels are of interest.
    bad_rows : callable, optional
        Called with a :class:`BadRow` for each row that cannot be used, which is then left
        out; by default such a row is an error. Each line of text is then a row of its
        own: a quoted cell cannot go on over a line's end, so that a missing quote costs
        one line.
    start : int
        Rows before this place are left out: the number of a line, from 1, or of a row,
        from 0, where a file has no lines. The line that names the columns is read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.files import ReadOptions, open_rows
    >>> file = Path(mkdtemp(), "trees.csv")
    >>> _ = file.write_text("who,x,y\\nelm,0,1\\noak,2,3\\n")
    >>> with open_rows(file, ReadOptions(columns=["y"], id_column="who")) as source:
    ...     [(batch.ids, batch.rows.tolist()) for batch in source]
    [(['elm', 'oak'], [[1.0], [3.0]])]
    """

    columns: Sequence[str] = ()
    id_column: str | None = None
    label_column: str | None = None
    field: str | None = None
    member: str | None = None
    header: bool | None = None
    dtype: np.dtype[Any] | None = None
    batch_size: int | None = None
    like: Sequence[str] = ()
    features: bool = True
    bad_rows: Callable[[BadRow], None] | None = None
    start: int = 0
    weight_column: str | None = None
    time_column: str | None = None

    @property
    def beside(self) -> tuple[str | None, ...]:
        """The columns of ids, labels, weights and times, in this order.

        Examples
        --------
        >>> from ramify.files import ReadOptions
        >>> ReadOptions(label_column="kind").beside
        (None, 'kind', None, None)
        """
        return self.id_column, self.label_column, self.weight_column, self.time_column

    def rows_of_a_batch(self, width: int, bytes_a_cell: int = 8) -> int:
        """How many rows of this width to read at a time.

        Examples
        --------
        >>> from ramify.files import ReadOptions
        >>> ReadOptions(batch_size=10).rows_of_a_batch(width=3)
        10
        """
        if self.batch_size is not None:
            return self.batch_size
        return max(1, min(_MOST_ROWS, _MOST_BYTES // (bytes_a_cell * max(width, 1))))


class Source(ABC):
    """The rows of one file: iterate once to get them as batches.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    columns : tuple of str
        Names of all columns; their positions, where they have none.
    feature_names : tuple of str, or None
        Names of the features, where the file has names.
    left_out : tuple of str
        Names of columns that hold no numbers and were not asked for.
    n_rows : int or None
        Number of rows, where the file says so in advance.
    counted : str
        What places are numbers of: ``"line"``, from 1, or ``"row"``, from 0.
    width : int
        Number of features.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from ramify.files import open_rows
    >>> file = Path(mkdtemp(), "trees.csv")
    >>> _ = file.write_text("who,x,y\\nelm,0,1\\noak,2,3\\n")
    >>> with open_rows(file) as source:
    ...     source.feature_names, source.left_out, [len(batch) for batch in source]
    (('x', 'y'), ('who',), [2])
    """

    name: str
    columns: tuple[str, ...]
    width: int
    feature_names: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    n_rows: int | None = None
    endless = False  #: rows come in at the sender's pace, and may never end
    counted = "row"
    ordered = True  #: rows come in the order of their places

    #: Where a copy of the rows lies, to be removed when they have been read.
    folder: TemporaryDirectory[str] | None = None

    _given = 0
    _options: ReadOptions

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._read():
            self._given += len(batch)
            yield batch

    @abstractmethod
    def _read(self) -> Iterator[Batch]:
        """The batches."""

    def _refuse(self, bad: BadRow) -> None:
        """Hand on a row that cannot be used, or else stop."""
        if self._options.bad_rows is None:
            raise ValueError(said_of(self.name, self.counted, bad))
        self._options.bad_rows(bad)

    def _without(
        self, count: int, bad: Mapping[int, BadRow], make: Callable[[list[int]], Batch]
    ) -> Iterator[Batch]:
        """Of ``count`` rows those that can be used, which ``make`` takes by their indices.

        Where bad rows are errors, the rows before the first of them come before the error.
        """
        if self._options.bad_rows is None:
            first = min(bad)
            if first > 0:
                yield make(list(range(first)))
            self._refuse(bad[first])
        for index in sorted(bad):
            self._refuse(bad[index])
        good = [index for index in range(count) if index not in bad]
        yield make(good) if good else Batch(np.empty((0, self.width)))

    def fraction(self) -> float | None:
        """How much of the file has been read, from 0 to 1; None if that is not known.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import numpy as np
        >>> from ramify.files import open_rows
        >>> file = Path(mkdtemp(), "rows.npy")
        >>> np.save(file, np.zeros((4, 2)))
        >>> with open_rows(file) as source:
        ...     source.fraction(), len(next(iter(source))), source.fraction()
        (0.0, 4, 1.0)
        """
        return self._given / self.n_rows if self.n_rows else None

    def shuffled(self, seed: int) -> "Source":
        """The same rows in a random order, with their row numbers for ids if they have none.

        The chosen columns are read into memory, unless the file allows for reading
        any row at any time.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import numpy as np
        >>> from ramify.files import open_rows
        >>> file = Path(mkdtemp(), "rows.npy")
        >>> np.save(file, np.array([[0.0], [10.0], [20.0]]))
        >>> with open_rows(file) as source:
        ...     batch = next(iter(source.shuffled(seed=0)))
        >>> [row == [10.0 * i] for i, row in zip(batch.ids, batch.rows.tolist())]
        [True, True, True]
        """
        if self.endless:
            raise ValueError(f"{self.name} cannot be shuffled: its last row may never come")
        from ramify.files._shuffled import Shuffled

        return Shuffled(self, seed)

    def close(self) -> None:  # noqa: B027 - not every source holds a file
        """Close the file.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import numpy as np
        >>> from ramify.files import open_rows
        >>> file = Path(mkdtemp(), "rows.npy")
        >>> np.save(file, np.zeros((4, 2)))
        >>> source = open_rows(file)
        >>> source.close()  # with ``with``, this happens by itself
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        if self.folder is not None:
            self.folder.cleanup()


def real(rows: npt.NDArray[Any], dtype: np.dtype[Any] | None) -> Rows:
    """Rows as C-contiguous float32 or float64: the type asked for, or the nearest."""
    if dtype is None:
        small = rows.dtype.kind == "f" and rows.dtype.itemsize <= 4
        dtype = np.dtype(np.float32 if small else np.float64)
    with np.errstate(over="ignore"):  # becomes infinity, which check_finite reports
        converted: Rows = np.ascontiguousarray(rows, dtype=dtype)
    return converted


def first_unusable(rows: Rows) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity."""
    places = unusable(rows)
    return places[0] if places else None


def unusable(rows: Rows) -> list[tuple[int, int]]:
    """Row and column of the first NaN or infinity of each row that has one."""
    finite = np.isfinite(rows)
    if finite.all():
        return []
    bad = np.flatnonzero(~finite.all(axis=1))
    return list(zip(bad.tolist(), np.argmin(finite[bad], axis=1).tolist(), strict=True))
