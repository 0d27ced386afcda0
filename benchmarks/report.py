# SPDX-License-Identifier: BSD-3-Clause
"""report.py: a finished run as a page of the documentation.

Tables and picture come from the run, the words below them from notes.md, which
people write.
"""

from pathlib import Path

from benchmarks import picture
from benchmarks.results import Results
from benchmarks.tables import Table, tables

NOTES = Path(__file__).with_name("notes.md")

_INTRO = """\
# Performance

<!-- Written by `python -m benchmarks --report docs/performance.md` from the last run; the words
     below the tables are in benchmarks/notes.md. Do not edit this page. -->

How fast Ramify is, how much memory it takes and how good its trees are, beside what you could
pick instead. Figures depend on the machine; ratios less so, and both sides of each were measured in
turns in one run. `make bench` runs the quick cases in less than ten minutes, `make bench-full` all.
"""


def write(results: Results, page: Path) -> None:
    """Write the page, and its picture into the folder ``pictures`` beside it."""
    drawn = page.parent / "pictures" / f"{page.stem}.png"
    drawn.parent.mkdir(parents=True, exist_ok=True)
    picture.draw(results, drawn)
    page.write_text(markdown(results, f"pictures/{drawn.name}"), encoding="utf-8")


def markdown(results: Results, image: str) -> str:
    """The page as text."""
    shown = tables(results)
    parts = [_INTRO, _facts(results), _verdict(shown)]
    said: set[str] = set()  # notes that tables share are said once
    for table in shown:
        parts.append(_section(table, results, said))
        said.update(table.notes)
        if table.title == "Scaling":
            parts.append(f"![{picture.WORDS}]({image})\n")
    return "\n".join([*(part for part in parts if part), NOTES.read_text(encoding="utf-8")])


def _facts(results: Results) -> str:
    facts = results.facts
    stamps = sorted({(record["date"], record["commit"]) for record in results.records})
    commits = list(dict.fromkeys(commit for _, commit in stamps))
    lines = [
        *(f"- Command: `{command}`" for command in facts["commands"]),
        f"- Date: {stamps[0][0]} to {stamps[-1][0]}",
        f"- Commit: {', '.join(commits)}",
        f"- Machine: {facts['machine']}",
        f"- Versions: {facts['versions']}",
    ]
    if facts["scale"] != 1:
        lines.append(f"- A trial at {facts['scale']:g} of the sizes named below: no goal is judged")
    return "\n".join(lines) + "\n"


def _verdict(shown: list[Table]) -> str:
    """How many goals are met, and which are not: the very rows that the tables show."""
    judged = [row for table in shown for row in table.judged()]
    if not judged:
        return ""
    missed = [f"- {name}: {found}, goal {goal}" for name, found, goal, met in judged if not met]
    words = f"{len(judged) - len(missed)} of {len(judged)} goals are met"
    return "\n".join([f"{words}; missed:\n", *missed, ""] if missed else [f"{words}.", ""])


def _section(table: Table, results: Results, said: set[str]) -> str:
    where = " --full --data DATA" if "--full" in str(results.facts["commands"]) else ""
    rows = [_row(table.head), _row(["---"] * len(table.head)), *map(_row, table.rows)]
    notes = [line for note in table.notes if note not in said for line in ("", note)]
    command = f'Printed by `python -m benchmarks{where} --only "{table.only}"`.'
    return "\n".join([f"## {table.title}", "", command, "", *rows, *notes, ""])


def _row(cells: list[str]) -> str:
    escaped = [cell.replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"
