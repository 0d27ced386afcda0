"""The page of qualities: its own baseline, one run of everything, and the page itself."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import polishing, trees, trees_page
from benchmarks.bisecting import bisecting_tree
from ramify import Hierarchy, datasets
from tests.strategies import few_values, loose_rows

pytestmark = pytest.mark.no_asan  # other libraries at work


@given(st.one_of(loose_rows(), few_values()))
def test_bisecting_makes_a_tree(rows):
    tree = Hierarchy.from_children(bisecting_tree(rows, np.random.default_rng(0)))
    tree.check()
    assert tree.n_leaves == len(rows)


def test_bisecting_parts_what_is_apart():
    groups = datasets.gmm_8()
    children = bisecting_tree(groups.points, np.random.default_rng(0))
    labels = Hierarchy.from_children(children).cut(n_clusters=8, by="variance", X=groups.points)
    assert len(set(zip(labels.tolist(), groups.labels.tolist(), strict=True))) == 8


def test_the_table_of_polishing_has_a_row_for_each_set(tmp_path, monkeypatch):
    iris = next(polishing.cases(None))
    others = [iris, iris._replace(name="flowers", chosen=False)]
    monkeypatch.setattr(polishing, "cases", lambda data: iter(others))
    monkeypatch.setattr(polishing, "ORDERS", 2)
    monkeypatch.setattr(polishing, "TABLE", tmp_path / "polishing.csv")
    monkeypatch.setattr(trees_page, "PAGE", tmp_path / "quality.md")
    monkeypatch.setattr(trees, "TABLE", tmp_path / "quality.csv")
    (tmp_path / "quality.csv").write_text(
        "# then\n" + "\n".join(Path("docs/pictures/quality.csv").read_text().splitlines()[1:20])
    )
    monkeypatch.setattr("sys.argv", ["polishing"])
    polishing.main()
    page = (tmp_path / "quality.md").read_text(encoding="utf-8")
    assert "| iris | 3 |" in page
    assert "| flowers | 3 |" in page
    assert "in the mean of 2 sets" in page


def test_every_method_runs_and_the_page_has_them_all(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "TABLE", tmp_path / "quality.csv")
    monkeypatch.setattr(trees_page, "PAGE", tmp_path / "quality.md")
    monkeypatch.setattr("sys.argv", ["trees", "--orders", "2", "--only", "iris"])
    trees.main()
    lines = list(csv.DictReader((tmp_path / "quality.csv").read_text().splitlines()[1:]))
    assert {line["method"] for line in lines} == set(trees.METHODS)
    offline = [line for line in lines if line["method"] in trees.OFFLINE]
    assert len(lines) == 2 * len(trees.METHODS) - len(offline)
    page = (tmp_path / "quality.md").read_text()
    for method in trees.METHODS:
        assert f"| {method} |" in page
    assert (tmp_path / trees_page.PICTURE).stat().st_size > 1000
    before = (tmp_path / "quality.csv").read_text()
    monkeypatch.setattr("sys.argv", ["trees", "--orders", "2", "--only", "iris", "--keep"])
    trees.main()
    assert (tmp_path / "quality.csv").read_text() == before  # nothing was left to measure
