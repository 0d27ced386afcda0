"""journal.py: histories of a tree in a folder: clients, writer, background, disk and power cuts.

A life begins by opening the folder that the last one left, and ends with a power cut at some call
to the disk, by closing, or when everybody has been answered. After each, the tree must be the
oracle's after as many operations as there are, all that was acknowledged among them.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import ramify
from ramify.journal import _folder, _model, _recover, _snapshots, _upkeep, _writer
from ramify.journal._store import Store
from tests.simulation.disk import Disk
from tests.simulation.story import KINDS, REFUSED, Asked, Client, Oracle
from tests.simulation.world import PowerCutError, World, changed

MODULES = (_writer, _snapshots, _upkeep, _recover)

#: Steps of one life, at most, and calls to the disk until the power is cut.
_MOST_STEPS, _MOST_CALLS = 120, 400

#: How much of what is not safe a power cut keeps, about.
_KEPT = (0.0, 0.2, 0.5, 0.8, 0.95)

_ERASE_WITHIN = 60.0


class WrongError(AssertionError):
    """A history that must not be."""


def require(right: bool, what: str) -> None:
    if not right:
        raise WrongError(what)


class Written:
    """What was written into a journal, operation by operation: the order of all that happened."""

    def __init__(self) -> None:
        self.keys: list[str] = []  #: of operation 1, 2, ...
        self.groups: set[int] = {0}  #: numbers after which a commit ends

    @contextmanager
    def watching(self) -> Any:
        """Note what a store is asked to append."""
        append = Store.append

        def noted(store: Store, operations: Any, seq: int, chain: bytes) -> Any:
            del self.keys[seq:]  # a power cut took them
            self.groups = {one for one in self.groups if one <= seq}
            self.keys += [str(one.key).removesuffix("/0") for one in operations]  # of streams
            self.groups.add(seq + len(operations))
            return append(store, operations, seq, chain)

        with changed(Store, append=noted):
            yield


class History:
    """All that follows from one seed."""

    kinds = tuple(KINDS)
    most_calls = _MOST_CALLS

    def __init__(self, seed: int, place: Path) -> None:
        chance = self.chance = random.Random(seed)
        self.disk = Disk(place)
        self.world = World(seed, lambda: self.disk.is_off)
        self.kind = chance.choice(self.kinds)
        self.has_ids = chance.random() < 0.75
        count = 1 if self.kind == "age" else chance.randint(1, 4)
        self.clients = [
            Client(f"c{i}", random.Random(seed * 8 + i), self.kind, self.has_ids)
            for i in range(count)
        ]
        self.options = {
            "snapshot_every": chance.choice((2, 3, 5, 9, 1000)),
            "hash_every": chance.choice((1, 2, 5)),
            "erase_within": chance.choice((None, _ERASE_WITHIN)),
        }
        self.most = chance.randint(4, 30)  #: requests in all
        self.requests: dict[str, Asked] = {}
        self.acknowledged: dict[str, Any] = {}
        self.unproven: list[str] = []  # keys that were acknowledged since the last look
        self.written, self.oracle = Written(), Oracle(self.kind)
        self.mail: list[tuple[Callable[[Any], None], Future[Any]]] = []
        self.lives = 0

    def run(self) -> None:
        """Live, die and look, until everybody has been answered."""
        with self.lent(), self.written.watching():
            while not self.is_over:
                require(self.lives < 40, "nobody is answered any more")
                self.live(last=False)
            self.live(last=True)

    @property
    def end(self) -> str:
        """How it ended: equal for histories that are equal."""
        return f"{self.lives} {self.disk.calls} {self.world.clock.now} {self.world.chance.random()}"

    @property
    def is_over(self) -> bool:
        waiting = any(client.asked is not None for client in self.clients)
        return len(self.requests) >= self.most and not waiting

    def lent(self, *more: Any) -> AbstractContextManager[None]:
        """Modules whose threads and time are the world's."""
        return self.world.lent(*MODULES, *more)

    # --- one life -------------------------------------------------------------------------

    def live(self, *, last: bool) -> None:
        """One process from its beginning to its end."""
        chance = self.chance
        self.begin_life(last)
        try:
            self.open(self.disk.folder / "tree")
            if last:
                self.rest()
            for _ in range(chance.randint(1, _MOST_STEPS)):
                if last or self.is_over:
                    break
                self.act()
                self.read_mail()
            if last or chance.random() < 0.5:
                tree, self.tree = self.tree, None
                tree.close()
        except PowerCutError:
            pass
        self.end_life()

    def begin_life(self, last: bool) -> None:
        """A process begins on the disk as it is."""
        self.tree = None
        self.lives += 1
        calls = 1 << 40
        if not last and self.lives < 5:
            calls = int(self.most_calls ** (0.2 + 0.8 * self.chance.random()))
        self.disk.begin(calls)

    def end_life(self) -> None:
        """The process is no more; perhaps the whole machine has gone down."""
        self.abandon()
        self.disk.end()
        if self.chance.random() < 0.7:
            self.disk.lose(self.chance, self.chance.choice(_KEPT))

    def open(self, folder: Path) -> None:
        """Open the tree, and compare it."""
        self.tree = ramify.open(folder, KINDS[self.kind](), **self.options)
        if not self.disk.is_off:
            self.compare()

    def abandon(self) -> None:
        """The process has ended: nothing that it still does comes to the disk or to a client."""
        self.disk.cut()
        self.read_mail()
        tree, self.tree = self.tree, None
        for client in self.clients:
            client.future = None
        self.world.reborn()
        if tree is not None:
            tree._payloads.close()
            tree._writer.store.abandon()
        for lock in list(_folder._HELD):
            lock.release()
        gc.collect(0)

    # --- what happens -----------------------------------------------------------------------

    def act(self) -> None:
        """Let one thing happen."""
        chance = self.chance
        dice = chance.random()
        if dice < 0.5:
            self.ask(chance.choice(self.clients))
        elif dice < 0.9:
            self.world.step()
        elif dice < 0.93:
            self.world.clock.sleep(chance.choice((0.1, 10.0, 100.0)))
        elif dice < 0.94:
            self.world.clock.wall += chance.choice((-3600.0, 3600.0))
        elif dice < 0.96:
            self.tree.submit_snapshot()
        elif dice < 0.98:
            self.tree.submit_compact()
        elif self.acknowledged:  # a request that was on its way twice
            key = chance.choice(sorted(self.acknowledged))
            self.send(self.requests[key], lambda answer: self.again(key, answer))

    def ask(self, client: Client) -> None:
        """A client asks, or asks again after its call was lost."""
        if client.future is None and (asked := self.next_of(client)) is not None:
            client.future = self.send(asked, lambda answer: self.answered(client, answer))

    def next_of(self, client: Client) -> Asked | None:
        """What a client asks for: that which was not answered, or something new."""
        if client.asked is None and len(self.requests) < self.most:
            client.asked = self.think(client)
            self.requests[client.asked.key] = client.asked
        return client.asked

    def think(self, client: Client) -> Asked:
        """Something new."""
        return client.think()

    def send(self, asked: Asked, told: Callable[[Any], None]) -> Future[Any]:
        """Ask; what is answered while the power is on arrives."""
        future = asked.send(self.tree)

        def arrives(done: Future[Any]) -> None:
            if not self.disk.is_off:
                self.mail.append((told, done))

        future.add_done_callback(arrives)
        return future

    def read_mail(self) -> None:
        """Let clients hear what has arrived."""
        mail, self.mail = self.mail, []
        for told, done in mail:
            error = done.exception()
            if error is None:
                told(done.result())
            elif isinstance(error, _model.REFUSALS):
                told(REFUSED)
            else:
                raise WrongError(f"a client was told {error!r}") from error

    def answered(self, client: Client, answer: Any) -> None:
        """The first answer to a request."""
        assert client.asked is not None
        key = client.asked.key
        self.acknowledged[key] = answer
        self.unproven.append(key)
        client.told(answer)

    def again(self, key: str, answer: Any) -> None:
        """A request that had been answered came once more."""
        require(self.acknowledged[key] == answer, f"{key!r} was answered in two ways")

    def rest(self) -> None:
        """Nobody asks for anything; what has left is erased in time, whatever the clock says."""
        if self.options["erase_within"] is None:
            return
        if self.chance.random() < 0.3:
            self.world.clock.wall -= 3600.0
        for _ in range(6):
            self.world.clock.sleep(_ERASE_WITHIN)
            while self.world.step():
                pass
        owed = self.tree._writer.upkeep._owed
        require(owed is None, f"what left at {owed} is still to be erased")
        there = self.oracle.there()
        gone = [text for number, text in self.oracle.payloads.items() if number not in there]
        found = b"".join(path.read_bytes() for path in self.tree.folder.iterdir())
        for text in [*gone, *self.oracle.forgotten]:
            require(text.encode() not in found, f"{text!r} is on the disk, and was to be erased")

    # --- what must be -----------------------------------------------------------------------

    def compare(self) -> None:
        """The tree is the oracle's after the operations that are there."""
        tree, oracle, keys = self.tree, self.oracle, self.written.keys
        there = tree.seq
        require(there <= len(keys), "there are operations that nobody asked for")
        require(there in self.written.groups, "a commit is there in part")
        require(there >= oracle.count, f"{oracle.count} operations were there, now {there} are")
        for key in keys[oracle.count : there]:
            oracle.take(self.requests[key])
        for key in self.unproven:
            self.prove(key, self.acknowledged[key])
        self.unproven.clear()
        require(tree.digest() == oracle.digest(), f"it is another tree after {there} operations")
        require(tree.marks == oracle.marks, "marks are others")
        there = oracle.there()
        require(tree._payloads.of(list(there)) == there, "payloads are others")
        if len(tree):
            tree.check()

    def prove(self, key: str, answer: Any) -> None:
        """What a client was told is what the oracle says."""
        wanted = self.oracle.answers.get(key, REFUSED)
        if wanted == REFUSED or answer == REFUSED:
            require(answer == wanted, f"{key!r} was acknowledged, and is lost")
        elif isinstance(wanted, int):
            require(answer.forgotten == wanted, f"{key!r} forgot {answer.forgotten}")
        else:
            require(answer.numbers == wanted, f"{key!r} was told {answer.numbers}, not {wanted}")
