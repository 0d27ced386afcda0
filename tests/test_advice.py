# SPDX-License-Identifier: BSD-3-Clause
"""`ramify.recommend`: what it says of real data of every kind, and how it says it."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist
from sklearn import datasets as theirs
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import ramify
from ramify import datasets, looking, metrics, recommend
from ramify.looking import dimension
from ramify.metric import SQEUCLIDEAN
from ramify.points import Expected, read_batch
from tests.commands import done, fails


def agreement(advice, X, labels) -> float:
    """With the true groups, of as many clusters, after doing what was said."""
    rows = StandardScaler().fit_transform(X) if advice.scale else np.asarray(X)
    order = np.random.default_rng(0).permutation(len(rows))
    tree = advice.estimator().fit(rows[order]).hierarchy()
    return adjusted_rand_score(labels[order], tree.cut(n_clusters=len(set(labels.tolist()))))


def test_text_embeddings_went_to_average_linkage():
    """Which put most queries into one cluster; ward finds their intents."""
    queries = datasets.intents()
    advice = recommend(queries.points)
    assert (advice.kind, advice.metric, advice.linkage) == ("embeddings", "cosine", "ward")
    assert not advice.scale
    assert "length 1" in advice.reasons["metric"]
    found = agreement(advice, queries.points, queries.intent)
    average = ramify.OHAC(metric="cosine").fit(queries.points).hierarchy()
    before = adjusted_rand_score(queries.intent, average.cut(n_clusters=150))
    assert found > 0.65 > 0.5 > before


def test_embeddings_of_other_lengths():
    rng = np.random.default_rng(0)
    queries = datasets.intents().points
    advice = recommend(queries * rng.uniform(8, 10, size=(len(queries), 1)))
    assert (advice.kind, advice.metric) == ("embeddings", "cosine")


@pytest.mark.parametrize(("name", "least"), [("wine", 0.7), ("breast_cancer", 0.6)])
def test_tables_with_one_wide_column_are_scaled(name, least):
    bunch = getattr(theirs, f"load_{name}")()
    advice = recommend(bunch.data)
    assert (advice.kind, advice.metric, advice.linkage) == ("a table", "sqeuclidean", "ward")
    assert advice.scale
    assert "StandardScaler" in repr(advice)
    assert agreement(advice, bunch.data, bunch.target) > least
    again = recommend(StandardScaler().fit_transform(bunch.data))
    assert not again.scale
    assert again.cut == advice.cut
    assert again.gamma == pytest.approx(advice.gamma)


def test_tables_of_one_unit_are_not_scaled():
    digits = theirs.load_digits()
    advice = recommend(digits.data)
    assert (advice.metric, advice.linkage, advice.scale) == ("sqeuclidean", "ward", False)
    assert agreement(advice, digits.data, digits.target) > 0.6
    assert 8 <= advice.cut["n_clusters"] <= 20
    assert "both linkages agree" in advice.reasons["cut"]


def test_places():
    cities = datasets.cities()
    some = np.random.default_rng(0).permutation(len(cities))[:5_000]
    advice = recommend(cities.points[some])
    assert (advice.kind, advice.metric, advice.linkage) == ("places", "sqeuclidean", "ward")
    assert agreement(advice, cities.points[some], cities.continent[some]) > 0.7


def test_lines_of_a_log_as_counts():
    rng = np.random.default_rng(0)
    lines = [f"user {rng.integers(9)} opened page {rng.integers(99)}" for _ in range(200)]
    lines += [f"disk {rng.integers(9)} failed, retry in {rng.integers(99)} s" for _ in range(50)]
    X = HashingVectorizer(n_features=256, alternate_sign=False).transform(lines)
    advice = recommend(X)
    assert (advice.kind, advice.metric) == ("counts", "cosine")
    assert advice == recommend(X.toarray())


def test_separated_groups_are_for_average_linkage():
    data = datasets.gmm_8()
    advice = recommend(data.points)
    assert (advice.linkage, list(advice.cut)) == ("average", ["height"])
    assert "8 of them" in advice.reasons["linkage"]
    labels = advice.estimator().fit(data.points).labels_
    assert adjusted_rand_score(data.labels, labels) == 1


def test_one_outlier_is_no_group_of_its_own():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(200, 2))
    far = np.vstack([one, [[1000.0, 1000.0]]])
    assert recommend(far).linkage == "ward"


@pytest.mark.parametrize("d", [2, 64])
def test_noise_has_no_number_that_stands_out(d):
    X = np.random.default_rng(0).normal(size=(1_800, d))
    advice = recommend(X)
    assert advice.linkage == "ward" or d == 2
    assert "no number stands out" in advice.reasons["cut"]


def test_the_same_rows_give_the_same_answer():
    X = datasets.intents().points
    assert recommend(X, sample=500) == recommend(X, sample=500)
    assert recommend(X[:400]).gamma == pytest.approx(metrics.fitting_gamma(X[:400]), rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 10, 11, 30])
def test_few_rows(n):
    rng = np.random.default_rng(n)
    for X in (rng.normal(size=(n, 3)), np.ones((n, 3)), np.zeros((n, 20))):
        advice = recommend(X)
        assert len(set(advice.estimator().fit(X).labels_.tolist())) <= n
        assert repr(advice).count("\n") >= 4
    assert advice.cut == {"n_clusters": 1} or n < 10


def test_it_prints_its_reasons():
    advice = recommend(datasets.iris().points)
    text = str(advice)
    assert text.startswith("<Recommendation for a table>")
    for name in ("metric", "linkage", "cut", "gamma"):
        assert f"  {name}" in text
        assert advice.reasons[name] in text
    page = advice._repr_html_()
    assert page.count("<tr") == 4
    assert "&lt;" not in page
    with pytest.raises(TypeError):
        advice.cut["n_clusters"] = 3


@pytest.mark.parametrize(
    ("X", "options", "error", "message"),
    [
        ([[1.0], [np.nan]], {}, ValueError, "NaN"),
        (np.empty((0, 3)), {}, ValueError, "0 sample"),
        ([["a"]], {}, (TypeError, ValueError), "recommend|number|'a'"),
        ([[1.0]], {"sample": 3}, ValueError, "sample=3: expected at least 10"),
        ([[1.0]], {"sample": 2.5}, TypeError, r"sample=2\.5"),
    ],
)
def test_errors_at_the_door(X, options, error, message):
    with pytest.raises(error, match=message):
        recommend(X, **options)


def test_sparse_rows_are_looked_at_as_they_are():
    X = np.abs(np.random.default_rng(0).normal(size=(300, 40))) * (np.arange(40) % 3 == 0)
    assert recommend(csr_matrix(X)) == recommend(X)


def test_images_are_for_a_tree_of_neighbours():
    """They use few of the dimensions that they have; rows that fill theirs are not."""
    digits = theirs.load_digits()
    advice = recommend(digits.data)
    found = advice.graph_estimator().fit(digits.data).labels_
    usual = advice.estimator().fit(digits.data).labels_
    right = [adjusted_rand_score(digits.target, one) for one in (usual, found)]
    assert right[0] + 0.05 < right[1]
    assert right[1] > 0.8
    assert "of 61 dimensions" in advice.reasons["graph"]
    assert "LiveGraphHAC" in str(advice)


@pytest.mark.parametrize(
    "rows",
    [
        theirs.make_blobs(800, 8, centers=9, cluster_std=4.0, random_state=0)[0],  # fill theirs
        datasets.intents().points,  # embeddings, for which it is no better
        datasets.gmm_8().points,  # separated
        [[float(i)] for i in range(12)],
    ],
    ids=["full", "embeddings", "separated", "few"],
)
def test_others_are_not(rows):
    advice = recommend(rows)
    assert advice.graph_clusters is None
    assert "graph" not in advice.reasons
    with pytest.raises(ValueError, match="graph_clusters is None"):
        advice.graph_estimator()


@pytest.mark.parametrize(("used", "columns"), [(1, 1), (2, 9), (5, 5), (4, 40)])
def test_dimensions_are_counted_whatever_the_unit(used, columns):
    rng = np.random.default_rng(used)
    rows = rng.random((3000, used)) @ np.linalg.qr(rng.normal(size=(columns, columns)))[0][:used]
    assert dimension(rows) == pytest.approx(used, rel=0.2)
    assert dimension(rows * 1e6 - 3.0) == pytest.approx(dimension(rows), rel=1e-3)
    twice = np.concatenate([rows, rows])
    assert dimension(twice) == dimension(rows)
    assert dimension(rows[:20]) == np.inf


def test_clusters_of_few_points_of_wide_rows_were_lost():
    """All directions are looked at, so that distances are those of the rows."""
    rows = csr_matrix(np.random.default_rng(0).random((60, 1500)) * (np.arange(1500) % 7 == 0))
    sample = looking.sampled(read_batch(rows, Expected("recommend")), 60)
    narrow, _ = looking.narrowed(sample, SQEUCLIDEAN)
    assert narrow.shape == (60, 60)
    assert pdist(narrow) == pytest.approx(pdist(rows.toarray()), rel=1e-6)


# --- the command ------------------------------------------------------------------------


def test_the_command_names_both_trees(tmp_path):
    digits = theirs.load_digits().data
    np.save(tmp_path / "x.npy", digits)
    k = recommend(digits).graph_clusters
    *_, fit, cut = done("recommend", tmp_path / "x.npy").err.splitlines()
    assert "--algorithm live-graph-hac --metric sqeuclidean" in fit
    assert cut == f"ramify cut tree.ramify -k {k}"
    assert done("recommend", tmp_path / "x.npy", "--json").json()["graph_clusters"] == k


def test_the_command_says_the_same(tmp_path):
    queries = datasets.intents()
    np.save(tmp_path / "x.npy", queries.points)
    answer = done("recommend", tmp_path / "x.npy")
    assert answer.out == f"{recommend(queries.points)}\n"
    fit, cut = answer.err.splitlines()
    assert "--metric cosine --linkage ward" in fit
    assert cut == "ramify cut tree.ramify -k 75"
    facts = done("recommend", tmp_path / "x.npy", "--json").json()
    assert facts["cut"] == {"n_clusters": 75}
    assert facts["reasons"]["metric"] == recommend(queries.points).reasons["metric"]


def test_the_command_on_a_table(tmp_path):
    rows = "".join(f"n{i},{i % 7},{i % 3},g\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"name,x,y,label\n{rows}")
    words = ("--id-column", "name", "--label-column", "label")
    answer = done("recommend", tmp_path / "t.csv", *words)
    assert "places" in answer.out
    assert done("recommend", tmp_path / "t.csv", *words, "-q").err == ""
    (tmp_path / "e.csv").write_text("x,y\n")
    assert "recommend" in fails("recommend", tmp_path / "e.csv")


# --- the page ---------------------------------------------------------------------------


def test_the_choosing_page_has_the_figures_of_its_command(monkeypatch):
    root = Path(__file__).parent.parent
    monkeypatch.syspath_prepend(str(root / "tools"))
    names = runpy.run_path(str(root / "tools" / "linkages.py"))
    text = (root / "docs" / "pictures" / "linkages.inc").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    table = {line[1]: line for line in lines[1:]}
    cases = {case.name: case for case in names["cases"]()}
    assert set(cases) <= set(table)
    for name in ("wine, scaled", "gmm-8, eight groups"):
        measured = names["measure"](cases[name])
        assert measured[:8] == table[name][:8]  # all but k-means and the time
    ward, average = (np.array([float(line[at]) for line in lines[1:]]) for at in (6, 4))
    for line, better in zip(lines[1:], ward > average, strict=True):
        if line[0] in ("embeddings", "tables"):
            assert better, f"the page recommends ward for {line[1]}"
        if line[0] == "logs":
            assert not better, f"the page recommends average for {line[1]}"
