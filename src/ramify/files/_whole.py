# SPDX-License-Identifier: BSD-3-Clause
"""_whole.py: output files, written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Lend a temporary file of the same ending, which becomes ``path`` on success.

    It is written to the disk before it takes the name. After an exception nothing is
    left, and what was at ``path`` before is still there. A link stays a link; a device
    or a pipe is lent itself.

    Parameters
    ----------
    path : path

    Yields
    ------
    pathlib.Path
        Where to write.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ramify.files import whole_file
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt") as lent:
    ...         _ = lent.write_text("complete")
    ...     Path(folder, "a.txt").read_text()
    'complete'
    """
    target = Path(os.path.realpath(path))
    check_writable(path)
    if target.exists() and not target.is_file():
        yield target
        return
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    lent = Path(name)
    try:
        lent.chmod(_mode(target))
        yield lent
        with lent.open("rb+") as file:
            os.fsync(file.fileno())
        lent.replace(target)
    finally:
        lent.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot become a file: better before the work than after it.

    Examples
    --------
    >>> check_writable("no/such/folder/tree.ramify")
    Traceback (most recent call last):
    ...
    FileNotFoundError: cannot write no/such/folder/tree.ramify: there is no folder no/such/folder
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if target.exists() and not target.is_file():
        return
    if not target.parent.is_dir():
        folder = Path(path).parent
        raise FileNotFoundError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write {path}: its folder is write-protected")


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or of any new file."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)  # the only way to read it
    os.umask(mask)
    return 0o666 & ~mask
