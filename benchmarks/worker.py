# SPDX-License-Identifier: BSD-3-Clause
"""worker.py: one measurement in a process of its own; prints it as JSON.

Peak memory is counted above what the process held with its rows loaded and its
libraries imported: what the work itself needed.
"""

import json
import resource
import sys
import time
from pathlib import Path

from benchmarks import work


def resident_mb() -> float:
    """Memory held now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    """Run the function named in argv with its JSON options."""
    name, options = sys.argv[1], json.loads(sys.argv[2])
    timed = getattr(work, name)(**options)
    before = resident_mb()
    wall, cpu = time.perf_counter(), time.process_time()
    extra = timed() or {}
    figures = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_mb": max(0.0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before),
    }
    print(json.dumps(figures | extra))


if __name__ == "__main__":
    main()
