# SPDX-License-Identifier: BSD-3-Clause
"""memory.py: how much memory this process holds, has held, and may hold, in bytes.

Linux tells the present and lets us restart the peak; elsewhere we make do with the
peak since the start of the process. Windows does not say.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from ramify.errors import LargeRowsWarning, TooLargeError

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
    if sys.platform == "win32":
        return
    import resource

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
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


# --- room for rows that are about to be made dense -------------------------------------------

#: What is smaller is not looked at: to look costs more.
_SMALL = 64 * 2**20
#: Of what is there: more than this share is warned of.
_GOOD_PART = 0.5


def available() -> int | None:
    """How much this process may still take, with what can be swapped; None if that is not known.

    The least of what the machine has free, what the limit of each of its control groups
    leaves, and what the limit of the process (``ulimit -v``) does.

    Examples
    --------
    >>> from ramify.memory import available
    >>> available() is None or available() > 0
    True
    """
    found = [room for room in (_of_machine(), *_of_groups(), _of_process()) if room is not None]
    return max(min(found), 0) if found else None


def require_room(
    rows: int, columns: int, size: int, *, copies: int = 1, exact: bool = True
) -> None:
    """Refuse to make rows dense that cannot fit the memory; warn of those that take much of it.

    Parameters
    ----------
    rows, columns, size : int
        How many, and the bytes of a number.
    copies : int
        How many of them: from 2 on a tree holds the rows, and the mean of each of its merges.
    exact : bool
        Whether all of these rows will be there at once; otherwise it is only warned.
    """
    needed = rows * columns * size * copies
    if needed < _SMALL:
        return
    room = available()
    if room is None or needed <= _GOOD_PART * room:
        return
    tree = "a tree keeps them dense, with a mean for each merge"
    kept = tree if copies > 1 else "they are made dense"
    story = (
        f"{rows:,} sparse rows of {columns:,} columns take {needed / 1e9:,.1f} GB, because {kept}; "
        f"{room / 1e9:,.1f} GB are free. Bring them to a few hundred columns first: "
        f"X = sklearn.decomposition.TruncatedSVD(256).fit_transform(X)"
    )
    if exact and needed > room:
        raise TooLargeError(story)
    # To the caller of the estimator, whichever it is.
    warnings.warn(story, LargeRowsWarning, stacklevel=5)


def _of_machine() -> int | None:
    """Free memory, and free swap."""
    found = {}
    for line in _lines(Path("/proc/meminfo")):
        name, _, value = line.partition(":")
        found[name] = value.split()
    if "MemAvailable" in found:
        return 1024 * sum(int(found.get(name, ["0"])[0]) for name in ("MemAvailable", "SwapFree"))
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # all that there is
    except (ValueError, OSError):
        return None


def _of_groups() -> Iterator[int]:
    """What the limits of control groups leave, of version 1 or 2, up to the root."""
    for line in _lines(Path("/proc/self/cgroup")):
        _, kinds, path = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        root = Path("/sys/fs/cgroup", kinds)
        limit, used = _LIMITS[kinds]
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and now is not None:
                yield most - now + _reclaimable(folder)
            if folder == root:
                break


#: Names of the limit and of what is used, by the controllers in /proc/self/cgroup.
_LIMITS = {
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


def _reclaimable(folder: Path) -> int:
    """Copies of files, which give way."""
    for line in _lines(folder / "memory.stat"):
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _of_process() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most - _status("VmSize")


def _number(path: Path) -> int | None:
    """The number in a file; None for "max", and where there is no such file."""
    words = _lines(path)
    return int(words[0]) if len(words) == 1 and words[0].isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
