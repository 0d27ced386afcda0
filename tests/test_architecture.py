"""ARCHITECTURE.md is a map of the house as it is: every file on it, and nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOMS = ("core", "bindings", "src", "tests", "benchmarks", "tools", "examples", "docs")
SOURCES = {".py", ".pyi", ".hpp", ".cpp", ".js", ".css", ".html", ".md"}

# These the map names as a whole: their files are data, or numbered pages.
WHOLE = ("src/ramify/data/", "tests/golden/", "docs/decisions/")


def on_the_map() -> list[str]:
    """Files that have a line, below the heading of their room."""
    room, found = "", []
    for line in MAP.split("\n## The map\n")[1].splitlines():
        if heading := re.fullmatch(r"### `(.+/)`", line):
            room = heading[1]
        elif line.startswith("- "):
            names = line[2:].split(": ")[0]
            found += [room + name for name in re.findall(r"`([^`]+)`", names)]
    return found


def in_the_house() -> set[str]:
    files = (path for room in ROOMS for path in (ROOT / room).rglob("*"))
    names = (path.relative_to(ROOT) for path in files if path.suffix in SOURCES)
    hidden = ("_", ".")  # __pycache__, _build and what tools leave behind
    kept = (name for name in names if not any(part[:1] in hidden for part in name.parts[:-1]))
    return {name.as_posix() for name in kept if not name.as_posix().startswith(WHOLE)}


def test_every_file_has_one_line_on_the_map():
    lines = on_the_map()
    assert len(lines) == len(set(lines))
    missing = in_the_house() - set(lines)
    assert not missing, f"give these a line in ARCHITECTURE.md: {sorted(missing)}"


def test_the_map_names_nothing_that_is_not_there():
    here = [
        name for name in on_the_map() if (ROOT / name.split("/")[0]).is_dir()
    ]  # not in an sdist
    gone = [name for name in here if not (ROOT / name).is_file()]
    assert not gone, f"ARCHITECTURE.md names files that are not there: {gone}"


def test_what_the_map_names_as_a_whole_is_there_and_named():
    for room in WHOLE:
        assert (ROOT / room).is_dir()
        assert f"`{room}`" in MAP


def test_paths_in_the_text_above_the_map_exist():
    """Of files that are named with their room, or as the one file of that name."""
    text = MAP.split("\n## The map\n")[0]
    mapped = on_the_map()
    for name in re.findall(r"`([\w./]+\.(?:py|hpp|cpp|md|toml))`", text):
        assert (ROOT / name).is_file() or any(path.endswith(f"/{name}") for path in mapped), name
