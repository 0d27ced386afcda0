# SPDX-License-Identifier: BSD-3-Clause
"""seam.py: what other rooms use of this one: texts of points, people's callables, readers."""

from ramify.summaries._calls import Budget, Caller, Job
from ramify.summaries._contents import Contents, Texts
from ramify.summaries._reading import SummaryReader, compact_beside

__all__ = ["Budget", "Caller", "Contents", "Job", "SummaryReader", "Texts", "compact_beside"]
