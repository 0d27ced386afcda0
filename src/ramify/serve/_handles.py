# SPDX-License-Identifier: BSD-3-Clause
"""_handles.py: how many files this process may have open, and who gets them.

A connection is a file to the system, and an open tree is several. What the system allows is shared
out before anything is open, so that neither finds itself without.
"""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress

from ramify.serve._settings import Settings

#: Of a tree: its lock, and database, log and index of two connections; a snapshot that is written.
_OF_TREE = 8

#: For what is neither: the program's own, bodies, backups, readers of Arrow.
_SPARE = 64

_LEAST = 8
_WANTED = 65_536


def allow_many() -> None:
    """Have as many as the system gives us: what it allows at first is few."""
    if sys.platform == "win32":
        return
    import resource

    with suppress(OSError, ValueError):  # not on every system
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def allowed() -> int:
    """How many files this process may have open."""
    if sys.platform == "win32":  # where sockets are none
        return 1 << 30
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def shared_out(settings: Settings, files: int | None = None) -> tuple[int, int]:
    """Connections and open trees, as many as were asked for or fit.

    Examples
    --------
    >>> from pathlib import Path
    >>> shared_out(Settings(Path("trees")), files=65_536)
    (1000, 128)
    >>> shared_out(Settings(Path("trees")), files=1024)
    (480, 60)
    """
    room = (allowed() if files is None else files) - _SPARE
    connections, trees = settings.connections, settings.open_trees
    if connections + _OF_TREE * trees > room:
        trees = max(min(trees, max(room // 2, room - connections) // _OF_TREE), 1)
        connections = max(min(connections, room - _OF_TREE * trees), _LEAST)
    return connections, trees


def say_if_few(settings: Settings, log: logging.Logger) -> None:
    """A line in the log if fewer fit than were asked for."""
    connections, trees = shared_out(settings)
    if (connections, trees) != (settings.connections, settings.open_trees):
        told = {"connections": connections, "open_trees": trees, "files": allowed()}
        why = "the system allows few open files: raise its limit (ulimit -n, LimitNOFILE)"
        log.warning(json.dumps({"server": "limited", **told, "why": why}))
