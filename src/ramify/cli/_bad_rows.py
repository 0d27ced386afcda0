# SPDX-License-Identifier: BSD-3-Clause
"""_bad_rows.py: what becomes of rows that cannot be used: --bad-rows stop, skip or FILE."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ramify.cli._console import note
from ramify.cli._outputs import keep_apart
from ramify.files import BadRow, Source, check_writable, open_log

STOP, SKIP = "stop", "skip"


class BadRows:
    """Counts bad rows, and writes them down if asked to.

    ``also`` is called with each of them.
    """

    def __init__(
        self,
        choice: str,
        *others: tuple[Path | str, str],
        also: Callable[[BadRow], None] | None = None,
    ) -> None:
        self.count = 0
        self.stops = choice == STOP
        self.file = None if choice in (STOP, SKIP) else Path(choice)
        self._also = also
        self._counted = "line"
        self._log: Any = None
        self._open = ExitStack()
        if self.file is not None:
            keep_apart(self.file, *others)
            check_writable(self.file)

    @property
    def handler(self) -> Callable[[BadRow], None] | None:
        """What a reader calls; None if it should stop."""
        return None if self.stops else self.take

    def take(self, bad: BadRow) -> None:
        """Do without a row."""
        self.count += 1
        if self.file is not None:
            if self._log is None:
                head = [self._counted, "reason", "text"]
                self._log = self._open.enter_context(open_log(self.file, head))
            self._log.write([bad.place], [bad.reason], [bad.text])
        if self._also is not None:
            self._also(bad)

    def of(self, source: Source) -> Self:
        """The same, for the rows of a source."""
        self._counted = source.counted
        return self

    def tell(self, *, quiet: bool) -> None:
        """Say how many there were."""
        if self.count:
            rows = "1 bad row was" if self.count == 1 else f"{self.count:,} bad rows were"
            where = "" if self.file is None else f"; {os.fspath(self.file)} says which and why"
            note(f"{rows} left out{where}", quiet=quiet)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()
