# SPDX-License-Identifier: BSD-3-Clause
"""report.py: the reproduction as Markdown, and as one HTML file that needs no other."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ramify.paper import figure, rankings, tables
from ramify.paper.protocol import STATEMENT, Column
from ramify.paper.tables import Difference, Results, Table
from ramify.writing import whole_file, write_whole

TITLE = "The paper's evaluation, reproduced"
_FIGURE_ALT = "Run time of OHAC, OTD, HAC and SciPy's linkage against the number of points"


@dataclass(frozen=True)
class Report:
    """All that a reproduction found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ramify.paper import Options, reproduce
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> report = reproduce(Options(only=["iris", "otd"], seeds=1, out=folder))
    >>> report.main_tables[0].title
    "Data sets: ours, and the paper's below"
    """

    columns: Sequence[Column]
    methods: Sequence[str]
    results: Results  # of the tables and of the figure
    facts: dict[str, str]  # command, date, machine, ...

    @property
    def main_tables(self) -> list[Table]:
        """The paper's tables: ours beside theirs. None without data sets."""
        if not self.columns:
            return []
        arguments = (self.columns, self.methods, self.results)
        return [
            tables.dataset_table(self.columns, self.results),
            tables.fraction_table(*arguments),
            tables.triplet_table(*arguments),
            tables.revenue_table(*arguments),
        ]

    @property
    def cost_tables(self) -> list[Table]:
        return [tables.cost_table(c, self.methods, self.results) for c in self.columns]

    @property
    def scaling_table(self) -> Table | None:
        return figure.table(self.results) if self.has_figure else None

    @property
    def has_figure(self) -> bool:
        return any(name == figure.NAME for name, _ in self.results)

    @property
    def differences(self) -> list[Difference]:
        return tables.differences(self.columns, self.methods, self.results)

    @property
    def first_of_all(self) -> list[str]:
        """What to know before the tables are read."""
        return rankings.sentences(self.columns, self.methods, self.results)

    @property
    def unfinished(self) -> list[str]:
        return tables.unfinished(self.results)


def write(report: Report, folder: Path) -> list[Path]:
    """Write report.md, report.html and, if there is a figure, scaling.svg and .png.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ramify.paper import Options, reproduce, write
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> report = reproduce(Options(only=["iris", "otd"], seeds=1, out=folder))
    >>> [path.name for path in write(report, folder)]
    ['report.md', 'report.html']
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "report.md", folder / "report.html"]
    svg = None
    if report.has_figure:
        drawing = figure.draw(report.results)
        svg = figure.svg(drawing)
        paths += [folder / "scaling.svg", folder / "scaling.png"]
        write_whole(paths[2], svg)
        with whole_file(paths[3]) as lent:
            drawing.savefig(lent, dpi=150)
    write_whole(paths[0], markdown(report))
    write_whole(paths[1], page(report, svg))
    return paths


# --- Markdown ------------------------------------------------------------------------


def markdown(report: Report) -> str:
    """The report, fit for the documentation."""
    lines = [f"# {TITLE}", ""]
    lines += [f"- {name}: {value}" for name, value in report.facts.items()]
    lines += ["", *(f"**{sentence}**\n" for sentence in report.first_of_all)]
    lines += ["## Protocol", "", STATEMENT, ""]
    for table in report.main_tables:
        lines += [f"## {table.title}", "", *_markdown_table(table), ""]
    for title, sentences in lists(report):
        lines += [f"## {title}", "", *(f"- {sentence}" for sentence in sentences), ""]
    if report.cost_tables:
        lines += ["## Costs, shapes and other orders", ""]
        for table in report.cost_tables:
            lines += [f"### {table.title}", "", *_markdown_table(table), ""]
    if (scaling := report.scaling_table) is not None:
        lines += [f"## {scaling.title}", "", f"![{_FIGURE_ALT}](scaling.png)", ""]
        lines += [*_markdown_table(scaling), ""]
    return "\n".join(lines)


def _markdown_table(table: Table) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [row(table.head), row(["---"] + ["---:"] * (len(table.head) - 1))]
    lines += [row(["<br>".join(cell) for cell in cells]) for cells in table.rows]
    for note in table.notes:
        lines += ["", note]
    return lines


def lists(report: Report) -> list[tuple[str, list[str]]]:
    """Titles and sentences of the two lists: where we differ, and what did not finish."""
    differences = [difference.sentence for difference in report.differences]
    title = (
        f"Where we differ from the paper by more than {tables.LARGE_FRACTION} of maximum revenue "
        f"or {tables.LARGE_TRIPLET} of triplet distance"
    )
    parts = [(title, differences or ["Nowhere."])] if report.columns else []
    if report.unfinished:
        parts.append(("What did not finish, and why", report.unfinished))
    return parts


# --- HTML ----------------------------------------------------------------------------

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 76rem; margin: 2rem auto;
       padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.8rem; border-bottom: 1px solid #ddd; text-align: right;
         vertical-align: top; }
th:first-child, td:first-child { text-align: left; font-weight: 600; }
td span { display: block; color: #777; } td span:first-child { color: #222; }
td span.far { color: #b3261e; font-weight: 600; }
.note { color: #666; } .scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; }
"""


def page(report: Report, svg: str | None) -> str:
    """The report as one HTML file; `svg` is the figure."""
    body = [f"<h1>{html.escape(TITLE)}</h1>", _items(f"{k}: {v}" for k, v in report.facts.items())]
    body += [_items(report.first_of_all)] if report.first_of_all else []
    body += ["<h2>Protocol</h2>", _prose(STATEMENT)]
    body += [_section(table, 2) for table in report.main_tables]
    for title, sentences in lists(report):
        body += [f"<h2>{html.escape(title)}</h2>", _items(sentences)]
    if report.cost_tables:
        body += ["<h2>Costs, shapes and other orders</h2>"]
        body += [_section(table, 3) for table in report.cost_tables]
    if (table := report.scaling_table) is not None:
        body += [_section(table, 2), f'<figure aria-label="{_FIGURE_ALT}">{svg or ""}</figure>']
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(TITLE)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _section(table: Table, level: int) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table.head)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{_spans(cell)}</td>' for cell in cells)}</tr>" for cells in table.rows
    )
    notes = "".join(f'<p class="note">{_text(note)}</p>' for note in table.notes)
    return (
        f"<h{level}>{html.escape(table.title)}</h{level}>\n<div class='scroll'><table>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n{notes}"
    )


def _spans(cell: Sequence[str]) -> str:
    return "".join(
        f"<span{' class=far' if line.endswith('!') else ''}>{html.escape(line)}</span>"
        for line in cell
    )


def _items(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in sentences)}</ul>"


def _text(sentence: str) -> str:
    """A sentence of Markdown: what stands in backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(sentence))


def _prose(text: str) -> str:
    """A paragraph, then a list, as STATEMENT is written."""
    first, *rest = text.split("\n- ")
    items = [" ".join(item.split()) for item in rest]
    return f"<p>{_text(first)}</p>{_items(items)}"
