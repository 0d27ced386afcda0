# SPDX-License-Identifier: BSD-3-Clause
"""The packaged data: complete, read-only, small, and licensed."""

import doctest
from importlib.resources import files

import numpy as np
import pytest

from ramify import datasets
from ramify.datasets import Cities, load_cities


@pytest.fixture(scope="module")
def cities() -> Cities:
    return load_cities()


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


def test_nothing_can_be_changed(cities):
    for column in (cities.points, cities.latitude, cities.country, cities.continent):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]
    with pytest.raises(AttributeError):
        cities.points = None
    with pytest.raises(TypeError):
        cities.country_names["IS"] = "Elsewhere"


def test_the_file_is_small_and_names_source_and_licence(cities):
    folder = files("ramify") / "data"
    assert len((folder / "cities.npz").read_bytes()) <= 2_000_000
    for text in (cities.description, (folder / "LICENSES.md").read_text(encoding="utf-8")):
        assert "GeoNames" in text
        assert "CC BY 4.0" in text
        assert "https://creativecommons.org/licenses/by/4.0/" in text


def test_examples_in_the_documentation_hold():
    assert doctest.testmod(datasets).failed == 0
