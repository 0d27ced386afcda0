"""The core's own classes, by the type of their rows.

`make test` builds the extension that shows them (tests/core); where it is not there, on
an installed wheel, tests of the core's parts are skipped.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.strategies import examples

parts = pytest.importorskip(
    "ramify_core_parts",
    reason="the core's own classes are not built; `make test` builds them",
)


def part(name: str, dtype: type) -> type:
    """part("Tree", np.float32) is parts.TreeF32."""
    return getattr(parts, name + ("F32" if dtype == np.float32 else "F64"))


def run_machine(machine: type[RuleBasedStateMachine], runs: int, steps: int = 40) -> None:
    """So many runs of a state machine, of up to so many steps."""
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples(runs), stateful_step_count=steps)
    )
