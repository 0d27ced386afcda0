# SPDX-License-Identifier: BSD-3-Clause
"""Trees that outlive their process: ``ramify.open`` and the folder it keeps."""

from ramify.journal._errors import (
    BusyError,
    DamagedJournalError,
    DifferentTreeError,
    DiskError,
    FolderInUseError,
    JournalError,
    NotWrittenError,
    WrongEngineError,
)
from ramify.journal._open import open
from ramify.journal._payloads import Hit
from ramify.journal._recover import Report
from ramify.journal._tree import DurableTree
from ramify.tree import Receipt

__all__ = [
    "BusyError",
    "DamagedJournalError",
    "DifferentTreeError",
    "DiskError",
    "DurableTree",
    "FolderInUseError",
    "Hit",
    "JournalError",
    "NotWrittenError",
    "Receipt",
    "Report",
    "WrongEngineError",
    "open",
]
