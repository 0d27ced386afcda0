# SPDX-License-Identifier: BSD-3-Clause
"""fits.py: what asv measures of every commit: the cases of ``python -m benchmarks.builds``.

asv builds each commit for itself and measures all by the cases of this checkout. It imports this
file alone, by a path of its own, so the way to the others has to be named.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks import streams
from benchmarks.builds import cases
from benchmarks.plan import Plan

JOBS = {case.name: json.loads(job) for job, case in cases(Plan(None), full=False).items()}


class Fits:
    """Processor time of one fit."""

    params: ClassVar = list(JOBS)
    param_names = ("case",)
    timer = time.process_time
    number, repeat, rounds, warmup_time = 1, 2, 2, 0.0
    timeout = 300

    def setup(self, case: str) -> None:
        """Make the rows."""
        import ramify

        job = dict(JOBS[case])
        options: dict[str, Any] = dict(job["options"])
        self.rows = streams.rows_of(**job["rows"])
        self.model = getattr(ramify, options.pop("algorithm"))(**options)

    def time_fit(self, case: str) -> None:
        """Fit them."""
        self.model.fit(self.rows)
