# SPDX-License-Identifier: BSD-3-Clause
"""jobs.py: how many threads ``n_jobs`` stands for."""

import os

from ramify.checks import is_whole, whole_number

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
    wanted = none if n_jobs is None else n_jobs
    if is_whole(wanted) and wanted == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    why = f"or {'-1 or None' if none == -1 else '-1'} for all cores"
    return min(whole_number("n_jobs", wanted, why=why, kind="an int or None"), _MOST)
