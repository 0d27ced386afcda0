# SPDX-License-Identifier: BSD-3-Clause
"""_help.py: help as plain text, in groups, with plain words for what an option takes.

typer draws help with rich, which takes longer to load than all the rest, and has words
such as ``<bool>`` for types. Here an option without a word takes nothing, and the word of
any other is its ``metavar``. Values that are only looked at, to complete a line, are not
checked either: typer does so with pydantic, which is as slow.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import typer
import typer.core


class PlainCommand(typer.core.TyperCommand):
    """A verb."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take a line apart."""
        _check_nothing_in_completion(self, ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what it does, arguments, options in their groups, examples."""
        arguments = [p.metavar for p in self.params if p.param_type_name == "argument"]
        formatter.write_usage(ctx.command_path, " ".join([*map(str, arguments), "[OPTIONS]"]))
        _write_paragraphs(formatter, self.help)
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            argument = parameter.param_type_name == "argument"
            group = getattr(parameter, "rich_help_panel", None)
            name = "Arguments" if argument else group or "Options"
            groups.setdefault(name, []).append((_usage(parameter), _about(parameter)))
        _write_groups(formatter, groups)
        if self.epilog:
            formatter.write(f"\n{self.epilog}\n")


class PlainGroup(typer.core.TyperGroup):
    """All verbs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take a line apart."""
        _check_nothing_in_completion(self, ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what it does, options, verbs in their groups."""
        formatter.write_usage(ctx.command_path, "VERB [OPTIONS]")
        _write_paragraphs(formatter, self.help)
        options = [(_usage(one), _about(one)) for one in self.get_params(ctx)]
        groups: dict[str, list[tuple[str, str]]] = {"Options": options}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            panel = str(getattr(command, "rich_help_panel", None) or "Verbs")
            first = inspect.cleandoc(command.help or "").split("\n\n")[0]
            groups.setdefault(panel, []).append((name, " ".join(first.split())))
        _write_groups(formatter, groups)


def _check_nothing_in_completion(command: Any, ctx: Any) -> None:
    if ctx.resilient_parsing:
        for parameter in command.get_params(ctx):
            parameter.process_value = _as_typed


def _as_typed(ctx: Any, value: Any) -> Any:
    return value


def help_of(group: Any, words: Sequence[str]) -> str | None:
    """The help that a line asks for and nothing else; None if it asks for more."""
    *verbs, last = words
    if last not in ("--help", "-h") or len(verbs) > 1:
        return None
    command = group if not verbs else group.commands.get(verbs[0])
    if command is None:
        return None
    name = " ".join(["ramify", *verbs])
    return str(command.get_help(typer.Context(command, info_name=name, **command.context_settings)))


def _write_paragraphs(formatter: Any, text: str | None) -> None:
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        formatter.write_paragraph()
        formatter.write_text(" ".join(paragraph.split()))


def _write_groups(formatter: Any, groups: dict[str, list[tuple[str, str]]]) -> None:
    for name, lines in groups.items():
        if lines:
            with formatter.section(name):
                formatter.write_dl(lines)


def _usage(parameter: Any) -> str:
    """An option as one types it."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    names = ", ".join(sorted([*parameter.opts, *parameter.secondary_opts], key=len))
    return names if parameter.metavar is None else f"{names} {parameter.metavar}"


def _about(parameter: Any) -> str:
    """What it is for, and what happens without it."""
    text = parameter.help or ""
    if parameter.required and parameter.param_type_name == "option":
        return f"{text} Needed."
    default = parameter.default
    if default is None or isinstance(default, bool) or "default" in text or not text:
        return str(text)
    return f"{text} By default {getattr(default, 'value', default)}."
