# SPDX-License-Identifier: BSD-3-Clause
"""signing.py: what a server signs when it calls a webhook, and how the other end looks at it."""

from __future__ import annotations

import hashlib
import hmac
import time

#: The header of a call that has the signature.
SIGNATURE = "ramify-signature"


class SignatureError(ValueError):
    """A call that was not signed with this secret, or long ago."""


def sign(body: bytes, secret: str, now: float | None = None) -> str:
    """The header for a body: when, and the HMAC-SHA256 of when and what.

    Examples
    --------
    >>> sign(b"{}", "a-long-secret", now=0.0)[:14]
    't=0,v1=45508a9'
    """
    when = str(int(time.time() if now is None else now))
    digest = hmac.new(secret.encode(), f"{when}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={when},v1={digest}"


def require_signature(
    body: bytes, header: str | None, secret: str, *, max_age: float = 300.0
) -> None:
    """Refuse a call of a webhook that its server has not signed.

    Parameters
    ----------
    body : bytes
        As it came.
    header : str or None
        What the header ``ramify-signature`` says.
    secret : str
        That of the server.
    max_age : float
        Seconds after which a call is refused, so that nobody makes it again later.

    Raises
    ------
    SignatureError

    Examples
    --------
    >>> body = b'{"tree": "tickets"}'
    >>> require_signature(body, sign(body, "a-long-secret"), "a-long-secret")
    >>> require_signature(b"another", sign(body, "a-long-secret"), "a-long-secret")
    Traceback (most recent call last):
    ...
    ramify.client.signing.SignatureError: the call was not signed with this secret
    """
    parts = dict(part.partition("=")[::2] for part in (header or "").split(","))
    when = parts.get("t", "")
    if not when.isascii() or not when.isdigit() or len(when) > 15:
        raise SignatureError("the call has no signature")
    expected = sign(body, secret, float(when))
    if not hmac.compare_digest(expected.encode(), (header or "").encode()):
        raise SignatureError("the call was not signed with this secret")
    if abs(time.time() - float(when)) > max_age:
        raise SignatureError(f"the call was signed more than {max_age:g} seconds ago")
