# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show what the tree says, on trees of every shape."""

import doctest
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import ramify
from ramify import plot
from ramify.plot import PALETTE, dendrogram, distinct_colors, world_map

mpl.use("Agg")


@pytest.fixture
def ax():
    return Figure().subplots()


def normal_points(n, dim=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, dim))


def tip_texts(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def wedge_colors(ax):
    return [tuple(color) for color in ax.collections[1].get_facecolor()]


@pytest.fixture(scope="module")
def tree():
    return ramify.HAC().fit(normal_points(400)).hierarchy()


@pytest.mark.parametrize("n_tips", [1, 2, 17, 399])
def test_counts_at_the_tips_add_up_to_all_points(tree, ax, n_tips):
    texts = tip_texts(dendrogram(tree, n_tips=n_tips, ax=ax))
    assert len(texts) == n_tips
    counts = [1 if text.startswith("point") else int(text.replace(",", "")) for text in texts]
    assert sorted(counts) == sorted(np.bincount(tree.cut(n_clusters=n_tips)))


def test_labels_follow_the_numbering_of_the_cut(tree, ax):
    sizes = np.bincount(tree.cut(n_clusters=12))
    dendrogram(tree, n_tips=12, labels=[f"has {size}" for size in sizes], ax=ax)
    for text in tip_texts(ax):
        count, label = text.split("  ")
        assert label == f"has {count}"


def test_colors_follow_the_numbering_of_the_cut(tree, ax):
    cut, fine = tree.cut(n_clusters=4), tree.cut(n_clusters=20)
    names = [str(cut[np.flatnonzero(fine == tip)[0]]) for tip in range(20)]
    dendrogram(tree, n_tips=20, colors=PALETTE[:4], labels=names, ax=ax)
    seen = [to_rgba(PALETTE[int(text.split("  ")[1])]) for text in tip_texts(ax)]
    assert wedge_colors(ax) == seen


def test_branches_above_the_coloured_clusters_stay_grey(tree, ax):
    dendrogram(tree, n_tips=20, colors=PALETTE[:4], ax=ax)
    lines = [tuple(color) for color in ax.collections[0].get_color()]
    assert lines[-3] == to_rgba(plot._TRUNK)  # the root's own line; its two branches follow
    assert set(lines) == {to_rgba(color) for color in (*PALETTE[:4], plot._TRUNK)}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_trees_show_every_point(ax, n):
    dendrogram(ramify.OHAC().fit(normal_points(n)).hierarchy(), ax=ax)
    assert sorted(tip_texts(ax)) == [f"point {i}" for i in range(n)]


def test_identical_points_can_be_drawn(ax):
    tree = ramify.OHAC().fit(np.ones((50, 3))).hierarchy()
    dendrogram(tree, n_tips=8, ax=ax)
    ax.figure.canvas.draw()


def test_negative_heights_can_be_drawn(ax):
    tree = ramify.OHAC(metric="dot").fit(np.abs(normal_points(60))).hierarchy()
    dendrogram(tree, n_tips=8, ax=ax)
    left, right = ax.get_xlim()
    assert left > right  # the root is at the left, the leaves at the right


def test_a_chain_far_deeper_than_the_recursion_limit_can_be_drawn(ax):
    tree = ramify.OTD().fit(normal_points(50_000, dim=3)).hierarchy()
    assert tree.depths().max() > 10 * sys.getrecursionlimit()
    dendrogram(tree, n_tips=2_000, colors=PALETTE, ax=ax)
    assert len(tip_texts(ax)) == 2_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_tips": 0}, "at least 1, got 0"),
        ({"n_tips": 3, "labels": ["a"]}, "expected 3 labels"),
        ({"n_tips": 3, "colors": PALETTE[:4]}, "expected 1 to 3 colors"),
        ({"n_tips": 3, "colors": []}, "expected 1 to 3 colors"),
    ],
)
def test_wrong_options_say_what_would_be_right(tree, options, message):
    with pytest.raises(ValueError, match=message):
        dendrogram(tree, **options)


def test_the_projection_is_equal_earth():
    x, y = plot._equal_earth(np.array([0.0, 0.0, 90.0]), np.array([0.0, 180.0, 0.0]))
    np.testing.assert_allclose(x, [0, 2.70663, 0], atol=1e-5)
    np.testing.assert_allclose(y, [0, 0, 1.31736], atol=1e-5)


def test_the_projection_keeps_areas():
    latitude, step = np.linspace(-85, 85, 35), 1e-4
    _, north = plot._equal_earth(latitude + step, np.zeros(35))
    _, south = plot._equal_earth(latitude - step, np.zeros(35))
    east, _ = plot._equal_earth(latitude, np.ones(35))
    per_radian = np.degrees(1) ** 2
    area = (north - south) / (2 * step) * east * per_radian
    np.testing.assert_allclose(area, np.cos(np.radians(latitude)), rtol=1e-6)


def test_a_map_paints_every_place_in_its_clusters_colour(ax):
    clusters = np.array([0, 1, 1, 2])
    world_map([0, 10, 20, 30], [0, 10, 20, 30], clusters, colors=PALETTE[:3], ax=ax)
    painted = [tuple(color) for color in ax.collections[-1].get_facecolor()]
    assert painted == [to_rgba(PALETTE[c]) for c in clusters]


def test_a_map_names_its_clusters_from_west_to_east(ax):
    world_map([0, 0, 0], [100, -100, 0], [0, 1, 2], names=["east", "west", "middle"], ax=ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["west", "middle", "east"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0, 1], [0]), {}, "one length"),
        (([0, 1], [0, 1], [0, 2]), {"colors": ["red"]}, "expected 3 colors"),
        (([0, 1], [0, 1], [0, 1]), {"names": ["a"]}, "expected 2 names"),
    ],
)
def test_wrong_map_arguments_say_what_would_be_right(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        world_map(*arguments, **options)


def test_few_clusters_get_a_colour_each():
    points = normal_points(300)
    clusters = ramify.HAC(n_clusters=len(PALETTE)).fit_predict(points)
    assert sorted(distinct_colors(points, clusters)) == sorted(PALETTE)


def test_clusters_that_touch_differ_even_when_colours_are_scarce():
    grid = np.stack(np.meshgrid(np.arange(60), np.arange(60)), axis=-1).reshape(-1, 2)
    clusters = grid[:, 0] // 6 + 10 * (grid[:, 1] // 6)
    colors = np.array(distinct_colors(grid, clusters)).reshape(10, 10)
    assert (colors[1:] != colors[:-1]).all()
    assert (colors[:, 1:] != colors[:, :-1]).all()


def test_importing_ramify_imports_no_matplotlib():
    code = "import sys, ramify, ramify.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_error_names_the_extra(tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "ramify\[plot\]"'):
        dendrogram(tree)


def test_examples_in_the_documentation_hold():
    from matplotlib import pyplot as plt

    assert doctest.testmod(plot).failed == 0
    plt.close("all")
