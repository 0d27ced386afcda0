# SPDX-License-Identifier: BSD-3-Clause
"""results.py: a run as one JSON file: records, and on what, when and from which commit.

A file can take in later runs of some of the cases (``--keep``), so every record
says itself when and from which commit it was measured.
"""

import json
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.runner import Record
from ramify.paper.machine import machine, versions

#: Raised when the meaning of a field changes.
FORMAT = 1

PEERS = ("fastcluster", "genieclust", "hdbscan", "betula-cluster", "river", "usearch")


@dataclass
class Results:
    """What a run has found so far."""

    facts: dict[str, Any]
    records: list[Record] = field(default_factory=list)

    def add(self, found: Iterable[Record]) -> None:
        """Take in records; one of the same name gives way."""
        stamp = {"date": _now(), "commit": commit()}
        for record in found:
            self.records = [old for old in self.records if _name(old) != _name(record)]
            self.records.append(record | stamp)

    def keep(self, earlier: "Results") -> None:
        """Begin with what an earlier run has found."""
        commands = [*earlier.facts["commands"], *self.facts["commands"]]
        self.facts["commands"] = list(dict.fromkeys(commands))
        self.records = earlier.records

    def of(self, section: str) -> list[Record]:
        """The records of a section."""
        return [record for record in self.records if record["section"] == section]

    def save(self, path: Path) -> None:
        """Write the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = {"format": FORMAT, **self.facts, "records": self.records}
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def begin(command: str, scale: float) -> Results:
    """A new run on this machine."""
    return Results(
        {
            "commands": [command],
            "date": _now(),
            "commit": commit(),
            "machine": machine().removesuffix(f" {platform.release()}"),
            "versions": ", ".join([versions(), *_peers()]),
            "scale": scale,
        }
    )


def load(path: Path) -> Results:
    """A run from its file."""
    if not path.is_file():
        raise SystemExit(f"no file {path}: run `python -m benchmarks --out {path}` first")
    whole = json.loads(path.read_text(encoding="utf-8"))
    if whole.pop("format") != FORMAT:
        raise SystemExit(f"{path} was written by another version of the benchmarks: run them again")
    return Results(records=whole.pop("records"), facts=whole)


def commit() -> str:
    """The commit that is checked out, with a plus if files differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain") else "")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _name(record: Record) -> tuple[str, str]:
    return record["section"], record["name"]


def _peers() -> list[str]:
    found = []
    for name in PEERS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
