# SPDX-License-Identifier: BSD-3-Clause
"""Stream the world's cities into a live tree, and look at it. Run it as ::

    python -m ramify.demo [--out demo-output] [--limit N] [--seed 0] [--clusters K]

The cities arrive in random order as points on the unit sphere. OHAC and OTD take
them one by one and have a complete tree after each; our exact offline HAC sees
all of them at once, for comparison. The trees know nothing about countries:
those are used only to judge the cuts and to name the clusters.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, homogeneity_score

from ramify import datasets
from ramify.datasets import Cities
from ramify.estimators import HAC, OHAC, OTD
from ramify.hierarchy import Hierarchy
from ramify.memory import peak
from ramify.plot import dendrogram, distinct_colors, explore, world_map
from ramify.progress import Progress
from ramify.writing import whole_file

_TIPS = 36  # as many as fit on a screen
_INK = "#222222"


@dataclass(frozen=True)
class _Run:
    """One algorithm's tree of all cities, and how long it took to grow."""

    name: str
    tree: Hierarchy
    seconds: float


@dataclass(frozen=True)
class _Stream:
    """Cities in the order of their arrival; `rows` are their places in the data set."""

    cities: Cities
    rows: NDArray[np.int64]

    @property
    def points(self) -> NDArray[np.float64]:
        return self.cities.points[self.rows]

    @property
    def country(self) -> NDArray[np.str_]:
        return self.cities.country[self.rows]

    @property
    def continent(self) -> NDArray[np.str_]:
        return self.cities.continent[self.rows]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the demo; `arguments` as on the command line.

    Examples
    --------
    >>> import contextlib, io, pathlib, tempfile
    >>> from ramify import demo
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with contextlib.redirect_stdout(io.StringIO()) as said:
    ...     demo.main(["--limit", "300", "--out", str(folder)])
    >>> said.getvalue().splitlines()[0]
    '300 cities of the world on the unit sphere, in random order'
    >>> (folder / "explore.html").exists()
    True
    """
    options = _parse(arguments)
    if find_spec("matplotlib") is None:  # better now than after all the work
        raise SystemExit('the demo draws with matplotlib: pip install "ramify[demo]"')
    cities = datasets.cities()
    order = np.random.default_rng(options.seed).permutation(len(cities))
    stream = _Stream(cities, order[: options.limit])
    print(f"{len(stream.rows):,} cities of the world on the unit sphere, in random order")
    runs = [
        _grow("OHAC", OHAC(), stream.points),
        _grow("OTD", OTD(), stream.points),
        _grow("HAC, offline", HAC(), stream.points),
    ]
    print()
    print(_table(runs, stream))
    print()
    print(_memory(len(stream.rows)))
    print()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"A page to explore OHAC's tree: {_page(runs[0].tree, stream, options.out)}")
    print("Pictures of OHAC's tree:")
    for path in _draw(runs[0].tree, stream, min(options.clusters, len(stream.rows)), options.out):
        print(f"  {path}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ramify.demo", description="Stream the world's cities into a live tree."
    )
    parser.add_argument("--out", type=Path, default=Path("demo-output"), help="folder for pictures")
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="first N cities only")
    parser.add_argument("--seed", type=int, default=0, help="of the order of arrival")
    parser.add_argument(
        "--clusters", type=int, default=8, metavar="K", help="clusters on the first map"
    )
    options = parser.parse_args(arguments)
    if options.limit is not None and options.limit < 2:
        parser.error(f"--limit must be at least 2, got {options.limit}")
    if options.clusters < 1:
        parser.error(f"--clusters must be at least 1, got {options.clusters}")
    return options


def _grow(name: str, model: OHAC | OTD | HAC, points: NDArray[np.float64]) -> _Run:
    """Feed all points. Only feeding is timed, not the first drawing of the bar."""
    with _bar(name, len(points)) as progress:
        start = time.perf_counter()
        if isinstance(model, HAC):
            model.fit(points, progress=progress)
        else:
            model.partial_fit(points, progress=progress)
        seconds = time.perf_counter() - start
    return _Run(name, model.hierarchy(), seconds)


@contextmanager
def _bar(name: str, total: int) -> Iterator[Progress]:
    """A named progress bar on stderr; nothing where rich is not installed."""
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        yield False
        return
    columns = (
        rich.TextColumn("{task.description:<12}"),
        rich.BarColumn(),
        rich.TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        rich.TimeElapsedColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done, total: bar.update(task, completed=done)


def _table(runs: Sequence[_Run], stream: _Stream) -> str:
    """One line per algorithm: speed, shape of the tree, agreement with countries and continents."""
    truths = {"countries": stream.country, "continents": stream.continent}
    counts = {what: len(np.unique(truth)) for what, truth in truths.items()}
    over = ["", "", "depth", ""]
    head = ["", "points/s", "mean", "max"]
    for what, k in counts.items():
        over += [f"{what}, k = {k}", ""]
        head += ["ARI", "homog."]
    rows = [over, head]
    for run in runs:
        depths = run.tree.depths()
        row = [run.name, f"{len(depths) / run.seconds:,.0f}"]
        row += [f"{depths.mean():,.1f}", f"{depths.max():,}"]
        for what, truth in truths.items():
            labels = run.tree.cut(n_clusters=counts[what])
            row += [f"{adjusted_rand_score(truth, labels):z.3f}"]
            row += [f"{homogeneity_score(truth, labels):z.3f}"]
        rows.append(row)
    note = (
        "ARI: adjusted Rand index of the cut into k clusters against the true groups; 1 is equal,\n"
        "0 is chance. homog.: 1 if no cluster mixes groups. No algorithm was told any group."
    )
    return f"{_align(rows)}\n\n{note}"


def _align(rows: Sequence[Sequence[str]]) -> str:
    """Columns: names to the left, numbers to the right; row 0 spans pairs of columns."""
    span, *body = rows
    widths = [max(len(row[j]) for row in body) for j in range(len(span))]
    for j in range(2, len(span), 2):
        widths[j] = max(widths[j], len(span[j]) - 2 - widths[j + 1])
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in body
    ]
    pairs = [span[j].rjust(widths[j] + 2 + widths[j + 1]) for j in range(0, len(span), 2)]
    lines[0:0] = ["  ".join(pairs).rstrip()]
    lines.insert(2, "-" * len(lines[1]))
    return "\n".join(lines)


def _memory(n: int) -> str:
    text = f"SciPy's linkage would first need {_bytes(n * (n - 1) // 2 * 8)} for the distances."
    most = peak()
    if most == 0:  # nobody counts
        return text
    return f"{text}\nThis whole process, with Python and all three trees, peaked at {_bytes(most)}."


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:,.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"


def _page(tree: Hierarchy, stream: _Stream, out: Path) -> Path:
    cities = stream.cities
    names = [f"{cities.names[i]}, {cities.country[i]}" for i in stream.rows.tolist()]
    path = out / "explore.html"
    explore(tree, stream.points, names, path, title=f"{len(names):,} cities of the world")
    return path


def _draw(tree: Hierarchy, stream: _Stream, k: int, out: Path) -> list[Path]:
    cut = tree.cut(n_clusters=k)
    colors = distinct_colors(stream.points, cut)
    n_countries = len(np.unique(stream.country))
    return [
        _map(stream, cut, colors, f"cut into {k} clusters", out / "map-continents.png", named=True),
        _map(
            stream,
            tree.cut(n_clusters=n_countries),
            None,
            f"cut into {n_countries} clusters, as many as there are countries",
            out / "map-countries.png",
        ),
        _top(tree, stream, colors, out / "dendrogram.png"),
    ]


def _map(
    stream: _Stream,
    cut: NDArray[np.int64],
    colors: Sequence[str] | None,
    what: str,
    path: Path,
    *,
    named: bool = False,
) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7.2), layout="constrained")
    ax = figure.subplots()
    world_map(
        stream.cities.latitude[stream.rows],
        stream.cities.longitude[stream.rows],
        cut,
        colors=colors,
        names=_names(stream, cut, counts=True) if named else None,
        ax=ax,
    )
    ax.set_title(f"{len(stream.rows):,} cities in OHAC's tree, {what}", fontsize=15, color=_INK)
    with whole_file(path) as lent:
        figure.savefig(lent, dpi=150, bbox_inches="tight", pad_inches=0.15)
    return path


def _top(tree: Hierarchy, stream: _Stream, colors: Sequence[str], path: Path) -> Path:
    from matplotlib.figure import Figure

    n_tips = min(max(_TIPS, len(colors)), tree.n_leaves)
    figure = Figure(figsize=(10.5, 1.5 + 0.22 * n_tips), layout="constrained")
    ax = figure.subplots()
    names = _names(stream, tree.cut(n_clusters=n_tips))
    dendrogram(tree, truncate=n_tips, colors=colors, labels=names, ax=ax)
    title = f"The top of OHAC's tree of {len(stream.rows):,} cities"
    ax.set_title(title, loc="left", fontsize=14, color=_INK)
    ax.set_xlabel(
        "height: mean squared distance between the two parts, in Earth radii²\n"
        "number and usual countries of the cities at each tip; colours as on the map"
    )
    with whole_file(path) as lent:
        figure.savefig(lent, dpi=130, bbox_inches="tight", pad_inches=0.15)
    return path


def _names(stream: _Stream, cut: NDArray[np.int64], *, counts: bool = False) -> list[str]:
    """Name every cluster after the (up to three) countries with most cities in it."""
    codes, country = np.unique(stream.country, return_inverse=True)
    k = int(cut.max()) + 1
    table = np.bincount(cut * len(codes) + country, minlength=k * len(codes)).reshape(k, -1)
    names = []
    for row in table:
        usual = [c for c in np.argsort(-row, kind="stable")[:3] if row[c]]
        name = ", ".join(stream.cities.country_names[codes[c]] for c in usual)
        names.append(f"{name} ({row.sum():,})" if counts else name)
    return names


if __name__ == "__main__":
    main()
