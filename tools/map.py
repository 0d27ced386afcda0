# SPDX-License-Identifier: BSD-3-Clause
"""map.py: docs/map.md, a line for each file of the house, out of the files' own first words.

    python tools/map.py            # write the page anew: `make map`
    python tools/map.py --check    # exit with 1 if the page is not what this would write

A file says what it is in the first sentence of its docstring or first comment. A `.cpp` beside
a `.hpp` of its name has no line of its own.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "map.md"

ROOMS = {
    "core": "C++20, standard library only: no Python, files, clocks, printing or threads.",
    "core/math": "Numbers: no trees.",
    "core/tree": "Rows, the live tree and the frozen one.",
    "core/index": "The nearest leaf.",
    "core/forest": "HAC of a list of clusters: no trees.",
    "core/algorithms": "How trees grow.",
    "core/live": "A stream's tree and all that belongs to it, as one object.",
    "core/graph": "Weighted graphs of points, and their trees.",
    "core/measures": "How good frozen trees are.",
    "bindings": "nanobind: shapes, the GIL, exceptions, signals.",
    "src/ramify": "What users see; here what several rooms share.",
    "src/ramify/estimators": "The clusterers.",
    "src/ramify/hierarchy": "The frozen tree.",
    "src/ramify/metrics": "Measures.",
    "src/ramify/files": "Rows from files, tables to files.",
    "src/ramify/datasets": "Data to try things on; the files are in `src/ramify/data/`.",
    "src/ramify/plot": "Pictures.",
    "src/ramify/journal": "Trees in folders, which outlive their process.",
    "src/ramify/ray": "One tree whose points are in several places. Only `_actors.py` knows Ray.",
    "src/ramify/serve": "Trees for many programs: `ramify serve`.",
    "src/ramify/client": "Trees of a server, from Python.",
    "src/ramify/mcp": "A tree for agents: `ramify mcp`.",
    "src/ramify/summaries": "Summaries on the nodes of a growing tree.",
    "src/ramify/paper": "The paper's evaluation.",
    "src/ramify/cli": "The command; a verb is a file.",
    "browser": "A tree in a page, without a server: `make browser`.",
    "tests": "What must hold. `tests/golden/` has trees that were written down.",
    "tests/core": "The core's own classes, shown to tests. Built by `make test`, in no wheel.",
    "tests/portable": "Trees that are the same on every architecture: `make portable`.",
    "tests/oracles": "The slow and obvious versions.",
    "tests/chaos": "Processes that are killed and disks that fail: `make chaos`.",
    "tests/simulation": "Folders, servers and shards over a simulated disk: `make simulate`.",
    "tests/fuzz": "Random search for trouble, for as long as there is time: `make fuzz`.",
    "benchmarks": "Speed, memory and quality beside peers.",
    "benchmarks/history": "The speed of commits, measured by asv: `make history`.",
    "tools": "What made the shipped data, the drawings and this page.",
    "examples": "Whole scripts, run by the tests.",
    "docs": "The site; `docs/decisions/` has a numbered page for each choice.",
}
COMMENTS = {
    ".hpp": r"(?://.*\n)*?// (?!SPDX)((?:.*\n// )*?.*?[.?!])(?=\s*\n|\s+[A-Z])",
    ".css": r"\s*(?:/\* SPDX.*\n)?/\* (.*?[.?!])(?= \*/)",
    ".html": r"(?s).*?<!-- (.*?[.?!])(?= -->)",
    ".md": r"(?:\s*#+ (.*)\n)",
}
COMMENTS |= {".cpp": COMMENTS[".hpp"], ".js": COMMENTS[".hpp"]}
INTRO = """# Map

<!-- Written by `make map` out of the first words of each file. Edit these words instead. -->

Every file in a line, in its own words. `ARCHITECTURE.md` says how the rooms hang together.
"""


def first_words(path: Path) -> str:
    """What a file says it is; empty if it does not say."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".pyi"):
        found = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
        match = re.match(r"(?s)(.*?[.?!]|.+)(?=\s+[`A-Z]|\s*$)", found)
    else:
        match = re.match(COMMENTS[path.suffix], text)
    if match is None:
        return ""
    words = re.sub(r"\s*\n(?:// ?|\s*)", " ", match[1]).strip()
    return re.sub(rf"^{re.escape(path.name)}: ", "", words)


def files_of(room: str) -> list[Path]:
    """The files that get a line, in the order of their names."""
    kinds = {".md", ".py"} if room == "docs" else {*COMMENTS, ".py", ".pyi"} - {".md"}
    found = sorted(path for path in (ROOT / room).iterdir() if path.suffix in kinds)
    return [
        path
        for path in found
        if path.name not in ("map.md", "changelog.md")
        and not (path.suffix == ".cpp" and path.with_suffix(".hpp").exists())
    ]


def line_of(path: Path) -> str:
    """One line of the page."""
    twin = path.suffix == ".hpp" and path.with_suffix(".cpp").exists()
    names = f"`{path.name}`" + (f", `{path.with_suffix('.cpp').name}`" if twin else "")
    words = first_words(path)
    if not words:
        raise SystemExit(f"{path.relative_to(ROOT)}: its first words do not say what it is")
    return f"- {names}: {words}"


def page() -> str:
    """The whole page."""
    parts = [INTRO]
    for room, words in ROOMS.items():
        lines = [line_of(path) for path in files_of(room)]
        parts.append(f"## `{room}/`\n\n{words}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        raise SystemExit("docs/map.md is not what the files say: run `make map`")
