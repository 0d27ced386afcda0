# SPDX-License-Identifier: BSD-3-Clause
"""_following.py: where a follower is, so that it goes on there when its connection is lost."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from ramify.client._calls import AGAIN, Call, given, read_answer, wait_before

#: What came: its kind, and what it tells.
Event: TypeAlias = tuple[str, dict[str, Any]]

#: Events of the connection alone.
_SILENT = ("dropped",)


class Following:
    """What a follower has read, and what it asks for."""

    def __init__(self, tree: str, since: int | None, brief: bool, attempts: int) -> None:
        self.path = f"/v1/trees/{tree}/changes/stream"
        self.over = False  #: nothing more will come
        self._since, self._brief = since, brief
        self._attempts, self._failed = attempts, 0
        self._kind, self._data = "message", ""
        self._response: Any = None

    @property
    def asked(self) -> dict[str, Any]:
        """Of the next connection."""
        return given({"since": self._since, "brief": self._brief})

    def hear(self, line: str) -> Event | None:
        """A line of server-sent events; the event that it ends."""
        if line.startswith("event:"):
            self._kind, self._data = line[6:].strip(), ""
        elif line.startswith("data:"):
            self._data += line[5:].strip()
        elif line == "" and self._data:
            kind, told = self._kind, json.loads(self._data)
            self._kind, self._data = "message", ""
            self._failed = 0
            self.over = kind == "gone"
            if not self.over:
                self._since = told["version"]
            return None if kind in _SILENT else (kind, told)
        return None

    def lost(self, error: Exception) -> None:
        """The connection was lost, or was not made; ConnectionError if that was once too often."""
        if self._failed + 1 >= self._attempts:
            raise ConnectionError(f"{self.path}: {error}") from error

    def refused(self, response: Any) -> None:
        """The server would not; RemoteError unless it is worth asking again."""
        if response.status_code not in AGAIN or self._failed + 1 >= self._attempts:
            read_answer(Call("GET", self.path), response)
        self._response = response

    def wait(self) -> float:
        """Seconds until the next connection, which begins with a whole event."""
        response, self._response = self._response, None
        self._kind, self._data = "message", ""
        self._failed += 1
        return wait_before(self._failed - 1, response)
