# SPDX-License-Identifier: BSD-3-Clause
"""spans.py: spans of time as people type them, and as files hold them: 90d, 12h, 30m."""

import re
from datetime import timedelta

import numpy as np

_UNITS = {
    "w": 604_800_000_000_000,
    "d": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}


def read_span(text: str) -> timedelta | np.timedelta64:
    """A span of time; NumPy's if it has a part of a microsecond, which Python's cannot have.

    Parameters
    ----------
    text : str
        A number above 0 and its unit: w, d, h, m, s, ms, us or ns.

    Returns
    -------
    timedelta or numpy.timedelta64

    Examples
    --------
    >>> read_span("90d"), read_span("1.5h")
    (datetime.timedelta(days=90), datetime.timedelta(seconds=5400))
    """
    found = re.fullmatch(r"(\d+)(?:\.(\d+))?(w|d|h|m|s|ms|us|ns)", text.strip())
    if found is None:
        raise ValueError(f"{text!r}: expected a span of time with its unit, such as 90d or 12h")
    parts = found[2] or ""
    count, rest = divmod(int(found[1] + parts) * _UNITS[found[3]], 10 ** len(parts))
    if rest or not 0 < count < 2**63:
        raise ValueError(f"{text!r}: expected a span of whole nanoseconds above 0, and below 2^63")
    if count % 1_000:
        return np.timedelta64(count, "ns")
    return timedelta(microseconds=count // 1_000)


def span_text(span: timedelta | np.timedelta64) -> str:
    """The inverse of :func:`read_span`, in the largest unit that has it whole.

    Parameters
    ----------
    span : timedelta or numpy.timedelta64

    Returns
    -------
    str

    Examples
    --------
    >>> span_text(timedelta(days=90)), span_text(timedelta(hours=36))
    ('90d', '36h')
    """
    count = int(np.timedelta64(span, "ns").astype(np.int64))
    unit = next(unit for unit in list(_UNITS)[1:] if count % _UNITS[unit] == 0)
    return f"{count // _UNITS[unit]}{unit}"
