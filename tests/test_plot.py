# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show what the tree says, on trees of every shape."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import ramify
from ramify.datasets import iris
from ramify.palette import TRUNK
from ramify.plot import (
    PALETTE,
    _map,
    cluster_colors,
    dendrogram,
    distinct_colors,
    growth,
    icicle,
    measure_growth,
    scatter,
    world_map,
)
from tests.every import every_online
from tests.shapes import balanced, chain

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
    texts = tip_texts(dendrogram(tree, truncate=n_tips, ax=ax))
    assert len(texts) == n_tips
    counts = [1 if text.startswith("point") else int(text.replace(",", "")) for text in texts]
    assert sorted(counts) == sorted(np.bincount(tree.cut(n_clusters=n_tips)))


def test_labels_follow_the_numbering_of_the_cut(tree, ax):
    sizes = np.bincount(tree.cut(n_clusters=12))
    dendrogram(tree, truncate=12, labels=[f"has {size}" for size in sizes], ax=ax)
    for text in tip_texts(ax):
        count, label = text.split("  ")
        assert label == f"has {count}"


def test_colors_follow_the_numbering_of_the_cut(tree, ax):
    cut, fine = tree.cut(n_clusters=4), tree.cut(n_clusters=20)
    names = [str(cut[np.flatnonzero(fine == tip)[0]]) for tip in range(20)]
    dendrogram(tree, truncate=20, colors=PALETTE[:4], labels=names, ax=ax)
    seen = [to_rgba(PALETTE[int(text.split("  ")[1])]) for text in tip_texts(ax)]
    assert wedge_colors(ax) == seen


def test_branches_above_the_coloured_clusters_stay_grey(tree, ax):
    dendrogram(tree, truncate=20, colors=PALETTE[:4], ax=ax)
    lines = [tuple(color) for color in ax.collections[0].get_color()]
    assert lines[-3] == to_rgba(TRUNK)  # the root's own line; its two branches follow
    assert set(lines) == {to_rgba(color) for color in (*PALETTE[:4], TRUNK)}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_trees_show_every_point(ax, n):
    dendrogram(ramify.OHAC().fit(normal_points(n)).hierarchy(), ax=ax)
    assert sorted(tip_texts(ax)) == [f"point {i}" for i in range(n)]


def test_identical_points_can_be_drawn(ax):
    tree = ramify.OHAC().fit(np.ones((50, 3))).hierarchy()
    dendrogram(tree, truncate=8, ax=ax)
    ax.figure.canvas.draw()


def test_negative_heights_can_be_drawn(ax):
    tree = ramify.OHAC(metric="dot").fit(np.abs(normal_points(60))).hierarchy()
    dendrogram(tree, truncate=8, ax=ax)
    left, right = ax.get_xlim()
    assert left > right  # the root is at the left, the leaves at the right


def test_a_chain_far_deeper_than_the_recursion_limit_can_be_drawn(ax):
    tree = ramify.OTD().fit(normal_points(50_000, dim=3)).hierarchy()
    assert tree.depths().max() > 10 * sys.getrecursionlimit()
    dendrogram(tree, truncate=2_000, colors=PALETTE, ax=ax)
    assert len(tip_texts(ax)) == 2_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncate": 0}, "at least 1"),
        ({"truncate": 3, "labels": ["a"]}, "expected 3 labels"),
        ({"truncate": 3, "colors": PALETTE[:4]}, "expected 1 to 3, the number of tips, got 4"),
        ({"truncate": 3, "colors": []}, "expected 1 to 3, the number of tips, got 0"),
        ({"k": 31}, "k=31: expected 1 to 30, the number of tips"),
        ({"k": 3, "colors": PALETTE[:4]}, "expected 3 colors, one per cluster, got 4"),
        ({"names": ["a", "b"]}, "names: expected 400, one for each point, got 2"),
    ],
)
def test_wrong_options_say_what_would_be_right(tree, options, message):
    with pytest.raises(ValueError, match=message):
        dendrogram(tree, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncate": "lastp"}, "truncate='lastp': expected an int, got str"),
        ({"k": 2.0}, "k=2.0: expected an int, got float"),
        ({"names": "abc"}, "names: expected one name for each point, got one str"),
    ],
)
def test_options_of_a_wrong_kind_are_named(tree, options, message):
    with pytest.raises(TypeError, match=message):
        dendrogram(tree, **options)


@pytest.mark.parametrize("draw", [dendrogram, icicle, lambda tree: scatter(tree, [[0.0]])])
def test_a_model_is_no_tree(draw):
    with pytest.raises(TypeError, match=r"such as model.hierarchy\(\), got OHAC"):
        draw(ramify.OHAC().fit(normal_points(5)))


def test_k_colours_the_cut_as_the_palette_would(tree, ax):
    dendrogram(tree, truncate=20, k=4, ax=ax)
    by_number = Figure().subplots()
    dendrogram(tree, truncate=20, colors=cluster_colors(4), ax=by_number)
    assert wedge_colors(ax) == wedge_colors(by_number)


def test_small_trees_show_names_given_or_their_own(ax):
    names = ["oak", "$elm$", "ash\ntree", "x" * 100]
    tree = ramify.HAC().fit(normal_points(4)).hierarchy()
    dendrogram(tree, names=names, ax=ax)
    ax.figure.canvas.draw()
    shown = ["oak", "$elm$", "ash tree", "x" * 59 + "…"]
    assert sorted(tip_texts(ax)) == sorted(shown)
    own = Figure().subplots()
    dendrogram(tree.with_names(names), ax=own)
    assert tip_texts(own) == tip_texts(ax)


def test_without_truncation_every_point_is_a_tip(tree, ax):
    dendrogram(tree, truncate=None, ax=ax)
    assert sorted(tip_texts(ax)) == sorted(f"point {i}" for i in range(400))


# --- icicle ---------------------------------------------------------------------


def rectangles(ax):
    """Left, upper, right and lower edge and colour of each block."""
    blocks = ax.collections[0]
    corners = np.array([path.vertices[:4] for path in blocks.get_paths()])
    edges = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    return edges, [tuple(color) for color in blocks.get_facecolor()]


def test_an_icicle_of_a_small_tree_has_every_node(ax):
    tree = ramify.HAC().fit(normal_points(60)).hierarchy()
    icicle(tree, levels=60, ax=ax)
    edges, _ = rectangles(ax)
    widths = edges[:, 2] - edges[:, 0]
    assert sorted(widths) == sorted(tree.sizes)
    for level in np.unique(edges[:, 1]):
        row = edges[edges[:, 1] == level]
        row = row[np.argsort(row[:, 0])]
        assert (row[1:, 0] >= row[:-1, 2]).all()  # no two overlap


def test_an_icicle_has_the_colours_of_the_cut(tree, ax):
    icicle(tree, k=5, levels=400, ax=ax)
    edges, colors = rectangles(ax)
    sizes = np.bincount(tree.cut(n_clusters=5))
    for size, color in zip(sizes, cluster_colors(5), strict=True):
        of_cluster = [edge for edge, c in zip(edges, colors, strict=True) if c == to_rgba(color)]
        assert max(edge[2] - edge[0] for edge in of_cluster) == size


def test_an_icicle_writes_what_fits(ax):
    tree = ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy()
    icicle(tree, names=["oak", "elm", "$ash$"], ax=ax)
    ax.figure.canvas.draw()
    assert sorted(text.get_text() for text in ax.texts) == ["$ash$", "2", "3", "elm", "oak"]


def test_what_goes_on_below_an_icicle_is_marked(tree, ax):
    icicle(tree, levels=3, ax=ax)
    assert len(ax.collections) == 2
    deep = Figure().subplots()
    icicle(tree, levels=400, ax=deep)
    assert len(deep.collections) == 1


@pytest.mark.parametrize("maker", [chain, balanced])
def test_an_icicle_shows_only_what_can_be_seen(maker, ax):
    tree = ramify.Hierarchy(maker(300_000), np.arange(299_999.0))
    icicle(tree, k=12, ax=ax)
    edges, colors = rectangles(ax)
    assert len(edges) < 800
    if maker is chain:  # all of it is one cluster, but for eleven points
        assert colors == [to_rgba(cluster_colors(12)[0])]
        assert "nearly a chain" in ax.get_title(loc="left")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_icicles_of_tiny_trees(n, ax):
    icicle(ramify.OHAC().fit(normal_points(n)).hierarchy(), k=n, ax=ax)
    assert len(rectangles(ax)[0]) == 2 * n - 1


# --- scatter --------------------------------------------------------------------


def dots(ax):
    cloud = ax.collections[0]
    return np.asarray(cloud.get_offsets()), [tuple(color[:3]) for color in cloud.get_facecolor()]


def test_two_coordinates_are_drawn_as_they_are(ax):
    X = normal_points(50)
    tree = ramify.HAC().fit(X).hierarchy()
    scatter(tree, X, 3, ax=ax)
    places, colors = dots(ax)
    np.testing.assert_array_equal(places, X)
    cut = tree.cut(n_clusters=3)
    assert colors == [to_rgba(cluster_colors(3)[c])[:3] for c in cut]
    assert legend_of(ax) == [f"{label}: {size}" for label, size in enumerate(np.bincount(cut))]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_legends_had_no_numbers_and_dendrograms_no_legend(ax):
    """A label of a csv could not be found in the picture."""
    X = normal_points(200)
    tree = ramify.HAC().fit(X).hierarchy()
    dendrogram(tree, k=7, ax=ax)
    sizes = np.bincount(tree.cut(n_clusters=7))
    assert legend_of(ax) == [f"{label}: {size}" for label, size in enumerate(sizes)]
    handles = ax.get_legend().legend_handles
    assert [handle.get_color() for handle in handles] == cluster_colors(7)
    ax.clear()
    scatter(tree, X, 30, ax=ax)
    assert len(legend_of(ax)) == 30
    ax.clear()
    dendrogram(tree, ax=ax)
    assert ax.get_legend() is None


def test_more_coordinates_become_principal_components(ax):
    X = iris().points
    scatter(ramify.HAC().fit(X).hierarchy(), X, 3, ax=ax)
    places, _ = dots(ax)
    _, s, vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    for column, direction in zip(places.T, vt, strict=False):
        along = (X - X.mean(axis=0)) @ direction
        np.testing.assert_allclose(np.abs(column), np.abs(along), atol=1e-9)
    assert f"({s[0] ** 2 / (s**2).sum():.0%}".replace("%", " %") in ax.get_xlabel()


def test_one_coordinate_is_drawn_against_arrival(ax):
    X = normal_points(20, dim=1)
    scatter(ramify.HAC().fit(X).hierarchy(), X, ax=ax)
    np.testing.assert_array_equal(dots(ax)[0], np.column_stack([X[:, 0], np.arange(20)]))


def test_a_large_cloud_is_thinned_and_says_so(ax):
    X = normal_points(3_000)
    X[777] = 50.0  # a cluster of its own, which the even sample would miss
    tree = ramify.HAC().fit(X).hierarchy()
    scatter(tree, X, 2, sample=100, ax=ax)
    places, colors = dots(ax)
    assert 100 <= len(places) <= 102
    assert len(set(colors)) == 2
    assert ax.get_title(loc="left") == f"{len(places)} of 3,000 points"


@pytest.mark.parametrize("X", [np.ones((6, 4)), np.ones((1, 4)), np.eye(3)])
def test_points_without_directions_can_be_drawn(X, ax):
    scatter(ramify.HAC().fit(X).hierarchy(), X, ax=ax)
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 2)), "X: expected 400 rows, one for each point, got 3"),
        (np.ones(400), r"expected shape \(n, d\), got \(400,\)"),
        (np.full((400, 2), np.nan), "NaN or infinity in row 0"),
    ],
)
def test_wrong_points_say_what_would_be_right(tree, X, message):
    with pytest.raises(ValueError, match=message):
        scatter(tree, X)


# --- growth ---------------------------------------------------------------------


@every_online
def test_growth_is_that_of_models_of_the_first_points(Estimator):
    X = normal_points(300, dim=3)
    seen = measure_growth(Estimator().fit(X), points=5, gamma=0.5)
    assert seen.n_points.tolist() == [3, 9, 30, 95, 300]
    for i, n in enumerate(seen.n_points.tolist()):
        tree = Estimator().fit(X[:n]).hierarchy()
        depths = tree.depths()
        assert seen.max_depth[i] == depths.max()
        assert seen.mean_depth[i] == depths.mean()
        fraction = ramify.metrics.revenue_fraction(tree, X[:n], gamma=0.5)
        assert seen.revenue[i] == pytest.approx(fraction)
        assert seen.revenue_error[i] == 0


@pytest.mark.parametrize("metric", ["cosine", "dot"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_growth_ends_with_the_models_own_tree(metric, dtype):
    X = np.abs(normal_points(400, dim=5)).astype(dtype)
    model = ramify.OHAC(metric=metric, n_clusters=7).fit(X)
    before = model.hierarchy()
    seen = measure_growth(model, points=3, similarity=metric)
    assert model.hierarchy() == before
    assert seen.max_depth[-1] == before.depths().max()
    fraction = ramify.metrics.revenue_fraction(before, X, similarity=metric)
    assert seen.revenue[-1] == pytest.approx(fraction, rel=1e-6)


def test_growth_of_many_pairs_is_sampled_and_knows_its_error():
    X = normal_points(500)
    model = ramify.OHAC().fit(X)
    seen = measure_growth(model, points=3, sample=1000)
    exact = measure_growth(model, points=3)
    assert seen.revenue_error[0] == 0 < seen.revenue_error[-1]
    assert abs(seen.revenue[-1] - exact.revenue[-1]) < 5 * seen.revenue_error[-1]
    assert seen.gamma == ramify.metrics.fitting_gamma(X)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_growth_of_tiny_streams(n):
    for rows in (normal_points(n), np.ones((n, 2))):
        model = ramify.OHAC().fit(rows)
        seen = measure_growth(model)
        assert seen.n_points[-1] == n
        assert seen.max_depth[-1] == model.hierarchy().depths().max()


def test_growth_draws_revenue_above_depth_and_reports_progress():
    heard = []
    axes = list(Figure().subplots(2, sharex=True))
    model = ramify.OHAC().fit(normal_points(100))
    drawn = growth(model, points=4, axes=axes, progress=lambda *news: heard.append(news))
    assert drawn == axes
    assert heard[-1] == (100, 100)
    seen = measure_growth(model, points=4)
    lines = [ax.get_lines() for ax in axes]
    np.testing.assert_array_equal(lines[0][0].get_xydata()[:, 1], seen.revenue)
    np.testing.assert_array_equal(lines[1][0].get_xydata()[:, 1], seen.max_depth)
    np.testing.assert_array_equal(lines[1][1].get_xydata()[:, 1], seen.mean_depth)
    axes[0].figure.canvas.draw()


def test_growth_of_a_tree_that_was_built_at_once_has_no_meaning():
    with pytest.raises(TypeError, match="one with partial_fit, got HAC"):
        growth(ramify.HAC().fit(normal_points(9)))
    with pytest.raises(NotFittedError):
        growth(ramify.OHAC())
    with pytest.raises(ValueError, match="expected two, for revenue and for depth, got 1"):
        growth(ramify.OHAC().fit(normal_points(9)), axes=[None])


def test_a_model_gives_its_points_back():
    X = normal_points(30).astype(np.float32)
    model = ramify.OTD().partial_fit(X[:10])
    model.insert(X[10])
    np.testing.assert_array_equal(model.points(), X[:11])
    model.points()[:] = 0  # a copy
    np.testing.assert_array_equal(model.points(), X[:11])


# --- maps -----------------------------------------------------------------------


def test_the_projection_is_equal_earth():
    x, y = _map._equal_earth(np.array([0.0, 0.0, 90.0]), np.array([0.0, 180.0, 0.0]))
    np.testing.assert_allclose(x, [0, 2.70663, 0], atol=1e-5)
    np.testing.assert_allclose(y, [0, 0, 1.31736], atol=1e-5)


def test_the_projection_keeps_areas():
    latitude, step = np.linspace(-85, 85, 35), 1e-4
    _, north = _map._equal_earth(latitude + step, np.zeros(35))
    _, south = _map._equal_earth(latitude - step, np.zeros(35))
    east, _ = _map._equal_earth(latitude, np.ones(35))
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
