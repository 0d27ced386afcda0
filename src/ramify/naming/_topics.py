# SPDX-License-Identifier: BSD-3-Clause
"""_topics.py: topics of a growing tree with names that stay, given by a function or a model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ramify.checks import number, whole_number
from ramify.estimators.seam import MOST_CUTS
from ramify.hierarchy import IntArray, StopWords
from ramify.hierarchy.seam import read_stickiness
from ramify.naming._books import Books, Level, Topic, key
from ramify.naming._store import NameStore
from ramify.naming._words import Words
from ramify.progress import Progress, check_progress, watch
from ramify.summaries.seam import Budget, Caller, Job, Texts

__all__ = ["Topic", "Topics", "Update"]

_NOBODY = np.empty(0, np.uint64)


class Update(NamedTuple):
    """What an update has done.

    Examples
    --------
    >>> Update(version=12, named=3, kept=27, pending=0).kept
    27
    """

    version: int  #: of the tree that the topics are of now
    named: int  #: topics that were given a name, for the first time or anew
    kept: int  #: topics that go on with the name that they have
    pending: int  #: topics that are still to be named, because the budget has run out


class Call(NamedTuple):
    """A topic that is to be named, and where it is."""

    level: Level
    at: int
    topic: Topic


class _Namer(Caller):
    what, takes = "name", "(topic)"

    def _arguments(self, some: tuple[Job, ...]) -> tuple[Any, ...]:
        topics = [job.node.topic for job in some]  # type: ignore[attr-defined]  # of a Call
        return (topics[0],) if self._batch is None else (topics,)


def first_words(topic: Topic) -> str:
    """A name without any model: the first two words.

    Examples
    --------
    >>> first_words(Topic(7, 30, 12, ["card", "blocked", "stolen"]))
    'card blocked'
    """
    return " ".join(topic.words[:2]) or f"topic {topic.id}"


class Topics:
    """Topics of a growing tree, whose names stay as long as their points do.

    A topic is a cluster of a cut under its stable id. :meth:`update` has exactly those named that
    are new, or of which more than a ``share`` of the points came or went since they got their name.
    Finer levels are named first, so that a topic is named when its children are. No two topics of
    a level have one name: an answer that another topic has is asked for once more, with the names
    that are ``taken``, and then told apart by a word.

    Parameters
    ----------
    tree : estimator, folder, shards or client's tree
    name : callable, optional
        ``name(topic)`` gives a text; ``topic`` is a :class:`Topic`. May be ``async``. By default
        the topic's first two words.
    levels : sequence of int, default=(30,)
        Numbers of clusters, ascending; at most 16.
    texts, vectorizer, bigrams, stop_words : optional
        As of :class:`Words`.
    store : path, optional
        A file for names, so that they survive a restart; of one tree. The tree keeps the ids
        itself, in its own file or folder.
    share : float, default=0.2
        How much of a topic may change before it is named anew.
    stickiness : float, default=0.0
        How much the cut holds on to the topics of the last time, as in ``stable_labels``.
    words, examples : int, default=10 and 5
        How many are told of each topic.
    budget, batch, at_once, progress : optional
        As of :class:`~ramify.summaries.SummaryTree`: how many may be asked for in an update, how
        many the function is given at a time, how many calls of an async one are under way.

    Examples
    --------
    >>> import ramify
    >>> from ramify.naming import Topics
    >>> texts = ["a red apple", "a red pear", "fast train", "a train home", "an old train"]
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [8.0], [9.0]])
    >>> topics = Topics(model, levels=(2,), texts=texts, name=lambda topic: topic.words[0].upper())
    >>> topics.update(), topics.names(2)
    (Update(version=4, named=2, kept=0, pending=0), ['RED', 'TRAIN'])
    >>> model = model.partial_fit([[8.5]])
    >>> topics.update(), topics.names(2)
    (Update(version=5, named=1, kept=1, pending=0), ['RED', 'TRAIN'])
    """

    def __init__(
        self,
        tree: Any,
        *,
        name: Callable[..., Any] = first_words,
        levels: Sequence[int] = (30,),
        texts: Texts | None = None,
        vectorizer: Any = None,
        bigrams: bool = False,
        stop_words: StopWords = (),
        store: str | Path | None = None,
        share: float = 0.2,
        stickiness: float = 0.0,
        words: int = 10,
        examples: int = 5,
        budget: int | dict[str, int] | None = None,
        batch: int | None = None,
        at_once: int = 8,
        progress: Progress = False,
    ) -> None:
        wanted = tuple(whole_number("levels", one) for one in levels)
        if not wanted or sorted(set(wanted)) != list(wanted):
            raise ValueError(f"levels={levels!r}: expected numbers of clusters, ascending")
        if len(wanted) > MOST_CUTS:
            raise ValueError(
                f"levels: expected at most {MOST_CUTS}, got {len(wanted)}; a tree keeps the ids of "
                f"clusters, and so their names, for that many cuts"
            )
        if number("share", share) < 0:
            raise ValueError(f"share={share}: expected a share of the points, from 0")
        check_progress(progress)
        self.tree, self.level_sizes = tree, wanted
        self._n_words = whole_number("words", words)
        self._n_examples = whole_number("examples", examples, least=0)
        self._progress = progress
        if batch is not None:
            whole_number("batch", batch)
        self._caller = _Namer(name, batch, whole_number("at_once", at_once))
        self._budget = Budget.read(budget)
        self.words = Words(
            tree, texts=texts, vectorizer=vectorizer, bigrams=bigrams, stop_words=stop_words
        )
        self._store = NameStore(store)
        self._books = Books(self.words, wanted, self._store, share, read_stickiness(stickiness))
        self._turn = threading.Lock()

    def close(self) -> None:
        """Let the store go. The tree stays open.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> Topics(ramify.OHAC()).close()
        """
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        levels = ", ".join(map(str, self.level_sizes))
        return f"<Topics of levels {levels}: {len(self._books.named):,} names>"

    # --- bringing up to date ------------------------------------------------------------------

    def update(self) -> Update:
        """Name what needs a name.

        If the function raises, what was named until then is kept, and the next update goes on.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
        >>> topics = Topics(model, levels=(2,), texts=["no sound", "sound is off", "a refund"])
        >>> topics.update().named, topics.update().named, topics.names(2)
        (2, 0, ['sound is', 'refund'])
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
        """As :meth:`update`, of an async function, in an event loop that is running.

        Examples
        --------
        >>> import asyncio, ramify
        >>> from ramify.naming import Topics
        >>> async def name(topic):
        ...     return f"{topic.size} points"
        >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
        >>> topics = Topics(model, levels=(2,), texts=["a", "b", "c"], name=name)
        >>> asyncio.run(topics.update_async()).named, topics.names(2)
        (2, ['2 points', '1 points'])
        """
        if not self._caller.is_async:
            raise TypeError("name is no async function; call update()")
        while not self._turn.acquire(blocking=False):
            await asyncio.sleep(0.01)
        steps = self._update()
        try:
            while (step := next(steps, None)) is not None:
                await self._caller.make_at_once(*step)
            return self._done
        finally:
            steps.close()
            self._turn.release()

    def _update(self) -> Generator[tuple[list[Job], Any], None, Update]:
        """The calls to make, wave by wave: the next ones see the names of these."""
        books = self._books
        books.follow()
        self._budget.begin()
        stale = {level.k: books.stale(level) for level in books.levels}
        total, named = sum(map(len, stale.values())), 0
        with watch(self._progress if total else False, total, "naming", "topics") as pulse:
            for level in reversed(books.levels):
                again: list[tuple[Call, str]] = []

                def keep(answers: list[tuple[Job, Any]], again: Any = again) -> None:
                    nonlocal named
                    for job, answer in answers:
                        call: Any = job.node
                        name = _read(answer)
                        if key(name) in books.taken(call.level, call.at):
                            again.append((call, name))
                        else:
                            books.give(call.level, [(call.at, name)])
                            named += 1
                    if pulse is not None:
                        pulse(named)

                if jobs := self._jobs(level, stale[level.k]):
                    yield jobs, keep
                once, again[:] = list(again), []
                if jobs := [self._asked_again(call) for call, _ in once if self._budget.take()]:
                    yield jobs, keep
                for call, name in [*again, *once[len(jobs) :]]:
                    books.give(
                        level, [(call.at, books.apart(level, call.at, name, call.topic.words))]
                    )
                    named += 1
        topics = sum(len(level.ids) for level in books.levels)
        self._done = Update(books.levels[0].groups.version, named, topics - total, total - named)
        return self._done

    def _jobs(self, level: Level, stale: list[int]) -> list[Job]:
        jobs = []
        for at in stale:
            if self._budget.take():
                topic = self._books.told(level, at, self._n_words, self._n_examples)
                jobs.append(_job(Call(level, at, topic)))
        return jobs

    def _asked_again(self, call: Call) -> Job:
        taken = list(self._books.taken(call.level, call.at).values())
        return _job(call._replace(topic=call.topic._replace(taken=taken)))

    # --- looking ------------------------------------------------------------------------------

    def names(self, level: int) -> list[str | None]:
        """Names of the topics of a level, by their ids, ascending; None: pending.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> model = ramify.OHAC().fit([[0.0], [9.0]])
        >>> topics = Topics(model, levels=(2,), texts=["red", "green"], budget=1)
        >>> topics.update().pending, topics.names(2)
        (1, ['red', None])
        """
        return [self._books.name(one) for one in self.ids(level).tolist()]

    def ids(self, level: int) -> IntArray:
        """Stable ids of the topics of a level, ascending.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> topics = Topics(ramify.OHAC().fit([[0.0], [9.0]]), levels=(2,), texts=["red", "green"])
        >>> topics.update().named, topics.ids(2)
        (2, array([0, 1]))
        """
        return self._at(level).ids

    def name_of(self, topic: int) -> str | None:
        """What a topic is called, by its stable id; None: nothing yet.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> topics = Topics(ramify.OHAC().fit([[0.0], [9.0]]), levels=(2,), texts=["red", "green"])
        >>> topics.update().named, topics.name_of(1), topics.name_of(9)
        (2, 'green', None)
        """
        return self._books.name(topic)

    def labels(self, level: int) -> IntArray:
        """The place of each point's topic in ``ids`` and ``names``, in the order of the points.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> model = ramify.OHAC().fit([[0.0], [9.0], [8.0]])
        >>> topics = Topics(model, levels=(2,), texts=["red", "green", "green"])
        >>> topics.update().named, topics.labels(2)
        (2, array([0, 1, 1]))
        """
        return self._at(level).groups.labels

    @property
    def numbers(self) -> IntArray:
        """Arrival numbers of the points, at the last update."""
        return self._at(self.level_sizes[0]).groups.numbers

    def parents(self, level: int) -> IntArray:
        """The place of each topic's parent among those of the next coarser level; -1: none.

        Examples
        --------
        >>> import ramify
        >>> from ramify.naming import Topics
        >>> model = ramify.OHAC().fit([[0.0], [9.0], [8.0]])
        >>> topics = Topics(model, levels=(2, 3), texts=["red", "green", "blue"])
        >>> topics.update().named, topics.parents(3)
        (5, array([0, 1, 1]))
        """
        return self._at(level).parents

    def _at(self, level: int) -> Level:
        if level not in self.level_sizes:
            raise ValueError(f"level={level!r}: expected one of {self.level_sizes}")
        if not self._books.levels:
            self._books.follow()
        return self._books.levels[self.level_sizes.index(level)]


def _job(call: Call) -> Job:
    node: Any = call
    return Job(0, [], node, _NOBODY)


def _read(answer: Any) -> str:
    if not isinstance(answer, str) or not answer.strip():
        raise TypeError(f"name: expected a text that is not empty, got {answer!r}")
    return " ".join(answer.split())


def _refuse_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("this would block the event loop that runs; await update_async()")
