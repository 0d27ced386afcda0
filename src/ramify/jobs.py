# SPDX-License-Identifier: BSD-3-Clause
"""jobs.py: how many threads ``n_jobs`` stands for."""

import os
from numbers import Integral

#: No machine has as many; the core takes no number of any size.
_MOST = 2**31 - 1


def thread_count(n_jobs: object, *, none: int) -> int:
    """Number of threads: ``n_jobs`` itself, one a processor for -1, ``none`` for None.

    ``none=-1`` makes None the same as -1.

    Examples
    --------
    >>> thread_count(2, none=1), thread_count(None, none=1)
    (2, 1)
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs={n_jobs!r}: expected an int or None, got {type(n_jobs).__name__}")
    wanted = none if n_jobs is None else int(n_jobs)
    if wanted == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if wanted < 1:
        meaning = "-1 or None" if none == -1 else "-1"
        raise ValueError(f"n_jobs={n_jobs!r}: expected at least 1, or {meaning} for all cores")
    return min(wanted, _MOST)
