# SPDX-License-Identifier: BSD-3-Clause
"""machine.py: on what, and with which versions, a report was made."""

import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine() -> str:
    """Processor, number of cores, memory and system, in a line."""
    parts = [_processor(), f"{os.cpu_count()} cores"]
    if sys.platform != "win32":
        with suppress(ValueError, OSError):
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            parts.append(f"{memory / 2**30:.0f} GiB of memory")
    parts.append(platform.system())
    return ", ".join(parts)


def versions() -> str:
    """Ramify, Python and the libraries that results depend on."""
    names = ("ramify", "numpy", "scipy", "scikit-learn")
    found = [f"{name} {_version(name)}" for name in names]
    return ", ".join([found[0], f"Python {platform.python_version()}", *found[1:]])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
