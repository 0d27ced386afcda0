# SPDX-License-Identifier: BSD-3-Clause
"""The data sets: complete, small where shipped, licensed, and as documented."""

import gzip
from importlib.resources import files
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from ramify import OHAC, datasets
from ramify.datasets import Cities
from ramify.datasets._files import idx_bytes, read_idx


@pytest.fixture(scope="module")
def cities() -> Cities:
    return datasets.cities()


def test_every_column_has_a_row_per_city(cities):
    n = len(cities)
    assert n > 170_000
    assert cities.points.shape == (n, 3)
    assert cities.points.dtype == np.float64
    columns = (cities.latitude, cities.longitude, cities.country, cities.continent)
    assert all(column.shape == (n,) for column in columns)
    assert len(cities.names) == n
    assert all(cities.names)


def test_points_lie_on_the_unit_sphere_where_the_degrees_say(cities):
    np.testing.assert_allclose(np.linalg.norm(cities.points, axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(
        np.degrees(np.arcsin(cities.points[:, 2])), cities.latitude, atol=1e-6
    )
    np.testing.assert_allclose(
        np.degrees(np.arctan2(cities.points[:, 1], cities.points[:, 0])),
        cities.longitude,
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("name", "country", "continent", "latitude", "longitude"),
    [
        ("Reykjavík", "IS", "Europe", 64.14, -21.90),
        ("Nairobi", "KE", "Africa", -1.28, 36.82),
        ("Tokyo", "JP", "Asia", 35.69, 139.69),
        ("Quito", "EC", "South America", -0.23, -78.52),
        ("Canberra", "AU", "Oceania", -35.28, 149.13),
        ("Ottawa", "CA", "North America", 45.41, -75.70),
    ],
)
def test_known_capitals_are_where_they_should_be(
    cities, name, country, continent, latitude, longitude
):
    (row,) = (i for i, n in enumerate(cities.names) if n == name and cities.country[i] == country)
    assert cities.continent[row] == continent
    assert cities.latitude[row] == pytest.approx(latitude, abs=0.05)
    assert cities.longitude[row] == pytest.approx(longitude, abs=0.05)


def test_countries_have_a_name_and_one_continent(cities):
    assert set(np.unique(cities.country)) == set(cities.country_names)
    assert all(cities.country_names.values())
    pairs = set(zip(cities.country.tolist(), cities.continent.tolist(), strict=True))
    assert len(pairs) == len(cities.country_names)


def test_libraries_that_write_into_arrays_refused_them():
    """torch warns of arrays that are read-only, and scikit-learn's copy=False fails on them."""
    first, again = datasets.iris(), datasets.iris()
    scaled = StandardScaler(copy=False).fit_transform(first.points)
    assert scaled is first.points
    assert not np.array_equal(first.points, again.points), "each call has arrays of its own"
    world = datasets.cities()
    for array in (world.points, world.labels, world.latitude, world.longitude, world.continent):
        assert array.flags.writeable


def test_the_rest_cannot_be_changed(cities):
    with pytest.raises(AttributeError):
        cities.points = None
    with pytest.raises(TypeError):
        cities.country_names["IS"] = "Elsewhere"
    assert cities.labels is cities.country


def test_the_file_is_small_and_names_source_and_licence(cities):
    folder = files("ramify") / "data"
    assert len((folder / "cities.npz").read_bytes()) <= 2_000_000
    for text in (cities.description, (folder / "LICENSES.md").read_text(encoding="utf-8")):
        assert "GeoNames" in text
        assert "CC BY 4.0" in text
        assert "https://creativecommons.org/licenses/by/4.0/" in text


def test_queries_are_real_texts_with_embeddings():
    queries = datasets.intents()
    n = len(queries)
    assert queries.points.shape == (n, 64) == (4_500, 64)
    assert queries.points.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(queries.points, axis=1), 1, rtol=1e-6)
    assert len(queries.texts) == n
    assert all(text.strip() for text in queries.texts)
    assert queries.labels is queries.intent
    intents, counts = np.unique(queries.intent, return_counts=True)
    assert (len(intents), set(counts.tolist())) == (150, {30})
    assert len(set(queries.domain.tolist())) == 10
    pairs = set(zip(queries.intent.tolist(), queries.domain.tolist(), strict=True))
    assert len(pairs) == 150
    queries.points[0] = queries.points[1]  # a copy of one's own
    assert (datasets.intents().points[0] != queries.points[0]).any()


def test_queries_of_one_intent_are_near_each_other():
    queries = datasets.intents()
    nearest, _ = OHAC(metric="cosine").fit(queries.points[:4_000]).nearest(queries.points[4_000:])
    alike = queries.intent[nearest] == queries.intent[4_000:]
    assert alike.mean() > 0.8


def test_the_queries_are_small_and_name_source_and_licence():
    folder = files("ramify") / "data"
    assert len((folder / "intents.npz").read_bytes()) <= 500_000
    texts = (datasets.intents().description, (folder / "LICENSES.md").read_text(encoding="utf-8"))
    for text in texts:
        for words in ("CLINC150", "Larson", "CC BY 3.0", "all-MiniLM-L6-v2"):
            assert words in text
        assert "https://creativecommons.org/licenses/by/3.0/" in text


# --- small and generated ---------------------------------------------------------


def mean_similarity(points, n_pairs=200_000):
    """Mean of exp(-|x-y|^2): all pairs of few points, a sample of many."""
    n = len(points)
    if n <= 1_000:
        first, second = np.triu_indices(n, 1)
    else:
        first, second = np.random.default_rng(1).integers(n, size=(2, n_pairs))
    return np.exp(-((points[first] - points[second]) ** 2).sum(axis=1)).mean()


MADE = {
    "gmm-1": lambda seed: datasets.gmm_1(seed),
    "gmm-8": lambda seed: datasets.gmm_8(seed),
    "gmm-100": lambda seed: datasets.gmm_100(seed, n=5_000),
    "uniform square": lambda seed: datasets.uniform_square(1_000, seed),
    "ILSVRC12 stand-in": lambda seed: datasets.ilsvrc12_standin(seed, n=5_000),
}


@pytest.mark.parametrize("name", MADE)
def test_a_seed_makes_one_data_set_and_another_seed_another(name):
    first, again, other = MADE[name](3), MADE[name](3), MADE[name](4)
    assert first.name == name
    np.testing.assert_array_equal(first.points, again.points)
    assert not np.array_equal(first.points, other.points)
    assert "seed 3" in " ".join(first.description.split())
    assert first.points.flags.writeable


@pytest.mark.parametrize(
    ("name", "implied", "within"),
    [
        ("gmm-1", 0.207, 0.01),
        ("gmm-8", 0.013, 0.0003),
        ("gmm-100", 0.414, 0.01),
        ("ILSVRC12 stand-in", 0.297, 0.005),
    ],
)
def test_mean_similarity_is_what_the_papers_table_implies(name, implied, within):
    means = [mean_similarity(MADE[name](seed).points) for seed in range(10)]
    assert np.mean(means) == pytest.approx(implied, abs=within)


def test_generated_data_have_the_papers_shape():
    shapes = [
        (datasets.gmm_1(), (1_000, 2), 1),
        (datasets.gmm_8(), (800, 3), 8),
        (datasets.gmm_100(n=9_000), (9_000, 3), 100),
        (datasets.ilsvrc12_standin(n=20_000), (20_000, 10), 1_000),
    ]
    for data, shape, groups in shapes:
        assert data.points.shape == shape
        assert data.labels.shape == shape[:1]
        assert len(np.unique(data.labels)) == groups
    assert datasets.uniform_square(7).labels is None
    with pytest.raises(ValueError, match="n=0: expected at least 1"):
        datasets.gmm_1(n=0)


def test_iris_and_glass_are_raw_and_in_file_order():
    iris, glass = datasets.iris(), datasets.glass()
    assert iris.points.shape == (150, 4)
    assert iris.points[0].tolist() == [5.1, 3.5, 1.4, 0.2]
    assert glass.points.shape == (214, 9)
    assert glass.points[0].tolist() == [1.52101, 13.64, 4.49, 1.1, 71.78, 0.06, 8.75, 0.0, 0.0]
    for data in (iris, glass):
        assert (np.diff(data.labels) >= 0).all()
        assert "CC BY 4.0" in data.description
    assert np.unique(glass.labels).tolist() == [1, 2, 3, 5, 6, 7]
    assert mean_similarity(iris.points) == pytest.approx(0.1915, abs=1e-4)
    assert mean_similarity(glass.points) == pytest.approx(0.1702, abs=1e-4)


def test_every_data_set_is_described_and_can_be_counted(cities):
    for data in (cities, datasets.iris(), *(make(0) for make in MADE.values())):
        assert len(data) == len(data.points)
        assert "Source: " in data.description
    assert repr(datasets.iris()) == "<Dataset iris: 150 points, 4 features, 3 groups>"


# --- files -------------------------------------------------------------------------

IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"


@pytest.fixture(scope="module")
def tiny_mnist(tmp_path_factory):
    """5,020 made-up images: what matters is where reading starts."""
    folder = tmp_path_factory.mktemp("data") / "mnist"
    folder.mkdir()
    rng = np.random.default_rng(0)
    images = rng.integers(1, 256, size=(5_020, 28, 28), dtype=np.uint8)
    labels = (np.arange(5_020) % 10).astype(np.uint8)
    for name, array in ((IMAGES, images), (LABELS, labels)):
        (folder / name).write_bytes(gzip.compress(idx_bytes(array), compresslevel=1))
    return folder, images, labels


def test_mnist_starts_at_image_5000_with_rows_of_length_one(tiny_mnist, monkeypatch):
    folder, images, labels = tiny_mnist
    data = datasets.mnist(20, data_home=folder.parent)
    assert data.points.dtype == np.float32
    pixels = images[5_000:].reshape(20, 784).astype(float)
    expected = pixels / np.linalg.norm(pixels, axis=1, keepdims=True)
    np.testing.assert_allclose(data.points, expected, rtol=1e-6)
    np.testing.assert_array_equal(data.labels, labels[5_000:])
    assert "first 20" in data.description
    assert datasets.find_mnist(folder.parent) == datasets.find_mnist(folder) == folder
    monkeypatch.setenv("RAMIFY_DATA", str(folder))
    assert len(datasets.mnist(3)) == 3


def test_without_files_the_error_says_which_and_where(tmp_path, monkeypatch):
    def offline(*args, **kwargs):
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    for download in (True, False):
        with pytest.raises(FileNotFoundError) as caught:
            datasets.mnist(data_home=tmp_path, download=download)
        for words in (IMAGES, LABELS, str(tmp_path / "mnist"), "RAMIFY_DATA"):
            assert words in str(caught.value)
        assert ("no network" in str(caught.value)) == download


def test_a_download_that_is_not_mnist_is_refused(tmp_path, monkeypatch):
    class Bunch:
        data = np.zeros((60_000, 784), dtype=np.uint8)
        target = np.full(60_000, "0")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *args, **kwargs: Bunch)
    with pytest.raises(ValueError, match="not the original"):
        datasets.mnist(data_home=tmp_path)
    assert datasets.find_mnist(tmp_path) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(b"\x00\x00\x0d\x01abcd"), "not an idx file"),
        (gzip.compress(idx_bytes(np.zeros((2, 3), dtype=np.uint8))[:-1]), "expected"),
        (gzip.compress(b"\x00\x00\x08\x01" + bytes(999))[:-9], "gzip"),
        (b"plain", "gzip"),
    ],
    ids=["another magic number", "too short", "cut off", "not compressed"],
)
def test_a_damaged_file_is_named(tmp_path, data, why):
    path = tmp_path / "damaged.gz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"damaged\.gz.*{why}"):
        read_idx(path)


def test_more_of_mnist_than_there_is_is_refused():
    with pytest.raises(ValueError, match="at most 55,000"):
        datasets.mnist(60_000)


def test_ilsvrc12_takes_the_users_features(tmp_path):
    features, labels = tmp_path / "features.npy", tmp_path / "labels.npy"
    np.save(features, np.ones((5, 3), dtype=np.float16))
    np.save(labels, np.arange(5))
    data = datasets.ilsvrc12(features, labels=labels)
    assert data.name == "ILSVRC12"
    assert data.points.dtype == np.float32
    assert data.labels.tolist() == [0, 1, 2, 3, 4]
    assert datasets.ilsvrc12(str(features)).labels is None
    with pytest.raises(FileNotFoundError, match="ilsvrc12_standin"):
        datasets.ilsvrc12(tmp_path / "absent.npy")
    with pytest.raises(ValueError, match="expected an array of shape"):
        datasets.ilsvrc12(labels)
    with pytest.raises(ValueError, match="expected 5 labels"):
        datasets.ilsvrc12(features, labels=features)
