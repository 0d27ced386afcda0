# SPDX-License-Identifier: BSD-3-Clause
"""memory.py: how much memory this process holds, has held, and may hold, in bytes.

Linux tells the present and lets us restart the peak; elsewhere we make do with the
peak since the start of the process. Windows does not say.
"""

import sys
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident() -> int:
    """Held now."""
    return _status("VmRSS") or _ever()


def peak() -> int:
    """Most held at once since the last `reset_peak`."""
    return _status("VmHWM") or _ever()


def reset_peak() -> None:
    """Start counting the peak anew, where that is possible."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return


def cap(size: int) -> None:
    """From now on refuse more than `size` beyond what is mapped now, by MemoryError."""
    try:
        import resource
    except ImportError:  # Windows
        return
    most = _status("VmSize") + size
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _status(field: str) -> int:
    try:
        text = _STATUS.read_text(encoding="ascii")
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def _ever() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
