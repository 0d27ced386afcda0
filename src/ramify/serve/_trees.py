# SPDX-License-Identifier: BSD-3-Clause
"""_trees.py: the trees of a server, each in a folder of its own below one folder.

Each of them is open, resting (``_resting.py``) or failed. Where there are no more than may be open,
all are opened when the server begins; of many, only those that were left in a hurry, and the others
when they are asked for. One thread at a time opens, closes or removes the tree of a folder.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ramify.journal import DiskError, FolderInUseError, JournalError
from ramify.journal.seam import (
    NoTreeError,
    clear_drafts,
    clear_removed,
    make_folder,
    owner_of,
)
from ramify.memory import resident
from ramify.serve._arrow import ArrowReaders
from ramify.serve._door import LOG
from ramify.serve._handles import shared_out
from ramify.serve._hooks import Hooks
from ramify.serve._lists import Lists
from ramify.serve._resting import (
    Resting,
    Uses,
    as_it_closes,
    looked_at,
    needs_replay,
    nothing_known,
)
from ramify.serve._served import (
    NoSuchTreeError,
    Served,
    TreeFailedError,
    is_tree,
    open_served,
    require_engine,
)
from ramify.serve._settings import Settings, check_name

#: Between two looks at trees that others had open, or that nobody uses.
_AGAIN_SECONDS = 2.0

#: Between two looks into folders, so that requests come first.
_LOOK_SECONDS = 0.01

#: Failures that may end by themselves.
_PASSING = (FolderInUseError, DiskError, MemoryError, OSError)


class TooManyOpenError(Exception):
    """All trees that may be open are in use."""


class Trees:
    """All trees below a folder."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.folder
        make_folder(self._folder)
        self._trees: dict[str, Served] = {}
        self._resting: dict[str, Resting] = {}
        self._failures: dict[str, str] = {}
        self._passing: set[str] = set()  #: of the failures, those that may end by themselves
        self._in_use: set[str] = set()  #: of these, those that another program has open
        self.hooks = Hooks(self._folder, settings.webhooks, settings.webhook_secret)
        self.uses = Uses()
        self.readers = ArrowReaders(settings)
        self.lists = Lists()
        self._turns: dict[str, threading.RLock] = {}
        self._opening = 0  # trees that are about to be open
        self.most_open = 1 << 30 if settings.ray is not None else shared_out(settings)[1]
        self.known = threading.Event()  #: the names of all trees are
        self.ready = threading.Event()  #: all that are to be opened at once are open
        self.ending = threading.Event()
        self.waiting = 0  #: trees that are still to be opened

    # --- the beginning, and in the background ------------------------------------------------

    def open_all(self) -> None:
        """Open what is to be open at once; then, until the server ends, look after them all."""
        clear_drafts(self._folder)
        clear_removed(self._folder)
        found = [path for path in sorted(self._folder.iterdir()) if is_tree(path)]
        self._resting = {path.name: Resting() for path in found}
        self.known.set()
        few = len(found) <= self.most_open
        first = [path for path in found if few or self._is_urgent(path)]
        self.waiting = len(first)
        for path in first:
            self._open_if_it_rests(path.name)
            self.waiting -= 1
        self.ready.set()
        for path in found:
            if self.ending.is_set():
                return
            self._look(path)
        while not self.ending.wait(_AGAIN_SECONDS):
            for name in sorted(self._passing):
                with self._turn(name):
                    self._try(self._folder / name)
            self._tidy()

    def _is_urgent(self, path: Path) -> bool:
        """Whether a tree is to be opened before the server is ready: it, or it alone, can tell
        whether it is sound.
        """
        try:
            require_engine(path, self._settings)
        except JournalError:
            return True
        return needs_replay(path) or owner_of(path) is not None

    def _open_if_it_rests(self, name: str) -> None:
        try:
            self.wake(name)
        except TooManyOpenError:  # it is asked for later
            return

    def _look(self, path: Path) -> None:
        """Look into the folder of a tree that rests; one that cannot be read has failed."""
        name = path.name
        if name not in self._resting or self._resting[name].facts is not None:
            return
        with self._turn(name):
            if name not in self._resting:
                return
            try:
                self._resting[name] = looked_at(path, self._settings)
            except Exception:  # what it is, and how to go on, opening has the words for
                self._open_if_it_rests(name)
        self.ending.wait(_LOOK_SECONDS)

    def _tidy(self) -> None:
        """Let go what nobody uses, and see to what is to be erased."""
        now, settings = time.monotonic(), self._settings
        unused = self.uses.longest_unused(list(self._trees)) if settings.ray is None else []
        idle = settings.rest_after
        for last, name in unused:
            if idle and now - last > idle:
                self._rest(name)
        if settings.memory_bytes and resident() > settings.memory_bytes:
            for _, name in unused[: max(len(unused) // 8, 1)]:
                self._rest(name)
        due = [name for name, one in list(self._resting.items()) if one.due is not None]
        for name in due:
            one = self._resting.get(name)
            if one is not None and one.due is not None and one.due <= time.time():
                self._open_if_it_rests(name)

    # --- open, resting, failed -----------------------------------------------------------------

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        with self._turns.setdefault(name, threading.RLock()):
            yield

    def rests(self, name: str) -> bool:
        """Whether there is a tree of this name that is not open and has not failed."""
        return name in self._resting

    def wake(self, name: str) -> None:
        """Open a tree that rests; TooManyOpenError if there is no room. What fails is noted."""
        with self._turn(name):
            if name in self._resting:
                with self._room():
                    self._try(self._folder / name)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Room for one more that is open: another one rests for it."""
        skipped: set[str] = set()
        while True:
            with self.uses.lock:
                if len(self._trees) + self._opening < self.most_open:
                    self._opening += 1
                    break
                unused = self.uses.longest_unused([n for n in self._trees if n not in skipped])
            if not unused:
                raise TooManyOpenError(
                    f"{self.most_open:,} trees are open, which is the limit, and all are in use; "
                    f"open_trees of the settings, and the open files that the system allows, set it"
                )
            if not self._rest(unused[0][1]):
                skipped.add(unused[0][1])
        try:
            yield
        finally:
            with self.uses.lock:
                self._opening -= 1

    def _rest(self, name: str) -> bool:
        """Close a tree that nobody uses; False if somebody does."""
        turn = self._turns.setdefault(name, threading.RLock())
        if not turn.acquire(blocking=False):
            return False
        try:
            with self.uses.lock:
                served = self._trees.get(name)
                if served is None or self.uses.in_use(name):
                    return False
                self._resting[name] = Resting()
                del self._trees[name]
            self.lists.forget(name)
            self._resting[name] = as_it_closes(served, self._settings)
            self._close_one(served, "resting")
            return True
        finally:
            turn.release()

    def _try(self, path: Path) -> None:
        """Open one; if that fails, say so, and let the others be."""
        name, begin = path.name, time.monotonic()
        try:
            served = open_served(path, self._settings, None, {})
        except NoTreeError:  # begun by a process that did not come far: it may be begun again
            self._resting.pop(name, None)
            self._forget_failure(name)
            return
        except Exception as error:  # whatever it is, the others must not suffer
            if self._failures.get(name) != str(error):
                LOG.error(json.dumps({"tree": name, "failed": str(error)}))
            self._failures[name] = str(error)
            self._sort(name, error)
            self._resting.pop(name, None)
            return
        seconds = round(time.monotonic() - begin, 3)
        told = {"tree": name, "opened": served.versions[-1], "seconds": seconds}
        if (report := getattr(served.tree, "report", None)) is not None:
            told |= {"replayed": report.replayed, "notes": list(report.notes)}
        LOG.info(json.dumps(told))
        self.uses.opened(name)
        self._trees[name] = served
        self.hooks.opened(served)
        self._resting.pop(name, None)
        self._forget_failure(name)

    def _sort(self, name: str, error: Exception) -> None:
        for some, kind in ((self._passing, _PASSING), (self._in_use, FolderInUseError)):
            some.discard(name)
            if isinstance(error, kind):
                some.add(name)

    def _forget_failure(self, name: str) -> None:
        self._failures.pop(name, None)
        self._passing.discard(name)
        self._in_use.discard(name)

    # --- what is asked ---------------------------------------------------------------------------

    def failed(self) -> dict[str, str]:
        """Trees that are there and cannot be used, and why."""
        broken = {one.name: one.broken for one in self.all() if one.broken is not None}
        return self._failures | broken

    def states(self) -> dict[str, int]:
        """How many trees are in which state; ``in_use`` by another program."""
        failed, used = len(self.failed()), len(self._in_use)
        broken = sum(one.broken is not None for one in self.all())
        open_ = len(self._trees) - broken
        return {
            "open": open_,
            "resting": len(self._resting),
            "in_use": used,
            "failed": failed - used,
        }

    def get(self, name: str) -> Served:
        """The tree of a name, which is open."""
        found = self._trees.get(check_name(name))
        if found is None:
            self._require_sound(name)
            raise NoSuchTreeError(f"there is no tree {name!r}")
        return found

    def _require_sound(self, name: str) -> None:
        if name in self._failures:
            raise TreeFailedError(f"{name} is there and cannot be used: {self._failures[name]}")

    def all(self) -> list[Served]:
        """All that are open, by name."""
        return [one for _, one in sorted(self._trees.items())]

    def facts(self) -> list[dict[str, Any]]:
        """What is known of all that can be used, by name."""
        found = {one.name: one.facts() for one in self.all()}
        for name, one in list(self._resting.items()):
            found.setdefault(name, one.facts or nothing_known(self._folder / name))
        return [found[name] for name in sorted(found)]

    # --- the end ---------------------------------------------------------------------------------

    def let_followers_go(self) -> None:
        """The server ends: nothing more is told."""
        for served in self.all():
            if served.feed is not None:
                served.feed.close()

    def close(self) -> None:
        """Finish what waits, take snapshots, and let the folders go."""
        self.readers.close()
        self.hooks.close()
        for served in self.all():
            self._close_one(served, "closed")
        LOG.info(json.dumps({"server": "stopped", "trees": len(self._trees)}))

    def _close_one(self, served: Served, state: str) -> None:
        begin = time.monotonic()
        served.hooks = None
        served.summaries.close()
        try:
            served.tree.close()
        except (JournalError, OSError) as error:  # the others end well
            LOG.error(json.dumps({"tree": served.name, "failed": str(error)}))
            return
        seconds = round(time.monotonic() - begin, 3)
        LOG.info(json.dumps({"tree": served.name, state: True, "seconds": seconds}))
