# SPDX-License-Identifier: BSD-3-Clause
"""host.py: lends each job a process of its own, without loading the libraries each time."""

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any, Self

from benchmarks.plan import Job

#: BLAS and OpenMP on one thread; ours are told by n_jobs.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class Host:
    """A running ``benchmarks.worker``; started when needed, and again after it was killed."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def measure(self, job: Job) -> dict[str, Any]:
        """Figures, or why there are none: ``skipped`` or ``error``."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(self._limit, self._kill, (process,))
        timer.start()
        try:
            process.stdin.write(job.key + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            timer.cancel()
        if answer:
            figures: dict[str, Any] = json.loads(answer)
            return figures
        self._end()
        return {"error": f"did not finish in {self._limit:g} s"}

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.worker"],
                env=os.environ | ONE_THREAD,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # errors come as answers; the rest is peers' chatter
                text=True,
                start_new_session=True,  # so that it can be ended with the job that it runs
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # libraries are loaded: from here on the clock runs
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._kill(self._process)
            self._process.communicate()
            self._process = None

    @staticmethod
    def _kill(process: subprocess.Popen[str]) -> None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
