"""properties.py: the property tests on examples that nobody has seen before.

The suite tries the same examples on every run. Here Hypothesis's own seed is another one
in every pass, tests come in another order, and what has not begun when the time is up is
left out. This file is also the plugin that pytest needs for that.
"""

import os
import random
import re
import subprocess
import sys
import time

import pytest

_SEED, _END = "RAMIFY_FUZZ_SEED", "RAMIFY_FUZZ_END"


def one_pass(seed: int, end: float) -> tuple[int, bool]:
    """Run every property test on new examples until `end`, a time.time(). How many, all well?"""
    command = [sys.executable, "-m", "pytest", "-n", str(os.cpu_count()), "-m", "hypothesis"]
    command += ["-q", "-rfE", "-p", "tests.fuzz.properties", "-p", "no:cacheprovider"]
    command += [f"--hypothesis-seed={seed}", "--hypothesis-show-statistics", "tests"]
    news = {"HYPOTHESIS_PROFILE": "search", _SEED: str(seed), _END: str(end)}
    run = subprocess.run(command, env={**os.environ, **news}, capture_output=True, text=True)
    # 5: nothing was left to run.
    well = run.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if not well:
        print(f"properties, HYPOTHESIS_PROFILE=search --hypothesis-seed={seed}:")
        print(run.stdout.partition("= Hypothesis Statistics =")[0], run.stderr)
    return examples_in(run.stdout), well


def examples_in(report: str) -> int:
    """The number of examples that Hypothesis's statistics speak of."""
    counts = re.findall(r"(\d+) passing examples?, (\d+) failing", report)
    return sum(int(passed) + int(failed) for passed, failed in counts)


# --- the plugin -----------------------------------------------------------------------


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # By the seed alone: all workers of a run must have one order.
    random.Random(os.environ[_SEED]).shuffle(items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.time() > float(os.environ[_END]):
        pytest.skip("the time is up")
