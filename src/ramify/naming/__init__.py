# SPDX-License-Identifier: BSD-3-Clause
"""Words and names of the clusters of a growing tree, which stay while the tree goes on."""

from ramify.naming._topics import Topic, Topics, Update
from ramify.naming._words import Words

__all__ = ["Topic", "Topics", "Update", "Words"]
