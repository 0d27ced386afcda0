# SPDX-License-Identifier: BSD-3-Clause
"""tables.py: records as tables of words, for the terminal and for the report."""

from dataclasses import dataclass, field

from benchmarks.cases import GOALS, NEAR, PEERS, SCALING, STREAMS, WIDTHS
from benchmarks.figures import Measurement
from benchmarks.results import Results
from benchmarks.runner import Record

_VERDICTS = {True: "met", False: "MISSED", None: ""}

_COUNTED = (
    "Medians of the runs, ± half their range. Ours run on one thread unless the case says "
    "otherwise, the peers on one. Memory is the most that was held during the work beyond "
    "interpreter, libraries and the caller's rows: the model's own copy of the rows counts, "
    "the caller's array does not."
)


@dataclass(frozen=True)
class Table:
    """A title, a head, rows of cells, and what to say below."""

    title: str
    head: list[str]
    rows: list[list[str]]
    only: str  # the words for --only that print it
    notes: list[str] = field(default_factory=list)

    def judged(self) -> list[tuple[str, str, str, bool]]:
        """Of each row with a verdict: the case, what was found, the goal, and whether it is met."""
        said, name = {word: met for met, word in _VERDICTS.items() if word}, ""
        found = []
        for row in self.rows:
            name = row[0] or name
            if row[-1] in said:
                found.append((name, row[-3], row[-2], bool(said[row[-1]])))
        return found


def tables(results: Results) -> list[Table]:
    """Those that have rows."""
    trial = results.facts["scale"] != 1
    made = [
        _judged(results, GOALS, "Goals", trial),
        _judged(results, STREAMS, "Streams that break naive code", trial),
        _judged(results, WIDTHS, "Tables of every width", trial),
        *(_compared(results, width, section) for width, section in PEERS.items()),
        _judged(results, NEAR, "Approximate neighbours", trial),
        _scaled(results),
    ]
    return [table for table in made if table.rows]


def seconds(value: float) -> str:
    """A time in words."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def size(value: float) -> str:
    """A number of bytes in words."""
    if value < 1e6:
        return f"{value / 1e3:.0f} KB"
    return f"{value / 1e6:.3g} MB" if value < 1e9 else f"{value / 1e9:.3g} GB"


def _judged(results: Results, section: str, title: str, trial: bool) -> Table:
    """Ours, the peer's, the ratio, the goal: a line for each goal."""
    head = ["case", "ours", "cpu", "memory", "beside", "time", "memory", "found", "goal", ""]
    rows = [line for record in results.of(section) for line in _lines(record, trial)]
    skipped = [_why(record) for record in results.of(section) if "wall" not in record["ours"]]
    return Table(title, head, rows, section, [_COUNTED, *skipped])


def _lines(record: Record, trial: bool) -> list[list[str]]:
    ours, peer = record["ours"], record["peer"]
    if "wall" not in ours:
        return []
    first = [_title(record), _time(ours), seconds(ours["cpu"]), size(ours["peak_bytes"])]
    if peer is None:
        first += ["", "", ""]
    elif "wall" in peer:
        first += [record["peer_name"], _time(peer), size(peer["peak_bytes"])]
    else:
        first += [f"{record['peer_name']}: {_reason(peer)}", "", ""]
    lines: list[list[str]] = []
    for found in record["figures"] or [{"words": "", "goal": "", "met": None}]:
        verdict = _VERDICTS[None if trial else found["met"]]
        lines.append([*(first if not lines else [""] * 7), found["words"], found["goal"], verdict])
    return lines


def _compared(results: Results, width: int, section: str) -> Table:
    """Everyone on the same rows."""
    head = ["", "what it makes", "time", "points/s", "memory", "revenue"]
    rows, skipped = [], []
    for record in results.of(section):
        found = record["ours"]
        if "wall" not in found:
            skipped.append(_why(record))
            continue
        rate = f"{found['points'] / found['wall']:,.0f}"
        time, memory = _time(found), size(found["peak_bytes"])
        revenue = _fraction(found, "revenue")
        rows.append([record["name"], record["note"], time, rate, memory, revenue])
    n = section.removeprefix("peers ")
    notes = [
        "Revenue is Moseley–Wang's, as a fraction of its maximum, for similarities exp(-|x - y|²); "
        "that of flat clusters is of the tree with two levels, root and clusters, which earns "
        "little for any method.",
        *skipped,
    ]
    return Table(f"Peers on {n}", head, rows, section, notes)


def series(results: Results) -> dict[str, list[tuple[int, float]]]:
    """Sizes and seconds of each method of the scaling section, smallest first."""
    found: dict[str, list[tuple[int, float]]] = {}
    for record in results.of(SCALING):
        if "wall" in record["ours"]:
            method = record["name"].rpartition(" at ")[0]
            point = (int(record["ours"]["points"]), float(record["ours"]["wall"]))
            found.setdefault(method, []).append(point)
    return {method: sorted(points) for method, points in found.items()}


def _scaled(results: Results) -> Table:
    """Times of whole streams, by size and method."""
    found = {method: dict(points) for method, points in series(results).items()}
    sizes = sorted({n for points in found.values() for n in points})
    rows = [
        [f"{n:,}", *(seconds(points[n]) if n in points else "–" for points in found.values())]
        for n in sizes
    ]
    notes = ["Whole streams, uniform in the unit square. One run each, of most."]
    return Table("Scaling", ["points", *found], rows, SCALING, notes)


def _title(record: Record) -> str:
    return f"{record['name']} ({record['note']})" if record["note"] else str(record["name"])


def _why(record: Record) -> str:
    return f"Not measured: {record['name']}: {_reason(record['ours'])}."


def _reason(found: Measurement) -> str:
    return str(found.get("skipped") or f"failed: {found.get('error')}")


def _time(found: Measurement) -> str:
    spread = (found["slowest"] - found["fastest"]) / 2 / found["wall"]
    return seconds(found["wall"]) + (f" ±{spread:.0%}" if found["runs"] > 1 else "")


def _fraction(found: Measurement, name: str) -> str:
    if name not in found:
        return ""
    kind = f" ({found['clusters']:,} flat clusters)" if "clusters" in found else ""
    return f"{found[name]:.4f}{kind}"
