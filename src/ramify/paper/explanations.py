# SPDX-License-Identifier: BSD-3-Clause
"""explanations.py: why a cell differs from the paper, as far as we know, in one sentence.

Keys are (measure, data set, method); "*" stands for any method. Say what was
checked and what was not. A difference without an entry is printed as unexplained.
"""

_REASONS: dict[tuple[str, str, str], str] = {}


def explain(measure: str, column: str, method: str) -> str | None:
    """The sentence for a cell; `column` may be a title such as "mnist, first 2,000"."""
    name, _, part = column.partition(",")
    for key in ((measure, name, method), (measure, name, "*")):
        if part and (found := _REASONS.get((key[0], f"{name} part", key[2]))):
            return found
        if key in _REASONS:
            return _REASONS[key]
    return None
