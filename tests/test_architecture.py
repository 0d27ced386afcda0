# SPDX-License-Identifier: BSD-3-Clause
"""ARCHITECTURE.md names what is there, and docs/map.md is what the files say of themselves."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MAP = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
SOURCES = {".py", ".pyi", ".hpp", ".cpp", ".js", ".css", ".html"}
DATA = ("src/ramify/data/", "tests/golden/")  # the map names these as a whole


@pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="an sdist has not every room")
def test_the_map_is_what_the_files_say_now():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "map.py", "--check"],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_room_with_sources_is_on_the_map():
    folders = {
        path.parent.relative_to(ROOT).as_posix() + "/"
        for top in re.findall(r"^## `(\w+)/`", MAP, re.MULTILINE)
        for path in (ROOT / top).rglob("*")
        if path.suffix in SOURCES and not any(part[0] in "._" for part in path.parts[-2:-1])
    }
    missing = {name for name in folders if f"## `{name}`" not in MAP and not name.startswith(DATA)}
    assert not missing, f"give these a line in ROOMS of tools/map.py: {sorted(missing)}"


def test_every_file_that_the_page_names_exists():
    """Files that are named with their room, or as the one file of that name."""
    for name in re.findall(r"`([\w./]+\.(?:py|hpp|cpp|md|toml))`", PAGE):
        assert (ROOT / name).is_file() or f"`{name.rsplit('/')[-1]}`" in MAP, name


def test_a_tree_is_known_outside_its_room_by_its_verbs():
    """``_live`` is the estimators' own: others have ``Stream``, and the protocols of tree.py."""
    rooms = ROOT / "src" / "ramify"
    found = {
        str(path.relative_to(rooms)): text.count("_live")
        for path in sorted(rooms.rglob("*.py"))
        if path.relative_to(rooms).parts[0] != "estimators"
        and re.search(r"\b_live\b|SimpleNamespace|estimators\._live", text := path.read_text())
    }
    assert found == {}


#: What one room takes of the inside of another: no more than this, and rather less.
MOST_PRIVATE = 10


def test_rooms_know_one_another_by_what_is_public():
    """A room's inside is for itself; what others use of it stands in its ``seam.py``."""
    found = list(private_imports())
    assert len(found) <= MOST_PRIVATE, "\n".join(found)


def private_imports():
    """Imports of a module or a name that begins with an underscore, out of another room."""
    rooms = ROOT / "src" / "ramify"
    for path in sorted(rooms.rglob("*.py")):
        inside = path.relative_to(rooms).parts
        room = inside[0] if len(inside) > 1 else None
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "ramify."
            ):
                continue
            parts = node.module.split(".")[1:]
            if (rooms / parts[0]).is_dir() and parts[0] != room:
                names = [*parts[1:], *(one.name for one in node.names)]
                if any(name.startswith("_") for name in names):
                    yield f"{'/'.join(inside)}:{node.lineno}: {ast.unparse(node)}"
