# SPDX-License-Identifier: BSD-3-Clause
"""_proxies.py: who asks, when a proxy that is trusted asks for somebody."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def read_networks(given: Iterable[str]) -> tuple[_Network, ...]:
    """Addresses and networks, as ``10.0.0.7`` and ``10.0.0.0/8``.

    Examples
    --------
    >>> read_networks(["10.0.0.7"])
    (IPv4Network('10.0.0.7/32'),)
    >>> read_networks(["everybody"])
    Traceback (most recent call last):
    ...
    ValueError: trusted_proxies: 'everybody' is no address, as 10.0.0.7 or 10.0.0.0/8
    """
    found = []
    for one in given:
        try:
            found.append(ipaddress.ip_network(one, strict=False))
        except ValueError:
            raise ValueError(
                f"trusted_proxies: {one!r} is no address, as 10.0.0.7 or 10.0.0.0/8"
            ) from None
    return tuple(found)


class Proxies:
    """Those whose word about the client is taken: nobody's, unless it was named.

    Of ``X-Forwarded-For`` each proxy writes down at the end whom it heard; so the client is the
    last address that is not a trusted proxy's. What stands before it anybody may have written.

    Examples
    --------
    >>> asked = {"client": ("10.0.0.7", 1), "headers": [(b"x-forwarded-for", b"6.6.6.6, 1.2.3.4")]}
    >>> Proxies(["10.0.0.0/8"]).client_of(asked), Proxies([]).client_of(asked)
    ('1.2.3.4', '10.0.0.7')
    """

    def __init__(self, trusted: Iterable[str]) -> None:
        self._trusted = read_networks(trusted)

    def client_of(self, scope: Mapping[str, Any]) -> str:
        """The address of who asks."""
        peer: str = (scope.get("client") or ("?", 0))[0]
        if not self._trusted or not self._trusts(peer):
            return peer
        said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        heard = peer
        for one in reversed(b",".join(said).decode("latin-1").split(",")):
            try:
                heard = str(ipaddress.ip_address(one.strip()))
            except ValueError:
                break
            if not self._trusts(heard):
                break
        return heard

    def _trusts(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)
