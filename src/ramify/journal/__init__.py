# SPDX-License-Identifier: BSD-3-Clause
"""Trees that outlive their process: ``ramify.open`` and the folder it keeps."""

from ramify.journal._backup import Backup, backup
from ramify.journal._errors import (
    BusyError,
    DamagedBackupError,
    DamagedJournalError,
    DifferentTreeError,
    DiskError,
    FolderInUseError,
    JournalError,
    NotWrittenError,
    QuotaError,
    WrongEngineError,
)
from ramify.journal._info import info
from ramify.journal._open import open
from ramify.journal._payloads import Hit
from ramify.journal._recover import Report
from ramify.journal._restore import restore
from ramify.journal._tree import DurableTree
from ramify.tree import Receipt

__all__ = [
    "Backup",
    "BusyError",
    "DamagedBackupError",
    "DamagedJournalError",
    "DifferentTreeError",
    "DiskError",
    "DurableTree",
    "FolderInUseError",
    "Hit",
    "JournalError",
    "NotWrittenError",
    "QuotaError",
    "Receipt",
    "Report",
    "WrongEngineError",
    "backup",
    "info",
    "open",
    "restore",
]
