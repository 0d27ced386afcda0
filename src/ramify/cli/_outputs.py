# SPDX-License-Identifier: BSD-3-Clause
"""_outputs.py: outputs that must not be inputs.

Files are written whole at the very end, so a command that writes over its own input
works, and destroys it. It is refused before anything is read.
"""

import os
import sys
from pathlib import Path

from ramify.cli._labels import beside


def keep_apart(out: Path | None, *others: tuple[Path | str, str]) -> None:
    """Refuse an output that is one of some other files, each with words for what it is.

    Links are followed, and ``-`` is what standard input comes from.
    """
    for other, what in others:
        if out is not None and is_same(out, other):
            raise ValueError(f"cannot write {out}: it is {what}; choose another name after -o")


def keep_tree(out: Path | None, tree: Path) -> None:
    """Refuse an output that is the tree it is made of, or the place of that tree's labels."""
    keep_apart(
        out, (tree, "the tree itself"), (beside(tree), f"where the labels of {tree} are kept")
    )


def keep_rows(tree: Path, data: str) -> None:
    """Refuse a new tree that is the file of its rows, or has its labels there."""
    keep_apart(tree, (data, "DATA itself"))
    keep_apart(beside(tree), (data, f"DATA itself, and where the labels of {tree} are kept"))
    keep_apart(beside(tree), (tree, f"{tree} itself, and where its labels are kept"))


def is_in_place(tree: Path, target: Path) -> bool:
    """Whether a changed tree takes the place of the old one."""
    return os.path.realpath(tree) == os.path.realpath(target)


def keep_old_tree(tree: Path, target: Path) -> None:
    """Refuse to write a changed tree over the old one or its labels, unless that is meant."""
    if not is_in_place(tree, target):
        keep_tree(target, tree)
        keep_apart(beside(target), (tree, f"{tree} itself, and where labels are kept"))


def is_same(path: Path, other: Path | str) -> bool:
    """Whether two names are those of one regular file, or would be."""
    try:
        found = _standard_input() if str(other) == "-" else os.stat(other)
        return found is not None and path.is_file() and os.path.samestat(path.stat(), found)
    except FileNotFoundError:  # one of them; names can still be compared
        return os.path.realpath(path) == os.path.realpath(other)


def _standard_input() -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or not the system's
        return None
