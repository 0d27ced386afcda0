# SPDX-License-Identifier: BSD-3-Clause
"""seam.py: what other rooms use of this one beside the trees in folders.

Shards keep journals of their own, and the server reads what journals may hold.
"""

from ramify.journal._backup import (
    DRAFTS,
    SHARDED,
    Moment,
    backup_into,
    clear_drafts,
    closed_at_end,
    facts_of,
    is_of_shards,
    moment_of,
    require_backup,
    unpack,
)
from ramify.journal._door import plain_marks, plain_name, plain_node
from ramify.journal._errors import NoTreeError
from ramify.journal._folder import (
    ABOUT,
    DATABASE,
    ROUTER,
    SUMMARIES,
    FolderLock,
    folder_path,
    make_folder,
    owner_of,
    require_shards,
    sync_folder,
)
from ramify.journal._info import sizes_of
from ramify.journal._open import open_here
from ramify.journal._payloads import check_payloads
from ramify.journal._reading import of_one_version
from ramify.journal._records import Beside, Insert, Operation
from ramify.journal._removing import clear_removed, remove, remove_files
from ramify.journal._repair import Findings
from ramify.journal._requests import Policy
from ramify.journal._restore import fill_from, whole_folder
from ramify.journal._store import connect

__all__ = [
    "ABOUT",
    "DATABASE",
    "DRAFTS",
    "ROUTER",
    "SHARDED",
    "SUMMARIES",
    "Beside",
    "Findings",
    "FolderLock",
    "Insert",
    "Moment",
    "NoTreeError",
    "Operation",
    "Policy",
    "backup_into",
    "check_payloads",
    "clear_drafts",
    "clear_removed",
    "closed_at_end",
    "connect",
    "facts_of",
    "fill_from",
    "folder_path",
    "is_of_shards",
    "make_folder",
    "moment_of",
    "of_one_version",
    "open_here",
    "owner_of",
    "plain_marks",
    "plain_name",
    "plain_node",
    "remove",
    "remove_files",
    "require_backup",
    "require_shards",
    "sizes_of",
    "sync_folder",
    "unpack",
    "whole_folder",
]
