"""What tests share: one Hypothesis profile, the same examples on every run; fixtures."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """Iris as csv, with names and species."""
    from tests.flowers import write

    return write(tmp_path / "flowers.csv")


@pytest.fixture
def tree(tmp_path: Path, flowers: Path) -> Path:
    """A tree of iris with names, and labels beside it."""
    from tests.commands import done  # loads the command line, which few tests need

    words = ("--id-column", "name", "--label-column", "species", "-q")
    done("fit", flowers, "-o", tmp_path / "tree.ramify", *words)
    return tmp_path / "tree.ramify"
