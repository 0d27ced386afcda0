# SPDX-License-Identifier: BSD-3-Clause
"""_lifecycle.py: trees of a server that are copied, come back, and go."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from ramify.client._calls import Dialogue, given, read_answer
from ramify.client._table import address, verb
from ramify.writing import whole_file

_AT_ONCE = 1 << 20

#: Seconds until a server that copies or replays is given up.
_PATIENCE = 3600.0


class Lifecycle:
    """Calls that both clients make in the same way."""

    name: str

    @verb
    def snapshot(self) -> Dialogue[int]:
        """Have the server write a snapshot now; the number of the operation it was taken after."""
        return int((yield address(self, "POST /snapshot"))["operation"])

    @verb
    def rename(self, to: str) -> Dialogue[None]:
        """Have the server call the tree otherwise; this object goes on with the new name."""
        yield address(self, "POST /rename", {"to": to})
        self.name = to

    @verb
    def delete(self) -> Dialogue[int]:
        """Have the server delete the tree and its folder; how many points it had.

        NotThereError if there is no such tree, also if the first answer was lost on its way.
        """
        return int((yield address(self, "DELETE /"))["points"])


class Copies:
    """Backups, for who waits."""

    _client: Any
    name: str

    def backup(self, file: str | os.PathLike[str]) -> int:
        """Write all of the tree's folder into one file, which is there when it is whole; its bytes.

        The server goes on meanwhile. :meth:`Client.restore` and :func:`ramify.journal.restore` make
        a tree of the file.
        """
        call = address(self, "GET /backup")
        with (
            whole_file(file) as lent,
            lent.open("wb") as out,
            self._client._http.stream("GET", call.path, timeout=_PATIENCE) as answer,
        ):
            if answer.status_code >= 400:
                answer.read()
                read_answer(call, answer)
            for piece in answer.iter_raw(_AT_ONCE):
                out.write(piece)
            return out.tell()


class AsyncCopies:
    """Backups, to be awaited."""

    _client: Any
    name: str

    async def backup(self, file: str | os.PathLike[str]) -> int:
        """As :meth:`RemoteTree.backup`."""
        call = address(self, "GET /backup")
        with whole_file(file) as lent, lent.open("wb") as out:
            async with self._client._http.stream("GET", call.path, timeout=_PATIENCE) as answer:
                if answer.status_code >= 400:
                    await answer.aread()
                    read_answer(call, answer)
                async for piece in answer.aiter_raw(_AT_ONCE):
                    out.write(piece)
            return out.tell()


_TAR = {"content-type": "application/x-tar"}


def restore(client: Any, name: str, file: str | os.PathLike[str], version: int | None) -> None:
    """Send a backup, once: a tree that is there is not replaced."""
    call, at = address(client.tree(name), "PUT /backup"), given({"version": version})
    with Path(file).open("rb") as source:
        more = {"headers": _TAR, "timeout": _PATIENCE, "params": at}
        read_answer(call, client._http.put(call.path, content=source, **more))


async def restore_async(
    client: Any, name: str, file: str | os.PathLike[str], version: int | None
) -> None:
    """The same, awaited."""
    call, at = address(client.tree(name), "PUT /backup"), given({"version": version})

    async def pieces() -> AsyncIterator[bytes]:
        with Path(file).open("rb") as source:
            while piece := source.read(_AT_ONCE):
                yield piece

    more = {"headers": _TAR, "timeout": _PATIENCE, "params": at}
    read_answer(call, await client._http.put(call.path, content=pieces(), **more))
