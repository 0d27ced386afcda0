"""disk.py: what a disk may hold after a power cut, from what a program did to it (disk.cpp).

A *call* changes a file, a name, or makes something safe. Files and names are kept apart:

    a file      what was synced last, and the writes since: of each sector of each, a power cut
                keeps or drops it, whatever became of earlier ones
    a folder    the names that were synced last, and the changes since: a power cut keeps the
                first few of them, as file systems with a journal do

Syncing a file makes its bytes safe and not its name, which is all that POSIX promises. A process
that is killed loses nothing that it has written.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

SECTOR = 512

_CREATE, _WRITE, _CUT, _SYNC, _RENAME, _UNLINK, _MAKE_DIR, _REMOVE_DIR = range(8)
_HEAD = struct.Struct("<4Q")


class File:
    """Bytes that are safe, and writes that are not; a write without bytes sets the size."""

    def __init__(self, content: bytes = b"") -> None:
        self.safe = bytearray(content)
        self.since: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        for place, written in self.since:
            _apply(self.safe, place, written)
        self.since.clear()

    def after(self, keeps: Callable[[], bool]) -> bytes:
        found = bytearray(self.safe)
        for place, written in self.since:
            if written is None:
                if keeps():
                    _apply(found, place, None)
                continue
            at = 0
            while at < len(written):
                end = min(len(written), at + SECTOR - (place + at) % SECTOR)
                if keeps():
                    _apply(found, place + at, written[at:end])
                at = end
        return bytes(found)

    def lose(self, keeps: Callable[[], bool]) -> None:
        self.safe = bytearray(self.after(keeps))
        self.since.clear()


class Folder:
    """Names that are safe, and changes of names that are not; a change may be of two names."""

    def __init__(self) -> None:
        self.now: Names = {}
        self.safe: Names = {}
        self.since: list[dict[str, File | Folder | None]] = []

    def change(self, names: dict[str, File | Folder | None]) -> None:
        _rename(self.now, names)
        self.since.append(names)

    def sync(self) -> None:
        self.safe = dict(self.now)
        self.since.clear()

    def lose(self, count: int) -> None:
        self.now = dict(self.safe)
        for names in self.since[:count]:
            _rename(self.now, names)
        self.sync()


Names = dict[str, File | Folder]


class Disk:
    """A folder whose calls are recorded while it is in use."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._library = ctypes.CDLL(None)
        self._library.disk_watch.argtypes = [ctypes.c_char_p, ctypes.c_long]
        self._library.disk_calls.restype = ctypes.c_long
        self._library.disk_record.restype = ctypes.c_void_p
        self._lives = 0
        self._root, self._files = Folder(), dict[int, File]()

    def begin(self, calls: int) -> Path:
        """The folder as it is; the power is cut after so many calls."""
        self._lives += 1
        self.folder = self._place / f"life-{self._lives}"
        self.folder.mkdir(parents=True)
        self._files.clear()
        for name, one in self._walk(lambda folder: folder.now):
            path = self.folder / name
            if isinstance(one, File):
                path.write_bytes(one.after(lambda: True))
                self._files[path.stat().st_ino] = one
            else:
                path.mkdir()
        self._library.disk_watch(os.fsencode(f"{self.folder}/"), calls)
        return self.folder

    @property
    def is_off(self) -> bool:
        """Whether the power has been cut."""
        return bool(self._library.disk_is_off())

    @property
    def calls(self) -> int:
        """How many there have been in this life."""
        return int(self._library.disk_calls())

    def cut(self) -> None:
        """Cut the power now, if it is on."""
        self._library.disk_cut()

    def end(self) -> None:
        """The process is no more; what it has done so far is known."""
        self._library.disk_cut()
        for kind, inode, place, data in self._calls():
            self._take(kind, inode, place, data)
        self._library.disk_watch(b"", 0)
        shutil.rmtree(self.folder)

    def lose(self, chance: random.Random, keep: float) -> None:
        """The power is cut: about so much is kept of what is not safe; all that is left is safe."""
        names = [("", self._root), *self._walk(lambda folder: folder.now)]
        for _, one in names:
            if isinstance(one, Folder):
                one.lose(chance.randint(0, len(one.since)) if keep < 1.0 else len(one.since))
        for _, one in self._walk(lambda folder: folder.now):
            if isinstance(one, File):
                one.lose(lambda: chance.random() < keep)

    def content(self) -> dict[str, bytes]:
        """The files, as the next process will find them."""
        found = self._walk(lambda folder: folder.now)
        return {name: one.after(lambda: True) for name, one in found if isinstance(one, File)}

    def _walk(self, names_of: Callable[[Folder], Names]) -> Iterator[tuple[str, File | Folder]]:
        """All that there is, folders before what is in them."""
        waiting = [("", self._root)]
        while waiting:
            above, folder = waiting.pop()
            for name, one in sorted(names_of(folder).items()):
                yield above + name, one
                if isinstance(one, Folder):
                    waiting.append((f"{above}{name}/", one))

    def _calls(self) -> Iterator[tuple[int, int, int, bytes]]:
        length = ctypes.c_uint64()
        begin = self._library.disk_record(ctypes.byref(length))
        record = ctypes.string_at(begin, length.value) if length.value else b""
        at = 0
        while at < len(record):
            kind, inode, place, size = _HEAD.unpack_from(record, at)
            at += _HEAD.size
            if kind == _CUT:
                size = 0
            yield kind, inode, place, record[at : at + size]
            at += size

    def _take(self, kind: int, inode: int, place: int, data: bytes) -> None:
        if kind == _WRITE:
            self._files[inode].since.append((place, data))
        elif kind == _CUT:
            self._files[inode].since.append((place, None))
        elif kind == _SYNC:
            self._at(data.decode()).sync() if data else self._files[inode].sync()
        elif kind == _CREATE:
            file = self._files[inode] = File()
            self._change(data.decode(), file)
        elif kind == _RENAME:
            self._move(*data.decode().split("\n"))
        else:
            self._change(data.decode(), Folder() if kind == _MAKE_DIR else None)

    def _move(self, old: str, new: str) -> None:
        moved, (folder, last) = self._at(old), self._split(new)
        before, first = self._split(old)
        if before is folder:
            folder.change({first: None, last: moved})
        else:  # a power cut may leave both names, and never none
            folder.change({last: moved})
            before.change({first: None})

    def _change(self, name: str, one: File | Folder | None) -> None:
        folder, last = self._split(name)
        folder.change({last: one})

    def _split(self, name: str) -> tuple[Folder, str]:
        above, _, last = name.rpartition("/")
        folder = self._at(above) if above else self._root
        assert isinstance(folder, Folder)
        return folder, last

    def _at(self, name: str) -> File | Folder:
        found: File | Folder = self._root
        for part in () if name == "." else name.split("/"):
            assert isinstance(found, Folder)
            found = found.now[part]
        return found


def _apply(content: bytearray, place: int, written: bytes | None) -> None:
    if len(content) < place:
        content.extend(bytes(place - len(content)))
    if written is None:
        del content[place:]
    else:
        content[place : place + len(written)] = written


def _rename(names: Names, changes: dict[str, File | Folder | None]) -> None:
    for name, one in changes.items():
        if one is None:
            names.pop(name, None)
        else:
            names[name] = one
