# SPDX-License-Identifier: BSD-3-Clause
"""sureness.py: is `assign(confidence=True, new=)` to be trusted? A table of docs/choosing.md.

    python -m benchmarks.sureness                  # what is shipped, made, or in scikit-learn
    python -m benchmarks.sureness --data FOLDER    # MNIST, news and others from a folder, too
    python -m benchmarks.sureness --page           # the picture again, from the table

Sets of benchmarks.choosing, 4,000 rows at most, OHAC ward, cut into as many clusters as there are
groups. A tree grows on nine tenths of the rows, and is asked about the others.

    right   rows that were told the cluster which they are in when they have come, too: the one
            with most of the points that the cluster had
    ECE     expected calibration error: in ten bins of confidence the difference of mean confidence
            and the share that is right, each bin weighing as much as it has rows
    false   rows that are called new though they come from where all come from
    found   rows that are called new, of groups that were left out of the tree, a tenth of them

Of as many samples as it takes to ask about 2,000 rows. Writes docs/pictures/sureness.inc, and its
last table as a picture, sureness.svg.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

import ramify
from benchmarks.choosing import Case, cases

PAGE = Path(__file__).parent.parent / "docs" / "pictures" / "sureness.inc"
ROWS, ASKED = 4_000, 2_000
ALPHAS = (0.01, 0.05, 0.1)
EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
HEAD = ["set", "clusters", "right", "confidence", "ECE"]
HEAD += [*(f"false, {alpha:g}" for alpha in ALPHAS), *(f"found, {alpha:g}" for alpha in ALPHAS)]

Figures = npt.NDArray[np.float64]


def calibration_error(confidence: Figures, right: Figures) -> float:
    """Expected calibration error in ten bins.

    Examples
    --------
    >>> round(calibration_error(np.array([0.9, 0.9, 0.5, 0.5]), np.array([1, 1, 1, 0])), 3)
    0.05
    """
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = np.bincount(bins, confidence - right, minlength=10)
    return float(np.abs(gaps).sum() / len(right))


class Found(NamedTuple):
    """Of one sample."""

    clusters: int
    confidence: Figures
    right: Figures
    called: list[float]  #: shares of rows that are called new: false ones, and found ones


def measure(case: Case, seed: int) -> Found:
    """One sample."""
    rng = np.random.default_rng(seed)
    rows, labels = case.load()
    some = rng.permutation(rows.shape[0])[:ROWS]
    rows, labels = rows[some], np.unique(labels[some], return_inverse=True)[1]
    advice = ramify.recommend(rows)
    if advice.scale:
        rows = StandardScaler().fit_transform(rows)
    groups = int(labels.max()) + 1
    options: dict[str, Any] = {"metric": advice.metric, "zero_rows": advice.zero_rows}
    begin = len(labels) * 9 // 10
    cut: dict[str, Any] = {"n_clusters": groups}

    model = ramify.OHAC(linkage="ward", **options).fit(rows[:begin])
    then = model.cut(**cut)
    told = model.assign(rows[begin:], confidence=True, **cut)
    false = _called_new(model, rows[begin:], cut)
    now = model.partial_fit(rows[begin:]).cut(**cut)
    together = np.zeros((groups, groups))
    np.add.at(together, (then, now[:begin]), 1)
    right = (together.argmax(axis=1)[told.labels] == now[begin:]).astype(float)
    assert told.confidence is not None
    unknown = np.isin(labels, rng.permutation(groups)[: max(1, groups // 10)])
    model = ramify.OHAC(linkage="ward", **options).fit(rows[~unknown])
    found = _called_new(model, rows[unknown], cut)
    return Found(groups, told.confidence, right, [*false, *found])


def _called_new(model: Any, rows: Any, cut: dict[str, Any]) -> list[float]:
    """The share for each of ALPHAS."""
    return [float(model.assign(rows, new=alpha, **cut).new.mean()) for alpha in ALPHAS]


def table(every: list[Case]) -> Iterator[str]:
    """Line by line."""
    yield "| " + " | ".join(HEAD) + " |"
    yield "|---|" + "---:|" * (len(HEAD) - 1)
    of_all, all_sure, all_right = [], [], []
    for case in every:
        found = [measure(case, 0)]
        samples = -(-ASKED // len(found[0].right))
        found += [measure(case, seed) for seed in range(1, samples)]
        right, sure = (np.concatenate([one[i] for one in found]) for i in (2, 1))
        figures = [right.mean(), sure.mean(), calibration_error(sure, right)]
        all_sure.append(sure)
        all_right.append(right)
        of_all.append(np.append(figures, np.mean([one.called for one in found], axis=0)))
        yield _line(case.name, str(found[0].clusters), of_all[-1])
    yield _line("**mean**", "", np.mean(of_all, axis=0))
    yield ""
    yield from reliability(np.concatenate(all_sure), np.concatenate(all_right))


def reliability(confidence: Figures, right: Figures) -> Iterator[str]:
    """Mean confidence and the share that is right, of rows of like confidence."""
    bins = np.digitize(confidence, EDGES)
    there = [bins == i for i in range(len(EDGES) + 1) if (bins == i).any()]
    yield "| rows of all sets | " + " | ".join(f"{one.sum():,}" for one in there) + " |"
    yield "|---|" + "---:|" * len(there)
    for name, values in (("confidence", confidence), ("right", right)):
        yield f"| {name} | " + " | ".join(f"{values[one].mean():.3f}" for one in there) + " |"


def draw(lines: list[str]) -> None:
    """The curve of reliability, of the last three lines of the table."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "ramify"  # the same file from the same table
    from matplotlib import pyplot as plt

    from ramify.palette import PALETTE

    kept = [line for line in lines if line.startswith(("| rows of", "| confidence", "| right"))]
    cells = [line.replace(",", "").strip("| ").split(" | ")[1:] for line in kept]
    rows, confidence, right = (np.array(one, float) for one in cells)
    figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    ax.plot([0.3, 1], [0.3, 1], color="0.6", linewidth=0.8)
    ax.plot(confidence, right, color=PALETTE[0], linewidth=1.2)
    ax.scatter(confidence, right, s=900 * rows / rows.max() + 12, color=PALETTE[0], alpha=0.7)
    ax.set(xlabel="confidence", ylabel="share that is right", xlim=(0.3, 1.03), ylim=(0.3, 1.03))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    figure.savefig(PAGE.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)


def _line(name: str, clusters: str, figures: Figures) -> str:
    return f"| {name} | {clusters} | {' | '.join(f'{one:.3f}' for one in figures)} |"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", help="MNIST and others are looked for here")
    parser.add_argument("--page", action="store_true", help="draw what was measured before")
    options = parser.parse_args()
    if options.page:
        draw(PAGE.read_text(encoding="utf-8").splitlines())
        return
    warnings.simplefilter("ignore")
    wanted = [case for case in cases(options.data) if not case.name.startswith(("blobs", "topics"))]
    lines = []
    for line in table(wanted):
        print(line, flush=True)
        lines.append(line)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(lines)


if __name__ == "__main__":
    main()
