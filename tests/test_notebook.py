# SPDX-License-Identifier: BSD-3-Clause
"""Trees and models show themselves in notebooks, beside scikit-learn's own diagram."""

import re
import sys
import time
import types
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ramify
from ramify import Hierarchy, notebook
from tests.shapes import chain, trees

X = np.random.default_rng(0).normal(size=(90, 3))
SVG = "{http://www.w3.org/2000/svg}"


def figures(html):
    """The table: name -> value."""
    table = ET.fromstring(re.search(r"<table>.*</table>", html)[0])
    return {row[0].text: row[1].text for row in table}


@given(children=trees())
def test_any_tree_is_drawn_within_its_frame(children):
    tree = Hierarchy(children, np.arange(len(children), dtype=float))
    html = tree._repr_html_()
    svg = ET.fromstring(re.search(r"<svg.*</svg>", html)[0])
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert len(svg.findall(f"{SVG}path")) == 3 * (min(24, len(tree)) - 1) + min(24, len(tree))
    for path in svg.iter(f"{SVG}path"):
        for x, y in re.findall(r"(?:M|L)([-\d.]+) ([-\d.]+)", path.get("d")):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height
    assert figures(html)["points"] == str(len(tree))


def test_the_figures_are_those_of_the_tree():
    tree = ramify.OHAC().fit(X).hierarchy()
    seen = figures(tree._repr_html_())
    depths = tree.depths()
    assert seen["points"] == "90"
    assert seen["depth"] == f"{depths.mean():,.1f} on average, {depths.max():,} at most"
    assert seen["root height"] == f"{tree.heights[-1]:.4g}"
    for k in (2, 4):
        sizes = sorted(np.bincount(tree.cut(n_clusters=k)).tolist(), reverse=True)
        assert seen[f"cut into {k}"] == " + ".join(map(str, sizes))
    assert seen["cut into 8"].endswith(" + …")


def test_the_four_colours_are_the_clusters_of_the_cut_into_four():
    tree = ramify.OHAC().fit(X).hierarchy()
    top = notebook.Top(tree, 24)
    colors = notebook._colors(top)
    cut = tree.cut(n_clusters=4)
    pairs = {(colors[tip], cut[tree.leaves(tip)[0]]) for tip in top.tips}
    assert len(pairs) == len({color for color, _ in pairs}) == 4


@pytest.mark.parametrize("k", [1, 2, 3, 7, 24])
def test_a_model_of_three_clusters_had_four_colours(k):
    model = ramify.OHAC(n_clusters=k).fit(X)
    svg = notebook.tree_svg(model.hierarchy(), k)
    assert svg in model._repr_html_()
    painted = set(re.findall(r'stroke="(#[0-9a-f]{6})"', svg))
    assert len(painted) == k
    top = notebook.Top(model.hierarchy(), 24)
    colors = notebook._colors(top, k)
    labels = model.labels_
    pairs = {(colors[tip], labels[model.hierarchy().leaves(tip)[0]]) for tip in top.tips}
    assert len(pairs) == k


def test_a_model_cut_by_height_has_as_many_colours_as_clusters():
    model = ramify.OHAC(distance_threshold=4.0).fit(X)
    assert 1 < model.n_clusters_ < 24
    painted = set(re.findall(r'stroke="(#[0-9a-f]{6})"', model._repr_html_().split("<svg")[-1]))
    assert len(painted) == model.n_clusters_


def test_more_clusters_than_are_drawn_have_no_colours():
    assert "#" not in notebook.tree_svg(ramify.OHAC(n_clusters=60).fit(X).hierarchy(), 60)


def test_equal_points_and_negative_heights_are_drawn():
    for model in (ramify.OHAC().fit(np.ones((50, 2))), ramify.OHAC(metric="dot").fit(np.abs(X))):
        assert "nan" not in model.hierarchy()._repr_html_()


def test_a_fitted_model_shows_scikit_learns_diagram_and_its_tree():
    model = ramify.OHAC(n_clusters=3)
    empty = model._repr_html_()
    assert "sk-" in empty
    assert "cut into" not in empty
    model.fit(X)
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-" in html
        assert html.endswith(notebook.tree_html(model.hierarchy(), 3))
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_clusters_and_levels_show_themselves_as_tables():
    texts = [f"<b>bold</b> {'apple' if row[0] > 0 else 'pear'}" for row in X]
    model = ramify.OHAC().fit(X)
    found = model.clusters(n_clusters=3)
    model.edit.rename(found[1], "<script>")
    plain = model.clusters(n_clusters=3)._repr_html_()
    assert plain.count("<tr>") == 4
    assert "&lt;script&gt;" in plain
    assert "<script>" not in plain
    levels = model.levels(2, 30, texts=texts)
    told = levels[1]._repr_html_()
    assert "and 5 more" in told
    assert "parent" in told
    assert "about" in told
    assert "<b>" not in told
    assert "such as" in model.levels(2)[0]._repr_html_()
    assert levels._repr_html_().count("<tr>") == 3


def test_who_wants_text_gets_text():
    model = ramify.OHAC().fit(X)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_a_model_in_a_pipeline_leaves_its_diagram_alone():
    pipeline = make_pipeline(StandardScaler(), ramify.OHAC(n_clusters=2)).fit(X)
    assert "cut into" not in pipeline._repr_html_()


@pytest.mark.parametrize("depth", [300_000])
def test_a_chain_is_shown_at_once(depth):
    tree = Hierarchy(chain(depth), np.arange(depth - 1.0))
    start = time.perf_counter()
    html = tree._repr_html_()
    assert time.perf_counter() - start < 2  # 0.03 s on a quiet machine
    assert len(html) < 10_000


class ZMQInteractiveShell:
    """What IPython calls the shell of a notebook."""


@pytest.mark.parametrize("missing", ["ipywidgets", "rich"])
def test_progress_in_a_notebook_without_widgets_was_silent(missing, monkeypatch, capsys):
    """rich makes its bar of widgets there, and where there are none warns and draws nothing."""
    import importlib.util

    real = importlib.util.find_spec
    find = lambda name: None if name == missing else real(name)  # noqa: E731
    monkeypatch.setattr("ramify.progress.find_spec", find)
    shell = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    ramify.OHAC().fit(X, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\rinserting ")
    assert re.search(r"\rinserting 90/90 points, [\d,]+ points/s *\n$", err)
