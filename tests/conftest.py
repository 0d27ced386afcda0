"""One Hypothesis profile for everyone: the same examples on every run."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.strategies import examples

settings.register_profile(
    "ramify",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("search", parent=settings.get_profile("ramify"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ramify"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "no_asan: too slow or too large under AddressSanitizer")
    config.addinivalue_line("markers", "threads: runs in several threads, so `make tsan` runs it")


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """A run in the background of a shell ignores Ctrl-C; some tests need it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
