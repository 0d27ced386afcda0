# SPDX-License-Identifier: BSD-3-Clause
"""_growing.py: what `ramify fit` and `ramify update` share: rows go in, a file comes out.

However the command ends, by an error, a signal or a full disk, what was read is saved,
and the last words say where, and which line to go on from.
"""

import time
from typing import Any, NoReturn

from ramify.cli._bad_rows import BadRows
from ramify.cli._console import (
    INTERRUPTED,
    EndedEarlyError,
    complain,
    note,
    print_json,
    sentence,
    some_bytes,
)
from ramify.cli._every import Every, Saver
from ramify.cli._inserting import Grown, Inserter
from ramify.cli._keeping import Keeper, Kept
from ramify.cli._models import n_points
from ramify.cli._progress import Meter, meter
from ramify.cli._signals import Signals, StoppedError, error_of, heeded
from ramify.estimators.seam import BY_CLASS
from ramify.files import Batch, Source


class Growth:
    """One command that grows a tree."""

    def __init__(
        self,
        name: str,
        source: Source,
        keeper: Keeper,
        bad: BadRows,
        every: Every,
        *,
        number: int | None = None,
        polish: bool = False,
        save_on_interrupt: bool,
        quiet: bool,
    ) -> None:
        self._name = name
        self._source = source
        self._keeper = keeper
        self._bad = bad.of(source)
        self._number = number  # of the next row, where points are called by their numbers
        self._polish = polish  # when all rows are in
        self._save_on_interrupt = save_on_interrupt
        self._quiet = quiet
        self._saver = Saver(every, self._save_some)
        self._model = keeper.model
        self._grown = Grown(labels=keeper.labels)

    def run(self, *, json: bool) -> None:
        """Insert all rows, save the tree, and say what is in it."""
        _tell_columns(self._source, quiet=self._quiet)
        _check_options(self._model)
        with heeded() as signals:
            try:
                self._grow()
            except BaseException as error:
                self._end_early(error, signals)
            with signals.held_back(), self._saver.lock:
                kept = self._keeper.save()
            self._report(kept, json=json)
            if kept.why is not None:
                raise EndedEarlyError(f"{kept.why}; this tree is in {kept.place}", 1)
            if signals.pending is not None:  # came while the tree was being saved
                end = error_of(signals.pending)
                raise EndedEarlyError(f"{_word(end)}, after the tree was saved", _code_of(end))

    def _grow(self) -> None:
        begun = time.monotonic()
        try:
            with meter(self._source, quiet=self._quiet) as watch, self._saver.at_work():
                inserter = Inserter(
                    self._model,
                    self._source,
                    self._grown,
                    self._bad,
                    watch.pulse,
                    number=self._number,
                )
                if BY_CLASS[type(self._model)].at_once:
                    self._grow_at_once(inserter)
                else:
                    self._grow_in_batches(inserter, watch)
        finally:
            self._grown.seconds = time.monotonic() - begun
        if self._grown.points == 0:
            counts = {"bad ones": self._bad.count, "that come too late": self._grown.late}
            counts["that are skipped"] = self._grown.skipped
            found = " and ".join(f"{count:,} {what}" for what, count in counts.items() if count)
            why = f" that can be used, and {found}" if found else ""
            raise ValueError(f"{self._source.name} holds no rows{why}")
        if self._polish:
            self._model.polish()

    def _grow_in_batches(self, inserter: Inserter, watch: Meter) -> None:
        for batch in self._source:
            start = 0
            while start < len(batch):
                with self._saver.lock:
                    room = self._saver.room()
                    stop = len(batch) if room is None else min(start + room, len(batch))
                    inserter.insert(batch.part(start, stop))
                    watch.batch_done(stop - start, self._model)
                    self._saver.count(stop - start)
                start = stop

    def _grow_at_once(self, inserter: Inserter) -> None:
        batches: list[Batch] = []
        try:
            batches.extend(self._source)
        except (ValueError, OSError):
            inserter.insert_at_once(batches)  # of what there is
            raise
        inserter.insert_at_once(batches)

    def _save_some(self) -> None:
        """Save the tree so far. A disk that is full now may have room the next time."""
        try:
            place = self._keeper.save_some()
        except (OSError, MemoryError) as error:
            complain(self._name, f"could not save now, and goes on: {sentence(error)}")
            return
        note(f"{place}: {_points(self._model)}{self._up_to()}", quiet=self._quiet)

    # --- the end, before all rows are in --------------------------------------------------

    def _end_early(self, error: BaseException, signals: Signals) -> NoReturn:
        """Save what there is, and say so."""
        with signals.held_back():
            story = self._rescue(error)
        if isinstance(error, KeyboardInterrupt | StoppedError):
            points = f"{self._grown.points:,} points were in"
            text = f"{_word(error)} when {points}; {story}"
            raise EndedEarlyError(text, _code_of(error)) from None
        if isinstance(error, ValueError | OSError | ImportError | MemoryError):
            raise EndedEarlyError(f"{sentence(error)}; {story}", 1) from error
        complain(self._name, story)
        raise error  # a mistake of ours, which keeps its traceback

    def _rescue(self, error: BaseException) -> str:
        if self._grown.points == 0:
            return "nothing was written"
        by_pipe, asked = self._source.endless, self._save_on_interrupt
        if isinstance(error, KeyboardInterrupt) and not (by_pipe or asked):
            return "nothing was written"
        ended = isinstance(error, KeyboardInterrupt | StoppedError)
        wanted = ended and (by_pipe or asked)  # a pipe may have no other end
        try:
            with self._saver.lock:
                kept = self._keeper.rescue(by_pipe=by_pipe, wanted=wanted)
        except (OSError, MemoryError, ValueError) as trouble:
            return f"the {self._grown.points:,} rows could not be saved: {sentence(trouble)}"
        return self._story(kept)

    def _story(self, kept: Kept) -> str:
        """What was saved, and how to go on."""
        why = "" if kept.why is None else f"{kept.why}; "
        saved = f"{why}{self._grown.points:,} rows are in {kept.place}"
        if not self._source.ordered or self._grown.place is None:
            return f"{saved}, in the order of --shuffle"
        line = f"{self._source.counted} {self._grown.place}"
        update = f"ramify update {kept.place} DATA --from-line {self._grown.place}"
        return f"{saved}; go on from {line}: {update}"

    def _up_to(self) -> str:
        if not self._source.ordered or self._grown.place is None:
            return ""
        return f", go on from {self._source.counted} {self._grown.place}"

    def _report(self, kept: Kept, *, json: bool) -> None:
        """Say what is in the file now."""
        self._bad.tell(quiet=self._quiet)
        model, grown, out = self._model, self._grown, kept.place
        late, nothing = "too late for the max age", "of weight 0 or all zeros"
        for why, count in ((late, grown.late), (nothing, grown.skipped)):
            if count:
                rows = "1 row" if count == 1 else f"{count:,} rows"
                note(f"skipped, {why}: {rows}", quiet=self._quiet)
        if self._quiet and not json:
            return
        size = out.stat().st_size
        depth = int(model.hierarchy().depths().max())
        if json:
            facts = {
                "tree": str(out),
                "points": n_points(model),
                "leaves": len(model),
                "width": model.n_features_in_,
                "algorithm": BY_CLASS[type(model)].name,
                "depth": depth,
                "inserted": grown.points,
                "late": grown.late,
                "skipped": grown.skipped,
                "bad_rows": self._bad.count,
                "seconds": round(grown.seconds, 6),
                "bytes": size,
            }
            print_json(facts)
            return
        speed = grown.points / max(grown.seconds, 1e-9)
        note(
            f"{out}: {_points(model)}, depth {depth:,}, {some_bytes(size)}; "
            f"{grown.points:,} inserted in {grown.seconds:,.1f} s ({speed:,.0f} points/s)"
        )


def _points(model: Any) -> str:
    points, leaves = n_points(model), len(model)
    return f"{points:,} points" + ("" if points == leaves else f" in {leaves:,} leaves")


def _word(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)


def _code_of(error: BaseException) -> int:
    """The exit code that a shell gives to a program that a signal has ended."""
    return 128 + error.number if isinstance(error, StoppedError) else INTERRUPTED


def _check_options(model: Any) -> None:
    """Refuse options that no row would be taken with: better now than after the first one."""
    try:
        model._check_parameters()
    except TypeError as error:  # of --set, and as much the user's as a wrong value
        raise ValueError(str(error)) from error


def _tell_columns(source: Source, *, quiet: bool) -> None:
    """Say which columns are points, where somebody might be surprised."""
    if source.left_out:
        names = ", ".join(source.left_out)
        note(f"{source.name}: left out, not numbers: {names}", quiet=quiet)
