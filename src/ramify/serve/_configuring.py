# SPDX-License-Identifier: BSD-3-Clause
"""_configuring.py: settings out of flags, the environment and one file, in this order."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ramify.serve._settings import Settings, read_token
from ramify.serve._tokens import read_tokens
from ramify.spans import read_span

#: Of variables of the environment: RAMIFY_SERVE_RATE is the rate.
PREFIX = "RAMIFY_SERVE_"

#: Tokens themselves stand in no file of settings and in no flag: both are read by many.
_TOKENS = {
    "token_file": "token",
    "read_token_file": "read_token",
    "webhook_secret_file": "webhook_secret",
}
_SECRET = {
    "token": "RAMIFY_TOKEN",
    "read_token": "RAMIFY_READ_TOKEN",
    "webhook_secret": "RAMIFY_WEBHOOK_SECRET",
}

#: What each setting is, as Settings declares it.
KINDS: dict[str, str] = {
    one.name: str(one.type)
    for one in fields(Settings)
    if one.name not in ("folder", "tokens", *_SECRET)
} | dict.fromkeys((*_TOKENS, "tokens_file"), "str | None")

#: Numbers that may be 0, which is no limit, or any.
_MAY_BE_ZERO = (
    *("port", "rate", "history", "rest_after", "memory_bytes"),
    *("tree_points", "tree_bytes"),
)


def settings_from(
    folder: Path,
    flags: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    file: str | os.PathLike[str] | None = None,
) -> Settings:
    """How a server is set up: what a flag says, else the environment, else the file.

    Parameters
    ----------
    folder : Path
    flags : mapping
        By the names of :class:`Settings`; those that are None were not given. ``token_file`` and
        ``read_token_file`` name files with a token, ``tokens_file`` one of several.
    environment : mapping, optional
        ``RAMIFY_SERVE_RATE`` and so on; by default that of the process.
    file : path, optional
        TOML, with the same names; by default the one that ``RAMIFY_SERVE_CONFIG`` names, if any.

    Examples
    --------
    >>> found = settings_from(Path("t"), {"rate": 5.0}, {"RAMIFY_SERVE_RATE": "7",
    ...                                                  "RAMIFY_SERVE_STREAMS": "9"})
    >>> found.rate, found.streams, found.connections
    (5.0, 9, 1000)
    >>> settings_from(Path("t"), {}, {"RAMIFY_SERVE_STREAMS": "many"})
    Traceback (most recent call last):
    ...
    ValueError: RAMIFY_SERVE_STREAMS='many': expected a whole number, 1 or more
    """
    known = os.environ if environment is None else environment
    file = file or known.get(f"{PREFIX}CONFIG") or None
    found = {} if file is None else _of_file(Path(file))
    found |= _of_environment(known)
    for name, value in flags.items():
        if value is not None and value != ():
            found[name] = _read(f"--{name.replace('_', '-')}", KINDS[name], name, value)
    for name, token in _TOKENS.items():
        path = found.pop(name, None)
        found[token] = read_token(path) if path else known.get(_SECRET[token]) or None
    path = found.pop("tokens_file", None)
    found["tokens"] = read_tokens(path) if path else ()
    return Settings(folder, **found).check()


def _of_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            told = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is no TOML: {error}") from None
    for name in told:
        if name in _SECRET:
            raise ValueError(f"{path}: {name} does not belong here: name its file, {name}_file")
        if name not in KINDS:
            raise ValueError(f"{path}: there is no setting {name!r}; known: {', '.join(KINDS)}")
    return {n: _read(f"{path}: {n}", KINDS[n], n, value) for n, value in told.items()}


def _of_environment(known: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, value in known.items():
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX) or name == "config" or value == "":
            continue
        if name not in KINDS:
            raise ValueError(f"{variable}: there is no such setting; known: {', '.join(KINDS)}")
        found[name] = _read(variable, KINDS[name], name, value)
    return found


def _read(where: str, kind: str, name: str, value: Any) -> Any:
    """A value of a kind; text where it comes from the environment."""
    if name == "erase_within":
        return _span(where, value)
    if kind.startswith("tuple"):
        some = value.split(",") if isinstance(value, str) else value
        if isinstance(some, list | tuple) and all(isinstance(one, str) for one in some):
            return tuple(one.strip() for one in some if one.strip())
        raise ValueError(f"{where}={value!r}: expected a list of texts")
    if kind == "bool":
        told = {"true": True, "false": False, "1": True, "0": False}.get(str(value).lower())
        if told is None:
            raise ValueError(f"{where}={value!r}: expected true or false")
        return told
    if kind.startswith("str"):
        if not isinstance(value, str):
            raise ValueError(f"{where}={value!r}: expected text")
        return value
    return _number(where, kind, name, value)


def _number(where: str, kind: str, name: str, value: Any) -> int | float:
    least = 0 if name in _MAY_BE_ZERO else 1 if kind == "int" else 0.001
    words = "a whole number" if kind == "int" else "a number"
    try:
        found = int(value) if kind == "int" else float(value)
        right = not isinstance(value, bool) and found == float(value)
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right or not least <= found < 2**53:
        raise ValueError(f"{where}={value!r}: expected {words}, {least} or more")
    return found


def _span(where: str, value: Any) -> float | None:
    """Seconds, of a span as 1d or 6h; None for never."""
    if value == "never":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    try:
        return float(np.timedelta64(read_span(value), "ns") / np.timedelta64(1, "s"))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}={value!r}: {error}") from None
