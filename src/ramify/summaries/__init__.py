# SPDX-License-Identifier: BSD-3-Clause
"""Summaries on the nodes of a tree, of which only stale ones are made anew."""

from ramify.summaries._calls import Part, SummaryNode
from ramify.summaries._retrieval import Hit
from ramify.summaries._summary_tree import Summary, SummaryTree, Update

__all__ = ["Hit", "Part", "Summary", "SummaryNode", "SummaryTree", "Update"]
