# SPDX-License-Identifier: BSD-3-Clause
"""A live taxonomy for agents: ``ramify mcp``, with ``pip install "ramify[mcp]"``."""

from ramify.mcp._server import require, server
from ramify.mcp._tools import Taxonomy

__all__ = ["Taxonomy", "require", "server"]
