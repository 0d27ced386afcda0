# SPDX-License-Identifier: BSD-3-Clause
"""seam.py: what other rooms use of this one: texts of points, and calls of what people bring."""

from ramify.summaries._calls import Budget, Caller, Job
from ramify.summaries._contents import Contents, Texts

__all__ = ["Budget", "Caller", "Contents", "Job", "Texts"]
