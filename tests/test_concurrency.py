"""Long batches: interrupts, threads, and news of progress."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from functools import cache, partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import ramify
from ramify import BIRCH, GRINCH, HAC, OHAC, OTD, PERCH, NaiveHAC, NaiveNN, progress
from ramify.estimators import _cf_tree
from tests.every import ONLINE, every_estimator, every_online
from tests.strategies import SMALL, scaled

X = np.random.default_rng(0).normal(size=(40, 3))


@cache
def long_batch(Estimator):
    """Rows that take much longer than the 50 ms between two pulses, on any machine."""
    n = 5_000
    while True:
        rows = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
        start = time.perf_counter()
        Estimator().fit(rows)
        if time.perf_counter() - start > 0.3:
            return rows
        n *= 2


class StopError(Exception):
    pass


def stop(done, total):
    if done > 0:
        raise StopError("that will do")


# --- interrupts --------------------------------------------------------------------

CTRL_C = """
import os, signal, sys, threading, time
import numpy as np
import ramify

signal.signal(signal.SIGINT, signal.default_int_handler)
rows = np.random.default_rng(0).normal(size=({n}, {d}))
model = ramify.{name}().fit(rows[:10])
sent = []

def press():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer({delay}, press).start()
try:
    {call}
except KeyboardInterrupt as error:
    waited = time.perf_counter() - sent[0]
    model.check()
    print(waited, len(model), error, sep="\\n")
else:
    print("the batch was too short for this test")
"""


def run_python(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def press_ctrl_c(name, call, n, d):
    delay = 8.0 if SMALL else 0.3  # a sanitizer is slow to the first row, too
    script = CTRL_C.format(name=name, call=call, n=n, d=d, delay=delay)
    run = run_python(script)
    assert run.returncode == 0, run.stderr
    waited, held, message = run.stdout.splitlines()
    # The promise is half a second; a crowded machine gets more before this test fails.
    assert float(waited) < 5
    return int(held), message


@pytest.mark.parametrize("call", ["model.partial_fit(rows)", "model.fit(rows)"])
def test_ctrl_c_keeps_the_rows_inserted_so_far(call):
    n = 1_000_000
    held, message = press_ctrl_c("OHAC", call, n, 8)
    before = 10 if "partial" in call else 0
    assert before < held < n
    assert message == (
        f"interrupted after {held - before:,} of {n:,} rows; "
        f"the tree is valid and holds {held:,} points"
    )


@pytest.mark.threads
@pytest.mark.parametrize(("n", "d"), [(1_000_000, 3), (60_000, 200)])
def test_ctrl_c_is_heard_while_threads_look_ahead(n, d):
    held, message = press_ctrl_c("OHAC", "model.set_params(n_jobs=2).partial_fit(rows)", n, d)
    assert 10 <= held < n
    assert f"the tree is valid and holds {held:,} points" in message


@pytest.mark.threads
@pytest.mark.parametrize(
    ("call", "n", "d"),
    [("model.fit(rows)", 300_000, 20), ("model.set_params(n_jobs=2).fit(rows)", 60_000, 200)],
)
def test_ctrl_c_during_an_offline_fit_leaves_the_model_as_it_was(call, n, d):
    held, message = press_ctrl_c("HAC", call, n, d)
    assert held == 10
    assert "the model is as it was" in message


@every_online
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_an_exception_from_the_progress_callable_stops_the_batch(Estimator, method):
    rows = long_batch(Estimator)
    model = Estimator(n_clusters=1).fit(rows[:10])
    assert len(model.labels_) == 10  # cached, and not valid for long
    with pytest.raises(StopError, match="that will do") as caught:
        getattr(model, method)(rows[10:], progress=stop)
    inserted = len(model) - (0 if method == "fit" else 10)
    (note,) = caught.value.__notes__
    assert note == (
        f"interrupted after {inserted:,} of {len(rows) - 10:,} rows; "
        f"the tree is valid and holds {len(model):,} points"
    )
    if method == "fit" and Estimator is NaiveHAC:
        assert len(model) == 0  # all or nothing: its tree is built at the end
        return
    assert inserted == 0 if Estimator is NaiveHAC else 0 < inserted < len(rows) - 10
    model.check()
    assert len(model.labels_) == len(model)
    kept = rows[10 : 10 + inserted] if method == "fit" else rows[: 10 + inserted]
    assert model.hierarchy() == Estimator().fit(kept).hierarchy()
    assert model.insert(rows[0]) == len(model) - 1


def test_an_exception_during_an_offline_fit_leaves_the_model_as_it_was():
    model = HAC(n_clusters=2).fit(X)
    before = model.hierarchy()
    with pytest.raises(StopError) as caught:
        model.fit(long_batch(HAC)[:, :2], progress=stop)
    assert "the model is as it was" in caught.value.__notes__[0]
    assert model.hierarchy() == before
    assert model.n_features_in_ == 3


def test_a_signal_during_the_progress_callable():
    rows = long_batch(OHAC)
    model = OHAC()

    def press(done, total):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)  # gets the signal, if not before

    with pytest.raises(KeyboardInterrupt, match="the tree is valid and holds"):
        model.fit(rows, progress=press)
    if len(model):
        model.check()


# --- interrupts at every place where Python looks for signals ---------------------------

#: Where signals are heard that matter to us: our own code, and that of `with`.
OURS = (str(Path(ramify.__file__).parent), contextmanager.__code__.co_filename)


class Heard:
    """Does something where Python hears a signal for the k-th time from now on.

    That is when a function begins, and after a call has returned: there a profiler is
    called, too, and what it raises is raised as a signal handler's error would be.
    """

    def __init__(self, k, act):
        self.left, self.act = k, act

    def __call__(self, frame, event, arg):
        if event in ("call", "return", "c_return") and frame.f_code.co_filename.startswith(OURS):
            self.left -= 1
            if self.left == 0:
                self.act()

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)


def raise_interrupt():
    raise KeyboardInterrupt


def everywhere(act, make, call):
    """Yield a model after `call(model)`, with `act(model)` at the first place, the second, ..."""
    held = []  # as an interactive Python holds on to the last error
    for k in count(1):
        model = make()
        with Heard(k, partial(act, model)) as heard:
            try:
                call(model)
            except KeyboardInterrupt as error:
                held = [error]
        if heard.left > 0:
            return
        yield model
        held.clear()


def assert_usable(model, rows):
    """Nobody is stuck, neither another thread nor we, and the tree is that of the first rows."""
    guard = model._lock()
    taken = []
    in_threads(lambda: taken.append(guard.lock.acquire(blocking=False) and guard.lock.release()))
    assert taken == [None]
    n = len(model)
    if n > 0:
        model.check()
        fresh = type(model)(**model.get_params()).fit(rows[:n], ids=range(n))
        assert model.hierarchy() == fresh.hierarchy()
        assert model.ids_.tolist() == list(range(n))
    return n


LINES = np.random.default_rng(2).normal(size=(24, 2))
CALLS = {
    "partial_fit": lambda model: model.partial_fit(LINES[10:20], ids=range(10, 20)),
    "progress": lambda model: model.partial_fit(
        LINES[10:20], ids=range(10, 20), progress=lambda done, total: None
    ),
    "fit": lambda model: model.fit(LINES, ids=range(24)),
    "insert": lambda model: model.insert(LINES[10], id=10),
    "insert a list": lambda model: model.insert(LINES[10].tolist(), id=10),
    "predict": lambda model: model.predict(LINES),
    "ids": lambda model: model.ids_,
    "hierarchy": lambda model: model.hierarchy(),
    "state": lambda model: model.__getstate__(),
    "length": len,
}


@pytest.mark.parametrize("Estimator", [OTD, OHAC, GRINCH, BIRCH])
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_became_a_runtime_error_and_the_model_refused_all_calls(
    Estimator, call, monkeypatch
):
    monkeypatch.setattr(_cf_tree, "_FEED", 5)
    make = lambda: Estimator(n_clusters=1).fit(LINES[:10], ids=range(10))  # noqa: E731
    sizes = set()
    for model in everywhere(lambda model: raise_interrupt(), make, CALLS[call]):
        n = assert_usable(model, LINES)
        sizes.add(n)
        if n > 0:
            assert model.insert(LINES[0], id=-1) == n
        else:
            model.partial_fit(LINES, ids=range(24))
    assert 10 in sizes


def test_ctrl_c_anywhere_in_an_offline_fit():
    make = lambda: HAC(n_clusters=1).fit(LINES[:10], ids=range(10))  # noqa: E731
    for model in everywhere(lambda model: raise_interrupt(), make, CALLS["fit"]):
        assert assert_usable(model, LINES) in (10, 24)


def test_ctrl_c_mixed_up_the_labels_of_two_cuts():
    def make():
        model = OHAC(n_clusters=3).fit(LINES)
        assert model.n_clusters_ == 3
        return model

    def call(model):
        model.n_clusters = 2
        assert model.n_clusters_ == 2

    for model in everywhere(lambda model: raise_interrupt(), make, call):
        model.n_clusters = 3
        assert model.n_clusters_ == 3


def test_ctrl_c_left_the_column_names_of_another_tree():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LINES, columns=["a", "b"])
    make = lambda: OTD().fit(frame)  # noqa: E731
    for model in everywhere(lambda model: raise_interrupt(), make, lambda model: model.fit(X)):
        named = hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == (2 if named else 3)


def test_an_error_of_a_signal_handler_keeps_its_type():
    class StopNow(KeyboardInterrupt):
        pass

    def stop_now(*_):
        raise StopNow("enough")

    with pytest.raises(StopNow, match="enough") as caught:
        OHAC().fit(X, progress=stop_now)
    assert "the tree is valid and holds 40 points" in caught.value.__notes__[0]


@pytest.mark.parametrize("Estimator", [OTD, OHAC, BIRCH])
@pytest.mark.parametrize("call", CALLS)
def test_a_signal_handler_inserted_in_the_middle_of_another_call(Estimator, call, monkeypatch):
    """It is told so, or does it before or after; the call under way never sees it half done."""
    monkeypatch.setattr(_cf_tree, "_FEED", 5)
    outcomes = set()
    new = iter(range(100, 10**9))

    def handler(model):
        try:
            model.insert(LINES[0], id=next(new))
            outcomes.add("inserted")
        except RuntimeError as error:
            outcomes.add(str(error).partition(";")[0])

    make = lambda: Estimator(n_clusters=1).fit(LINES[:10], ids=range(10))  # noqa: E731
    for model in everywhere(handler, make, CALLS[call]):
        model.check()
        assert len(model.ids_) == len(model)
        assert np.array_equal(model.labels_, np.zeros(len(model)))
    assert outcomes == {"inserted", "this model is in the middle of a batch or of another call"}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_a_signal_handler_that_inserts_while_rows_are_compared():
    """The core looks for signals, too, when it has been at work for a while."""
    rows = np.random.default_rng(0).normal(size=(8_000, 20)).astype(np.float32)
    model = OHAC(n_clusters=5).fit(rows)
    refusals = []

    def handler(*_):
        try:
            model.partial_fit(rows[:1])
        except RuntimeError as refused:
            refusals.append(str(refused))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        asked = np.arange(100)
        while not refusals:
            held = len(model)
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            labels = model.predict(rows[asked])
            signal.setitimer(signal.ITIMER_REAL, 0)
            if len(model) == held:  # else the handler came before the work, or after it
                assert np.array_equal(labels, model.labels_[asked])
            asked = np.concatenate([asked, asked])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "signal handler cannot use it before" in refusals[0]
    model.check()


def test_lazy_input_may_ask_the_model():
    model = OHAC(n_clusters=1).fit(X, ids=range(40))
    model.partial_fit(X, ids=(len(model) + i for i in range(40)))
    assert model.ids_.tolist() == list(range(80))

    class Lazy:
        def __array__(self, dtype=None, copy=None):
            return model.points()[: len(model) // 2]

    assert len(model.predict(Lazy())) == 40


# --- progress ------------------------------------------------------------------------


@every_estimator
def test_a_callable_hears_of_the_end(Estimator):
    news = []
    model = Estimator(n_clusters=1)
    model.fit(X, progress=lambda *args: news.append(args))
    assert news[-1] == (40, 40)
    model.fit_predict(X, progress=lambda *args: news.append(args))
    assert news[-1] == (40, 40)
    if Estimator in ONLINE:
        model.partial_fit(X[:7], progress=lambda *args: news.append(args))
        assert news[-1] == (7, 7)


@every_estimator
def test_a_callable_hears_how_far_a_long_batch_is(Estimator):
    rows = long_batch(Estimator)
    news = []
    Estimator().fit(rows, progress=lambda *args: news.append(args))
    done = [d for d, total in news]
    assert all(total == len(rows) for d, total in news)
    assert done == sorted(done)
    assert done.count(len(rows)) == 1
    assert len(done) >= 2


@every_estimator
def test_true_draws_a_bar_and_false_nothing(Estimator, capfd):
    Estimator().fit(X, progress=False)
    assert capfd.readouterr() == ("", "")
    Estimator().fit(X, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "40/40" in err


def test_the_bar_tells_speed(capfd):
    OHAC().fit(long_batch(OHAC), progress=True)
    assert "points/s" in capfd.readouterr().err


def test_without_rich_there_is_a_plain_line(capfd, monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    assert len(OHAC().fit(X, progress=True)) == 40
    out, err = capfd.readouterr()
    assert out == ""
    assert "inserting 40/40 points" in err


@every_estimator
@pytest.mark.parametrize("wrong", [1, None, "yes", 0.5])
def test_anything_else_is_refused(Estimator, wrong):
    model = Estimator().fit(X)
    before = model.hierarchy()
    calls = [model.fit] if Estimator is HAC else [model.fit, model.partial_fit]
    for call in calls:
        with pytest.raises(TypeError, match=r"expected True, False or a callable f\(done, total\)"):
            call(X, progress=wrong)
    assert model.hierarchy() == before


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.insert(X[0].astype(np.float32)),
        lambda model: model.partial_fit(X),
        lambda model: model.fit(X),
        lambda model: model.labels_,
        lambda model: model.predict(X),
        lambda model: model.hierarchy(),
        lambda model: len(model),
        lambda model: model.__getstate__(),
        lambda model: model.check(),
    ],
)
def test_a_model_cannot_be_used_from_inside_its_own_batch(use):
    rows = long_batch(OHAC)
    model = OHAC(n_clusters=1).fit(rows[:10])
    with pytest.raises(RuntimeError, match="in the middle of a batch"):
        model.partial_fit(rows, progress=lambda done, total: use(model))
    model.check()


# --- threads ---------------------------------------------------------------------------


def in_threads(*tasks):
    """Run all at once; raise what any of them raises."""
    failures = []

    def guarded(task):
        try:
            task()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.threads
@every_estimator
def test_the_gil_is_released_during_a_batch(Estimator):
    rows = long_batch(Estimator)
    model = Estimator()
    counting, ended = threading.Event(), threading.Event()
    ticks = 0

    def fit():
        counting.wait()  # a crowded machine may be slow to start the other thread
        model.fit(rows)
        ended.set()

    def count():
        nonlocal ticks
        counting.set()
        while not ended.is_set():
            time.sleep(0.0005)  # with the GIL held, this would last until the end
            ticks += 1

    in_threads(fit, count)
    assert ticks > 10


@pytest.mark.threads
@every_online
def test_two_threads_may_insert_into_one_model(Estimator):
    n = 300 if Estimator is NaiveHAC else 3_000  # a whole tree a point, or not
    rows = np.random.default_rng(1).normal(size=(scaled(n), 3))
    half = len(rows) // 2
    model = Estimator(n_clusters=1)
    ids = []
    in_threads(
        lambda: ids.extend(model.insert(row) for row in rows[:half]),
        lambda: ids.extend(model.insert(row) for row in rows[half:]),
    )
    assert sorted(ids) == list(range(len(rows)))
    assert len(model) == len(rows)
    model.check()


@pytest.mark.threads
@every_online
def test_readers_wait_for_writers(Estimator):
    rows = np.random.default_rng(1).normal(size=(scaled(4_000), 3))
    batches = np.array_split(rows, 20)
    model = Estimator(n_clusters=1).fit(rows[:5])
    writing = threading.Event()

    def write():
        for batch in batches:
            model.partial_fit(batch)
        writing.set()

    def read():
        while not writing.is_set():
            tree = model.hierarchy()
            tree.check()
            assert len(tree) <= len(model)
            assert len(model.predict(rows[:3])) == 3
            assert model.labels_.shape[0] <= model.n_leaves_

    in_threads(write, read, read)
    assert len(model) == len(rows) + 5
    model.check()


@pytest.mark.threads
def test_many_threads_share_the_first_lock():
    for _ in range(50):
        model = OHAC()
        locks = set()
        in_threads(*[partial(lambda m, seen: seen.add(m._lock()), model, locks)] * 8)
        assert len(locks) == 1


@pytest.mark.threads
def test_threads_that_fit_at_once_leave_one_whole_tree():
    model = OHAC()
    in_threads(*[lambda n=n: model.fit(X[:n]) for n in (10, 20, 30, 40)])
    n = len(model)
    assert model.hierarchy() == OHAC().fit(X[:n]).hierarchy()


FORK = """
import os, signal, threading
import ramify

model, other = ramify.OHAC(), ramify.OHAC().fit([[0.0], [1.0]])
begun, ended = threading.Event(), threading.Event()

def wait(done, total):
    begun.set()
    ended.wait()

thread = threading.Thread(target=model.fit, args=([[0.0], [1.0]],), kwargs={"progress": wait})
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)  # instead of a hang
    for call in (len, ramify.OHAC.hierarchy, lambda model: model.insert([0.0])):
        try:
            call(model)
        except RuntimeError as error:
            print(error, flush=True)
    print(len(other.partial_fit([[2.0]])), len(ramify.OHAC().fit([[0.0]])), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
ended.set()
thread.join()
model.check()
print(len(model))
"""


@pytest.mark.threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_waited_for_a_thread_that_it_does_not_have():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=300
    )
    *refusals, others, code, held = run.stdout.splitlines()
    assert len(refusals) == 3, run.stderr
    assert all("in use by another thread when this process was forked" in why for why in refusals)
    assert (others, code, held) == ("3 1", "0", "2")


FIRST_USE_IN_A_CHILD = """
import os, threading
import ramify

model = ramify.OHAC(n_clusters=2).fit([[float(i)] for i in range(600)])
rows = model.points()
child = os.fork()
if child == 0:
    failures = []
    start = threading.Barrier(4)

    def use():
        try:
            start.wait(60)
            model.predict(rows, n_jobs=2)
            len(model)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*failures, flush=True)
    os._exit(len(failures))
assert os.waitpid(child, 0)[1] == 0
"""


# Not for ThreadSanitizer, which loses count of the threads of a child.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_of_a_forked_child_all_made_the_lock_anew():
    for _ in range(3):
        run = run_python(FIRST_USE_IN_A_CHILD)
        assert run.returncode == 0, run.stdout + run.stderr


def test_scripts_end_without_complaints():
    """At exit neither the lock nor the extension's own leak detector says a word."""
    script = textwrap.dedent("""
        import ramify
        model = ramify.OHAC(n_clusters=1).fit([[1.0], [2.0]])
        try:
            model.insert([float("nan")])
        except ValueError:
            pass
        model.labels_
    """)
    run = run_python(script)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.threads
@pytest.mark.no_asan  # a batch long enough for a look at the clock takes minutes
@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("Estimator", [OHAC, NaiveNN, PERCH])
def test_a_number_written_during_the_batch_made_an_endless_loop(Estimator, wrong):
    X = np.random.default_rng(0).normal(size=(20_000 if SMALL else 400_000, 2))
    called = []

    def spoil(done, total):
        called.append(done)
        X[-1, -1] = wrong

    model = Estimator()
    with pytest.raises(ValueError, match="changed since it was checked") as caught:
        model.partial_fit(X, progress=spoil)
    assert called
    held = len(model)
    assert held < len(X)
    assert f"holds {held:,} points" in caught.value.__notes__[0]
    model.check()
    assert np.array_equal(model.points(), X[:held])
    model.partial_fit(X[held : held + 10])
    assert len(model) == held + 10


def test_a_query_spoilt_by_another_thread_is_refused_by_the_core():
    live = OHAC().fit(np.random.default_rng(0).normal(size=(50, 2)))._live._core
    with pytest.raises(ValueError, match="changed since it was checked"):
        live.nearest(np.array([[0.0, np.nan]]), 3)
    assert live.nearest(np.zeros((1, 2)), 3)[0].shape == (1, 3)


@pytest.mark.threads
def test_a_refused_query_let_writers_in_before_its_helpers_were_done():
    """The thread that found the wrong row passed its turn on; others were still reading."""
    rng = np.random.default_rng(0)
    live = OHAC().fit(rng.normal(size=(500, 3)))._live._core
    queries = rng.normal(size=(1024, 3))
    queries[512 + 32] = np.nan  # in a block for which the helpers are there
    done = threading.Event()

    def write():
        while not done.is_set():
            live.insert_one(rng.normal(size=3))

    def read():
        try:
            for _ in range(20):
                with pytest.raises(ValueError, match="changed since it was checked"):
                    live.nearest(queries, 1, 3)
        finally:
            done.set()

    in_threads(write, read)
    live.check()
