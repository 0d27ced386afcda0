# SPDX-License-Identifier: BSD-3-Clause
"""_lists.py: long answers, page by page.

A list is found once, at its first page, and the rest of it is kept as plain numbers for who comes
for the next page: all pages are of one version, however the tree grows between them. What is shown
of each entry beside, payloads and names, is that of the moment. The cursor of an answer leads to
its next page. A list that was not asked for in a while is forgotten, as all are when the server
ends: then its cursor is answered by 410, and the reader begins again.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

_SECONDS = 300.0
_MOST, _MOST_BYTES = 100, 256 << 20
_CURSOR = re.compile(r"([0-9a-f]{16})-([0-9]{1,15})")


class Listed(NamedTuple):
    """A list that was found."""

    version: int
    total: int
    bytes: int  #: that it takes while it is kept
    show: Callable[[int, int], list[Any]]  #: its entries from a place up to another


class ForgottenListError(LookupError):
    """A cursor whose list is not kept any more."""


class Lists:
    """The lists of a server that are being read."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, str, Listed]] = OrderedDict()
        self._lock = threading.Lock()

    def page(
        self, what: str, find: Callable[[], Listed], cursor: str | None, limit: int
    ) -> tuple[dict[str, Any], list[Any]]:
        """A page of a list: where it is in it, and its entries.

        Parameters
        ----------
        what : str
            Of what: a cursor holds for its own list only.
        find : callable
            Finds the list, for its first page.
        cursor : str, optional
            As the page before had it.
        limit : int
            Entries of a page.
        """
        if cursor is None:
            begin, listed, name = 0, find(), None
        else:
            name, begin = _read(cursor)
            listed = self._again(name, what)
        end = min(begin + limit, listed.total)
        entries = listed.show(begin, end)
        following = None
        if end < listed.total:
            following = f"{name or self._keep(what, listed)}-{end}"
        return {"version": listed.version, "total": listed.total, "next": following}, entries

    def forget(self, name: str) -> None:
        """Forget all lists of a tree, which is no more."""
        with self._lock:
            for key in [key for key, kept in self._kept.items() if kept[1].startswith(f"{name} ")]:
                del self._kept[key]

    def _keep(self, what: str, listed: Listed) -> str:
        name = secrets.token_hex(8)
        with self._lock:
            self._kept[name] = time.monotonic(), what, listed
            self._forget_some()
        return name

    def _again(self, name: str, what: str) -> Listed:
        with self._lock:
            self._forget_some()
            _, of, listed = self._kept.get(name, (0.0, "", None))
            if listed is None or of != what:
                raise ForgottenListError(
                    "the list of this cursor is not kept any more; begin again without it"
                )
            self._kept[name] = time.monotonic(), what, listed
            self._kept.move_to_end(name)
            return listed

    def _forget_some(self) -> None:
        """The latest one stays, however large it is, for a while."""
        kept, oldest = self._kept, time.monotonic() - _SECONDS
        taken = sum(listed.bytes for _, _, listed in kept.values())
        while kept:
            seen, _, listed = next(iter(kept.values()))
            too_much = len(kept) > 1 and (len(kept) > _MOST or taken > _MOST_BYTES)
            if seen >= oldest and not too_much:
                return
            kept.popitem(last=False)
            taken -= listed.bytes


def _read(cursor: str) -> tuple[str, int]:
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise ValueError("cursor: expected that of an answer, as its `next` has it")
    return found[1], int(found[2])
