# SPDX-License-Identifier: BSD-3-Clause
"""_summary_tree.py: summaries on the subtrees of a growing tree, brought up to date."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from ramify.checks import number, whole_number
from ramify.progress import Progress, check_progress, watch
from ramify.summaries._calls import Budget, Caller, Job, Keep
from ramify.summaries._contents import Contents, Texts
from ramify.summaries._retrieval import Retrieving
from ramify.summaries._state import State, read_levels
from ramify.summaries._store import Store
from ramify.summaries._vectors import Vectors


class Update(NamedTuple):
    """What an update has done.

    Examples
    --------
    >>> Update(version=12, made=3, found=1, kept=0, pending=0).made
    3
    """

    version: int  #: of the tree that the summaries are of now
    made: int  #: summaries that were asked for
    found: int  #: those that had been paid for earlier
    kept: int  #: those that a lazy tree goes on with, though something has changed
    pending: int  #: those that are still to be made, because the budget has run out


class Summary(NamedTuple):
    """A summary, of the tree as it was at the last update.

    Examples
    --------
    >>> Summary(17, 10, 6, "Sound and screen", True).text
    'Sound and screen'
    """

    node_id: int
    level: float
    size: float
    text: Any  #: what the callable answered; None while it is pending
    fresh: bool  #: whether it was made of the very points that are there


class SummaryTree(Retrieving):
    """Summaries on the subtrees of a growing tree, brought up to date and not rebuilt.

    Each level has a summary on each of the largest subtrees with no more points than it says, as
    in ``clusters(max_size=)``. A summary is made of parts: those of the next smaller level and
    single points. :meth:`update` asks for exactly those whose points are not the ones that they
    were made of, from the bottom up. What was asked for once is never asked for again.

    Any thread may call any method; one update runs at a time, and the others wait.

    Parameters
    ----------
    tree : estimator, folder or client's tree
        ``OHAC(history=1000)`` and the like, ``ramify.open(...)`` of one, or ``Client.tree(...)``.
        Without ``history`` the whole tree is read at each update.
    summarize : callable
        ``summarize(parts, node)`` gives a text, or whatever JSON can hold. ``parts`` is a list of
        :class:`Part`, ``node`` a :class:`SummaryNode`. May be ``async``.
    levels : sequence of int, default=(10, 100, 1000)
        Sizes, ascending.
    texts : mapping, list or callable, optional
        A list has the text of each point at the place of its number. A mapping has texts by ids
        (by numbers if points have no ids), and a function turns a list of these into a list of
        texts. By default the payloads, where the tree keeps any.
    store : path, optional
        A file for all summaries that were ever made; by default they are in memory. For another
        prompt or model use another file.
    lazy : float, default=0.0
        A summary is made anew only when more than this share of its points has changed since.
    budget : int or dict, optional
        Summaries an update may make, or ``{"update": 500, "minute": 60}``. What is left is pending.
    batch : int, optional
        ``summarize`` is given lists of so many: ``summarize([parts, ...], [node, ...])``.
    at_once : int, default=8
        Calls of an ``async`` callable that may be under way at a time.
    embed : callable, optional
        From a list of summaries to as many vectors, for :meth:`retrieve`. By default a summary has
        the mean of its points; a client's tree does not tell means, and needs this.
    document : callable, optional
        From a point's id to the document that it belongs to, for :meth:`forget`. By default all
        before the last ``#`` of an id.
    progress : bool or callable
        A bar, or ``f(done, total)``.

    Examples
    --------
    >>> import ramify
    >>> from ramify.summaries import SummaryTree
    >>> def summarize(parts, node):
    ...     return " + ".join(part.text for part in parts)
    >>> texts = {"a": "red", "b": "green", "c": "up", "d": "down", "e": "left"}
    >>> model = ramify.OHAC(history=1000)
    >>> model = model.fit([[0.0], [1.0], [8.0], [9.0]], ids=["a", "b", "c", "d"])
    >>> summaries = SummaryTree(model, summarize=summarize, levels=(2, 9), texts=texts)
    >>> summaries.update()
    Update(version=4, made=3, found=0, kept=0, pending=0)
    >>> [one.text for one in summaries.summaries(9)]
    ['red + green + up + down']
    >>> model.insert([9.9], id="e"), summaries.update().made
    (4, 2)
    >>> [one.text for one in summaries.summaries(2)]
    ['red + green', 'down + left']
    """

    def __init__(
        self,
        tree: Any,
        *,
        summarize: Callable[..., Any],
        levels: Sequence[float] = (10, 100, 1000),
        texts: Texts | None = None,
        store: str | Path | None = None,
        lazy: float = 0.0,
        budget: int | dict[str, int] | None = None,
        batch: int | None = None,
        at_once: int = 8,
        embed: Callable[[list[Any]], Any] | None = None,
        document: Callable[[Any], Any] | None = None,
        progress: Progress = False,
    ) -> None:
        self.tree = tree
        self.levels = read_levels(levels)
        self.lazy = number("lazy", lazy)
        if self.lazy < 0:
            raise ValueError(f"lazy={lazy}: expected a share of the points, from 0")
        check_progress(progress)
        if batch is not None:
            whole_number("batch", batch)
        self._progress = progress
        self._caller = Caller(summarize, batch, whole_number("at_once", at_once))
        self._budget = Budget.read(budget)
        self._document = document or _before_hash
        self._store = self._open(store)
        contents = Contents(texts, tree)
        self._state = State(tree, self.levels, contents, self._store, self.lazy)
        self._vectors = Vectors(tree, self._state, embed)
        self._turn = threading.Lock()  # of who updates
        self._lock = threading.RLock()  # of the state, for moments

    def _open(self, store: str | Path | None) -> Store:
        return Store(store)

    def close(self) -> None:
        """Let the store go. The tree stays open.

        Examples
        --------
        >>> import ramify
        >>> SummaryTree(ramify.OHAC(), summarize=lambda parts, node: "").close()
        """
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        levels = ", ".join(f"{one:g}" for one in self.levels)
        return f"<SummaryTree of levels {levels}: {len(self._state.held):,} summaries>"

    # --- bringing up to date ------------------------------------------------------------------

    def update(self) -> Update:
        """Make what is stale anew, from the bottom up.

        If the callable raises, what was made until then is kept, and the next update goes on.

        Returns
        -------
        Update

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=9).fit([[0.0], [1.0], [9.0]])
        >>> summaries = SummaryTree(model, summarize=lambda parts, node: len(parts))
        >>> summaries.update(), summaries.update().made
        (Update(version=3, made=1, found=0, kept=0, pending=0), 0)
        """
        if self._caller.is_async:
            _refuse_a_loop()
            return asyncio.run(self.update_async())
        with self._turn:
            steps = self._update()
            try:
                while True:
                    self._caller.make(*next(steps))
            except StopIteration as end:
                done: Update = end.value
                return done
            finally:
                steps.close()

    async def update_async(self) -> Update:
        """As :meth:`update`, of an async callable, in an event loop that is running.

        Examples
        --------
        >>> import asyncio, ramify
        >>> async def summarize(parts, node):
        ...     return f"{len(parts)} things"
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
        >>> summaries = SummaryTree(model, summarize=summarize)
        >>> asyncio.run(summaries.update_async()).made, summaries.summaries(10)[0].text
        (1, '3 things')
        """
        if not self._caller.is_async:
            raise TypeError("summarize is no async function; call update()")
        await self._wait_for_turn()
        steps = self._update()
        try:
            while (step := next(steps, None)) is not None:
                await self._caller.make_at_once(*step)
            return self._done
        finally:
            steps.close()
            self._turn.release()

    async def _wait_for_turn(self) -> None:
        """Take the turn without stopping the loop, in which whoever has it may be waiting."""
        while not self._turn.acquire(blocking=False):
            await asyncio.sleep(0.01)

    def _update(self) -> Generator[tuple[list[Job], Keep], None, Update]:
        """The calls to make, wave by wave: the next ones need the answers of these."""
        state, made = self._state, 0
        with self._lock:
            state.look_again()
            state.follow()
            found, kept = state.look_up()
            waves = state.waves()
        self._budget.begin()
        total = sum(map(len, waves))
        with watch(self._progress if total else False, total, "summarizing", "nodes") as pulse:
            for wave in waves:
                with self._lock:
                    jobs, nodes = state.jobs(wave, self._budget)

                def keep(answers: list[tuple[Job, Any]], nodes: Any = nodes) -> None:
                    nonlocal made
                    with self._lock:
                        state.keep(answers, nodes)
                    made += len(answers)
                    if pulse is not None:
                        pulse(made)

                if jobs:
                    yield jobs, keep
        with self._lock:
            state.end()
        self._done = Update(state.mirror.version, made, found, kept, len(state.stale))
        return self._done

    # --- taking out ---------------------------------------------------------------------------

    def forget(self, document: Any) -> Update:
        """Take a document's points out of the tree, and all that was made of them out of the store.

        Then :meth:`update`. Whatever ``lazy`` and the budget say, no summary is left that was made
        of them. Texts and payloads are the tree's affair (``compact()`` of folders and servers).

        Parameters
        ----------
        document : object
            As ``document=`` of the constructor names it; by default what is before the last ``#``
            of the ids of its points.

        Returns
        -------
        Update

        Raises
        ------
        KeyError
            If no point belongs to it.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=9)
        >>> model = model.fit([[0.0], [1.0], [2.0], [9.0]], ids=["a#0", "a#1", "b#0", "b#1"])
        >>> summaries = SummaryTree(model, summarize=lambda parts, node: len(parts))
        >>> summaries.update().made, summaries.forget("a").made, model.ids_.tolist()
        (1, 1, ['b#0', 'b#1'])
        """
        if self._caller.is_async:
            _refuse_a_loop()
        with self._turn:
            self._take_out(document)
        return self.update()

    async def forget_async(self, document: Any) -> Update:
        """As :meth:`forget`, of an async callable, in an event loop that is running.

        Examples
        --------
        >>> import asyncio, ramify
        >>> async def summarize(parts, node):
        ...     return f"{len(parts)} things"
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]], ids=["a", "b", "c"])
        >>> summaries = SummaryTree(model, summarize=summarize)
        >>> asyncio.run(summaries.forget_async("b")).made
        1
        """
        await self._wait_for_turn()
        try:
            self._take_out(document)
        finally:
            self._turn.release()
        return await self.update_async()

    def compact(self) -> int:
        """Erase from the store all that was made of points that are not in the tree any more.

        For points that left by other ways than :meth:`forget`. A lazy tree lets go of what it held
        on to of these. The next update makes what is missing then.

        Returns
        -------
        int
            How many summaries were erased.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC(history=9).fit([[0.0], [1.0], [2.0], [9.0]])
        >>> summaries = SummaryTree(model, summarize=lambda parts, node: len(parts))
        >>> summaries.update().made, model.forget(1), summaries.update().made, summaries.compact()
        (1, 1, 1, 1)
        """
        with self._turn, self._lock:
            return self._state.compact()

    def _take_out(self, document: Any) -> None:
        with self._lock:
            state = self._state
            state.follow()
            names = {one: state.mirror.name(one) for one in state.leaves()}
            those = [one for one, name in names.items() if self._document(name) == document]
            if not those:
                raise KeyError(f"no point belongs to the document {document!r}")
            state.take_out(those)

    # --- looking ------------------------------------------------------------------------------

    def summaries(self, level: float) -> list[Summary]:
        """The summaries of a level, in order of their first points, as of the last update.

        Points that are clusters of their own at this level have none.

        Examples
        --------
        >>> import ramify
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
        >>> summaries = SummaryTree(model, levels=(2,), summarize=lambda parts, node: "a pair")
        >>> summaries.update().made, summaries.summaries(2)
        (1, [Summary(node_id=0, level=2, size=2, text='a pair', fresh=True)])
        """
        with self._lock:
            some = self._state.of_level(self._known_level(level))
            return [self._summary(node, level) for node in some]

    def _known_level(self, level: float) -> float:
        if level not in self.levels:
            raise ValueError(f"level={level!r}: expected one of {self.levels}")
        return level

    def _summary(self, node: int, level: float) -> Summary:
        mirror, held = self._state.mirror, self._state.held.get(node)
        fresh = held == mirror.content[node]
        return Summary(node, level, mirror.size[node], self._state.text_of(node), fresh)


def _refuse_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("this would block the event loop that runs; await the verb with _async")


def _before_hash(name: Any) -> Any:
    """The document of a chunk's id: all before the last #."""
    return name.rpartition("#")[0] or name if isinstance(name, str) else name
