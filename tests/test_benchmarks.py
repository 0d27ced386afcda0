"""The benchmarks' own machinery: what is measured, judged, stored, shown and written."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import ours, peers, picture, quality, report, results, runner, streams, terminal
from benchmarks.cases import all_cases
from benchmarks.figures import FIGURES, Goal
from benchmarks.host import Host
from benchmarks.plan import Case, Job, Plan
from benchmarks.tables import seconds, size, tables
from ramify import HAC, OHAC
from ramify.metrics import revenue_fraction

pytestmark = pytest.mark.no_asan  # measures memory and time

TINY = {"stream": "uniform", "n": 300}


def quiet(done, total, words):
    pass


def measured(cases, repeats=1, limit=60):
    with Host(limit) as host:
        return [record for group in runner.run(cases, host, repeats, quiet) for record in group]


# --- one run from end to end ------------------------------------------------------


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory):
    """Most kinds of cases at a thousandth of their size, in a run of its own."""
    out = tmp_path_factory.mktemp("bench") / "bench.json"
    words = ["goals: OHAC 20K", "insert of", "growth", "latency", "two threads", "identical"]
    words += [f"peers 20K x 2: {name}" for name in ("Ramify OHAC", "Ramify HAC", "betula")]
    options = [word for only in words for word in ("--only", only)]
    command.main([*options, "--scale", "0.001", "--repeats", "2", "--out", str(out)])
    return out


def test_a_tiny_run_says_all_there_is_to_say(tiny_run):
    whole = json.loads(tiny_run.read_text())
    assert whole["format"] == results.FORMAT
    assert whole["scale"] == 0.001
    assert whole["commands"][0].startswith("python -m benchmarks --only")
    for fact in ("date", "commit", "machine", "versions"):
        assert whole[fact]
    assert {record["section"] for record in whole["records"]} == {
        "goals", "hard streams", "peers 20K x 2",
    }  # fmt: skip
    for record in whole["records"]:
        found = record["ours"]
        assert record["date"]
        if "wall" not in found:
            assert found.keys() <= {"skipped", "error"}
            assert "error" not in found, record
            continue
        assert found["wall"] > 0
        assert found["fastest"] <= found["wall"] <= found["slowest"]
        assert found["peak_bytes"] >= 0
        assert found["points"] > 0
        for figure in record["figures"]:
            assert figure["figure"] in FIGURES
            assert figure.keys() == {"figure", "value", "words", "goal", "met"}


def test_what_each_kind_of_case_finds(tiny_run):
    found = {record["name"]: record for record in json.loads(tiny_run.read_text())["records"]}
    assert found["OHAC 20K x 2, whole stream"]["ours"]["runs"] == 2
    assert found["OHAC 20K x 2, whole stream"]["peer"]["runs"] == 2
    growth = found["growth of OHAC's inserts, 10K to 1M x 3"]["ours"]
    assert len(growth["curve"]) == 4
    assert growth["curve"] == sorted(growth["curve"])
    latency = found["latency of an insert at 1M x 3"]["ours"]
    assert 1 <= latency["p99"] <= latency["p999"] <= latency["worst"]
    assert "extra_us" in found["insert of one row from Python, 100K x 3"]["ours"]
    stream = found["all identical, 200K x 3"]
    assert [figure["figure"] for figure in stream["figures"]] == [
        "time per insert", "memory per point",
    ]  # fmt: skip
    ohac, hac = found["Ramify OHAC"]["ours"], found["Ramify HAC"]["ours"]
    assert 1 / 3 < ohac["revenue"] < 1
    assert hac["revenue"] == pytest.approx(ohac["revenue"], abs=0.1)


def test_a_run_becomes_a_page_with_a_picture(tiny_run, tmp_path):
    page = tmp_path / "docs" / "performance.md"
    page.parent.mkdir()
    command.main(["--report", str(page), "--out", str(tiny_run)])
    text = page.read_text()
    for title in ("# Performance", "## Goals", "## Streams that break naive code",
                  "## Peers on 20K x 2", "## Where the remaining time goes"):  # fmt: skip
        assert f"\n{title}\n" in f"\n{text}"
    assert "A trial at 0.001 of the sizes" in text
    assert '--only "goals"' in text
    assert "MISSED" not in text  # a trial is not judged
    assert str(tmp_path) not in text
    assert (page.parent / "pictures" / "performance.png").read_bytes()[:4] == b"\x89PNG"
    lines = [line for line in text.splitlines() if line.startswith("|")]
    widths = {line.count(" | ") for line in lines[:3]}
    assert len(widths) == 1


def test_the_data_folder_is_not_written_down(tmp_path):
    words = ["--only", "38,918", "--full", "--scale", "0.001", "--data", str(tmp_path / "secret")]
    out = tmp_path / "out.json"
    command.main([*words, "--repeats", "1", "--out", str(out)])
    assert "secret" not in out.read_text()
    assert "--data DATA" in json.loads(out.read_text())["commands"][0]


def test_later_runs_join_a_file(tmp_path):
    out = tmp_path / "bench.json"
    rest = ["--scale", "0.001", "--repeats", "1", "--out", str(out)]
    command.main(["--only", "scaling: OTD", *rest])
    first = results.load(out).records
    assert len(first) > 3
    command.main(["--only", "OTD at 1,000,000", "--keep", *rest])
    both = results.load(out).records
    assert len(results.load(out).facts["commands"]) == 2
    assert [record["name"] for record in both] == [record["name"] for record in first]
    assert both[0]["ours"] == first[0]["ours"]
    assert both[-1]["ours"] != first[-1]["ours"]
    command.main(["--only", "OTD at 1,000,000", *rest])
    assert len(results.load(out).records) == 1


def test_other_files_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="no file"):
        results.load(tmp_path / "none.json")
    (tmp_path / "old.json").write_text('{"format": 0, "records": []}')
    with pytest.raises(SystemExit, match="another version"):
        results.load(tmp_path / "old.json")


def test_python_m_benchmarks_lists_its_cases(capsys):
    command.main(["--list", "--only", "hard streams"])
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("hard streams: ") for line in lines)
    assert len(lines) == 12
    with pytest.raises(SystemExit, match="no case has such a name"):
        command.main(["--only", "no such case"])


# --- which cases there are ------------------------------------------------------------


def test_names_are_unique_and_goals_are_figures():
    cases = all_cases(Plan())
    names = [(case.section, case.name) for case in cases]
    assert len(set(names)) == len(names)
    for case in cases:
        assert all(goal.figure in FIGURES for goal in case.goals)
        for job in case.jobs:
            module, name = job.function.split(".")
            assert callable(getattr({"ours": ours, "peers": peers}[module], name))
            assert callable(getattr(streams, job.rows["stream"]))


def test_generated_rows_stand_in_only_for_what_is_missing(tmp_path):
    def named(plan):
        return [case.name for case in all_cases(plan) if "(not " in case.name]

    assert {"OHAC 55K x 784 generated images (not MNIST)"} <= set(named(Plan()))
    (tmp_path / "mnist").mkdir()
    there = named(Plan(data=str(tmp_path)))
    assert there
    assert not any("MNIST" in name for name in there)


def test_files_that_are_missing_are_a_skipped_row():
    case = next(c for c in all_cases(Plan()) if c.name == "OHAC 55K x 784 MNIST")
    (record,) = measured([case])
    why = "needs mnist/train-images-idx3-ubyte.gz: give its folder by --data or RAMIFY_DATA"
    assert record["ours"] == {"skipped": why}
    assert record["peer"] is None  # nobody to be compared with
    table = tables(results.Results({"scale": 1}, [record]))
    assert not table


@pytest.mark.parametrize("name", streams.HARD)
@pytest.mark.parametrize("width", [3, 10])
def test_hard_streams_are_what_they_say(name, width):
    rows = streams.hard(name, 600, width)
    assert rows.shape == (600, width)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all()
    assert np.array_equal(rows, streams.hard(name, 600, width))
    distinct = len(np.unique(rows, axis=0))
    few = {"all identical": 1, "one-hot rows": width}
    assert distinct == few.get(name, distinct)
    if name == "1,000 distinct values":
        assert len(np.unique(streams.hard(name, 5_000), axis=0)) <= 1_000


def test_exponentially_spaced_points_are_a_chain():
    tree = OHAC().fit(streams.hard("exponentially spaced", 900)).hierarchy()
    assert tree.depths().max() > 880


def test_stand_ins_have_the_shape_of_what_they_stand_in_for():
    images, news = streams.image_standin(50), streams.news_standin(50)
    assert images.shape == (50, 784)
    assert 0 <= images.min() <= images.max() <= 1
    assert news.shape == (50, 384)
    np.testing.assert_allclose(np.linalg.norm(news, axis=1), 1, rtol=1e-5)
    assert streams.ilsvrc12_standin(50).shape == (50, 10)
    for rows in (images, news, streams.gmm100(9), streams.mixture(9, 5)):
        assert rows.dtype == np.float32


# --- measuring ----------------------------------------------------------------------------


def job(function, rows=TINY, **options):
    return Job(function, rows, options)


def test_a_library_that_is_missing_is_a_skipped_row(tmp_path):
    """A stand-in package that cannot be imported hides the real one from the worker."""
    (tmp_path / "fastcluster.py").write_text(
        "raise ModuleNotFoundError('No module named fastcluster', name='fastcluster')\n"
    )
    ohac = Job("ours.fit", TINY, {"algorithm": "OHAC"})
    case = Case("goals", "x", ohac, (Goal("faster", least=2),), job("peers.fastcluster_average"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        (record,) = measured([case])
    assert record["peer"] == {"skipped": 'needs fastcluster: pip install "ramify[bench]"'}
    assert record["ours"]["wall"] > 0
    assert record["figures"][0]["value"] is None
    (table,) = tables(results.Results({"scale": 1}, [record]))
    assert "needs fastcluster" in table.rows[0][4]


def test_work_that_fails_or_takes_too_long_spoils_no_other():
    broken = Case("goals", "broken", job("ours.fit", algorithm="OHAC", linkage="wart"))
    endless = Case("goals", "endless", job("ours.fit", {"stream": "uniform", "n": 20_000_000},
                                           algorithm="OHAC"))  # fmt: skip
    fine = Case("goals", "fine", job("ours.fit", algorithm="OTD"))
    cases = [broken, endless, fine]
    found = {r["name"]: r["ours"] for r in measured(cases, repeats=2, limit=3)}
    assert "linkage='wart' is not offered" in found["broken"]["error"]
    assert found["endless"] == {"error": "did not finish in 3 s"}
    assert found["fine"]["runs"] == 2


def test_a_process_that_dies_is_reported():
    code = (
        "import os\n"
        "from benchmarks import worker\n"
        "worker.measure = lambda job: os.kill(os.getpid(), 9)\n"
        "worker.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="{}\n", capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.removeprefix("ready\n")) == {"error": "ended by signal 9"}


def test_ours_run_on_one_thread_unless_told_otherwise(monkeypatch):
    class Threaded:
        def __init__(self, n_jobs=None):
            self.n_jobs = n_jobs

    monkeypatch.setattr("ramify.OHAC", Threaded)
    assert ours._model("OHAC", {}).n_jobs == 1
    assert ours._model("OHAC", {"n_jobs": 2}).n_jobs == 2
    with pytest.raises(ours.SkippedError, match="PERCH has no option n_jobs"):
        ours._model("PERCH", {"n_jobs": 2})


def test_memory_counts_the_work_and_not_the_rows():
    rows = {"stream": "uniform", "n": 100_000, "width": 8}
    case = Case("goals", "m", Job("ours.fit", rows, {"algorithm": "OTD"}))
    (record,) = measured([case])
    found = record["ours"]
    assert found["input_bytes"] == 3_200_000
    # The model's copy of the rows, and a mean for each inner node: twice the input at least.
    assert 2 * found["input_bytes"] < found["peak_bytes"] < 8 * found["input_bytes"]
    assert found["held_bytes"] <= found["peak_bytes"] + 1e6


def test_both_sides_of_a_ratio_are_measured_in_turns():
    asked = []

    class Watched:
        def measure(self, one):
            asked.append(one.function)
            return {"wall": 1.0, "cpu": 1.0, "points": 3, "peak_bytes": 1}

    a, b = job("ours.a"), job("peers.b")
    cases = [
        Case("goals", "1", a, (), b),
        Case("goals", "2", job("ours.c"), (), b),
        dataclasses.replace(Case("goals", "3", job("ours.d")), once=True),
    ]
    records = [r for group in runner.run(cases, Watched(), 2, quiet) for r in group]
    assert asked == ["ours.a", "ours.c", "ours.d", "peers.b", "ours.a", "ours.c", "peers.b"]
    assert [record["ours"]["runs"] for record in records] == [2, 2, 1]


def test_the_middle_of_several_runs():
    runs = [
        {"wall": wall, "cpu": 1.0, "curve": [[1, wall], [2, 2 * wall]], "digest": "x"}
        for wall in (3.0, 1.0, 2.0)
    ]
    found = runner.middle(runs)
    assert found["wall"] == 2
    assert (found["fastest"], found["slowest"], found["runs"]) == (1, 3, 3)
    assert found["curve"] == [[1, 2], [2, 4]]
    assert found["digest"] == "x"
    runs[0]["digest"] = "y"
    assert runner.middle(runs)["digest"] == "differs from run to run"
    assert runner.middle([runs[0], {"error": "oh"}]) == {"error": "oh"}


# --- judging ------------------------------------------------------------------------------


def test_goals():
    quick, slow = {"wall": 1.0, "cpu": 2.0, "points": 10}, {"wall": 4.0, "cpu": 4.0, "points": 10}
    assert Goal("time", most=1).value(quick, slow) == 0.25
    assert Goal("time", most=0.25).met(0.25)
    assert not Goal("time", most=0.25).met(0.26)
    assert Goal("faster", least=4).met(Goal("faster").value(quick, slow))
    assert Goal("faster").met(4.0) is None
    assert Goal("memory").value(quick, slow) is None
    assert FIGURES["time"].write(quick, slow) == "0.25× its time (cpu 0.5×)"
    assert FIGURES["time"].write(quick, {}) == ""
    assert (Goal("time", most=0.02).words, Goal("points/s", least=5e6).words) == (
        "≤ 0.02", "≥ 5,000,000",
    )  # fmt: skip
    assert Goal("same tree").value({"digest": "a"}, {"digest": "a"}) == 1
    assert Goal("same tree").value({"digest": "a"}, {"digest": "b"}) == 0
    assert FIGURES["same tree"].write({"digest": "a"}, {"digest": "b"}) == "ANOTHER TREE"
    assert FIGURES["same tree"].write({"digest": "a"}, {"digest": "a"}) == "the same tree"
    assert Goal("time per insert").value(quick, {"wall": 1.0, "points": 1}) == pytest.approx(0.1)


def test_the_head_counts_all_rows_that_say_missed():
    """It counted one table of four: 42 of 47 goals, above 22 rows that said MISSED."""
    cases_, found = [], {"wall": 2.0, "cpu": 2.0, "points": 9, "peak_bytes": 5, "runs": 1,
                         "fastest": 2.0, "slowest": 2.0}  # fmt: skip
    for section in ("goals", "hard streams", "widths", "approximate"):
        goals = (Goal("time", most=1), Goal("memory", most=2))
        cases_.append(Case(section, section, job("ours.a"), goals, job("peers.b"), "peer"))
    records = [
        runner.record(case, {case.ours.key: found, case.peer.key: found | {"wall": 1.0}})
        for case in cases_
    ]
    run = results.Results(
        {"scale": 1, "commands": ["c"], "machine": "m", "versions": "v"},
        [record | {"date": "then", "commit": "abc"} for record in records],
    )
    text = report.markdown(run, "p.png")
    assert text.count("| MISSED |") == len(tables(run)) == 4
    assert "4 of 8 goals are met; missed:" in text


def test_the_committed_page_counts_its_own_rows():
    text = Path("docs/performance.md").read_text(encoding="utf-8")
    missed, met = text.count("| MISSED |\n"), text.count("| met |\n")
    assert f"\n{met} of {met + missed} goals are met; missed:\n" in text
    assert text.partition("## Goals")[0].count(", goal ") == missed


def test_a_missed_goal_is_said_so():
    found = {"wall": 2.0, "cpu": 2.0, "points": 9, "peak_bytes": 5, "runs": 1, "fastest": 2.0,
             "slowest": 2.0}  # fmt: skip
    goals = (Goal("time", most=1), Goal("memory", most=2))
    case = Case("goals", "slow", job("ours.a"), goals, job("peers.b"), "peer")
    record = runner.record(case, {case.ours.key: found, case.peer.key: found | {"wall": 1.0}})
    stamp = {"date": "then", "commit": "abc"}
    run = results.Results({"scale": 1, "commands": ["c"], "machine": "m", "versions": "v"},
                          [record | stamp])  # fmt: skip
    (table,) = tables(run)
    assert [row[-1] for row in table.rows] == ["MISSED", "met"]
    text = report.markdown(run, "p.png")
    assert "1 of 2 goals are met; missed:" in text
    assert "- slow: 2× its time (cpu 2×), goal ≤ 1" not in text  # cpu of the peer is 2, too
    assert "- slow: 2× its time (cpu 1×), goal ≤ 1" in text


def test_flat_clusters_earn_what_the_two_level_tree_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).astype(np.float32)
    labels = rng.integers(5, size=40)
    w = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2).astype(np.float64))
    n, earned, total = len(X), 0.0, 0.0
    for i in range(n):
        for j in range(i):
            total += w[i, j]
            if labels[i] == labels[j]:
                earned += w[i, j] * (n - np.count_nonzero(labels == labels[i]))
    assert quality.flat_fraction(X, labels) == pytest.approx(earned / ((n - 2) * total))
    assert quality.flat_fraction(X, np.full(40, -1)) == 0  # all of it noise
    assert quality.flat_fraction(X, np.zeros(40)) == 0  # one cluster of everything


def test_large_data_is_sampled(monkeypatch):
    X = streams.mixture(3_000, 2)
    tree = HAC().fit(X).hierarchy()
    labels = tree.cut(n_clusters=20)
    exact = quality.tree_fraction(X, tree), quality.flat_fraction(X, labels)
    assert exact[0] == float(revenue_fraction(tree, X, gamma=1.0))
    monkeypatch.setattr(quality, "EXACT", 100)
    sampled = quality.tree_fraction(X, tree), quality.flat_fraction(X, labels)
    np.testing.assert_allclose(sampled, exact, rtol=0.02)
    assert sampled != exact


# --- showing --------------------------------------------------------------------------------


@pytest.mark.parametrize("rich", [True, False])
def test_tables_with_and_without_rich(rich, capsys, monkeypatch, tiny_run):
    if not rich:
        monkeypatch.setattr(terminal, "find_spec", lambda name: None)
    for table in tables(results.load(tiny_run)):
        terminal.show(table)
    text = capsys.readouterr().out
    for words in ("Goals", "OHAC 20K x 2", "fastcluster average", "online, a tree", "revenue"):
        assert words in text


def test_progress_is_a_line_for_each_turn(capsys):
    with terminal.progress() as told:
        told(0, 3, "a")
        told(1, 3, "a")
        told(2, 3, "b")
    assert capsys.readouterr().err == "[1/3] a\n[3/3] b\n"


def test_words_for_numbers():
    assert [seconds(1e-5), seconds(0.0123), seconds(12.345)] == ["10 µs", "12.3 ms", "12.3 s"]
    assert [size(1234), size(12_345_678), size(3.2e9)] == ["1 KB", "12.3 MB", "3.2 GB"]


def test_a_picture_without_curves_is_still_a_picture(tmp_path):
    picture.draw(results.Results({"scale": 1}), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000


def test_the_module_is_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list", "--only", "Ctrl-C"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "hard streams: Ctrl-C in such a chain\n"
