# SPDX-License-Identifier: BSD-3-Clause
"""The bindings' threads alone: turns in order, and pieces of work done once each."""

import threading
import time
from collections import Counter, deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.core_parts import parts, run_machine
from tests.strategies import examples

PATIENCE = 30.0  # seconds; nobody ever waits that long unless something is broken


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.0002)


# --- turns ------------------------------------------------------------------------------


class TurnMachine(RuleBasedStateMachine):
    """Threads ask for a turn, alone or shared, and get it in the order of asking.

    Those who share come in together; who comes after one who wants to be alone waits behind it.
    """

    def __init__(self):
        super().__init__()
        self.lock = parts.TurnLock()
        self.inside = []  # (name, whether it shares) of those who have the turn
        self.line = deque()  # the same of those who wait for it
        self.had = []  # names of those who came in, in order; at once: one set
        self.log = []  # names, as it happened
        self.threads = []
        self.names = iter(range(10_000))

    def sharing(self):
        return all(shares for _, shares in self.inside)

    def is_open(self, shares):
        return not self.line and (not self.inside or (shares and self.sharing()))

    def ask(self, shares, how):
        """In a thread of its own: `how` returns when that thread has its turn."""
        name = next(self.names)

        def work():
            how()
            self.log.append(name)

        thread = threading.Thread(target=work, daemon=True)
        self.threads.append(thread)
        self.line.append((name, shares))
        thread.start()

    def those_come_in_whose_turn_it_is(self):
        came = set()
        while self.line and (not self.inside or (self.sharing() and self.line[0][1])):
            self.inside.append(self.line.popleft())
            came.add(self.inside[-1][0])
        if came:
            self.had.append(came)
        expected = sum(map(len, self.had))
        wait_until(lambda: len(self.log) == expected, "a turn was lost")
        everybody = len(self.inside) + len(self.line)
        wait_until(lambda: self.lock.in_line == everybody, "nobody came")

    @precondition(lambda self: len(self.inside) + len(self.line) < 6)
    @rule(shares=st.booleans())
    def somebody_asks(self, shares):
        self.ask(shares, self.lock.lock_shared if shares else self.lock.lock)
        self.those_come_in_whose_turn_it_is()

    @rule(shares=st.booleans())
    def somebody_tries(self, shares):
        got = self.lock.try_lock_shared() if shares else self.lock.try_lock()
        assert got == self.is_open(shares)
        if got:
            (self.lock.unlock_shared if shares else self.lock.unlock)()

    @precondition(lambda self: self.inside)
    @rule(data=st.data())
    def a_turn_ends(self, data):
        _, shares = self.inside.pop(data.draw(st.integers(0, len(self.inside) - 1)))
        (self.lock.unlock_shared if shares else self.lock.unlock)()
        self.those_come_in_whose_turn_it_is()

    @precondition(lambda self: self.inside and not self.sharing())
    @rule()
    def a_turn_is_shared_from_now_on(self):
        name, _ = self.inside.pop()
        self.inside.append((name, True))
        self.lock.share()
        self.those_come_in_whose_turn_it_is()

    @precondition(lambda self: self.inside and not self.sharing())
    @rule()
    def a_turn_is_passed_on(self):
        """Behind all who wait; with nobody there, nothing happens."""
        if not self.line:
            self.lock.pass_on()
            return
        self.inside.pop()
        self.ask(False, self.lock.pass_on)
        self.those_come_in_whose_turn_it_is()

    @invariant()
    def turns_came_in_order(self):
        assert self.lock.in_line == len(self.inside) + len(self.line)
        happened = iter(self.log)
        assert [{next(happened) for _ in came} for came in self.had] == self.had
        assert next(happened, None) is None

    def teardown(self):
        while self.inside:
            _, shares = self.inside.pop()
            (self.lock.unlock_shared if shares else self.lock.unlock)()
            self.those_come_in_whose_turn_it_is()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


def test_turns_come_in_the_order_of_asking():
    run_machine(TurnMachine, runs=20, steps=25)


# --- pieces of work -----------------------------------------------------------------------------


@settings(max_examples=examples(30))
@given(threads=st.integers(0, 6), batches=st.lists(st.integers(0, 20), max_size=5))
def test_every_piece_is_done_once_by_however_many(threads, batches):
    pool = parts.Threads(threads)
    for pieces in batches:
        done = []
        pool.begin(pieces, lambda piece, check, done=done: done.append(piece))
        pool.finish()
        assert Counter(done) == Counter(range(pieces))


def test_others_begin_before_anybody_waits_for_them():
    pool, done = parts.Threads(3), []
    pool.begin(2, lambda piece, check: done.append(piece))
    wait_until(lambda: len(done) == 2, "others do nothing in the background")
    pool.finish()


def test_one_thread_is_the_caller():
    pool, done = parts.Threads(1), []
    pool.begin(3, lambda piece, check: done.append((piece, threading.get_ident())))
    time.sleep(0.01)
    assert done == []
    pool.finish()
    assert done == [(piece, threading.get_ident()) for piece in range(3)]


@settings(max_examples=examples(30))
@given(threads=st.integers(1, 5), pieces=st.integers(1, 12), data=st.data())
def test_what_a_piece_raises_reaches_the_caller_and_the_pool_goes_on(threads, pieces, data):
    bad = data.draw(st.sets(st.integers(0, pieces - 1), min_size=1), label="pieces that fail")
    pool = parts.Threads(threads)

    def work(piece, check):
        if piece in bad:
            raise KeyError(piece)

    pool.begin(pieces, work)
    with pytest.raises(KeyError):
        pool.finish()
    done = []
    pool.begin(pieces, lambda piece, check: done.append(piece))
    pool.finish()
    assert Counter(done) == Counter(range(pieces))


@pytest.mark.parametrize("who", ["caller", "another"])
def test_nobody_works_on_after_the_caller_has_been_told_of_a_failure(who):
    """Pieces refer to what the caller owns. When its own piece failed, the others went on
    with theirs, and took new ones."""
    caller = threading.get_ident()
    pool, at_work, begun, failed = parts.Threads(4), set(), [], threading.Event()

    def work(piece, check):
        begun.append(piece)
        if (threading.get_ident() == caller) == (who == "caller") and not failed.is_set():
            failed.set()
            raise KeyError(piece)
        at_work.add(piece)
        try:
            for _ in range(20):
                time.sleep(0.001)
                check()
        finally:
            at_work.remove(piece)

    pool.begin(200, work)
    with pytest.raises(KeyError):
        pool.finish()
    assert not at_work
    until_then = len(begun)
    time.sleep(0.05)
    assert len(begun) == until_then


def test_what_the_pulse_raises_reaches_the_caller():
    pool = parts.Threads(2)
    go_on = threading.Event()

    def work(piece, check):
        while not go_on.is_set():
            time.sleep(0.001)
            check()

    def impatient():
        raise TimeoutError

    pool.begin(2, work)
    with pytest.raises(TimeoutError):
        pool.finish(impatient)
    go_on.set()
    pool.abandon()
    done = []
    pool.begin(4, lambda piece, check: done.append(piece))
    pool.finish()
    assert sorted(done) == [0, 1, 2, 3]


def test_a_pulse_may_say_stop():
    pool = parts.Threads(3)

    def work(piece, check):
        while True:  # for ever, but for the pulse
            time.sleep(0.001)
            check()

    pool.begin(10, work)
    with pytest.raises(InterruptedError):
        pool.finish(lambda: False)


def test_a_failure_tells_the_others_to_stop():
    pool, at_work, told = parts.Threads(2), threading.Barrier(2), []

    def work(piece, check):
        at_work.wait(PATIENCE)
        if piece == 0:
            raise KeyError(piece)
        try:
            while True:  # for ever, but for the failure
                time.sleep(0.001)
                check()
        finally:
            told.append(piece)

    pool.begin(2, work)
    with pytest.raises(KeyError):
        pool.finish()
    assert told == [1]


def test_abandoned_work_is_stopped_and_forgotten():
    pool, begun = parts.Threads(3), []

    def work(piece, check):
        begun.append(piece)
        while True:  # for ever, but for the pulse
            time.sleep(0.001)
            check()

    pool.begin(50, work)
    wait_until(lambda: len(begun) == 2, "others do not begin")
    pool.abandon()
    assert len(begun) == 2
    pool.finish()  # nothing is left to do, and nothing has failed
    assert len(begun) == 2


def test_a_pool_may_go_while_work_is_under_way():
    pool, begun = parts.Threads(4), []

    def work(piece, check):
        begun.append(piece)
        while True:
            time.sleep(0.001)
            check()

    pool.begin(3, work)
    wait_until(lambda: begun, "others do not begin")
    del pool


# --- short work that is shared ----------------------------------------------------------------


@settings(max_examples=examples(30))
@given(threads=st.integers(0, 5), calls=st.lists(st.integers(0, 12), max_size=30))
def test_every_shared_piece_is_done_once_when_the_call_ends(threads, calls):
    pool = parts.Threads(threads)
    for pieces in calls:
        done = []
        pool.share(pieces, done.append)
        assert Counter(done) == Counter(range(pieces))


def test_others_take_part_and_wake_up_again():
    pool = parts.Threads(2)
    for pause in (0, 0.2):  # the second time everybody has been asleep
        time.sleep(pause)
        both = threading.Barrier(2)
        pool.share(2, lambda piece, both=both: both.wait(PATIENCE))


def test_a_failure_of_a_shared_piece_is_the_callers_when_all_are_done():
    pool, done = parts.Threads(3), []

    def work(piece):
        if piece % 2 == 1:
            raise KeyError(piece)
        done.append(piece)

    for _ in range(20):
        done.clear()
        with pytest.raises(KeyError):
            pool.share(6, work)
        assert sorted(done) == [0, 2, 4]
    pool.share(1, work)
    assert done[-1] == 0


def test_shared_work_and_pieces_in_the_background_take_turns():
    pool, done = parts.Threads(3), []
    for _ in range(5):
        pool.begin(4, lambda piece, check: done.append(piece))
        pool.finish()
        pool.share(4, done.append)
    assert Counter(done) == Counter(list(range(4)) * 10)
