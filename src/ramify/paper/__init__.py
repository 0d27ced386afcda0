# SPDX-License-Identifier: BSD-3-Clause
"""paper: run the evaluation of Rajagopalan et al. again, ours beside theirs."""

from ramify.paper.report import Report, write
from ramify.paper.reproduce import Audience, Options, reproduce

__all__ = ["Audience", "Options", "Report", "reproduce", "write"]
