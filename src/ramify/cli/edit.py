# SPDX-License-Identifier: BSD-3-Clause
"""edit.py: `ramify edit`: what people say about a saved tree."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import _options as options
from ramify.cli._console import WrongCallError, note, print_facts, print_json, verb

NAME = "edit"
EXAMPLES = (
    "ramify edit tickets.ramify",
    "ramify edit tickets.ramify rename 1017 refunds",
    "ramify edit tickets.ramify must-link T4000 T4017",
    "ramify edit tickets.ramify move T4000 T12,T17 -o edited.ramify",
)

#: How many words each takes, and of what.
_WORDS = {
    "must-link": "POINT POINT",
    "cannot-link": "POINT POINT",
    "unlink": "POINT POINT",
    "move": "NODE NODE",
    "release": "NODE",
    "rename": "NODE TEXT",
}


@verb(NAME)
def run(
    tree: options.TreeFile,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="EDIT",
            help="One of must-link, cannot-link and unlink, each of two points; move, a node and "
            "the node that it goes under; release, a node; rename, a node and a text, of which "
            '"" takes the name away.',
        ),
    ] = None,
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS", help="See EDIT.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="TREE", help="File for the new tree; by default the old one's."
        ),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Say what belongs together in a saved tree, and what it is called.

    Points go by their ids, or by their numbers where they have none; nodes by the ids that
    `ramify cut --node-ids` writes, or as A,B: the lowest node that holds both points. Without an
    edit, what was said so far is printed.
    """
    if what is None:
        _print(tree, json=json)
        return
    if what not in _WORDS:
        raise WrongCallError(f"there is no edit {what!r}; there are {', '.join(_WORDS)}")
    given = list(words or ())
    if len(given) != len(_WORDS[what].split()):
        raise WrongCallError(f"expected {what} {_WORDS[what]}, got {len(given)} words after it")
    from ramify.cli._rewriting import rewrite

    target, model = rewrite(tree, out, lambda model: _edit(model, what, given), quiet=quiet)
    if json:
        print_json({"tree": str(target), "edit": what, "points": len(model)})
    else:
        note(f"{target}: {what} {' '.join(given)}", quiet=quiet)


def _edit(model: Any, what: str, words: Sequence[str]) -> bool:
    try:
        if "link" in what:
            about: list[Any] = [_point(model, word) for word in words]
        elif what == "rename":
            about = [_node(model, words[0]), words[1] or None]
        else:
            about = [_node(model, word) for word in words]
        getattr(model.edit, what.replace("-", "_"))(*about)
    except KeyError as error:
        raise ValueError(str(error.args[0])) from None
    return True


def _point(model: Any, word: str) -> int | str:
    """A point as Python knows it: ids may be text or numbers."""
    from ramify.estimators.stream import Stream

    ids = Stream(model).ids
    if ids is not None and ids.dtype.kind == "O":
        return word
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word!r}: expected the number of a point") from None


def _node(model: Any, word: str) -> int:
    """The id of a node: as it is typed, of the lowest node of two points, or of a point."""
    if word.removeprefix("-").isdecimal():
        return int(word)
    from ramify.estimators.stream import Stream

    stream = Stream(model)
    ids = stream.ids
    points = [word] if ids is not None and word in ids.tolist() else word.split(",")
    numbers = [int(stream.numbers_of(_point(model, one))[0]) for one in points]
    if len(numbers) == 1:
        return -1 - numbers[0]
    if len(numbers) != 2:
        raise ValueError(f"{word!r}: expected the id of a node, or two points as A,B")
    return int(stream.lca(*numbers))


def _print(tree: Path, *, json: bool) -> None:
    from ramify.cli import _models

    model = _models.load_model(tree)
    said = model.edit.list()
    facts = {
        "names": {str(id): text for id, text in said.names.items()},
        "lost_names": {str(id): text for id, text in said.lost_names.items()},
        "linked": [_called(model, group) for group in said.linked],
        "apart": [_called(model, pair) for pair in said.apart],
        "held": said.held.tolist(),
    }
    if json:
        print_json({"tree": str(tree), **facts})
        return
    print_facts((name.replace("_", " "), _text(value)) for name, value in facts.items())


def _called(model: Any, numbers: Any) -> list[Any]:
    """Points as users call them."""
    import numpy as np

    from ramify.estimators.stream import Stream

    stream = Stream(model)
    ids = stream.ids
    if ids is None:
        return list(numbers.tolist())
    return list(ids[np.searchsorted(stream.numbers, numbers)].tolist())


def _text(value: Any) -> str:
    if not value:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{id} {text!r}" for id, text in value.items())
    return ", ".join(
        " ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value
    )
