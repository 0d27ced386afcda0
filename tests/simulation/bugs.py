"""bugs.py: mistakes that the product does not make, planted one at a time by the tests.

A simulator that finds nothing may be blind. Each of these is a mistake that somebody has made in
some database; each must be caught within a hundred seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from ramify.journal import _answers, _folder, _model, _open, _recover, _upkeep
from ramify.journal._recover import Replay
from ramify.journal._store import Store
from ramify.journal._upkeep import Upkeep
from ramify.journal._writer import Writer
from ramify.serve._feed import Feed
from tests.simulation.world import changed

Planted = Callable[[], AbstractContextManager[None]]


@contextmanager
def skip_a_sync() -> Iterator[None]:
    """Operations are written and acknowledged, and nobody waits for the disk."""
    transaction = Store.transaction
    with changed(Store, transaction=lambda store, *, wait=True: transaction(store, wait=False)):
        yield


@contextmanager
def acknowledge_early() -> Iterator[None]:
    """Callers are answered while their operation is on its way to the disk."""
    commit = Writer._commit

    def early(writer: Writer, group: Any) -> None:
        for request, operation in group:
            if operation.kind == "insert":
                first = _model.next_number(writer.model)
                numbers = list(range(first, first + operation.head["n"]))
                answer = _model.Answer(numbers)
                request.future.set_result(_answers.receipt(operation, answer, writer.seq))
        with suppress(Exception):  # answered once already
            commit(writer, group)

    with changed(Writer, _commit=early):
        yield


@contextmanager
def replay_twice() -> Iterator[None]:
    """The last operation before a crash is taken once by its snapshot, and once more by replay."""
    rows = Replay._rows

    def again(replay: Replay) -> Any:
        for row in rows(replay):
            if replay.count == 0 and row[2] == "insert":
                _model.apply(replay._model, _recover.believed(replay.chain, row).operation)
            yield row

    with changed(Replay, _rows=again):
        yield


@contextmanager
def reuse_an_id() -> Iterator[None]:
    """After a restart, numbers go on behind the largest that is there, and not that ever was."""
    from_file = _model.from_file

    def forgetful(found: Any) -> Any:
        content, arrays = found
        if len(arrays.get("arrivals", ())):
            arrays = {**arrays, "next_arrival": arrays["arrivals"].max(keepdims=True) + 1}
        return from_file((content, arrays))

    with changed(_model, from_file=forgetful):
        yield


@contextmanager
def lose_a_tombstone() -> Iterator[None]:
    """Replay does not know that points were forgotten."""
    answer = Replay._answer

    def alive(replay: Replay, one: Any) -> Any:
        if one.operation.kind == "forget":
            return _model.Answer([])
        return answer(replay, one)

    with changed(Replay, _answer=alive):
        yield


@contextmanager
def tie_by_address() -> Iterator[None]:
    """Operations of one commit are taken as they lie in memory, and not as they were written."""
    apply = Writer._apply

    def shuffled(writer: Writer, requests: Any, stored: Any) -> None:
        both = sorted(zip(requests, stored, strict=True), key=lambda pair: pair[1].digest)
        apply(writer, [one for one, _ in both], [one for _, one in both])

    with changed(Writer, _apply=shuffled):
        yield


@contextmanager
def snapshot_before_commit() -> Iterator[None]:
    """A snapshot says that it has an operation which the tree has not taken yet."""
    committed = Upkeep.committed

    def early(upkeep: Upkeep, *given: Any) -> None:
        committed(upkeep, *given)
        upkeep.snapshot_now()

    with changed(Upkeep, committed=early):
        yield


@contextmanager
def clock_goes_back() -> Iterator[None]:
    """What is to be erased waits until a clock that was set back is where it was."""

    def seconds_left(upkeep: Upkeep) -> float | None:
        within = upkeep._policy.erase_within
        if upkeep._owed is None or upkeep._compacting or within is None:
            return None
        return max(0.0, max(upkeep._owed + within, upkeep._not_before) - _upkeep.time.time())

    with changed(Upkeep, seconds_left=seconds_left):
        yield


@contextmanager
def feed_skips_a_version() -> Iterator[None]:
    """A follower that is behind by more than one version is told of none of them."""
    hand = Feed._hand

    def skipping(feed: Feed, follower: Any, version: int | None, frame: bytes) -> None:
        if version is not None and frame and version - follower.at > 4:
            follower.at = version
        else:
            hand(feed, follower, version, frame)

    with changed(Feed, _hand=skipping):
        yield


@contextmanager
def name_not_synced() -> Iterator[None]:
    """Files are safe, and the name of their folder is not."""
    skipped = {"sync_folder": lambda folder: None}
    with changed(_open, **skipped), changed(_folder, **skipped):
        yield


BUGS: Mapping[str, Planted] = {
    one.__name__: one
    for one in (
        skip_a_sync,
        acknowledge_early,
        replay_twice,
        reuse_an_id,
        lose_a_tombstone,
        tie_by_address,
        snapshot_before_commit,
        clock_goes_back,
        feed_skips_a_version,
        name_not_synced,
    )
}
