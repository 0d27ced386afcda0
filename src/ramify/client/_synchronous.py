# SPDX-License-Identifier: BSD-3-Clause
"""_synchronous.py: the client for plain programs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, Self

from ramify.client import _calls
from ramify.client._calls import Call, Dialogue, RemoteError
from ramify.client._following import Following
from ramify.client._verbs import ClientVerbs, TreeVerbs


class Client(ClientVerbs):
    """A server's trees. Needs ``pip install "ramify[client]"``.

    Calls are made again when the network or the server fails; nothing is done twice.

    Parameters
    ----------
    url : str
        Such as ``"http://127.0.0.1:8750"``.
    token : str, optional
        By default RAMIFY_TOKEN of the environment.
    attempts : int
        How often a call is made, at most.
    timeout : float
        Seconds until an attempt is given up.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
    ...     tree = client.create("tickets", metric="cosine")
    ...     tree.add([[1.0, 0.0], [0.0, 1.0]], ids=["T1", "T2"]).numbers
    [0, 1]
    """

    def __init__(
        self, url: str, *, token: str | None = None, attempts: int = 5, timeout: float = 150.0
    ) -> None:
        httpx = _calls.require_httpx()
        self._attempts = attempts
        self._lost = httpx.TransportError
        self._http = httpx.Client(
            base_url=url,
            timeout=timeout,
            headers=_calls.headers_of(token or os.environ.get("RAMIFY_TOKEN")),
        )

    def close(self) -> None:
        """Let the connections go.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     client.close()
        """
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def tree(self, name: str) -> RemoteTree:
        """A tree that is there.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     print(client.tree("tickets"))
        <RemoteTree tickets>
        """
        return RemoteTree(self, name)

    def call(self, call: Call) -> Any:
        """Make a call, more than once if need be.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     from ramify.client._calls import Call
        ...     print(client.call(Call("GET", "/healthz")))
        {'status': 'ok'}
        """
        for attempt in range(self._attempts):
            response = None
            try:
                response = self._http.request(
                    call.method,
                    call.path,
                    content=call.content,
                    headers=call.headers,
                    params=call.params,
                )
                if response.status_code not in _calls.AGAIN or attempt == self._attempts - 1:
                    break
            except self._lost as error:
                if attempt == self._attempts - 1:
                    raise ConnectionError(f"{self._http.base_url}: {error}") from error
            time.sleep(_calls.wait_before(attempt, response))
        return _calls.answer(call, response)

    def _say(self, dialogue: Dialogue) -> Any:
        try:
            call = next(dialogue)
            while True:
                try:
                    told = self.call(call)
                except RemoteError as error:
                    call = dialogue.throw(error)
                else:
                    call = dialogue.send(told)
        except StopIteration as end:
            return end.value


class RemoteTree(TreeVerbs):
    """A tree of a server: made by :meth:`Client.create` and :meth:`Client.tree`.

    Examples
    --------
    >>> import tempfile, ramify
    >>> from ramify.serve import running
    >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
    ...     tree = client.create("tickets")
    ...     print(tree)
    <RemoteTree tickets>
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self.name = client, name
        self._say = client._say

    def __len__(self) -> int:
        return int(self.info()["leaves"])

    def __bool__(self) -> bool:
        return True

    def follow(
        self, since: int | None = None, *, brief: bool = False
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Changes as they come: ("change", {...}) and now and then ("progress", {"version": v}).

        A connection that is lost is made again, and goes on after the last event that came.
        ("gone", {"oldest": v, ...}) is the last if that is not remembered any more: begin again
        with :meth:`export`.

        Parameters
        ----------
        since : int, optional
            A version that an answer has named; by default the present one.
        brief : bool
            Numbers of points and nodes alone, and of these no more than 2,000 of a kind.

        Examples
        --------
        >>> import tempfile, ramify
        >>> from ramify.serve import running
        >>> with running(tempfile.mkdtemp()) as url, ramify.Client(url) as client:
        ...     tree = client.create("tickets")
        ...     _ = tree.add([[0.0], [1.0]])
        ...     for kind, told in tree.follow(since=0):
        ...         if kind == "change":
        ...             print(told["inserted"])
        ...             break
        [0, 1]
        """
        client, at = self._client, Following(self.name, since, brief, self._client._attempts)
        while True:
            try:
                with client._http.stream("GET", at.path, params=at.asked, timeout=60.0) as lines:
                    if lines.status_code >= 400:
                        lines.read()
                        at.refused(lines)
                    else:
                        for event in map(at.hear, lines.iter_lines()):
                            if event is not None:
                                yield event
            except client._lost as error:
                at.lost(error)
            if at.over:
                return
            time.sleep(at.wait())
