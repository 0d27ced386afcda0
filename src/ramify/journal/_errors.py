# SPDX-License-Identifier: BSD-3-Clause
"""_errors.py: what can go wrong with a folder. All of them are ``OSError``: the disk's affair."""


class JournalError(OSError):
    """A folder that cannot be opened, read or written; the message says why.

    Examples
    --------
    >>> issubclass(FolderInUseError, JournalError)
    True
    """


class FolderInUseError(JournalError):
    """Another process, or another part of this one, has the folder open.

    Examples
    --------
    >>> import tempfile, ramify
    >>> folder = tempfile.mkdtemp()
    >>> with ramify.open(folder, ramify.OHAC()):
    ...     try:
    ...         ramify.open(folder)
    ...     except FolderInUseError as error:
    ...         print("in use" in str(error))
    True
    """


class DamagedJournalError(JournalError):
    """What was written once cannot be read any more: what, where, and how to go on.

    Examples
    --------
    >>> import pathlib, tempfile, ramify
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "journal.sqlite").write_text("no database")
    >>> try:
    ...     ramify.open(folder)
    ... except DamagedJournalError as error:
    ...     print("ramify journal" in str(error))
    True
    """


class NotWrittenError(JournalError):
    """The disk did not take it. Nothing of the call is in the tree; it can be tried again.

    Examples
    --------
    >>> issubclass(NotWrittenError, OSError)
    True
    """


class BusyError(JournalError):
    """So much waits to be written that no more is taken now; try again a little later.

    Examples
    --------
    >>> issubclass(BusyError, JournalError)
    True
    """
