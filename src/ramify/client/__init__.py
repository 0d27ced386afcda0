# SPDX-License-Identifier: BSD-3-Clause
"""Trees of a server, from Python: ``ramify.Client`` and ``ramify.AsyncClient``."""

from ramify.client._answers import RemoteAssignment, RemoteCluster, RemoteDirty, RemoteHit
from ramify.client._calls import Listed, NotThereError, RemoteError
from ramify.client._clients import AsyncClient, AsyncRemoteTree, Client, RemoteTree

__all__ = [
    "AsyncClient",
    "AsyncRemoteTree",
    "Client",
    "Listed",
    "NotThereError",
    "RemoteAssignment",
    "RemoteCluster",
    "RemoteDirty",
    "RemoteError",
    "RemoteHit",
    "RemoteTree",
]
