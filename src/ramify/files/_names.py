# SPDX-License-Identifier: BSD-3-Clause
"""_names.py: one column of text or numbers out of a file: labels, say."""

import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ramify.files._archive import Archive
from ramify.files._cells import plain_names
from ramify.files._columns import listed
from ramify.files._headers import read_header
from ramify.files._open import open_rows
from ramify.files._source import Name, ReadOptions


class Named(NamedTuple):
    """A column, and the ids beside it if these were asked for.

    Examples
    --------
    >>> from ramify.files import Named
    >>> Named(["elm", "oak"], ids=None).names
    ['elm', 'oak']
    """

    names: list[Name]
    ids: list[Name] | None


def read_names(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    id_column: str | None = None,
    header: bool | None = None,
    format: str | None = None,
    usual: str = "label",
) -> Named:
    """Read one column of a file, whole.

    Parameters
    ----------
    path : path
        A table, an .npy of one dimension, or an .npz with such an array.
    column : str, optional
        Name or position; by default the only one, or the one named ``usual``.
    id_column : str, optional
    header : bool, optional
        Whether the first line of a text file names the columns; by default it does if
        it holds anything but numbers.
    format : str, optional
        As in :func:`open_rows`.
    usual : str
        What the column is mostly called.

    Returns
    -------
    Named

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify.files import read_names
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     _ = file.write_text("id,label\\nann,elm\\nbob,oak\\n")
    ...     read_names(file, id_column="id")
    Named(names=['elm', 'oak'], ids=['ann', 'bob'])
    """
    if (format or Path(path).suffix.lstrip(".")) in ("npy", "npz") and id_column is None:
        found = _array(Path(path), column)
        if found is not None:
            return Named(plain_names(found, str(path)), None)
    if column is None:
        column = _usual_column(path, header, format, usual)
    options = ReadOptions(header=header, features=False, id_column=id_column, label_column=column)
    names: list[Name] = []
    ids: list[Name] = []
    with open_rows(path, options, format=format) as source:
        for batch in source:
            names += batch.labels or []
            ids += batch.ids or []
    return Named(names, None if id_column is None else ids)


def _usual_column(
    path: str | os.PathLike[str], header: bool | None, format: str | None, usual: str
) -> str:
    """The column of the usual name, or the only one."""
    with open_rows(path, ReadOptions(header=header, features=False), format=format) as source:
        columns = source.columns
    if usual in columns or len(columns) == 1:
        return usual if usual in columns else "0"
    raise ValueError(f"{path}: choose one column by name (--column); it has {listed(columns)}")


def _array(path: Path, name: str | None) -> npt.NDArray[Any] | None:
    """An array of one dimension: the file itself, or a member of it."""
    if not path.exists():
        raise FileNotFoundError(f"no file {path}")
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file; expected an .npy or .npz")
    if zipfile.is_zipfile(path):
        return _member(path, name)
    with path.open("rb") as file:
        header = read_header(file, path.stat().st_size, str(path))
        if header.dtype.hasobject:
            raise ValueError(f"{path} holds a pickle, which is never opened")
        if len(header.shape) != 1 or name is not None:
            return None
        return np.fromfile(file, header.dtype, header.shape[0])


def _member(path: Path, name: str | None) -> npt.NDArray[Any] | None:
    archive = Archive(path)
    try:
        flat = [one for one, header in archive.headers.items() if len(header.shape) == 1]
        if name is None and len(flat) == 1:
            name = flat[0]
        if name is None or name not in flat:
            return None
        whole = max(archive.headers[name].shape[0], 1)
        return next(archive.pieces(name, whole), None)
    finally:
        archive.close()
