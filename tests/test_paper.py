# SPDX-License-Identifier: BSD-3-Clause
"""`ramify paper`: its arithmetic, its memory, and a whole small run as a user runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ramify
from ramify import datasets, metrics
from ramify.paper import Options, figure, protocol, rankings, reproduce, tables
from ramify.paper.cells import Cell, CellRunner
from ramify.paper.explanations import explain
from ramify.paper.report import Report, markdown, page
from ramify.paper.results import Result, Run, Store

pytestmark = pytest.mark.no_asan  # processes of its own, and SciPy

ONLY = "iris,OTD,OHAC"  # and HAC, which they are compared with


def command(folder, *options):
    return [sys.executable, "-m", "ramify.cli", "paper", "--out", str(folder), *options]


def run_paper(folder, *options):
    return subprocess.run(
        command(folder, *options),
        cwd=folder.parent,
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "report"
    done = run_paper(folder, "--only", ONLY, "--seeds", "2")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def stored(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("runs/**/*.json")}


# --- end to end ------------------------------------------------------------------------


def test_a_run_writes_its_report_and_prints_its_tables(finished):
    folder, text = finished
    assert text.splitlines()[-2:] == [str(folder / "report.md"), str(folder / "report.html")]
    for words in ("Table 1: fraction", "Table 2: triplet distance", "Data sets", "cost and shape"):
        assert words in text
        assert words in (folder / "report.md").read_text(encoding="utf-8")
    assert "did not finish" not in text


def test_iris_comes_out_as_in_the_paper(finished):
    folder, _ = finished
    store = Store(folder)
    for method, fraction, within in (
        ("HAC", 0.74, 0.03),
        ("OHAC", 0.74, 0.03),
        ("OTD", 0.47, 0.05),
    ):
        result = store.get(Run("iris", 150, method, "file"), limit=60)
        assert result.fraction == pytest.approx(fraction, abs=within)
        assert result.revenue == pytest.approx(result.fraction * 148 * result.similarity)
        assert result.seconds > 0
        assert 0 < result.depth_mean <= result.depth_max < 150
        assert 0 < result.purity <= 1


def test_stored_results_are_those_of_the_library(finished):
    folder, _ = finished
    data = datasets.iris()
    order = np.random.default_rng(1).permutation(150)
    tree = ramify.OHAC().fit(data.points[order]).hierarchy()
    result = Store(folder).get(Run("iris", 150, "OHAC", "shuffle 1"), limit=60)
    assert result.fraction == pytest.approx(
        metrics.revenue_fraction(tree, data.points[order], similarity="rbf", gamma=1.0)
    )
    assert result.purity == pytest.approx(metrics.dendrogram_purity(tree, data.labels[order]))
    offline = ramify.HAC().fit(data.points[order]).hierarchy()
    assert result.triplet == pytest.approx(metrics.triplet_distance(tree, offline), abs=0.02)


def test_the_report_says_how_where_and_with_what_it_was_made(finished):
    folder, _ = finished
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert f"ramify paper --out {folder} --only {ONLY} --seeds 2" in text
    assert re.search(r"- Date: \d{4}-\d\d-\d\d", text)
    assert f"ramify {ramify.__version__}" in text
    assert "cores" in text
    assert "inferred" in text


def test_the_report_says_that_stored_results_had_more_time(finished):
    folder, _ = finished
    report = reproduce(Options(only=ONLY.split(","), seeds=2, out=folder, limit=7))
    assert report.facts["Limit"].startswith("7 s a cell")
    assert "up to 60 s in runs stored earlier" in report.facts["Limit"]


class Links(HTMLParser):
    """Collects everything a browser would fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe")
        self.found += [v for k, v in attributes if k in ("src", "href", "xlink:href", "data")]


def test_the_page_needs_no_other_file(finished):
    folder, _ = finished
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "`" not in text, "backticks are for Markdown"
    assert "<code>" in text
    links = Links()
    links.feed(text)
    assert all(link.startswith("#") for link in links.found)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "<table>" in text


def test_a_second_run_computes_nothing(finished):
    folder, text = finished
    before = stored(folder)
    assert len(before) == 1 + 3 + 3
    again = run_paper(folder, "--only", ONLY, "--seeds", "2")
    assert again.returncode == 0
    assert stored(folder) == before

    def table(output):
        return output[output.index("Table 1") : output.index("cost and shape")]

    assert table(again.stdout) == table(text)


def test_an_interrupted_run_continues(tmp_path):
    folder = tmp_path / "report"
    options = ("--only", "iris,OTD,OHAC,OTD on w", "--seeds", "2", "-q")
    process = subprocess.Popen(command(folder, *options), stderr=subprocess.PIPE, text=True)
    while not stored(folder) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    before = stored(folder)
    if process.returncode != 0:  # else it was quicker than the signal
        assert process.returncode == 130
        assert "the same command continues" in errors
        assert len(before) < 1 + 3 * 3
    done = run_paper(folder, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(folder / "report.md"), str(folder / "report.html")]
    after = stored(folder)
    assert len(after) == 1 + 3 * 3
    assert {path: after[path] for path in before} == before


# --- cells -----------------------------------------------------------------------------


def work(folder, *runs, limit=60.0, **options):
    with CellRunner(Store(folder), data=None, limit=limit) as runner:
        return runner.work(Cell(runs, **options))


def test_a_cell_that_takes_too_long_is_stopped_and_says_where(tmp_path):
    run = Run("gmm-100", 4_000_000, "OHAC", "seed 0")
    small = Run("iris", 150, "HAC", "file")
    with CellRunner(Store(tmp_path), data=None, limit=4.0) as runner:
        (result,) = runner.work(Cell((run,)))
        assert runner.work(Cell((small,)))[0].reason in ("", "stopped after 4 s")  # a fresh worker
    assert result.status == "stopped"
    assert re.fullmatch(r"stopped after 4 s( at [\d,]+ of 4,000,000 points)?", result.reason)
    start = time.monotonic()
    assert work(tmp_path, run, limit=4.0) == [result]
    assert time.monotonic() - start < 0.5  # not tried again with the same limit
    assert Store(tmp_path).get(run, limit=5.0) is None  # but with a longer one


def test_a_cell_that_fails_says_why_and_harms_nobody(tmp_path, monkeypatch):
    monkeypatch.setenv("RAMIFY_DATA", str(tmp_path))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    first, second = work(tmp_path, *(Run("mnist", 10, "OTD", o) for o in ("file", "shuffle 0")))
    assert first.status == second.status == "failed"
    assert "train-images-idx3-ubyte.gz" in first.reason
    assert Store(tmp_path).get(first.run, limit=60) is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")
def test_scipy_stops_at_the_memory_cap(tmp_path):
    runs = [Run(figure.NAME, n, "SciPy linkage", "seed 0") for n in (200, 30_000)]
    small, large = work(tmp_path, *runs, measure=False, memory_cap=500_000_000)
    assert small.done
    assert (large.status, large.reason) == ("stopped", "out of memory of 0.5 GB")


def test_a_series_ends_when_it_has_had_enough(tmp_path):
    runs = [Run(figure.NAME, n, "OTD", "seed 0") for n in (2_000, 4_000)]
    first, second = work(tmp_path, *runs, measure=False, enough=1e-9)
    assert first.done
    assert first.fraction is None
    assert second.reason.startswith("left out")


def test_memory_counts_the_points_but_not_the_interpreter(tmp_path):
    (result,) = work(tmp_path, Run(figure.NAME, 200_000, "OTD", "seed 0"), measure=False)
    assert 200_000 * 16 < result.memory < 200_000 * 1_000


# --- the store -------------------------------------------------------------------------

RUN = Run("glass", 214, "OTD on w", "shuffle 3")
DONE = Result(RUN, "done", n=214, fraction=0.5, fraction_stderr=0.0, triplet=0.25)


def test_what_is_stored_comes_back(tmp_path):
    store = Store(tmp_path)
    assert store.get(RUN, limit=1) is None
    store.put(DONE)
    assert store.get(RUN, limit=1) == DONE


@pytest.mark.parametrize("change", [{"ramify": "0.0"}, {"protocol": -1}, {"rows": 3}])
def test_results_under_another_key_are_not_reused(tmp_path, change):
    store = Store(tmp_path)
    store.put(DONE)
    (path,) = stored(tmp_path)
    content = json.loads(path.read_text())
    content["key"] |= change
    path.write_text(json.dumps(content))
    assert store.get(RUN, limit=1) is None


def test_a_damaged_file_is_no_result(tmp_path):
    store = Store(tmp_path)
    store.put(DONE)
    (path,) = stored(tmp_path)
    path.write_text(path.read_text()[:-20])
    assert store.get(RUN, limit=1) is None


def test_hac_without_its_tree_is_run_again(tmp_path):
    store = Store(tmp_path)
    run = replace(RUN, method="HAC", order="file")
    store.put(Result(run, "done"))
    assert store.get(run, limit=1) is None
    store.tree(run).parent.mkdir(parents=True)
    store.tree(run).touch()
    assert store.get(run, limit=1).done
    assert store.tree(replace(RUN, method="OHAC")) == store.tree(run)
    assert store.tree(replace(RUN, method="OHAC centroid")) != store.tree(run)


# --- protocol --------------------------------------------------------------------------


def test_otd_on_w_is_otd_by_the_definition():
    points = datasets.glass().points[::3]
    w = protocol.similarities(points)
    tree = protocol.KernelOTD().fit(points).hierarchy()
    assert metrics.triplet_distance(tree, otd_by_definition(w)) == 0


def otd_by_definition(w):
    """Algorithm 1 on a matrix of similarities; rows of two children each."""
    tree = 0
    for x in range(1, len(w)):
        tree = insert(tree, x, w)
    merges = []
    name(tree, merges, len(w))
    return np.array(merges)


def leaves(tree):
    return [tree] if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])


def insert(tree, x, w):
    members = leaves(tree)
    if len(members) == 1:
        return (tree, x)
    within = w[np.ix_(members, members)]
    mean = (within.sum() - np.trace(within)) / (len(members) * (len(members) - 1))
    if mean >= w[x, members].mean():
        return (tree, x)
    a, b = tree
    if w[x, leaves(a)].mean() > w[x, leaves(b)].mean():
        return (insert(a, x, w), b)
    return (a, insert(b, x, w))


def name(tree, merges, n):
    if isinstance(tree, int):
        return tree
    pair = name(tree[0], merges, n), name(tree[1], merges, n)
    merges.append(pair)
    return n + len(merges) - 1


def test_the_default_plan_is_small_and_the_full_one_complete(tmp_path):
    assert [c.name for c in protocol.plan(full=False, data=tmp_path)] == [
        "gmm-1",
        "gmm-8",
        "iris",
        "glass",
    ]
    full = protocol.plan(full=True, data=tmp_path)
    assert [c.name for c in full] == list(protocol.COLUMNS)
    assert all(column.rows == column.n for column in full)
    assert not full[-1].in_file
    (tmp_path / "ilsvrc12").mkdir()
    np.save(tmp_path / "ilsvrc12" / "features.npy", np.eye(4))
    assert protocol.plan(full=True, data=tmp_path)[-1].in_file
    assert len(protocol.load("ILSVRC12", 4, "file", tmp_path)) == 4


def test_real_data_run_in_file_order_first_and_hac_only_so():
    iris, gmm = protocol.COLUMNS["iris"], protocol.COLUMNS["gmm-1"]
    assert protocol.orders(iris, "OHAC", 2) == ["file", "shuffle 0", "shuffle 1"]
    assert protocol.orders(iris, "HAC", 2) == ["file"]
    assert protocol.orders(gmm, "HAC", 2) == ["seed 0", "seed 1"]
    assert sorted(protocol.permutation(9, "shuffle 4")) == list(range(9))
    assert protocol.permutation(3, "seed 4").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"only": ["irsi"]}, "--only irsi: expected one of gmm-1, gmm-8, iris"),
        ({"seeds": 0}, "--seeds 0: expected at least 1"),
    ],
)
def test_wrong_options_say_what_would_be_right(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        reproduce(Options(out=tmp_path, data=tmp_path, **options))


# --- tables ----------------------------------------------------------------------------

IRIS, GMM = protocol.COLUMNS["iris"], protocol.COLUMNS["gmm-1"]


def result(column, method, order, **found):
    return Result(Run(column.name, column.rows, method, order), "done", **found)


def some_results():
    return {
        ("gmm-1", "HAC"): [
            result(GMM, "HAC", "seed 0", fraction=0.50, revenue=100.0, n=1_000),
            result(GMM, "HAC", "seed 1", fraction=0.60, revenue=140.0, n=1_000),
        ],
        ("gmm-1", "OHAC"): [
            Result(Run("gmm-1", 1_000, "OHAC", "seed 0"), "stopped", "stopped after 9 s")
        ],
        ("iris", "HAC"): [result(IRIS, "HAC", "file", fraction=0.7449, revenue=22.1)],
        ("iris", "OHAC"): [
            result(IRIS, "OHAC", "file", fraction=0.70, triplet=0.1, seconds=2.0, memory=3e6),
            result(IRIS, "OHAC", "shuffle 0", fraction=0.2, triplet=0.3, seconds=4.0),
            result(IRIS, "OHAC", "shuffle 1", fraction=0.4, triplet=0.3, seconds=6.0),
        ],
    }


def test_a_cell_shows_ours_theirs_and_the_difference():
    table = tables.fraction_table([GMM, IRIS], ["HAC", "OHAC"], some_results())
    assert table.head == ["", "gmm-1", "iris"]
    hac, ohac = table.rows
    assert hac == [["HAC"], ["0.550 ± 0.071", "0.58", "-0.030"], ["0.745", "0.74", "+0.005"]]
    assert ohac == [["OHAC"], ["stopped after 9 s", "0.57"], ["0.700", "0.74", "-0.040 !"]]


def test_a_sampled_value_shows_its_error():
    sampled = result(IRIS, "HAC", "file", fraction=0.7449, fraction_stderr=0.0012)
    assert str(tables.headline([sampled], "fraction")) == "0.745 (s.e. 0.001)"
    assert str(tables.headline([sampled, sampled], "fraction")) == "0.745 ± 0.000"
    assert tables.headline([sampled], "purity") is None


def test_revenue_differs_in_per_cent():
    table = tables.revenue_table([GMM, IRIS], ["HAC"], some_results())
    assert table.rows == [
        [["HAC"], ["120 ± 28.3", "120", "+0.0%"], ["22.1", "22.1", "+0.0%"]],
    ]


def test_triplets_are_compared_in_file_order_and_leave_out_hac():
    table = tables.triplet_table([IRIS], ["HAC", "OHAC"], some_results())
    assert table.rows == [[["OHAC"], ["0.100", "0.02", "+0.080 !"]]]


def test_shuffles_are_an_extra():
    table = tables.cost_table(IRIS, ["OHAC"], some_results())
    row = dict(zip(table.head, table.rows[0], strict=True))
    assert row["seconds"] == ["4"]
    assert row["peak memory"] == ["3.0 MB"]
    assert row["shuffled: revenue"] == ["0.300 ± 0.141"]
    assert row["shuffled: triplets"] == ["0.300 ± 0.000"]
    assert row["purity"] == ["–"]


def test_large_differences_are_listed_with_a_reason():
    found = tables.differences([GMM, IRIS], ["HAC", "OHAC"], some_results())
    assert [(d.measure, d.column, d.method) for d in found] == [
        ("revenue", "iris", "OHAC"),
        ("triplets", "iris", "OHAC"),
    ]
    assert found[0].sentence.endswith("0.700 against 0.74: UNEXPLAINED.")
    assert "centroid" in found[1].sentence
    assert tables.unfinished(some_results()) == ["gmm-1, OHAC: stopped after 9 s."]


def test_the_head_says_where_a_ranking_flips_and_what_is_a_stand_in():
    mnist, pictures = protocol.COLUMNS["mnist"], protocol.COLUMNS["ILSVRC12"]
    results = {
        ("mnist", "PERCH"): [result(mnist, "PERCH", "file", fraction=0.350, triplet=0.543)],
        ("mnist", "OHAC"): [result(mnist, "OHAC", "file", fraction=0.370, triplet=0.40)],
        ("mnist", "HAC"): [result(mnist, "HAC", "file", fraction=0.372)],  # level in the paper
        ("mnist", "OHAC k=2"): [result(mnist, "OHAC k=2", "file", fraction=0.1)],  # is not there
        ("ILSVRC12", "OTD"): [result(pictures, "OTD", "seed 0", fraction=0.333)],
    }
    methods = ["HAC", "PERCH", "OTD", "OHAC", "OHAC k=2"]
    found = rankings.sentences([mnist, pictures], methods, results)
    assert [sentence[:44] for sentence in found] == [
        "ILSVRC12 is a stand-in: points generated to ",
        "The ranking flips on mnist, by fraction of m",
        "The ranking flips on mnist, by triplet dista",
    ]
    assert "OHAC (0.370) comes before PERCH (0.350), in the paper PERCH (0.36)" in found[1]
    own = {("ILSVRC12", "OTD"): [result(pictures, "OTD", "file", fraction=0.333)]}
    assert rankings.sentences([pictures], methods, own) == []


def test_the_committed_page_says_them_in_its_head():
    head, _, _ = Path("docs/paper.md").read_text(encoding="utf-8").partition("## Protocol")
    assert "ILSVRC12 is a stand-in" in head
    assert head.count("The ranking flips on mnist") == 2


def test_reasons_know_parts_of_data_sets():
    assert explain("triplets", "mnist, first 1,000", "GRINCH").startswith("only the first rows")
    assert explain("triplets", "mnist", "GRINCH") is None
    assert "centroid" in explain("revenue", "mnist, first 1,000", "OHAC")


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.826, "9.83"), (22.14, "22.1"), (119.6, "120"), (6_160.0, "6.16K"), (173_400.0, "173K")],
)
def test_revenue_is_written_as_in_the_paper(value, text):
    assert tables._short(value) == text


def test_the_papers_table_implies_the_documented_similarities():
    implied = {c.name: tables.implied_similarity(c) for c in protocol.COLUMNS.values()}
    assert implied["gmm-1"] == pytest.approx(0.207, abs=0.001)
    assert implied["gmm-8"] == pytest.approx(0.013, abs=0.0002)
    assert implied["gmm-100"] == pytest.approx(0.414, abs=0.005)
    assert implied["ILSVRC12"] == pytest.approx(0.297, abs=0.003)


def test_every_cell_of_the_paper_is_there():
    for row in tables.PAPER_REVENUE.values():
        assert list(row) == list(protocol.COLUMNS)
    missing = [(m, c) for m, row in tables.PAPER_REVENUE.items() for c in row if row[c] is None]
    assert missing == [("HAC", "gmm-100"), ("HAC", "ILSVRC12")]


# --- figure ----------------------------------------------------------------------------


def series():
    sizes = [1_000, 2_000, 4_000, 8_000]
    return {
        (figure.NAME, method): [
            Result(Run(figure.NAME, n, method, "seed 0"), "done", seconds=1e-9 * n**power)
            for n in sizes
        ]
        for method, power in (("OHAC", 1.25), ("HAC", 2.0))
    }


def test_exponents_are_slopes_of_the_larger_half():
    sizes, seconds = figure.times(series()[figure.NAME, "OHAC"])
    assert figure.exponent(sizes, seconds) == pytest.approx(1.25)
    assert figure.exponent(sizes, [5.0, 5.0, 1.0, 4.0]) == pytest.approx(2.0)
    assert figure.exponent([1_000], [1.0]) is None
    assert figure.table(series()).rows[-1] == [["exponent"], ["1.25"], ["–"], ["2.00"], ["–"]]


def test_the_figure_stands_in_the_page():
    report = Report([], [], series(), {"Command": "`x`"})
    svg = figure.svg(figure.draw(report.results))
    text = page(report, svg)
    assert text.count("<svg") == 1
    assert "scaling.png" in markdown(report)
    assert "<script" not in text
    links = Links()
    links.feed(text)
    assert all(link.startswith("#") for link in links.found)
