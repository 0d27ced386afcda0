# SPDX-License-Identifier: BSD-3-Clause
"""_answers.py: what a caller is told, and what is written down of it.

The same functions serve calls as they come and operations that are replayed, so that an
answer that was lost on its way can be given again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ramify.journal._model import Answer
from ramify.journal._records import Operation, Stored
from ramify.journal._store import Outcome
from ramify.tree import Receipt
from ramify.wording import words_of


def receipt(operation: Operation, answer: Answer, version: int) -> Receipt:
    """What to tell the caller of an operation."""
    repeats = operation.head.get("repeats") or []
    numbers = answer.numbers
    if repeats:
        known = {place: number for place, number, _ in repeats}
        fresh = iter(numbers)
        total = len(numbers) + len(known)
        numbers = [known[at] if at in known else next(fresh) for at in range(total)]
    return Receipt(numbers, version, len(repeats), answer.forgotten, answer.value)


def outcome(stored: Stored, answer: Answer | None, version: int) -> Outcome:
    """What to write down of an operation; ``answer`` is None if the tree refused it."""
    operation = stored.operation
    if answer is None:
        return Outcome(stored.seq)
    head, numbers = operation.head, answer.numbers
    ids = head.get("ids")
    gone = head.get("forget") or (head["points"] if operation.kind == "forget" else [])
    named = zip(ids or [], numbers if ids else [], strict=True)
    points = [(id, number, version) for id, number in named if number >= 0]  # others took no id
    request = None
    if operation.key is not None:
        told = write_receipt(receipt(operation, answer, version))
        request = operation.key, stored.seq, head["asked"], told
    return Outcome(
        stored.seq,
        points=points,
        gone=gone,
        gone_numbers=answer.gone_numbers,
        request=request,
        marks=[(source, str(at)) for source, at in (head.get("marks") or {}).items()],
        payloads=list(_payloads(head.get("payloads"), numbers, ids)),
        columns=head.get("columns"),
    )


def _payloads(
    payloads: list[Any] | None, numbers: list[int], ids: list[Any] | None
) -> Iterable[tuple[int, Any, str, str]]:
    for at, payload in enumerate(payloads or []):
        if payload is not None and numbers[at] >= 0:
            body = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
            one = None if ids is None else ids[at]
            yield numbers[at], one, body, words_of(payload)


def write_receipt(told: Receipt) -> str:
    """As it is kept for the next time that the same request comes."""
    return json.dumps([_runs(told.numbers), told.version, told.repeated, told.forgotten])


def read_receipt(text: str) -> Receipt:
    """The inverse of :func:`write_receipt`."""
    runs, version, repeated, forgotten = json.loads(text)
    numbers = [number for first, length in runs for number in range(first, first + length)]
    return Receipt(numbers, version, repeated, forgotten)


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Numbers as first ones and lengths of runs.

    Examples
    --------
    >>> _runs([4, 5, 6, 9, -1, -1])
    [(4, 3), (9, 1), (-1, 1), (-1, 1)]
    """
    ends = [0, *(at + 1 for at, (a, b) in enumerate(pairwise(numbers)) if b != a + 1)]
    return [(numbers[a], b - a) for a, b in pairwise([*ends, len(numbers)]) if b > a]
