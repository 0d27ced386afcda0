# SPDX-License-Identifier: BSD-3-Clause
"""forget.py: `ramify forget`: points out of a saved tree."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_json, verb

NAME = "forget"
EXAMPLES = (
    "ramify forget tickets.ramify T4000 T4017",
    "ramify forget tickets.ramify --ids-from deleted.txt -o kept.ramify",
    "grep -h ^T requests/*.txt | ramify forget tickets.ramify --ids-from -",
)


@verb(NAME)
def run(
    tree: options.TreeFile,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IDS",
            help="Points by their ids, or by their numbers where they have none.",
        ),
    ] = None,
    ids_from: Annotated[
        str | None,
        typer.Option(
            "--ids-from",
            metavar="FILE|-",
            help="Read ids from a file, or from standard input: one a line, as it stands. Blank "
            "lines are left out.",
        ),
    ] = None,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing-ok",
            help="Leave out ids that the tree does not have, and count them. Without, one of "
            "them is a mistake, and nothing is forgotten.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="TREE", help="File for the new tree; by default the old one's."
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Take points out of a saved tree, as if they had been deleted.

    The tree is repaired as its algorithm has it, and the new file knows nothing of them, nor
    do the labels beside it; files and exports that were written before do. All or nothing:
    the old file is replaced when the new tree is complete. While another command writes the
    tree, this one waits.
    """
    from ramify.cli._rewriting import rewrite

    wanted = _wanted(ids, ids_from)
    gone = unknown = 0

    def forget(model: Any) -> bool:
        nonlocal gone, unknown
        points, unknown = _found(tree, model, wanted, missing_ok=missing)
        gone = len(points)
        if points:
            model.forget(points)
        return bool(points)

    target, model = rewrite(tree, out, forget, quiet=quiet)
    _report(target, model, gone, unknown, quiet=quiet, json=json)


def _wanted(ids: Sequence[str] | None, ids_from: str | None) -> list[str]:
    """The ids that were typed, or are in a file."""
    if bool(ids) == (ids_from is not None):
        raise WrongCallError("give ids, or --ids-from, one of the two")
    if ids_from is None:
        return list(ids or ())
    if ids_from != "-":
        text = Path(ids_from).read_text(encoding="utf-8")
    elif sys.stdin is None:
        raise ValueError("standard input is closed; expected ids there")
    else:
        text = sys.stdin.buffer.read().decode()
    lines = (line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n"))
    return [line for line in lines if line.strip()]


def _found(
    tree: Path, model: Any, wanted: Sequence[str], *, missing_ok: bool
) -> tuple[list[Any], int]:
    """Ids or numbers of points that are there, each once, and how many are not."""
    from ramify.cli import _models

    if not hasattr(model, "forget"):
        raise ValueError(f"{tree}: trees of {type(model).__name__} only grow, and forget nothing")
    known = _models.ids(model)
    there = set(_models.point_numbers(model) if known is None else known.tolist())
    is_text = known is not None and known.dtype.kind == "O"
    points = dict.fromkeys(word if is_text else _whole(word) for word in wanted)
    unknown = [one for one in points if one not in there]
    if unknown and not missing_ok:
        more = "" if len(unknown) == 1 else f" (and {len(unknown) - 1:,} more)"
        what = "no point has the id" if known is not None else "there is no point"
        raise ValueError(f"{tree}: {what} {unknown[0]!r}{more}; nothing was forgotten")
    kept = [one for one in points if one in there]
    if len(kept) == len(there):
        raise ValueError(f"{tree}: these are all of its points; remove the file instead")
    return kept, len(unknown)


def _whole(word: str) -> int | str:
    """A number, as which ids that are numbers and points without ids are known."""
    try:
        return int(word) if "_" not in word else word
    except ValueError:
        return word


def _report(
    target: Path, model: Any, forgotten: int, unknown: int, *, quiet: bool, json: bool
) -> None:
    if json:
        facts = {"tree": str(target), "forgotten": forgotten, "missing": unknown}
        print_json(facts | {"points": model.n_points_, "bytes": target.stat().st_size})
        return
    rest = f"; {unknown:,} were not there" if unknown else ""
    note(f"{target}: {forgotten:,} forgotten, {model.n_points_:,} points left{rest}", quiet=quiet)
