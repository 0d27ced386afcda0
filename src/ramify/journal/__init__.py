# SPDX-License-Identifier: BSD-3-Clause
"""Trees that outlive their process: ``ramify.open`` and the folder it keeps."""

from ramify.journal._answers import Receipt
from ramify.journal._errors import (
    BusyError,
    DamagedJournalError,
    FolderInUseError,
    JournalError,
    NotWrittenError,
)
from ramify.journal._open import open
from ramify.journal._payloads import Hit
from ramify.journal._recover import Report
from ramify.journal._tree import DurableTree

__all__ = [
    "BusyError",
    "DamagedJournalError",
    "DurableTree",
    "FolderInUseError",
    "Hit",
    "JournalError",
    "NotWrittenError",
    "Receipt",
    "Report",
    "open",
]
