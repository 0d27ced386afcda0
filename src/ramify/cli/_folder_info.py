# SPDX-License-Identifier: BSD-3-Clause
"""_folder_info.py: what `ramify info` says of the folder of a tree."""

from pathlib import Path
from typing import Any

from ramify.cli._console import print_facts, print_json, some_bytes


def show(folder: Path, *, json: bool) -> None:
    """Print it."""
    from ramify.journal import info

    found = info(folder)
    if json:
        print_json({"tree": str(folder), **found})
        return
    print_facts(_lines(folder, found))


def _lines(folder: Path, found: dict[str, Any]) -> list[tuple[str, str]]:
    snapshot, since, sizes = found["snapshot"], found["since_snapshot"], found["bytes"]
    points = "not known without opening it" if found["points"] is None else f"{found['points']:,}"
    options = {name: value for name, value in found["options"].items() if value is not None}
    last = "none" if found["last"] is None else found["last"]["kind"]
    return [
        ("tree", str(folder)),
        ("algorithm", str(found["algorithm"]).lower()),
        ("options", ", ".join(f"{name}={value}" for name, value in options.items())),
        ("points", points),
        ("dimension", str(found["dimension"] or "not settled")),
        ("ids", found["ids"] or "none"),
        ("operations", f"{found['operations']:,}, the last: {last}"),
        (
            "snapshot",
            f"after operation {snapshot['operation']:,}, {snapshot['age_seconds']:,.0f} s old",
        ),
        ("since then", f"{since['operations']:,} operations, {since['rows']:,} rows"),
        ("version", f"format {found['format']}, written by Ramify {found['library']}"),
        *((name, some_bytes(size)) for name, size in sizes.items()),
        ("to erase", "nothing" if found["owed"] is None else f"since {found['owed']}"),
        ("used by", _user(found["used_by"])),
    ]


def _user(owner: int | bool | None) -> str:
    if owner is None:
        return "nobody"
    return "another process" if owner is True else f"process {owner}"
