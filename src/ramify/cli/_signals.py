# SPDX-License-Identifier: BSD-3-Clause
"""_signals.py: signals that end a command, turned into exceptions, but never while it saves.

A command that grows a tree is ended by a shutdown (SIGTERM), by a terminal that closes
(SIGHUP) or by Ctrl-C (SIGINT). Each of them raises where the command is at work, which
then saves what it has. While it saves, a signal only leaves a note; a second Ctrl-C ends
that, too. What was ignored before, as by ``nohup``, is still ignored.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")  # the second one is not known everywhere


class StoppedError(BaseException):
    """A signal has ended the command. Nobody who handles errors should handle this."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


class Signals:
    """What happens to signals while a command is at work."""

    def __init__(self) -> None:
        self.pending: int | None = None  # came while the command was saving
        self._saving = False

    def handle(self, number: int, frame: Any) -> None:
        """The handler."""
        if self._saving and not number == self.pending == signal.SIGINT:
            self.pending = number
            return
        raise error_of(number)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let no signal come in between."""
        before, self._saving = self._saving, True
        try:
            yield
        finally:
            self._saving = before


def error_of(number: int) -> BaseException:
    """What a signal raises."""
    return KeyboardInterrupt() if number == signal.SIGINT else StoppedError(number)


@contextmanager
def heeded() -> Iterator[Signals]:
    """Turn signals into exceptions, for a while."""
    signals = Signals()
    before: dict[int, Any] = {}
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) not in (
            signal.SIG_DFL,
            signal.default_int_handler,
        ):
            continue
        try:
            before[number] = signal.signal(number, signals.handle)
        except ValueError:  # not the main thread, which alone hears signals
            break
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
