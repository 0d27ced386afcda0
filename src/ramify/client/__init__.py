# SPDX-License-Identifier: BSD-3-Clause
"""Trees of a server, from Python: ``ramify.Client`` and ``ramify.AsyncClient``."""

from ramify.client._asynchronous import AsyncClient, AsyncRemoteTree
from ramify.client._calls import RemoteError
from ramify.client._synchronous import Client, RemoteTree

__all__ = ["AsyncClient", "AsyncRemoteTree", "Client", "RemoteError", "RemoteTree"]
