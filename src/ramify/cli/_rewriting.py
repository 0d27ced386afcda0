# SPDX-License-Identifier: BSD-3-Clause
"""_rewriting.py: a saved tree, changed and saved again, with the labels beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ramify.cli import _labels, _models
from ramify.cli._console import EndedEarlyError
from ramify.cli._keeping import Keeper
from ramify.cli._outputs import is_in_place, keep_old_tree
from ramify.cli._signals import heeded
from ramify.cli._target import only_writer


def rewrite(
    tree: Path, out: Path | None, change: Callable[[Any], bool], *, quiet: bool
) -> tuple[Path, Any]:
    """Change a tree, and replace its file, or write another; returns that and the model.

    ``change`` takes the model and says whether it has changed it. All or nothing: the old
    file is replaced when the new one is complete.
    """
    target = tree if out is None else out
    in_place = is_in_place(tree, target)
    _models.check_tree_path(target)
    keep_old_tree(tree, target)
    with only_writer(target, wait=in_place, quiet=quiet) as lent:
        model = _models.load_model(tree)
        column, labels = _kept_labels(tree, model)
        if not in_place:
            _labels.check_place(target, labelled=column is not None)
        names = _models.take_names(model)
        keeper = Keeper(model, lent, names=names, labels=labels, label_column=column)
        if change(model) or not in_place:
            _save(keeper)
    return target, model


def _kept_labels(tree: Path, model: Any) -> tuple[str | None, list[Any]]:
    """The column that labels of the tree came from, and the labels, if there are any."""
    found = _labels.look(tree)
    n = len(model)
    if found is None:
        return None, []
    if found.is_old and _labels.belongs(found, tree, n):
        raise ValueError(
            f"{tree} has labels, in {found.path}, which has no mark that ramify wrote it and would "
            f"not fit any more; move it away"
        )
    return (found.column, _labels.kept(tree, n)) if found.is_ours else (None, [])


def _save(keeper: Any) -> None:
    with heeded() as signals, signals.held_back():
        kept = keeper.save()
    if kept.why is not None:
        raise EndedEarlyError(f"{kept.why}; this tree is in {kept.place}", 1)
